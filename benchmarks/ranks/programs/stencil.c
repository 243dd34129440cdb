/* usage: stencil N STEPS RUNS: a plane of N x N points that is smoothed, in place of its neighbours and back. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void)
{
  struct timespec t;
  timespec_get(&t, TIME_UTC);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void region(int n, int steps, double u[restrict n][n], double v[restrict n][n])
{
#pragma scop
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        v[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        u[i][j] = 0.25 * (v[i - 1][j] + v[i + 1][j] + v[i][j - 1] + v[i][j + 1]);
  }
#pragma endscop
}

int main(int argc, char **argv)
{
  int n = argc > 1 ? atoi(argv[1]) : 350, steps = argc > 2 ? atoi(argv[2]) : 500, runs = argc > 3 ? atoi(argv[3]) : 1;
  double(*u)[n] = calloc((size_t)n, sizeof *u), (*v)[n] = calloc((size_t)n, sizeof *v), sum = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      u[i][j] = v[i][j] = (i * 7 + j) % 13;
  for (int run = 0; run < runs; run++) {
    double start = now();
    region(n, steps, u, v);
    printf("seconds %.6f\n", now() - start);
  }
  for (int i = 0; i < n; i++)
    sum += u[i][i];
  printf("sum %a\n", sum);
  return 0;
}
