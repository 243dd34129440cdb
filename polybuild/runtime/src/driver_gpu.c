/* The drivers of CUDA and HIP: one text, and a table of functions for each. */
#define _POSIX_C_SOURCE 200809L
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "gpu.h"

enum { STREAM_NON_BLOCKING = 1, EVENT_NO_TIMING = 2 };
enum { MULTIPROCESSORS = 16, COOPERATIVE_LAUNCH = 95 }; /* CUdevice_attribute */

struct code {
    module_t module;
    void *image;            /* that was made for it; NULL: none */
    function_t functions[]; /* in the order of polybuild_module.kernels */
};

static struct gpu *of(const struct pb_device *device) { return device->driver->own; }

static const char *explain(struct pb_device *device, int code) {
    const struct gpu_calls *calls = &of(device)->calls;
    const char *text = NULL;
    if (calls->error_text)
        text = calls->error_text(code);
    else if (calls->error_get && calls->error_get(code, &text) != 0)
        text = NULL;
    return text ? text : "unknown error of the driver";
}

static int enter(struct pb_device *device) { return of(device)->calls.context_push(of(device)->context); }

static void leave(struct pb_device *device) {
    context_t old;
    (void)of(device)->calls.context_pop(&old);
}

/* The position of the device that the settings ask for, among `count`; -1 if there is none. */
static int choose(const struct gpu_calls *calls, int count) {
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
        if (calls->device_get(&each, i) == 0 && calls->device_name(name, sizeof name, each) == 0 &&
            strstr(name, settings->device))
            return i;
    }
    return -1;
}

static void stop(struct pb_device *device) {
    struct gpu *gpu = of(device);
    if (!gpu->context)
        return;
    if (enter(device) == 0) {
        for (int i = 0; i < GPU_HALVES; i++)
            if (gpu->travelled[i])
                (void)gpu->calls.event_destroy(gpu->travelled[i]);
        if (gpu->pinned)
            (void)gpu->calls.host_release(gpu->pinned);
        leave(device);
    }
    (void)gpu->calls.context_release(gpu->device);
    gpu->context = NULL;
}

/* What is asked of the device once. */
static int prepare(struct pb_device *device) {
    struct gpu *gpu = of(device);
    int code = enter(device);
    if (code)
        return code;
    int value = 0;
    for (int i = 0; i < GPU_HALVES && !code; i++)
        code = gpu->calls.event_create(&gpu->travelled[i], EVENT_NO_TIMING);
    if (gpu->calls.device_attribute(&value, gpu->dialect->max_pitch, gpu->device) == 0 && value > 0)
        gpu->max_pitch = (size_t)value;
    gpu->reads_host = gpu->calls.device_attribute(&value, gpu->dialect->reads_host, gpu->device) == 0 && value == 1;
    bool together = gpu->calls.launch_together &&
                    gpu->calls.device_attribute(&value, COOPERATIVE_LAUNCH, gpu->device) == 0 && value == 1 &&
                    gpu->calls.device_attribute(&value, MULTIPROCESSORS, gpu->device) == 0 && value > 0;
    gpu->multiprocessors = together ? (size_t)value : 0;
    leave(device);
    return code;
}

static const char *start(struct pb_device *device, bool any) {
    (void)any; /* a device of these is worth it */
    struct gpu *gpu = of(device);
    int count = 0;
    const char *why = gpu_open(gpu);
    if (why)
        return why;
    int code = gpu->calls.init(0);
    if (!code)
        code = gpu->calls.device_count(&count);
    if (code)
        return explain(device, code);
    if (count < 1)
        return "there is no device";
    int position = choose(&gpu->calls, count);
    if (position < 0)
        return "there is no device as POLYBUILD_DEVICE names it";
    code = gpu->calls.device_get(&gpu->device, position);
    if (!code)
        code = gpu->calls.device_name(device->name, (int)sizeof device->name, gpu->device);
    if (!code)
        code = gpu->calls.context_retain(&gpu->context, gpu->device);
    if (!code && (code = prepare(device)) != 0)
        stop(device);
    return code ? explain(device, code) : NULL;
}

static size_t capacity(struct pb_device *device) {
    size_t bytes = 0;
    return of(device)->calls.device_memory(&bytes, of(device)->device) == 0 ? bytes : 0;
}

static void unload(struct pb_device *device, void *handle) {
    struct code *code = handle;
    if (code->module)
        (void)of(device)->calls.module_unload(code->module);
    free(code->image);
    free(code);
}

static int load(struct pb_device *device, const polybuild_module *module, void **result) {
    const struct gpu *gpu = of(device);
    const void *image = NULL;
    size_t count = (size_t)module->kernel_count;
    struct code *code = calloc(1, sizeof *code + count * sizeof *code->functions);
    if (!code)
        return GPU_OUT_OF_MEMORY;
    int error = gpu->dialect->image(module, &image, &code->image);
    if (!error && (error = gpu->calls.module_load(&code->module, image)) != 0)
        code->module = NULL;
    for (size_t i = 0; i < count && !error; i++)
        error = gpu->calls.module_function(&code->functions[i], code->module, module->kernels[i]);
    if (error)
        unload(device, code);
    else
        *result = code;
    return error;
}

static int allocate(struct pb_device *device, size_t bytes, pb_memory *memory) {
    device_pointer pointer = 0;
    int code = of(device)->calls.allocate(&pointer, bytes);
    *memory = code ? 0 : (pb_memory)pointer;
    return code;
}

static void release(struct pb_device *device, pb_memory memory) { (void)of(device)->calls.release(memory); }

/* Where the arguments of a call are; an error code if it is too large. */
static int arguments_of(const struct pb_call *call, device_pointer *pointers, void **parameters) {
    for (int i = 0; i < 3; i++)
        if (call->grid[i] > INT_MAX || call->block[i] > INT_MAX)
            return GPU_INVALID_VALUE;
    for (int i = 0; i < call->count; i++) {
        pointers[i] = call->memories[i];
        parameters[i] = call->arguments[i].buffer ? &pointers[i] : (void *)(uintptr_t)call->arguments[i].value;
    }
    return 0;
}

static int launch(struct pb_device *device, const struct pb_call *call) {
    const struct gpu *gpu = of(device);
    const struct code *code = call->code;
    const size_t *grid = call->grid, *block = call->block;
    device_pointer pointers[PB_MAXIMUM_ARGUMENTS];
    void *parameters[PB_MAXIMUM_ARGUMENTS];
    int error = arguments_of(call, pointers, parameters);
    if (error)
        return error;
    stream_t stream = ((struct gpu_queue *)call->queue)->stream;
    if (call->together)
        return gpu->calls.launch_together(code->functions[call->kernel], (unsigned)grid[0], (unsigned)grid[1],
                                          (unsigned)grid[2], (unsigned)block[0], (unsigned)block[1],
                                          (unsigned)block[2], 0, stream, parameters);
    return gpu->calls.launch(code->functions[call->kernel], (unsigned)grid[0], (unsigned)grid[1], (unsigned)grid[2],
                             (unsigned)block[0], (unsigned)block[1], (unsigned)block[2], 0,
                             stream, parameters, NULL);
}

/* A graph as it was made, which its nodes belong to, and as it is launched. */
struct gpu_graph {
    graph_t made;
    graph_exec_t whole;
    graph_node_t nodes[]; /* launch by launch */
};

static void forget(struct pb_device *device, void *graph) {
    struct gpu_graph *own = graph;
    if (own->whole)
        (void)of(device)->calls.graph_exec_destroy(own->whole);
    (void)of(device)->calls.graph_destroy(own->made);
    free(own);
}

/* What a node has of `call`; the driver copies the arguments. An error code. */
static int node_of(const struct pb_call *call, struct kernel_node *node, device_pointer *pointers, void **parameters) {
    const struct code *own = call->code;
    *node = (struct kernel_node){.function = own->functions[call->kernel], .parameters = parameters};
    for (int k = 0; k < 3; k++) {
        node->grid[k] = (unsigned)call->grid[k];
        node->block[k] = (unsigned)call->block[k];
    }
    return arguments_of(call, pointers, parameters);
}

/* Each node waits for the one before. */
static int graph(struct pb_device *device, const struct pb_call *calls, int count, void **result) {
    const struct gpu *gpu = of(device);
    device_pointer pointers[PB_MAXIMUM_ARGUMENTS];
    void *parameters[PB_MAXIMUM_ARGUMENTS];
    struct gpu_graph *own = calloc(1, sizeof *own + (size_t)count * sizeof *own->nodes);
    int code = own && gpu->has_graphs ? gpu->calls.graph_create(&own->made, 0) : GPU_INVALID_VALUE;
    *result = NULL;
    if (code) {
        free(own);
        return code;
    }
    for (int i = 0; i < count && !code; i++) {
        struct kernel_node kernel;
        code = node_of(&calls[i], &kernel, pointers, parameters);
        if (!code)
            code = gpu->calls.graph_add(&own->nodes[i], own->made, i ? &own->nodes[i - 1] : NULL, i > 0, &kernel);
    }
    if (!code)
        code = gpu->calls.graph_instantiate(&own->whole, own->made, 0);
    if (code)
        forget(device, own);
    else
        *result = own;
    return code;
}

static int replay(struct pb_device *device, void *queue, void *graph) {
    const struct gpu_graph *own = graph;
    return of(device)->calls.graph_launch(own->whole, ((struct gpu_queue *)queue)->stream);
}

static int change(struct pb_device *device, void *graph, int number, const struct pb_call *call) {
    const struct gpu_graph *own = graph;
    device_pointer pointers[PB_MAXIMUM_ARGUMENTS];
    void *parameters[PB_MAXIMUM_ARGUMENTS];
    struct kernel_node kernel;
    int code = node_of(call, &kernel, pointers, parameters);
    return code ? code : of(device)->calls.graph_change(own->whole, own->nodes[number], &kernel);
}

static size_t room(struct pb_device *device, const struct pb_call *call) {
    const struct gpu *gpu = of(device);
    const struct code *code = call->code;
    int blocks = 0, threads = (int)(call->block[0] * call->block[1] * call->block[2]);
    if (!gpu->multiprocessors ||
        gpu->calls.blocks_at_once(&blocks, code->functions[call->kernel], threads, 0) != 0 || blocks < 1)
        return 0;
    return (size_t)blocks * gpu->multiprocessors;
}

static bool holds(struct pb_device *device, unsigned long long pointer) {
    int own = -1;
    return gpu_knows(of(device), pointer, &own) && own == of(device)->device;
}

static bool reads_host(struct pb_device *device) { return of(device)->reads_host; }

static void close_queue(struct pb_device *device, void *handle) {
    struct gpu_queue *queue = handle;
    if (queue->reached)
        (void)of(device)->calls.event_destroy(queue->reached);
    if (queue->stream)
        (void)of(device)->calls.stream_destroy(queue->stream);
    free(queue);
}

static int open_queue(struct pb_device *device, void **handle) {
    const struct gpu_calls *calls = &of(device)->calls;
    struct gpu_queue *queue = calloc(1, sizeof *queue);
    if (!queue)
        return GPU_OUT_OF_MEMORY;
    int code = calls->stream_create(&queue->stream, STREAM_NON_BLOCKING);
    if (code)
        queue->stream = NULL;
    else if ((code = calls->event_create(&queue->reached, EVENT_NO_TIMING)) != 0)
        queue->reached = NULL;
    if (code)
        close_queue(device, queue);
    else
        *handle = queue;
    return code;
}

static int after(const struct gpu_calls *calls, stream_t later, stream_t earlier, event_t event) {
    int code = calls->event_record(event, earlier);
    return code ? code : calls->stream_follow(later, event, 0);
}

static int follow(struct pb_device *device, void *handle, void *other) {
    const struct gpu_queue *queue = handle, *before = other;
    return after(&of(device)->calls, queue->stream, before->stream, before->reached);
}

static int join(struct pb_device *device, void *handle, unsigned long long stream, bool is_after) {
    const struct gpu_queue *queue = handle;
    /* 1 is what the legacy stream of CUDA is called by all, whatever the driver calls its own. */
    stream_t others = stream == 1 ? of(device)->dialect->legacy : (stream_t)(uintptr_t)stream; /* NOLINT: a handle */
    return is_after ? after(&of(device)->calls, others, queue->stream, queue->reached)
                    : after(&of(device)->calls, queue->stream, others, queue->reached);
}

static int wait_for_all(struct pb_device *device, void *handle) {
    return of(device)->calls.stream_wait(((struct gpu_queue *)handle)->stream);
}

static struct gpu cuda = {.dialect = &gpu_cuda}, hip = {.dialect = &gpu_hip};

#define DRIVER(spelled, gpu, ...)                                                                                      \
    {                                                                                                                  \
        spelled, &(gpu), start, stop, capacity, explain, enter, leave, load, unload, allocate, release, open_queue,    \
            close_queue, follow, gpu_copy_in, gpu_copy_out, launch, wait_for_all, holds, reads_host, join, room,       \
            __VA_ARGS__                                                                                                \
    }
const struct pb_driver pb_cuda_driver = DRIVER("cuda", cuda, graph, replay, forget, change),
                       pb_hip_driver = DRIVER("hip", hip, NULL, NULL, NULL, NULL);
