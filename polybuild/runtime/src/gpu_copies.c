/* Copies between the host and a device of CUDA or HIP. */
#include <string.h>

#include "gpu.h"

enum { ON_HOST = 1, ON_DEVICE = 2 };         /* CUmemorytype */
enum { TO_DEVICE = 1, TO_HOST = 2 };         /* hipMemcpyKind */
enum { POINTER_MEMORY_TYPE = 2, POINTER_DEVICE = 9 }; /* CUpointer_attribute, hipPointer_attribute */
static const size_t HALF = (size_t)4 << 20;
static const size_t SMALL = (size_t)64 << 10; /* what is no larger does not go through pinned memory */

static int copy_run(const struct gpu *gpu, stream_t stream, pb_memory memory, char *host, size_t bytes, bool out) {
    return out ? gpu->calls.copy_from(host, memory, bytes, stream)
               : gpu->calls.copy_to(memory, host, bytes, stream);
}

/* One call for all rows. HIP's own numbers for kinds of memory differ between versions, those for ways do not. */
static int copy_rectangle(const struct gpu *gpu, stream_t stream, pb_memory memory, char *host,
                          const struct pb_rows *rows, bool out) {
    if (gpu->calls.copy_rows) {
        void *there = (void *)memory; /* NOLINT: an address of the device */
        return out ? gpu->calls.copy_rows(host, rows->host_pitch, there, rows->device_pitch, rows->width, rows->rows,
                                          TO_HOST, stream)
                   : gpu->calls.copy_rows(there, rows->device_pitch, host, rows->host_pitch, rows->width, rows->rows,
                                          TO_DEVICE, stream);
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
    return gpu->calls.copy_rectangle(&copy, stream);
}

/* Copies rows directly; one by one where the driver takes no pitch as large as theirs. */
static int copy_rows(const struct gpu *gpu, stream_t stream, pb_memory memory, char *host,
                     const struct pb_rows *rows, bool out) {
    if (rows->rows > 1 && rows->device_pitch <= gpu->max_pitch && rows->host_pitch <= gpu->max_pitch)
        return copy_rectangle(gpu, stream, memory, host, rows, out);
    int code = 0;
    for (size_t i = 0; i < rows->rows && !code; i++)
        code = copy_run(gpu, stream, memory + i * rows->device_pitch, host + i * rows->host_pitch, rows->width, out);
    return code;
}

/* Whether there is pinned memory; asked for once. */
static bool has_pinned(struct gpu *gpu) {
    void *memory = NULL;
    if (!gpu->pinned && !gpu->no_pinned) {
        gpu->no_pinned = gpu->calls.host_allocate(&memory, GPU_HALVES * HALF, 0) != 0;
        gpu->pinned = gpu->no_pinned ? NULL : memory;
    }
    return gpu->pinned != NULL;
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
static int send_piece(const struct gpu *gpu, const struct gpu_queue *queue, int half, pb_memory memory,
                      const struct pb_rows *piece, bool out) {
    char *host = gpu->pinned + (size_t)half * HALF;
    int code = copy_rows(gpu, queue->stream, memory + piece->offset, host, piece, out);
    return code ? code : gpu->calls.event_record(gpu->travelled[half], queue->stream);
}

/* The same rows with the piece's own place on the device, without gaps on the host. */
static struct pb_rows part_of(const struct pb_rows *rows, const struct piece *piece) {
    size_t offset = rows->offset + piece->row * rows->device_pitch + piece->column;
    return (struct pb_rows){offset, piece->width, piece->rows, rows->device_pitch, piece->width};
}

bool gpu_knows(const struct gpu *gpu, device_pointer address, int *device) {
    int type = 0, asked[] = {POINTER_MEMORY_TYPE, POINTER_DEVICE};
    void *answers[] = {&type, device};
    if (gpu->calls.pointer_attributes)
        return gpu->calls.pointer_attributes(device ? 2 : 1, asked, answers, address) == 0 && type != 0;
    return gpu->calls.pointer_attribute(device ? device : &type, asked[device != NULL], address) == 0;
}

/* Whether memory of the host is known to the driver, which then reads it as late as the stream comes to it. */
static bool is_registered(const struct gpu *gpu, const char *host) {
    return gpu_knows(gpu, (device_pointer)(uintptr_t)host, NULL);
}

int gpu_copy_in(struct pb_device *device, void *handle, pb_memory memory, const char *from,
                const struct pb_rows *rows) {
    struct gpu *gpu = device->driver->own;
    const struct gpu_queue *queue = handle;
    char *host = (char *)(uintptr_t)from;
    bool registered = is_registered(gpu, host);
    if (registered || rows->width * rows->rows <= SMALL || !has_pinned(gpu)) {
        int code = copy_rows(gpu, queue->stream, memory + rows->offset, host, rows, false);
        return !code && registered ? gpu->calls.stream_wait(queue->stream) : code;
    }
    struct piece piece = {0};
    int code = 0;
    for (int half = 0; !code && next_piece(&piece, rows); half = !half) {
        code = gpu->calls.event_wait(gpu->travelled[half]); /* what was in it before has arrived */
        if (!code) {
            struct pb_rows part = part_of(rows, &piece);
            move_piece(gpu->pinned + (size_t)half * HALF, host, &piece, rows->host_pitch, false);
            code = send_piece(gpu, queue, half, memory, &part, false);
        }
    }
    return code;
}

int gpu_copy_out(struct pb_device *device, void *handle, pb_memory memory, char *host, const struct pb_rows *rows) {
    struct gpu *gpu = device->driver->own;
    const struct gpu_queue *queue = handle;
    if (rows->width * rows->rows <= SMALL || is_registered(gpu, host) || !has_pinned(gpu)) {
        int code = copy_rows(gpu, queue->stream, memory + rows->offset, host, rows, true);
        return code ? code : gpu->calls.stream_wait(queue->stream);
    }
    struct piece piece = {0}, before = {0};
    int code = 0;
    bool more = true;
    for (int half = 0; !code && more; half = !half) {
        more = next_piece(&piece, rows);
        if (more) {
            struct pb_rows part = part_of(rows, &piece);
            code = send_piece(gpu, queue, half, memory, &part, true);
        }
        if (!code && before.rows) { /* which travelled through the other half */
            code = gpu->calls.event_wait(gpu->travelled[!half]);
            if (!code)
                move_piece(gpu->pinned + (size_t)!half * HALF, host, &before, rows->host_pitch, true);
        }
        before = piece;
    }
    return code;
}
