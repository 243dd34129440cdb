/* Runs a kernel: block after block, the threads of each as fibres, in an order of choice. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emulator.h"

struct running running;

static void **parameters_of_launch;
static enum { READY, AT_BARRIER, AT_SHUFFLE, AT_MEETING, DONE } state[MOST_THREADS];

/* What a thread gave to its last two shuffles: others may read the one before while it comes to the next. */
static struct shuffle {
    unsigned char value[2][8];
    size_t bytes;
    unsigned mask, count;
    const void *code;
} shuffles[MOST_THREADS];
static uint64_t epochs = 1; /* 0 is the host's */
static uint64_t meetings;   /* of all blocks of this launch */

/* ---- the order of blocks and threads: POLYBUILD_EMULATOR_ORDER ---- */

static enum { UNKNOWN, ASCENDING, DESCENDING, RANDOM } order;
static uint64_t random_state;

static uint64_t next_random(void) { /* xorshift64* */
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return random_state * 0x2545F4914F6CDD1DULL;
}

static void read_order(void) {
    const char *text = getenv("POLYBUILD_EMULATOR_ORDER");
    order = ASCENDING;
    if (text && strcmp(text, "descending") == 0) {
        order = DESCENDING;
    } else if (text && *text && strcmp(text, "ascending") != 0) {
        order = RANDOM;
        random_state = strtoull(text, NULL, 10) * 2654435769ULL + 1;
    }
}

/* Fills `sequence` with the numbers below `count`, in the order of choice. */
static void arrange(unsigned *sequence, unsigned count) {
    for (unsigned i = 0; i < count; i++)
        sequence[i] = order == DESCENDING ? count - 1 - i : i;
    for (unsigned i = count; order == RANDOM && i > 1; i--) {
        unsigned j = (unsigned)(next_random() % i), kept = sequence[i - 1];
        sequence[i - 1] = sequence[j];
        sequence[j] = kept;
    }
}

/* ---- what a kernel sees ---- */

struct index3 emulator_thread(void) { return running.thread_index; }
struct index3 emulator_block(void) { return running.block_index; }
struct index3 emulator_threads(void) { return running.block; }
struct index3 emulator_blocks(void) { return running.grid; }

void emulator_barrier(void) {
    state[running.thread] = AT_BARRIER;
    fibre_yield();
}

/* All blocks of the launch meet. */
void emulator_meeting(void) {
    if (!running.together)
        fault(__builtin_return_address(0), "blocks meet in a launch that does not run them together");
    state[running.thread] = AT_MEETING;
    fibre_yield();
}

/* The threads of the mask give values to each other; this one gets that of the lane that differs by `lanes`. */
void emulator_shuffle(unsigned mask, void *value, size_t bytes, int lanes, const void *code) {
    unsigned thread = running.thread, lane = thread % WARP, other = (lane ^ (unsigned)lanes) % WARP;
    struct shuffle *own = &shuffles[thread], *source = &shuffles[thread - lane + other];
    if (lanes < 0 || lanes >= WARP || !(mask >> lane & 1) || !(mask >> other & 1))
        fault(code, "a shuffle with the mask %#x by lane %u, of lane %u's value", mask, lane, other);
    unsigned turn = own->count++ % 2;
    memcpy(own->value[turn], value, bytes);
    own->bytes = bytes;
    own->mask = mask;
    own->code = code;
    state[thread] = AT_SHUFFLE;
    fibre_yield();
    memcpy(value, source->value[turn], bytes);
}

/* POLYBUILD_EMULATOR_MISTAKE: barrier:n, bound:n, atomic:n, shuffle:n, multiply:n or wait:n, of kernels compiled to make it. */
bool emulator_mistake(char kind, int number) {
    static bool known;
    static char wanted;
    static long place;
    if (!known) {
        const char *text = getenv("POLYBUILD_EMULATOR_MISTAKE");
        const char *colon = text ? strchr(text, ':') : NULL;
        if (colon) {
            wanted = strncmp(text, "shuffle", 7) == 0 ? 'x' : strncmp(text, "bound", 5) == 0 ? 's' : text[0];
            place = strtol(colon + 1, NULL, 10);
        }
        known = true;
    }
    return kind == wanted && number == place;
}

static void run_thread(void) {
    running.kernel->call(parameters_of_launch);
    state[running.thread] = DONE;
    fibre_yield();
    abort(); /* nobody resumes it */
}

/* ---- the scheduler ---- */

static struct index3 unpack(unsigned number, struct index3 size) {
    return (struct index3){number % size.x, number / size.x % size.y, number / size.x / size.y};
}

/* Whether the threads of a warp wait in a shuffle, which then is one of all that it names. */
static bool is_in_shuffle(unsigned first, unsigned end) {
    const struct shuffle *known = NULL;
    for (unsigned i = first; i < end; i++)
        if (state[i] == AT_SHUFFLE)
            known = &shuffles[i];
    for (unsigned lane = 0; known && lane < WARP; lane++) {
        unsigned i = first + lane;
        if (!(known->mask >> lane & 1))
            continue;
        if (i >= end || state[i] != AT_SHUFFLE)
            fault(known->code, "threads of a warp wait in a shuffle that lane %u does not reach", lane);
        if (shuffles[i].code != known->code || shuffles[i].mask != known->mask || shuffles[i].bytes != known->bytes)
            fault(known->code, "the threads of a warp are in different shuffles");
    }
    return known;
}

/* Lets the threads of all warps that are in shuffles go on; whether there are any. */
static bool shuffled(unsigned threads) {
    bool any = false;
    for (unsigned first = 0; first < threads; first += WARP) {
        unsigned end = first + WARP < threads ? first + WARP : threads;
        while (is_in_shuffle(first, end)) {
            for (unsigned i = first; i < end; i++)
                if (state[i] == AT_SHUFFLE)
                    state[i] = READY;
            any = true;
        }
    }
    return any;
}

/* Runs every thread to its next barrier, or its end; how many are at a barrier. */
static unsigned run_phase(unsigned threads, unsigned *sequence) {
    unsigned waiting = 0;
    for (unsigned i = 0; i < threads; i++)
        if (state[i] == AT_BARRIER)
            state[i] = READY;
    do {
        arrange(sequence, threads);
        for (unsigned i = 0; i < threads; i++) {
            if (state[sequence[i]] != READY)
                continue;
            running.thread = sequence[i];
            running.thread_index = unpack(sequence[i], running.block);
            fibre_resume(running.resident * MOST_THREADS + sequence[i]);
        }
    } while (shuffled(threads));
    for (unsigned i = 0; i < threads; i++)
        waiting += state[i] == AT_BARRIER;
    return waiting;
}

/* Runs a block to its end, or to where all blocks meet, from its begin or from there on; how often it met itself. */
static uint64_t run_block(unsigned threads, bool begins) {
    static unsigned sequence[MOST_THREADS];
    uint64_t barriers = 0;
    running.epoch = running.block_start = ++epochs;
    for (unsigned i = 0; i < threads; i++) {
        if (begins)
            fibre_prepare(running.resident * MOST_THREADS + i, run_thread);
        state[i] = READY;
        shuffles[i].count = 0;
    }
    for (;;) {
        unsigned waiting = run_phase(threads, sequence);
        if (statistics_wanted())
            count_phase(threads);
        if (!waiting) {
            for (unsigned i = 1; i < threads; i++)
                if (state[i] != state[0])
                    fault(NULL, "some threads of a block end, others wait for all blocks");
            return barriers;
        }
        if (waiting < threads)
            fault(NULL, "%u threads of a block wait at a barrier that %u others do not reach", waiting,
                  threads - waiting);
        barriers++;
        running.epoch = ++epochs;
    }
}

/* Runs all blocks from meeting to meeting, as often as they meet; what is in shared memory then is lost. */
static uint64_t run_together(unsigned *sequence, unsigned blocks, unsigned threads) {
    uint64_t barriers = 0;
    for (bool begins = true;; begins = false) {
        unsigned met = 0;
        arrange(sequence, blocks);
        running.launch_start = epochs + 1; /* what was before is known to all */
        for (unsigned i = 0; i < blocks; i++) {
            running.resident = sequence[i];
            running.block_index = unpack(sequence[i], running.grid);
            barriers += run_block(threads, begins);
            met += state[0] == AT_MEETING;
        }
        if (met && met < blocks)
            fault(NULL, "%u blocks wait for %u others that have ended", met, blocks - met);
        if (!met)
            return barriers;
        meetings++;
    }
}

int launch(const struct kernel *kernel, struct index3 grid, struct index3 block, void **parameters, bool together) {
    enum { INVALID_VALUE = 1 };
    if (order == UNKNOWN)
        read_order();
    uint64_t threads = (uint64_t)block.x * block.y * block.z;
    uint64_t blocks = (uint64_t)grid.x * grid.y * grid.z, barriers = 0;
    meetings = 0;
    if (!threads || threads > MOST_THREADS || block.z > 64 || !blocks || grid.y > 65535 || grid.z > 65535)
        return INVALID_VALUE;
    unsigned *sequence = malloc(blocks * sizeof *sequence);
    if (!sequence)
        abort();
    parameters_of_launch = parameters;
    running = (struct running){
        .kernel = kernel, .grid = grid, .block = block, .launch_start = epochs + 1, .together = together};
    memory_open();
    if (together)
        barriers = run_together(sequence, (unsigned)blocks, (unsigned)threads);
    else
        arrange(sequence, (unsigned)blocks);
    for (uint64_t i = 0; i < blocks && !together; i++) {
        running.block_index = unpack(sequence[i], grid);
        barriers += run_block((unsigned)threads, true);
    }
    memory_close();
    running = (struct running){0};
    free(sequence);
    count_launch(kernel, blocks, (unsigned)threads, barriers, meetings);
    return 0;
}

/* ---- faults ---- */

static void print_line(const void *pc) {
    char command[256];
    Dl_info info;
    if (!pc || !dladdr(pc, &info))
        return;
    fprintf(stderr, "emulator: at ");
    fflush(stderr);
    snprintf(command, sizeof command, "addr2line -s -e %s %#tx >&2", running.kernel->image->path,
             (const char *)pc - 1 - (const char *)info.dli_fbase);
    if (system(command))
        fprintf(stderr, "an unknown line\n");
}

void fault(const void *pc, const char *format, ...) {
    va_list values;
    fprintf(stderr, "emulator: ");
    if (running.kernel)
        fprintf(stderr, "kernel %s, block (%u, %u, %u), thread (%u, %u, %u): ", running.kernel->name,
                running.block_index.x, running.block_index.y, running.block_index.z, running.thread_index.x,
                running.thread_index.y, running.thread_index.z);
    va_start(values, format);
    vfprintf(stderr, format, values);
    va_end(values);
    fputc('\n', stderr);
    if (running.kernel)
        print_line(pc);
    fflush(NULL);
    _exit(FAULT);
}
