/* One run of a region on a device: arrays go there, kernels run, arrays come back. */
#include <stdlib.h>
#include <string.h>

#include "entries.h"
#include "replay.h"

struct polybuild_buffer {
    struct polybuild_buffer *next;
    pb_memory memory;
    uintptr_t start; /* the host's address that the memory begins with */
    size_t bytes;    /* of memory */
    long first;
    polybuild_box box;
    int mode;
    struct pb_resident *resident; /* whose memory it is; NULL: its own, or the host's */
    bool in_place;                /* the kernels use the host's memory */
    char *dense;                  /* the new values, until all have arrived */
};

struct polybuild_session {
    polybuild_region *region;
    struct pb_device *device;
    struct pb_lane *lane;
    void *code;
    polybuild_buffer *buffers;
    struct pb_player player;
    const char *failure; /* the first error; NULL: none yet */
    double phase; /* instances of a launch, about; 0: not known */
    double phase_time; /* nanoseconds of one, about */
    unsigned long long begin, launched; /* launched: when the first kernel was, 0: none yet */
    polybuild_counts counts;
};

static double time_of(const struct pb_traffic *traffic, const polybuild_costs *costs) {
    return traffic->copies * costs->copy + traffic->bytes / costs->bandwidth;
}

static double runs_of(const polybuild_work *work) { return work->runs > 1 ? work->runs : 1; }

/* What the kernels of all threads take, about. Blocks run in waves, of as many as multiprocessors hold at once; the
 * last one has fewer, which takes less time, but not as little as there are fewer. */
static double spread_of(const polybuild_costs *costs, const polybuild_work *work) {
    double sum = 0;
    for (int i = 0; i < work->kernel_count; i++) {
        const polybuild_kernel_work *kernel = &work->kernels[i];
        double once = kernel->held * costs->processors;
        if (!(kernel->blocks > 0))
            continue;
        double full = (double)(long long)(kernel->blocks / once), rest = kernel->blocks - full * once;
        double held = (double)(long long)((rest + costs->processors - 1) / costs->processors);
        double last = rest > 0 ? costs->wave + (1 - costs->wave) * held / kernel->held : 0;
        sum += kernel->time * (full + last) * once / kernel->blocks;
    }
    return sum;
}

/* Why the host is the place to run; NULL if the device is: the user wants it so, or it takes less time there.
 * What is too little to go to the device for runs there where its values are there already. */
static const char *why_not(const polybuild_costs *costs, const polybuild_work *work, const polybuild_use *uses,
                           int count) {
    const struct pb_settings *settings = pb_settings();
    if (!work)
        return NULL;
    struct pb_traffic there = {0, 0}, home = {0, 0};
    pb_traffic(uses, count, &there, &home);
    bool small = work->instances < work->minimum * work->launches;
    if (settings->backend != PB_AUTO && !small)
        return NULL;
    if (small && !home.copies)
        return "there is too little to do for a launch";
    double spread = spread_of(costs, work), alone = work->serial * costs->alone;
    double device = costs->start + work->launches * costs->launch + spread + alone + time_of(&there, costs) / runs_of(work);
    /* what comes home has to go there again */
    if (device < work->instances * costs->host / settings->processors + 2 * time_of(&home, costs))
        return NULL;
    return 2 * alone > device ? "one thread of the device would do most of it alone" : "it takes less time there";
}

/* Says why a region does not run on a device: always if the user asked for one, and once. */
static void complain(polybuild_region *region, const char *why) {
    enum pb_backend backend = pb_settings()->backend;
    if (region->complained || (backend == PB_AUTO && !pb_settings()->verbose))
        return;
    region->complained = 1;
    pb_say(region, "runs on the host: %s", why);
}

static void fail(polybuild_session *session, const char *why) {
    if (!session->failure)
        session->failure = why;
}

/* An error of the driver, which may be the end of the device. */
static void fail_with(polybuild_session *session, int code, bool fatal) {
    if (code) {
        fail(session, session->device->driver->explain(session->device, code));
        session->device->lost = session->device->lost || fatal;
    }
}

/* A session on `device`; NULL, and why not. */
static polybuild_session *begin(struct pb_device *device, const char **why) {
    polybuild_session *session = calloc(1, sizeof *session);
    if (!session) {
        *why = "out of memory";
        return NULL;
    }
    int code = device->driver->enter(device);
    if (!code) {
        code = pb_lane_take(device, &session->lane);
        device->driver->leave(device);
    }
    if (code) {
        *why = device->driver->explain(device, code);
        free(session);
        return NULL;
    }
    session->device = device;
    return session;
}

polybuild_session *pb_open(polybuild_region *region, const polybuild_work *work, const polybuild_use *uses,
                                  int count) {
    enum pb_backend backend = pb_settings()->backend;
    const char *why = NULL;
    void *code = NULL;
    struct pb_device *device = NULL;
    polybuild_session *session = NULL;
    if (backend == PB_HOST || backend == PB_OPENMP)
        return NULL;
    pb_lock();
    pb_know(region);
    const char *better = why_not(&region->module->costs, work, uses, count);
    if (!better) {
        device = pb_device_for(region->module, &code, &why);
        if (device)
            session = begin(device, &why);
    }
    if (!session && (!better || pb_settings()->verbose))
        complain(region, better ? better : why);
    if (session && work && work->replay)
        pb_replay_begin(&session->player, region, device);
    pb_unlock();
    if (session) {
        session->region = region;
        session->code = code;
        bool known = work && work->launches > 0;
        session->phase = known ? work->instances / work->launches : 0;
        session->phase_time = known ? spread_of(&region->module->costs, work) / work->launches : 0;
        session->begin = pb_now();
    }
    return session;
}

/* The largest multiple of `step` that is no larger than `value`. */
static ptrdiff_t round_down(ptrdiff_t value, ptrdiff_t step) {
    ptrdiff_t rest = value % step;
    return value - (rest < 0 ? rest + step : rest);
}

/* Elements that lie at a multiple of so many bytes from their array's begin shall do so on the device, as
 * memory is read in such pieces. A multiple of the size of an element. */
static ptrdiff_t alignment_for(size_t unit) {
    size_t step = unit;
    while (step % 128 && step < 4096)
        step += unit;
    return (ptrdiff_t)(step % 128 ? unit : step);
}

/* Places the array: sets start and first. Of a resident array the start is given. */
static bool place(polybuild_buffer *buffer, uintptr_t base, size_t unit) {
    ptrdiff_t distance;
    if (buffer->resident) {
        distance = (ptrdiff_t)(buffer->resident->low - base);
        if (distance % (ptrdiff_t)unit)
            return false;
    } else {
        distance = round_down((ptrdiff_t)((uintptr_t)buffer->box.low - base), alignment_for(unit));
    }
    buffer->start = base + (uintptr_t)distance;
    buffer->first = (long)(distance / (ptrdiff_t)unit);
    return true;
}

static bool covers(const polybuild_box *box, const struct pb_resident *resident) {
    return (uintptr_t)box->low == resident->low && pb_box_bytes(box) == resident->bytes &&
           pb_box_extent(box) == resident->bytes;
}

/* Whether kernels shall use the host's memory: no failure must cost the host version what it reads. */
static bool stays_on_host(struct pb_device *device, const polybuild_buffer *buffer) {
    bool one_way = buffer->mode == POLYBUILD_IN || buffer->mode == POLYBUILD_OUT;
    return one_way && device->driver->reads_host && device->driver->reads_host(device);
}

/* Gives a buffer memory, and values if they are needed. */
static void fill(polybuild_session *session, polybuild_buffer *buffer) {
    struct pb_lane *lane = session->lane;
    const polybuild_box *box = &buffer->box;
    struct pb_resident *resident = buffer->resident;
    if (resident) {
        bool needed = (buffer->mode & POLYBUILD_IN) || !covers(box, resident);
        fail_with(session, pb_resident_fetch(resident, lane, needed, &session->counts), false);
        buffer->memory = resident->memory;
        if (buffer->mode & POLYBUILD_OUT)
            pb_resident_changed(resident);
        return;
    }
    if (stays_on_host(session->device, buffer)) {
        buffer->in_place = true;
        buffer->memory = (pb_memory)buffer->start;
        return;
    }
    buffer->bytes = (uintptr_t)box->low - buffer->start + pb_box_extent(box);
    fail_with(session, pb_take(lane, buffer->bytes, &buffer->memory), false);
    if (!session->failure && (buffer->mode & POLYBUILD_IN)) {
        unsigned long long begin = pb_now();
        fail_with(session, pb_box_in(lane, buffer->memory, (uintptr_t)box->low - buffer->start, box), true);
        session->counts.copies_in++;
        session->counts.bytes_in += pb_box_bytes(box);
        session->counts.in_time += pb_settings()->verbose ? pb_now() - begin : 0;
    }
}

polybuild_buffer *pb_map(polybuild_session *session, const void *base, const polybuild_box *box, size_t unit,
                                int mode) {
    if (!session || session->failure)
        return NULL;
    polybuild_buffer *buffer = calloc(1, sizeof *buffer);
    if (!buffer) {
        fail(session, "out of memory");
        return NULL;
    }
    buffer->box = *box;
    buffer->mode = mode;
    buffer->next = session->buffers;
    session->buffers = buffer;
    if (!box->width)
        return buffer;
    pb_lock();
    int code = session->device->driver->enter(session->device);
    if (!code) {
        if (mode != POLYBUILD_TEMPORARY)
            buffer->resident =
                pb_resident_at((uintptr_t)box->low, pb_box_extent(box), (mode & POLYBUILD_OUT) != 0);
        if (place(buffer, (uintptr_t)base, unit ? unit : 1))
            fill(session, buffer);
        else
            fail(session, "a resident array does not begin with an element");
        session->device->driver->leave(session->device);
    }
    fail_with(session, code, true);
    pb_unlock();
    return session->failure ? NULL : buffer;
}

long pb_first(const polybuild_buffer *buffer) { return buffer ? buffer->first : 0; }

/* Fills in the memories of a call; whether it is one. */
static bool is_as_it_should_be(polybuild_session *session, const struct pb_call *call, pb_memory *memories) {
    if (call->count > PB_MAXIMUM_ARGUMENTS || call->kernel < 0 ||
        call->kernel >= session->region->module->kernel_count) {
        fail(session, "the call of a kernel is not as it should be");
        return false;
    }
    for (int i = 0; i < call->count; i++)
        memories[i] = call->arguments[i].buffer ? call->arguments[i].buffer->memory : 0;
    return true;
}

static void call_kernel(polybuild_session *session, const struct pb_call *call) {
    const struct pb_driver *driver = session->device->driver;
    pb_lock();
    int code = driver->enter(session->device);
    if (!code) {
        if (!session->launched) {
            if (pb_settings()->verbose)
                code = pb_wait(session->lane); /* so that the time of copies is not that of kernels */
            session->launched = pb_now();
        }
        if (!code && call->together)
            code = pb_replay_end(&session->player, call->queue);
        if (!code)
            code = pb_replay(&session->player, session->device, call);
        driver->leave(session->device);
    }
    fail_with(session, code, false);
    session->counts.launches += !code;
    pb_unlock();
}

void pb_launch(polybuild_session *session, int kernel, const long grid[3], const long block[3],
                      const polybuild_argument *arguments, int count) {
    pb_memory memories[PB_MAXIMUM_ARGUMENTS];
    if (!session || session->failure)
        return;
    struct pb_call call = {
        .queue = session->lane->queue, .code = session->code, .kernel = kernel, .arguments = arguments,
        .memories = memories, .count = count,
    };
    for (int i = 0; i < 3; i++) {
        if (grid[i] <= 0 || block[i] <= 0)
            return;
        call.grid[i] = (size_t)grid[i];
        call.block[i] = (size_t)block[i];
    }
    if (is_as_it_should_be(session, &call, memories))
        call_kernel(session, &call);
}

int pb_launch_together(polybuild_session *session, int kernel, const long block[3],
                       const polybuild_argument *arguments, int count) {
    pb_memory memories[PB_MAXIMUM_ARGUMENTS];
    if (!session || session->failure)
        return 1;
    const polybuild_costs *costs = &session->region->module->costs;
    const struct pb_driver *driver = session->device->driver;
    struct pb_call call = {
        .queue = session->lane->queue, .code = session->code, .kernel = kernel, .together = true,
        .block = {(size_t)block[0], (size_t)block[1], (size_t)block[2]}, .grid = {0, 1, 1},
        .arguments = arguments, .memories = memories, .count = count,
    };
    /* a launch gives tiles to where there is room, blocks that meet have theirs from the start */
    bool pays = session->phase_time * costs->fixed <= costs->launch - costs->meeting;
    if (!driver->room || !pays)
        return 0;
    if (!is_as_it_should_be(session, &call, memories))
        return 1;
    pb_lock();
    int code = driver->enter(session->device);
    if (!code) {
        call.grid[0] = driver->room(session->device, &call);
        driver->leave(session->device);
    }
    fail_with(session, code, false);
    pb_unlock();
    double busy = session->phase / ((double)call.block[0] * (double)call.block[1] * (double)call.block[2]) + 1;
    if (session->phase > 0 && busy < (double)call.grid[0]) /* others would only wait */
        call.grid[0] = (size_t)busy;
    if (!code && call.grid[0])
        call_kernel(session, &call);
    return code || call.grid[0];
}

/* Waits for the kernels. Other threads may use the device meanwhile. */
static void finish(polybuild_session *session) {
    const struct pb_driver *driver = session->device->driver;
    bool awaited = pb_settings()->verbose != 0;
    for (const polybuild_buffer *each = session->buffers; each; each = each->next)
        awaited = awaited || each->in_place || ((each->mode & POLYBUILD_OUT) && !each->resident && each->box.width);
    if (!awaited || !session->launched)
        return;
    int refused = driver->enter(session->device), code = refused;
    if (!refused) {
        code = driver->wait(session->device, session->lane->queue);
        driver->leave(session->device);
    }
    if (pb_settings()->verbose)
        session->counts.kernel_time = pb_now() - session->launched;
    if (code) {
        pb_lock();
        session->device->failed = refused ? session->device->failed : code;
        fail_with(session, code, true);
        pb_unlock();
    }
}

/* Copies what kernels wrote to the host. An array that the host version reads gets its new values only
 * when nothing can fail any more; one that it overwrites anyway gets them at once. */
static void copy_back(polybuild_session *session) {
    unsigned long long begin = pb_now();
    for (polybuild_buffer *each = session->buffers; each && !session->failure; each = each->next) {
        const polybuild_box *box = &each->box;
        size_t offset = (uintptr_t)box->low - each->start;
        if (!(each->mode & POLYBUILD_OUT) || each->resident || each->in_place || !box->width)
            continue;
        if (!(each->mode & POLYBUILD_IN)) {
            fail_with(session, pb_box_out(session->lane, each->memory, offset, box), true);
        } else if ((each->dense = malloc(pb_box_bytes(box))) != NULL) {
            fail_with(session, pb_box_stage(session->lane, each->memory, offset, box, each->dense), true);
        } else {
            fail(session, "out of memory");
        }
        session->counts.copies_out++;
        session->counts.bytes_out += pb_box_bytes(box);
    }
    for (polybuild_buffer *each = session->buffers; each && !session->failure; each = each->next)
        if (each->dense)
            pb_box_settle(&each->box, each->dense);
    if (pb_settings()->verbose)
        session->counts.out_time = pb_now() - begin;
}

/* What the run did to a resident array. */
static void conclude(polybuild_session *session, const polybuild_buffer *buffer, bool entered) {
    struct pb_resident *resident = buffer->resident;
    /* Another thread may have read it at the same time: whoever uses it next waits for both. */
    if (resident && entered && resident->lane && resident->lane->device == session->device)
        fail_with(session, pb_lane_follow(resident->lane, session->lane), true);
    if (!resident || !(buffer->mode & POLYBUILD_OUT))
        return;
    if (!session->failure) {
        resident->on_device = true;
        resident->on_host = false;
    } else if (session->counts.launches) { /* some kernel may have written to it */
        resident->on_device = false;
        if (!resident->on_host)
            pb_resident_lost(resident, session->failure);
    }
}

/* Without the device, its memory is beyond reach; it goes with the device's context. */
static void free_buffers(polybuild_session *session, bool entered) {
    while (session->buffers) {
        polybuild_buffer *buffer = session->buffers;
        session->buffers = buffer->next;
        if (!buffer->resident && !buffer->in_place && entered)
            pb_give(session->lane, buffer->memory, buffer->bytes);
        free(buffer->dense);
        free(buffer);
    }
}

static void account(const polybuild_session *session) {
    polybuild_region *region = session->region;
    polybuild_counts *all = &region->counts;
    const polybuild_counts *one = &session->counts;
    unsigned long long time = pb_now() - session->begin;
    all->launches += one->launches;
    all->copies_in += one->copies_in;
    all->copies_out += one->copies_out;
    all->bytes_in += one->bytes_in;
    all->bytes_out += one->bytes_out;
    all->kernel_time += one->kernel_time;
    all->in_time += one->in_time;
    all->out_time += one->out_time;
    all->device_time += time;
    if (!session->failure) {
        all->device_runs++;
        if (pb_settings()->verbose > 1)
            pb_say(region, "%s: %llu kernels %.3f ms, in %.3f MB %.3f ms, out %.3f MB %.3f ms, all %.3f ms",
                   session->device->driver->name, one->launches, (double)one->kernel_time / 1e6,
                   (double)one->bytes_in / 1e6, (double)one->in_time / 1e6, (double)one->bytes_out / 1e6,
                   (double)one->out_time / 1e6, (double)time / 1e6);
        return;
    }
    all->failures++;
    if (!region->complained || pb_settings()->verbose > 1)
        pb_say(region, "%s: %s; runs on the host", session->device->driver->name, session->failure);
    region->complained = 1;
}

/* Launches what waits for others like it. */
static void stop_replay(polybuild_session *session) {
    const struct pb_driver *driver = session->device->driver;
    if (!session->player.tape)
        return;
    pb_lock();
    int code = driver->enter(session->device);
    if (!code) {
        code = pb_replay_end(&session->player, session->lane->queue);
        driver->leave(session->device);
    }
    fail_with(session, code, false);
    pb_unlock();
}

int pb_close(polybuild_session *session) {
    if (!session)
        return 0;
    stop_replay(session);
    if (!session->failure)
        finish(session);
    pb_lock();
    int code = session->device->driver->enter(session->device);
    fail_with(session, code, true);
    if (!session->failure)
        copy_back(session);
    for (const polybuild_buffer *each = session->buffers; each; each = each->next)
        conclude(session, each, !code);
    free_buffers(session, !code);
    if (!code)
        session->device->driver->leave(session->device);
    pb_lane_give(session->lane);
    account(session);
    pb_unlock();
    int done = !session->failure;
    free(session);
    return done;
}
