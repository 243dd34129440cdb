/* The host versions of regions: what comes before and after them. */
#include "entries.h"

#if defined(__GNUC__)
#define OF_THIS_THREAD __thread
#else
#define OF_THIS_THREAD _Thread_local
#endif

static OF_THIS_THREAD int depth; /* a region may call a function with regions */
static OF_THIS_THREAD unsigned long long began;

int pb_host_begin(polybuild_region *region, int home) {
    pb_lock();
    pb_know(region);
    if (!home)
        pb_residents_home();
    pb_unlock();
    if (depth++ == 0)
        began = pb_now();
    return pb_wanted();
}

int pb_wanted(void) { return pb_settings()->backend == PB_HOST ? POLYBUILD_ORIGINAL : POLYBUILD_OPENMP; }

void pb_host_end(polybuild_region *region) {
    unsigned long long time = --depth == 0 ? pb_now() - began : 0;
    pb_lock();
    region->counts.host_runs++;
    region->counts.host_time += time;
    if (pb_settings()->verbose > 1)
        pb_say(region, "host: %.3f ms", (double)time / 1e6);
    pb_unlock();
}
