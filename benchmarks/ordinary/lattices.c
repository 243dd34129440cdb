/* Grids of physics: heat, waves, fluids. */
#include "loops.h"

void heat(int steps, int n, double **u, double **v)
{
  int t, i, j;
#pragma scop
  for (t = 0; t < steps; t++) {
    for (i = 1; i < n - 1; i++)
      for (j = 1; j < n - 1; j++)
        v[i][j] = u[i][j] + 0.1 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] - 4 * u[i][j]);
    for (i = 1; i < n - 1; i++)
      for (j = 1; j < n - 1; j++)
        u[i][j] = v[i][j];
  }
#pragma endscop
}
LOOP(heat, 40, 1000)
{
  double *first = doubles(n * n);
  double **u = rows_of_doubles(first, n, n);
  double *second = doubles(n * n);
  heat(10, n, u, rows_of_doubles(second, n, n));
}

void wave(int w, int h, const float *now_, const float *before, float *next, float c)
{
#pragma scop
  for (int y = 1; y < h - 1; y++)
    for (int x = 1; x < w - 1; x++) {
      int i = y * w + x;
      float laplace = now_[i - 1] + now_[i + 1] + now_[i - w] + now_[i + w] - 4.0f * now_[i];
      next[i] = 2.0f * now_[i] - before[i] + c * laplace;
    }
#pragma endscop
}
LOOP(wave, 64, 3000) { wave(n, n, floats(n * n), floats(n * n), floats(n * n), 0.2f); }

#define ID(x, y) ((y) * n + (x))
void relax(int sweeps, int n, double *p, const double *rhs)
{
#pragma scop
  for (int s = 0; s < sweeps; s++)
    for (int y = 1; y < n - 1; y++)
      for (int x = 1; x < n - 1; x++)
        p[ID(x, y)] = 0.25 * (p[ID(x - 1, y)] + p[ID(x + 1, y)] + p[ID(x, y - 1)] + p[ID(x, y + 1)] - rhs[ID(x, y)]);
#pragma endscop
}
LOOP(relax, 40, 1000) { relax(4, n, doubles(n * n), doubles(n * n)); }

void checkerboard(int n, double (*p)[n], double (*rhs)[n])
{
#pragma scop
  for (int colour = 0; colour < 2; colour++)
    for (int y = 1; y < n - 1; y++)
      for (int x = 1 + (y + colour) % 2; x < n - 1; x += 2)
        p[y][x] = 0.25 * (p[y][x - 1] + p[y][x + 1] + p[y - 1][x] + p[y + 1][x] - rhs[y][x]);
#pragma endscop
}
LOOP(checkerboard, 40, 2000) { checkerboard(n, (double(*)[n])doubles(n * n), (double(*)[n])doubles(n * n)); }

/* A fluid of nine directions, relaxed at each place and moved to its neighbours. */
const int ex[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, ey[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
const double wt[9] = {4. / 9, 1. / 9, 1. / 9, 1. / 9, 1. / 9, 1. / 36, 1. / 36, 1. / 36, 1. / 36};
void fluid(int nx, int ny, const double *f, double *g)
{
#pragma scop
  for (int y = 1; y < ny - 1; y++)
    for (int x = 1; x < nx - 1; x++) {
      double rho = 0, ux = 0, uy = 0;
      for (int k = 0; k < 9; k++) {
        double v = f[(k * ny + y - ey[k]) * nx + x - ex[k]];
        rho += v;
        ux += ex[k] * v;
        uy += ey[k] * v;
      }
      ux /= rho;
      uy /= rho;
      for (int k = 0; k < 9; k++) {
        double cu = 3 * (ex[k] * ux + ey[k] * uy);
        double eq = wt[k] * rho * (1 + cu + 0.5 * cu * cu - 1.5 * (ux * ux + uy * uy));
        double v = f[(k * ny + y - ey[k]) * nx + x - ex[k]];
        g[(k * ny + y) * nx + x] = v - 0.6 * (v - eq);
      }
    }
#pragma endscop
}
LOOP(fluid, 30, 700) { fluid(n, n, doubles(9 * (size_t)n * n), doubles(9 * (size_t)n * n)); }

void diffuse_3d(int n, const float *in, float *out, float c)
{
  int i, j, k;
#pragma scop
  for (i = 1; i < n - 1; i++)
    for (j = 1; j < n - 1; j++)
      for (k = 1; k < n - 1; k++)
        out[(i * n + j) * n + k] = in[(i * n + j) * n + k] +
          c * (in[((i - 1) * n + j) * n + k] + in[((i + 1) * n + j) * n + k] + in[(i * n + j - 1) * n + k] +
               in[(i * n + j + 1) * n + k] + in[(i * n + j) * n + k - 1] + in[(i * n + j) * n + k + 1] -
               6 * in[(i * n + j) * n + k]);
#pragma endscop
}
LOOP(diffuse_3d, 16, 220) { diffuse_3d(n, floats((size_t)n * n * n), floats((size_t)n * n * n), 0.1f); }

void upwind(int n, int m, const double *q, const double *u, double *out, double dt)
{
#pragma scop
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < m - 1; j++) {
      double flux;
      if (u[i * m + j] > 0.6)
        flux = u[i * m + j] * (q[i * m + j] - q[i * m + j - 1]);
      else
        flux = u[i * m + j] * (q[i * m + j + 1] - q[i * m + j]);
      out[i * m + j] = q[i * m + j] - dt * flux;
    }
#pragma endscop
}
LOOP(upwind, 50, 2000) { upwind(n, n, doubles(n * n), doubles(n * n), doubles(n * n), 0.1); }

enum { SIDE = 1200 };
float hz[SIDE][SIDE], ezx[SIDE][SIDE], ezy[SIDE][SIDE];
void maxwell(int steps, int n)
{
#pragma scop
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n; i++)
      for (int j = 0; j < n; j++)
        ezy[i][j] -= 0.5f * (hz[i][j] - hz[i - 1][j]);
    for (int i = 0; i < n; i++)
      for (int j = 1; j < n; j++)
        ezx[i][j] -= 0.5f * (hz[i][j] - hz[i][j - 1]);
    for (int i = 0; i < n - 1; i++)
      for (int j = 0; j < n - 1; j++)
        hz[i][j] -= 0.7f * (ezx[i][j + 1] - ezx[i][j] + ezy[i + 1][j] - ezy[i][j]);
  }
#pragma endscop
}
LOOP(maxwell, 40, 1200)
{
  memcpy(hz, floats(SIDE * SIDE), sizeof hz);
  memset(ezx, 0, sizeof ezx);
  memset(ezy, 0, sizeof ezy);
  maxwell(10, n);
  memcpy(floats(SIDE * SIDE), hz, sizeof hz);
}
