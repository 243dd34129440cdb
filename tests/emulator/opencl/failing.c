/* A libOpenCL.so.1 whose n-th call fails; all others go to the library at POLYBUILD_OPENCL_LIBRARY.
 *
 * POLYBUILD_OPENCL_FAIL: "7": the seventh call fails; "7+": all from then on.
 * POLYBUILD_OPENCL_CALLS: a file that gets the number of calls when the program ends. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OUT_OF_RESOURCES = -5 };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static void *library;
static unsigned long calls, first_failure;
static int all_after;

static void start(void) {
    const char *name = getenv("POLYBUILD_OPENCL_LIBRARY"), *fail = getenv("POLYBUILD_OPENCL_FAIL");
    library = dlopen(name ? name : "", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "failing OpenCL: %s\n", dlerror());
        abort();
    }
    if (fail) {
        first_failure = strtoul(fail, NULL, 10);
        all_after = strchr(fail, '+') != NULL;
    }
}

__attribute__((destructor)) static void tell(void) {
    const char *name = getenv("POLYBUILD_OPENCL_CALLS");
    FILE *file = name ? fopen(name, "w") : NULL;
    if (file) {
        fprintf(file, "%lu\n", calls);
        fclose(file);
    }
}

static int fails(void) {
    unsigned long now;
    pthread_once(&once, start);
    now = __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
    return first_failure && (now == first_failure || (all_after && now > first_failure));
}

static void *real(const char *name) {
    void *found = dlsym(library, name);
    if (!found)
        abort();
    return found;
}

#define FORWARD(name, parameters, arguments) (((int(*) parameters)real(#name))arguments)

/* A function that gives an error code. */
#define CALL(name, parameters, arguments)                                                                              \
    int name parameters;                                                                                               \
    int name parameters { return fails() ? OUT_OF_RESOURCES : FORWARD(name, parameters, arguments); }

/* A function that gives back what it was given, and says that it did not if it is its turn. */
#define RELEASE(name)                                                                                                  \
    int name(void *object);                                                                                            \
    int name(void *object) {                                                                                           \
        int failed = fails(), code = FORWARD(name, (void *), (object));                                                \
        return failed ? OUT_OF_RESOURCES : code;                                                                       \
    }

/* A function that makes an object, and stores an error code. */
#define CREATE(name, parameters, arguments)                                                                            \
    void *name parameters;                                                                                             \
    void *name parameters {                                                                                            \
        if (fails()) {                                                                                                 \
            *code = OUT_OF_RESOURCES;                                                                                  \
            return NULL;                                                                                               \
        }                                                                                                              \
        return ((void *(*)parameters)real(#name))arguments;                                                            \
    }

typedef unsigned long long bits;
typedef const size_t *sizes;

CALL(clGetPlatformIDs, (unsigned count, void **found, unsigned *all), (count, found, all))
CALL(clGetDeviceIDs, (void *platform, bits type, unsigned count, void **found, unsigned *all),
     (platform, type, count, found, all))
CALL(clGetDeviceInfo, (void *device, unsigned what, size_t size, void *value, size_t *needed),
     (device, what, size, value, needed))
CREATE(clCreateContext,
       (const void *properties, unsigned count, void *const *devices, void *callback, void *data, int *code),
       (properties, count, devices, callback, data, code))
RELEASE(clReleaseContext)
CREATE(clCreateCommandQueue, (void *context, void *device, bits properties, int *code),
       (context, device, properties, code))
RELEASE(clReleaseCommandQueue)
CREATE(clCreateProgramWithSource, (void *context, unsigned count, const char **texts, sizes lengths, int *code),
       (context, count, texts, lengths, code))
CALL(clBuildProgram,
     (void *program, unsigned count, void *const *devices, const char *options, void *callback, void *data),
     (program, count, devices, options, callback, data))
CALL(clGetProgramBuildInfo,
     (void *program, void *device, unsigned what, size_t size, void *value, size_t *needed),
     (program, device, what, size, value, needed))
RELEASE(clReleaseProgram)
CREATE(clCreateKernel, (void *program, const char *name, int *code), (program, name, code))
RELEASE(clReleaseKernel)
CALL(clSetKernelArg, (void *kernel, unsigned position, size_t size, const void *value),
     (kernel, position, size, value))
CREATE(clCreateBuffer, (void *context, bits flags, size_t bytes, void *host, int *code),
       (context, flags, bytes, host, code))
RELEASE(clReleaseMemObject)
CALL(clEnqueueWriteBufferRect,
     (void *queue, void *memory, unsigned wait, sizes there, sizes here, sizes region, size_t row, size_t slice,
      size_t host_row, size_t host_slice, const void *host, unsigned count, const void *events, void *event),
     (queue, memory, wait, there, here, region, row, slice, host_row, host_slice, host, count, events, event))
CALL(clEnqueueReadBufferRect,
     (void *queue, void *memory, unsigned wait, sizes there, sizes here, sizes region, size_t row, size_t slice,
      size_t host_row, size_t host_slice, void *host, unsigned count, const void *events, void *event),
     (queue, memory, wait, there, here, region, row, slice, host_row, host_slice, host, count, events, event))
CALL(clEnqueueNDRangeKernel,
     (void *queue, void *kernel, unsigned dimensions, sizes offset, sizes threads, sizes group, unsigned count,
      const void *events, void *event),
     (queue, kernel, dimensions, offset, threads, group, count, events, event))
CALL(clFinish, (void *queue), (queue))
