/* CUDA and HIP: two dialects of one interface, whose functions differ by their names. */
#ifndef POLYBUILD_GPU_H
#define POLYBUILD_GPU_H

#include "internal.h"

/* The few types and numbers of both drivers' binary interfaces that are used here. An address of the device is
 * a whole number in CUDA and a pointer in HIP, which are passed alike where both have 64 bits. */
typedef struct context *context_t;
typedef struct stream *stream_t;
typedef struct event *event_t;
typedef struct module *module_t;
typedef struct function *function_t;
typedef struct graph *graph_t;
typedef struct graph_exec *graph_exec_t;
typedef struct graph_node *graph_node_t;
typedef unsigned long long device_pointer;

struct copy_2d { /* CUDA_MEMCPY2D */
    size_t source_x, source_y;
    unsigned source_type;
    const void *source_host;
    device_pointer source_device;
    void *source_array;
    size_t source_pitch;
    size_t target_x, target_y;
    unsigned target_type;
    void *target_host;
    device_pointer target_device;
    void *target_array;
    size_t target_pitch;
    size_t width, height;
};

struct kernel_node { /* CUDA_KERNEL_NODE_PARAMS_v1 */
    function_t function;
    unsigned grid[3], block[3], shared_bytes;
    void **parameters, **extra;
};

enum { GPU_INVALID_VALUE = 1, GPU_OUT_OF_MEMORY = 2 };

/* Every function of the two libraries that is called: result, name here, in CUDA, in HIP (NULL: it is called in
 * the other one only), parameters. */
#define GPU_CALLS(X)                                                                                                   \
    X(int, init, "cuInit", "hipInit", (unsigned))                                                                      \
    X(int, device_count, "cuDeviceGetCount", "hipGetDeviceCount", (int *))                                             \
    X(int, device_get, "cuDeviceGet", "hipDeviceGet", (int *, int))                                                    \
    X(int, device_name, "cuDeviceGetName", "hipDeviceGetName", (char *, int, int))                                     \
    X(int, device_attribute, "cuDeviceGetAttribute", "hipDeviceGetAttribute", (int *, int, int))                       \
    X(int, device_memory, "cuDeviceTotalMem_v2", "hipDeviceTotalMem", (size_t *, int))                                 \
    X(int, context_retain, "cuDevicePrimaryCtxRetain", "hipDevicePrimaryCtxRetain", (context_t *, int))                \
    X(int, context_release, "cuDevicePrimaryCtxRelease_v2", "hipDevicePrimaryCtxRelease", (int))                       \
    X(int, context_push, "cuCtxPushCurrent_v2", "hipCtxPushCurrent", (context_t))                                      \
    X(int, context_pop, "cuCtxPopCurrent_v2", "hipCtxPopCurrent", (context_t *))                                       \
    X(int, module_load, "cuModuleLoadData", "hipModuleLoadData", (module_t *, const void *))                           \
    X(int, module_unload, "cuModuleUnload", "hipModuleUnload", (module_t))                                             \
    X(int, module_function, "cuModuleGetFunction", "hipModuleGetFunction", (function_t *, module_t, const char *))     \
    X(int, allocate, "cuMemAlloc_v2", "hipMalloc", (device_pointer *, size_t))                                         \
    X(int, release, "cuMemFree_v2", "hipFree", (device_pointer))                                                       \
    X(int, host_allocate, "cuMemHostAlloc", "hipHostMalloc", (void **, size_t, unsigned))                              \
    X(int, host_release, "cuMemFreeHost", "hipHostFree", (void *))                                                     \
    X(int, pointer_attributes, "cuPointerGetAttributes", NULL, (unsigned, int *, void **, device_pointer))             \
    X(int, pointer_attribute, NULL, "hipPointerGetAttribute", (void *, int, device_pointer))                           \
    X(int, copy_to, "cuMemcpyHtoDAsync_v2", "hipMemcpyHtoDAsync", (device_pointer, const void *, size_t, stream_t))    \
    X(int, copy_from, "cuMemcpyDtoHAsync_v2", "hipMemcpyDtoHAsync", (void *, device_pointer, size_t, stream_t))        \
    X(int, copy_rectangle, "cuMemcpy2DAsync_v2", NULL, (const struct copy_2d *, stream_t))                             \
    X(int, copy_rows, NULL, "hipMemcpy2DAsync",                                                                        \
      (void *, size_t, const void *, size_t, size_t, size_t, int, stream_t))                                           \
    X(int, stream_create, "cuStreamCreate", "hipStreamCreateWithFlags", (stream_t *, unsigned))                        \
    X(int, stream_follow, "cuStreamWaitEvent", "hipStreamWaitEvent", (stream_t, event_t, unsigned))                    \
    X(int, stream_wait, "cuStreamSynchronize", "hipStreamSynchronize", (stream_t))                                     \
    X(int, stream_destroy, "cuStreamDestroy_v2", "hipStreamDestroy", (stream_t))                                       \
    X(int, event_create, "cuEventCreate", "hipEventCreateWithFlags", (event_t *, unsigned))                            \
    X(int, event_record, "cuEventRecord", "hipEventRecord", (event_t, stream_t))                                       \
    X(int, event_wait, "cuEventSynchronize", "hipEventSynchronize", (event_t))                                         \
    X(int, event_destroy, "cuEventDestroy_v2", "hipEventDestroy", (event_t))                                           \
    X(int, launch, "cuLaunchKernel", "hipModuleLaunchKernel",                                                          \
      (function_t, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, stream_t, void **, void **))  \
    X(int, launch_together, "cuLaunchCooperativeKernel", NULL,                                                         \
      (function_t, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, stream_t, void **))           \
    X(int, blocks_at_once, "cuOccupancyMaxActiveBlocksPerMultiprocessor", NULL, (int *, function_t, int, size_t))      \
    X(int, error_get, "cuGetErrorString", NULL, (int, const char **))                                                  \
    X(const char *, error_text, NULL, "hipGetErrorString", (int))

/* Those that a driver may lack, all or none: without them launches are made one by one. */
#define GPU_GRAPH_CALLS(X)                                                                                             \
    X(int, graph_create, "cuGraphCreate", NULL, (graph_t *, unsigned))                                                 \
    X(int, graph_add, "cuGraphAddKernelNode", NULL,                                                                    \
      (graph_node_t *, graph_t, const graph_node_t *, size_t, const struct kernel_node *))                             \
    X(int, graph_instantiate, "cuGraphInstantiateWithFlags", NULL, (graph_exec_t *, graph_t, unsigned long long))      \
    X(int, graph_change, "cuGraphExecKernelNodeSetParams", NULL,                                                       \
      (graph_exec_t, graph_node_t, const struct kernel_node *))                                                        \
    X(int, graph_launch, "cuGraphLaunch", NULL, (graph_exec_t, stream_t))                                              \
    X(int, graph_exec_destroy, "cuGraphExecDestroy", NULL, (graph_exec_t))                                             \
    X(int, graph_destroy, "cuGraphDestroy", NULL, (graph_t))

struct gpu_calls {
#define MEMBER(result, name, cuda, hip, parameters) result(*name) parameters;
    GPU_CALLS(MEMBER)
    GPU_GRAPH_CALLS(MEMBER)
#undef MEMBER
};

/* What the drivers call the same by different numbers, and what they are given to run. */
struct gpu_dialect {
    const char *const *libraries; /* the newest one first; NULL at the end */
    const char *missing;          /* what is said if there is none */
    int max_pitch, reads_host;    /* attributes of a device */
    stream_t legacy;              /* the stream that all wait for which are not told otherwise */
    /* What the driver loads for a module, and what to free after that was unloaded; an error code. */
    int (*image)(const polybuild_module *module, const void **image, void **owned);
};

enum { GPU_HALVES = 2 };

/* A dialect's library, and the one device of it that is used. */
struct gpu {
    const struct gpu_dialect *dialect;
    struct gpu_calls calls;
    int device;
    context_t context;
    size_t max_pitch;
    size_t multiprocessors; /* 0: blocks cannot wait for each other */
    bool has_graphs;
    bool reads_host; /* kernels read the host's memory by the host's own tables of pages */
    /* Pinned memory through which arrays are copied, one half filled while the other one travels. */
    char *pinned; /* NULL: not yet, or not to be had */
    bool no_pinned;
    event_t travelled[GPU_HALVES];
};

struct gpu_queue {
    stream_t stream;
    event_t reached; /* for those that wait for it */
};

/* ---- gpu_libraries.c ---- */
extern PB_PRIVATE const struct gpu_dialect gpu_cuda, gpu_hip;
/* Finds the library of the dialect and all its functions; NULL, or why it cannot be used. */
PB_PRIVATE const char *gpu_open(struct gpu *gpu);

/* ---- gpu_copies.c: as of struct pb_driver ---- */
/* Whether the driver knows the memory at `address`, and, if that is asked, the device of it. CUDA answers for memory
 * that it does not know with zeros: of an error compute-sanitizer would tell the user. */
PB_PRIVATE bool gpu_knows(const struct gpu *gpu, device_pointer address, int *device);
PB_PRIVATE int gpu_copy_in(struct pb_device *device, void *queue, pb_memory memory, const char *host,
                           const struct pb_rows *rows);
PB_PRIVATE int gpu_copy_out(struct pb_device *device, void *queue, pb_memory memory, char *host,
                            const struct pb_rows *rows);

#endif
