#ifndef POLYBUILD_MIN
#define POLYBUILD_MIN
static inline long long polybuild_min(long long a, long long b) { return a < b ? a : b; }
#endif
#ifndef POLYBUILD_MAX
#define POLYBUILD_MAX
static inline long long polybuild_max(long long a, long long b) { return a > b ? a : b; }
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
  if (1.0 * 60 * 88 >= 1000 /* line 12: less work is not worth it */) {
    for (long long pb_t = 0; pb_t <= 7; pb_t++) {
      for (long long pb_c = 2 * pb_t; pb_c <= polybuild_min(25, 2 * pb_t + 12); pb_c++) {
        for (long long t = polybuild_max(8 * pb_t, 4 * pb_c - 44); t <= polybuild_min(polybuild_min(59, 8 * pb_t + 7), 4 * pb_c + 3); t++) {
          POLYBUILD_SIMD
          for (long long pb_c1 = polybuild_max(8 * pb_c, 2 * t + 1); pb_c1 <= polybuild_min(8 * pb_c + 7, 2 * t + 88); pb_c1++) {
#line 15 "jacobi.c"
            b[-2 * t + pb_c1] = (a[-2 * t + pb_c1 - 1] + a[-2 * t + pb_c1] + a[-2 * t + pb_c1 + 1]) / 3;
          }
          POLYBUILD_SIMD
          for (long long pb_c1 = polybuild_max(8 * pb_c, 2 * t + 2); pb_c1 <= polybuild_min(8 * pb_c + 7, 2 * t + 89); pb_c1++) {
#line 17 "jacobi.c"
            a[-2 * t + pb_c1 - 1] = b[-2 * t + pb_c1 - 1];
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
