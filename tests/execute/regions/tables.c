//# stencil_of_directions: parallel
for (int i = 1; i < n - 1; i++)
  for (int j = 1; j < n - 1; j++) {
    double s = 0;
    for (int k = 0; k < 9; k++)
      s += X[i + ex[k]][j + ey[k]] * weight[k];
    y[i * n + j] = s;
  }

//# directions_in_rows: parallel
int i, j, k = 0;
#pragma scop
for (i = 1; i < n - 1; i++)
  for (j = 1; j < n - 1; j++) {
    y[i * n + j] = 0;
    for (k = 0; k < 4; ++k)
      y[i * n + j] += X[i + step[k][0]][j + step[k][1]];
  }
#pragma endscop
a[0] = k;

//# directions_of_the_function: parallel
const int dx[] = {1, -1, 0, 0}, dy[] = {0, 0, 1, -1};
#pragma scop
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) {
    int alive = 0;
    for (int k = 0; k < (int)(sizeof(dx) / sizeof(dx[0])); k++) {
      int u = i + dx[k], v = j + dy[k];
      if (u < 0 || u >= n || v < 0 || v >= n) continue;
      alive += K[u][v];
    }
    a[i * n + j] = alive;
  }
#pragma endscop

//# directions_that_are_not_const: parallel
int dx[4] = {1, -1, 0, 0}, dy[4] = {0, 0, 1, -1};
#pragma scop
for (int k = 3; k >= 0; k--)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      y[i * n + j] += x[(i + dy[k] + n) % n * n + (j + dx[k] + n) % n] * (k + 1);
#pragma endscop

//# directions_of_the_region: parallel
for (int i = 1; i < n - 1; i++)
  for (int j = 1; j < n - 1; j++) {
    const int dx[4] = {1, -1, 0, 0};
    const int dy[4] = {0, 0, 1, -1};
    double best = X[i][j];
    for (int k = 0; k < 4; k++)
      if (X[i + dy[k]][j + dx[k]] > best)
        best = X[i + dy[k]][j + dx[k]];
    y[i * n + j] = best;
  }

//# directions_streamed: parallel
static double f[9][40][40];
for (int k = 0; k < 9; k++)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      f[k][i][j] = 0;
#pragma scop
for (int k = 0; k < 9; k++)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      int u = i - ex[k], v = j - ey[k];
      if (u < 0) u += n;
      if (u >= n) u -= n;
      if (v < 0) v += n;
      if (v >= n) v -= n;
      f[k][i][j] = X[u][v] * k;
    }
#pragma endscop
for (int k = 0; k < 9; k++)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      y[i * n + j] += f[k][i][j] * (k + 1);

//# directions_pushed: parallel
static double f[9][40][40];
#pragma scop
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++)
    for (int k = 0; k < 9; k++) {
      int u = (i + ex[k] + n) % n, v = (j + ey[k] + n) % n;
      f[k][u][v] = X[i][j] * weight[k];
    }
#pragma endscop
for (int k = 0; k < 9; k++)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      y[i * n + j] += f[k][i][j] * (k + 1);

//# directions_in_a_function: parallel
for (int i = 1; i < n - 1; i++)
  for (int j = 1; j < n - 1; j++)
    y[i * n + j] = around(n, x, i * n + j, n);

//# directions_as_characters: parallel
for (int i = 1; i < n - 1; i++)
  for (int j = 1; j < n - 1; j++) {
    int count = 0;
    for (int k = 0; k != DIRECTIONS; k += 2)
      count += c[(i + small[k]) * n + j + small[k + 1]];
    a[i * n + j] = count;
  }

//# directions_without_sign: parallel
for (int i = 0; i < n; i++)
  for (unsigned j = 0; j + 2 < (unsigned)n; j++)
    for (int k = 0; k < 3; k++)
      y[i * n + j] += X[i][j + ahead[k]];

//# elements_that_change: parallel
static int dx[3] = {0, 1, 2};
dx[1] = 2 - (n & 1);
#pragma scop
for (int i = 0; i < n; i++)
  for (int j = 0; j < n - 2; j++)
    for (int k = 0; k < 3; k++)
      y[i * n + j] += X[i][j + dx[k]];
#pragma endscop

//# elements_beyond_the_end: parallel
for (int i = 0; i < n; i++)
  for (int j = 0; j < n - 2; j++)
    for (int k = 0; k < 3; k++)
      if (k < 2)
        y[i * n + j] += X[i][j + pair[k]];
