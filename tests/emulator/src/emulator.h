/* What the files of the emulator share: a stand-in for libcuda.so.1 that runs kernels on the CPU.
 *
 * Kernels are compiled by the stand-in for nvcc (nvcc.py) to a shared object whose memory accesses call
 * the functions of hooks.c. One operating-system thread runs the threads of a block as fibres, one block
 * after the other. Every access is checked; the first fault ends the process with the status FAULT. */
#ifndef EMULATOR_H
#define EMULATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FAULT = 97, LEAK = 96 };
enum { MOST_THREADS = 1024, WARP = 32 };
/* A device with two multiprocessors, each of which runs two blocks at once. */
enum { MULTIPROCESSORS = 2, BLOCKS_AT_ONCE = 2, MOST_RESIDENT = MULTIPROCESSORS * BLOCKS_AT_ONCE };

struct index3 {
    unsigned x, y, z;
};

/* Tells what is wrong and where in the kernel that runs (pc: the faulty access, or NULL), and ends. */
void fault(const void *pc, const char *format, ...) __attribute__((noreturn, format(printf, 2, 3)));

/* ---- fibres.c ---- */
typedef void fibre_body(void);
void fibre_prepare(unsigned number, fibre_body *body);
void fibre_resume(unsigned number); /* runs it until it yields; from the scheduler */
void fibre_yield(void);             /* back to the scheduler; from a fibre */
bool on_fibre_stack(uintptr_t address);

/* ---- memory.c: device memory, unreadable but by kernels and copies ---- */

/* Who did something to each granule first in this launch, and who did last; stamps (see below), 0: nobody, ever. */
struct users {
    uint64_t *first, *last;
};

/* What is known of each granule of some memory: who wrote it last, who read it, and who updated it atomically.
 * A granule has 1 << shift bytes, which no access or copy has taken apart so far. */
struct shadow {
    size_t bytes;
    unsigned shift;
    uint64_t *writer;
    struct users readers, updaters;
};
void shadow_make(struct shadow *shadow, size_t bytes);
void shadow_free(struct shadow *shadow);
/* Before `count` bytes from the byte `first` on are looked at: makes granules so small that these are whole ones. */
void shadow_fit(struct shadow *shadow, size_t first, size_t count);

/* Which operation of which stream wrote to an array last, and of each stream the last one that used it. */
enum { MOST_STREAMS = 32 };
struct uses {
    int writer_stream;
    unsigned long long writer_number, readers[MOST_STREAMS];
};

struct allocation {
    struct uses uses;
    uintptr_t start;
    size_t bytes;
    bool live;
    int device;
    struct shadow shadow;
};

uintptr_t memory_allocate(size_t bytes, int device); /* 0: there is none */
bool memory_free(uintptr_t address);
size_t memory_live(void);
bool in_device_memory(uintptr_t address);
struct uses *uses_of(uintptr_t address); /* NULL: no array is there */
const struct allocation *allocation_at(uintptr_t address); /* also one that was freed; NULL: none */
/* Checks that the bytes are in one live allocation; `what` is told if not. */
struct allocation *checked(const void *pc, uintptr_t address, size_t bytes, const char *what);
void memory_open(void); /* readable and writable, until memory_close; nests */
void memory_close(void);

/* ---- driver.c ---- */
struct copy_2d { /* CUDA_MEMCPY2D */
    size_t source_x, source_y;
    unsigned source_type;
    const void *source_host;
    unsigned long long source_device;
    void *source_array;
    size_t source_pitch, target_x, target_y;
    unsigned target_type;
    void *target_host;
    unsigned long long target_device;
    void *target_array;
    size_t target_pitch, width, height;
};
/* A call of another library, named so, that is counted and may fail like those of the driver; 0: it does not. */
int driver_call(const char *name);
int current_device(void); /* of this thread */
bool reads_host(void);    /* whether kernels may use the host's memory */
/* That the stream of the running operation knows all that was done with an array to be over. */
void use_in_order(const void *pc, struct uses *uses, bool writes);

/* ---- stamps: who did something when. Epochs grow by one with each barrier, block and launch. ---- */
enum { THREAD_BITS = 11 };
static inline uint64_t stamp_of(uint64_t epoch, unsigned thread) { return epoch << THREAD_BITS | thread; }
static inline uint64_t epoch_of(uint64_t stamp) { return stamp >> THREAD_BITS; }
static inline unsigned thread_of(uint64_t stamp) { return (unsigned)(stamp & ((1u << THREAD_BITS) - 1)); }
enum { MANY_THREADS = (1 << THREAD_BITS) - 1 }; /* as a thread: several in the same epoch */
static const uint64_t STAMP_OF_HOST = 1;        /* copied in: epoch 0 */

/* ---- launch.c ---- */
struct image;
struct kernel {
    char name[256];
    void (*call)(void **parameters);
    unsigned (*sizes)(size_t *found); /* of the parameters; how many there are */
    struct image *image;
};
struct image { /* a loaded module */
    void *handle;
    char path[64];
    int file;
    uintptr_t constants_low, constants_high; /* what comes before the first variable */
    uintptr_t shared_low, shared_high; /* its __shared__ variables */
    struct shadow shared_shadow;
};
/* What runs at the moment; all zero outside of kernels. */
struct running {
    const struct kernel *kernel;
    struct index3 grid, block, block_index, thread_index;
    unsigned thread; /* its number within the block */
    bool together;   /* the blocks may wait for each other; `resident`: which of them this is */
    unsigned resident;
    uint64_t epoch, block_start, launch_start;
};
extern struct running running;
/* `together`: the blocks may wait for each other. */
int launch(const struct kernel *kernel, struct index3 grid, struct index3 block, void **parameters, bool together);

/* ---- statistics.c ---- */
enum space { GLOBAL, SHARED };
bool statistics_wanted(void);
void count_access(const void *pc, enum space space, uintptr_t address, unsigned bytes, bool writes);
void count_phase(unsigned threads); /* at a barrier and at the end of a block: looks at what was counted */
void count_launch(const struct kernel *kernel, uint64_t blocks, unsigned threads, uint64_t barriers,
                  uint64_t meetings);
void count_copy(bool out, size_t bytes);
struct graph_counts {
    unsigned long long replays, changes; /* launches of graphs, and changes of their nodes */
};
void statistics_write(unsigned long long calls, unsigned long long errors, unsigned long long allocations,
                      unsigned long long rectangles, struct graph_counts graphs);

#endif
