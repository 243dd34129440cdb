#include <stdio.h>

enum { ROWS = 500, WIDTH = 7 };

/* A sparse matrix, row by row, times a vector. */
static void multiply(int n, const int *restrict row, const int *restrict column, const double *restrict value,
                     const double *restrict x, double *restrict y)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int k = row[i]; k < row[i + 1]; k++)
      sum += value[k] * x[column[k]];
    y[i] = sum;
  }
#pragma endscop
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
