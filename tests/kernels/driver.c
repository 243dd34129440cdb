#define _POSIX_C_SOURCE 200809L

#include "driver.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_ARRAYS = 16 };

enum type { DOUBLE, FLOAT, INT };

static const char *const type_name[] = {"double", "float", "int"};
static const size_t type_size[] = {sizeof(double), sizeof(float), sizeof(int)};

struct array {
    const char *name;
    enum type type;
    size_t count;
    void *data;
};

static struct array arrays[MAX_ARRAYS];
static int array_count;
static const char *dump_directory;
static struct timespec started;
static double seconds;

static void fail(const char *what, const char *about)
{
    fprintf(stderr, "%s: %s: %s\n", kernel.name, about, what);
    exit(2);
}

/* ---- Data --------------------------------------------------------------- */

/* A well mixed 32-bit value: the finaliser of a multiplicative hash. */
static uint32_t hash(uint32_t stream, size_t index)
{
    uint64_t h = ((uint64_t)stream << 40) + index + 1;
    h *= UINT64_C(0x9e3779b97f4a7c15);
    h ^= h >> 32;
    h *= UINT64_C(0xd6e8feb86659fd93);
    h ^= h >> 32;
    return (uint32_t)h;
}

/* 24 bits of the hash as a number in [-1, 1), exact as float and as double. */
static double unit(uint32_t stream, size_t index)
{
    return (double)(hash(stream, index) >> 8) / (1 << 23) - 1.0;
}

static struct array *new_array(const char *name, enum type type, size_t count)
{
    if (array_count == MAX_ARRAYS)
        fail("too many arrays", name);
    struct array *array = &arrays[array_count++];
    size_t bytes = (count ? count : 1) * type_size[type];
    *array = (struct array){name, type, count, NULL};
    if (posix_memalign(&array->data, 64, bytes) != 0)
        fail("out of memory", name);
    return array;
}

void *new_doubles(const char *name, size_t count)
{
    double *data = new_array(name, DOUBLE, count)->data;
    for (size_t i = 0; i < count; i++)
        data[i] = unit(array_count, i);
    return data;
}

void *new_floats(const char *name, size_t count)
{
    float *data = new_array(name, FLOAT, count)->data;
    for (size_t i = 0; i < count; i++)
        data[i] = (float)unit(array_count, i);
    return data;
}

void *new_ints(const char *name, size_t count, int bound)
{
    int *data = new_array(name, INT, count)->data;
    for (size_t i = 0; i < count; i++)
        data[i] = (int)(hash(array_count, i) % (uint32_t)bound);
    return data;
}

void *new_positive_definite(const char *name, int n)
{
    size_t order = (size_t)n;
    double *data = new_doubles(name, order * order);
    for (size_t i = 0; i < order; i++) {
        data[i * order + i] = n + 1.0;
        for (size_t j = 0; j < i; j++)
            data[j * order + i] = data[i * order + j];
    }
    return data;
}

static void free_arrays(void)
{
    for (int i = 0; i < array_count; i++)
        free(arrays[i].data);
    array_count = 0;
}

/* ---- Report ------------------------------------------------------------- */

/* FNV-1a over the bytes: any change of any bit shows. */
static uint64_t checksum(const struct array *array)
{
    const unsigned char *byte = array->data;
    size_t bytes = array->count * type_size[array->type];
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < bytes; i++)
        sum = (sum ^ byte[i]) * UINT64_C(0x100000001b3);
    return sum;
}

static double element(const struct array *array, size_t index)
{
    switch (array->type) {
    case DOUBLE:
        return ((const double *)array->data)[index];
    case FLOAT:
        return ((const float *)array->data)[index];
    default:
        return ((const int *)array->data)[index];
    }
}

static double total(const struct array *array)
{
    double sum = 0.0;
    for (size_t i = 0; i < array->count; i++)
        sum += element(array, i);
    return sum;
}

static void report(void)
{
    for (int i = 0; i < array_count; i++) {
        const struct array *a = &arrays[i];
        printf("array %s %s %zu checksum %016llx sum %.9g\n", a->name, type_name[a->type], a->count,
               (unsigned long long)checksum(a), total(a));
    }
}

/* Writes each array's bytes to DIRECTORY/NAME.WHEN. */
static void dump(const char *when)
{
    char path[4096];
    for (int i = 0; dump_directory && i < array_count; i++) {
        const struct array *a = &arrays[i];
        snprintf(path, sizeof path, "%s/%s.%s", dump_directory, a->name, when);
        FILE *file = fopen(path, "wb");
        if (!file)
            fail(strerror(errno), path);
        size_t written = fwrite(a->data, type_size[a->type], a->count, file);
        if (fclose(file) != 0 || written != a->count)
            fail("cannot be written", path);
    }
}

/* ---- Clock -------------------------------------------------------------- */

void timer_start(void)
{
    dump("before");
    clock_gettime(CLOCK_MONOTONIC, &started);
}

void timer_stop(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    seconds = (double)(now.tv_sec - started.tv_sec) + 1e-9 * (double)(now.tv_nsec - started.tv_nsec);
    dump("after");
}

int timer_again(void) { return 0; }

/* ---- Command line ------------------------------------------------------- */

static void usage(FILE *stream)
{
    fprintf(stream,
            "usage: %s [--repeat N] [--dump DIRECTORY] [mini|small|medium|large | SIZE...]\n"
            "\n"
            "sizes: %s. One size alone stands for all of them; none means small.\n"
            "A named size is that of large divided by 4 (medium), 16 (small) or 64 (mini).\n"
            "Prints the sizes, the seconds of each repetition, and of every array its\n"
            "checksum and sum; --dump writes its bytes to NAME.before and NAME.after.\n",
            kernel.name, kernel.sizes);
}

static int whole_number(const char *text)
{
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (errno || end == text || *end || value < 0 || value > INT_MAX)
        fail("not a size (see --help)", text);
    return (int)value;
}

static int count_sizes(void)
{
    int count = 1;
    for (const char *c = kernel.sizes; *c; c++)
        count += *c == ' ';
    return count;
}

/* The sizes of a name, or false if it names none. */
static bool named_sizes(const char *name, int *size)
{
    static const struct {
        const char *name;
        int divisor;
    } known[] = {{"large", 1}, {"medium", 4}, {"small", 16}, {"mini", 64}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        if (strcmp(name, known[k].name) != 0)
            continue;
        for (int i = 0; i < MAX_SIZES; i++)
            size[i] = (kernel.large[i] + known[k].divisor - 1) / known[k].divisor;
        return true;
    }
    return false;
}

static void read_sizes(int count, char **words, int *size)
{
    int wanted = count_sizes();
    if (count == 0)
        named_sizes("small", size);
    else if (count == 1 && named_sizes(words[0], size))
        return;
    else if (count == 1 || count == wanted)
        for (int i = 0; i < wanted; i++)
            size[i] = whole_number(words[count == 1 ? 0 : i]);
    else
        fail("wrong number of sizes (see --help)", kernel.sizes);
}

int main(int argc, char **argv)
{
    int size[MAX_SIZES] = {0};
    int repeat = 1;
    int next = 1;
    for (; next < argc && argv[next][0] == '-'; next++) {
        if (strcmp(argv[next], "--help") == 0) {
            usage(stdout);
            return 0;
        }
        if (next + 1 < argc && strcmp(argv[next], "--repeat") == 0) {
            repeat = whole_number(argv[++next]);
        } else if (next + 1 < argc && strcmp(argv[next], "--dump") == 0) {
            dump_directory = argv[++next];
        } else {
            usage(stderr);
            return 2;
        }
    }
    read_sizes(argc - next, argv + next, size);

    printf("kernel %s\nsizes", kernel.name);
    for (int i = 0; i < count_sizes(); i++)
        printf(" %d", size[i]);
    printf("\n");
    for (int r = 0; r < repeat; r++) {
        free_arrays();
        kernel.run(size);
        printf("seconds %.9f\n", seconds);
    }
    report();
    free_arrays();
    return 0;
}
