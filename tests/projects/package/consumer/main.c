#include <fill.h>
#include <stdio.h>

int main(void)
{
  static long a[50000];
  long sum = 0;

  fill(50000, a);
  for (int i = 0; i < 50000; i++)
    sum += a[i];
  printf("%ld\n", sum);
  return 0;
}
