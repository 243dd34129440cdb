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
#ifndef POLYBUILD_MIN
#define POLYBUILD_MIN
POLYBUILD_HELPER long long polybuild_min(long long a, long long b) { return a < b ? a : b; }
#endif
#ifndef POLYBUILD_MAX
#define POLYBUILD_MAX
POLYBUILD_HELPER long long polybuild_max(long long a, long long b) { return a > b ? a : b; }
#endif
#ifdef _OPENMP
#define POLYBUILD_TEXT(...) #__VA_ARGS__
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#endif
#define POLYBUILD_OMP(...) _Pragma(POLYBUILD_TEXT(omp __VA_ARGS__))
#define POLYBUILD_SIMD _Pragma("omp simd")
#elif defined __GNUC__ && !defined __clang__
#define POLYBUILD_OMP(...)
#define POLYBUILD_SIMD _Pragma("GCC ivdep")
#else
#define POLYBUILD_OMP(...)
#define POLYBUILD_SIMD
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
#line 1 "jacobi-2d.c"
#include <stdio.h>

enum { N = 300, STEPS = 50 };

static double a[N][N], b[N][N];

/* Jacobi's method on a square. */
static void relax(void)
{
{ /* polybuild: lines 10 to 19, the new order */
#line 10
  if (1) {
    /* tiles of 24 x 96 x 512 iterations; threads from 28000 instances on */
#line 11
    for (long long c0 = -1; c0 <= 4; c0++) {
#line 11
      POLYBUILD_OMP(parallel for num_threads(polybuild_team_for(24.0 * 298.0 * 298.0, 14000)))
#line 11
      for (long long c1 = (c0 + 1) / 2; c1 <= (c0 + 1) / 2 + 6; c1++) {
#line 11
        const long long last_t = polybuild_min(polybuild_min(49, 12 * c0 + 23), 24 * c0 - 24 * c1 + 172);
#line 11
        for (long long t = polybuild_max(polybuild_max(0, 12 * c0), 24 * c1 - 149); t <= last_t; t++) {
#line 13
          if (24 * c1 + t >= 24 * c0 + 1 && t >= 24 * c1 && 24 * c0 + 24 >= 24 * c1 + t)
#line 13
            POLYBUILD_SIMD for (long long j = 1; j <= 298; j++)
              b[1][j] = (a[1][j] + a[1][j - 1] + a[1][j + 1] + a[0][j] + a[2][j]) / 5;
#line 12
          const long long first_i = polybuild_max(polybuild_max(2, 48 * c1 - 48 * c0 + 2 * t - 47), 48 * c1 - 2 * t);
#line 12
          const long long end_i = 48 * c1 - 48 * c0 + 2 * t - 45;
#line 12
          for (long long i = first_i; i < end_i; i++)
            POLYBUILD_SIMD for (long long j = 1; j <= 298; j++)
              b[i][j] = (a[i][j] + a[i][j - 1] + a[i][j + 1] + a[i - 1][j] + a[i + 1][j]) / 5;
#line 12
          const long long first_i1 = polybuild_max(polybuild_max(2, 48 * c1 - 48 * c0 + 2 * t - 45), 48 * c1 - 2 * t);
#line 12
          const long long last_i = polybuild_min(polybuild_min(299, 48 * c1 - 48 * c0 + 2 * t + 2), 48 * c1 - 2 * t + 47);
#line 12
          for (long long i = first_i1; i <= last_i; i++) {
            if (48 * c1 + 2 * t >= 48 * c0 + i && i <= 298)
#line 13
              POLYBUILD_SIMD for (long long j = 1; j <= 298; j++)
                b[i][j] = (a[i][j] + a[i][j - 1] + a[i][j + 1] + a[i - 1][j] + a[i + 1][j]) / 5;
#line 16
            POLYBUILD_SIMD for (long long j = 1; j <= 298; j++)
              a[i - 1][j] = b[i - 1][j];
#line 12
          } } } }
#line 10
  } else { /* the original loops */
#line 11 "jacobi-2d.c"
  for (int t = 0; t < STEPS; t++) {
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        b[i][j] = (a[i][j] + a[i][j - 1] + a[i][j + 1] + a[i - 1][j] + a[i + 1][j]) / 5;
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        a[i][j] = b[i][j];
  }
  } }
#line 20 "jacobi-2d.c"
}

int main(void)
{
  double sum = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      a[i][j] = i * j % 17;
  relax();
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      sum += (i + 2 * j) * a[i][j];
  printf("%.17g\n", sum);
  return 0;
}
