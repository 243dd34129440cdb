/* Boxes of bytes between the host's arrays and a device's memory. */
#include <string.h>

#include "internal.h"

size_t pb_box_extent(const polybuild_box *box) {
    if (!box->width)
        return 0;
    return (box->planes - 1) * box->plane_pitch + (box->rows - 1) * box->row_pitch + box->width;
}

size_t pb_box_bytes(const polybuild_box *box) { return box->width * box->rows * box->planes; }

/* The same bytes as a box with the fewest runs: runs that follow each other without a gap are one. */
static polybuild_box merged(const polybuild_box *box) {
    polybuild_box result = *box;
    if (result.rows == 1) {
        result.rows = result.planes;
        result.row_pitch = result.plane_pitch;
        result.planes = 1;
    } else if (result.planes > 1 && result.plane_pitch == result.rows * result.row_pitch) {
        result.rows *= result.planes;
        result.planes = 1;
    }
    if (result.rows > 1 && result.row_pitch == result.width) {
        result.width *= result.rows;
        result.rows = result.planes;
        result.row_pitch = result.plane_pitch;
        result.planes = 1;
    }
    return result;
}

/* Copies `box` in or out, plane by plane. The host's side is `host` with the pitches of the box or, if
 * `dense`, without gaps. */
static int copy(struct pb_lane *lane, pb_memory memory, size_t offset, const polybuild_box *box, char *host,
                bool dense, bool out) {
    struct pb_device *device = lane->device;
    const struct pb_driver *driver = device->driver;
    for (size_t plane = 0; plane < box->planes && box->width; plane++) {
        struct pb_rows rows = {offset + plane * box->plane_pitch, box->width, box->rows, box->row_pitch,
                               dense ? box->width : box->row_pitch};
        char *here = host + plane * (dense ? box->width * box->rows : box->plane_pitch);
        int code = out ? driver->copy_out(device, lane->queue, memory, here, &rows)
                       : driver->copy_in(device, lane->queue, memory, here, &rows);
        if (code)
            return code;
    }
    return 0;
}

/* The bytes of a box belong to the user, who gave them as const where they are only read. */
static char *host_of(const polybuild_box *box) { return (char *)(uintptr_t)box->low; }

int pb_box_in(struct pb_lane *lane, pb_memory memory, size_t offset, const polybuild_box *box) {
    polybuild_box runs = merged(box);
    return copy(lane, memory, offset, &runs, host_of(box), false, false);
}

int pb_box_out(struct pb_lane *lane, pb_memory memory, size_t offset, const polybuild_box *box) {
    polybuild_box runs = merged(box);
    return copy(lane, memory, offset, &runs, host_of(box), false, true);
}

int pb_box_stage(struct pb_lane *lane, pb_memory memory, size_t offset, const polybuild_box *box, char *dense) {
    polybuild_box runs = merged(box);
    return copy(lane, memory, offset, &runs, dense, true, true);
}

void pb_box_settle(const polybuild_box *box, const char *dense) {
    polybuild_box runs = merged(box);
    for (size_t plane = 0; plane < runs.planes; plane++)
        for (size_t row = 0; row < runs.rows; row++, dense += runs.width)
            memcpy(host_of(box) + plane * runs.plane_pitch + row * runs.row_pitch, dense, runs.width);
}
