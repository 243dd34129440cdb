#line 1 "polybuild_helpers.h"
#define POLYBUILD_LINE(...) __VA_ARGS__
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
  if (POLYBUILD_LINE((double)pb_n + (double)pb_n * (double)pb_m >= 1000 /* line 8: less work is not worth it */
      && (!(pb_m >= 1) || (const char *)(&rows[(pb_n - 1) * pb_m + pb_m - 1] + 1) <=
          (const char *)&weights[0] || (const char *)(&weights[pb_m - 1] + 1) <= (const char *)&rows[0]) /* line 12: 'rows' and 'weights' must not overlap */)) {
#line 9
    POLYBUILD_OMP(parallel for private(scale)) for (long long pb_i = 0; pb_i < pb_n; pb_i++) {
      double sum_1;
#line 10
      sum_1 = 0;
      for (long long j = 0; j < pb_m; j++)
        sum_1 += rows[pb_i * pb_m + j] * weights[j];
      scale = (sum_1 > 0) ? (1 / sum_1) : (0);
      POLYBUILD_SIMD for (long long j = 0; j < pb_m; j++)
        rows[pb_i * pb_m + j] *= scale;
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
