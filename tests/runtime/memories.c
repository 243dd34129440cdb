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
    int right = polybuild_adopt(stand_in, sizeof stand_in, pointer) == taken;
    right = right && (!taken || polybuild_disown(stand_in));
    right = right && !polybuild_adopt(stand_in, sizeof stand_in, (device_pointer)(size_t)stand_in);
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

int main(int count, char **names) {
    (void)count;
    if (!strcmp(names[1], "library"))
        return !library(names[2]);
    if (!strcmp(names[1], "pinned"))
        return !pinned();
    if (!strcmp(names[1], "own"))
        return !foreign(0, 1);
    return strcmp(names[1], "foreign") || !foreign(1, 0);
}
