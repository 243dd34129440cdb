/* polybuild: what a program can ask of the polybuild it was built with. */
#ifndef POLYBUILD_H
#define POLYBUILD_H

#include <stddef.h>
#include <stdlib.h>

#define POLYBUILD_VERSION "0.1.0"
#define POLYBUILD_VERSION_MAJOR 0
#define POLYBUILD_VERSION_MINOR 1
#define POLYBUILD_VERSION_PATCH 0

#ifdef __cplusplus
extern "C" {
#endif

/* What regions did so far. Times in nanoseconds; those of the device's clock are kept only with
 * POLYBUILD_VERBOSE. */
typedef struct polybuild_counts {
    unsigned long long device_runs, host_runs;         /* runs that ended there */
    unsigned long long failures;                       /* runs that began on a device and did not end there */
    unsigned long long launches;                       /* of kernels */
    unsigned long long copies_in, copies_out;          /* of arrays, to and from the device */
    unsigned long long bytes_in, bytes_out;
    unsigned long long device_time, host_time;         /* wall time of the runs */
    unsigned long long kernel_time, in_time, out_time; /* on the device */
} polybuild_counts;

/* The sums over the regions of `file` that begin at `line`; line 0: any, file NULL: the whole process, with
 * the copies of resident arrays that no region asked for. The number of regions that were counted. */
int polybuild_counters(const char *file, int line, polybuild_counts *counts);

/* Arrays that stay on the device.
 *
 * Between polybuild_resident and polybuild_release the values of an array may be on the device alone:
 * regions that run there neither copy it in nor out. Host code that is not a region calls
 * polybuild_update_host before it reads the array, and polybuild_update_device after it wrote to it.
 * `#pragma polybuild resident(A, B[0:n])` before a block makes the two outer calls.
 * Without a device these functions do nothing. They need the runtime library, as the GPU backends do.
 */

/* Keeps the `bytes` bytes at `array` on the device. May be nested: the last release counts. */
void polybuild_resident(const void *array, size_t bytes);

/* Brings the array home if its values are on the device, and frees it there. */
void polybuild_release(const void *array);

/* Makes the host's copy of the array at `array` current; NULL: of all resident arrays. Values stay on the
 * device as well. */
void polybuild_update_host(const void *array);

/* Says that host code wrote to the array at `array`: it is copied in again when a region needs it. */
void polybuild_update_device(const void *array);

/* Ranks of an MPI program that share regions (--distribute mpi): each runs the whole program.
 *
 * polybuild_rank is the number of this process among those that were started together, 0 where it runs
 * alone: what starts them says so in the environment. The first one is for what should happen once, as
 * printing. polybuild_ranks is how many there are. None of these functions needs a library. */
static inline int polybuild_rank(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK",   "PMI_RANK",       "MV2_COMM_WORLD_RANK",
                                        "PALS_RANKID",          "FLUX_TASK_RANK", "SLURM_PROCID"};
    const char *rank = NULL;
    size_t position;
    for (position = 0; !rank && position < sizeof names / sizeof *names; position++)
        rank = getenv(names[position]);
    return rank ? atoi(rank) : 0;
}

static inline int polybuild_ranks(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE",  "MV2_COMM_WORLD_SIZE",
                                        "PALS_SIZE",            "FLUX_JOB_SIZE", "SLURM_NTASKS"};
    const char *ranks = NULL;
    size_t position;
    for (position = 0; !ranks && position < sizeof names / sizeof *names; position++)
        ranks = getenv(names[position]);
    return ranks && atoi(ranks) > 0 ? atoi(ranks) : 1;
}

static inline int polybuild_on_first(void)
{
    return polybuild_rank() == 0;
}

/* Arrays that stay distributed: `#pragma polybuild distributed(u, v[0:n])` before a block.
 *
 * From its first region on, their elements stay on the ranks that compute them. polybuild_collect makes the array
 * that `array` points into whole on every rank, before host code reads or writes it; all ranks call it. At the end of
 * the block that is done of itself. Where ranks share nothing it does nothing. */
extern void polybuild_collect_values(const void *array) __attribute__((weak));
static inline void polybuild_collect(const void *array)
{
    if (polybuild_collect_values)
        polybuild_collect_values(array);
}

#ifdef __cplusplus
}
#endif

#endif
