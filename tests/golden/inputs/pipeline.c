#include <stdio.h>

enum { N = 500 };

/* Blurred rows, then blurred columns, of an image: what is between them needs three rows at a time. */
static void blur(float image[N][N], float blurred[N][N])
{
  float rows[N][N];
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 1; j < N - 1; j++)
      rows[i][j] = (image[i][j - 1] + image[i][j] + image[i][j + 1]) / 3;
  for (int i = 1; i < N - 1; i++)
    for (int j = 1; j < N - 1; j++)
      blurred[i][j] = (rows[i - 1][j] + rows[i][j] + rows[i + 1][j]) / 3;
#pragma endscop
}

int main(void)
{
  static float image[N][N], blurred[N][N];
  double sum = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      image[i][j] = (float)(i * 7 + j * j % 23);
  blur(image, blurred);
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      sum += (i + 2 * j) * blurred[i][j];
  printf("%.17g\n", sum);
  return 0;
}
