/* Device memory: an arena of addresses that only kernels and copies can read. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "emulator.h"

enum { PAGE = 4096 };
static const size_t ARENA = (size_t)16 << 30;

static char *arena;
static size_t used; /* bytes of the arena; addresses are never given twice */
static uint32_t *owners; /* for each page, the allocation there + 1; 0: none */
static struct allocation *allocations;
static size_t allocation_count, room, live;
static int openings;

static bool make_arena(void) {
    arena = mmap(NULL, ARENA, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    owners = mmap(NULL, ARENA / PAGE * sizeof *owners, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (arena == MAP_FAILED || owners == MAP_FAILED)
        abort();
    return true;
}

static const unsigned MOST_SHIFT = 3; /* granules of 8 bytes */

static size_t granules(const struct shadow *shadow) { return (shadow->bytes >> shadow->shift) + 1; }

static uint64_t *stamps(size_t count) {
    uint64_t *made = calloc(count, sizeof *made);
    if (!made)
        abort();
    return made;
}

void shadow_make(struct shadow *shadow, size_t bytes) {
    *shadow = (struct shadow){.bytes = bytes, .shift = MOST_SHIFT};
    size_t count = granules(shadow);
    shadow->writer = stamps(count);
    shadow->readers = (struct users){stamps(count), stamps(count)};
    shadow->updaters = (struct users){stamps(count), stamps(count)};
}

/* What `of` says of granules, said of `count` ones that are smaller by `shift`. */
static void divide(uint64_t **of, size_t count, unsigned shift) {
    uint64_t *made = stamps(count);
    for (size_t i = 0; i < count; i++)
        made[i] = (*of)[i >> shift];
    free(*of);
    *of = made;
}

void shadow_fit(struct shadow *shadow, size_t first, size_t count) {
    unsigned before = shadow->shift;
    while ((first | count) & (((size_t)1 << shadow->shift) - 1))
        shadow->shift--;
    unsigned less = before - shadow->shift;
    if (!less)
        return;
    divide(&shadow->writer, granules(shadow), less);
    divide(&shadow->readers.first, granules(shadow), less);
    divide(&shadow->readers.last, granules(shadow), less);
    divide(&shadow->updaters.first, granules(shadow), less);
    divide(&shadow->updaters.last, granules(shadow), less);
}

void shadow_free(struct shadow *shadow) {
    free(shadow->writer);
    free(shadow->readers.first);
    free(shadow->readers.last);
    free(shadow->updaters.first);
    free(shadow->updaters.last);
}

uintptr_t memory_allocate(size_t bytes, int device) {
    if (!arena)
        make_arena();
    size_t pages = (bytes + PAGE - 1) / PAGE + 1; /* the last one belongs to nobody */
    if (!bytes || pages > (ARENA - used) / PAGE)
        return 0;
    if (allocation_count == room) {
        room = room ? 2 * room : 64;
        allocations = realloc(allocations, room * sizeof *allocations);
        if (!allocations)
            abort();
    }
    struct allocation *result = &allocations[allocation_count++];
    *result = (struct allocation){{0}, (uintptr_t)arena + used, bytes, true, device, {0}};
    shadow_make(&result->shadow, bytes);
    for (size_t i = 0; i < pages; i++)
        owners[used / PAGE + i] = (uint32_t)allocation_count;
    used += pages * PAGE;
    live++;
    memory_open();
    memset((void *)result->start, 0xFF, bytes); /* NaN */
    memory_close();
    return result->start;
}

bool in_device_memory(uintptr_t address) {
    return arena && address >= (uintptr_t)arena && address < (uintptr_t)arena + ARENA;
}

static struct allocation *find(uintptr_t address) {
    if (!in_device_memory(address))
        return NULL;
    uint32_t owner = owners[(address - (uintptr_t)arena) / PAGE];
    return owner ? &allocations[owner - 1] : NULL;
}

struct uses *uses_of(uintptr_t address) {
    struct allocation *allocation = find(address);
    return allocation ? &allocation->uses : NULL;
}

const struct allocation *allocation_at(uintptr_t address) { return find(address); }

bool memory_free(uintptr_t address) {
    struct allocation *allocation = find(address);
    if (!allocation || !allocation->live || allocation->start != address)
        return false;
    allocation->live = false;
    shadow_free(&allocation->shadow);
    (void)madvise((void *)address, (allocation->bytes + PAGE - 1) / PAGE * PAGE, MADV_DONTNEED);
    live--;
    return true;
}

size_t memory_live(void) { return live; }

struct allocation *checked(const void *pc, uintptr_t address, size_t bytes, const char *what) {
    struct allocation *allocation = find(address);
    if (!allocation)
        fault(pc, "%s %zu bytes at %p, where no array is", what, bytes, (void *)address);
    if (!allocation->live)
        fault(pc, "%s %zu bytes of an array that was freed", what, bytes);
    if (allocation->device != current_device())
        fault(pc, "%s %zu bytes of an array of another device", what, bytes);
    if (address - allocation->start + bytes > allocation->bytes)
        fault(pc, "%s %zu bytes at byte %td of an array of %zu bytes", what, bytes,
              (ptrdiff_t)(address - allocation->start), allocation->bytes);
    return allocation;
}

static void protect(int how) {
    if (used && mprotect(arena, used, how))
        abort();
}

void memory_open(void) {
    if (openings++ == 0)
        protect(PROT_READ | PROT_WRITE);
}

void memory_close(void) {
    if (--openings == 0)
        protect(PROT_NONE);
}
