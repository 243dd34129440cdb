/* Memory that CUDA knows of and the program owns: scenarios that follow those of client.c in one file.
 *
 * usage: memories SCENARIO   ends with 1 where something is wrong.
 */
#include <dlfcn.h>

typedef unsigned long long device_pointer;

/* The function `name` of the driver, in *function. */
static void find(const char *name, void *function) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW), *found = library ? dlsym(library, name) : NULL;
    if (!found)
        abort();
    memcpy(function, &found, sizeof found);
}

static int (*retain)(void **, int), (*push)(void *), (*pop)(void **), (*release)(int);
static int (*allocate)(device_pointer *, size_t), (*deallocate)(device_pointer);
static int (*pin)(void **, size_t, unsigned), (*unpin)(void *);

/* Makes a device that of this thread; the program's own use of CUDA comes before polybuild's. */
static void use(int device) {
    int (*init)(unsigned);
    void *context;
    find("cuInit", (void *)&init);
    find("cuDevicePrimaryCtxRetain", (void *)&retain);
    find("cuDevicePrimaryCtxRelease_v2", (void *)&release);
    find("cuCtxPushCurrent_v2", (void *)&push);
    find("cuCtxPopCurrent_v2", (void *)&pop);
    find("cuMemAlloc_v2", (void *)&allocate);
    find("cuMemFree_v2", (void *)&deallocate);
    find("cuMemHostAlloc", (void *)&pin);
    find("cuMemFreeHost", (void *)&unpin);
    if (init(0) || retain(&context, device) || push(context))
        abort();
}

static void leave(int device) {
    void *context;
    if (pop(&context) || release(device))
        abort();
}

/* An array in pinned memory is the program's again as soon as the region is over. */
static int pinned(void) {
    enum { N = 100 };
    double result[N], *a;
    void *memory;
    int right = 1;
    use(0);
    if (pin(&memory, N * sizeof *a, 0))
        abort();
    a = memory;
    for (int i = 0; i < N; i++)
        a[i] = i;
    polybuild_resident(result, sizeof result);
    twice(a, result, 0, N);
    for (int i = 0; i < N; i++)
        a[i] = -1;
    polybuild_release(result);
    for (int i = 0; i < N; i++)
        right = right && result[i] == 2 * i;
    if (unpin(memory))
        abort();
    leave(0);
    return right;
}

/* Memory of the device is taken for an array, that of another one and the host's is not. */
static int foreign(int device, int taken) {
    double stand_in[10];
    device_pointer pointer;
    use(device);
    if (allocate(&pointer, sizeof stand_in))
        abort();
    polybuild_foreign own = {POLYBUILD_CUDA, 1, pointer, 1};
    int right = polybuild_adopt(stand_in, sizeof stand_in, &own) == taken;
    right = right && (!taken || polybuild_disown(stand_in));
    own.pointer = (device_pointer)(size_t)stand_in;
    right = right && !polybuild_adopt(stand_in, sizeof stand_in, &own);
    if (deallocate(pointer))
        abort();
    leave(device);
    return right;
}

/* A library with a runtime of its own reads what is on the device alone. */
static int library(const char *name) {
    enum { N = 100 };
    double a[N], b[N], c[N];
    int right = 1;
    void (*other)(const double *, double *, long, long);
    void *opened = dlopen(name, RTLD_NOW | RTLD_LOCAL), *found = opened ? dlsym(opened, "library_twice") : NULL;
    if (!found)
        abort();
    memcpy(&other, &found, sizeof found);
    for (int i = 0; i < N; i++)
        a[i] = i, b[i] = c[i] = -1;
    polybuild_resident(b, sizeof b);
    twice(a, b, 0, N);
    other(b, c, 0, N);
    dlclose(opened); /* which the counters of its region survive */
    polybuild_release(b);
    for (int i = 0; i < N; i++)
        right = right && b[i] == 2 * i && c[i] == 4 * i;
    return right;
}

enum { PARTS = 4, PART = 20000 };
static double shared_from[PART], shared_to[PARTS][PART];

static void *part(void *data) {
    long number = *(long *)data;
    for (int step = 0; step < 5; step++)
        twice(shared_from, shared_to[number], 0, PART);
    return NULL;
}

/* Threads read the same array on the device, one after them writes to it, and memory goes from one to another. */
static int streams(void) {
    pthread_t threads[PARTS];
    long numbers[PARTS];
    int right = 1;
    polybuild_resident(shared_from, sizeof shared_from);
    for (int i = 0; i < PARTS; i++)
        polybuild_resident(shared_to[i], sizeof shared_to[i]);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < PART; i++)
            shared_from[i] = i + round;
        polybuild_update_device(shared_from);
        for (int i = 0; i < PARTS; i++) {
            numbers[i] = i;
            if (pthread_create(&threads[i], NULL, part, &numbers[i]))
                abort();
        }
        for (int i = 0; i < PARTS; i++)
            pthread_join(threads[i], NULL);
        twice(shared_to[0], shared_from, 0, PART);
        polybuild_update_host(NULL);
        for (int i = 0; i < PART; i++)
            right = right && shared_from[i] == 4.0 * (i + round) && shared_to[PARTS - 1][i] == 2.0 * (i + round);
    }
    for (int i = 0; i < PARTS; i++)
        polybuild_release(shared_to[i]);
    polybuild_release(shared_from);
    return right;
}

/* What a program does in a stream of its own comes before and after what is done here, without the host. */
static int stream(void) {
    enum { N = 100 };
    double from[N], to[N], result[N];
    device_pointer target;
    void *own;
    int (*create)(void **, unsigned), (*copy_to)(device_pointer, const void *, size_t, void *);
    int (*copy_from)(void *, device_pointer, size_t, void *), (*wait)(void *), (*destroy)(void *);
    int right;
    use(0);
    find("cuStreamCreate", (void *)&create);
    find("cuStreamSynchronize", (void *)&wait);
    find("cuStreamDestroy_v2", (void *)&destroy);
    find("cuMemcpyHtoDAsync_v2", (void *)&copy_to);
    find("cuMemcpyDtoHAsync_v2", (void *)&copy_from);
    if (create(&own, 1) || allocate(&target, sizeof to))
        abort();
    for (int i = 0; i < N; i++)
        from[i] = i, result[i] = -1;
    if (copy_to(target, result, sizeof to, own))
        abort();
    polybuild_foreign memory = {POLYBUILD_CUDA, 0, target, (unsigned long long)(size_t)own};
    polybuild_resident(from, sizeof from); /* else its memory is freed, which waits for all */
    right = polybuild_adopt(to, sizeof to, &memory);
    twice(from, to, 0, N);
    right = right && polybuild_disown(to);
    if (copy_from(result, target, sizeof to, own) || wait(own))
        abort();
    polybuild_release(from);
    for (int i = 0; i < N; i++)
        right = right && result[i] == 2 * i;
    if (destroy(own) || deallocate(target))
        abort();
    leave(0);
    return right;
}

int main(int count, char **names) {
    (void)count;
    if (!strcmp(names[1], "streams"))
        return !streams();
    if (!strcmp(names[1], "stream"))
        return !stream();
    if (!strcmp(names[1], "library"))
        return !library(names[2]);
    if (!strcmp(names[1], "pinned"))
        return !pinned();
    if (!strcmp(names[1], "own"))
        return !foreign(0, 1);
    if (!strcmp(names[1], "second"))
        return !foreign(1, 1);
    return strcmp(names[1], "foreign") || !foreign(1, 0);
}
