/* Particles: forces between all of them, steps in time, cells. */
#include <math.h>
#include "loops.h"

typedef struct {
  float *x, *y, *z, *mass, *ax, *ay, *az;
  int count;
} bodies;

void gravity(bodies *b)
{
#pragma scop
  for (int i = 0; i < b->count; i++) {
    float ax = 0, ay = 0, az = 0;
    for (int j = 0; j < b->count; j++) {
      float dx = b->x[j] - b->x[i], dy = b->y[j] - b->y[i], dz = b->z[j] - b->z[i];
      float r2 = dx * dx + dy * dy + dz * dz + 0.01f;
      float f = b->mass[j] / (r2 * sqrtf(r2));
      ax += f * dx;
      ay += f * dy;
      az += f * dz;
    }
    b->ax[i] = ax;
    b->ay[i] = ay;
    b->az[i] = az;
  }
#pragma endscop
}
LOOP(gravity, 64, 3000)
{
  bodies b = {floats(n), floats(n), floats(n), floats(n), floats(n), floats(n), floats(n), n};
  gravity(&b);
}

void short_range(int n, const double *x, const double *y, double *fx, double *fy, double cutoff)
{
  int i, j;
#pragma scop
  for (i = 0; i < n; i++) {
    fx[i] = 0;
    fy[i] = 0;
    for (j = 0; j < n; j++) {
      double dx = x[i] - x[j], dy = y[i] - y[j];
      double r2 = dx * dx + dy * dy;
      if (r2 < cutoff && j != i) {
        double s = 1.0 / (r2 + 0.001);
        s = s * s * s;
        fx[i] += s * (s - 0.5) * dx;
        fy[i] += s * (s - 0.5) * dy;
      }
    }
  }
#pragma endscop
}
LOOP(short_range, 64, 3000) { short_range(n, doubles(n), doubles(n), doubles(n), doubles(n), 0.05); }

struct particle {
  double pos[3], vel[3], force[3], mass;
};
void drift(struct particle *p, int count, double dt)
{
#pragma scop
  for (int i = 0; i < count; i++)
    for (int d = 0; d < 3; d++) {
      p[i].vel[d] += dt * p[i].force[d] / p[i].mass;
      p[i].pos[d] += dt * p[i].vel[d];
    }
#pragma endscop
}
LOOP(drift, 2000, 1000000) { drift((struct particle *)doubles(10 * (size_t)n), n, 0.01); }

void springs(int steps, int n, double *x, double *v, double *f)
{
  int t, i;
#pragma scop
  for (t = 0; t < steps; t++) {
    for (i = 1; i < n - 1; i++)
      f[i] = 0.1 * (x[i - 1] - 2 * x[i] + x[i + 1]);
    for (i = 1; i < n - 1; i++) {
      v[i] = 0.99 * v[i] + 0.1 * f[i];
      x[i] += 0.1 * v[i];
    }
  }
#pragma endscop
}
LOOP(springs, 100, 4000) { springs(n, n, doubles(n), doubles(n), doubles(n)); }

float kinetic(const float *vx, const float *vy, const float *m, int n)
{
  float e = 0;
#pragma scop
  for (int i = 0; i < n; i++)
    e += 0.5f * m[i] * (vx[i] * vx[i] + vy[i] * vy[i]);
#pragma endscop
  return e;
}
LOOP(kinetic, 1000, 5000000) { floats(1)[0] = kinetic(floats(n), floats(n), floats(n), n); }

void charge_cells(int n, const float *x, const float *y, const float *q, float *grid, int width)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    int cx = (int)(x[i] * width), cy = (int)(y[i] * width);
    grid[cy * 2 * width + cx] += q[i];
  }
#pragma endscop
}
LOOP(charge_cells, 1500, 4000000) { charge_cells(n, floats(n), floats(n), floats(n), floats(4 * 100 * 100), 100); }

void verlet(size_t n, float *restrict x, float *restrict old, const float *restrict a, float dt)
{
  size_t i;
#pragma scop
  for (i = 0; i < n; i++) {
    float next = 2 * x[i] - old[i] + a[i] * dt * dt;
    old[i] = x[i];
    x[i] = next;
  }
#pragma endscop
}
LOOP(verlet, 8000, 5000000) { verlet(n, floats(n), floats(n), floats(n), 0.01f); }
