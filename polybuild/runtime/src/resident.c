/* Arrays that stay on a device between regions.
 *
 * For each the host's copy, the device's, or both are current. A region makes the side current on which
 * it runs, and outdates the other one if it writes. */
#include <stdlib.h>

#include "entries.h"

static struct pb_resident *residents;

static bool overlaps(const struct pb_resident *resident, uintptr_t low, size_t bytes) {
    return low < resident->low + resident->bytes && resident->low < low + bytes;
}

static bool contains(const struct pb_resident *resident, uintptr_t low, size_t bytes) {
    return low >= resident->low && low + bytes <= resident->low + resident->bytes;
}

void pb_resident_changed(struct pb_resident *resident) {
    static unsigned long long last;
    resident->stamp = ++last;
}

unsigned long long pb_resident_stamp(const polybuild_box *box) {
    for (const struct pb_resident *each = residents; each; each = each->next)
        if (contains(each, (uintptr_t)box->low, pb_box_extent(box)))
            return each->on_device && each->memory != each->adopted.memory ? each->stamp : 0;
    return 0;
}

static polybuild_box whole(const struct pb_resident *resident) {
    return (polybuild_box){(const void *)resident->low, resident->bytes, 1, 0, 1, 0};
}

/* Gives up what the array has on a device. Adopted memory stays with its owner. */
static void drop_memory(struct pb_resident *resident) {
    struct pb_device *device = resident->device;
    if (device && resident->memory != resident->adopted.memory && device->driver->enter(device) == 0) {
        pb_give(resident->lane, resident->memory, resident->bytes);
        device->driver->leave(device);
    }
    resident->device = NULL;
    resident->lane = NULL;
    resident->memory = 0;
    resident->on_device = false;
}

/* Gives up what all arrays have on a device that is about to stop. */
static void forget(struct pb_device *device) {
    for (struct pb_resident *each = residents; each; each = each->next)
        if (each->device == device)
            drop_memory(each);
}

void pb_resident_lost(struct pb_resident *resident, const char *why) {
    if (resident->adopted.memory) {
        resident->lost = true;
        resident->on_host = true;
        return;
    }
    pb_say(NULL, "the device failed while values of the resident array at %p existed only there: %s",
           (void *)resident->low, why);
    pb_say(NULL, "the program cannot go on");
    abort();
}

static int copy_home(const struct pb_resident *resident) {
    struct pb_device *device = resident->device;
    polybuild_box box = whole(resident);
    int code = device->driver->enter(device);
    if (!code) {
        code = pb_wait(resident->lane);
        if (!code)
            code = pb_box_out(resident->lane, resident->memory, 0, &box);
        device->driver->leave(device);
    }
    return code;
}

/* Makes the host's copy current. There are no other values: it is tried more than once, and on a device
 * that is not used any more, too, as long as all of its kernels went well. */
static void bring_home(struct pb_resident *resident, polybuild_counts *counts) {
    if (resident->on_host)
        return;
    unsigned long long begin = pb_now();
    struct pb_device *device = resident->device;
    int code = 0;
    for (int attempt = 0; attempt == 0 || (code && attempt < 3); attempt++)
        code = device->failed ? device->failed : copy_home(resident);
    if (code) {
        pb_resident_lost(resident, device->driver->explain(device, code));
        return;
    }
    resident->on_host = true;
    counts->copies_out++;
    counts->bytes_out += resident->bytes;
    counts->out_time += pb_settings()->verbose ? pb_now() - begin : 0;
}

struct pb_resident *pb_resident_at(uintptr_t low, size_t bytes, bool written) {
    for (struct pb_resident *each = residents; each; each = each->next) {
        if (!overlaps(each, low, bytes))
            continue;
        if (contains(each, low, bytes))
            return each;
        bring_home(each, pb_no_region());
        if (written)
            each->on_device = false;
    }
    return NULL;
}

int pb_resident_fetch(struct pb_resident *resident, struct pb_lane *lane, bool needed, polybuild_counts *counts) {
    struct pb_device *device = lane->device;
    int code = 0;
    if (resident->device != device) {
        bring_home(resident, pb_no_region());
        drop_memory(resident);
        resident->memory = device == resident->adopted.device ? resident->adopted.memory : 0;
        code = resident->memory ? 0 : pb_take(lane, resident->bytes, &resident->memory);
        if (code)
            return code;
        resident->device = device;
        resident->lane = lane;
        device->before_stop = forget;
    }
    code = pb_lane_follow(lane, resident->lane);
    if (code)
        return code;
    resident->lane = lane;
    if (needed && !resident->on_device) {
        unsigned long long begin = pb_now();
        polybuild_box box = whole(resident);
        code = pb_box_in(lane, resident->memory, 0, &box);
        if (code)
            return code;
        resident->on_device = true;
        pb_resident_changed(resident);
        counts->copies_in++;
        counts->bytes_in += resident->bytes;
        counts->in_time += pb_settings()->verbose ? pb_now() - begin : 0;
    }
    return 0;
}

void pb_residents_home(void) {
    for (struct pb_resident *each = residents; each; each = each->next) {
        bring_home(each, pb_no_region());
        each->on_device = false;
    }
}

int pb_home(const polybuild_use *uses, int count) {
    pb_lock();
    for (int i = 0; i < count; i++) {
        const polybuild_box *box = uses[i].box;
        for (struct pb_resident *each = residents; each; each = each->next) {
            if (!overlaps(each, (uintptr_t)box->low, pb_box_extent(box)))
                continue;
            bring_home(each, pb_no_region());
            if (uses[i].mode != POLYBUILD_IN)
                each->on_device = false;
        }
    }
    pb_unlock();
    return 1;
}

static void add_traffic(struct pb_traffic *traffic, size_t bytes) {
    traffic->bytes += (double)bytes;
    traffic->copies++;
}

void pb_traffic(const polybuild_use *uses, int count, struct pb_traffic *there, struct pb_traffic *home) {
    for (int i = 0; i < count; i++) {
        const polybuild_box *box = uses[i].box;
        bool stays = false;
        for (const struct pb_resident *each = residents; each; each = each->next) {
            if (!overlaps(each, (uintptr_t)box->low, pb_box_extent(box)))
                continue;
            stays = stays || contains(each, (uintptr_t)box->low, pb_box_extent(box));
            if (!each->on_device)
                add_traffic(there, each->bytes);
            if (!each->on_host)
                add_traffic(home, each->bytes);
        }
        for (int way = POLYBUILD_IN; way <= POLYBUILD_OUT && !stays; way++)
            if (uses[i].mode & way)
                add_traffic(there, pb_box_bytes(box));
    }
}

/* The resident array that begins at `array`. */
static struct pb_resident **find(const void *array) {
    struct pb_resident **place = &residents;
    while (*place && (*place)->low != (uintptr_t)array)
        place = &(*place)->next;
    return place;
}

/* Whether a part of the bytes is resident already; no two resident arrays share bytes. */
static bool is_taken(uintptr_t low, size_t bytes) {
    for (const struct pb_resident *each = residents; each; each = each->next)
        if (overlaps(each, low, bytes))
            return true;
    return false;
}

static struct pb_resident *add(const void *array, size_t bytes) {
    struct pb_resident *resident = calloc(1, sizeof *resident);
    if (resident) {
        resident->low = (uintptr_t)array;
        resident->bytes = bytes;
        resident->depth = 1;
        resident->on_host = true;
        resident->next = residents;
        residents = resident;
    }
    return resident;
}

void pb_resident(const void *array, size_t bytes) {
    if (!array || !bytes)
        return;
    pb_lock();
    struct pb_resident *old = *find(array);
    if (old)
        old->depth++;
    else if (!is_taken((uintptr_t)array, bytes))
        (void)add(array, bytes); /* without memory for it, the array is copied as any other */
    pb_unlock();
}

void pb_release(const void *array) {
    pb_lock();
    struct pb_resident **place = find(array);
    struct pb_resident *resident = *place;
    if (resident && --resident->depth == 0) {
        bring_home(resident, pb_no_region());
        drop_memory(resident);
        *place = resident->next;
        free(resident);
    }
    pb_unlock();
}

void pb_update_host(const void *array) {
    pb_lock();
    for (struct pb_resident *each = residents; each; each = each->next)
        if (!array || (each->low <= (uintptr_t)array && (uintptr_t)array < each->low + each->bytes))
            bring_home(each, pb_no_region());
    pb_unlock();
}

void pb_update_device(const void *array) {
    pb_lock();
    struct pb_resident *resident = pb_resident_at((uintptr_t)array, 1, true);
    if (resident) {
        resident->on_host = true;
        resident->on_device = false;
    }
    pb_unlock();
}

/* Copies `rows` of `resident`, to the device (`in`) or from it; an error code of the driver. */
static int copy_rows(struct pb_resident *resident, const polybuild_box *rows, bool in) {
    struct pb_device *device = resident->device;
    size_t offset = (uintptr_t)rows->low - resident->low;
    int code = device->failed ? device->failed : device->driver->enter(device);
    if (code)
        return code;
    code = in ? 0 : pb_wait(resident->lane);
    if (in)
        pb_resident_changed(resident);
    if (!code)
        code = in ? pb_box_in(resident->lane, resident->memory, offset, rows)
                  : pb_box_out(resident->lane, resident->memory, offset, rows);
    device->driver->leave(device);
    polybuild_counts *counts = pb_no_region();
    *(in ? &counts->copies_in : &counts->copies_out) += 1;
    *(in ? &counts->bytes_in : &counts->bytes_out) += pb_box_bytes(rows);
    return code;
}

/* The same for what `resident` has of `box`: all of it at once, or each row's part. */
static int copy_shared(struct pb_resident *resident, const polybuild_box *box, bool in) {
    if (contains(resident, (uintptr_t)box->low, pb_box_extent(box)))
        return copy_rows(resident, box, in);
    int code = 0;
    for (size_t row = 0; row < box->rows && !code; row++) {
        uintptr_t low = (uintptr_t)box->low + row * box->row_pitch, end = low + box->width;
        uintptr_t limit = resident->low + resident->bytes;
        low = low > resident->low ? low : resident->low;
        end = end < limit ? end : limit;
        polybuild_box part = {(const void *)low, end - low, 1, 0, 1, 0};
        code = low < end ? copy_rows(resident, &part, in) : 0;
    }
    return code;
}

/* Has all arrays that have `box` on a device, and for `in` even if on the host, too, copy that. */
static void copy_where(const polybuild_box *box, bool in) {
    pb_lock();
    for (struct pb_resident *each = residents; each && box->width; each = each->next) {
        bool asked = each->on_device && (in || !each->on_host);
        int code = asked && overlaps(each, (uintptr_t)box->low, pb_box_extent(box)) ? copy_shared(each, box, in) : 0;
        if (!code)
            continue;
        if (!each->on_host)
            pb_resident_lost(each, each->device->driver->explain(each->device, code));
        each->on_device = false;
    }
    pb_unlock();
}

void pb_fetch(const void *low, size_t width, size_t rows, size_t pitch) {
    copy_where(&(polybuild_box){low, width, rows, pitch, 1, 0}, false);
}

void pb_put(const void *low, size_t width, size_t rows, size_t pitch) {
    copy_where(&(polybuild_box){low, width, rows, pitch, 1, 0}, true);
}

/* A lane that waits for `stream`; NULL if there is none. The lane is free again: what uses the memory follows it. */
static struct pb_lane *lane_after(struct pb_device *device, unsigned long long stream) {
    struct pb_lane *lane = NULL;
    if (pb_lane_take(device, &lane))
        return NULL;
    bool ready = stream == POLYBUILD_NO_STREAM || !device->driver->join(device, lane->queue, stream, false);
    pb_lane_give(lane);
    return ready ? lane : NULL;
}

int pb_adopt(void *stand_in, size_t bytes, const polybuild_foreign *memory) {
    int done = 0;
    pb_lock();
    struct pb_device *device = pb_device_of(memory->kind);
    if (device && bytes && !is_taken((uintptr_t)stand_in, bytes) && device->driver->enter(device) == 0) {
        bool own = device->driver->holds(device, memory->pointer);
        struct pb_lane *lane = own ? lane_after(device, memory->stream) : NULL;
        struct pb_resident *resident = lane ? add(stand_in, bytes) : NULL;
        if (resident) {
            resident->device = resident->adopted.device = device;
            resident->lane = lane;
            device->before_stop = forget;
            resident->memory = resident->adopted.memory = (pb_memory)memory->pointer;
            resident->adopted.stream = memory->waits ? POLYBUILD_NO_STREAM : memory->stream;
            resident->on_device = true;
            resident->on_host = false;
            done = 1;
        }
        device->driver->leave(device);
    }
    pb_unlock();
    return done;
}

/* Brings the values of an adopted array back to their memory, and has its owner, or the host, wait for that. */
static int restore(struct pb_resident *resident) {
    struct pb_device *device = resident->adopted.device;
    unsigned long long stream = resident->adopted.stream;
    struct pb_lane *lane = NULL;
    int code = pb_lane_take(device, &lane);
    if (code)
        return code;
    code = pb_resident_fetch(resident, lane, true, pb_no_region());
    if (!code)
        code = stream == POLYBUILD_NO_STREAM ? pb_wait(lane) : device->driver->join(device, lane->queue, stream, true);
    pb_lane_give(lane);
    return code;
}

int pb_disown(void *stand_in) {
    int done = 0;
    pb_lock();
    struct pb_resident **place = find(stand_in);
    struct pb_resident *resident = *place;
    if (resident) {
        struct pb_device *device = resident->adopted.device;
        done = device && device->state == PB_READY && !device->lost && !resident->lost &&
               device->driver->enter(device) == 0;
        if (done) {
            done = restore(resident) == 0;
            device->driver->leave(device);
        }
        drop_memory(resident);
        *place = resident->next;
        free(resident);
    }
    pb_unlock();
    return done;
}
