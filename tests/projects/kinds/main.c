#include "lib/fill.h"
#include <stdio.h>

enum { n = 200 };

int main(void)
{
  static long a[n][n];
  long sum = 0;

  fill(n, a);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      sum += (i + 3 * j) % 7 * a[i][j];
#ifdef MORE
  sum = more(sum);
#endif
  printf("%ld\n", sum);
#ifdef TEXT
  printf("%s %c %d\n", TEXT, LETTER, N);
#endif
  return 0;
}
