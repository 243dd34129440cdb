void fill(int n, long a[n][n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      a[i][j] = 2 * (i + 2 * j);
#pragma endscop
}
