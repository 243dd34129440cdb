#line 1 "polybuild_helpers.h"
#define POLYBUILD_LINE(...) __VA_ARGS__
#ifndef POLYBUILD_HELPER
#ifdef __has_attribute
#if __has_attribute(no_profile_instrument_function)
#define POLYBUILD_HELPER static inline __attribute__((no_profile_instrument_function))
#endif
#endif
#ifndef POLYBUILD_HELPER
#define POLYBUILD_HELPER static inline
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
#if defined _OPENMP && !defined POLYBUILD_TEAM
#define POLYBUILD_TEAM
extern int omp_get_max_threads(void), omp_in_parallel(void);
#if defined __linux__ && defined __LP64__ && defined __GNUC__
extern double omp_get_wtime(void);
extern int polybuild_usage(int who, long *usage) __asm__("getrusage");
static double polybuild_looked, polybuild_until;
static long polybuild_preempted;
static int polybuild_limit;
#pragma omp threadprivate(polybuild_looked, polybuild_until, polybuild_preempted, polybuild_limit)
/* how many threads to start: fewer for a while where others take the processors away from them */
POLYBUILD_HELPER int polybuild_team(void)
{
  int all = omp_get_max_threads();
  double now, passed;
  long usage[36] = {0}, preempted; /* a struct rusage: the last of 18 counts involuntary switches */
  if (all < 2 || omp_in_parallel())
    return all;
  now = omp_get_wtime();
  passed = now - polybuild_looked;
  if (polybuild_limit < 1 || polybuild_limit > all)
    polybuild_limit = all;
  if (passed < 0.01 || now < polybuild_until || polybuild_usage(0, usage) != 0)
    return polybuild_limit;
  preempted = usage[17] - polybuild_preempted;
  if (polybuild_looked > 0 && preempted > 1 && (double)preempted > 50 * passed) {
    polybuild_limit -= polybuild_limit / 2;
    polybuild_until = now + 20 * (passed < 0.05 ? passed : 0.05);
  } else {
    polybuild_limit = polybuild_limit < all / 2 ? 2 * polybuild_limit : all;
  }
  polybuild_looked = now;
  polybuild_preempted = usage[17];
  return polybuild_limit;
}
#else
#define polybuild_team() omp_get_max_threads()
#endif
#endif
#line 1 "pipeline.c"
#include <stdio.h>

enum { N = 200 };

/* Blurred rows, then blurred columns, of an image: what is between them needs three rows at a time. */
static void blur(float image[N][N], float blurred[N][N])
{
  float rows[N][N];
{ /* polybuild: lines 9 to 16, the new order */
#line 9
  if (POLYBUILD_LINE(((const char *)(&image[199][199] + 1) <=
          (const char *)&blurred[1][1] || (const char *)(&blurred[198][198] + 1) <= (const char *)&image[0][0]) /* line 12: 'blurred' and 'image' must not overlap */)) {
    /* tiles of 64 x 16 iterations */
#line 11
    POLYBUILD_OMP(parallel for num_threads(polybuild_team())) for (long long tile_j = 0; tile_j <= 3; tile_j++) {
#line 10
      float rows_buffer[3][64];
#line 10
      for (long long tile_i = 0; tile_i <= 12; tile_i++)
#line 10
        for (long long i = 16 * tile_i; i <= polybuild_min(199, 16 * tile_i + 15); i++) {
          POLYBUILD_SIMD
#line 11
          for (long long j = polybuild_max(1, 64 * tile_j); j <= polybuild_min(198, 64 * tile_j + 63); j++) {
            rows_buffer[-((-i + 200) % 3) + 2][j - 64 * tile_j] = (image[i][j - 1] + image[i][j] + image[i][j + 1]) / 3;
#line 15
            if (i >= 2)
#line 15
              blurred[i - 1][j] = (rows_buffer[(i - 2) % 3][j - 64 * tile_j] + rows_buffer[(i - 1) % 3][j - 64 * tile_j] + rows_buffer[i % 3][j - 64 * tile_j]) / 3;
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
