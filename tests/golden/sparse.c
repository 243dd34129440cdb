#line 1 "polybuild_helpers.h"
#define POLYBUILD_LINE(...) __VA_ARGS__
#ifndef POLYBUILD_HELPER
#ifdef __has_attribute
#if __has_attribute(no_profile_instrument_function)
#define POLYBUILD_HELPER static inline __attribute__((no_profile_instrument_function))
#define POLYBUILD_NOINLINE static __attribute__((noinline, unused, no_profile_instrument_function))
#endif
#endif
#ifndef POLYBUILD_HELPER
#define POLYBUILD_HELPER static inline
#define POLYBUILD_NOINLINE static __attribute__((noinline, unused))
#endif
#endif
#ifdef _OPENMP
#define POLYBUILD_TEXT(...) #__VA_ARGS__
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#endif
#define POLYBUILD_OMP(...) _Pragma(POLYBUILD_TEXT(omp __VA_ARGS__))
#else
#define POLYBUILD_OMP(...)
#endif
#ifndef _OPENMP
#define polybuild_team() 1
#elif !defined POLYBUILD_TEAM
#define POLYBUILD_TEAM
extern int omp_get_max_threads(void), omp_get_active_level(void), omp_get_max_active_levels(void);
#if defined __linux__ && defined __LP64__ && defined __GNUC__
extern double omp_get_wtime(void);
extern int polybuild_usage(int who, long *usage) __asm__("getrusage");
extern int polybuild_file_open(const char *path, int flags, ...) __asm__("open");
extern long polybuild_file_read(int file, void *text, unsigned long size) __asm__("read");
extern int polybuild_file_close(int file) __asm__("close");
extern int polybuild_say(int file, const char *text, ...) __asm__("dprintf");
extern char *polybuild_variable(const char *name) __asm__("getenv");
static double polybuild_looked, polybuild_until, polybuild_pause, polybuild_waited;
static long polybuild_preempted;
static int polybuild_limit, polybuild_disturbed;
#pragma omp threadprivate(polybuild_looked, polybuild_until, polybuild_pause, polybuild_waited)
#pragma omp threadprivate(polybuild_preempted, polybuild_limit, polybuild_disturbed)
/* the seconds that this thread has waited for a processor: the second number of three, in nanoseconds */
POLYBUILD_HELPER double polybuild_wait(void)
{
  char text[80] = {0}, *c = text;
  double waited = 0;
  int file = polybuild_file_open("/proc/thread-self/schedstat", 0);
  if (file < 0)
    return 0;
  if (polybuild_file_read(file, text, sizeof text - 1) > 0) {
    while (*c >= '0')
      c++;
    for (c += *c == ' '; *c >= '0'; c++)
      waited = 10 * waited + (*c - '0');
  }
  polybuild_file_close(file);
  return waited * 1e-9;
}
/* the longest that one of so many threads has waited since it was asked last */
POLYBUILD_HELPER double polybuild_longest_wait(int threads)
{
  double longest = 0;
#pragma omp parallel num_threads(threads) reduction(max : longest)
  {
    double waited = polybuild_wait(), since = waited - polybuild_waited;
    polybuild_waited = waited;
    longest = since > longest ? since : longest;
  }
  return longest;
}
/* how many threads to start: fewer for a while where others take the processors away from them */
POLYBUILD_NOINLINE int polybuild_team(void)
{
  int all = omp_get_max_threads(), level = omp_get_active_level(), before, disturbed, often;
  double now, passed, waited;
  long usage[36] = {0}, preempted; /* a struct rusage: the last of 18 counts involuntary switches */
  if (all < 2 || level > 0)
    return level < omp_get_max_active_levels() ? all : 1;
  now = omp_get_wtime();
  passed = now - polybuild_looked;
  if (polybuild_limit < 1 || polybuild_limit > all)
    polybuild_limit = all;
  if (passed < 0.01 || polybuild_usage(0, usage) != 0)
    return polybuild_limit;
  before = polybuild_limit;
  preempted = usage[17] - polybuild_preempted;
  often = preempted > 1 && (double)preempted > 50 * passed;
  waited = polybuild_longest_wait(often ? polybuild_limit : 1);
  disturbed = waited > 0.35 * passed && polybuild_looked > 0;
  polybuild_disturbed = disturbed ? polybuild_disturbed + 1 : 0;
  if (polybuild_disturbed > 1) {
    polybuild_limit -= polybuild_limit / 2;
    polybuild_pause = now < polybuild_until + 4 * polybuild_pause ? 2 * polybuild_pause : 0.1;
    polybuild_pause = polybuild_pause < 1.6 ? polybuild_pause : 1.6;
    polybuild_until = now + polybuild_pause;
  } else if (!disturbed && now >= polybuild_until && polybuild_limit < all) {
    polybuild_limit = polybuild_limit < all / 2 ? 2 * polybuild_limit : all;
    polybuild_disturbed = 1; /* these are on trial: once is enough to take them back */
  }
  if ((before < all) != (polybuild_limit < all) && polybuild_variable("POLYBUILD_VERBOSE"))
    polybuild_say(2, "polybuild: %d of %d threads%s\n", polybuild_limit, all,
                  polybuild_limit < all ? ", as other work takes the processors" : " again");
  polybuild_looked = now;
  polybuild_preempted = usage[17];
  return polybuild_limit;
}
#else
#define polybuild_team() omp_get_max_threads()
#endif
#endif
#ifndef _OPENMP
#define polybuild_team_for(work, share) 1
#elif !defined POLYBUILD_TEAM_FOR
#define POLYBUILD_TEAM_FOR
/* how many threads pay where each should have that `share` of the work */
POLYBUILD_HELPER int polybuild_team_for(double work, double share)
{
  int all;
  if (work < 2 * share)
    return 1;
  all = polybuild_team();
  return work < share * all ? (int)(work / share) : all;
}
#endif
#line 1 "sparse.c"
#include <stdio.h>

enum { ROWS = 500, WIDTH = 7 };

/* A sparse matrix, row by row, times a vector. */
static void multiply(int n, const int *restrict row, const int *restrict column, const double *restrict value,
                     const double *restrict x, double *restrict y)
{
{ /* polybuild: lines 9 to 16, the new order */
#line 9
  const long long pb_n = n;
#line 9
  if (POLYBUILD_LINE((double)pb_n * 20.0 >= 12000 /* line 9: less work is not worth threads */
      && polybuild_team() > 1 /* line 9: one thread gains nothing */)) {
    /* threads from 12000 instances on */
#line 10
    POLYBUILD_OMP(parallel for num_threads(polybuild_team_for((double)pb_n * 20.0, 6000)))
#line 10
    for (long long i = 0; i < pb_n; i++) {
      double sum_1;
#line 11
      sum_1 = 0;
      for (long long k = row[i]; k < row[i + 1]; k++)
        sum_1 += value[k] * x[column[k]];
      y[i] = sum_1;
#line 10
    }
#line 9
  } else { /* the original loops */
#line 10 "sparse.c"
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int k = row[i]; k < row[i + 1]; k++)
      sum += value[k] * x[column[k]];
    y[i] = sum;
  }
  } }
#line 17 "sparse.c"
}

int main(void)
{
  static int row[ROWS + 1], column[ROWS * WIDTH];
  static double value[ROWS * WIDTH], x[ROWS], y[ROWS];
  double sum = 0;
  for (int i = 0; i < ROWS; i++)
    row[i + 1] = row[i] + i % WIDTH, x[i] = i % 5 - 1;
  for (int k = 0; k < row[ROWS]; k++)
    column[k] = k * 31 % ROWS, value[k] = k % 9;
  multiply(ROWS, row, column, value, x, y);
  for (int i = 0; i < ROWS; i++)
    sum += (i + 1) * y[i];
  printf("%.17g\n", sum);
  return 0;
}
