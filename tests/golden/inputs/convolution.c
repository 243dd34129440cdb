#include <stdio.h>

enum { N = 150 };

/* An image and a small kernel. */
static void convolve(const float in[restrict N + 2][N + 2], const float weight[restrict 3][3],
                     float out[restrict N][N])
{
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      float sum = 0;
      for (int k = 0; k < 3; k++)
        for (int l = 0; l < 3; l++)
          sum += in[i + k][j + l] * weight[k][l];
      out[i][j] = sum;
    }
#pragma endscop
}

int main(void)
{
  static float in[N + 2][N + 2], weight[3][3], out[N][N];
  double sum = 0;
  for (int i = 0; i < N + 2; i++)
    for (int j = 0; j < N + 2; j++)
      in[i][j] = (float)(i * j % 11);
  for (int k = 0; k < 3; k++)
    for (int l = 0; l < 3; l++)
      weight[k][l] = (float)(k - l + 1);
  convolve((const float(*)[N + 2])in, (const float(*)[3])weight, out);
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      sum += (i + 2 * j) * out[i][j];
  printf("%.17g\n", sum);
  return 0;
}
