/* The devices of this process: opened when the first region needs them, closed when the process ends. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay.h"

/* The code of one module on each device, kept as long as the process lives. */
struct loaded {
    struct loaded *next;
    const polybuild_module *module;
    struct {
        void *code;
        bool failed;
    } on[PB_DEVICES];
};

/* Memory that no region uses at the moment. */
struct spare {
    struct pb_device *device;
    struct pb_lane *lane; /* that used it last */
    pb_memory memory;
    size_t bytes;
};

enum { MAXIMUM_SPARES = 64 };

static struct pb_device devices[PB_DEVICES] = {
    {.driver = &pb_cuda_driver, .position = 0},
    {.driver = &pb_hip_driver, .position = 1},
    {.driver = &pb_opencl_driver, .position = 2},
};
static struct loaded *all_loaded;
static struct spare spares[MAXIMUM_SPARES]; /* the one that was given longest ago first */
static int spare_count;
static bool forked; /* a device does not survive a fork */

static void free_spares(struct pb_device *device) {
    int kept = 0;
    for (int i = 0; i < spare_count; i++) {
        if (spares[i].device == device)
            device->driver->release(device, spares[i].memory);
        else
            spares[kept++] = spares[i];
    }
    spare_count = kept;
    device->kept = 0;
}

/* Gives back the memory of `device` that was kept longest; false if there is none. */
static bool free_oldest(struct pb_device *device) {
    for (int i = 0; i < spare_count; i++) {
        if (spares[i].device == device) {
            device->driver->release(device, spares[i].memory);
            spares[i].device->kept -= spares[i].bytes;
            memmove(&spares[i], &spares[i + 1], (size_t)(--spare_count - i) * sizeof *spares);
            return true;
        }
    }
    return false;
}

/* How many bytes may be kept for the next region: others use the device, too. */
static size_t most_kept(struct pb_device *device) {
    enum { PART = 4 };
    int said = pb_settings()->kept_memory;
    return said >= 0 ? (size_t)said << 20 : device->driver->capacity(device) / PART;
}

int pb_lane_take(struct pb_device *device, struct pb_lane **lane) {
    enum { NO_MEMORY = -1 };
    *lane = device->free_lanes;
    if (*lane) {
        device->free_lanes = (*lane)->next;
        return 0;
    }
    struct pb_lane *made = calloc(1, sizeof *made);
    int code = made ? device->driver->open_queue(device, &made->queue) : NO_MEMORY;
    if (code) {
        free(made);
        return code;
    }
    made->device = device;
    made->older = device->lanes;
    *lane = device->lanes = made;
    return 0;
}

void pb_lane_give(struct pb_lane *lane) {
    lane->next = lane->device->free_lanes;
    lane->device->free_lanes = lane;
}

int pb_lane_follow(struct pb_lane *lane, struct pb_lane *other) {
    bool apart = other && other != lane;
    return apart ? lane->device->driver->follow(lane->device, lane->queue, other->queue) : 0;
}

static void close_lanes(struct pb_device *device) {
    while (device->lanes) {
        struct pb_lane *lane = device->lanes;
        device->lanes = lane->older;
        device->driver->close_queue(device, lane->queue);
        free(lane);
    }
    device->free_lanes = NULL;
}

/* Gives everything back. What other threads still run finds no device any more. */
static void at_exit(void) {
    if (forked)
        return;
    pb_lock();
    for (int i = 0; i < PB_DEVICES; i++) {
        struct pb_device *device = &devices[i];
        if (device->state != PB_READY)
            continue;
        if (device->driver->enter(device) == 0) {
            pb_replay_stop(device);
            if (device->before_stop)
                device->before_stop(device);
            free_spares(device);
            for (struct loaded *each = all_loaded; each; each = each->next)
                if (each->on[i].code)
                    device->driver->unload(device, each->on[i].code);
            close_lanes(device);
            device->driver->leave(device);
        }
        device->driver->stop(device);
        device->state = PB_UNUSABLE;
        device->why = "the process ends";
    }
    while (all_loaded) {
        struct loaded *next = all_loaded->next;
        ((polybuild_module *)(uintptr_t)all_loaded->module)->state = NULL;
        free(all_loaded);
        all_loaded = next;
    }
    pb_unlock();
}

static void before_fork(void) { pb_lock(); }

static void after_fork_in_parent(void) { pb_unlock(); }

static void after_fork_in_child(void) {
    forked = true;
    pb_unlock();
}

/* Opens a device, once. */
static void start(struct pb_device *device, bool any) {
    static bool registered;
    if (device->state != PB_UNTRIED)
        return;
    device->why = device->driver->start(device, any);
    device->state = device->why ? PB_UNUSABLE : PB_READY;
    if (device->state == PB_READY && !registered) {
        registered = true;
        (void)atexit(at_exit);
        (void)pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    }
    if (pb_settings()->verbose) {
        if (device->why)
            pb_say(NULL, "%s: not used: %s", device->driver->name, device->why);
        else
            pb_say(NULL, "%s: %s", device->driver->name, device->name);
    }
}

struct pb_device *pb_device_of(int kind) {
    struct pb_device *device = &devices[kind == POLYBUILD_HIP ? 1 : 0];
    if (forked)
        return NULL;
    start(device, true);
    return device->state == PB_READY && !device->lost ? device : NULL;
}

/* The record of `module`, or NULL if there is no memory for one. */
static struct loaded *record_of(polybuild_module *module) {
    struct loaded *record = module->state;
    if (!record) {
        record = calloc(1, sizeof *record);
        if (!record)
            return NULL;
        record->module = module;
        record->next = all_loaded;
        all_loaded = record;
        module->state = record;
    }
    return record;
}

/* The code of `module` on `device`; NULL, and why. */
static void *load(struct pb_device *device, polybuild_module *module, const char **why) {
    struct loaded *record = record_of(module);
    *why = "its kernels cannot be loaded";
    if (!record || record->on[device->position].failed)
        return NULL;
    void **code = &record->on[device->position].code;
    if (*code)
        return *code;
    int error = device->driver->enter(device);
    if (!error) {
        error = device->driver->load(device, module, code);
        device->driver->leave(device);
    }
    if (error) {
        *code = NULL;
        record->on[device->position].failed = true;
        pb_say(NULL, "%s: the kernels cannot be loaded: %s", device->driver->name,
               device->driver->explain(device, error));
    }
    return *code;
}

struct pb_device *pb_device_for(polybuild_module *module, void **code, const char **why) {
    enum pb_backend backend = pb_settings()->backend;
    bool has_image[PB_DEVICES] = {module->fatbin != NULL, module->hip != NULL, module->opencl != NULL};
    static const enum pb_backend backends[PB_DEVICES] = {PB_CUDA, PB_HIP, PB_OPENCL};
    *why = "it has no kernels for the device that was asked for";
    if (module->version != POLYBUILD_DEVICE_VERSION) {
        *why = "it was made by another version of polybuild than the runtime";
        return NULL;
    }
    if (forked) {
        *why = "this process was forked";
        return NULL;
    }
    for (int i = 0; i < PB_DEVICES; i++) {
        enum pb_backend own = backends[i];
        struct pb_device *device = &devices[i];
        if (!has_image[i] || (backend != PB_AUTO && backend != own))
            continue;
        start(device, backend == own);
        *why = device->lost ? "the device failed before" : device->why;
        if (device->state == PB_READY && !device->lost && (*code = load(device, module, why)) != NULL)
            return device;
    }
    return NULL;
}

int pb_take(struct pb_lane *lane, size_t bytes, pb_memory *memory) {
    struct pb_device *device = lane->device;
    for (int i = spare_count - 1; i >= 0; i--) {
        if (spares[i].device == device && spares[i].bytes == bytes) {
            int code = pb_lane_follow(lane, spares[i].lane);
            if (code)
                return code;
            *memory = spares[i].memory;
            device->kept -= bytes;
            memmove(&spares[i], &spares[i + 1], (size_t)(--spare_count - i) * sizeof *spares);
            return 0;
        }
    }
    int code = device->driver->allocate(device, bytes, memory);
    if (code && spare_count) {
        free_spares(device);
        code = device->driver->allocate(device, bytes, memory);
    }
    return code;
}

int pb_wait(struct pb_lane *lane) {
    int code = lane->device->driver->wait(lane->device, lane->queue);
    if (code)
        lane->device->failed = code;
    return code;
}

void pb_give(struct pb_lane *lane, pb_memory memory, size_t bytes) {
    struct pb_device *device = lane->device;
    if (!memory)
        return;
    size_t most = most_kept(device);
    if (bytes > most || device->lost) {
        device->driver->release(device, memory);
        return;
    }
    while (device->kept + bytes > most && free_oldest(device))
        ;
    if (spare_count == MAXIMUM_SPARES)
        (void)free_oldest(spares[0].device);
    spares[spare_count++] = (struct spare){device, lane, memory, bytes};
    device->kept += bytes;
}
