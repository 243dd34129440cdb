#include "kernels.h"
#include <stdio.h>

enum { n = 50 };

int main(void)
{
  static long a[n][n], b[n];
  long sum = 0;

  fill(n, a, b);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      sum += (i + 3 * j) * a[i][j];
  printf("%ld\n", sum);
  return 0;
}
