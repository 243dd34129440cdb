#include "kernels.h"

void fill(int n, long a[n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    a[i] = FACTOR * i + 1;
#pragma endscop
}
