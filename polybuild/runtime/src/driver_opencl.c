/* OpenCL, found when the program runs: nothing of OpenCL is needed to build it. */
#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* The few types and numbers of OpenCL's binary interface that are used here. */
typedef struct platform *platform_t;
typedef struct device *device_t;
typedef struct context *context_t;
typedef struct queue *queue_t;
typedef struct program *program_t;
typedef struct kernel *kernel_t;
typedef struct memory *memory_t;
typedef unsigned long long bits;

enum { DEVICE_TYPE = 0x1000, DEVICE_AVAILABLE = 0x1027, DEVICE_COMPILER = 0x1028 };
enum { DEVICE_FLOAT = 0x101B, CORRECTLY_ROUNDED = 1 << 7 };
enum { DEVICE_MEMORY = 0x101F, DEVICE_NAME = 0x102B, DEVICE_VERSION = 0x102F };
enum { TYPE_CPU = 2, TYPE_GPU = 4, TYPE_ACCELERATOR = 8 };
static const bits TYPE_ALL = 0xFFFFFFFF;
enum { READ_WRITE = 1, BUILD_LOG = 0x1183, NO = 0, YES = 1 };
enum { OUT_OF_HOST_MEMORY = -6, INVALID_VALUE = -30 };

typedef void callback(program_t, void *);
typedef void context_callback(const char *, const void *, size_t, void *);

/* Every function of the library that is called: result, name here, name there, parameters. */
#define CALLS(X)                                                                                                       \
    X(int, platforms, "clGetPlatformIDs", (unsigned, platform_t *, unsigned *))                                        \
    X(int, devices, "clGetDeviceIDs", (platform_t, bits, unsigned, device_t *, unsigned *))                            \
    X(int, device_info, "clGetDeviceInfo", (device_t, unsigned, size_t, void *, size_t *))                             \
    X(context_t, context, "clCreateContext",                                                                           \
      (const void *, unsigned, const device_t *, context_callback *, void *, int *))                                   \
    X(int, context_release, "clReleaseContext", (context_t))                                                           \
    X(queue_t, queue, "clCreateCommandQueue", (context_t, device_t, bits, int *))                                      \
    X(int, queue_release, "clReleaseCommandQueue", (queue_t))                                                          \
    X(program_t, program, "clCreateProgramWithSource",                                                                 \
      (context_t, unsigned, const char **, const size_t *, int *))                                                     \
    X(int, build, "clBuildProgram", (program_t, unsigned, const device_t *, const char *, callback *, void *))         \
    X(int, build_info, "clGetProgramBuildInfo", (program_t, device_t, unsigned, size_t, void *, size_t *))             \
    X(int, program_release, "clReleaseProgram", (program_t))                                                           \
    X(kernel_t, kernel, "clCreateKernel", (program_t, const char *, int *))                                            \
    X(int, kernel_release, "clReleaseKernel", (kernel_t))                                                              \
    X(int, argument, "clSetKernelArg", (kernel_t, unsigned, size_t, const void *))                                     \
    X(memory_t, buffer, "clCreateBuffer", (context_t, bits, size_t, void *, int *))                                    \
    X(int, buffer_release, "clReleaseMemObject", (memory_t))                                                           \
    X(int, write, "clEnqueueWriteBufferRect",                                                                          \
      (queue_t, memory_t, unsigned, const size_t *, const size_t *, const size_t *, size_t, size_t, size_t, size_t,    \
       const void *, unsigned, const void *, void *))                                                                  \
    X(int, read, "clEnqueueReadBufferRect",                                                                            \
      (queue_t, memory_t, unsigned, const size_t *, const size_t *, const size_t *, size_t, size_t, size_t, size_t,    \
       void *, unsigned, const void *, void *))                                                                        \
    X(int, launch, "clEnqueueNDRangeKernel",                                                                           \
      (queue_t, kernel_t, unsigned, const size_t *, const size_t *, const size_t *, unsigned, const void *, void *))   \
    X(int, finish, "clFinish", (queue_t))

#define MEMBER(result, name, symbol, parameters) result(*name) parameters;
static struct {
    CALLS(MEMBER)
} cl;
#undef MEMBER

static void *library;
static device_t device;
static context_t context;

struct code {
    program_t program;
    int count;
    kernel_t kernels[]; /* in the order of polybuild_module.kernels */
};

static const char *explain(struct pb_device *own, int code) {
    (void)own;
    static const struct {
        int code;
        const char *text;
    } texts[] = {
        {-1, "no device found"},
        {-2, "device not available"},
        {-3, "there is no compiler for the device"},
        {-4, "out of device memory"},
        {-5, "out of resources"},
        {-6, "out of host memory"},
        {-11, "the kernels could not be compiled"},
        {-36, "the command queue is not valid any more"},
        {-46, "the kernels lack one that was expected"},
        {-52, "a kernel was not given all arguments"},
        {-54, "the blocks have more threads than the device allows"},
        {-55, "the blocks have more threads in one direction than the device allows"},
        {-61, "the array is larger than the device allows"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i].code == code)
            return texts[i].text;
    return "an error of the OpenCL driver";
}

static const char *find_all(void) {
    void *address;
    /* POSIX makes a function's address of what dlsym gives; ISO C has no such conversion. */
#define FIND(result, name, symbol, parameters)                                                                         \
    address = dlsym(library, symbol);                                                                                  \
    if (!address)                                                                                                      \
        return "the OpenCL library has no " symbol;                                                                    \
    memcpy(&cl.name, &address, sizeof address);
    CALLS(FIND)
#undef FIND
    return NULL;
}

static void name_of(device_t which, char *name, size_t size) {
    if (cl.device_info(which, DEVICE_NAME, size, name, NULL) != 0)
        snprintf(name, size, "a device without a name");
    name[size - 1] = '\0';
}

static bool can_run(device_t which) {
    unsigned available = 0, compiles = 0;
    return cl.device_info(which, DEVICE_AVAILABLE, sizeof available, &available, NULL) == 0 &&
           cl.device_info(which, DEVICE_COMPILER, sizeof compiles, &compiles, NULL) == 0 && available && compiles;
}

static bits type_of(device_t which) {
    bits type = 0;
    return cl.device_info(which, DEVICE_TYPE, sizeof type, &type, NULL) == 0 ? type : 0;
}

enum { MAXIMUM_DEVICES = 64 }; /* platforms and devices that are looked at */

/* All devices that can run kernels, GPUs and accelerators before processors. */
static unsigned list_devices(bool any, device_t found[MAXIMUM_DEVICES]) {
    platform_t platforms[MAXIMUM_DEVICES];
    device_t each[MAXIMUM_DEVICES];
    unsigned platform_count = 0, count, total = 0;
    if (cl.platforms(MAXIMUM_DEVICES, platforms, &platform_count) != 0)
        return 0;
    for (int processors = 0; processors <= (any ? 1 : 0); processors++) {
        for (unsigned i = 0; i < platform_count && i < MAXIMUM_DEVICES; i++) {
            if (cl.devices(platforms[i], TYPE_ALL, MAXIMUM_DEVICES, each, &count) != 0)
                continue;
            for (unsigned j = 0; j < count && j < MAXIMUM_DEVICES && total < MAXIMUM_DEVICES; j++) {
                bool fast = (type_of(each[j]) & (TYPE_GPU | TYPE_ACCELERATOR)) != 0;
                if (fast == !processors && can_run(each[j]))
                    found[total++] = each[j];
            }
        }
    }
    return total;
}

/* The device that the settings ask for; NULL if there is none. */
static device_t choose(const device_t *found, unsigned count) {
    const struct pb_settings *settings = pb_settings();
    char *end;
    char name[128];
    if (!settings->device)
        return found[(unsigned)settings->local_rank % count];
    unsigned long number = strtoul(settings->device, &end, 10);
    if (!*end)
        return number < count ? found[number] : NULL;
    for (unsigned i = 0; i < count; i++) {
        name_of(found[i], name, sizeof name);
        if (strstr(name, settings->device))
            return found[i];
    }
    return NULL;
}

static void stop(struct pb_device *own) {
    (void)own;
    if (context)
        (void)cl.context_release(context);
    context = NULL;
}

static const char *start(struct pb_device *own, bool any) {
    device_t found[MAXIMUM_DEVICES];
    library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return "there is no libOpenCL.so.1";
    const char *why = find_all();
    if (why)
        return why;
    unsigned count = list_devices(any, found);
    if (!count)
        return any ? "there is no device" : "there is no device but the processor";
    device = choose(found, count);
    if (!device)
        return "there is no device as POLYBUILD_DEVICE names it";
    name_of(device, own->name, sizeof own->name);
    int code = 0;
    context = cl.context(NULL, 1, &device, NULL, NULL, &code);
    if (!context || code) {
        stop(own);
        return explain(own, code);
    }
    return NULL;
}

static size_t capacity(struct pb_device *own) {
    (void)own;
    bits bytes = 0;
    return cl.device_info(device, DEVICE_MEMORY, sizeof bytes, &bytes, NULL) == 0 ? (size_t)bytes : 0;
}

/* There is no current device in OpenCL. */
static int enter(struct pb_device *own) {
    (void)own;
    return 0;
}

static void leave(struct pb_device *own) { (void)own; }

static void unload(struct pb_device *own, void *handle) {
    (void)own;
    struct code *code = handle;
    for (int i = 0; i < code->count; i++)
        (void)cl.kernel_release(code->kernels[i]);
    if (code->program)
        (void)cl.program_release(code->program);
    free(code);
}

static void show_log(program_t program) {
    size_t size = 0;
    if (!pb_settings()->verbose || cl.build_info(program, device, BUILD_LOG, 0, NULL, &size) != 0 || size < 2)
        return;
    char *log = malloc(size + 1);
    if (log && cl.build_info(program, device, BUILD_LOG, size, log, NULL) == 0) {
        log[size] = '\0';
        fprintf(stderr, "%s\n", log);
    }
    free(log);
}

/* Whether a device is one of PoCL: its version says so. */
static bool is_pocl(device_t which) {
    char version[256];
    if (cl.device_info(which, DEVICE_VERSION, sizeof version, version, NULL) != 0)
        return false;
    version[sizeof version - 1] = '\0';
    return strstr(version, "PoCL") || strstr(version, "pocl");
}

/* Whether quotients and square roots of floats can be those of C. */
static bool rounds_correctly(device_t which) {
    bits config = 0;
    return cl.device_info(which, DEVICE_FLOAT, sizeof config, &config, NULL) == 0 && (config & CORRECTLY_ROUNDED);
}

/* PoCL's optimiser makes wrong code of some kernels with barriers, which are right without it. */
static int build(program_t program, const char *options) {
    const char *more = is_pocl(device) ? " -cl-opt-disable" : "";
    const char *rounded = rounds_correctly(device) ? " -cl-fp32-correctly-rounded-divide-sqrt" : "";
    options = options ? options : "";
    size_t size = strlen(options) + strlen(more) + strlen(rounded) + 1;
    char *all = malloc(size);
    if (!all)
        return OUT_OF_HOST_MEMORY;
    snprintf(all, size, "%s%s%s", options, more, rounded);
    int error = cl.build(program, 1, &device, all, NULL, NULL);
    free(all);
    if (error)
        show_log(program);
    return error;
}

static int load(struct pb_device *own, const polybuild_module *module, void **result) {
    unsigned pieces = 0;
    int error = 0;
    while (module->opencl[pieces])
        pieces++;
    const char **texts = malloc((pieces + 1) * sizeof *texts);
    struct code *code = calloc(1, sizeof *code + (size_t)module->kernel_count * sizeof *code->kernels);
    if (!texts || !code) {
        free(texts);
        free(code);
        return OUT_OF_HOST_MEMORY;
    }
    memcpy(texts, module->opencl, pieces * sizeof *texts);
    code->program = cl.program(context, pieces, texts, NULL, &error);
    free(texts);
    if (!error)
        error = build(code->program, module->opencl_options);
    for (int i = 0; i < module->kernel_count && !error; i++) {
        code->kernels[i] = cl.kernel(code->program, module->kernels[i], &error);
        code->count += !error;
    }
    if (error)
        unload(own, code);
    else
        *result = code;
    return error;
}

static memory_t buffer_of(pb_memory memory) { return (memory_t)memory; } /* NOLINT: a handle, not an address */

static int allocate(struct pb_device *own, size_t bytes, pb_memory *memory) {
    (void)own;
    int code = 0;
    memory_t buffer = cl.buffer(context, READ_WRITE, bytes, NULL, &code);
    *memory = code ? 0 : (pb_memory)buffer;
    return code;
}

static void release(struct pb_device *own, pb_memory memory) {
    (void)own;
    (void)cl.buffer_release(buffer_of(memory));
}

/* Where rows begin, and how many bytes there are, as the two calls below want it. */
struct rectangle {
    size_t there[3], here[3], region[3], device_pitch, host_pitch;
};

static struct rectangle rectangle_of(const struct pb_rows *rows) {
    size_t offset = rows->offset;
    struct rectangle result = {{offset, 0, 0}, {0, 0, 0}, {rows->width, rows->rows, 1}, 0, 0};
    if (rows->rows > 1) { /* the origin is offset = row * pitch + column */
        result.there[0] = offset % rows->device_pitch;
        result.there[1] = offset / rows->device_pitch;
        result.device_pitch = rows->device_pitch;
        result.host_pitch = rows->host_pitch;
    }
    return result;
}

static int copy_in(struct pb_device *own, void *queue, pb_memory memory, const char *host,
                   const struct pb_rows *rows) {
    (void)own;
    struct rectangle r = rectangle_of(rows);
    return cl.write(queue, buffer_of(memory), YES, r.there, r.here, r.region, r.device_pitch, 0, r.host_pitch, 0, host,
                    0, NULL, NULL);
}

static int copy_out(struct pb_device *own, void *queue, pb_memory memory, char *host,
                    const struct pb_rows *rows) {
    (void)own;
    struct rectangle r = rectangle_of(rows);
    return cl.read(queue, buffer_of(memory), YES, r.there, r.here, r.region, r.device_pitch, 0, r.host_pitch, 0, host,
                   0, NULL, NULL);
}

static int launch(struct pb_device *own, const struct pb_call *call) {
    const struct code *code = call->code;
    const polybuild_argument *arguments = call->arguments;
    kernel_t which = code->kernels[call->kernel];
    size_t threads[3];
    int error = 0;
    (void)own;
    for (int i = 0; i < 3; i++)
        threads[i] = call->grid[i] * call->block[i];
    for (int i = 0; i < call->count && !error; i++) {
        memory_t buffer = buffer_of(call->memories[i]);
        error = arguments[i].buffer ? cl.argument(which, (unsigned)i, sizeof buffer, &buffer)
                                    : cl.argument(which, (unsigned)i, arguments[i].size, arguments[i].value);
    }
    return error ? error : cl.launch(call->queue, which, 3, NULL, threads, call->block, 0, NULL, NULL);
}

static int wait_for_all(struct pb_device *own, void *queue) {
    (void)own;
    return cl.finish(queue);
}

static int open_queue(struct pb_device *own, void **queue) {
    int code = 0;
    (void)own;
    *queue = cl.queue(context, device, 0, &code);
    return code;
}

static void close_queue(struct pb_device *own, void *queue) {
    (void)own;
    (void)cl.queue_release(queue);
}

/* The host waits: few threads share arrays, and no event is kept for them. */
static int follow(struct pb_device *own, void *queue, void *other) {
    (void)queue;
    return wait_for_all(own, other);
}

const struct pb_driver pb_opencl_driver = {
    "opencl", NULL,       start,       stop,   capacity, explain,  enter,  leave,        load, unload, allocate,
    release,  open_queue, close_queue, follow, copy_in,  copy_out, launch, wait_for_all, NULL, NULL,   NULL, NULL,
    NULL,     NULL,       NULL,        NULL,
};
