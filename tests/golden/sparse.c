#line 1 "polybuild_helpers.h"
#define POLYBUILD_LINE(...) __VA_ARGS__
#ifdef _OPENMP
#define POLYBUILD_TEXT(...) #__VA_ARGS__
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#endif
#define POLYBUILD_OMP(...) _Pragma(POLYBUILD_TEXT(omp __VA_ARGS__))
#else
#define POLYBUILD_OMP(...)
#endif
#line 1 "sparse.c"
#include <stdio.h>

enum { ROWS = 500, WIDTH = 7 };

/* A sparse matrix, row by row, times a vector. */
static void multiply(int n, const int *restrict row, const int *restrict column, const double *restrict value,
                     const double *restrict x, double *restrict y)
{
{ /* polybuild: lines 9 to 16, the new order */
#line 9
  const long long pb_n = n;
#line 9
  if ((double)pb_n + (double)pb_n * 20.0 >= 1000 /* line 9: less work is not worth it */) {
    POLYBUILD_OMP(parallel for) for (long long i = 0; i < pb_n; i++) {
      double sum_1;
#line 11
      sum_1 = 0;
      for (long long k = row[i]; k < row[i + 1]; k++)
        sum_1 += value[k] * x[column[k]];
      y[i] = sum_1;
#line 10
    }
#line 9
  } else { /* the original loops */
#line 10 "sparse.c"
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int k = row[i]; k < row[i + 1]; k++)
      sum += value[k] * x[column[k]];
    y[i] = sum;
  }
  } }
#line 17 "sparse.c"
}

int main(void)
{
  static int row[ROWS + 1], column[ROWS * WIDTH];
  static double value[ROWS * WIDTH], x[ROWS], y[ROWS];
  double sum = 0;
  for (int i = 0; i < ROWS; i++)
    row[i + 1] = row[i] + i % WIDTH, x[i] = i % 5 - 1;
  for (int k = 0; k < row[ROWS]; k++)
    column[k] = k * 31 % ROWS, value[k] = k % 9;
  multiply(ROWS, row, column, value, x, y);
  for (int i = 0; i < ROWS; i++)
    sum += (i + 1) * y[i];
  printf("%.17g\n", sum);
  return 0;
}
