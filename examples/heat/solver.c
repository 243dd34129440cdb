/* One time step of the heat equation on a square plate, u_t = u_xx + u_yy.

   An explicit scheme would need tiny time steps. This one, by Peaceman and
   Rachford, is implicit in one direction after the other: every row of points
   is a tridiagonal system of equations, then every column is. Each system is
   solved by elimination, forth to get rid of the lower diagonal, and back to
   get the temperatures. */

#include "solver.h"

#include <stdlib.h>

int elimination_init(struct elimination *e, int n, double dt)
{
  double width = 1.0 / (n - 1);
  double h = 0.5 * dt / (width * width);

  e->coupling = h;
  e->factor = calloc((size_t)n, sizeof *e->factor);
  if (!e->factor)
    return 0;
  for (int k = 1; k < n - 1; k++)
    e->factor[k] = 1.0 / (1.0 + 2.0 * h - h * h * e->factor[k - 1]);
  return 1;
}

void elimination_free(struct elimination *e)
{
  free(e->factor);
}

void time_step(int n, double h, const double factor[n], double u[n][n], double w[n][n], double d[n][n])
{
#pragma scop
  /* Half a step: each row i is a system of equations along j. */
  for (int i = 1; i < n - 1; i++) {
    for (int j = 1; j < n - 1; j++)
      d[i][j] = (u[i][j] + h * (u[i - 1][j] - 2.0 * u[i][j] + u[i + 1][j]) + h * d[i][j - 1]) * factor[j];
    for (int j = n - 2; j >= 1; j--)
      w[i][j] = d[i][j] + h * factor[j] * w[i][j + 1];
  }

  /* The other half: each column j is a system of equations along i. */
  for (int j = 1; j < n - 1; j++) {
    for (int i = 1; i < n - 1; i++)
      d[i][j] = (w[i][j] + h * (w[i][j - 1] - 2.0 * w[i][j] + w[i][j + 1]) + h * d[i - 1][j]) * factor[i];
    for (int i = n - 2; i >= 1; i--)
      u[i][j] = d[i][j] + h * factor[i] * u[i + 1][j];
  }
#pragma endscop
}
