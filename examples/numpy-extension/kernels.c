/* Loops over tables of points, one row each. */
#include "kernels.h"

void nearest(int n, int m, int d, const double *restrict points, const double *restrict centres,
             double *restrict distance)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    double least = 1e300;
    for (int c = 0; c < m; c++) {
      double square = 0.0;
      for (int k = 0; k < d; k++)
        square += (points[i * d + k] - centres[c * d + k]) * (points[i * d + k] - centres[c * d + k]);
      least = square < least ? square : least;
    }
    distance[i] = least;
  }
#pragma endscop
}

void smooth(int n, int m, double *restrict grid, double *restrict next, int sweeps)
{
#pragma scop
  for (int s = 0; s < sweeps; s++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < m - 1; j++)
        next[i * m + j] = 0.25 * (grid[(i - 1) * m + j] + grid[(i + 1) * m + j] + grid[i * m + j - 1]
                                  + grid[i * m + j + 1]);
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < m - 1; j++)
        grid[i * m + j] = next[i * m + j];
  }
#pragma endscop
}
