#ifndef POLYBUILD_MIN
#define POLYBUILD_MIN
static inline long long polybuild_min(long long a, long long b) { return a < b ? a : b; }
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
#line 1 "product.c"
#include <stdio.h>

/* Two matrices into a third. */
static void product(int n, double C[restrict n][n], double A[restrict n][n], double B[restrict n][n])
{
{ /* polybuild: lines 6 to 13, the new order */
  const long long pb_n = n;
  if (pb_n >= 1 /* line 9: the extents of 'C' must be positive */
      && 1.0 * pb_n * pb_n + 1.0 * pb_n * pb_n * pb_n >= 1000 /* line 6: less work is not worth it */) {
    POLYBUILD_OMP(parallel for)
    for (long long i = 0; i < pb_n; i++) {
      POLYBUILD_SIMD
      for (long long j = 0; j < pb_n; j++) {
#line 9 "product.c"
        C[i][j] = 0;
      }
    }
    POLYBUILD_OMP(parallel for)
    for (long long pb_i = 0; pb_i <= (pb_n - 1) / 48; pb_i++) {
      for (long long pb_j = 0; pb_j <= (pb_n - 1) / 512; pb_j++) {
        for (long long pb_k = 0; pb_k <= (pb_n - 1) / 48; pb_k++) {
          for (long long i = 48 * pb_i; i <= polybuild_min(pb_n - 1, 48 * pb_i + 47); i++) {
            for (long long k = 48 * pb_k; k <= polybuild_min(pb_n - 1, 48 * pb_k + 47); k++) {
              POLYBUILD_SIMD
              for (long long j = 512 * pb_j; j <= polybuild_min(pb_n - 1, 512 * pb_j + 511); j++) {
#line 11 "product.c"
                C[i][j] += A[i][k] * B[k][j];
              }
            }
          }
        }
      }
    }
  } else { /* the original */
#line 7 "product.c"
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      C[i][j] = 0;
      for (int k = 0; k < n; k++)
        C[i][j] += A[i][k] * B[k][j];
    }
  }
}
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
