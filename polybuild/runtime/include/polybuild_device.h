/* polybuild: what the code that polybuild writes for the GPU backends calls.
 *
 * A region becomes, in the user's C file,
 *
 *     static polybuild_module  module  = {POLYBUILD_DEVICE_VERSION, ...};   one in a file
 *     static polybuild_region  region  = {&module, "heat.c", 12};           one for each region
 *
 *     int done = 0, home = 0;
 *     if (<the assumptions hold>) {
 *         const polybuild_use uses[] = {{&a_box, POLYBUILD_IN}, {&b_box, POLYBUILD_OUT}};
 *         polybuild_session *s = polybuild_open(&region, &work, uses, 2);
 *         if (s) {
 *             polybuild_buffer *a = polybuild_map(s, A, &a_box, sizeof *A, POLYBUILD_IN);
 *             polybuild_buffer *b = polybuild_map(s, B, &b_box, sizeof *B, POLYBUILD_OUT);
 *             const long a_first = polybuild_first(a), b_first = polybuild_first(b);
 *             for (t = 0; t < steps; t++)                       host loops around the kernels
 *                 polybuild_launch(s, 0, grid, block, (const polybuild_argument[]){
 *                     {.buffer = a}, {.value = &a_first, .size = sizeof a_first}, ...}, 5);
 *             done = polybuild_close(s);
 *         }
 *         if (!done)
 *             home = polybuild_home(uses, 2);
 *     }
 *     if (!done) {
 *         if (polybuild_host_begin(&region, home) == POLYBUILD_OPENMP && <the assumptions hold>)
 *             { <loops with OpenMP> }
 *         else
 *             { <the original text> }
 *         polybuild_host_end(&region);
 *     }
 *
 * Errors are sticky: after one, polybuild_map gives NULL, which every call takes, polybuild_launch
 * does nothing, and polybuild_close gives 0. The user's arrays are not written before every kernel
 * and every copy has succeeded, so the host version always starts from untouched data.
 *
 * Needs C99 and <stddef.h>, no header of CUDA or OpenCL, and defines no feature-test macro, so it can
 * be included anywhere in a file. All functions may be called by several threads at the same time;
 * a session belongs to the thread that opened it.
 */
#ifndef POLYBUILD_DEVICE_H
#define POLYBUILD_DEVICE_H

#include <stddef.h>

#include "polybuild.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Changes whenever the structures below do; a module of another version runs on the host. */
#define POLYBUILD_DEVICE_VERSION 8

typedef struct polybuild_session polybuild_session; /* one run of one region on a device */
typedef struct polybuild_buffer polybuild_buffer;   /* an array of a session, on the device */

/* What it costs to run on a device, about: nanoseconds to begin and end a run, and the copy of an array; bytes
 * copied a nanosecond; nanoseconds for a launch, and for a statement instance where one thread of the device runs
 * it alone, and on one thread of the host; nanoseconds for all blocks to meet, and the part of their time that
 * blocks lose which cannot be given to where there is room; the time of a block that a multiprocessor holds alone
 * over that of all that it holds at once, and how many multiprocessors there are. */
typedef struct polybuild_costs {
    double start, copy, bandwidth, launch, alone, host, meeting, fixed, wave, processors;
} polybuild_costs;

/* What the kernels of one translation unit were compiled to. Static, written by polybuild; the images
 * are loaded into a device once, by the first session that needs them. */
typedef struct polybuild_module {
    int version;                       /* POLYBUILD_DEVICE_VERSION */
    int kernel_count;
    const char *const *kernels;        /* names of the kernels: extern "C" in CUDA; launched by position */
    const unsigned long long *fatbin;  /* CUDA image as nvcc -fatbin wrote it; NULL: none */
    size_t fatbin_size;                /* in bytes, without the padding to whole words */
    const char *const *opencl;         /* OpenCL C in pieces that are concatenated, then NULL; NULL: none */
    const char *opencl_options;        /* for clBuildProgram; NULL: none */
    const char *const *hip;            /* HIP in pieces, likewise; NULL: none */
    const char *hip_options;           /* one option for hiprtcCompileProgram; NULL: none */
    polybuild_costs costs;             /* where a run takes less time follows from these */
    void *state;                       /* the runtime's; NULL at first */
} polybuild_module;

/* One region of the source. Static, written by polybuild: the first three members. */
typedef struct polybuild_region {
    polybuild_module *module;
    const char *file;
    int line;
    /* From here on the runtime's; zero at first. */
    int known, complained;
    struct polybuild_region *next;
    polybuild_counts counts; /* see polybuild_counters */
    void *seen;              /* see polybuild_recall */
    void *tape;              /* of launches that are made again */
} polybuild_region;

/* What is done with an array. */
enum {
    POLYBUILD_IN = 1,        /* copied to the device before the first kernel */
    POLYBUILD_OUT = 2,       /* copied back by polybuild_close */
    POLYBUILD_INOUT = 3,
    POLYBUILD_TEMPORARY = 0  /* neither: holds values between kernels only */
};
/* POLYBUILD_OUT without POLYBUILD_IN promises that the region writes every byte of the box, whatever
 * the data; elements that it only may write need POLYBUILD_INOUT. */

/* The bytes of an array that a region touches: `planes` times `rows` runs of `width` bytes, the runs
 * `row_pitch` and the planes `plane_pitch` bytes apart (ignored where there is only one).
 * On the device an element lies where it lies in the host's array, relative to the others: only the
 * copies are of the box alone, the subscripts of a kernel need not know of it. */
typedef struct polybuild_box {
    const void *low;  /* the lowest byte */
    size_t width;     /* 0: nothing is touched, and the kernels must not touch it */
    size_t rows, row_pitch;     /* rows >= 1; row_pitch >= width */
    size_t planes, plane_pitch; /* planes >= 1; plane_pitch >= rows * row_pitch, or >= the extent of a plane */
} polybuild_box;

/* One argument of a kernel: an array (only `buffer`), or a value of `size` bytes at `value`. */
typedef struct polybuild_argument {
    polybuild_buffer *buffer;
    const void *value;
    size_t size;
} polybuild_argument;

/* What all launches of a kernel take where its blocks keep the device busy, in nanoseconds; how many blocks a launch
 * has, and a multiprocessor holds at once, about. */
typedef struct polybuild_kernel_work {
    double time, blocks, held;
} polybuild_kernel_work;

/* What a run does, about: the number of statement instances, of those that one thread of the device runs
 * alone, of launches, and how many instances a launch is worth where no values are on the device yet. As many
 * `runs` like it (0: one) share what is copied, as it stays there. With `replay` launches that were made before are
 * made again as graphs of the device. `kernels` are those that many threads run. */
typedef struct polybuild_work {
    double instances, serial, launches, minimum, runs;
    int replay, kernel_count;
    const polybuild_kernel_work *kernels;
} polybuild_work;

/* An array that a run touches, and what is done with it. */
typedef struct polybuild_use {
    const polybuild_box *box;
    int mode;
} polybuild_use;

/* Begins a run of `region` on a device; NULL if it shall run on the host: there is no device, the user
 * wants it so (POLYBUILD_BACKEND), the module has no image for the device, or the run is too small.
 * `uses` are all arrays that it touches, but for scalars that it only reads. `work` NULL: not known,
 * taken as enough. */
polybuild_session *polybuild_open(polybuild_region *region, const polybuild_work *work, const polybuild_use *uses,
                                  int count);

/* The array on the device that stands for the one at `base`, of which the kernels touch `box`. Copies
 * it there if `mode` has POLYBUILD_IN, unless it is resident and up to date. `unit` is the size of an
 * element in bytes; all subscripts in the kernels count elements from `base`. One call for an array
 * and session: the box is the union of all that its kernels touch. Two boxes of one session must not
 * overlap unless both are only read. */
polybuild_buffer *polybuild_map(polybuild_session *session, const void *base, const polybuild_box *box, size_t unit,
                                int mode);

/* What the kernels subtract from every subscript: the pointer that a kernel gets for `buffer` points
 * to the element base[first], so base[i] of the host is pointer[i - first]. May be negative. */
long polybuild_first(const polybuild_buffer *buffer);

/* Runs the kernel at position `kernel` of the module on grid[0] x grid[1] x grid[2] blocks (x first) of
 * block[0] x block[1] x block[2] threads each. Kernels of a session run in the order of their launches.
 * A grid without blocks is no error; nothing runs. */
void polybuild_launch(polybuild_session *session, int kernel, const long grid[3], const long block[3],
                      const polybuild_argument *arguments, int count);

/* Runs the kernel at position `kernel`, which is a loop with several kernels in it, at once: with as many blocks as
 * the device has room for, which meet where one of those ends. 1 if that is done, or nothing can be done any more;
 * 0 if the loop is to launch them one by one: the device cannot do it, or they run so long that it does not pay. */
int polybuild_launch_together(polybuild_session *session, int kernel, const long block[3],
                              const polybuild_argument *arguments, int count);

/* Ends a run: waits for the kernels, copies the arrays with POLYBUILD_OUT back. 1 if all went well; 0
 * if the host version must run, on data that is as it was before. The session is gone afterwards. */
int polybuild_close(polybuild_session *session);

/* Brings home those resident arrays that a host version with these uses touches; 1. */
int polybuild_home(const polybuild_use *uses, int count);

/* What a look at data found before: loop `number` of `region` reads what `uses` are of, and `values` has `keys`
 * values that it depends on besides, then those that it finds, `count` in all. polybuild_recall gives 1, and
 * fills these in, if it found them for the same keys and boxes, and all that it read was on a device then, is now,
 * and did not change: the runtime knows that of resident arrays that are not adopted. 0: look again.
 * polybuild_remember keeps what was found, and is called where the arrays have been mapped. */
int polybuild_recall(polybuild_region *region, int number, const polybuild_use *uses, int use_count,
                     long long *values, int keys, int count);
void polybuild_remember(polybuild_region *region, int number, const polybuild_use *uses, int use_count,
                        const long long *values, int keys, int count);

/* Before a host version of `region` runs, for whatever reason: brings home all resident arrays whose
 * values are on the device, unless those that it touches are `home`, and says which version the user
 * wants (POLYBUILD_BACKEND). */
enum { POLYBUILD_ORIGINAL = 0, POLYBUILD_OPENMP = 1 };
int polybuild_host_begin(polybuild_region *region, int home);

/* After a host version of `region` has run. */
void polybuild_host_end(polybuild_region *region);

/* Which of the two the user wants, and nothing else. */
int polybuild_wanted(void);

/* Ranks of an MPI program: the block of a rank is run by its device between two messages, and arrays stay there.
 * polybuild_place says which of the processes of this machine this one is: those of different devices take
 * different ones. polybuild_fetch makes `rows` runs of `width` bytes, `pitch` bytes apart from `low` on, current
 * on the host, as far as they are of resident arrays whose values are on a device alone; polybuild_put says that
 * the host received them, and copies them to where values are. Nothing else of these arrays is copied. */
void polybuild_place(int position);
void polybuild_fetch(const void *low, size_t width, size_t rows, size_t pitch);
void polybuild_put(const void *low, size_t width, size_t rows, size_t pitch);

/* The bytes from the lowest of a box to the highest. */
static inline size_t polybuild_extent(const polybuild_box *box)
{
    return box->width ? (box->planes - 1) * box->plane_pitch + (box->rows - 1) * box->row_pitch + box->width : 0;
}

/* Memory of a device that the program has from elsewhere. What was done with it before was asked for in
 * `stream`, and what comes after will be: the one is waited for, the other waits, both on the device. Where it
 * `waits`, or there is no stream, the host waits at the end for what was done here, and for nothing else. */
enum { POLYBUILD_CUDA = 0, POLYBUILD_HIP = 1 };
#define POLYBUILD_NO_STREAM (~0ULL)
typedef struct polybuild_foreign {
    int kind; /* POLYBUILD_CUDA or POLYBUILD_HIP */
    int waits;
    unsigned long long pointer, stream;
} polybuild_foreign;

/* Arrays that are in a device's memory from the start, for callers that have no host array at all. Between
 * the two calls `stand_in`, `bytes` bytes of host memory, is what the array in `memory` is called;
 * it is resident, and the stand-in gets values only if a host version runs. Each gives 1 if all went well;
 * polybuild_adopt gives 0 for memory of another device, too, and polybuild_disown if the array's values were
 * lost. A failure of kernels that nobody waited for is told by the next call of the driver. */
int polybuild_adopt(void *stand_in, size_t bytes, const polybuild_foreign *memory);
int polybuild_disown(void *stand_in);

#ifdef __cplusplus
}
#endif

#endif
