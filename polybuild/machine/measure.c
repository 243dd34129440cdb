/* Times what decisions about loops depend on, and prints it as lines of a path and a value.

   Arguments: the bytes of the caches of the first three levels. Bandwidths are of reading. Everything is
   the best of several runs: what else the machine does makes figures worse, never better. */
#define _GNU_SOURCE
#include <math.h>
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define RUNS 5
#define SHORTEST 4e6 /* nanoseconds that are long enough to be timed */

/* One register: of longer vectors compilers keep sums in memory. */
#if defined __AVX512F__
enum { WIDTH = 64 };
#define GATHERED(y) (y)[0], (y)[64], (y)[128], (y)[192], (y)[256], (y)[320], (y)[384], (y)[448]
#elif defined __AVX2__
enum { WIDTH = 32 };
#define GATHERED(y) (y)[0], (y)[64], (y)[128], (y)[192]
#else
enum { WIDTH = 16 };
#define GATHERED(y) (y)[0], (y)[64]
#endif
typedef long vector __attribute__((vector_size(WIDTH)));
enum { ELEMENTS = WIDTH / sizeof(long) };

static volatile double sink;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* Nanoseconds of one call of `work`, which does it as often as it is told. */
static double best(void (*work)(long times, void *data), void *data) {
  long times = 1;
  double least = 0;
  for (;;) {
    double start = now();
    work(times, data);
    double taken = now() - start;
    if (taken >= SHORTEST) {
      least = taken;
      break;
    }
    times *= taken * 16 < SHORTEST ? 8 : 2;
  }
  for (int run = 1; run < RUNS; run++) {
    double start = now();
    work(times, data);
    double taken = now() - start;
    least = taken < least ? taken : least;
  }
  return least / (double)times;
}

struct block {
  vector *data;
  long vectors;
};

/* Reads all of `data`. Sums are named one by one, as compilers keep an array of them in memory where they do
   not unroll; and nobody who calls this knows that a second call gives the same. */
__attribute__((noinline)) static long sum(const vector *data, long vectors) {
  vector a = {0}, b = a, c = a, d = a, e = a, f = a, g = a, h = a;
  __asm__ volatile("" : "+r"(data) : : "memory");
  for (long i = 0; i + 8 <= vectors; i += 8) {
    a += data[i];
    b += data[i + 1];
    c += data[i + 2];
    d += data[i + 3];
    e += data[i + 4];
    f += data[i + 5];
    g += data[i + 6];
    h += data[i + 7];
  }
  vector all = (a + b) + (c + d) + ((e + f) + (g + h));
  long total = 0;
  for (int each = 0; each < ELEMENTS; each++)
    total += all[each];
  return total;
}

static void read_alone(long times, void *data) {
  struct block *block = data;
  long total = 0;
  for (long t = 0; t < times; t++)
    total += sum(block->data, block->vectors);
  sink = (double)total;
}

static void read_together(long times, void *data) {
  struct block *block = data;
  long total = 0;
#pragma omp parallel reduction(+ : total)
  {
    long part = block->vectors / omp_get_num_threads();
    for (long t = 0; t < times; t++)
      total += sum(block->data + part * omp_get_thread_num(), part);
  }
  sink = (double)total;
}

static void start_threads(long times, void *data) {
  int *counts = data;
  for (long t = 0; t < times; t++) {
#pragma omp parallel for schedule(static)
    for (int i = 0; i < 1024; i++)
      counts[i] += 1;
  }
}

static void start_one(long times, void *data) {
  int *counts = data;
  for (long t = 0; t < times; t++) {
#pragma omp parallel for schedule(static) num_threads(1)
    for (int i = 0; i < 8; i++)
      counts[i] += 1;
  }
}

static void meet(long times, void *data) {
  (void)data;
#pragma omp parallel
  for (long t = 0; t < times; t++) {
#pragma omp barrier
  }
}

enum { TRADED = 256, APART = 8256 / sizeof(long) }; /* lines, and how far apart, so that nothing foresees them */

/* Two threads take turns to write the same lines, each of which says where the next one is. */
static void trade(long times, void *data) {
  long *lines = data;
#pragma omp parallel num_threads(2)
  for (long t = 0; t < times; t++) {
    if (t % 2 == omp_get_thread_num())
      for (long at = 0; at < TRADED * APART; at = lines[at])
        lines[at + 1] += 1;
#pragma omp barrier
  }
}

enum { NUMBERS = 512 };

static void load(long times, void *data) {
  const long *x = data;
  long a = 0, b = 0, c = 0, d = 0;
  for (long t = 0; t < times; t++) {
    for (int i = 0; i < NUMBERS; i += 4) {
      a += x[i];
      b += x[i + 1];
      c += x[i + 2];
      d += x[i + 3];
    }
    __asm__ volatile("" : "+r"(x) : : "memory");
  }
  sink = (double)(a + b + c + d);
}

static void add(long times, void *data) {
  const double *x = data;
  double one = x[8], a = x[0], b = x[1], c = x[2], d = x[3], e = x[4], f = x[5], g = x[6], h = x[7];
  for (long t = 0; t < times; t++)
    for (int i = 0; i < NUMBERS; i += 8) {
      a += one;
      b += one;
      c += one;
      d += one;
      e += one;
      f += one;
      g += one;
      h += one;
    }
  sink = a + b + c + d + e + f + g + h;
}

static void add_in_turn(long times, void *data) {
  const double *x = data;
  double one = x[8], a = x[0];
  for (long t = 0; t < times; t++)
    for (int i = 0; i < NUMBERS; i++)
      a += one;
  sink = a;
}

/* Each product, with the sum if the processor fuses them, waits for the one before. */
static void multiply_in_turn(long times, void *data) {
  const double *x = data;
  double half = 0.5 * x[0], a = x[1];
  for (long t = 0; t < times; t++)
    for (int i = 0; i < NUMBERS; i++)
#ifdef __FMA__
      a = __builtin_fma(a, half, half);
#else
      a = a * x[0];
#endif
  sink = a;
}

static void divide(long times, void *data) {
  double *x = data;
  for (long t = 0; t < times; t++)
    for (int i = 0; i < NUMBERS; i++)
      x[i] = 1.5 / x[i];
}

static void root(long times, void *data) {
  double *x = data;
  for (long t = 0; t < times; t++)
    for (int i = 0; i < NUMBERS; i++)
      x[i] = __builtin_sqrt(x[i]);
}

static void gather(long times, void *data) {
  const long *x = data;
  vector total = {0};
  for (long t = 0; t < times; t++) {
    for (int i = 0; i < NUMBERS / ELEMENTS; i++) {
      const long *y = x + i;
      total += (vector){GATHERED(y)};
    }
    __asm__ volatile("" : "+r"(x) : : "memory");
  }
  sink = (double)total[0];
}

/* How much more two threads of one core do than one; 1 where the core has one, or where none can be chosen. */
static double sibling_gain(double *numbers) {
  FILE *file = fopen("/sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "r");
  int first = 0, second = 0;
  char between = 0;
  if (!file || fscanf(file, "%d%c%d", &first, &between, &second) != 3 || (between != ',' && between != '-'))
    return 1;
  fclose(file);
  double alone = 0, together = 0;
  int failed = 0;
#pragma omp parallel num_threads(2) reduction(max : together) reduction(+ : failed)
  {
    int mine = omp_get_thread_num();
    cpu_set_t before, one;
    CPU_ZERO(&one);
    CPU_SET(mine ? second : first, &one);
    failed += sched_getaffinity(0, sizeof before, &before) || sched_setaffinity(0, sizeof one, &one);
    double own[NUMBERS];
    memcpy(own, numbers, sizeof own);
#pragma omp barrier
#pragma omp master
    alone = best(load, own);
#pragma omp barrier
    together = best(load, own);
    sched_setaffinity(0, sizeof before, &before);
  }
  return failed || together <= 0 ? 1 : fmin(2, fmax(1, 2 * alone / together));
}

int main(int count, char **words) {
  if (count != 4)
    return 2;
  const char *levels[] = {"l1.bandwidth", "l2.bandwidth", "l3.bandwidth", "memory.bandwidth"};
  double sizes[4];
  for (int level = 0; level < 3; level++)
    sizes[level] = atof(words[level + 1]);
  /* each level by data that fill half of it, and not a part of the one before; memory by four times the last */
  double used[4] = {sizes[0] / 2, sizes[1] / 2, sizes[2] / 2, sizes[2] * 4};
  if (used[3] > 512e6)
    used[3] = 512e6;
  struct block block;
  size_t whole = ((size_t)used[3] / 64 + 64) * 64;
  block.data = aligned_alloc(64, whole);
  if (!block.data)
    return 1;
  memset(block.data, 1, whole);
  for (int level = 0; level < 4; level++) {
    block.vectors = (long)used[level] / WIDTH;
    printf("%s %.3g\n", levels[level], used[level] / best(read_alone, &block));
  }
  printf("memory.all_cores %.3g\n", used[3] / best(read_together, &block));
  free(block.data);

  static int counts[1024];
  printf("threads.start %.3g\n", best(start_threads, counts));
  printf("threads.enter %.3g\n", best(start_one, counts));
  printf("threads.barrier %.3g\n", best(meet, NULL));
  static long lines[TRADED * APART];
  for (int at = 0; at < TRADED * APART; at += APART)
    lines[at] = at + APART;
  if (omp_get_num_procs() > 1)
    printf("threads.transfer %.3g\n", best(trade, lines) / TRADED);
  static long longs[NUMBERS];
  double numbers[NUMBERS];
  for (int i = 0; i < NUMBERS; i++)
    numbers[i] = 1.0 + i / 1024.0;
  printf("arithmetic.operation %.3g\n", best(add, numbers) / NUMBERS);
  printf("arithmetic.latency %.3g\n", best(multiply_in_turn, numbers) / NUMBERS);
  printf("arithmetic.sum_latency %.3g\n", best(add_in_turn, numbers) / NUMBERS);
  printf("arithmetic.access %.3g\n", best(load, longs) / NUMBERS);
  printf("arithmetic.divide %.3g\n", best(divide, numbers) / NUMBERS);
  printf("arithmetic.root %.3g\n", best(root, numbers) / NUMBERS);
  printf("vector.gather %.3g\n", best(gather, longs) / NUMBERS);
  printf("threads.sibling_gain %.3g\n", sibling_gain(numbers));
  return 0;
}
