#include <stdio.h>

/* A temporary of the function, one of the loop, and a counter that is read afterwards. */
static int normalise(int n, int m, double *rows, const double *weights)
{
  double scale;
  int i;
#pragma scop
  for (i = 0; i < n; i++) {
    double sum = 0;
    for (int j = 0; j < m; j++)
      sum += rows[i * m + j] * weights[j];
    scale = sum > 0 ? 1 / sum : 0;
    for (int j = 0; j < m; j++)
      rows[i * m + j] *= scale;
  }
#pragma endscop
  return i;
}

int main(void)
{
  static double rows[50 * 31], weights[31];
  double sum = 0;
  for (int k = 0; k < 50 * 31; k++)
    rows[k] = (k * 7) % 23;
  for (int k = 0; k < 31; k++)
    weights[k] = k % 5 - 1;
  int last = normalise(50, 31, rows, weights);
  for (int k = 0; k < 50 * 31; k++)
    sum += (k % 9) * rows[k];
  printf("%d %.17g\n", last, sum);
  return 0;
}
