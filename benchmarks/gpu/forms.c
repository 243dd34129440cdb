/* Compares and times the forms of a kernel that are linked with it: the driver of tests/kernels, for several.
 *
 *     forms [--whole] [--keep] (check | time RUNS) SIZE... -- FORM...
 *
 * FORMS is the list of X(number) that there are; kernel_0 is the original, kernel_N form N. With --whole all numbers
 * are small and whole, so that sums are exact in any order. With --keep arrays stay on the device between the runs
 * that are timed. For each form there is a line: `form N equal`, `form N different: ARRAY`, or for each timed run
 * `form N seconds S launches L`, S those of the kernels alone. With `form N stopped` and exit code 3 it ends after a
 * form that ran on the host, as the device may not answer any more. */
#include <polybuild.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"

enum { MAX_ARRAYS = 16 };

#define X(number) extern const struct kernel kernel_##number;
X(0)
FORMS
#undef X
static const struct {
    int number;
    const struct kernel *kernel;
} forms[] = {
#define X(number) {number, &kernel_##number},
    FORMS
#undef X
};

struct array {
    const char *name;
    size_t count, bytes;
    void *data;
};
static struct array arrays[MAX_ARRAYS];
static int array_count, current;
static int whole, keep, timed;
static polybuild_counts before, after;

static void *array(const char *name, size_t count, size_t size, int *is_new)
{
    if (current == MAX_ARRAYS)
        exit(2);
    struct array *own = &arrays[current++];
    *is_new = current > array_count;
    if (*is_new) {
        array_count = current;
        own->data = NULL;
        if (posix_memalign(&own->data, 256, (count ? count : 1) * size) != 0)
            exit(2);
    }
    own->name = name;
    own->count = count;
    own->bytes = count * size;
    return own->data;
}

static double value(size_t index)
{
    uint32_t mixed = (uint32_t)((index + 1) * UINT64_C(0x9e3779b97f4a7c15) >> 40) + 77u * (uint32_t)current;
    return whole ? (double)(mixed % 9) - 4 : (double)(mixed % 65536) / 32768 - 1;
}

#define NEW(type, number)                                                                                              \
    int is_new;                                                                                                        \
    type *data = array(name, count, sizeof *data, &is_new);                                                            \
    if (!(keep && timed) || is_new) {                                                                                  \
        _Pragma("omp parallel for") for (size_t i = 0; i < count; i++) data[i] = (type)(number);                       \
        if (keep && timed)                                                                                             \
            polybuild_resident(data, count * sizeof *data);                                                            \
    }                                                                                                                  \
    return data;

void *new_doubles(const char *name, size_t count) { NEW(double, value(i)) }
void *new_floats(const char *name, size_t count) { NEW(float, value(i)) }
void *new_ints(const char *name, size_t count, int bound) { NEW(int, (int)((value(i) + 1) / 2 * bound) % bound) }

void *new_positive_definite(const char *name, int n)
{
    double *data = new_doubles(name, (size_t)n * (size_t)n);
    for (size_t i = 0; i < (size_t)n; i++) {
        data[i * (size_t)n + i] = n + 1.0;
        for (size_t j = 0; j < i; j++)
            data[j * (size_t)n + i] = data[i * (size_t)n + j];
    }
    return data;
}

void timer_start(void) { polybuild_counters(NULL, 0, &before); }
void timer_stop(void) { polybuild_counters(NULL, 0, &after); }

static int on_host(void)
{
    return after.host_runs != before.host_runs || after.device_runs == before.device_runs;
}

static void run(const struct kernel *kernel, const int *size)
{
    current = 0;
    kernel->run(size);
}

static void check(int number, const struct kernel *kernel, const int *size)
{
    static void *expected[MAX_ARRAYS];
    if (!expected[0]) {
        run(&kernel_0, size);
        for (int a = 0; a < array_count; a++) {
            expected[a] = malloc(arrays[a].bytes + 1);
            if (!expected[a])
                exit(2);
            memcpy(expected[a], arrays[a].data, arrays[a].bytes);
        }
    }
    run(kernel, size);
    if (on_host())
        return;
    for (int a = 0; a < array_count; a++) {
        const unsigned char *old = expected[a], *made = arrays[a].data;
        size_t first = arrays[a].bytes, wrong = 0, size = arrays[a].bytes / (arrays[a].count ? arrays[a].count : 1);
        for (size_t at = arrays[a].bytes; size && at >= size; at -= size)
            if (memcmp(old + at - size, made + at - size, size) != 0) {
                first = at - size;
                wrong++;
            }
        if (wrong) {
            printf("form %d different: %s, %zu of its elements from number %zu on\n", number, arrays[a].name, wrong,
                   first / size);
            return;
        }
    }
    printf("form %d equal\n", number);
}

static void measure(int number, const struct kernel *kernel, const int *size, int runs)
{
    for (int each = 0; each <= runs; each++) { /* the first one loads the kernels */
        run(kernel, size);
        if (on_host())
            return;
        if (each > 0)
            printf("form %d seconds %.9f launches %llu\n", number,
                   1e-9 * (double)(after.kernel_time - before.kernel_time), after.launches - before.launches);
    }
}

int main(int argc, char **argv)
{
    int size[MAX_SIZES] = {0}, next = 1, runs = 0, sizes = 0;
    for (; next < argc && argv[next][0] == '-'; next++)
        *(strcmp(argv[next], "--whole") == 0 ? &whole : &keep) = 1;
    timed = next < argc && strcmp(argv[next++], "time") == 0;
    if (timed && next < argc)
        runs = atoi(argv[next++]);
    for (; next < argc && strcmp(argv[next], "--") != 0; next++)
        if (sizes < MAX_SIZES)
            size[sizes++] = atoi(argv[next]);
    for (next++; next < argc; next++) {
        for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
            if (forms[f].number != atoi(argv[next]))
                continue;
            if (timed)
                measure(forms[f].number, forms[f].kernel, size, runs);
            else
                check(forms[f].number, forms[f].kernel, size);
            fflush(stdout);
            if (on_host()) {
                printf("form %d stopped\n", forms[f].number);
                return 3;
            }
        }
    }
    return 0;
}
