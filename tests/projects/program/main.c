#include "kernels.h"
#include <stdio.h>

int main(void)
{
  enum { n = 50000 };
  static long a[n];
  long sum = 0;

  fill(n, a);
  for (int i = 0; i < n; i++)
    sum += a[i];
  printf("%ld\n", sum);
  return sum > 0 ? 0 : 1;
}
