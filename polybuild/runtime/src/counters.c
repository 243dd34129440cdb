/* What the regions of this process did so far. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "entries.h"

static polybuild_region *regions;
static pid_t owner; /* the process that ran a region first; 0: none has */
static polybuild_counts others; /* what happened outside of regions */

static double milliseconds(unsigned long long nanoseconds) { return (double)nanoseconds / 1e6; }

static double megabytes(unsigned long long bytes) { return (double)bytes / 1e6; }

/* One line for each region, the last known first. */
static void summary(void) {
    if (getpid() != owner) /* a child of fork */
        return;
    pb_lock();
    for (const polybuild_region *region = regions; region; region = region->next) {
        const polybuild_counts *counts = &region->counts;
        if (counts->device_runs || counts->failures)
            pb_say(region,
                   "%llu runs on the device, %.3f ms: %llu kernels %.3f ms, "
                   "%llu arrays in (%.3f MB) %.3f ms, %llu arrays out (%.3f MB) %.3f ms",
                   counts->device_runs, milliseconds(counts->device_time), counts->launches,
                   milliseconds(counts->kernel_time), counts->copies_in, megabytes(counts->bytes_in),
                   milliseconds(counts->in_time), counts->copies_out, megabytes(counts->bytes_out),
                   milliseconds(counts->out_time));
        if (counts->host_runs)
            pb_say(region, "%llu runs on the host, %.3f ms", counts->host_runs, milliseconds(counts->host_time));
    }
    if (others.copies_in || others.copies_out)
        pb_say(NULL, "resident arrays, outside of regions: %llu in (%.3f MB), %llu out (%.3f MB)", others.copies_in,
               megabytes(others.bytes_in), others.copies_out, megabytes(others.bytes_out));
    pb_unlock();
}

void pb_know(polybuild_region *region) {
    if (region->known)
        return;
    if (!owner) {
        owner = getpid();
        if (pb_settings()->verbose)
            (void)atexit(summary);
    }
    region->known = 1;
    region->next = regions;
    regions = region;
}

polybuild_counts *pb_no_region(void) { return &others; }

static void add(polybuild_counts *sum, const polybuild_counts *more) {
    sum->device_runs += more->device_runs;
    sum->host_runs += more->host_runs;
    sum->failures += more->failures;
    sum->launches += more->launches;
    sum->copies_in += more->copies_in;
    sum->copies_out += more->copies_out;
    sum->bytes_in += more->bytes_in;
    sum->bytes_out += more->bytes_out;
    sum->device_time += more->device_time;
    sum->host_time += more->host_time;
    sum->kernel_time += more->kernel_time;
    sum->in_time += more->in_time;
    sum->out_time += more->out_time;
}

int pb_counters(const char *file, int line, polybuild_counts *counts) {
    int found = 0;
    pb_lock();
    memset(counts, 0, sizeof *counts);
    if (!file)
        add(counts, &others);
    for (const polybuild_region *region = regions; region; region = region->next) {
        if ((!file || strcmp(file, region->file) == 0) && (!line || line == region->line)) {
            add(counts, &region->counts);
            found++;
        }
    }
    pb_unlock();
    return found;
}
