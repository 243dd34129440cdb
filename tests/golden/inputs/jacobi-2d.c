#include <stdio.h>

enum { N = 300, STEPS = 50 };

static double a[N][N], b[N][N];

/* Jacobi's method on a square. */
static void relax(void)
{
#pragma scop
  for (int t = 0; t < STEPS; t++) {
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        b[i][j] = (a[i][j] + a[i][j - 1] + a[i][j + 1] + a[i - 1][j] + a[i + 1][j]) / 5;
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        a[i][j] = b[i][j];
  }
#pragma endscop
}

int main(void)
{
  double sum = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      a[i][j] = i * j % 17;
  relax();
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      sum += (i + 2 * j) * a[i][j];
  printf("%.17g\n", sum);
  return 0;
}
