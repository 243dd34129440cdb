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
#ifndef POLYBUILD_D2
#define POLYBUILD_D2(x) (*(polybuild_double2 *)&(x))
typedef double polybuild_double2 __attribute__((vector_size(16), aligned(8), may_alias));
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
#line 1 "product.c"
#include <stdio.h>

/* Two matrices into a third. */
static void product(int n, double C[restrict n][n], double A[restrict n][n], double B[restrict n][n])
{
{ /* polybuild: lines 6 to 13, the new order */
#line 6
  const long long pb_n = n;
#line 6
  if (POLYBUILD_CHANCE(1.0 / 64, POLYBUILD_LINE((((double)pb_n * (double)pb_n + (double)pb_n * (double)pb_n * (double)pb_n >= 1000 && pb_n >=
          6)
          || (((double)pb_n * (double)pb_n >= 41000 || (double)pb_n * (double)pb_n * (double)pb_n >=
          66000) && polybuild_team() > 1)) /* line 6: less work gains on several threads alone */
      && pb_n >= 1 /* line 9: the extents of 'C' must be positive */))) {
    /* tiles of 78 x 408 x 4 iterations; threads from 41000 or 66000 instances on */
    {
#line 7
      const int team = polybuild_team_for((double)pb_n * (double)pb_n, 20500);
#line 7
      if (team > 1) {
#line 7
        POLYBUILD_OMP(parallel for num_threads(team)) for (long long i = 0; i < pb_n; i++)
          POLYBUILD_SIMD for (long long j = 0; j < pb_n; j++)
            C[i][j] = 0;
#line 7
      } else {
#line 7
        for (long long i = 0; i < pb_n; i++)
          POLYBUILD_SIMD for (long long j = 0; j < pb_n; j++)
            C[i][j] = 0;
#line 7
      } }
    {
#line 7
      const int team = polybuild_team_for((double)pb_n * (double)pb_n * (double)pb_n, 33000);
#line 7
      if (team > 1) {
#line 7
        POLYBUILD_OMP(parallel for schedule(dynamic) num_threads(team))
#line 7
        for (long long tile_i = 0; tile_i <= (pb_n - 1) / 78; tile_i++)
#line 10
          for (long long tile_k = 0; tile_k <= (pb_n - 1) / 408; tile_k++) {
            double packed_A[13][408][6] __attribute__((aligned(64))); /* a tile of A, in the order of its use */
#line 11
            POLYBUILD_LINE(
            for (long long c2 = 13 * tile_i; c2 <= polybuild_min(13 * tile_i + 12, pb_n / 6 - 1); c2++)
              for (long long c3 = 408 * tile_k; c3 <= polybuild_min(pb_n - 1, 408 * tile_k + 407); c3++)
                for (long long c4 = 6 * c2; c4 <= 6 * c2 + 5; c4++)
                  packed_A[c2 - 13 * tile_i][c3 - 408 * tile_k][c4 - 6 * c2] = A[c4][c3];)
#line 8
            for (long long tile_j = 0; tile_j <= (pb_n - 1) / 4; tile_j++) {
              double packed_B[408][4] __attribute__((aligned(64))); /* a tile of B, in the order of its use */
#line 11
              POLYBUILD_LINE(
              if (pb_n >= 78 * tile_i + 6 && pb_n >= 4 * tile_j + 4)
                for (long long c3 = 408 * tile_k; c3 <= polybuild_min(pb_n - 1, 408 * tile_k + 407); c3++)
                  for (long long c4 = 4 * tile_j; c4 <= 4 * tile_j + 3; c4++)
                    packed_B[c3 - 408 * tile_k][c4 - 4 * tile_j] = B[c3][c4];)
#line 7
              const long long last_tile_i1 = polybuild_min(13 * tile_i + 12, (pb_n - 1) / 6);
#line 7
              for (long long tile_i1 = 13 * tile_i; tile_i1 <= last_tile_i1; tile_i1++) {
#line 11
                if (pb_n >= 4 * tile_j + 4 && pb_n >= 6 * tile_i1 + 6) {
#line 11
                  POLYBUILD_LINE(
                  const long long top = 6 * tile_i1, left = 4 * tile_j;
                  polybuild_double2 /* 6 x 2 vectors of C in registers */
                      acc_0_0 = POLYBUILD_D2(C[top][left]), acc_0_1 = POLYBUILD_D2(C[top][left + 2]),
                      acc_1_0 = POLYBUILD_D2(C[top + 1][left]), acc_1_1 = POLYBUILD_D2(C[top + 1][left + 2]),
                      acc_2_0 = POLYBUILD_D2(C[top + 2][left]), acc_2_1 = POLYBUILD_D2(C[top + 2][left + 2]),
                      acc_3_0 = POLYBUILD_D2(C[top + 3][left]), acc_3_1 = POLYBUILD_D2(C[top + 3][left + 2]),
                      acc_4_0 = POLYBUILD_D2(C[top + 4][left]), acc_4_1 = POLYBUILD_D2(C[top + 4][left + 2]),
                      acc_5_0 = POLYBUILD_D2(C[top + 5][left]), acc_5_1 = POLYBUILD_D2(C[top + 5][left + 2]);)
#line 10
                  for (long long k = 408 * tile_k; k <= polybuild_min(pb_n - 1, 408 * tile_k + 407); k++) {
                    POLYBUILD_LINE(
                    const polybuild_double2 *row_B = (const polybuild_double2 *)packed_B[k - 408 * tile_k];
                    const double *row_A = packed_A[tile_i1 - 13 * tile_i][k - 408 * tile_k];
                    acc_0_0 += row_A[0] * row_B[0]; acc_0_1 += row_A[0] * row_B[1];
                    acc_1_0 += row_A[1] * row_B[0]; acc_1_1 += row_A[1] * row_B[1];
                    acc_2_0 += row_A[2] * row_B[0]; acc_2_1 += row_A[2] * row_B[1];
                    acc_3_0 += row_A[3] * row_B[0]; acc_3_1 += row_A[3] * row_B[1];
                    acc_4_0 += row_A[4] * row_B[0]; acc_4_1 += row_A[4] * row_B[1];
                    acc_5_0 += row_A[5] * row_B[0]; acc_5_1 += row_A[5] * row_B[1];)
#line 10
                  }
                  POLYBUILD_LINE(
                  POLYBUILD_D2(C[top][left]) = acc_0_0; POLYBUILD_D2(C[top][left + 2]) = acc_0_1;
                  POLYBUILD_D2(C[top + 1][left]) = acc_1_0; POLYBUILD_D2(C[top + 1][left + 2]) = acc_1_1;
                  POLYBUILD_D2(C[top + 2][left]) = acc_2_0; POLYBUILD_D2(C[top + 2][left + 2]) = acc_2_1;
                  POLYBUILD_D2(C[top + 3][left]) = acc_3_0; POLYBUILD_D2(C[top + 3][left + 2]) = acc_3_1;
                  POLYBUILD_D2(C[top + 4][left]) = acc_4_0; POLYBUILD_D2(C[top + 4][left + 2]) = acc_4_1;
                  POLYBUILD_D2(C[top + 5][left]) = acc_5_0; POLYBUILD_D2(C[top + 5][left + 2]) = acc_5_1;)
#line 11
                } else {
                  { /* a partial tile as a full one: rows and lanes that it lacks repeat the last it has */
#line 11
                    POLYBUILD_LINE(
                    const long long first_i = 6 * tile_i1;
                    const long long last_i = polybuild_min(pb_n - 1, 6 * tile_i1 + 5);
                    const long long first_k = 408 * tile_k;
                    const long long last_k = polybuild_min(pb_n - 1, 408 * tile_k + 407);
                    const long long first_j = 4 * tile_j;
                    const long long last_j = polybuild_min(pb_n - 1, 4 * tile_j + 3);
                    if (first_i <= last_i && first_k <= last_k && first_j <= last_j) {
                      double partial_C[6][4] __attribute__((aligned(64)));
                      for (long long row = 0; row < 6; row++)
                        for (long long lane = 0; lane < 4; lane++) {
                          const long long i = polybuild_min(first_i + row, last_i);
                          const long long j = polybuild_min(first_j + lane, last_j);
                          partial_C[row][lane] = C[i][j];
                        }
                      double partial_B[408][4] __attribute__((aligned(64)));
                      for (long long k = first_k; k <= last_k; k++)
                        for (long long lane = 0; lane < 4; lane++) {
                          const long long j = polybuild_min(first_j + lane, last_j);
                          partial_B[k - first_k][lane] = B[k][j];
                        }
                      const long long i_0 = first_i, i_1 = polybuild_min(first_i + 1, last_i), i_2 = polybuild_min(first_i + 2, last_i),
                      i_3 = polybuild_min(first_i + 3, last_i), i_4 = polybuild_min(first_i + 4, last_i), i_5 = polybuild_min(first_i + 5, last_i);
                      polybuild_double2
                          acc_0_0 = POLYBUILD_D2(partial_C[0][0]), acc_0_1 = POLYBUILD_D2(partial_C[0][2]),
                          acc_1_0 = POLYBUILD_D2(partial_C[1][0]), acc_1_1 = POLYBUILD_D2(partial_C[1][2]),
                          acc_2_0 = POLYBUILD_D2(partial_C[2][0]), acc_2_1 = POLYBUILD_D2(partial_C[2][2]),
                          acc_3_0 = POLYBUILD_D2(partial_C[3][0]), acc_3_1 = POLYBUILD_D2(partial_C[3][2]),
                          acc_4_0 = POLYBUILD_D2(partial_C[4][0]), acc_4_1 = POLYBUILD_D2(partial_C[4][2]),
                          acc_5_0 = POLYBUILD_D2(partial_C[5][0]), acc_5_1 = POLYBUILD_D2(partial_C[5][2]);
                      for (long long k = first_k; k <= last_k; k++) {
                        const polybuild_double2 *row_B = (const polybuild_double2 *)partial_B[k - first_k];
                        acc_0_0 += A[i_0][k] * row_B[0]; acc_0_1 += A[i_0][k] * row_B[1];
                        acc_1_0 += A[i_1][k] * row_B[0]; acc_1_1 += A[i_1][k] * row_B[1];
                        acc_2_0 += A[i_2][k] * row_B[0]; acc_2_1 += A[i_2][k] * row_B[1];
                        acc_3_0 += A[i_3][k] * row_B[0]; acc_3_1 += A[i_3][k] * row_B[1];
                        acc_4_0 += A[i_4][k] * row_B[0]; acc_4_1 += A[i_4][k] * row_B[1];
                        acc_5_0 += A[i_5][k] * row_B[0]; acc_5_1 += A[i_5][k] * row_B[1];
                      }
                      POLYBUILD_D2(partial_C[0][0]) = acc_0_0; POLYBUILD_D2(partial_C[0][2]) = acc_0_1;
                      POLYBUILD_D2(partial_C[1][0]) = acc_1_0; POLYBUILD_D2(partial_C[1][2]) = acc_1_1;
                      POLYBUILD_D2(partial_C[2][0]) = acc_2_0; POLYBUILD_D2(partial_C[2][2]) = acc_2_1;
                      POLYBUILD_D2(partial_C[3][0]) = acc_3_0; POLYBUILD_D2(partial_C[3][2]) = acc_3_1;
                      POLYBUILD_D2(partial_C[4][0]) = acc_4_0; POLYBUILD_D2(partial_C[4][2]) = acc_4_1;
                      POLYBUILD_D2(partial_C[5][0]) = acc_5_0; POLYBUILD_D2(partial_C[5][2]) = acc_5_1;
                      for (long long i = first_i; i <= last_i; i++)
                        for (long long j = first_j; j <= last_j; j++)
                          C[i][j] = partial_C[i - first_i][j - first_j];
                    })
#line 11
                  } } } } }
#line 11
      } else {
#line 7
        for (long long tile_i = 0; tile_i <= (pb_n - 1) / 78; tile_i++)
#line 10
          for (long long tile_k = 0; tile_k <= (pb_n - 1) / 408; tile_k++) {
            double packed_A[13][408][6] __attribute__((aligned(64))); /* a tile of A, in the order of its use */
#line 11
            POLYBUILD_LINE(
            for (long long c2 = 13 * tile_i; c2 <= polybuild_min(13 * tile_i + 12, pb_n / 6 - 1); c2++)
              for (long long c3 = 408 * tile_k; c3 <= polybuild_min(pb_n - 1, 408 * tile_k + 407); c3++)
                for (long long c4 = 6 * c2; c4 <= 6 * c2 + 5; c4++)
                  packed_A[c2 - 13 * tile_i][c3 - 408 * tile_k][c4 - 6 * c2] = A[c4][c3];)
#line 8
            for (long long tile_j = 0; tile_j <= (pb_n - 1) / 4; tile_j++) {
              double packed_B[408][4] __attribute__((aligned(64))); /* a tile of B, in the order of its use */
#line 11
              POLYBUILD_LINE(
              if (pb_n >= 78 * tile_i + 6 && pb_n >= 4 * tile_j + 4)
                for (long long c3 = 408 * tile_k; c3 <= polybuild_min(pb_n - 1, 408 * tile_k + 407); c3++)
                  for (long long c4 = 4 * tile_j; c4 <= 4 * tile_j + 3; c4++)
                    packed_B[c3 - 408 * tile_k][c4 - 4 * tile_j] = B[c3][c4];)
#line 7
              const long long last_tile_i1 = polybuild_min(13 * tile_i + 12, (pb_n - 1) / 6);
#line 7
              for (long long tile_i1 = 13 * tile_i; tile_i1 <= last_tile_i1; tile_i1++) {
#line 11
                if (pb_n >= 4 * tile_j + 4 && pb_n >= 6 * tile_i1 + 6) {
#line 11
                  POLYBUILD_LINE(
                  const long long top = 6 * tile_i1, left = 4 * tile_j;
                  polybuild_double2 /* 6 x 2 vectors of C in registers */
                      acc_0_0 = POLYBUILD_D2(C[top][left]), acc_0_1 = POLYBUILD_D2(C[top][left + 2]),
                      acc_1_0 = POLYBUILD_D2(C[top + 1][left]), acc_1_1 = POLYBUILD_D2(C[top + 1][left + 2]),
                      acc_2_0 = POLYBUILD_D2(C[top + 2][left]), acc_2_1 = POLYBUILD_D2(C[top + 2][left + 2]),
                      acc_3_0 = POLYBUILD_D2(C[top + 3][left]), acc_3_1 = POLYBUILD_D2(C[top + 3][left + 2]),
                      acc_4_0 = POLYBUILD_D2(C[top + 4][left]), acc_4_1 = POLYBUILD_D2(C[top + 4][left + 2]),
                      acc_5_0 = POLYBUILD_D2(C[top + 5][left]), acc_5_1 = POLYBUILD_D2(C[top + 5][left + 2]);)
#line 10
                  for (long long k = 408 * tile_k; k <= polybuild_min(pb_n - 1, 408 * tile_k + 407); k++) {
                    POLYBUILD_LINE(
                    const polybuild_double2 *row_B = (const polybuild_double2 *)packed_B[k - 408 * tile_k];
                    const double *row_A = packed_A[tile_i1 - 13 * tile_i][k - 408 * tile_k];
                    acc_0_0 += row_A[0] * row_B[0]; acc_0_1 += row_A[0] * row_B[1];
                    acc_1_0 += row_A[1] * row_B[0]; acc_1_1 += row_A[1] * row_B[1];
                    acc_2_0 += row_A[2] * row_B[0]; acc_2_1 += row_A[2] * row_B[1];
                    acc_3_0 += row_A[3] * row_B[0]; acc_3_1 += row_A[3] * row_B[1];
                    acc_4_0 += row_A[4] * row_B[0]; acc_4_1 += row_A[4] * row_B[1];
                    acc_5_0 += row_A[5] * row_B[0]; acc_5_1 += row_A[5] * row_B[1];)
#line 10
                  }
                  POLYBUILD_LINE(
                  POLYBUILD_D2(C[top][left]) = acc_0_0; POLYBUILD_D2(C[top][left + 2]) = acc_0_1;
                  POLYBUILD_D2(C[top + 1][left]) = acc_1_0; POLYBUILD_D2(C[top + 1][left + 2]) = acc_1_1;
                  POLYBUILD_D2(C[top + 2][left]) = acc_2_0; POLYBUILD_D2(C[top + 2][left + 2]) = acc_2_1;
                  POLYBUILD_D2(C[top + 3][left]) = acc_3_0; POLYBUILD_D2(C[top + 3][left + 2]) = acc_3_1;
                  POLYBUILD_D2(C[top + 4][left]) = acc_4_0; POLYBUILD_D2(C[top + 4][left + 2]) = acc_4_1;
                  POLYBUILD_D2(C[top + 5][left]) = acc_5_0; POLYBUILD_D2(C[top + 5][left + 2]) = acc_5_1;)
#line 11
                } else {
                  { /* a partial tile as a full one: rows and lanes that it lacks repeat the last it has */
#line 11
                    POLYBUILD_LINE(
                    const long long first_i = 6 * tile_i1;
                    const long long last_i = polybuild_min(pb_n - 1, 6 * tile_i1 + 5);
                    const long long first_k = 408 * tile_k;
                    const long long last_k = polybuild_min(pb_n - 1, 408 * tile_k + 407);
                    const long long first_j = 4 * tile_j;
                    const long long last_j = polybuild_min(pb_n - 1, 4 * tile_j + 3);
                    if (first_i <= last_i && first_k <= last_k && first_j <= last_j) {
                      double partial_C[6][4] __attribute__((aligned(64)));
                      for (long long row = 0; row < 6; row++)
                        for (long long lane = 0; lane < 4; lane++) {
                          const long long i = polybuild_min(first_i + row, last_i);
                          const long long j = polybuild_min(first_j + lane, last_j);
                          partial_C[row][lane] = C[i][j];
                        }
                      double partial_B[408][4] __attribute__((aligned(64)));
                      for (long long k = first_k; k <= last_k; k++)
                        for (long long lane = 0; lane < 4; lane++) {
                          const long long j = polybuild_min(first_j + lane, last_j);
                          partial_B[k - first_k][lane] = B[k][j];
                        }
                      const long long i_0 = first_i, i_1 = polybuild_min(first_i + 1, last_i), i_2 = polybuild_min(first_i + 2, last_i),
                      i_3 = polybuild_min(first_i + 3, last_i), i_4 = polybuild_min(first_i + 4, last_i), i_5 = polybuild_min(first_i + 5, last_i);
                      polybuild_double2
                          acc_0_0 = POLYBUILD_D2(partial_C[0][0]), acc_0_1 = POLYBUILD_D2(partial_C[0][2]),
                          acc_1_0 = POLYBUILD_D2(partial_C[1][0]), acc_1_1 = POLYBUILD_D2(partial_C[1][2]),
                          acc_2_0 = POLYBUILD_D2(partial_C[2][0]), acc_2_1 = POLYBUILD_D2(partial_C[2][2]),
                          acc_3_0 = POLYBUILD_D2(partial_C[3][0]), acc_3_1 = POLYBUILD_D2(partial_C[3][2]),
                          acc_4_0 = POLYBUILD_D2(partial_C[4][0]), acc_4_1 = POLYBUILD_D2(partial_C[4][2]),
                          acc_5_0 = POLYBUILD_D2(partial_C[5][0]), acc_5_1 = POLYBUILD_D2(partial_C[5][2]);
                      for (long long k = first_k; k <= last_k; k++) {
                        const polybuild_double2 *row_B = (const polybuild_double2 *)partial_B[k - first_k];
                        acc_0_0 += A[i_0][k] * row_B[0]; acc_0_1 += A[i_0][k] * row_B[1];
                        acc_1_0 += A[i_1][k] * row_B[0]; acc_1_1 += A[i_1][k] * row_B[1];
                        acc_2_0 += A[i_2][k] * row_B[0]; acc_2_1 += A[i_2][k] * row_B[1];
                        acc_3_0 += A[i_3][k] * row_B[0]; acc_3_1 += A[i_3][k] * row_B[1];
                        acc_4_0 += A[i_4][k] * row_B[0]; acc_4_1 += A[i_4][k] * row_B[1];
                        acc_5_0 += A[i_5][k] * row_B[0]; acc_5_1 += A[i_5][k] * row_B[1];
                      }
                      POLYBUILD_D2(partial_C[0][0]) = acc_0_0; POLYBUILD_D2(partial_C[0][2]) = acc_0_1;
                      POLYBUILD_D2(partial_C[1][0]) = acc_1_0; POLYBUILD_D2(partial_C[1][2]) = acc_1_1;
                      POLYBUILD_D2(partial_C[2][0]) = acc_2_0; POLYBUILD_D2(partial_C[2][2]) = acc_2_1;
                      POLYBUILD_D2(partial_C[3][0]) = acc_3_0; POLYBUILD_D2(partial_C[3][2]) = acc_3_1;
                      POLYBUILD_D2(partial_C[4][0]) = acc_4_0; POLYBUILD_D2(partial_C[4][2]) = acc_4_1;
                      POLYBUILD_D2(partial_C[5][0]) = acc_5_0; POLYBUILD_D2(partial_C[5][2]) = acc_5_1;
                      for (long long i = first_i; i <= last_i; i++)
                        for (long long j = first_j; j <= last_j; j++)
                          C[i][j] = partial_C[i - first_i][j - first_j];
                    })
#line 11
                  } } } } } } }
#line 7
  } else { /* the original loops */
#line 7 "product.c"
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      C[i][j] = 0;
      for (int k = 0; k < n; k++)
        C[i][j] += A[i][k] * B[k][j];
    }
  } }
#line 14 "product.c"
}

int main(void)
{
  static double C[70][70], A[70][70], B[70][70];
  double trace = 0;
  for (int i = 0; i < 70; i++)
    for (int j = 0; j < 70; j++)
      A[i][j] = i - j, B[i][j] = (i * j) % 13;
  product(70, C, A, B);
  for (int i = 0; i < 70; i++)
    trace += (i + 1) * C[i][(i * 3) % 70];
  printf("%.17g\n", trace);
  return 0;
}
