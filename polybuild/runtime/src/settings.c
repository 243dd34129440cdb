/* What the environment says: POLYBUILD_BACKEND, POLYBUILD_DEVICE, POLYBUILD_VERBOSE, the rank in MPI. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "entries.h"

static struct pb_settings settings;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static enum pb_backend read_backend(void) {
    static const char *const names[] = {"auto", "host", "openmp", "cuda", "hip", "opencl"};
    const char *text = getenv("POLYBUILD_BACKEND");
    if (text && *text) {
        for (int i = 0; i < 6; i++)
            if (strcmp(text, names[i]) == 0)
                return (enum pb_backend)i;
        pb_say(NULL, "POLYBUILD_BACKEND is host, openmp, cuda, hip, opencl or auto, not '%s'; taken as auto", text);
    }
    return PB_AUTO;
}

static int read_number(const char *name, int otherwise) {
    const char *text = getenv(name);
    if (!text || !*text)
        return otherwise;
    char *end;
    long value = strtol(text, &end, 10);
    return *end || value < 0 || value > 1000000 ? otherwise : (int)value;
}

/* The position of this process among those of the machine, as the starters of MPI programs tell it. */
static int read_local_rank(void) {
    static const char *const names[] = {
        "OMPI_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "PALS_LOCAL_RANKID",
        "FLUX_TASK_LOCAL_ID",         "SLURM_LOCALID",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        int rank = read_number(names[i], -1);
        if (rank >= 0)
            return rank;
    }
    return 0;
}

static void read_all(void) {
    const char *device = getenv("POLYBUILD_DEVICE");
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    settings.backend = read_backend();
    settings.verbose = read_number("POLYBUILD_VERBOSE", 0);
    settings.kept_memory = read_number("POLYBUILD_DEVICE_CACHE", 1) ? read_number("POLYBUILD_DEVICE_MEMORY", -1) : 0;
    settings.device = device && *device ? device : NULL;
    settings.local_rank = read_local_rank();
    settings.processors = processors > 1 ? (double)processors : 1.0;
}

void pb_place(int position) {
    (void)pb_settings();
    settings.local_rank = position;
}

const struct pb_settings *pb_settings(void) {
    pthread_once(&once, read_all);
    return &settings;
}
