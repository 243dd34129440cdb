#include <stdio.h>

#define N 40000

static double a[N], b[N];

int main(void)
{
  double sum = 0;
  for (int i = 0; i < N; i++)
    a[i] = i * i % 17;
#pragma scop tile_sizes(8)
  for (int t = 0; t < 60; t++) {
    for (int i = 1; i < N - 1; i++)
      b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3;
    for (int i = 1; i < N - 1; i++)
      a[i] = b[i];
  }
#pragma endscop
  for (int i = 0; i < N; i++)
    sum += (i + 1) * a[i];
  printf("%.17g\n", sum);
  return 0;
}
