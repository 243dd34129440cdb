/* What the files of the runtime share. Nothing here is for programs or for generated code. */
#ifndef POLYBUILD_INTERNAL_H
#define POLYBUILD_INTERNAL_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "polybuild_device.h"

/* Symbols that are shared between the files of the runtime alone. */
#if defined(__GNUC__)
#define PB_PRIVATE __attribute__((visibility("hidden")))
#define PB_PRINTF(text, first) __attribute__((format(printf, text, first)))
#define PB_USED __attribute__((used)) /* by what the compiler does not see */
#else
#define PB_USED
#define PB_PRIVATE
#define PB_PRINTF(text, first)
#endif

/* ---- settings.c: what the environment says, read once ------------------------------------------ */

enum pb_backend { PB_AUTO, PB_HOST, PB_OPENMP, PB_CUDA, PB_HIP, PB_OPENCL };

struct pb_settings {
    enum pb_backend backend;
    int verbose;           /* 0: nothing; 1: a summary at exit, and what went wrong; 2: each run */
    int kept_memory;       /* MiB of device memory that are kept for the next region; -1: a part of what there is */
    const char *device;    /* POLYBUILD_DEVICE; NULL: not set */
    int local_rank;        /* of this process among those of the machine; 0 without MPI */
    double processors;     /* threads that the host runs at once */
};

PB_PRIVATE const struct pb_settings *pb_settings(void);

/* ---- messages.c: what is told on standard error ------------------------------------------------- */

PB_PRIVATE void pb_say(const polybuild_region *region, const char *format, ...) PB_PRINTF(2, 3);
PB_PRIVATE unsigned long long pb_now(void); /* nanoseconds, from a fixed point in time */

/* ---- driver_*.c: the tables of driver calls ------------------------------------------------------ */

/* Memory of a device: an address of CUDA's or HIP's, or a cl_mem. 0: none. */
typedef uintptr_t pb_memory;

/* A piece of memory that is copied: `rows` runs of `width` bytes, `pitch` apart on each side. */
struct pb_rows {
    size_t offset; /* of the first one in the device's memory */
    size_t width, rows, device_pitch, host_pitch;
};

enum { PB_MAXIMUM_ARGUMENTS = 256 }; /* of a kernel */

/* A launch in a `queue`: `code` as loaded, the kernel's position in it, and its arguments, whose buffers' memory is in
 * `memories`, 0 for values. */
struct pb_call {
    void *queue, *code;
    int kernel;
    bool together; /* its blocks wait for each other */
    size_t grid[3], block[3];
    const polybuild_argument *arguments;
    const pb_memory *memories;
    int count;
};

struct pb_device;

/* What the runtime asks of a driver. All that give an int give 0, or an error code that `explain`
 * knows. Only `enter`, `leave` and `wait` are called by several threads at the same time. What is asked for in
 * one queue happens in this order; `follow` has what is asked for in a queue from now on wait for what was
 * asked for in another one. */
struct pb_driver {
    const char *name;
    void *own; /* the driver's */
    /* Opens the driver's library and the device that the settings ask for; NULL, or why it is unusable.
     * The device gets its name. `any`: take a device even if the host is as fast. */
    const char *(*start)(struct pb_device *device, bool any);
    void (*stop)(struct pb_device *device);
    size_t (*capacity)(struct pb_device *device); /* bytes of memory that the device has; 0: not known */
    const char *(*explain)(struct pb_device *device, int code);
    /* Makes the device that of this thread, and undoes that. */
    int (*enter)(struct pb_device *device);
    void (*leave)(struct pb_device *device);
    /* Loads a module: `code` gets what `launch` and `unload` take. */
    int (*load)(struct pb_device *device, const polybuild_module *module, void **code);
    void (*unload)(struct pb_device *device, void *code);
    int (*allocate)(struct pb_device *device, size_t bytes, pb_memory *memory);
    void (*release)(struct pb_device *device, pb_memory memory);
    int (*open_queue)(struct pb_device *device, void **queue);
    void (*close_queue)(struct pb_device *device, void *queue);
    int (*follow)(struct pb_device *device, void *queue, void *other);
    /* Copies; when they return, the host's side may be used again. */
    int (*copy_in)(struct pb_device *device, void *queue, pb_memory memory, const char *host,
                   const struct pb_rows *rows);
    int (*copy_out)(struct pb_device *device, void *queue, pb_memory memory, char *host,
                    const struct pb_rows *rows);
    int (*launch)(struct pb_device *device, const struct pb_call *call);
    int (*wait)(struct pb_device *device, void *queue);
    /* Of drivers with addresses, else NULL: whether memory at `pointer` is this device's, whether its kernels
     * read the host's as fast as the host, and waiting of a queue for a stream of others, or of that for it. */
    bool (*holds)(struct pb_device *device, unsigned long long pointer);
    bool (*reads_host)(struct pb_device *device);
    int (*join)(struct pb_device *device, void *queue, unsigned long long stream, bool after);
    /* Of drivers whose blocks can wait for each other, else NULL: how many of a launch run at once; 0: none. */
    size_t (*room)(struct pb_device *device, const struct pb_call *call);
    /* Of drivers with graphs, else NULL: makes one of launches, one after the other, launches it, and frees it. */
    int (*graph)(struct pb_device *device, const struct pb_call *calls, int count, void **graph);
    int (*replay)(struct pb_device *device, void *queue, void *graph);
    void (*forget)(struct pb_device *device, void *graph);
    /* Gives the launch `number` of a graph the grid and the arguments of `call`, which is of the same kernel. */
    int (*change)(struct pb_device *device, void *graph, int number, const struct pb_call *call);
};

extern PB_PRIVATE const struct pb_driver pb_cuda_driver, pb_hip_driver, pb_opencl_driver;

/* ---- lock.c: the one lock of the runtime ----------------------------------------------------------- */

/* Held for every call below and every call of a driver but `wait`. */
PB_PRIVATE void pb_lock(void);
PB_PRIVATE void pb_unlock(void);

/* ---- device.c: the devices of this process, and their memory ------------------------------------- */

enum { PB_DEVICES = 3 };

/* What one thread has a device do. Runs have one as long as they last; a thread that is alone has the same
 * one again each time. */
struct pb_lane {
    struct pb_lane *next; /* free ones, the one that was given back last first */
    struct pb_lane *older; /* all there are */
    struct pb_device *device;
    void *queue;
};

struct pb_device {
    const struct pb_driver *driver;
    int position; /* 0: CUDA, 1: HIP, 2: OpenCL */
    enum { PB_UNTRIED, PB_READY, PB_UNUSABLE } state;
    bool lost;    /* an error came from the device itself: no region runs on it any more */
    int failed;   /* what the driver said when kernels did not end well: values on the device mean nothing */
    char name[128];
    const char *why; /* why it is unusable */
    size_t kept;     /* bytes of memory that no region uses at the moment */
    struct pb_lane *free_lanes, *lanes;
    void (*before_stop)(struct pb_device *device); /* gives back its memory as the process ends; NULL: nothing to do */
};

/* The device of CUDA or of HIP (POLYBUILD_CUDA, POLYBUILD_HIP), opened if it is not; NULL if there is none. */
PB_PRIVATE struct pb_device *pb_device_of(int kind);

/* A lane; an error code if there is none to be had. Between `enter` and `leave`, as all that follows. */
PB_PRIVATE int pb_lane_take(struct pb_device *device, struct pb_lane **lane);
PB_PRIVATE void pb_lane_give(struct pb_lane *lane);
/* Has `lane` wait for what was asked of another one, NULL: none, until now. */
PB_PRIVATE int pb_lane_follow(struct pb_lane *lane, struct pb_lane *other);
/* The device on which `module` shall run, its code loaded (in `code`); NULL, and why not. */
PB_PRIVATE struct pb_device *pb_device_for(polybuild_module *module, void **code, const char **why);

/* Waits for all that was asked of a lane, and remembers if it failed. */
PB_PRIVATE int pb_wait(struct pb_lane *lane);

/* Memory, new or kept from before; an error code if there is none even when all that is kept is given back. */
PB_PRIVATE int pb_take(struct pb_lane *lane, size_t bytes, pb_memory *memory);
/* `lane`: the one that used the memory last. */
PB_PRIVATE void pb_give(struct pb_lane *lane, pb_memory memory, size_t bytes);

/* ---- transfer.c: boxes between host and device --------------------------------------------------- */

PB_PRIVATE size_t pb_box_extent(const polybuild_box *box); /* bytes from the lowest to the highest touched */
PB_PRIVATE size_t pb_box_bytes(const polybuild_box *box);  /* bytes that are touched */

/* Copies `box`, whose lowest byte is at `offset` in `memory`. */
PB_PRIVATE int pb_box_in(struct pb_lane *lane, pb_memory memory, size_t offset, const polybuild_box *box);
PB_PRIVATE int pb_box_out(struct pb_lane *lane, pb_memory memory, size_t offset, const polybuild_box *box);
/* Copies the box from the device to `dense`, without gaps, and from there to its place on the host. */
PB_PRIVATE int pb_box_stage(struct pb_lane *lane, pb_memory memory, size_t offset, const polybuild_box *box,
                            char *dense);
PB_PRIVATE void pb_box_settle(const polybuild_box *box, const char *dense);

/* ---- resident.c: arrays that stay on a device ----------------------------------------------------- */

struct pb_resident {
    struct pb_resident *next;
    uintptr_t low;
    size_t bytes;
    int depth;           /* how often it was asked for */
    struct pb_device *device; /* with memory; NULL: none */
    struct pb_lane *lane;     /* the one that used it last */
    pb_memory memory;
    bool on_host, on_device; /* where its values are; at least one is true */
    unsigned long long stamp; /* another one whenever its values on the device may have changed */
    /* Memory that is its owner's, for which the host's copy stands in; `memory` 0: none. */
    struct {
        struct pb_device *device;
        pb_memory memory;
        unsigned long long stream; /* that waits for what was done with it; POLYBUILD_NO_STREAM: the host does */
    } adopted;
    bool lost;         /* the values of an adopted array are gone */
};

/* The resident array that holds all `bytes` bytes at `low`; NULL: none. Those that overlap them otherwise
 * are brought home, and are given up on the device if `written`. */
PB_PRIVATE struct pb_resident *pb_resident_at(uintptr_t low, size_t bytes, bool written);
/* The stamp of the values that are on a device of all bytes of `box`, which nobody changes but this runtime;
 * 0 if there are none. */
PB_PRIVATE unsigned long long pb_resident_stamp(const polybuild_box *box);
/* Values of `resident` on its device change. */
PB_PRIVATE void pb_resident_changed(struct pb_resident *resident);
/* Gives `resident` memory on the device of `lane`, and its values if `needed`. An error code of the driver. */
PB_PRIVATE int pb_resident_fetch(struct pb_resident *resident, struct pb_lane *lane, bool needed,
                                 polybuild_counts *counts);
/* Brings all resident arrays home, for host code that reads and writes them. */
PB_PRIVATE void pb_residents_home(void);

/* What goes between host and device for a run: bytes, and copies of arrays. */
struct pb_traffic {
    double bytes;
    int copies;
};
/* What a run with these uses copies on a device, and what its host version brings home. */
PB_PRIVATE void pb_traffic(const polybuild_use *uses, int count, struct pb_traffic *there, struct pb_traffic *home);
/* Ends the program: values that existed on the device alone are gone. */
PB_PRIVATE void pb_resident_lost(struct pb_resident *resident, const char *why);

/* ---- counters.c: what regions did ------------------------------------------------------------------ */

PB_PRIVATE void pb_know(polybuild_region *region); /* adds it to the list, if it is new */
PB_PRIVATE polybuild_counts *pb_no_region(void);   /* what happens outside of regions */

#endif
