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

/* Notes that the running thread is one of the users of a granule. */
static void note_use(const struct users *users, size_t i, uint64_t since) {
    uint64_t own = stamp_of(running.epoch, running.thread);
    if (epoch_of(users->first[i]) < since)
        users->first[i] = own;
    if (epoch_of(users->last[i]) != running.epoch)
        users->last[i] = own;
    else if (users->last[i] != own)
        users->last[i] = stamp_of(running.epoch, MANY_THREADS);
}

/* That no user of a granule but the running thread did at the same time what `did` says. */
static void check_users(const struct users *users, size_t i, uint64_t since, const void *pc, const char *does,
                        const char *did, uintptr_t address) {
    if (concurrent(users->last[i], since))
        race(pc, does, did, address, users->last[i]);
    /* Blocks run one after the other: if another one used it, the first user is of another one. */
    if (epoch_of(users->first[i]) < running.block_start && concurrent(users->first[i], since))
        race(pc, does, did, address, users->first[i]);
}

enum kind { READ, WRITE, UPDATE };
static const char *const DOES[] = {"reads", "writes", "updates"}, *const DID[] = {"read", "wrote", "updated"};

/* Some bytes of memory with a shadow: `first` is the place of the first one in it. */
struct bytes {
    struct shadow *shadow;
    size_t first, count;
    uintptr_t address;
    uint64_t since, valid_since;
};

/* Checks an access and notes it. An atomic update is at peace with others, but with nothing else. */
static void note(const void *pc, enum kind kind, const struct bytes *bytes) {
    struct shadow *shadow = bytes->shadow;
    shadow_fit(shadow, bytes->first, bytes->count);
    uintptr_t address = bytes->address;
    size_t end = (bytes->first + bytes->count) >> shadow->shift;
    for (size_t i = bytes->first >> shadow->shift; i < end; i++, address += (size_t)1 << shadow->shift) {
        uint64_t writer = shadow->writer[i];
        if (kind != WRITE && (!writer || epoch_of(writer) < bytes->valid_since))
            fault(pc, "%s the byte at %p, which nobody wrote before", DOES[kind], (void *)address);
        if (concurrent(writer, bytes->since))
            race(pc, DOES[kind], DID[WRITE], address, writer);
        if (kind != READ)
            check_users(&shadow->readers, i, bytes->since, pc, DOES[kind], DID[READ], address);
        if (kind != UPDATE)
            check_users(&shadow->updaters, i, bytes->since, pc, DOES[kind], DID[UPDATE], address);
        if (kind == WRITE)
            shadow->writer[i] = stamp_of(running.epoch, running.thread);
        else
            note_use(kind == READ ? &shadow->readers : &shadow->updaters, i, bytes->since);
    }
}

static void access(const void *pc, const void *pointer, size_t count, enum kind kind) {
    uintptr_t address = (uintptr_t)pointer;
    if (!running.kernel || on_fibre_stack(address))
        return;
    struct image *image = running.kernel->image;
    bool shared = address >= image->shared_low && address < image->shared_high;
    struct bytes bytes = {NULL, 0, count, address, running.launch_start, 0};
    if (shared) {
        if (address + count > image->shared_high)
            fault(pc, "%s shared memory beyond its end", DOES[kind]);
        bytes.shadow = &image->shared_shadow;
        bytes.first = address - image->shared_low;
        bytes.since = bytes.valid_since = running.block_start;
    } else if (in_device_memory(address)) {
        struct allocation *allocation = checked(pc, address, count, DOES[kind]);
        bytes.shadow = &allocation->shadow;
        bytes.first = address - allocation->start;
        use_in_order(pc, uses_of(address), kind != READ);
    } else if (address >= image->constants_low && address < image->constants_high && kind == READ) {
        return; /* constants */
    } else if (reads_host()) {
        return;
    } else {
        fault(pc, "%s %zu bytes at %p, which is no memory of the device", DOES[kind], count, pointer);
    }
    if (address % count && (count & (count - 1)) == 0 && count <= 16)
        fault(pc, "%s %zu bytes at %p, which is not aligned for that", DOES[kind], count, pointer);
    note(pc, kind, &bytes);
    if (statistics_wanted())
        count_access(pc, shared ? SHARED : GLOBAL, address, (unsigned)count, kind != READ);
}

#define CALLER __builtin_return_address(0)
#define HOOKS(bytes)                                                                                                   \
    void emulator_read##bytes(void *p) { access(CALLER, p, bytes, READ); }                                              \
    void emulator_write##bytes(void *p) { access(CALLER, p, bytes, WRITE); }                                              \
    void emulator_unaligned_read##bytes(void *p) { access(CALLER, p, bytes, READ); }                                    \
    void emulator_unaligned_write##bytes(void *p) { access(CALLER, p, bytes, WRITE); }                                    \
    void emulator_read_write##bytes(void *p) {                                                                           \
        access(CALLER, p, bytes, READ);                                                                               \
        access(CALLER, p, bytes, WRITE);                                                                                \
    }

HOOKS(1)
HOOKS(2)
HOOKS(4)
HOOKS(8)
HOOKS(16)

void emulator_read_range(void *p, size_t bytes) { access(CALLER, p, bytes, READ); }
void emulator_write_range(void *p, size_t bytes) { access(CALLER, p, bytes, WRITE); }
void emulator_update(void *p, size_t bytes, const void *pc) { access(pc, p, bytes, UPDATE); }

/* A subscript that is beyond its dimension, of shared memory or of a thread's own array: -fsanitize=bounds. */
void emulator_out_of_bounds(void *place, void *index) {
    (void)place;
    fault(CALLER, "the subscript %td is beyond its array", (ptrdiff_t)(intptr_t)index);
}

void emulator_init(void) {}
void emulator_func_entry(void *caller) { (void)caller; }
void emulator_func_exit(void) {}
