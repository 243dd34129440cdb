/* The driver of tests/kernels for large arrays that stay on the device: the same kernel again and again on them.
 *
 * usage: PROGRAM RUNS [mini|small|medium|large | SIZE...]
 *
 * For each run it prints the seconds that it took and the milliseconds of its kernels, as the runtime knows them, and
 * after the first one a checksum of every array. Numbers are whole and small, so that sums of them are the same in any
 * order. Built with -DHOST it is the frame of the program as it was written. */
#define _POSIX_C_SOURCE 200809L
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "driver.h"

#ifndef HOST
#include "polybuild.h"
#endif

enum { MAX_ARRAYS = 16 };

static struct {
    const char *name;
    size_t count, size;
    void *data;
} arrays[MAX_ARRAYS];
static int array_count, runs = 1, done;
static struct timespec started;

static void fail(const char *what)
{
    fprintf(stderr, "%s: %s\n", kernel.name, what);
    exit(2);
}

static uint64_t mixed(uint64_t value)
{
    value = (value + 1) * UINT64_C(0x9e3779b97f4a7c15);
    value = (value ^ value >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return value ^ value >> 32;
}

static void *new_array(const char *name, size_t count, size_t size)
{
    if (array_count == MAX_ARRAYS)
        fail("too many arrays");
    void *data = aligned_alloc(4096, ((count ? count : 1) * size + 4095) / 4096 * 4096);
    if (!data)
        fail("out of memory");
    arrays[array_count].name = name;
    arrays[array_count].count = count;
    arrays[array_count].size = size;
    arrays[array_count++].data = data;
    return data;
}

/* Numbers from -most to most: their sums stay small. */
static int whole(uint64_t array, uint64_t index, int most)
{
    return (int)((mixed(array << 40 ^ index) >> 16) % (2 * (uint64_t)most + 1)) - most;
}

void *new_doubles(const char *name, size_t count)
{
    double *data = new_array(name, count, sizeof *data);
    uint64_t array = (uint64_t)array_count;
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < count; i++)
        data[i] = whole(array, i, 16);
    return data;
}

void *new_floats(const char *name, size_t count)
{
    float *data = new_array(name, count, sizeof *data);
    uint64_t array = (uint64_t)array_count;
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < count; i++)
        data[i] = (float)whole(array, i, 4);
    return data;
}

void *new_ints(const char *name, size_t count, int bound)
{
    int *data = new_array(name, count, sizeof *data);
    uint64_t array = (uint64_t)array_count;
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < count; i++)
        data[i] = (int)((mixed(array << 40 ^ i) >> 16) % (uint64_t)bound);
    return data;
}

void *new_positive_definite(const char *name, int n)
{
    double *data = new_doubles(name, (size_t)n * (size_t)n);
    for (size_t i = 0; i < (size_t)n; i++) {
        data[i * (size_t)n + i] = 2048.0 * n;
        for (size_t j = 0; j < i; j++)
            data[j * (size_t)n + i] = data[i * (size_t)n + j];
    }
    return data;
}

static uint64_t checksum(const void *data, size_t count, size_t size)
{
    uint64_t sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (size_t i = 0; i < count; i++) {
        uint64_t bits = 0;
        memcpy(&bits, (const char *)data + i * size, size);
        sum += mixed(bits ^ mixed(i));
    }
    return sum;
}

static void report(void)
{
#ifndef HOST
    polybuild_update_host(NULL);
#endif
    size_t bytes = 0;
    for (int i = 0; i < array_count; i++) {
        printf("array %s %zu checksum %016llx\n", arrays[i].name, arrays[i].count,
               (unsigned long long)checksum(arrays[i].data, arrays[i].count, arrays[i].size));
        bytes += arrays[i].count * arrays[i].size;
    }
    printf("bytes %zu\n", bytes);
}

static double kernel_milliseconds(void)
{
#ifdef HOST
    return 0;
#else
    polybuild_counts counts;
    (void)polybuild_counters(NULL, 0, &counts);
    return (double)counts.kernel_time / 1e6;
#endif
}

static double kernels_before;

void timer_start(void)
{
#ifndef HOST
    for (int i = 0; done == 0 && i < array_count; i++)
        polybuild_resident(arrays[i].data, (arrays[i].count ? arrays[i].count : 1) * arrays[i].size);
#endif
    kernels_before = kernel_milliseconds();
    clock_gettime(CLOCK_MONOTONIC, &started);
}

void timer_stop(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    double seconds = (double)(now.tv_sec - started.tv_sec) + 1e-9 * (double)(now.tv_nsec - started.tv_nsec);
    printf("seconds %.9f kernels %.6f\n", seconds, kernel_milliseconds() - kernels_before);
    if (done++ == 0)
        report();
}

int timer_again(void)
{
    return done < runs;
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"large", "medium", "small", "mini"};
    int size[MAX_SIZES] = {0};
    if (argc < 3)
        fail("usage: RUNS [mini|small|medium|large | SIZE...]");
    runs = atoi(argv[1]);
    for (int i = 0; i < MAX_SIZES && i + 2 < argc; i++)
        size[i] = atoi(argv[i + 2]);
    for (int k = 0; k < 4; k++)
        for (int i = 0; strcmp(argv[2], names[k]) == 0 && i < MAX_SIZES; i++)
            size[i] = (kernel.large[i] + (1 << 2 * k) - 1) >> 2 * k;
    kernel.run(size);
    for (int i = 0; i < array_count; i++) {
#ifndef HOST
        polybuild_release(arrays[i].data);
#endif
        free(arrays[i].data);
    }
    return 0;
}
