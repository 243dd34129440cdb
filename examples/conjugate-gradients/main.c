/* The temperature of a plate that is heated in one place, from Poisson's equation on a grid. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "solver.h"

static struct matrix grid(int m)
{
  struct matrix a = {m * m, NULL, NULL, NULL};
  a.first = malloc(((size_t)a.n + 1) * sizeof(int));
  a.column = malloc(5 * (size_t)a.n * sizeof(int));
  a.entry = malloc(5 * (size_t)a.n * sizeof(double));
  int k = 0;
  for (int i = 0; i < a.n; i++) {
    const int neighbour[5] = {i - m, i % m ? i - 1 : -1, i, i % m < m - 1 ? i + 1 : -1, i + m};
    a.first[i] = k;
    for (int e = 0; e < 5; e++)
      if (neighbour[e] >= 0 && neighbour[e] < a.n) {
        a.column[k] = neighbour[e];
        a.entry[k++] = neighbour[e] == i ? 4.0 : -1.0;
      }
  }
  a.first[a.n] = k;
  return a;
}

int main(int argc, char **argv)
{
  int m = argc > 1 ? atoi(argv[1]) : 300, most = argc > 2 ? atoi(argv[2]) : 600;
  struct matrix a = grid(m);
  size_t n = (size_t)a.n;
  double *x = calloc(n, sizeof *x), *r = calloc(n, sizeof *x), *p = malloc(n * sizeof *x), *y = malloc(n * sizeof *x);
  double *squares = calloc((size_t)most + 1, sizeof *squares);
  for (int i = m / 4; i < m / 2; i++)
    for (int j = m / 4; j < m / 2; j++)
      r[i * m + j] = 1.0;
  struct timespec begin, end;
  timespec_get(&begin, TIME_UTC);
  int steps = solve(&a, most, x, r, p, y, squares);
  timespec_get(&end, TIME_UTC);
  printf("seconds %.6f\n", (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec));
  for (int s = 0; s <= steps; s++)
    printf("residual %.12g\n", squares[s]);
  return 0;
}
