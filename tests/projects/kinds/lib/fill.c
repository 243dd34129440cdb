#include "fill.h"

#if defined TEXT && (!defined WITH_SPACE || __STDC_VERSION__ < 201112L)
#error "flags are lost"
#endif

void fill(int n, long a[n][n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      a[i][j] = FACTOR * (i + 2 * j);
#pragma endscop
}
