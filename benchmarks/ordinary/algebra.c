/* Linear algebra in the forms that old code has it in. */
#include <math.h>
#include "loops.h"

/* y = A' x, down the columns. */
void transposed_product(int rows, int cols, const double *a, const double *x, double *y)
{
#pragma scop
  for (int j = 0; j < cols; j++) {
    double s = 0;
    for (int i = 0; i < rows; i++)
      s += a[i * cols + j] * x[i];
    y[j] = s;
  }
#pragma endscop
}
LOOP(transposed_product, 60, 2500) { transposed_product(n, n, doubles(n * n), doubles(n), doubles(n)); }

void matrix_vector(double **a, const double *x, double *y, int n)
{
  int i, j;
#pragma scop
  for (i = 0; i < n; i++) {
    y[i] = 0;
    for (j = 0; j < n; j++)
      y[i] += a[i][j] * x[j];
  }
#pragma endscop
}
LOOP(matrix_vector, 60, 3000)
{
  double *values = doubles(n * n);
  matrix_vector(rows_of_doubles(values, n, n), doubles(n), doubles(n), n);
}

void product(int n, const double *a, const double *b, double *c)
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double sum = 0.0;
      for (int k = 0; k < n; k++)
        sum += a[i * n + k] * b[k * n + j];
      c[i * n + j] = sum;
    }
#pragma endscop
}
LOOP(product, 24, 300) { product(n, doubles(n * n), doubles(n * n), doubles(n * n)); }

/* Matrices that are stored by columns, as Fortran has them. */
#define A(i, j) a[(j) * lda + (i)]
#define B(i, j) b[(j) * lda + (i)]
#define C(i, j) c[(j) * lda + (i)]
void product_by_columns(int m, int n, int k, float alpha, const float *a, const float *b, float *c, int lda)
{
  int i, j, l;
#pragma scop
  for (j = 0; j < n; j++)
    for (l = 0; l < k; l++) {
      float t = alpha * B(l, j);
      for (i = 0; i < m; i++)
        C(i, j) += t * A(i, l);
    }
#pragma endscop
}
LOOP(product_by_columns, 24, 500) { product_by_columns(n, n, n, 1.5f, floats(n * n), floats(n * n), floats(n * n), n); }

void upper_solve(int n, const double *u, double *x)
{
#pragma scop
  for (int j = n - 1; j >= 0; j--) {
    x[j] /= u[j * n + j] + 4.0;
    for (int i = 0; i < j; i++)
      x[i] -= 0.001 * x[j] * u[i * n + j];
  }
#pragma endscop
}
LOOP(upper_solve, 60, 2000) { upper_solve(n, doubles(n * n), doubles(n)); }

void lower_solve(int n, double l[n][n], double x[n], const double b[n])
{
#pragma scop
  for (int i = 0; i < n; i++) {
    double s = b[i];
    for (int j = 0; j < i; j++)
      s -= l[i][j] * x[j];
    x[i] = s / (l[i][i] + n);
  }
#pragma endscop
}
LOOP(lower_solve, 60, 4000) { lower_solve(n, (double(*)[n])doubles(n * n), doubles(n), doubles(n)); }

void banded(int n, int half, const double *band, const double *x, double *y)
{
#pragma scop
  for (int i = half; i < n - half; i++) {
    double s = 0;
    for (int d = -half; d <= half; d++)
      s += band[i * (2 * half + 1) + d + half] * x[i + d];
    y[i] = s;
  }
#pragma endscop
}
LOOP(banded, 500, 500000) { banded(n, 5, doubles(11 * (size_t)n), doubles(n), doubles(n)); }

/* Many products of four by four matrices. */
void small_products(int count, float (*a)[4][4], float (*b)[4][4], float (*c)[4][4])
{
#pragma scop
  for (int m = 0; m < count; m++)
    for (int i = 0; i < 4; i++)
      for (int j = 0; j < 4; j++) {
        float s = 0;
        for (int k = 0; k < 4; k++)
          s += a[m][i][k] * b[m][k][j];
        c[m][i][j] = s;
      }
#pragma endscop
}
LOOP(small_products, 200, 300000)
{
  size_t count = 16 * (size_t)n;
  small_products(n, (float(*)[4][4])floats(count), (float(*)[4][4])floats(count), (float(*)[4][4])floats(count));
}

/* Points by one four by four matrix. */
struct point {
  float x, y, z, w;
};
void transform(const float m[16], const struct point *in, struct point *out, int count)
{
  int i;
#pragma scop
  for (i = 0; i < count; i++) {
    float x = in[i].x, y = in[i].y, z = in[i].z, w = in[i].w;
    out[i].x = m[0] * x + m[4] * y + m[8] * z + m[12] * w;
    out[i].y = m[1] * x + m[5] * y + m[9] * z + m[13] * w;
    out[i].z = m[2] * x + m[6] * y + m[10] * z + m[14] * w;
    out[i].w = m[3] * x + m[7] * y + m[11] * z + m[15] * w;
  }
#pragma endscop
}
LOOP(transform, 2000, 2000000)
{
  size_t count = 4 * (size_t)n;
  transform(floats(16), (struct point *)floats(count), (struct point *)floats(count), n);
}

void cholesky(double **a, int n)
{
  int i, j, k;
#pragma scop
  for (i = 0; i < n; i++)
    a[i][i] += n;
  for (j = 0; j < n; j++) {
    for (k = 0; k < j; k++)
      a[j][j] -= a[j][k] * a[j][k];
    a[j][j] = sqrt(a[j][j]);
    for (i = j + 1; i < n; i++) {
      for (k = 0; k < j; k++)
        a[i][j] -= a[i][k] * a[j][k];
      a[i][j] /= a[j][j];
    }
  }
#pragma endscop
}
LOOP(cholesky, 40, 500)
{
  double *values = doubles(n * n);
  cholesky(rows_of_doubles(values, n, n), n);
}

void eliminate(int n, double *a)
{
#pragma scop
  for (int k = 0; k < n; k++) {
    for (int i = k + 1; i < n; i++) {
      double f = a[i * n + k] / (a[k * n + k] + 8.0);
      a[i * n + k] = f;
      for (int j = k + 1; j < n; j++)
        a[i * n + j] -= f * a[k * n + j];
    }
  }
#pragma endscop
}
LOOP(eliminate, 40, 500) { eliminate(n, doubles(n * n)); }

void gram_schmidt(int m, int n, double (*q)[n], double (*r)[n])
{
#pragma scop
  for (int k = 0; k < n; k++) {
    double norm = 0;
    for (int i = 0; i < m; i++)
      norm += q[i][k] * q[i][k];
    r[k][k] = sqrt(norm);
    for (int i = 0; i < m; i++)
      q[i][k] /= r[k][k];
    for (int j = k + 1; j < n; j++) {
      r[k][j] = 0;
      for (int i = 0; i < m; i++)
        r[k][j] += q[i][k] * q[i][j];
      for (int i = 0; i < m; i++)
        q[i][j] -= q[i][k] * r[k][j];
    }
  }
#pragma endscop
}
LOOP(gram_schmidt, 32, 250) { gram_schmidt(n, n, (double(*)[n])doubles(n * n), (double(*)[n])doubles(n * n)); }

/* Tridiagonal systems, one for each column. */
void tridiagonal(int n, int systems, const double *a, const double *b, double *c, double *d)
{
#pragma scop
  for (int s = 0; s < systems; s++) {
    c[s] /= b[s] + 3;
    d[s] /= b[s] + 3;
    for (int i = 1; i < n; i++) {
      double m = 1.0 / (b[i * systems + s] + 3 - a[i * systems + s] * c[(i - 1) * systems + s]);
      c[i * systems + s] *= m;
      d[i * systems + s] = (d[i * systems + s] - a[i * systems + s] * d[(i - 1) * systems + s]) * m;
    }
    for (int i = n - 2; i >= 0; i--)
      d[i * systems + s] -= c[i * systems + s] * d[(i + 1) * systems + s];
  }
#pragma endscop
}
LOOP(tridiagonal, 40, 800) { tridiagonal(n, n, doubles(n * n), doubles(n * n), doubles(n * n), doubles(n * n)); }

void rank_one(int n, double alpha, const double *x, const double *y, double *a)
{
#pragma scop
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++)
      a[i * n + j] += alpha * x[i] * y[j];
#pragma endscop
}
LOOP(rank_one, 60, 2000) { rank_one(n, 0.5, doubles(n), doubles(n), doubles(n * n)); }

void residual(int n, const double *a, const double *x, const double *b, double *r, double *norm)
{
  int i, j;
#pragma scop
  *norm = 0;
  for (i = 0; i < n; i++) {
    double t = b[i];
    for (j = 0; j < n; j++)
      t -= a[i * n + j] * x[j];
    r[i] = t;
    *norm += t * t;
  }
#pragma endscop
}
LOOP(residual, 60, 3000) { residual(n, doubles(n * n), doubles(n), doubles(n), doubles(n), doubles(1)); }
