#include "kernels.h"
#include <factor.h>

#define OFFSET 0

void fill(int n, long a[n][n], long b[n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      a[i][j] = FACTOR * (i + 2 * j) + SHIFT + OFFSET + b[j];
#pragma endscop
}
