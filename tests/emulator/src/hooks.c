/* What the accesses of kernels call: where -fsanitize=thread puts a call of __tsan_..., the stand-in for
 * nvcc makes it one of emulator_.... Each checks that the access is within an array, that what it reads was written,
 * and that no other thread's access conflicts with it. */
#include "emulator.h"

static void race(const void *pc, const char *does, const char *did, uintptr_t address, uint64_t other) {
    fault(pc, "%s the byte at %p, which %s %u of %s %s%s", does, (void *)address,
          thread_of(other) == MANY_THREADS ? "threads like" : "thread", thread_of(other) % MANY_THREADS,
          epoch_of(other) >= running.block_start ? "its block" : "another block", did,
          epoch_of(other) >= running.block_start ? " with no barrier between" : "");
}

/* Whether what `stamp` says happened may happen at the same time as what the running thread does.
 * `since` is the epoch in which what counts begins: the launch, or the block for shared memory. */
static inline bool concurrent(uint64_t stamp, uint64_t since) {
    uint64_t epoch = epoch_of(stamp);
    if (epoch < since)
        return false;
    return epoch < running.block_start || (epoch == running.epoch && thread_of(stamp) != running.thread);
}

static void note_read(const void *pc, const struct shadow *shadow, size_t first, size_t bytes, uintptr_t address,
                      uint64_t since, uint64_t valid_since) {
    uint64_t own = stamp_of(running.epoch, running.thread);
    for (size_t i = first; i < first + bytes; i++, address++) {
        uint64_t writer = shadow->writer[i];
        if (!writer || epoch_of(writer) < valid_since)
            fault(pc, "reads the byte at %p, which nobody wrote before", (void *)address);
        if (concurrent(writer, since))
            race(pc, "reads", "wrote", address, writer);
        if (epoch_of(shadow->first_reader[i]) < since)
            shadow->first_reader[i] = own;
        if (epoch_of(shadow->last_reader[i]) != running.epoch)
            shadow->last_reader[i] = own;
        else if (shadow->last_reader[i] != own)
            shadow->last_reader[i] = stamp_of(running.epoch, MANY_THREADS);
    }
}

static void note_write(const void *pc, const struct shadow *shadow, size_t first, size_t bytes, uintptr_t address,
                       uint64_t since) {
    uint64_t own = stamp_of(running.epoch, running.thread);
    for (size_t i = first; i < first + bytes; i++, address++) {
        uint64_t first_reader = shadow->first_reader[i];
        if (concurrent(shadow->writer[i], since))
            race(pc, "writes", "wrote", address, shadow->writer[i]);
        if (concurrent(shadow->last_reader[i], since))
            race(pc, "writes", "read", address, shadow->last_reader[i]);
        /* Blocks run one after the other: if another one read it, the first reader is of another one. */
        if (epoch_of(first_reader) < running.block_start && concurrent(first_reader, since))
            race(pc, "writes", "read", address, first_reader);
        shadow->writer[i] = own;
    }
}

static void access(const void *pc, const void *pointer, size_t bytes, bool writes) {
    uintptr_t address = (uintptr_t)pointer;
    if (!running.kernel || on_fibre_stack(address))
        return;
    const struct image *image = running.kernel->image;
    const struct shadow *shadow;
    size_t first; /* the byte's place in its shadow */
    bool shared = address >= image->shared_low && address < image->shared_high;
    uint64_t since = shared ? running.block_start : running.launch_start;
    if (shared) {
        if (address + bytes > image->shared_high)
            fault(pc, "%s shared memory beyond its end", writes ? "writes" : "reads");
        shadow = &image->shared_shadow;
        first = address - image->shared_low;
    } else if (in_device_memory(address)) {
        const struct allocation *allocation = checked(pc, address, bytes, writes ? "writes" : "reads");
        shadow = &allocation->shadow;
        first = address - allocation->start;
    } else if (address >= image->constants_low && address < image->constants_high && !writes) {
        return; /* constants */
    } else {
        fault(pc, "%s %zu bytes at %p, which is no memory of the device", writes ? "writes" : "reads", bytes, pointer);
    }
    if (address % bytes && (bytes & (bytes - 1)) == 0 && bytes <= 16)
        fault(pc, "%s %zu bytes at %p, which is not aligned for that", writes ? "writes" : "reads", bytes, pointer);
    if (writes)
        note_write(pc, shadow, first, bytes, address, since);
    else
        note_read(pc, shadow, first, bytes, address, since, shared ? running.block_start : 0);
    if (statistics_wanted())
        count_access(pc, shared ? SHARED : GLOBAL, address, (unsigned)bytes, writes);
}

#define CALLER __builtin_return_address(0)
#define HOOKS(bytes)                                                                                                   \
    void emulator_read##bytes(void *p) { access(CALLER, p, bytes, false); }                                              \
    void emulator_write##bytes(void *p) { access(CALLER, p, bytes, true); }                                              \
    void emulator_unaligned_read##bytes(void *p) { access(CALLER, p, bytes, false); }                                    \
    void emulator_unaligned_write##bytes(void *p) { access(CALLER, p, bytes, true); }                                    \
    void emulator_read_write##bytes(void *p) {                                                                           \
        access(CALLER, p, bytes, false);                                                                               \
        access(CALLER, p, bytes, true);                                                                                \
    }

HOOKS(1)
HOOKS(2)
HOOKS(4)
HOOKS(8)
HOOKS(16)

void emulator_read_range(void *p, size_t bytes) { access(CALLER, p, bytes, false); }
void emulator_write_range(void *p, size_t bytes) { access(CALLER, p, bytes, true); }
/* A subscript that is beyond its dimension, of shared memory or of a thread's own array: -fsanitize=bounds. */
void emulator_out_of_bounds(void *place, void *index) {
    (void)place;
    fault(CALLER, "the subscript %td is beyond its array", (ptrdiff_t)(intptr_t)index);
}

void emulator_init(void) {}
void emulator_func_entry(void *caller) { (void)caller; }
void emulator_func_exit(void) {}
