/* The CUDA driver, found when the program runs: nothing of CUDA is needed to build it. */
#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* The few types and numbers of the driver's binary interface that are used here. */
typedef struct context *context_t;
typedef struct stream *stream_t;
typedef struct event *event_t;
typedef struct module *module_t;
typedef struct function *function_t;
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

enum { ON_HOST = 1, ON_DEVICE = 2 };     /* CUmemorytype */
enum { STREAM_NON_BLOCKING = 1, EVENT_NO_TIMING = 2, ATTRIBUTE_MAX_PITCH = 11 };
enum { POINTER_MEMORY_TYPE = 2, POINTER_DEVICE = 9 }; /* CUpointer_attribute */
enum { INVALID_VALUE = 1, OUT_OF_MEMORY = 2 };

/* Every function of the library that is called: result, name here, name there, parameters. */
#define CALLS(X)                                                                                                       \
    X(init, "cuInit", (unsigned))                                                                                      \
    X(device_count, "cuDeviceGetCount", (int *))                                                                       \
    X(device_get, "cuDeviceGet", (int *, int))                                                                         \
    X(device_name, "cuDeviceGetName", (char *, int, int))                                                              \
    X(device_attribute, "cuDeviceGetAttribute", (int *, int, int))                                                     \
    X(device_memory, "cuDeviceTotalMem_v2", (size_t *, int))                                                           \
    X(context_retain, "cuDevicePrimaryCtxRetain", (context_t *, int))                                                  \
    X(context_release, "cuDevicePrimaryCtxRelease_v2", (int))                                                          \
    X(context_push, "cuCtxPushCurrent_v2", (context_t))                                                                \
    X(context_pop, "cuCtxPopCurrent_v2", (context_t *))                                                                \
    X(context_wait, "cuCtxSynchronize", (void))                                                                        \
    X(module_load, "cuModuleLoadData", (module_t *, const void *))                                                     \
    X(module_unload, "cuModuleUnload", (module_t))                                                                     \
    X(module_function, "cuModuleGetFunction", (function_t *, module_t, const char *))                                  \
    X(allocate, "cuMemAlloc_v2", (device_pointer *, size_t))                                                           \
    X(release, "cuMemFree_v2", (device_pointer))                                                                       \
    X(host_allocate, "cuMemHostAlloc", (void **, size_t, unsigned))                                                    \
    X(host_release, "cuMemFreeHost", (void *))                                                                         \
    X(pointer_attribute, "cuPointerGetAttribute", (void *, int, device_pointer))                                       \
    X(copy_to, "cuMemcpyHtoDAsync_v2", (device_pointer, const void *, size_t, stream_t))                               \
    X(copy_from, "cuMemcpyDtoHAsync_v2", (void *, device_pointer, size_t, stream_t))                                   \
    X(copy_2d, "cuMemcpy2DAsync_v2", (const struct copy_2d *, stream_t))                                               \
    X(stream_create, "cuStreamCreate", (stream_t *, unsigned))                                                         \
    X(stream_wait, "cuStreamSynchronize", (stream_t))                                                                  \
    X(stream_destroy, "cuStreamDestroy_v2", (stream_t))                                                                \
    X(event_create, "cuEventCreate", (event_t *, unsigned))                                                            \
    X(event_record, "cuEventRecord", (event_t, stream_t))                                                              \
    X(event_wait, "cuEventSynchronize", (event_t))                                                                     \
    X(event_destroy, "cuEventDestroy_v2", (event_t))                                                                   \
    X(launch, "cuLaunchKernel",                                                                                        \
      (function_t, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, stream_t, void **, void **))  \
    X(error_text, "cuGetErrorString", (int, const char **))

#define MEMBER(name, symbol, parameters) int(*name) parameters;
static struct {
    CALLS(MEMBER)
} cu;
#undef MEMBER

/* Pinned memory through which arrays are copied, one half filled while the other one travels. */
enum { HALVES = 2 };
static const size_t HALF = (size_t)4 << 20;
static const size_t SMALL = (size_t)64 << 10; /* what is no larger does not go through it */

static void *library;
static int device;
static context_t context;
static stream_t stream;
static event_t travelled[HALVES];
static char *pinned;    /* NULL: not yet, or not to be had */
static bool no_pinned;
static size_t max_pitch;

struct code {
    module_t module;
    function_t functions[]; /* in the order of polybuild_module.kernels */
};

static const char *explain(int code) {
    const char *text = NULL;
    if (cu.error_text && cu.error_text(code, &text) == 0 && text)
        return text;
    return "unknown error of the CUDA driver";
}

static const char *find_all(void) {
    void *address;
    /* POSIX makes a function's address of what dlsym gives; ISO C has no such conversion. */
#define FIND(name, symbol, parameters)                                                                                 \
    address = dlsym(library, symbol);                                                                                  \
    if (!address)                                                                                                      \
        return "the driver is too old: it has no " symbol;                                                             \
    memcpy(&cu.name, &address, sizeof address);
    CALLS(FIND)
#undef FIND
    return NULL;
}

static int enter(void) { return cu.context_push(context); }

static void leave(void) {
    context_t old;
    (void)cu.context_pop(&old);
}

/* The position of the device that the settings ask for, among `count`; -1 if there is none. */
static int choose(int count) {
    const struct pb_settings *settings = pb_settings();
    char *end;
    char name[128];
    if (!settings->device)
        return settings->local_rank % count;
    long number = strtol(settings->device, &end, 10);
    if (!*end)
        return number >= 0 && number < count ? (int)number : -1;
    for (int i = 0; i < count; i++) {
        int each;
        if (cu.device_get(&each, i) == 0 && cu.device_name(name, sizeof name, each) == 0 &&
            strstr(name, settings->device))
            return i;
    }
    return -1;
}

static void stop(void) {
    if (!context)
        return;
    if (enter() == 0) {
        for (int i = 0; i < HALVES; i++)
            if (travelled[i])
                (void)cu.event_destroy(travelled[i]);
        if (pinned)
            (void)cu.host_release(pinned);
        if (stream)
            (void)cu.stream_destroy(stream);
        leave();
    }
    (void)cu.context_release(device);
    context = NULL;
}

static int make_stream(void) {
    int code = enter();
    if (code)
        return code;
    int pitch = 0;
    code = cu.stream_create(&stream, STREAM_NON_BLOCKING);
    for (int i = 0; i < HALVES && !code; i++)
        code = cu.event_create(&travelled[i], EVENT_NO_TIMING);
    if (cu.device_attribute(&pitch, ATTRIBUTE_MAX_PITCH, device) == 0 && pitch > 0)
        max_pitch = (size_t)pitch;
    leave();
    return code;
}

static const char *start(bool any, char *name, size_t size) {
    (void)any; /* a device of CUDA is worth it */
    int count = 0;
    library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return "there is no libcuda.so.1, which the driver installs";
    const char *why = find_all();
    if (why)
        return why;
    int code = cu.init(0);
    if (!code)
        code = cu.device_count(&count);
    if (code)
        return explain(code);
    if (count < 1)
        return "there is no device";
    int position = choose(count);
    if (position < 0)
        return "there is no device as POLYBUILD_DEVICE names it";
    code = cu.device_get(&device, position);
    if (!code)
        code = cu.device_name(name, (int)size, device);
    if (!code)
        code = cu.context_retain(&context, device);
    if (!code && (code = make_stream()) != 0)
        stop();
    return code ? explain(code) : NULL;
}

static size_t capacity(void) {
    size_t bytes = 0;
    return cu.device_memory(&bytes, device) == 0 ? bytes : 0;
}

static int load(const polybuild_module *module, void **result) {
    size_t count = (size_t)module->kernel_count;
    struct code *code = malloc(sizeof *code + count * sizeof *code->functions);
    if (!code)
        return OUT_OF_MEMORY;
    int error = cu.module_load(&code->module, module->fatbin);
    if (error) {
        free(code);
        return error;
    }
    for (size_t i = 0; i < count && !error; i++)
        error = cu.module_function(&code->functions[i], code->module, module->kernels[i]);
    if (error) {
        (void)cu.module_unload(code->module);
        free(code);
        return error;
    }
    *result = code;
    return 0;
}

static void unload(void *handle) {
    struct code *code = handle;
    (void)cu.module_unload(code->module);
    free(code);
}

static int allocate(size_t bytes, pb_memory *memory) {
    device_pointer pointer = 0;
    int code = cu.allocate(&pointer, bytes);
    *memory = code ? 0 : (pb_memory)pointer;
    return code;
}

static void release(pb_memory memory) { (void)cu.release(memory); }

static int copy_run(pb_memory memory, char *host, size_t bytes, bool out) {
    return out ? cu.copy_from(host, memory, bytes, stream) : cu.copy_to(memory, host, bytes, stream);
}

/* Copies rows directly; one by one where the driver takes no pitch as large as theirs. */
static int copy_rows(pb_memory memory, char *host, const struct pb_rows *rows, bool out) {
    if (rows->rows == 1 || rows->device_pitch > max_pitch || rows->host_pitch > max_pitch) {
        int code = 0;
        for (size_t i = 0; i < rows->rows && !code; i++)
            code = copy_run(memory + i * rows->device_pitch, host + i * rows->host_pitch, rows->width, out);
        return code;
    }
    struct copy_2d copy = {.width = rows->width, .height = rows->rows};
    if (out) {
        copy.source_type = ON_DEVICE;
        copy.source_device = memory;
        copy.source_pitch = rows->device_pitch;
        copy.target_type = ON_HOST;
        copy.target_host = host;
        copy.target_pitch = rows->host_pitch;
    } else {
        copy.source_type = ON_HOST;
        copy.source_host = host;
        copy.source_pitch = rows->host_pitch;
        copy.target_type = ON_DEVICE;
        copy.target_device = memory;
        copy.target_pitch = rows->device_pitch;
    }
    return cu.copy_2d(&copy, stream);
}

/* Whether there is pinned memory; asked for once. */
static bool has_pinned(void) {
    void *memory = NULL;
    if (!pinned && !no_pinned) {
        no_pinned = cu.host_allocate(&memory, HALVES * HALF, 0) != 0;
        pinned = no_pinned ? NULL : memory;
    }
    return pinned != NULL;
}

/* A piece of a copy that fits into half of the pinned memory: some rows, or a part of one. */
struct piece {
    size_t row, column, rows, width;
};

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* The piece after the one that begins at (row, column); false at the end. Starts with rows == 0. */
static bool next_piece(struct piece *piece, const struct pb_rows *all) {
    size_t width = least(all->width, HALF);
    piece->column += piece->rows ? width : 0;
    if (piece->column >= all->width) {
        piece->column = 0;
        piece->row += piece->rows;
    }
    if (piece->row >= all->rows)
        return false;
    piece->width = least(width, all->width - piece->column);
    piece->rows = least(HALF / width, all->rows - piece->row);
    return true;
}

/* Copies between a piece on the host and the half of the pinned memory that belongs to it. */
static void move_piece(char *half, char *host, const struct piece *piece, size_t pitch, bool out) {
    host += piece->row * pitch + piece->column;
    for (size_t i = 0; i < piece->rows; i++, half += piece->width, host += pitch)
        memcpy(out ? host : half, out ? half : host, piece->width);
}

/* Lets a piece travel between its half and the device. */
static int send_piece(int half, pb_memory memory, const struct piece *piece, size_t pitch, bool out) {
    struct pb_rows rows = {piece->width, piece->rows, pitch, piece->width};
    int code = copy_rows(memory + piece->row * pitch + piece->column, pinned + (size_t)half * HALF, &rows, out);
    return code ? code : cu.event_record(travelled[half], stream);
}

/* Whether memory of the host is known to the driver, which then reads it as late as the stream comes to it. */
static bool is_registered(const char *host) {
    unsigned type = 0;
    return cu.pointer_attribute(&type, POINTER_MEMORY_TYPE, (device_pointer)(uintptr_t)host) == 0;
}

static int copy_in(pb_memory memory, size_t offset, const char *from, const struct pb_rows *rows) {
    char *host = (char *)(uintptr_t)from;
    if (rows->width * rows->rows <= SMALL || !has_pinned()) {
        int code = copy_rows(memory + offset, host, rows, false);
        return !code && is_registered(host) ? cu.stream_wait(stream) : code;
    }
    struct piece piece = {0};
    int code = 0;
    for (int half = 0; !code && next_piece(&piece, rows); half = !half) {
        code = cu.event_wait(travelled[half]); /* what was in it before has arrived */
        if (!code) {
            move_piece(pinned + (size_t)half * HALF, host, &piece, rows->host_pitch, false);
            code = send_piece(half, memory + offset, &piece, rows->device_pitch, false);
        }
    }
    return code;
}

static int copy_out(pb_memory memory, size_t offset, char *host, const struct pb_rows *rows) {
    if (rows->width * rows->rows <= SMALL || !has_pinned()) {
        int code = copy_rows(memory + offset, host, rows, true);
        return code ? code : cu.stream_wait(stream);
    }
    struct piece piece = {0}, before = {0};
    int code = 0;
    bool more = true;
    for (int half = 0; !code && more; half = !half) {
        more = next_piece(&piece, rows);
        if (more)
            code = send_piece(half, memory + offset, &piece, rows->device_pitch, true);
        if (!code && before.rows) { /* which travelled through the other half */
            code = cu.event_wait(travelled[!half]);
            if (!code)
                move_piece(pinned + (size_t)!half * HALF, host, &before, rows->host_pitch, true);
        }
        before = piece;
    }
    return code;
}

static int launch(void *handle, int kernel, const size_t grid[3], const size_t block[3],
                  const polybuild_argument *arguments, const pb_memory *memories, int count) {
    const struct code *code = handle;
    device_pointer pointers[PB_MAXIMUM_ARGUMENTS];
    void *parameters[PB_MAXIMUM_ARGUMENTS];
    for (int i = 0; i < 3; i++)
        if (grid[i] > INT_MAX || block[i] > INT_MAX)
            return INVALID_VALUE;
    for (int i = 0; i < count; i++) {
        pointers[i] = memories[i];
        parameters[i] = arguments[i].buffer ? &pointers[i] : (void *)(uintptr_t)arguments[i].value;
    }
    return cu.launch(code->functions[kernel], (unsigned)grid[0], (unsigned)grid[1], (unsigned)grid[2],
                     (unsigned)block[0], (unsigned)block[1], (unsigned)block[2], 0, stream, parameters, NULL);
}

bool pb_cuda_holds(unsigned long long pointer) {
    int own = -1;
    return cu.pointer_attribute(&own, POINTER_DEVICE, pointer) == 0 && own == device;
}

int pb_cuda_settle(void) { return cu.context_wait(); }

static int wait_for_all(void) { return cu.stream_wait(stream); }

const struct pb_driver pb_cuda_driver = {
    "cuda", start,    stop,    capacity, explain,  enter,  leave,        load,
    unload, allocate, release, copy_in,  copy_out, launch, wait_for_all,
};
