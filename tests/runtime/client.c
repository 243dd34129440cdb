/* A program as polybuild writes it, by hand: each scenario is a region and its host version.
 *
 * usage: client SCENARIO...   prints, for each, the sum that the host version gives, or ends with 1.
 */
#include <polybuild_device.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "module.h" /* static polybuild_module module, from kernels.cu */

enum { TWICE, INTERIOR, HEAT, TURN };

static void wrong(const char *what, long where) {
    fprintf(stderr, "%s: wrong at %ld\n", what, where);
    exit(1);
}

static void *array(size_t count, size_t size) {
    void *memory = malloc(count * size);
    if (!memory)
        abort();
    return memory;
}

static polybuild_box flat(const void *low, size_t bytes) {
    polybuild_box box = {low, bytes, 1, 0, 1, 0};
    return box;
}

static const long one[3] = {1, 1, 1};

#define VALUE(v) {NULL, &(v), sizeof(v)}
#define ARRAY(b, first) {b, NULL, 0}, VALUE(first)

/* b[first..last) = 2 a[first..last) */
static polybuild_region twice_region = {&module, "client.c", 1, 0, 0, NULL, {0}, NULL, NULL};
static void twice(const double *a, double *b, long first, long last) {
    int done = 0;
    const size_t bytes = (size_t)(last - first) * sizeof *a;
    polybuild_session *s = polybuild_open(&twice_region, NULL, NULL, 0);
    if (s) {
        polybuild_box a_box = flat(a + first, bytes), b_box = flat(b + first, bytes);
        polybuild_buffer *ab = polybuild_map(s, a, &a_box, sizeof *a, POLYBUILD_IN);
        polybuild_buffer *bb = polybuild_map(s, b, &b_box, sizeof *b, POLYBUILD_OUT);
        const long a_first = polybuild_first(ab), b_first = polybuild_first(bb);
        const long grid[3] = {(last - first + 31) / 32, 1, 1}, block[3] = {32, 1, 1}, none[3] = {0, 1, 1};
        const polybuild_argument arguments[] = {ARRAY(ab, a_first), ARRAY(bb, b_first), VALUE(first), VALUE(last)};
        polybuild_launch(s, TWICE, none, block, arguments, 6);
        polybuild_launch(s, TWICE, grid, block, arguments, 6);
        done = polybuild_close(s);
    }
    if (!done) {
        polybuild_host_begin(&twice_region, 0);
        for (long i = first; i < last; i++)
            b[i] = 2 * a[i];
        polybuild_host_end(&twice_region);
    }
}

static void check_twice(long n, long first, long last) {
    double *a = array((size_t)n, sizeof *a), *b = array((size_t)n, sizeof *b);
    for (long i = 0; i < n; i++)
        a[i] = (double)(i % 1000), b[i] = -1;
    twice(a, b, first, last);
    for (long i = 0; i < n; i++)
        if (b[i] != (i >= first && i < last ? 2 * a[i] : -1))
            wrong("twice", i);
    free(a);
    free(b);
}

/* The interior of a cube, twice: a box with rows and planes that is read and written. */
static polybuild_region interior_region = {&module, "client.c", 2, 0, 0, NULL, {0}, NULL, NULL};
static void interior(float *a, int n) {
    int done = 0;
    const size_t row = (size_t)n * sizeof *a, inner = (size_t)n - 2;
    polybuild_session *s = polybuild_open(&interior_region, NULL, NULL, 0);
    if (s) {
        polybuild_box box = {a + ((long)n + 1) * n + 1, inner * sizeof *a, inner, row, inner, row * (size_t)n};
        polybuild_buffer *ab = polybuild_map(s, a, &box, sizeof *a, POLYBUILD_INOUT);
        const long a_first = polybuild_first(ab);
        const long blocks = (n + 1) / 4, grid[3] = {blocks, blocks, blocks}, block[3] = {4, 4, 4};
        const polybuild_argument arguments[] = {ARRAY(ab, a_first), VALUE(n)};
        for (int t = 0; t < 2; t++)
            polybuild_launch(s, INTERIOR, grid, block, arguments, 3);
        done = polybuild_close(s);
    }
    if (!done) {
        polybuild_host_begin(&interior_region, 0);
        for (int t = 0; t < 2; t++)
            for (int i = 1; i < n - 1; i++)
                for (int j = 1; j < n - 1; j++)
                    for (int k = 1; k < n - 1; k++)
                        a[((long)i * n + j) * n + k] += 1;
        polybuild_host_end(&interior_region);
    }
}

static void check_interior(int n) {
    long size = (long)n * n * n;
    float *a = array((size_t)size, sizeof *a);
    for (long i = 0; i < size; i++)
        a[i] = (float)(i % 77);
    interior(a, n);
    for (long i = 0; i < size; i++) {
        long x = i / n / n, y = i / n % n, z = i % n;
        int inside = x && y && z && x < n - 1 && y < n - 1 && z < n - 1;
        if (a[i] != (float)(i % 77) + (inside ? 2 : 0))
            wrong("interior", i);
    }
    free(a);
}

/* One step of a solver; the program calls it for every step. */
static polybuild_region heat_region = {&module, "client.c", 3, 0, 0, NULL, {0}, NULL, NULL};
static void heat(const double *a, double *b, long n) {
    int done = 0;
    polybuild_session *s = polybuild_open(&heat_region, NULL, NULL, 0);
    if (s) {
        polybuild_box a_box = flat(a, (size_t)n * sizeof *a), b_box = flat(b + 1, (size_t)(n - 2) * sizeof *b);
        polybuild_buffer *ab = polybuild_map(s, a, &a_box, sizeof *a, POLYBUILD_IN);
        polybuild_buffer *bb = polybuild_map(s, b, &b_box, sizeof *b, POLYBUILD_OUT);
        const long a_first = polybuild_first(ab), b_first = polybuild_first(bb);
        const long grid[3] = {(n + 61) / 64, 1, 1}, block[3] = {64, 1, 1};
        const polybuild_argument arguments[] = {ARRAY(ab, a_first), ARRAY(bb, b_first), VALUE(n)};
        polybuild_launch(s, HEAT, grid, block, arguments, 5);
        done = polybuild_close(s);
    }
    if (!done) {
        polybuild_host_begin(&heat_region, 0);
        for (long i = 1; i < n - 1; i++)
            b[i] = 0.25 * a[i - 1] + 0.5 * a[i] + 0.25 * a[i + 1];
        polybuild_host_end(&heat_region);
    }
}

/* Two time steps at once; every hundredth step the host looks at a value, and changes one. */
static void check_heat(long n, int steps, int resident, int touched) {
    double *a = array((size_t)n, sizeof *a), *b = array((size_t)n, sizeof *b);
    double *c = array((size_t)n, sizeof *c), *d = array((size_t)n, sizeof *d);
    for (long i = 0; i < n; i++)
        a[i] = b[i] = c[i] = d[i] = (double)(i % 10);
    if (resident) {
        polybuild_resident(a, (size_t)n * sizeof *a);
        polybuild_resident(b, (size_t)n * sizeof *b);
    }
    for (int t = 0; t < steps; t++) {
        heat(a, b, n);
        heat(b, a, n);
        for (long i = 1; i < n - 1; i++)
            d[i] = 0.25 * c[i - 1] + 0.5 * c[i] + 0.25 * c[i + 1];
        for (long i = 1; i < n - 1; i++)
            c[i] = 0.25 * d[i - 1] + 0.5 * d[i] + 0.25 * d[i + 1];
        if (touched && t % 100 == 50) {
            polybuild_update_host(a + 5);
            if (a[n / 2] != c[n / 2])
                wrong("heat, seen on the way", t);
            a[n / 3] += 1;
            c[n / 3] += 1;
            polybuild_update_device(a);
        }
    }
    if (resident) {
        polybuild_release(a);
        polybuild_release(b);
    }
    for (long i = 0; i < n; i++)
        if (a[i] != c[i] || b[i] != d[i])
            wrong("heat", i);
    free(a);
    free(b);
    free(c);
    free(d);
}

/* A temporary array between two kernels, and arrays that are not touched at all. */
static polybuild_region turn_region = {&module, "client.c", 4, 0, 0, NULL, {0}, NULL, NULL};
static void turn(const double *a, double *b, long blocks) {
    int done = 0;
    const size_t bytes = (size_t)blocks * 64 * sizeof *a;
    polybuild_session *s = polybuild_open(&turn_region, NULL, NULL, 0);
    if (s) {
        double *place = NULL; /* the temporary has no home on the host */
        polybuild_box a_box = flat(a, bytes), b_box = flat(b, bytes), t_box = flat(place, bytes), no_box = flat(b, 0);
        polybuild_buffer *ab = polybuild_map(s, a, &a_box, sizeof *a, POLYBUILD_IN);
        polybuild_buffer *bb = polybuild_map(s, b, &b_box, sizeof *b, POLYBUILD_OUT);
        polybuild_buffer *tb = polybuild_map(s, place, &t_box, sizeof *a, POLYBUILD_TEMPORARY);
        polybuild_buffer *nb = polybuild_map(s, b, &no_box, sizeof *a, POLYBUILD_INOUT);
        const long a_first = polybuild_first(ab), b_first = polybuild_first(bb), t_first = polybuild_first(tb);
        const long first = polybuild_first(nb), last = 0;
        const long grid[3] = {blocks, 1, 1}, block[3] = {64, 1, 1};
        const polybuild_argument there[] = {ARRAY(ab, a_first), ARRAY(tb, t_first)};
        const polybuild_argument back[] = {ARRAY(tb, t_first), ARRAY(bb, b_first)};
        const polybuild_argument nothing[] = {ARRAY(nb, first), ARRAY(nb, first), VALUE(last), VALUE(last)};
        polybuild_launch(s, TURN, grid, block, there, 4);
        polybuild_launch(s, TURN, grid, block, back, 4);
        polybuild_launch(s, TWICE, one, one, nothing, 6);
        done = polybuild_close(s);
    }
    if (!done) {
        polybuild_host_begin(&turn_region, 0);
        memcpy(b, a, bytes);
        polybuild_host_end(&turn_region);
    }
}

static void check_turn(long blocks) {
    long n = blocks * 64;
    double *a = array((size_t)n, sizeof *a), *b = array((size_t)n, sizeof *b);
    for (long i = 0; i < n; i++)
        a[i] = (double)i;
    turn(a, b, blocks);
    for (long i = 0; i < n; i++)
        if (b[i] != a[i])
            wrong("turn", i);
    free(a);
    free(b);
}

/* Regions that use a part of a resident array, more than one, and one that the host runs. */
static void check_parts(void) {
    enum { N = 400 };
    double a[N], b[N];
    for (int i = 0; i < N; i++)
        a[i] = i, b[i] = -1;
    polybuild_resident(a, 200 * sizeof *a);
    polybuild_resident(b, sizeof b);
    polybuild_resident(b + 7, 10 * sizeof *b); /* is already */
    twice(a, b, 10, 100);                      /* within both */
    twice(b, a, 150, 300);                     /* reaches beyond a's resident part */
    polybuild_update_host(b);
    for (int i = 0; i < N; i++)
        if (b[i] != (i >= 10 && i < 100 ? 2 * i : -1))
            wrong("parts, b", i);
    b[399] = 5;
    polybuild_update_device(b);
    twice(b, a, 390, 400);
    polybuild_release(b + 7);
    polybuild_release(a);
    polybuild_release(b);
    for (int i = 0; i < N; i++)
        if (a[i] != (i < 150 ? i : i < 300 ? -2 : i < 390 ? i : i < 399 ? -2 : 10))
            wrong("parts, a", i);
}

static void *repeat(void *argument) {
    long which = *(const long *)argument;
    for (int i = 0; i < 10; i++) {
        check_twice(500 + which, which, 400);
        check_interior(5 + (int)which);
        check_turn(1 + which);
    }
    return NULL;
}

static void check_threads(void) {
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    long numbers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        if (pthread_create(&threads[i], NULL, repeat, &numbers[i]))
            abort();
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

int main(int count, char **names) {
    for (int i = 1; i < count; i++) {
        polybuild_counts counts;
        if (!strcmp(names[i], "twice"))
            check_twice(1000, 40, 997);
        else if (!strcmp(names[i], "large"))
            check_twice(700000, 1, 699999);
        else if (!strcmp(names[i], "interior"))
            check_interior(20);
        else if (!strcmp(names[i], "wide"))
            check_interior(107);
        else if (!strcmp(names[i], "heat"))
            check_heat(300, 5, 0, 0);
        else if (!strcmp(names[i], "resident"))
            check_heat(300, 500, 1, 0);
        else if (!strcmp(names[i], "touched"))
            check_heat(300, 250, 1, 1);
        else if (!strcmp(names[i], "short"))
            check_heat(80, 3, 1, 0);
        else if (!strcmp(names[i], "turn"))
            check_turn(5);
        else if (!strcmp(names[i], "parts"))
            check_parts();
        else if (!strcmp(names[i], "threads"))
            check_threads();
        else
            return 2;
        polybuild_counters(NULL, 0, &counts);
        printf("%s device=%llu host=%llu failures=%llu launches=%llu in=%llu out=%llu\n", names[i], counts.device_runs,
               counts.host_runs, counts.failures, counts.launches, counts.copies_in, counts.copies_out);
    }
    return 0;
}
