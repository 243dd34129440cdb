#line 1 "polybuild_helpers.h"
#define POLYBUILD_LINE(...) __VA_ARGS__
#if defined __clang__ ? __clang_major__ >= 11 : __GNUC__ >= 9
#define POLYBUILD_CHANCE(chance, condition) \
  __builtin_expect_with_probability( \
      __extension__({ int polybuild_holds = !!(condition); polybuild_holds; }), 1, chance)
#else
#define POLYBUILD_CHANCE(chance, condition) (condition)
#endif
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
#ifndef POLYBUILD_FLOORDIV
#define POLYBUILD_FLOORDIV
POLYBUILD_HELPER long long polybuild_floordiv(long long a, long long b) { return a < 0 ? -((b - 1 - a) / b) : a / b; }
#endif
#ifndef POLYBUILD_D2
#define POLYBUILD_D2(x) (*(polybuild_double2 *)&(x))
typedef double polybuild_double2 __attribute__((vector_size(16), aligned(8), may_alias));
#endif
#ifndef POLYBUILD_L2
#define POLYBUILD_L2(x) (*(polybuild_long2 *)&(x))
typedef long long polybuild_long2 __attribute__((vector_size(16), aligned(8), may_alias));
#endif
#ifndef POLYBUILD_ALL_DOUBLE2
#define POLYBUILD_ALL_DOUBLE2
POLYBUILD_HELPER __attribute__((always_inline)) polybuild_double2 polybuild_all_double2(double x)
{
  return (polybuild_double2){x, x};
}
#endif
#ifndef POLYBUILD_SELECT_DOUBLE2
#define POLYBUILD_SELECT_DOUBLE2
POLYBUILD_HELPER __attribute__((always_inline)) polybuild_double2 polybuild_select_double2(polybuild_long2 m, polybuild_double2 a, polybuild_double2 b)
{
  return (polybuild_double2)((m & (polybuild_long2)a) | (~m & (polybuild_long2)b));
}
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
#line 1 "temporaries.c"
#include <stdio.h>

/* A temporary of the function, one of the loop, and a counter that is read afterwards. */
static int normalise(int n, int m, double *rows, const double *weights)
{
  double scale;
  int i;
{ /* polybuild: lines 8 to 17, the new order */
#line 8
  const long long pb_n = n; const long long pb_m = m;
#line 8
  if (POLYBUILD_CHANCE(1.0 / 512, POLYBUILD_LINE(((double)pb_n + (double)pb_n * (double)pb_m >= 14000 || ((double)pb_n * (double)pb_m >=
          25000 && polybuild_team() > 1)) /* line 8: less work gains on several threads alone */))) {
    /* tiles of 64 x 512 iterations; threads from 25000 instances on */
#line 9
    POLYBUILD_OMP(parallel for num_threads(polybuild_team_for((double)pb_n * (double)pb_m, 12500)))
#line 9
    for (long long tile_i = 0; tile_i <= polybuild_floordiv(pb_n - 1, 256); tile_i++) {
#line 9
      double scale_expanded_buffer[256];
#line 9
      double sum_1_expanded_buffer[256];
#line 9
      POLYBUILD_SIMD for (long long pb_i = 256 * tile_i; pb_i <= polybuild_min(pb_n - 1, 256 * tile_i + 255); pb_i++)
        sum_1_expanded_buffer[pb_i - 256 * tile_i] = 0;
      {
#line 9
        const long long last_pb_i = polybuild_min(pb_n - 1, 256 * tile_i + 255);
#line 9
        long long pb_i = 256 * tile_i;
#line 9
        for (; pb_i <= last_pb_i - 7; pb_i += 8)
#line 11
          POLYBUILD_LINE(
          for (long long j = 0; j < pb_m; j++) {
            POLYBUILD_D2(sum_1_expanded_buffer[pb_i - 256 * tile_i]) += (polybuild_double2){rows[pb_i * pb_m + j],
            rows[(pb_i + 1) * pb_m + j]} * weights[j];
            POLYBUILD_D2(sum_1_expanded_buffer[(pb_i + 2) - 256 * tile_i]) += (polybuild_double2){rows[(pb_i + 2) * pb_m + j],
            rows[(pb_i + 3) * pb_m + j]} * weights[j];
            POLYBUILD_D2(sum_1_expanded_buffer[(pb_i + 4) - 256 * tile_i]) += (polybuild_double2){rows[(pb_i + 4) * pb_m + j],
            rows[(pb_i + 5) * pb_m + j]} * weights[j];
            POLYBUILD_D2(sum_1_expanded_buffer[(pb_i + 6) - 256 * tile_i]) += (polybuild_double2){rows[(pb_i + 6) * pb_m + j],
            rows[(pb_i + 7) * pb_m + j]} * weights[j];
          })
#line 9
        for (; pb_i <= last_pb_i - 1; pb_i += 2)
#line 11
          POLYBUILD_LINE(
          for (long long j = 0; j < pb_m; j++) {
            POLYBUILD_D2(sum_1_expanded_buffer[pb_i - 256 * tile_i]) += (polybuild_double2){rows[pb_i * pb_m + j],
            rows[(pb_i + 1) * pb_m + j]} * weights[j];
          })
#line 9
        for (; pb_i <= last_pb_i; pb_i++)
#line 11
          for (long long j = 0; j < pb_m; j++)
            sum_1_expanded_buffer[pb_i - 256 * tile_i] += rows[pb_i * pb_m + j] * weights[j];
#line 9
      }
      {
#line 9
        POLYBUILD_LINE(
        const long long last_pb_i = polybuild_min(pb_n - 1, 256 * tile_i + 255);
        long long pb_i = 256 * tile_i;
        for (; pb_i <= last_pb_i - 1; pb_i += 2) {
          POLYBUILD_D2(scale_expanded_buffer[pb_i - 256 * tile_i]) =
          polybuild_select_double2(((polybuild_long2)(*(const polybuild_double2 *)&sum_1_expanded_buffer[pb_i - 256 * tile_i] > (double)(0))),
          (double)(1) / *(const polybuild_double2 *)&sum_1_expanded_buffer[pb_i - 256 * tile_i], polybuild_all_double2(0));
        })
#line 9
        for (; pb_i <= last_pb_i; pb_i++)
#line 13
          scale_expanded_buffer[pb_i - 256 * tile_i] = (sum_1_expanded_buffer[pb_i - 256 * tile_i] > 0) ? (1 / sum_1_expanded_buffer[pb_i - 256 * tile_i]) : (0);
#line 9
      }
#line 9
      for (long long tile_i1 = 4 * tile_i; tile_i1 <= polybuild_min(4 * tile_i + 3, (pb_n - 1) / 64); tile_i1++)
#line 14
        for (long long tile_j = 0; tile_j <= polybuild_floordiv(pb_m - 1, 512); tile_j++)
#line 9
          for (long long pb_i = 64 * tile_i1; pb_i <= polybuild_min(pb_n - 1, 64 * tile_i1 + 63); pb_i++)
#line 14
            POLYBUILD_SIMD for (long long j = 512 * tile_j; j <= polybuild_min(pb_m - 1, 512 * tile_j + 511); j++)
              rows[pb_i * pb_m + j] *= scale_expanded_buffer[pb_i - 256 * tile_i];
#line 9
    }
#line 17
    i = (int)(pb_n <= -1 ? 0 : pb_n);
#line 8
  } else { /* the original loops */
#line 9 "temporaries.c"
  for (i = 0; i < n; i++) {
    double sum = 0;
    for (int j = 0; j < m; j++)
      sum += rows[i * m + j] * weights[j];
    scale = sum > 0 ? 1 / sum : 0;
    for (int j = 0; j < m; j++)
      rows[i * m + j] *= scale;
  }
  } }
#line 18 "temporaries.c"
  return i;
}

int main(void)
{
  static double rows[50 * 31], weights[31];
  double sum = 0;
  for (int k = 0; k < 50 * 31; k++)
    rows[k] = (k * 7) % 23;
  for (int k = 0; k < 31; k++)
    weights[k] = k % 5 - 1;
  int last = normalise(50, 31, rows, weights);
  for (int k = 0; k < 50 * 31; k++)
    sum += (k % 9) * rows[k];
  printf("%d %.17g\n", last, sum);
  return 0;
}
