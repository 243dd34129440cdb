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
#line 1 "pipeline.c"
#include <stdio.h>

enum { N = 500 };

/* Blurred rows, then blurred columns, of an image: what is between them needs three rows at a time. */
static void blur(float image[N][N], float blurred[N][N])
{
  float rows[N][N];
{ /* polybuild: lines 9 to 16, the new order */
#line 9
  if (1) {
    /* tiles of 64 x 16 iterations; threads from 39000 instances on */
    POLYBUILD_OMP(parallel for num_threads(polybuild_team_for(500.0 * 498.0 + 498.0 * 498.0, 19500)))
#line 11
    for (long long tile_j = 0; tile_j <= 7; tile_j++) {
#line 10
      float rows_buffer[3][64];
#line 10
      for (long long tile_i = 0; tile_i <= 31; tile_i++)
#line 10
        for (long long i = 16 * tile_i; i <= polybuild_min(499, 16 * tile_i + 15); i++) {
          if (i >= 2) {
#line 11
            POLYBUILD_SIMD
#line 11
            for (long long j = polybuild_max(1, 64 * tile_j); j <= polybuild_min(498, 64 * tile_j + 63); j++) {
              rows_buffer[i % 3][j - 64 * tile_j] = (image[i][j - 1] + image[i][j] + image[i][j + 1]) / 3;
#line 15
              blurred[i - 1][j] = (rows_buffer[(i - 2) % 3][j - 64 * tile_j] + rows_buffer[(i - 1) % 3][j - 64 * tile_j] + rows_buffer[i % 3][j - 64 * tile_j]) / 3;
#line 11
            }
#line 11
          } else {
#line 11
            POLYBUILD_SIMD
#line 11
            for (long long j = polybuild_max(1, 64 * tile_j); j <= polybuild_min(498, 64 * tile_j + 63); j++)
              rows_buffer[i][j - 64 * tile_j] = (image[i][j - 1] + image[i][j] + image[i][j + 1]) / 3;
#line 11
          } } }
#line 9
  } else { /* the original loops */
#line 10 "pipeline.c"
  for (int i = 0; i < N; i++)
    for (int j = 1; j < N - 1; j++)
      rows[i][j] = (image[i][j - 1] + image[i][j] + image[i][j + 1]) / 3;
  for (int i = 1; i < N - 1; i++)
    for (int j = 1; j < N - 1; j++)
      blurred[i][j] = (rows[i - 1][j] + rows[i][j] + rows[i + 1][j]) / 3;
  } }
#line 17 "pipeline.c"
}

int main(void)
{
  static float image[N][N], blurred[N][N];
  double sum = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      image[i][j] = (float)(i * 7 + j * j % 23);
  blur(image, blurred);
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      sum += (i + 2 * j) * blurred[i][j];
  printf("%.17g\n", sum);
  return 0;
}
