/* usage: product N RUNS: the product of two matrices of N x N numbers, added to a third one. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void)
{
  struct timespec t;
  timespec_get(&t, TIME_UTC);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void region(int n, double a[restrict n][n], double b[restrict n][n], double c[restrict n][n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        c[i][j] += a[i][k] * b[k][j];
#pragma endscop
}

int main(int argc, char **argv)
{
  int n = argc > 1 ? atoi(argv[1]) : 1000, runs = argc > 2 ? atoi(argv[2]) : 1;
  double(*a)[n] = calloc((size_t)n, sizeof *a), (*b)[n] = calloc((size_t)n, sizeof *b);
  double(*c)[n] = calloc((size_t)n, sizeof *c), sum = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      a[i][j] = b[i][j] = (i * 7 + j) % 13;
  for (int run = 0; run < runs; run++) {
    double start = now();
    region(n, a, b, c);
    printf("seconds %.6f\n", now() - start);
  }
  for (int i = 0; i < n; i++)
    sum += c[i][i];
  printf("sum %a\n", sum);
  return 0;
}
