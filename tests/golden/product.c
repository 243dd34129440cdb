#ifndef POLYBUILD_MIN
#define POLYBUILD_MIN
static inline long long polybuild_min(long long a, long long b) { return a < b ? a : b; }
#endif
#ifndef POLYBUILD_DOUBLE2
#define POLYBUILD_DOUBLE2
typedef double polybuild_double2 __attribute__((vector_size(16), aligned(8), may_alias));
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
    POLYBUILD_OMP(parallel for schedule(dynamic))
    for (long long pb_i = 0; pb_i <= (pb_n - 1) / 78; pb_i++) {
      for (long long pb_k = 0; pb_k <= (pb_n - 1) / 408; pb_k++) {
        {
          double pb_A[13][408][6] __attribute__((aligned(64)));
          for (long long pb_c = 13 * pb_i; pb_c <= polybuild_min(13 * pb_i + 12, pb_n / 6 - 1); pb_c++) {
            for (long long pb_c1 = 408 * pb_k; pb_c1 <= polybuild_min(pb_n - 1, 408 * pb_k + 407); pb_c1++) {
              for (long long pb_c2 = 6 * pb_c; pb_c2 <= 6 * pb_c + 5; pb_c2++) {
                pb_A[-13 * pb_i + pb_c][-408 * pb_k + pb_c1][-6 * pb_c + pb_c2] = A[pb_c2][pb_c1];
              }
            }
          }
          for (long long pb_j = 0; pb_j <= (pb_n - 1) / 4; pb_j++) {
            {
              double pb_B[408][4] __attribute__((aligned(64)));
              if (pb_n >= 78 * pb_i + 6 && pb_n >= 4 * pb_j + 4) {
                for (long long pb_c = 408 * pb_k; pb_c <= polybuild_min(pb_n - 1, 408 * pb_k + 407); pb_c++) {
                  for (long long pb_c1 = 4 * pb_j; pb_c1 <= 4 * pb_j + 3; pb_c1++) {
                    pb_B[-408 * pb_k + pb_c][-4 * pb_j + pb_c1] = B[pb_c][pb_c1];
                  }
                }
              }
              for (long long pb_i1 = 13 * pb_i; pb_i1 <= polybuild_min(13 * pb_i + 12, (pb_n - 1) / 6); pb_i1++) {
                if (pb_n >= 4 * pb_j + 4 && pb_n >= 6 * pb_i1 + 6) {
                  {
                    polybuild_double2 pb_C_0_0, pb_C_0_1, pb_C_1_0, pb_C_1_1, pb_C_2_0, pb_C_2_1, pb_C_3_0, pb_C_3_1, pb_C_4_0, pb_C_4_1, pb_C_5_0, pb_C_5_1;
                    pb_C_0_0 = *(const polybuild_double2 *)&C[6 * pb_i1][4 * pb_j];
                    pb_C_0_1 = *(const polybuild_double2 *)&C[6 * pb_i1][4 * pb_j + 2];
                    pb_C_1_0 = *(const polybuild_double2 *)&C[6 * pb_i1 + 1][4 * pb_j];
                    pb_C_1_1 = *(const polybuild_double2 *)&C[6 * pb_i1 + 1][4 * pb_j + 2];
                    pb_C_2_0 = *(const polybuild_double2 *)&C[6 * pb_i1 + 2][4 * pb_j];
                    pb_C_2_1 = *(const polybuild_double2 *)&C[6 * pb_i1 + 2][4 * pb_j + 2];
                    pb_C_3_0 = *(const polybuild_double2 *)&C[6 * pb_i1 + 3][4 * pb_j];
                    pb_C_3_1 = *(const polybuild_double2 *)&C[6 * pb_i1 + 3][4 * pb_j + 2];
                    pb_C_4_0 = *(const polybuild_double2 *)&C[6 * pb_i1 + 4][4 * pb_j];
                    pb_C_4_1 = *(const polybuild_double2 *)&C[6 * pb_i1 + 4][4 * pb_j + 2];
                    pb_C_5_0 = *(const polybuild_double2 *)&C[6 * pb_i1 + 5][4 * pb_j];
                    pb_C_5_1 = *(const polybuild_double2 *)&C[6 * pb_i1 + 5][4 * pb_j + 2];
                    for (long long k = 408 * pb_k; k <= polybuild_min(pb_n - 1, 408 * pb_k + 407); k++) {
#line 11 "product.c"
                      pb_C_0_0 += pb_A[-13 * pb_i + pb_i1][-408 * pb_k + k][0] * *(const polybuild_double2 *)&pb_B[-408 * pb_k + k][0];
#line 11 "product.c"
                      pb_C_0_1 += pb_A[-13 * pb_i + pb_i1][-408 * pb_k + k][0] * *(const polybuild_double2 *)&pb_B[-408 * pb_k + k][2];
#line 11 "product.c"
                      pb_C_1_0 += pb_A[-13 * pb_i + pb_i1][-408 * pb_k + k][1] * *(const polybuild_double2 *)&pb_B[-408 * pb_k + k][0];
#line 11 "product.c"
                      pb_C_1_1 += pb_A[-13 * pb_i + pb_i1][-408 * pb_k + k][1] * *(const polybuild_double2 *)&pb_B[-408 * pb_k + k][2];
#line 11 "product.c"
                      pb_C_2_0 += pb_A[-13 * pb_i + pb_i1][-408 * pb_k + k][2] * *(const polybuild_double2 *)&pb_B[-408 * pb_k + k][0];
#line 11 "product.c"
                      pb_C_2_1 += pb_A[-13 * pb_i + pb_i1][-408 * pb_k + k][2] * *(const polybuild_double2 *)&pb_B[-408 * pb_k + k][2];
#line 11 "product.c"
                      pb_C_3_0 += pb_A[-13 * pb_i + pb_i1][-408 * pb_k + k][3] * *(const polybuild_double2 *)&pb_B[-408 * pb_k + k][0];
#line 11 "product.c"
                      pb_C_3_1 += pb_A[-13 * pb_i + pb_i1][-408 * pb_k + k][3] * *(const polybuild_double2 *)&pb_B[-408 * pb_k + k][2];
#line 11 "product.c"
                      pb_C_4_0 += pb_A[-13 * pb_i + pb_i1][-408 * pb_k + k][4] * *(const polybuild_double2 *)&pb_B[-408 * pb_k + k][0];
#line 11 "product.c"
                      pb_C_4_1 += pb_A[-13 * pb_i + pb_i1][-408 * pb_k + k][4] * *(const polybuild_double2 *)&pb_B[-408 * pb_k + k][2];
#line 11 "product.c"
                      pb_C_5_0 += pb_A[-13 * pb_i + pb_i1][-408 * pb_k + k][5] * *(const polybuild_double2 *)&pb_B[-408 * pb_k + k][0];
#line 11 "product.c"
                      pb_C_5_1 += pb_A[-13 * pb_i + pb_i1][-408 * pb_k + k][5] * *(const polybuild_double2 *)&pb_B[-408 * pb_k + k][2];
                    }
                    *(polybuild_double2 *)&C[6 * pb_i1][4 * pb_j] = pb_C_0_0;
                    *(polybuild_double2 *)&C[6 * pb_i1][4 * pb_j + 2] = pb_C_0_1;
                    *(polybuild_double2 *)&C[6 * pb_i1 + 1][4 * pb_j] = pb_C_1_0;
                    *(polybuild_double2 *)&C[6 * pb_i1 + 1][4 * pb_j + 2] = pb_C_1_1;
                    *(polybuild_double2 *)&C[6 * pb_i1 + 2][4 * pb_j] = pb_C_2_0;
                    *(polybuild_double2 *)&C[6 * pb_i1 + 2][4 * pb_j + 2] = pb_C_2_1;
                    *(polybuild_double2 *)&C[6 * pb_i1 + 3][4 * pb_j] = pb_C_3_0;
                    *(polybuild_double2 *)&C[6 * pb_i1 + 3][4 * pb_j + 2] = pb_C_3_1;
                    *(polybuild_double2 *)&C[6 * pb_i1 + 4][4 * pb_j] = pb_C_4_0;
                    *(polybuild_double2 *)&C[6 * pb_i1 + 4][4 * pb_j + 2] = pb_C_4_1;
                    *(polybuild_double2 *)&C[6 * pb_i1 + 5][4 * pb_j] = pb_C_5_0;
                    *(polybuild_double2 *)&C[6 * pb_i1 + 5][4 * pb_j + 2] = pb_C_5_1;
                  }
                } else {
                  if (4 * pb_j + 3 >= pb_n) {
                    for (long long i = 6 * pb_i1; i <= polybuild_min(pb_n - 1, 6 * pb_i1 + 5); i++) {
                      for (long long k = 408 * pb_k; k <= polybuild_min(pb_n - 1, 408 * pb_k + 407); k++) {
                        POLYBUILD_SIMD
                        for (long long j = 4 * pb_j; j < pb_n; j++) {
#line 11 "product.c"
                          C[i][j] += A[i][k] * B[k][j];
                        }
                      }
                    }
                  } else {
                    for (long long i = 6 * pb_i1; i < pb_n; i++) {
                      for (long long k = 408 * pb_k; k <= polybuild_min(pb_n - 1, 408 * pb_k + 407); k++) {
                        POLYBUILD_SIMD
                        for (long long j = 4 * pb_j; j <= 4 * pb_j + 3; j++) {
#line 11 "product.c"
                          C[i][j] += A[i][k] * B[k][j];
                        }
                      }
                    }
                  }
                }
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
