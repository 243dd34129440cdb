#include "solver.h"

void time_step(int rows, int n, double u[rows + 2][n], double w[rows + 2][n])
{
#pragma scop
  for (int i = 1; i <= rows; i++)
    for (int j = 1; j < n - 1; j++)
      w[i][j] = u[i][j] + RATE * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] - 4.0 * u[i][j]);
  for (int i = 1; i <= rows; i++)
    for (int j = 1; j < n - 1; j++)
      u[i][j] = w[i][j];
#pragma endscop
}
