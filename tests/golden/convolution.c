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
#ifdef _OPENMP
#define POLYBUILD_TEXT(...) #__VA_ARGS__
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#endif
#define POLYBUILD_OMP(...) _Pragma(POLYBUILD_TEXT(omp __VA_ARGS__))
#else
#define POLYBUILD_OMP(...)
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
#ifdef _OPENMP
extern int omp_get_max_threads(void);
#define polybuild_threads() omp_get_max_threads()
#else
#define polybuild_threads() 1
#endif
#line 1 "convolution.c"
#include <stdio.h>

enum { N = 150 };

/* An image and a small kernel. */
static void convolve(const float in[restrict N + 2][N + 2], const float weight[restrict 3][3],
                     float out[restrict N][N])
{
{ /* polybuild: lines 9 to 18, the new order */
#line 9
  if (polybuild_threads() > 1 /* line 9: one thread gains nothing */) {
    POLYBUILD_OMP(parallel for num_threads(polybuild_team())) for (long long i = 0; i <= 149; i++)
      POLYBUILD_OMP(simd) for (long long j = 0; j <= 149; j++) {
        float sum_1;
#line 12
        sum_1 = 0;
#line 15
        sum_1 += in[i][j] * weight[0][0]; sum_1 += in[i][j + 1] * weight[0][1]; sum_1 += in[i][j + 2] * weight[0][2];
#line 15
        sum_1 += in[i + 1][j] * weight[1][0]; sum_1 += in[i + 1][j + 1] * weight[1][1];
#line 15
        sum_1 += in[i + 1][j + 2] * weight[1][2]; sum_1 += in[i + 2][j] * weight[2][0];
#line 15
        sum_1 += in[i + 2][j + 1] * weight[2][1]; sum_1 += in[i + 2][j + 2] * weight[2][2];
        out[i][j] = sum_1;
#line 11
      }
#line 9
  } else { /* the original loops */
#line 10 "convolution.c"
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      float sum = 0;
      for (int k = 0; k < 3; k++)
        for (int l = 0; l < 3; l++)
          sum += in[i + k][j + l] * weight[k][l];
      out[i][j] = sum;
    }
  } }
#line 19 "convolution.c"
}

int main(void)
{
  static float in[N + 2][N + 2], weight[3][3], out[N][N];
  double sum = 0;
  for (int i = 0; i < N + 2; i++)
    for (int j = 0; j < N + 2; j++)
      in[i][j] = (float)(i * j % 11);
  for (int k = 0; k < 3; k++)
    for (int l = 0; l < 3; l++)
      weight[k][l] = (float)(k - l + 1);
  convolve((const float(*)[N + 2])in, (const float(*)[3])weight, out);
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      sum += (i + 2 * j) * out[i][j];
  printf("%.17g\n", sum);
  return 0;
}
