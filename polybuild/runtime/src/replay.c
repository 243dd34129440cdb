/* Launches that were made before are made again as graphs of the device, many in one call.
 *
 * Each region that wants it has a tape of its launches, in chunks. A run expects at each place of the tape what
 * was there in the run before, or else, as loops repeat themselves, what was in the chunk before. What comes as
 * expected waits until its chunk is whole, and the chunk is launched at once: one by one at first, as a graph if
 * that happens again. Launches of the expected kernels on other grids, or with other values, as in loops whose kernels
 * know the counter, wait as well: they take the places of those before, in the graph, too, if the device can change one.
 * What comes otherwise is launched as usual, after all that waits, and is on the tape then. */
#include <stdlib.h>
#include <string.h>

#include "replay.h"

/* Divisible by what loops launch in a round, most often: then chunks are alike. */
enum { CHUNK = 48, MOST_CHUNKS = 256, BEFORE_A_GRAPH = 2 };

struct chunk {
    struct chunk *next; /* of the tape, in no order */
    int count, times;   /* how often all of it came as expected */
    void *graph;        /* of the device; NULL: none */
    bool refused;       /* the driver makes no graph of it */
    bool stale[CHUNK];  /* launches that the graph has with other grids or values */
    struct pb_call launches[CHUNK];
};

struct pb_tape {
    struct pb_tape *next; /* of all tapes */
    struct pb_device *device;
    bool playing; /* in a session: others launch as usual */
    struct chunk *all;
    struct chunk *chunks[MOST_CHUNKS]; /* by their places; one may be at several */
    int count;
};

static struct pb_tape *tapes;

static void free_launch(struct pb_call *launch) { free((void *)(uintptr_t)launch->arguments); }

/* A copy of `call` that needs nothing of its caller; false if there is no memory. Arguments, memories and values
 * are in one piece. */
static bool copy_launch(struct pb_call *copy, const struct pb_call *call) {
    enum { ALIGNED = 16 };
    size_t count = (size_t)call->count, bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += (call->arguments[i].size + ALIGNED - 1) / ALIGNED * ALIGNED;
    size_t fixed = (count * (sizeof *call->arguments + sizeof *call->memories) + ALIGNED - 1) / ALIGNED * ALIGNED;
    char *piece = calloc(1, fixed + bytes + 1);
    if (!piece)
        return false;
    polybuild_argument *arguments = (polybuild_argument *)(void *)piece;
    pb_memory *memories = (pb_memory *)(void *)(arguments + count);
    char *values = piece + fixed;
    *copy = *call;
    copy->arguments = arguments;
    copy->memories = memories;
    for (size_t i = 0; i < count; i++) {
        arguments[i] = call->arguments[i];
        memories[i] = call->memories[i];
        if (arguments[i].buffer)
            continue;
        memcpy(values, call->arguments[i].value, arguments[i].size);
        arguments[i].value = values;
        values += (arguments[i].size + ALIGNED - 1) / ALIGNED * ALIGNED;
    }
    return true;
}

/* Whether both are launches of one kernel, with arguments of the same kinds. */
static bool alike(const struct pb_call *one, const struct pb_call *other) {
    if (one->code != other->code || one->kernel != other->kernel || one->count != other->count ||
        one->together != other->together || memcmp(one->block, other->block, sizeof one->block) != 0)
        return false;
    for (int i = 0; i < one->count; i++) {
        const polybuild_argument *a = &one->arguments[i], *b = &other->arguments[i];
        if (!a->buffer != !b->buffer || (!a->buffer && a->size != b->size))
            return false;
    }
    return true;
}

static bool same_launch(const struct pb_call *one, const struct pb_call *other) {
    if (!alike(one, other) || memcmp(one->grid, other->grid, sizeof one->grid) != 0)
        return false;
    for (int i = 0; i < one->count; i++) {
        const polybuild_argument *a = &one->arguments[i], *b = &other->arguments[i];
        if (a->buffer ? one->memories[i] != other->memories[i] : memcmp(a->value, b->value, a->size) != 0)
            return false;
    }
    return true;
}

/* Gives the launch `known` the grid and the values of `call`, which is alike. */
static void take_values(struct pb_call *known, const struct pb_call *call) {
    memcpy(known->grid, call->grid, sizeof known->grid);
    for (int i = 0; i < known->count; i++) {
        if (known->arguments[i].buffer)
            memcpy((void *)(uintptr_t)&known->memories[i], &call->memories[i], sizeof *known->memories);
        else
            memcpy((void *)(uintptr_t)known->arguments[i].value, call->arguments[i].value, known->arguments[i].size);
    }
}

static bool same_chunk(const struct chunk *one, const struct chunk *other) {
    bool same = one->count == other->count;
    for (int i = 0; i < one->count && same; i++)
        same = same_launch(&one->launches[i], &other->launches[i]);
    return same;
}

static void free_chunk(struct pb_device *device, struct chunk *chunk) {
    if (chunk->graph)
        device->driver->forget(device, chunk->graph);
    for (int i = 0; i < chunk->count; i++)
        free_launch(&chunk->launches[i]);
    free(chunk);
}

static void erase(struct pb_tape *tape) {
    while (tape->all) {
        struct chunk *next = tape->all->next;
        free_chunk(tape->device, tape->all);
        tape->all = next;
    }
    tape->count = 0;
}

/* Frees the chunks that are at no place any more. */
static void tidy(struct pb_tape *tape) {
    for (struct chunk **place = &tape->all; *place;) {
        struct chunk *chunk = *place;
        bool used = false;
        for (int i = 0; i < tape->count && !used; i++)
            used = tape->chunks[i] == chunk;
        if (used) {
            place = &chunk->next;
        } else {
            *place = chunk->next;
            free_chunk(tape->device, chunk);
        }
    }
}

void pb_replay_stop(struct pb_device *device) {
    for (struct pb_tape *each = tapes; each; each = each->next)
        if (each->device == device)
            erase(each);
}

static void expect(struct pb_player *player) {
    const struct pb_tape *tape = player->tape;
    player->matched = 0;
    player->expected = player->place >= MOST_CHUNKS        ? NULL
                       : player->place < tape->count       ? tape->chunks[player->place]
                       : player->place > 0                 ? tape->chunks[player->place - 1]
                                                           : NULL;
}

void pb_replay_begin(struct pb_player *player, polybuild_region *region, struct pb_device *device) {
    struct pb_tape *tape = region->tape;
    if (!device->driver->graph)
        return;
    if (!tape) {
        tape = calloc(1, sizeof *tape);
        if (!tape)
            return;
        tape->next = tapes;
        tape->device = device;
        tapes = region->tape = tape;
    }
    if (tape->playing)
        return;
    if (tape->device != device)
        erase(tape);
    tape->device = device;
    tape->playing = true;
    player->tape = tape;
    expect(player);
}

/* Puts `chunk` at the place that was reached. */
static void put(struct pb_player *player, struct chunk *chunk) {
    struct pb_tape *tape = player->tape;
    tape->chunks[player->place++] = chunk;
    if (tape->count < player->place)
        tape->count = player->place;
    expect(player);
}

/* What was launched as usual is a chunk; one like it before is the same. */
static void settle(struct pb_player *player) {
    struct pb_tape *tape = player->tape;
    struct chunk *made = player->recorded, *before = player->place ? tape->chunks[player->place - 1] : NULL;
    player->recorded = NULL;
    if (before && same_chunk(before, made)) {
        free_chunk(tape->device, made);
        made = before;
    } else {
        made->next = tape->all;
        tape->all = made;
    }
    put(player, made);
}

static void record(struct pb_player *player, const struct pb_call *call) {
    if (player->place >= MOST_CHUNKS)
        return;
    if (!player->recorded)
        player->recorded = calloc(1, sizeof *player->recorded);
    struct chunk *chunk = player->recorded;
    if (!chunk || !copy_launch(&chunk->launches[chunk->count], call)) {
        player->place = MOST_CHUNKS; /* nothing is expected any more */
        player->expected = NULL;
        return;
    }
    if (++chunk->count == CHUNK)
        settle(player);
}

/* Launches one of a tape in the queue of `call`. */
static int launch(struct pb_device *device, const struct pb_call *known, const struct pb_call *call) {
    struct pb_call again = *known;
    again.queue = call->queue;
    return device->driver->launch(device, &again);
}

/* Launches what waits, which is not what was expected as a whole. */
static int give_up(struct pb_player *player, const struct pb_call *call) {
    struct pb_device *device = player->tape->device;
    const struct chunk *chunk = player->expected;
    int code = 0, count = player->matched;
    player->expected = NULL;
    player->matched = 0;
    for (int i = 0; i < count && !code; i++) {
        code = launch(device, &chunk->launches[i], call);
        if (!code)
            record(player, &chunk->launches[i]);
    }
    return code;
}

/* Gives the graph of `chunk` what changed of its launches; where it does not take that, there is none any more. */
static void refresh(struct pb_device *device, struct chunk *chunk) {
    int code = 0;
    for (int i = 0; i < chunk->count && !code; i++) {
        if (chunk->graph && chunk->stale[i])
            code = device->driver->change(device, chunk->graph, i, &chunk->launches[i]);
        chunk->stale[i] = false;
    }
    if (code) {
        device->driver->forget(device, chunk->graph);
        chunk->graph = NULL;
        chunk->refused = true;
    }
}

/* Launches the chunk that was expected, all of which came. */
static int submit(struct pb_player *player, const struct pb_call *call) {
    struct pb_device *device = player->tape->device;
    struct chunk *chunk = player->expected;
    int code = 0;
    refresh(device, chunk);
    if (!chunk->graph && !chunk->refused && ++chunk->times >= BEFORE_A_GRAPH)
        chunk->refused = device->driver->graph(device, chunk->launches, chunk->count, &chunk->graph) != 0;
    if (chunk->graph)
        code = device->driver->replay(device, call->queue, chunk->graph);
    for (int i = 0; i < chunk->count && !chunk->graph && !code; i++)
        code = launch(device, &chunk->launches[i], call);
    put(player, chunk);
    return code;
}

int pb_replay(struct pb_player *player, struct pb_device *device, const struct pb_call *call) {
    if (!player->tape)
        return device->driver->launch(device, call);
    struct chunk *chunk = player->expected;
    struct pb_call *known = chunk ? &chunk->launches[player->matched] : NULL;
    bool same = known && same_launch(known, call);
    if (known && !same && !chunk->refused && alike(known, call)) {
        take_values(known, call);
        chunk->stale[player->matched] = same = true;
    }
    if (same)
        return ++player->matched == chunk->count ? submit(player, call) : 0;
    int code = give_up(player, call);
    if (!code)
        code = device->driver->launch(device, call);
    if (!code)
        record(player, call);
    return code;
}

int pb_replay_end(struct pb_player *player, void *queue) {
    struct pb_tape *tape = player->tape;
    if (!tape)
        return 0;
    struct pb_call call = {.queue = queue};
    int code = give_up(player, &call);
    if (player->recorded && player->recorded->count && player->place < MOST_CHUNKS)
        settle(player);
    if (player->recorded) {
        free_chunk(tape->device, player->recorded);
        player->recorded = NULL;
    }
    if (player->place < tape->count)
        tape->count = player->place;
    tidy(tape);
    tape->playing = false;
    player->tape = NULL;
    return code;
}
