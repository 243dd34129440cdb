/* Sparse matrices in several formats. */
#include "loops.h"

void rows_times(int n, const int *ptr, const int *col, const double *val, const double *x, double *y)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int k = ptr[i]; k < ptr[i + 1]; k++)
      sum += val[k] * x[col[k]];
    y[i] = sum;
  }
#pragma endscop
}
LOOP(rows_times, 200, 500000) { rows_times(n, starts(n, 9), numbers(9 * (size_t)n, n), doubles(9 * (size_t)n), doubles(n), doubles(n)); }

void columns_times(int n, const int *ptr, const int *row, const double *val, const double *x, double *y)
{
  int j, k;
#pragma scop
  for (j = 0; j < n; j++)
    y[j] = 0;
  for (j = 0; j < n; j++)
    for (k = ptr[j]; k < ptr[j + 1]; k++)
      y[row[k]] += val[k] * x[j];
#pragma endscop
}
LOOP(columns_times, 200, 500000) { columns_times(n, starts(n, 9), numbers(9 * (size_t)n, n), doubles(9 * (size_t)n), doubles(n), doubles(n)); }

void ellpack(int n, int width, const int *col, const double *val, const double *x, double *y)
{
#pragma scop
  for (int i = 0; i < n; i++)
    y[i] = 0;
  for (int k = 0; k < width; k++)
    for (int i = 0; i < n; i++)
      y[i] += val[k * n + i] * x[col[k * n + i]];
#pragma endscop
}
LOOP(ellpack, 200, 500000) { ellpack(n, 8, numbers(8 * (size_t)n, n), doubles(8 * (size_t)n), doubles(n), doubles(n)); }

void triplets(size_t entries, const int *row, const int *col, const float *val, const float *x, float *y)
{
#pragma scop
  for (size_t k = 0; k < entries; k++)
    y[row[k]] += val[k] * x[col[k]];
#pragma endscop
}
LOOP(triplets, 2000, 4000000) { triplets(n, numbers(n, n / 8), numbers(n, n / 8), floats(n), floats(n / 8), floats(n / 8)); }

void diagonals(int n, int count, const int *offset, const double *val, const double *x, double *y)
{
#pragma scop
  for (int i = 0; i < n; i++)
    y[i] = 0;
  for (int d = 0; d < count; d++)
    for (int i = 0; i < n; i++)
      y[i] += val[d * n + i] * x[i + offset[d]];
#pragma endscop
}
LOOP(diagonals, 1500, 500000) { diagonals(n, 7, numbers(7, 64), doubles(7 * (size_t)n), doubles(n + 64), doubles(n)); }

void blocks_times(int rows, const int *ptr, const int *col, const float (*val)[3][3], const float *x, float *y)
{
#pragma scop
  for (int i = 0; i < rows; i++) {
    float a = 0, b = 0, c = 0;
    for (int k = ptr[i]; k < ptr[i + 1]; k++) {
      const float *v = x + 3 * col[k];
      a += val[k][0][0] * v[0] + val[k][0][1] * v[1] + val[k][0][2] * v[2];
      b += val[k][1][0] * v[0] + val[k][1][1] * v[1] + val[k][1][2] * v[2];
      c += val[k][2][0] * v[0] + val[k][2][1] * v[1] + val[k][2][2] * v[2];
    }
    y[3 * i] = a;
    y[3 * i + 1] = b;
    y[3 * i + 2] = c;
  }
#pragma endscop
}
LOOP(blocks_times, 100, 150000)
{
  size_t blocks = 6 * (size_t)n;
  blocks_times(n, starts(n, 6), numbers(blocks, n), (const float(*)[3][3])floats(9 * blocks), floats(3 * n), floats(3 * n));
}

/* Many right-hand sides at once. */
void rows_times_many(int n, int m, const int *ptr, const int *col, const float *val, const float *x, float *y)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < m; j++)
      y[i * m + j] = 0;
    for (int k = ptr[i]; k < ptr[i + 1]; k++)
      for (int j = 0; j < m; j++)
        y[i * m + j] += val[k] * x[col[k] * m + j];
  }
#pragma endscop
}
LOOP(rows_times_many, 100, 60000)
{
  rows_times_many(n, 32, starts(n, 8), numbers(8 * (size_t)n, n), floats(8 * (size_t)n), floats(32 * (size_t)n), floats(32 * (size_t)n));
}
