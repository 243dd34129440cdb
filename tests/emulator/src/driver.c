/* The functions of libcuda.so.1 that the runtime calls, for devices that are all this processor.
 *
 * Copies to and from pinned memory happen as late as they may: who does not wait for them sees old bytes.
 * POLYBUILD_EMULATOR_FAIL=n lets the n-th call fail, =n+ that and all that follow.
 * POLYBUILD_EMULATOR_DROP=n forgets the n-th copy. POLYBUILD_EMULATOR_IMAGE names a file with the image to
 * load instead of the program's own. POLYBUILD_EMULATOR_DEVICES=n is how many devices there are,
 * POLYBUILD_EMULATOR_MEMORY=n how many bytes each says it has. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "emulator.h"

enum { SUCCESS = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, INVALID_IMAGE = 200, INVALID_CONTEXT = 201, FAILED = 999 };
enum { NOT_FOUND = 500, INVALID_HANDLE = 400 };

enum { MOST_IMAGES = 64, MOST_WAITING = 64, MOST_PINNED = 16, MOST_FUNCTIONS = 1024, HOST = 1, DEVICE = 2, MAX_PITCH = 1 << 20 };
enum { MOST_DEVICES = 4, MOST_PUSHED = 16, MEMORY_TYPE = 2, DEVICE_ORDINAL = 9 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread int depth_of_context; /* pushed by this thread */
static __thread int pushed[MOST_PUSHED]; /* which devices */
static int contexts[MOST_DEVICES];    /* how often each was retained */
static int retained, streams_live, events, initialized;
static unsigned long long calls, allocations, rectangles; /* rectangles: copies of rows with a pitch */
static int graphs_live;
static unsigned long long replays; /* launches of graphs */
static unsigned long long changes; /* of nodes in graphs */
static unsigned long long errors;                         /* calls that were answered with one */
static struct image images[MOST_IMAGES];
static int image_count, images_live;
static struct kernel functions[MOST_FUNCTIONS];
static int function_count;
static struct {
    char *low;
    size_t bytes;
} pinned[MOST_PINNED];
static struct copy_2d waiting[MOST_WAITING]; /* copies that were asked for and have not happened */
static unsigned long long first_waiting, asked; /* their numbers, counted from the first one ever */

/* What a stream, an event or the host knows to be done: of each stream so many operations. */
struct known {
    unsigned long long done[MOST_STREAMS];
};

struct event {
    unsigned long long after; /* copies with smaller numbers */
    struct known known;
};

static struct stream {
    bool live, blocking; /* blocking: the legacy stream waits for it, and it for that */
    unsigned long long asked;
    struct known known;
} streams[MOST_STREAMS] = {{.live = true, .blocking = true}, {.live = true, .blocking = true}};
enum { LEGACY, OF_THREAD, FIRST_OWN };
static struct known host;
static struct {
    int stream;
    unsigned long long number;
} now; /* the operation that is done, or asked for */

static void learn(struct known *known, const struct known *other) {
    for (int i = 0; i < MOST_STREAMS; i++)
        if (other->done[i] > known->done[i])
            known->done[i] = other->done[i];
}

/* The stream of a handle: NULL and 1 are the legacy one, 2 is that of the thread. NULL if there is none. */
static struct stream *stream_of(const void *handle) {
    uintptr_t number = (uintptr_t)handle;
    if (number <= 2)
        return &streams[number == 2 ? OF_THREAD : LEGACY];
    ptrdiff_t place = (const struct stream *)handle - streams;
    return place >= FIRST_OWN && place < MOST_STREAMS && streams[place].live ? &streams[place] : NULL;
}

/* What a stream knows before its next operation. */
static void catch_up(struct stream *stream) {
    learn(&stream->known, &host);
    for (int i = 0; i < MOST_STREAMS && stream == &streams[LEGACY]; i++)
        if (streams[i].live && streams[i].blocking)
            learn(&stream->known, &streams[i].known);
    if (stream->blocking)
        learn(&stream->known, &streams[LEGACY].known);
}

/* The next operation of a stream begins. */
static void begin_in(struct stream *stream) {
    catch_up(stream);
    now.stream = (int)(stream - streams);
    now.number = ++stream->asked;
    stream->known.done[now.stream] = now.number;
}

void use_in_order(const void *pc, struct uses *uses, bool writes) {
    const struct known *known = &streams[now.stream].known;
    bool wrote = uses->writer_stream == now.stream && uses->writer_number == now.number;
    if (uses->readers[now.stream] == now.number && (wrote || !writes))
        return; /* as before in this operation */
    if (uses->writer_number > known->done[uses->writer_stream])
        fault(pc, "%s an array while another stream may still write to it", writes ? "writes to" : "reads");
    for (int i = 0; i < MOST_STREAMS && writes; i++)
        if (uses->readers[i] > known->done[i])
            fault(pc, "writes to an array while another stream may still read it");
    uses->readers[now.stream] = now.number;
    if (writes) {
        uses->writer_stream = now.stream;
        uses->writer_number = now.number;
    }
}

/* Whether this call is to fail, as the environment says. */
static bool fails(void) {
    static unsigned long long which;
    static bool all;
    static bool known;
    if (!known) {
        const char *text = getenv("POLYBUILD_EMULATOR_FAIL");
        char *end = "";
        which = text ? strtoull(text, &end, 10) : 0;
        all = *end == '+';
        known = true;
    }
    calls++;
    return which && (calls == which || (all && calls > which));
}

#define BEGIN()                                                                                                        \
    pthread_mutex_lock(&lock);                                                                                         \
    if (fails())                                                                                                       \
    return end(FAILED)
#define BEGIN_WITH_CONTEXT()                                                                                           \
    BEGIN();                                                                                                           \
    if (!depth_of_context || !contexts[current_device()])                                                              \
    fault(NULL, "%s is called by a thread without a device", __func__)

static int end(int code) {
    errors += code != SUCCESS;
    pthread_mutex_unlock(&lock);
    return code;
}

int current_device(void) { return depth_of_context ? pushed[depth_of_context - 1] : 0; }

static unsigned long long number_of(const char *name, unsigned long long otherwise) {
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

int driver_call(const char *name) {
    BEGIN();
    if (!depth_of_context)
        fault(NULL, "%s is called by a thread without a device", name);
    return end(SUCCESS);
}

bool reads_host(void) { return number_of("POLYBUILD_EMULATOR_READS_HOST", 0) != 0; }

int cuGetErrorString(int code, const char **text) {
    *text = code == FAILED           ? "the emulator was told to fail"
            : code == OUT_OF_MEMORY  ? "out of memory"
            : code == INVALID_VALUE  ? "invalid argument"
            : code == INVALID_IMAGE  ? "device kernel image is invalid"
            : code == NOT_FOUND      ? "named symbol not found"
            : code == INVALID_HANDLE ? "invalid resource handle"
                                     : "an error";
    return SUCCESS;
}

int cuInit(unsigned flags) {
    BEGIN();
    initialized = 1;
    return end(flags ? INVALID_VALUE : SUCCESS);
}

int cuDeviceGetCount(int *count) {
    BEGIN();
    *count = initialized ? (int)number_of("POLYBUILD_EMULATOR_DEVICES", 1) : 0;
    return end(SUCCESS);
}

int cuDeviceGet(int *device, int position) {
    BEGIN();
    *device = position;
    return end(position < (int)number_of("POLYBUILD_EMULATOR_DEVICES", 1) ? SUCCESS : INVALID_VALUE);
}

int cuDeviceGetName(char *name, int size, int device) {
    BEGIN();
    (void)device;
    snprintf(name, (size_t)size, "emulated device");
    return end(SUCCESS);
}

int cuDeviceTotalMem_v2(size_t *bytes, int device) {
    BEGIN();
    (void)device;
    *bytes = number_of("POLYBUILD_EMULATOR_MEMORY", (size_t)16 << 30);
    return end(SUCCESS);
}

int cuDeviceGetAttribute(int *value, int attribute, int device) {
    BEGIN();
    (void)device;
    switch (attribute) {
    case 11:
        *value = MAX_PITCH;
        break;
    case 16:
        *value = MULTIPROCESSORS;
        break;
    case 95:
        *value = (int)number_of("POLYBUILD_EMULATOR_TOGETHER", 1);
        break;
    case 100:
        *value = reads_host();
        break;
    default:
        return end(INVALID_VALUE);
    }
    return end(SUCCESS);
}

int cuDevicePrimaryCtxRetain(void **context, int device) {
    BEGIN();
    *context = &contexts[device];
    contexts[device]++;
    retained++;
    return end(SUCCESS);
}

/* With the last one that lets go of the device, everything must have been given back. */
int cuDevicePrimaryCtxRelease_v2(int device) {
    BEGIN();
    int pins = 0;
    contexts[device]--;
    for (int i = 0; i < MOST_PINNED; i++)
        pins += pinned[i].low != NULL;
    if (--retained == 0) {
        statistics_write(calls, errors, allocations, rectangles, (struct graph_counts){replays, changes});
        if (!getenv("POLYBUILD_EMULATOR_FAIL") && (memory_live() || pins || streams_live || events || images_live || graphs_live)) {
            fprintf(stderr, "emulator: not given back: %zu arrays, %d pieces of pinned memory, %d streams, %d events, "
                            "%d modules, %d graphs\n",
                    memory_live(), pins, streams_live, events, images_live, graphs_live);
            fflush(NULL);
            _exit(LEAK);
        }
    }
    return end(SUCCESS);
}

int cuCtxPushCurrent_v2(void *context) {
    BEGIN();
    long device = (int *)context - contexts;
    if (device < 0 || device >= MOST_DEVICES || !contexts[device] || depth_of_context == MOST_PUSHED)
        return end(INVALID_CONTEXT);
    pushed[depth_of_context++] = (int)device;
    return end(SUCCESS);
}

int cuCtxPopCurrent_v2(void **context) {
    pthread_mutex_lock(&lock);
    if (!depth_of_context)
        return end(INVALID_CONTEXT);
    *context = &contexts[current_device()];
    depth_of_context--;
    return end(SUCCESS);
}

/* ---- memory and copies ---- */

int cuMemAlloc_v2(unsigned long long *pointer, size_t bytes) {
    BEGIN_WITH_CONTEXT();
    *pointer = memory_allocate(bytes, current_device());
    allocations++;
    return end(*pointer ? SUCCESS : bytes ? OUT_OF_MEMORY : INVALID_VALUE);
}

/* Whether this copy is to be forgotten, as the environment says. */
static bool drops(void) {
    static unsigned long long copy;
    const char *text = getenv("POLYBUILD_EMULATOR_DROP");
    return ++copy == (text ? strtoull(text, NULL, 10) : 0);
}

static void copy_now(const struct copy_2d *copy) {
    if (drops())
        return;
    bool out = copy->target_type == HOST;
    uintptr_t device = (uintptr_t)(out ? copy->source_device : copy->target_device);
    size_t device_pitch = out ? copy->source_pitch : copy->target_pitch;
    size_t host_pitch = out ? copy->target_pitch : copy->source_pitch;
    char *host = out ? copy->target_host : (char *)(uintptr_t)copy->source_host;
    memory_open();
    for (size_t row = 0; row < copy->height; row++, device += device_pitch, host += host_pitch) {
        struct allocation *allocation = checked(NULL, device, copy->width, out ? "a copy reads" : "a copy writes");
        struct shadow *shadow = &allocation->shadow;
        shadow_fit(shadow, device - allocation->start, copy->width);
        uint64_t *writers = shadow->writer + ((device - allocation->start) >> shadow->shift);
        for (size_t i = 0; i < copy->width >> shadow->shift; i++) {
            if (!out)
                writers[i] = STAMP_OF_HOST;
            else if (!writers[i])
                fault(NULL, "byte %zu of row %zu (%zu rows of %zu bytes) is copied to the host, but nobody wrote it",
                      i << shadow->shift, row, copy->height, copy->width);
        }
        memcpy(out ? host : (void *)device, out ? (void *)device : host, copy->width);
    }
    memory_close();
    count_copy(out, copy->width * copy->height);
}

static void flush(unsigned long long before) {
    for (; first_waiting < before && first_waiting < asked; first_waiting++)
        copy_now(&waiting[first_waiting % MOST_WAITING]);
}

static bool is_pinned(const char *address) {
    for (int i = 0; i < MOST_PINNED; i++)
        if (pinned[i].low && address >= pinned[i].low && address < pinned[i].low + pinned[i].bytes)
            return true;
    return false;
}

/* What is known of memory; false: nothing. */
static bool attribute_of(int *value, int attribute, unsigned long long pointer) {
    const struct allocation *allocation = allocation_at((uintptr_t)pointer);
    if (allocation && allocation->live)
        *value = attribute == DEVICE_ORDINAL ? allocation->device : DEVICE;
    else if (attribute == MEMORY_TYPE && is_pinned((const char *)(uintptr_t)pointer))
        *value = HOST;
    else
        return false;
    return attribute == DEVICE_ORDINAL || attribute == MEMORY_TYPE;
}

int cuPointerGetAttribute(void *value, int attribute, unsigned long long pointer) {
    BEGIN_WITH_CONTEXT();
    return end(attribute_of(value, attribute, pointer) ? SUCCESS : INVALID_VALUE);
}

int cuPointerGetAttributes(unsigned count, const int *attributes, void **values, unsigned long long pointer) {
    BEGIN_WITH_CONTEXT();
    for (unsigned k = 0; k < count; k++)
        if (!attribute_of(values[k], attributes[k], pointer))
            *(int *)values[k] = 0;
    return end(SUCCESS);
}

/* A copy of some rows, or of one run. */
static int copy_later(const struct copy_2d *copy, void *stream) {
    pthread_mutex_lock(&lock);
    bool out = copy->target_type == HOST;
    const char *host = out ? copy->target_host : copy->source_host;
    if (fails()) {
        if (out) /* a copy that fails may have begun */
            memset(copy->target_host, 0xAA, copy->width / 2 + 1);
        return end(FAILED);
    }
    if (!depth_of_context)
        fault(NULL, "memory is copied by a thread without a device");
    if (!stream_of(stream) || copy->source_x || copy->source_y || copy->target_x || copy->target_y || !copy->width ||
        copy->source_type + copy->target_type != HOST + DEVICE)
        return end(INVALID_VALUE);
    if (in_device_memory((uintptr_t)host))
        fault(NULL, "an address of the device is given for one of the host");
    uintptr_t device = (uintptr_t)(out ? copy->source_device : copy->target_device);
    begin_in(stream_of(stream));
    use_in_order(NULL, uses_of(device), !out);
    if (is_pinned(host)) {
        flush(asked >= MOST_WAITING ? asked - MOST_WAITING + 1 : 0);
        waiting[asked++ % MOST_WAITING] = *copy;
    } else {
        flush(asked);
        copy_now(copy);
    }
    return end(SUCCESS);
}

int cuMemcpy2DAsync_v2(const struct copy_2d *copy, void *stream) {
    bool fits = copy->source_pitch >= copy->width && copy->target_pitch >= copy->width &&
                copy->source_pitch <= MAX_PITCH && copy->target_pitch <= MAX_PITCH;
    rectangles++;
    return fits ? copy_later(copy, stream) : INVALID_VALUE;
}

int cuMemcpyHtoDAsync_v2(unsigned long long target, const void *source, size_t bytes, void *stream) {
    struct copy_2d copy = {.source_type = HOST, .source_host = source, .target_type = DEVICE, .target_device = target,
                           .width = bytes, .height = 1};
    return copy_later(&copy, stream);
}

int cuMemcpyDtoHAsync_v2(void *target, unsigned long long source, size_t bytes, void *stream) {
    struct copy_2d copy = {.source_type = DEVICE, .source_device = source, .target_type = HOST, .target_host = target,
                           .width = bytes, .height = 1};
    return copy_later(&copy, stream);
}

int cuMemFree_v2(unsigned long long pointer) {
    BEGIN_WITH_CONTEXT();
    flush(asked);
    for (int i = 0; i < MOST_STREAMS; i++) /* it waits for the device */
        learn(&host, &streams[i].known);
    return end(memory_free((uintptr_t)pointer) ? SUCCESS : INVALID_VALUE);
}

int cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags) {
    BEGIN_WITH_CONTEXT();
    int i = 0;
    while (i < MOST_PINNED && pinned[i].low)
        i++;
    if (i == MOST_PINNED || flags || !(pinned[i].low = malloc(bytes)))
        return end(OUT_OF_MEMORY);
    pinned[i].bytes = bytes;
    *pointer = pinned[i].low;
    return end(SUCCESS);
}

int cuMemFreeHost(void *pointer) {
    BEGIN_WITH_CONTEXT();
    flush(asked);
    for (int i = 0; i < MOST_PINNED; i++) {
        if (pinned[i].low == pointer) {
            free(pointer);
            pinned[i].low = NULL;
            return end(SUCCESS);
        }
    }
    return end(INVALID_VALUE);
}

/* ---- streams and events ---- */

int cuStreamCreate(void **stream, unsigned flags) {
    BEGIN_WITH_CONTEXT();
    int place = FIRST_OWN;
    while (place < MOST_STREAMS && streams[place].live)
        place++;
    if (flags > 1 || place == MOST_STREAMS)
        return end(INVALID_VALUE);
    streams[place].live = true;
    streams[place].blocking = !flags;
    *stream = &streams[place];
    streams_live++;
    return end(SUCCESS);
}

int cuStreamSynchronize(void *stream) {
    BEGIN_WITH_CONTEXT();
    flush(asked);
    if (!stream_of(stream))
        return end(INVALID_HANDLE);
    catch_up(stream_of(stream));
    learn(&host, &stream_of(stream)->known);
    return end(SUCCESS);
}

int cuStreamDestroy_v2(void *stream) {
    BEGIN_WITH_CONTEXT();
    flush(asked);
    struct stream *own = stream_of(stream);
    if (!own || own < &streams[FIRST_OWN])
        return end(INVALID_HANDLE);
    own->live = false;
    streams_live--;
    return end(SUCCESS);
}

/* Whether this waiting of a stream is to be forgotten, as the environment says. */
static bool forgets(void) {
    static unsigned long long waitings;
    return ++waitings == number_of("POLYBUILD_EMULATOR_UNORDERED", 0);
}

int cuStreamWaitEvent(void *stream, struct event *event, unsigned flags) {
    BEGIN_WITH_CONTEXT();
    if (!stream_of(stream) || flags)
        return end(INVALID_HANDLE);
    if (!forgets())
        learn(&stream_of(stream)->known, &event->known);
    return end(SUCCESS);
}

int cuEventCreate(struct event **event, unsigned flags) {
    BEGIN_WITH_CONTEXT();
    (void)flags;
    *event = calloc(1, sizeof **event);
    events += *event != NULL;
    return end(*event ? SUCCESS : OUT_OF_MEMORY);
}

int cuEventRecord(struct event *event, void *stream) {
    BEGIN_WITH_CONTEXT();
    if (!stream_of(stream))
        return end(INVALID_HANDLE);
    event->after = asked;
    catch_up(stream_of(stream));
    event->known = stream_of(stream)->known;
    return end(SUCCESS);
}

int cuEventSynchronize(struct event *event) {
    BEGIN_WITH_CONTEXT();
    flush(event->after);
    learn(&host, &event->known);
    return end(SUCCESS);
}

int cuEventDestroy_v2(struct event *event) {
    BEGIN_WITH_CONTEXT();
    free(event);
    events--;
    return end(SUCCESS);
}

/* ---- modules and kernels ---- */

/* What an image begins with; the shared object, of `bytes` bytes, follows. */
struct header {
    char magic[8];
    unsigned long long bytes;
};

static int find_constants(struct dl_phdr_info *info, size_t size, void *data) {
    struct image *image = data;
    (void)size;
    if (strcmp(info->dlpi_name, image->path) != 0)
        return 0;
    image->constants_low = info->dlpi_addr;
    image->constants_high = UINTPTR_MAX;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        uintptr_t start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        bool variable = info->dlpi_phdr[i].p_type == PT_LOAD && (info->dlpi_phdr[i].p_flags & PF_W);
        if (variable && start < image->constants_high)
            image->constants_high = start;
    }
    return 1;
}

/* Writes the shared object to a file in memory, of which nothing is left when the process ends, and loads it. */
static bool open_image(struct image *image, const struct header *header) {
    int file = memfd_create("polybuild-emulator", MFD_CLOEXEC);
    const char *bytes = (const char *)(header + 1);
    if (file < 0)
        return false;
    snprintf(image->path, sizeof image->path, "/proc/%d/fd/%d", (int)getpid(), file);
    for (size_t done = 0; done < header->bytes;) {
        ssize_t written = write(file, bytes + done, header->bytes - done);
        if (written <= 0)
            break;
        done += (size_t)written;
    }
    image->file = file;
    image->handle = dlopen(image->path, RTLD_NOW | RTLD_LOCAL);
    if (!image->handle)
        fprintf(stderr, "emulator: %s\n", dlerror());
    return image->handle != NULL;
}

/* The image that a file holds; for as long as the process lives. */
static const void *read_image(const char *name) {
    static long long words[1 << 17];
    FILE *file = fopen(name, "rb");
    if (!file || !fread(words, 1, sizeof words, file))
        fault(NULL, "the image %s cannot be read", name);
    fclose(file);
    return words;
}

int cuModuleLoadData(struct image **result, const void *data) {
    BEGIN_WITH_CONTEXT();
    const char *other = getenv("POLYBUILD_EMULATOR_IMAGE");
    const struct header *header = other ? read_image(other) : data;
    if (memcmp(header->magic, "emulator", 8) != 0 || image_count == MOST_IMAGES)
        return end(INVALID_IMAGE);
    struct image *image = &images[image_count++];
    if (!open_image(image, header))
        return end(INVALID_IMAGE);
    (void)dl_iterate_phdr(find_constants, image);
    const uintptr_t *bounds = dlsym(image->handle, "emulator_shared_bounds");
    image->shared_low = bounds ? bounds[0] : 0;
    image->shared_high = bounds ? bounds[1] : 0;
    shadow_make(&image->shared_shadow, image->shared_high - image->shared_low + 1);
    images_live++;
    *result = image;
    return end(SUCCESS);
}

int cuModuleUnload(struct image *image) {
    BEGIN_WITH_CONTEXT();
    close(image->file);
    images_live--;
    return end(SUCCESS);
}

int cuModuleGetFunction(struct kernel **result, struct image *image, const char *name) {
    BEGIN_WITH_CONTEXT();
    char symbol[512];
    snprintf(symbol, sizeof symbol, "emulator_call_%s", name);
    void *call = dlsym(image->handle, symbol);
    struct kernel *kernel = &functions[function_count];
    if (!call || ++function_count == MOST_FUNCTIONS)
        return end(NOT_FOUND);
    snprintf(kernel->name, sizeof kernel->name, "%s", name);
    kernel->image = image;
    memcpy(&kernel->call, &call, sizeof call);
    snprintf(symbol, sizeof symbol, "emulator_sizes_%s", name);
    void *sizes = dlsym(image->handle, symbol);
    memcpy(&kernel->sizes, &sizes, sizeof sizes);
    *result = kernel;
    return end(SUCCESS);
}

int cuLaunchKernel(struct kernel *kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                   unsigned block_y, unsigned block_z, unsigned shared, void *stream, void **parameters, void **extra) {
    BEGIN_WITH_CONTEXT();
    flush(asked);
    if (!stream_of(stream) || shared || extra)
        return end(INVALID_VALUE);
    begin_in(stream_of(stream));
    struct index3 grid = {grid_x, grid_y, grid_z}, block = {block_x, block_y, block_z};
    return end(launch(kernel, grid, block, parameters, false));
}

int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, struct kernel *kernel, int threads, size_t shared) {
    BEGIN_WITH_CONTEXT();
    (void)kernel;
    *blocks = threads > 0 && threads <= MOST_THREADS ? BLOCKS_AT_ONCE : 0;
    return end(shared ? INVALID_VALUE : SUCCESS);
}

int cuLaunchCooperativeKernel(struct kernel *kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                              unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared, void *stream,
                              void **parameters) {
    enum { TOO_LARGE = 720 };
    BEGIN_WITH_CONTEXT();
    flush(asked);
    if (!stream_of(stream) || shared)
        return end(INVALID_VALUE);
    if ((unsigned long long)grid_x * grid_y * grid_z > MOST_RESIDENT)
        return end(TOO_LARGE);
    begin_in(stream_of(stream));
    struct index3 grid = {grid_x, grid_y, grid_z}, block = {block_x, block_y, block_z};
    return end(launch(kernel, grid, block, parameters, true));
}

/* ---- graphs: launches one after the other ---- */

enum { MOST_PARAMETERS = 256, LARGEST_PARAMETER = 16 };

struct node {
    struct node *next;
    struct kernel *kernel;
    struct index3 grid, block;
    void *parameters[MOST_PARAMETERS];
    char values[MOST_PARAMETERS][LARGEST_PARAMETER];
};

struct graph {
    struct node *first, *last;
    struct graph *source; /* what it was made of */
    struct graph *next;   /* of all that are live */
};

static struct graph *all_graphs;

static bool is_live(const struct graph *graph) {
    const struct graph *each = all_graphs;
    while (each && each != graph)
        each = each->next;
    return each != NULL;
}

static struct graph *new_graph(void) {
    struct graph *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    made->next = all_graphs;
    all_graphs = made;
    graphs_live++;
    return made;
}

struct kernel_node {
    struct kernel *function;
    unsigned grid[3], block[3], shared;
    void **parameters, **extra;
};

int cuGraphCreate(struct graph **graph, unsigned flags) {
    BEGIN_WITH_CONTEXT();
    *graph = flags ? NULL : new_graph();
    return end(*graph ? SUCCESS : INVALID_VALUE);
}

static void fill(struct node *node, const struct kernel_node *what) {
    size_t sizes[MOST_PARAMETERS];
    node->kernel = what->function;
    node->grid = (struct index3){what->grid[0], what->grid[1], what->grid[2]};
    node->block = (struct index3){what->block[0], what->block[1], what->block[2]};
    unsigned parameters = node->kernel->sizes(sizes);
    for (unsigned i = 0; i < parameters; i++) {
        memcpy(node->values[i], what->parameters[i], sizes[i]);
        node->parameters[i] = node->values[i];
    }
}

/* Nodes are in one row: each waits for the one that was added before. */
int cuGraphAddKernelNode(struct node **node, struct graph *graph, struct node *const *before, size_t count,
                         const struct kernel_node *what) {
    BEGIN_WITH_CONTEXT();
    bool in_row = graph->last ? count == 1 && *before == graph->last : count == 0;
    if (!in_row || what->shared || what->extra)
        return end(INVALID_VALUE);
    struct node *made = calloc(1, sizeof *made);
    if (!made)
        return end(OUT_OF_MEMORY);
    fill(made, what);
    *(graph->last ? &graph->last->next : &graph->first) = made;
    *node = graph->last = made;
    return end(SUCCESS);
}

/* It takes what the graph has, whose nodes still name it. */
int cuGraphInstantiateWithFlags(struct graph **whole, struct graph *graph, unsigned long long flags) {
    BEGIN_WITH_CONTEXT();
    *whole = flags ? NULL : new_graph();
    if (!*whole)
        return end(INVALID_VALUE);
    (*whole)->first = graph->first;
    (*whole)->last = graph->last;
    (*whole)->source = graph;
    graph->first = graph->last = NULL;
    return end(SUCCESS);
}

/* Nodes are those of the graph that it was made of, as long as that is there. */
int cuGraphExecKernelNodeSetParams(struct graph *whole, struct node *node, const struct kernel_node *what) {
    BEGIN_WITH_CONTEXT();
    struct node *each = whole->first;
    while (each && each != node)
        each = each->next;
    if (!each || !is_live(whole->source) || what->function != each->kernel || what->shared || what->extra)
        return end(INVALID_VALUE);
    fill(each, what);
    changes++;
    return end(SUCCESS);
}

int cuGraphLaunch(struct graph *whole, void *stream) {
    BEGIN_WITH_CONTEXT();
    flush(asked);
    if (!stream_of(stream))
        return end(INVALID_HANDLE);
    int code = SUCCESS;
    for (const struct node *each = whole->first; each && code == SUCCESS; each = each->next) {
        begin_in(stream_of(stream));
        code = launch(each->kernel, each->grid, each->block, (void **)(uintptr_t)each->parameters, false);
    }
    replays++;
    return end(code);
}

static void free_graph(struct graph *graph) {
    struct graph **place = &all_graphs;
    while (*place != graph)
        place = &(*place)->next;
    *place = graph->next;
    while (graph->first) {
        struct node *next = graph->first->next;
        free(graph->first);
        graph->first = next;
    }
    free(graph);
    graphs_live--;
}

int cuGraphDestroy(struct graph *graph) {
    BEGIN_WITH_CONTEXT();
    free_graph(graph);
    return end(SUCCESS);
}

int cuGraphExecDestroy(struct graph *whole) {
    BEGIN_WITH_CONTEXT();
    free_graph(whole);
    return end(SUCCESS);
}
