#include <stdio.h>

/* Two matrices into a third. */
static void product(int n, double C[restrict n][n], double A[restrict n][n], double B[restrict n][n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      C[i][j] = 0;
      for (int k = 0; k < n; k++)
        C[i][j] += A[i][k] * B[k][j];
    }
#pragma endscop
}

int main(void)
{
  static double C[70][70], A[70][70], B[70][70];
  double trace = 0;
  for (int i = 0; i < 70; i++)
    for (int j = 0; j < 70; j++)
      A[i][j] = i - j, B[i][j] = (i * j) % 13;
  product(70, C, A, B);
  for (int i = 0; i < 70; i++)
    trace += (i + 1) * C[i][(i * 3) % 70];
  printf("%.17g\n", trace);
  return 0;
}
