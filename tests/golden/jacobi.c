#ifndef POLYBUILD_MIN
#define POLYBUILD_MIN
static inline long long polybuild_min(long long a, long long b) { return a < b ? a : b; }
#endif
#ifndef POLYBUILD_MAX
#define POLYBUILD_MAX
static inline long long polybuild_max(long long a, long long b) { return a > b ? a : b; }
#endif
#ifndef POLYBUILD_FLOORDIV
#define POLYBUILD_FLOORDIV
static inline long long polybuild_floordiv(long long a, long long b) { return a < 0 ? -((b - 1 - a) / b) : a / b; }
#endif
#ifdef _OPENMP
#define POLYBUILD_TEXT(...) #__VA_ARGS__
#define POLYBUILD_OMP(...) _Pragma(POLYBUILD_TEXT(omp __VA_ARGS__))
#else
#define POLYBUILD_OMP(...)
#endif
#if defined _OPENMP
#define POLYBUILD_SIMD _Pragma("omp simd")
#elif defined __GNUC__ && !defined __clang__
#define POLYBUILD_SIMD _Pragma("GCC ivdep")
#else
#define POLYBUILD_SIMD
#endif
#line 1 "jacobi.c"
#include <stdio.h>

#define N 90

static double a[N], b[N];

int main(void)
{
  double sum = 0;
  for (int i = 0; i < N; i++)
    a[i] = i * i % 17;
{ /* polybuild: lines 12 to 19, the new order */
  if (1) {
    for (long long pb_c = -1; pb_c <= 14; pb_c++) {
      POLYBUILD_OMP(parallel for)
      for (long long pb_c1 = polybuild_floordiv(pb_c, 2) - 5; pb_c1 <= polybuild_floordiv(pb_c, 2); pb_c1++) {
        for (long long t = polybuild_max(0, 4 * pb_c); t <= polybuild_min(59, 4 * pb_c + 7); t++) {
          POLYBUILD_SIMD
          for (long long i = polybuild_max(polybuild_max(1, -16 * pb_c1 + 2 * t - 15), 16 * pb_c - 16 * pb_c1 - 2 * t); i <= polybuild_min(polybuild_min(88, -16 * pb_c1 + 2 * t), 16 * pb_c - 16 * pb_c1 - 2 * t + 15); i++) {
#line 15 "jacobi.c"
            b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3;
          }
          POLYBUILD_SIMD
          for (long long i = polybuild_max(polybuild_max(1, -16 * pb_c1 + 2 * t - 14), 16 * pb_c - 16 * pb_c1 - 2 * t - 1); i <= polybuild_min(polybuild_min(88, -16 * pb_c1 + 2 * t + 1), 16 * pb_c - 16 * pb_c1 - 2 * t + 14); i++) {
#line 17 "jacobi.c"
            a[i] = b[i];
          }
        }
      }
    }
  } else { /* the original */
#line 13 "jacobi.c"
  for (int t = 0; t < 60; t++) {
    for (int i = 1; i < N - 1; i++)
      b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3;
    for (int i = 1; i < N - 1; i++)
      a[i] = b[i];
  }
  }
}
#line 20 "jacobi.c"
  for (int i = 0; i < N; i++)
    sum += (i + 1) * a[i];
  printf("%.17g\n", sum);
  return 0;
}
