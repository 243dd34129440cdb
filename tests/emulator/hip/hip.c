/* libamdhip64.so: HIP's functions are CUDA's by other names, but for copies of rows and texts of errors. */
#include <stdlib.h>
#include <string.h>

#include "../src/emulator.h"

enum { INVALID_VALUE = 1, TO_DEVICE = 1, TO_HOST = 2, ON_HOST = 1, ON_DEVICE = 2 };

/* What HIP and CUDA call a function, its parameters, and what they are called. */
#define RENAMED(X)                                                                                                     \
    X(hipInit, cuInit, (unsigned flags), (flags))                                                                      \
    X(hipGetDeviceCount, cuDeviceGetCount, (int *count), (count))                                                      \
    X(hipDeviceGet, cuDeviceGet, (int *device, int position), (device, position))                                      \
    X(hipDeviceGetName, cuDeviceGetName, (char *name, int size, int device), (name, size, device))                     \
    X(hipDeviceTotalMem, cuDeviceTotalMem_v2, (size_t *bytes, int device), (bytes, device))                            \
    X(hipDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, (void **context, int device), (context, device))            \
    X(hipDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2, (int device), (device))                                \
    X(hipCtxPushCurrent, cuCtxPushCurrent_v2, (void *context), (context))                                              \
    X(hipCtxPopCurrent, cuCtxPopCurrent_v2, (void **context), (context))                                               \
    X(hipModuleLoadData, cuModuleLoadData, (void **module, const void *data), (module, data))                          \
    X(hipModuleUnload, cuModuleUnload, (void *module), (module))                                                       \
    X(hipModuleGetFunction, cuModuleGetFunction, (void **kernel, void *module, const char *name),                      \
      (kernel, module, name))                                                                                          \
    X(hipMalloc, cuMemAlloc_v2, (unsigned long long *pointer, size_t bytes), (pointer, bytes))                         \
    X(hipFree, cuMemFree_v2, (unsigned long long pointer), (pointer))                                                  \
    X(hipHostMalloc, cuMemHostAlloc, (void **pointer, size_t bytes, unsigned flags), (pointer, bytes, flags))          \
    X(hipHostFree, cuMemFreeHost, (void *pointer), (pointer))                                                          \
    X(hipPointerGetAttribute, cuPointerGetAttribute, (void *value, int attribute, unsigned long long pointer),         \
      (value, attribute, pointer))                                                                                     \
    X(hipMemcpyHtoDAsync, cuMemcpyHtoDAsync_v2,                                                                        \
      (unsigned long long target, const void *source, size_t bytes, void *stream), (target, source, bytes, stream))    \
    X(hipMemcpyDtoHAsync, cuMemcpyDtoHAsync_v2,                                                                        \
      (void *target, unsigned long long source, size_t bytes, void *stream), (target, source, bytes, stream))          \
    X(hipStreamCreateWithFlags, cuStreamCreate, (void **stream, unsigned flags), (stream, flags))                      \
    X(hipStreamSynchronize, cuStreamSynchronize, (void *stream), (stream))                                             \
    X(hipStreamWaitEvent, cuStreamWaitEvent, (void *stream, void *event, unsigned flags), (stream, event, flags))      \
    X(hipStreamDestroy, cuStreamDestroy_v2, (void *stream), (stream))                                                  \
    X(hipEventCreateWithFlags, cuEventCreate, (void **event, unsigned flags), (event, flags))                          \
    X(hipEventRecord, cuEventRecord, (void *event, void *stream), (event, stream))                                     \
    X(hipEventSynchronize, cuEventSynchronize, (void *event), (event))                                                 \
    X(hipEventDestroy, cuEventDestroy_v2, (void *event), (event))                                                      \
    X(hipModuleLaunchKernel, cuLaunchKernel,                                                                           \
      (void *kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,            \
       unsigned block_z, unsigned shared, void *stream, void **parameters, void **extra),                              \
      (kernel, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared, stream, parameters, extra))

#define FUNCTION(hip, cuda, parameters, arguments)                                                                     \
    int cuda parameters;                                                                                               \
    int hip parameters { return cuda arguments; }
RENAMED(FUNCTION)

int cuGetErrorString(int code, const char **text);
const char *hipGetErrorString(int code) {
    const char *text;
    (void)cuGetErrorString(code, &text);
    return text;
}

/* Attributes of devices have numbers of their own. */
int cuDeviceGetAttribute(int *value, int attribute, int device);
int hipDeviceGetAttribute(int *value, int attribute, int device) {
    static const int numbers[][2] = {{58, 11}, {66, 100}}; /* the maximum pitch, the host's memory */
    for (int i = 0; i < 2; i++)
        if (numbers[i][0] == attribute)
            return cuDeviceGetAttribute(value, numbers[i][1], device);
    return INVALID_VALUE;
}

int cuMemcpy2DAsync_v2(const struct copy_2d *copy, void *stream);
int hipMemcpy2DAsync(void *target, size_t target_pitch, const void *source, size_t source_pitch, size_t width,
                     size_t height, int kind, void *stream) {
    struct copy_2d copy = {.source_pitch = source_pitch, .target_pitch = target_pitch, .width = width, .height = height};
    if (kind != TO_DEVICE && kind != TO_HOST)
        return INVALID_VALUE;
    bool out = kind == TO_HOST;
    copy.source_type = out ? ON_DEVICE : ON_HOST;
    copy.target_type = out ? ON_HOST : ON_DEVICE;
    if (out) {
        copy.source_device = (uintptr_t)source;
        copy.target_host = target;
    } else {
        copy.source_host = source;
        copy.target_device = (uintptr_t)target;
    }
    return cuMemcpy2DAsync_v2(&copy, stream);
}
