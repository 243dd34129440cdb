/* A warm plate cools down. Its temperature is known as a formula, so the
   program can tell how far the computed one is off.

   usage: heat [points per side] [time steps] [picture.ppm] */

#include "picture.h"
#include "solver.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static const double pi = 3.14159265358979323846;
static const double end_time = 0.01;

static double now(void)
{
  struct timespec t;
  timespec_get(&t, TIME_UTC);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The temperature at the point (x, y) of the unit square, at a time: one broad
   hill, and a ripple of 2 by 3 half waves that fades faster. */
static double exact(double x, double y, double time)
{
  double hill = 0.7 * exp(-2.0 * pi * pi * time) * sin(pi * x) * sin(pi * y);
  double ripple = 0.3 * exp(-13.0 * pi * pi * time) * sin(2.0 * pi * x) * sin(3.0 * pi * y);
  return hill + ripple;
}

int main(int argc, char **argv)
{
  int n = argc > 1 ? atoi(argv[1]) : 2000;
  int steps = argc > 2 ? atoi(argv[2]) : 40;
  if (n < 3 || n > 20000 || steps < 1) {
    fprintf(stderr, "usage: %s [points per side] [time steps] [picture.ppm]\n", argv[0]);
    return 2;
  }

  struct elimination e;
  double(*u)[n] = calloc((size_t)n, sizeof *u);
  double(*w)[n] = calloc((size_t)n, sizeof *w);
  double(*d)[n] = calloc((size_t)n, sizeof *d);
  if (!u || !w || !d || !elimination_init(&e, n, end_time / steps)) {
    fprintf(stderr, "not enough memory for %d by %d points\n", n, n);
    return 1;
  }
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      u[i][j] = exact((double)i / (n - 1), (double)j / (n - 1), 0.0);

  double start = now();
  for (int step = 0; step < steps; step++)
    time_step(n, e.coupling, e.factor, u, w, d);
  double seconds = now() - start;

  double error = 0.0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      error = fmax(error, fabs(u[i][j] - exact((double)i / (n - 1), (double)j / (n - 1), end_time)));
  printf("%d by %d points, %d time steps\n", n, n, steps);
  printf("largest error: %.3e\n", error);
  printf("seconds: %.4f\n", seconds);

  int written = argc <= 3 || write_picture(argv[3], n, u);
  if (!written)
    fprintf(stderr, "cannot write %s\n", argv[3]);
  free(u);
  free(w);
  free(d);
  elimination_free(&e);
  return written ? 0 : 1;
}
