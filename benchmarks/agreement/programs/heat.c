/* The heat example with its results to the last bit: examples/heat/solver.c has the region. */
#include "solver.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
  int n = argc > 1 ? atoi(argv[1]) : 60, steps = argc > 2 ? atoi(argv[2]) : 4;
  struct elimination e;
  double (*u)[n] = calloc(n, sizeof *u), (*w)[n] = calloc(n, sizeof *w), (*d)[n] = calloc(n, sizeof *d);
  if (!u || !w || !d || !elimination_init(&e, n, 0.01 / steps))
    return 1;
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      u[i][j] = (i * 7 + j * 3) % 11;
  for (int step = 0; step < steps; step++)
    time_step(n, e.coupling, e.factor, u, w, d);
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int j = 0; j < n; j++)
      sum = 0.7 * sum + u[i][j] + w[i][j] + d[i][j];
    printf("%a\n", sum);
  }
  free(u);
  free(w);
  free(d);
  elimination_free(&e);
  return 0;
}
