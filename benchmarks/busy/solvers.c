/* Solvers: many short loops, one after the other, in steps that wait for each other. */
#include "../ordinary/loops.h"

/* Conjugate gradients for the five-point operator on a square, started from zero. */
void conjugate_gradient(int n, int steps, double (*x)[n], double (*r)[n], double (*p)[n], double (*q)[n])
{
  double rr = 0;
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      rr += r[i][j] * r[i][j];
#pragma scop
  for (int step = 0; step < steps; step++) {
    double pq = 0, next = 0;
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++) {
        q[i][j] = 4.5 * p[i][j] - p[i - 1][j] - p[i + 1][j] - p[i][j - 1] - p[i][j + 1];
        pq += p[i][j] * q[i][j];
      }
    double alpha = rr / (pq + 1e-30);
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++) {
        x[i][j] += alpha * p[i][j];
        r[i][j] -= alpha * q[i][j];
        next += r[i][j] * r[i][j];
      }
    double beta = next / (rr + 1e-30);
    rr = next;
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        p[i][j] = r[i][j] + beta * p[i][j];
  }
#pragma endscop
}
LOOP(conjugate_gradient, 40, 260)
{
  double *x = doubles(n * n), *r = doubles(n * n), *p = doubles(n * n), *q = doubles(n * n);
  memcpy(p, r, n * (size_t)n * sizeof *p);
  conjugate_gradient(n, 100, (void *)x, (void *)r, (void *)p, (void *)q);
}

/* The same with a loop a function, as libraries have them. */
static void apply(int n, const double *p, double *q)
{
#pragma scop
  for (int i = n; i < n * n - n; i++)
    q[i] = 4.5 * p[i] - p[i - n] - p[i + n] - p[i - 1] - p[i + 1];
#pragma endscop
}
static void add(int n, double factor, const double *from, double *to)
{
#pragma scop
  for (int i = 0; i < n; i++)
    to[i] += factor * from[i];
#pragma endscop
}
static void add_scaled(int n, double factor, const double *from, double *to)
{
#pragma scop
  for (int i = 0; i < n; i++)
    to[i] = from[i] + factor * to[i];
#pragma endscop
}
static double dot(int n, const double *a, const double *b)
{
  double sum = 0;
#pragma scop
  for (int i = 0; i < n; i++)
    sum += a[i] * b[i];
#pragma endscop
  return sum;
}
void gradients_in_calls(int n, int steps, double *x, double *r, double *p, double *q)
{
  double rr = dot(n * n, r, r);
  for (int step = 0; step < steps; step++) {
    apply(n, p, q);
    double alpha = rr / (dot(n * n, p, q) + 1e-30);
    add(n * n, alpha, p, x);
    add(n * n, -alpha, q, r);
    double next = dot(n * n, r, r);
    add_scaled(n * n, next / (rr + 1e-30), r, p);
    rr = next;
  }
}
LOOP(gradients_in_calls, 40, 260)
{
  double *x = doubles(n * n), *r = doubles(n * n), *p = doubles(n * n), *q = doubles(n * n);
  memcpy(p, r, n * (size_t)n * sizeof *p);
  memset(q, 0, n * (size_t)n * sizeof *q);
  gradients_in_calls(n, 100, x, r, p, q);
}

void factorise(int n, double a[n][n])
{
#pragma scop
  for (int k = 0; k < n; k++) {
    for (int i = k + 1; i < n; i++)
      a[i][k] /= a[k][k] + 3.0;
    for (int i = k + 1; i < n; i++)
      for (int j = k + 1; j < n; j++)
        a[i][j] -= 0.1 * a[i][k] * a[k][j];
  }
#pragma endscop
}
LOOP(factorise, 40, 400) { factorise(n, (void *)doubles(n * n)); }

/* Largest pivots: rows are swapped, so each step waits for the one before. */
void factorise_with_pivots(int n, double a[n][n], int *rows)
{
  for (int k = 0; k < n - 1; k++) {
    int best = k;
    for (int i = k + 1; i < n; i++)
      if (a[i][k] > a[best][k])
        best = i;
    rows[k] = best;
#pragma scop
    for (int j = 0; j < n; j++) {
      double t = a[k][j];
      a[k][j] = a[best][j];
      a[best][j] = t;
    }
    for (int i = k + 1; i < n; i++)
      a[i][k] /= a[k][k] + 3.0;
    for (int i = k + 1; i < n; i++)
      for (int j = k + 1; j < n; j++)
        a[i][j] -= 0.1 * a[i][k] * a[k][j];
#pragma endscop
  }
}
LOOP(factorise_with_pivots, 40, 400) { factorise_with_pivots(n, (void *)doubles(n * n), ints(n)); }

/* A lattice fluid of five directions: collide in place, then move to the neighbours. */
void lattice_steps(int n, int steps, double (*f)[n][n], double (*g)[n][n])
{
#pragma scop
  for (int t = 0; t < steps; t++) {
    for (int y = 0; y < n; y++)
      for (int x = 0; x < n; x++) {
        double rho = f[0][y][x] + f[1][y][x] + f[2][y][x] + f[3][y][x] + f[4][y][x];
        double u = f[1][y][x] - f[3][y][x], v = f[2][y][x] - f[4][y][x];
        g[0][y][x] = 0.4 * f[0][y][x] + 0.6 * rho / 3;
        g[1][y][x] = 0.4 * f[1][y][x] + 0.6 * (rho / 6 + 0.5 * u);
        g[2][y][x] = 0.4 * f[2][y][x] + 0.6 * (rho / 6 + 0.5 * v);
        g[3][y][x] = 0.4 * f[3][y][x] + 0.6 * (rho / 6 - 0.5 * u);
        g[4][y][x] = 0.4 * f[4][y][x] + 0.6 * (rho / 6 - 0.5 * v);
      }
    for (int y = 1; y < n - 1; y++)
      for (int x = 1; x < n - 1; x++) {
        f[0][y][x] = g[0][y][x];
        f[1][y][x] = g[1][y][x - 1];
        f[2][y][x] = g[2][y - 1][x];
        f[3][y][x] = g[3][y][x + 1];
        f[4][y][x] = g[4][y + 1][x];
      }
  }
#pragma endscop
}
LOOP(lattice_steps, 30, 120)
{
  lattice_steps(n, 60, (void *)doubles(5 * n * n), (void *)doubles(5 * n * n));
}

/* Heat on a plate by alternating directions, a call for each step of time. */
static void plate_step(int n, double h, const double factor[n], double u[n][n], double w[n][n], double d[n][n])
{
#pragma scop
  for (int i = 1; i < n - 1; i++) {
    for (int j = 1; j < n - 1; j++)
      d[i][j] = (u[i][j] + h * (u[i - 1][j] - 2.0 * u[i][j] + u[i + 1][j]) + h * d[i][j - 1]) * factor[j];
    for (int j = n - 2; j >= 1; j--)
      w[i][j] = d[i][j] + h * factor[j] * w[i][j + 1];
  }
  for (int j = 1; j < n - 1; j++) {
    for (int i = 1; i < n - 1; i++)
      d[i][j] = (w[i][j] + h * (w[i][j - 1] - 2.0 * w[i][j] + w[i][j + 1]) + h * d[i - 1][j]) * factor[i];
    for (int i = n - 2; i >= 1; i--)
      u[i][j] = d[i][j] + h * factor[i] * u[i + 1][j];
  }
#pragma endscop
}
void plate(int n, int steps, const double factor[n], double u[n][n], double w[n][n], double d[n][n])
{
  for (int step = 0; step < steps; step++)
    plate_step(n, 0.2, factor, u, w, d);
}
LOOP(plate, 40, 200)
{
  double *u = doubles(n * n), *w = doubles(n * n), *d = doubles(n * n);
  plate(n, 40, doubles(n), (void *)u, (void *)w, (void *)d);
}
