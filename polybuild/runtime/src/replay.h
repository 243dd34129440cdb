/* Launches as graphs of the device: see replay.c. */
#ifndef POLYBUILD_REPLAY_H
#define POLYBUILD_REPLAY_H

#include "internal.h"

struct chunk;
struct pb_tape;

/* Where a session is on the tape of its region. All zero: it has none. */
struct pb_player {
    struct pb_tape *tape;
    int place;              /* of the chunk at hand */
    struct chunk *expected; /* what it may be; NULL: nothing is known */
    int matched;            /* launches that came as expected, and wait */
    struct chunk *recorded; /* what came otherwise, and is launched; NULL: nothing */
};

/* Begins to play the tape of `region` on `device`, if that has graphs and nobody else plays it. */
PB_PRIVATE void pb_replay_begin(struct pb_player *player, polybuild_region *region, struct pb_device *device);
/* Launches `call`, at once or with others; an error code. Between `enter` and `leave`, as the others below. */
PB_PRIVATE int pb_replay(struct pb_player *player, struct pb_device *device, const struct pb_call *call);
/* Launches what waits in `queue`; what comes then is launched as usual. */
PB_PRIVATE int pb_replay_end(struct pb_player *player, void *queue);
/* Gives up all graphs of a device that is about to stop. */
PB_PRIVATE void pb_replay_stop(struct pb_device *device);

#endif
