/* Versions of regions that choose themselves: a region built with --adapt on times its versions in its first
   calls of each size class, and keeps the fastest for the process.

   polybuild puts this text at the end of a file; what stands before the user's code is in
   codegen/file/adapting.py. Size classes are powers of two of the work, apart for calls that may start threads
   and calls that may not. Each version runs POLYBUILD_ADAPT_RUNS times, of which the fastest counts; one that
   takes POLYBUILD_ADAPT_SLOW times as long as another is not run again. Where the fastest known version takes
   POLYBUILD_ADAPT_LONG nanoseconds no others are tried. Threads may choose at the same time: what they share are
   atomics, and each call measures itself. Nothing is allocated. C99 with the atomics of GNU C.

   The environment, read when the first region runs: POLYBUILD_ADAPT=1 asks for all this; with
   POLYBUILD_VERBOSE=1 each choice is told on standard error. */
#ifndef POLYBUILD_ADAPT_H
#define POLYBUILD_ADAPT_H

#include <stdio.h>
#ifdef _OPENMP
extern int omp_get_max_threads(void), omp_in_parallel(void);
extern void omp_set_num_threads(int);
#endif

enum { POLYBUILD_ADAPT_RUNS = 3, POLYBUILD_ADAPT_SLOW = 16, POLYBUILD_ADAPT_LONG = 1000000000 };

/* The number of threads that new loops may start. */
static int polybuild_adapt_threads(const struct polybuild_adapted *region)
{
#ifdef _OPENMP
  if (region->parallel && !omp_in_parallel())
    return omp_get_max_threads();
#else
  (void)region;
#endif
  return 1;
}

static void polybuild_adapt_limit(int threads)
{
#ifdef _OPENMP
  omp_set_num_threads(threads);
#else
  (void)threads;
#endif
}

/* The version to try next, counted from 1: the one that ran least of those that may be the fastest; 0: none. */
static int polybuild_adapt_next(struct polybuild_size_class *sizes, int versions)
{
  unsigned long long best = ~0ULL;
  unsigned fewest = POLYBUILD_ADAPT_RUNS;
  int version, next = 0;
  for (version = 0; version < versions; version++) {
    unsigned long long time = __atomic_load_n(&sizes->fastest[version], __ATOMIC_RELAXED);
    if (time && time < best)
      best = time;
  }
  for (version = versions - 1; version >= 0; version--) {
    unsigned long long time = __atomic_load_n(&sizes->fastest[version], __ATOMIC_RELAXED);
    unsigned runs = __atomic_load_n(&sizes->runs[version], __ATOMIC_RELAXED);
    int hopeless = time ? time / POLYBUILD_ADAPT_SLOW > best : best != ~0ULL && best > POLYBUILD_ADAPT_LONG;
    if (runs < fewest && !hopeless) {
      fewest = runs;
      next = version + 1;
    }
  }
  return next;
}

/* Keeps the fastest version, the first one if they are as good; tells of it once. */
static void polybuild_adapt_settle(const struct polybuild_adapted *region, struct polybuild_size_class *sizes,
                                   int versions, double work)
{
  static const char *const words[] = {"the original loops", "the new loops on one thread",
                                      "the new loops on all threads"};
  int version, chosen = 0, undecided = 0;
  for (version = 1; version < versions; version++) {
    unsigned long long time = __atomic_load_n(&sizes->fastest[version], __ATOMIC_RELAXED);
    unsigned long long best = __atomic_load_n(&sizes->fastest[chosen], __ATOMIC_RELAXED);
    if (time && (!best || time < best - best / 32))
      chosen = version;
  }
  if (!__atomic_compare_exchange_n(&sizes->chosen, &undecided, chosen + 1, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED) ||
      !polybuild_asked("POLYBUILD_VERBOSE"))
    return;
  {
    char text[512];
    size_t used = 0;
    for (version = 0; version < versions && used < sizeof text; version++) {
      unsigned long long time = __atomic_load_n(&sizes->fastest[version], __ATOMIC_RELAXED);
      int length = time ? snprintf(text + used, sizeof text - used, "%s %s %.3f us", used ? "," : "", words[version],
                                   (double)time / 1e3)
                        : snprintf(text + used, sizeof text - used, "%s %s not tried", used ? "," : "", words[version]);
      used += length > 0 ? (size_t)length : 0;
    }
    fprintf(stderr, "polybuild: %s:%d: %s from now on, for about %.0f instances:%s\n", region->file, region->line,
            words[chosen], work, text);
  }
}

static void polybuild_choose(struct polybuild_choice *choice, double work)
{
  struct polybuild_adapted *region = choice->region;
  unsigned long long whole = work < 1 ? 1 : work < 1e18 ? (unsigned long long)work : 1000000000000000000ULL;
  int size = 63 - __builtin_clzll(whole), threads = polybuild_adapt_threads(region);
  struct polybuild_size_class *sizes = &region->sizes[threads > 1][size < POLYBUILD_SIZES ? size : POLYBUILD_SIZES - 1];
  if (__atomic_load_n(&polybuild_adapting, __ATOMIC_RELAXED) < 0) {
    __atomic_store_n(&polybuild_adapting, polybuild_asked("POLYBUILD_ADAPT"), __ATOMIC_RELAXED);
    if (!polybuild_adapts())
      return;
  }
  choice->version = __atomic_load_n(&sizes->chosen, __ATOMIC_RELAXED);
  if (!choice->version) {
    int versions = threads > 1 ? 3 : 2;
    choice->version = polybuild_adapt_next(sizes, versions);
    if (!choice->version) {
      polybuild_adapt_settle(region, sizes, versions, work);
      choice->version = __atomic_load_n(&sizes->chosen, __ATOMIC_RELAXED);
    } else {
      choice->sizes = sizes;
      choice->began = polybuild_clock();
    }
  }
  if (choice->version == 2 && threads > 1) {
    choice->threads = threads;
    polybuild_adapt_limit(1);
  }
}

static void polybuild_chose(struct polybuild_choice *choice)
{
  if (choice->threads)
    polybuild_adapt_limit(choice->threads);
  if (choice->sizes && choice->ran == (choice->version > 1)) { /* else a condition of the new loops did not hold */
    unsigned long long time = polybuild_clock() - choice->began + 1, known;
    unsigned long long *fastest = &choice->sizes->fastest[choice->version - 1];
    known = __atomic_load_n(fastest, __ATOMIC_RELAXED);
    while ((!known || time < known) &&
           !__atomic_compare_exchange_n(fastest, &known, time, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
      ;
    __atomic_fetch_add(&choice->sizes->runs[choice->version - 1], 1, __ATOMIC_RELAXED);
  }
}

#endif
