/* How the warps of a kernel use memory: sectors of 32 bytes for each request to global memory,
 * wavefronts (passes over the 32 banks) for each request to shared memory.
 *
 * A request is what the threads of a warp do at one instruction at one time: accesses with the same
 * program counter that are, for their threads, the n-th there since the last barrier. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emulator.h"

enum { SECTOR = 32, BANKS = 32, BANK_WIDTH = 4, MOST_KERNELS = 256, MOST_PLACES = 4096 };

struct use { /* of one space, for reads or writes */
    uint64_t accesses, requests, units, ideal; /* units: sectors or wavefronts; ideal: as few as could be */
};

struct kernel_counts {
    const struct kernel *kernel;
    uint64_t launches, blocks, threads, barriers, meetings;
    struct use uses[2][2]; /* by space, and whether it writes */
};

struct event { /* one access of one thread */
    unsigned place, time, lane;
    unsigned bytes;
    bool writes;
    enum space space;
    uintptr_t address;
};

static struct kernel_counts kernels[MOST_KERNELS];
static int kernel_count;
static uint64_t copies[2], copied[2];

static const void *places[MOST_PLACES]; /* program counters, hashed */
static unsigned times[MOST_THREADS][MOST_PLACES], seen_in[MOST_THREADS], phase = 1;
static struct event *events[MOST_THREADS / WARP];
static size_t event_count[MOST_THREADS / WARP], event_room[MOST_THREADS / WARP];

bool statistics_wanted(void) {
    static int wanted = -1;
    if (wanted < 0)
        wanted = getenv("POLYBUILD_EMULATOR_REPORT") != NULL;
    return wanted != 0;
}

static struct kernel_counts *counts_of(const struct kernel *kernel) {
    for (int i = 0; i < kernel_count; i++)
        if (kernels[i].kernel == kernel)
            return &kernels[i];
    if (kernel_count == MOST_KERNELS)
        abort();
    kernels[kernel_count].kernel = kernel;
    return &kernels[kernel_count++];
}

static unsigned place_of(const void *pc) {
    unsigned place = (unsigned)((uintptr_t)pc * 2654435761u >> 7) % MOST_PLACES;
    for (unsigned tries = 0; tries < MOST_PLACES; tries++, place = (place + 1) % MOST_PLACES) {
        if (!places[place])
            places[place] = pc;
        if (places[place] == pc)
            return place;
    }
    abort();
}

void count_access(const void *pc, enum space space, uintptr_t address, unsigned bytes, bool writes) {
    unsigned thread = running.thread, warp = thread / WARP, place = place_of(pc);
    if (seen_in[thread] != phase) { /* its first access since the last barrier */
        memset(times[thread], 0, sizeof times[thread]);
        seen_in[thread] = phase;
    }
    if (event_count[warp] == event_room[warp]) {
        event_room[warp] = event_room[warp] ? 2 * event_room[warp] : 1024;
        events[warp] = realloc(events[warp], event_room[warp] * sizeof **events);
        if (!events[warp])
            abort();
    }
    events[warp][event_count[warp]++] =
        (struct event){place, times[thread][place]++, thread % WARP, bytes, writes, space, address};
}

static int compare(const void *left, const void *right) {
    const struct event *a = left, *b = right;
    if (a->place != b->place)
        return a->place < b->place ? -1 : 1;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return a->lane < b->lane ? -1 : a->lane > b->lane;
}

static int compare_words(const void *left, const void *right) {
    uintptr_t a = *(const uintptr_t *)left, b = *(const uintptr_t *)right;
    return a < b ? -1 : a > b;
}

/* The distinct units of `size` bytes that the events touch, ascending; how many. */
static unsigned distinct(const struct event *event, unsigned count, unsigned size, uintptr_t *units) {
    unsigned all = 0, kept = 0;
    for (unsigned i = 0; i < count; i++)
        for (uintptr_t unit = event[i].address / size; unit <= (event[i].address + event[i].bytes - 1) / size; unit++)
            units[all++] = unit;
    qsort(units, all, sizeof *units, compare_words);
    for (unsigned i = 0; i < all; i++)
        if (!kept || units[kept - 1] != units[i])
            units[kept++] = units[i];
    return kept;
}

/* The least number of sectors that can hold the bytes of the events: what several threads use counts once. */
static unsigned fewest_sectors(const struct event *event, unsigned count) {
    uintptr_t begins[WARP], end = 0, bytes = 0;
    for (unsigned i = 0; i < count; i++)
        begins[i] = event[i].address;
    qsort(begins, count, sizeof *begins, compare_words);
    for (unsigned i = 0; i < count; i++) {
        uintptr_t first = begins[i] > end ? begins[i] : end;
        end = begins[i] + event->bytes;
        bytes += end - first;
    }
    return (unsigned)((bytes + SECTOR - 1) / SECTOR);
}

/* How often the banks must be passed over: once for each word that a bank holds, for as many threads
 * at a time as can get 128 bytes. */
static void add_wavefronts(struct use *use, const struct event *event, unsigned count) {
    uintptr_t words[WARP * 4];
    unsigned lanes = event->bytes <= 4 ? WARP : event->bytes == 8 ? WARP / 2 : WARP / 4;
    for (unsigned i = 0; i < count;) {
        unsigned end = i, group = event[i].lane / lanes, most = 0, load[BANKS] = {0};
        while (end < count && event[end].lane / lanes == group)
            end++;
        unsigned found = distinct(event + i, end - i, BANK_WIDTH, words);
        for (unsigned k = 0; k < found; k++) {
            unsigned now = ++load[words[k] % BANKS];
            most = now > most ? now : most;
        }
        use->units += most;
        use->ideal++;
        i = end;
    }
}

static void add_request(const struct event *event, unsigned count) {
    uintptr_t sectors[WARP * 2];
    struct use *use = &counts_of(running.kernel)->uses[event->space][event->writes];
    use->accesses += count;
    if (count > WARP || event->bytes > 16)
        return; /* not one instruction */
    use->requests++;
    if (event->space == SHARED) {
        add_wavefronts(use, event, count);
    } else {
        use->units += distinct(event, count, SECTOR, sectors);
        use->ideal += fewest_sectors(event, count);
    }
}

void count_phase(unsigned threads) {
    for (unsigned warp = 0; warp <= (threads - 1) / WARP; warp++) {
        struct event *list = events[warp];
        size_t count = event_count[warp];
        if (count)
            qsort(list, count, sizeof *list, compare);
        for (size_t i = 0, end; i < count; i = end) {
            for (end = i; end < count && list[end].place == list[i].place && list[end].time == list[i].time;)
                end++;
            add_request(&list[i], (unsigned)(end - i));
        }
        event_count[warp] = 0;
    }
    phase++;
}

void count_launch(const struct kernel *kernel, uint64_t blocks, unsigned threads, uint64_t barriers,
                  uint64_t meetings) {
    if (!statistics_wanted())
        return;
    struct kernel_counts *counts = counts_of(kernel);
    counts->launches++;
    counts->blocks += blocks;
    counts->threads += blocks * threads;
    counts->barriers += barriers;
    counts->meetings += meetings;
}

void count_copy(bool out, size_t bytes) {
    copies[out]++;
    copied[out] += bytes;
}

void statistics_write(unsigned long long calls, unsigned long long errors, unsigned long long allocations,
                      unsigned long long rectangles, struct graph_counts graphs) {
    static const char *const names[2][2] = {{"global_reads", "global_writes"}, {"shared_reads", "shared_writes"}};
    const char *name = getenv("POLYBUILD_EMULATOR_REPORT");
    FILE *file = name ? fopen(name, "w") : NULL;
    if (!file)
        return;
    fprintf(file, "{\"calls\": %llu, \"errors\": %llu, \"allocations\": %llu, \"rectangles\": %llu, \"replays\": %llu, \"changes\": %llu,\n",
            calls, errors, allocations, rectangles, graphs.replays, graphs.changes);
    fprintf(file, " \"copies\": {\"in\": [%llu, %llu], \"out\": [%llu, %llu]},\n \"kernels\": {",
            (unsigned long long)copies[0], (unsigned long long)copied[0], (unsigned long long)copies[1],
            (unsigned long long)copied[1]);
    for (int i = 0; i < kernel_count; i++) {
        const struct kernel_counts *each = &kernels[i];
        fprintf(file, "%s\n  \"%s\": {\"launches\": %llu, \"blocks\": %llu, \"threads\": %llu, \"barriers\": %llu, "
                      "\"meetings\": %llu",
                i ? "," : "", each->kernel->name, (unsigned long long)each->launches, (unsigned long long)each->blocks,
                (unsigned long long)each->threads, (unsigned long long)each->barriers,
                (unsigned long long)each->meetings);
        for (int space = 0; space < 2; space++)
            for (int writes = 0; writes < 2; writes++) {
                const struct use *use = &each->uses[space][writes];
                fprintf(file, ",\n   \"%s\": {\"accesses\": %llu, \"requests\": %llu, \"%s\": %llu, \"ideal\": %llu}",
                        names[space][writes], (unsigned long long)use->accesses, (unsigned long long)use->requests,
                        space == SHARED ? "wavefronts" : "sectors", (unsigned long long)use->units,
                        (unsigned long long)use->ideal);
            }
        fprintf(file, "}");
    }
    fprintf(file, "\n }}\n");
    fclose(file);
}
