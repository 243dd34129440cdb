Sums over windows of a few elements, and other loops of few iterations inside of long ones.

//# filter: parallel
for (int i = 0; i + 2 < n; i++)
  for (int j = 0; j + 2 < n; j++) {
    x[i * n + j] = 0;
    for (int k = 0; k < 3; k++)
      for (int l = 0; l < 3; l++)
        x[i * n + j] += X[i + k][j + l] * (k - l + 0.5);
  }

//# filter_with_a_variable: parallel
for (int i = 0; i + 4 < n; i++)
  for (int j = 0; j + 4 < n; j++) {
    double s = 0;
    for (int k = 0; k < 5; k++)
      for (int l = 0; l < 5; l++)
        s += X[i + k][j + l] / (1 + k + l);
    x[i * n + j] = s;
  }

//# filter_of_integers: parallel
for (int i = 0; i + 2 < n; i++)
  for (int j = 0; j + 2 < n; j++) {
    int s = 0;
    for (int k = 0; k < 3; k++)
      for (int l = 0; l < 3; l++)
        s += c[(i + k) * n + j + l] * (k + 2 * l - 3);
    K[i][j] = s >> 2;
  }

//# nothing_but_the_sum: parallel
for (int i = 0; i + 2 < n; i++)
  for (int j = 0; j + 2 < n; j++)
    for (int k = 0; k < 3; k++)
      for (int l = 0; l < 3; l++)
        x[i * n + j] += X[i + k][j + l] * (k - l + 0.5);

//# edges_are_cut_off: parallel
for (int i = 0; i < n; i++) {
  y[i] = 0;
  for (int k = -2; k <= 2; k++)
    if (i + k >= 0 && i + k < n)
      y[i] += x[i + k] * (3 - k);
}

//# in_place: serial
for (int i = 2; i < n; i++)
  for (int k = 1; k < 3; k++)
    x[i] += x[i - k] * 0.25;

//# colours: parallel
for (int i = 0; i < n; i++)
  for (int j = 0; 3 * j + 2 < n; j++)
    for (int l = 0; l < 3; l++)
      X[i][3 * j + l] = X[i][3 * j + l] * (l + 1) - z[l < n ? l : 0];

//# two_windows_in_a_row: parallel
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) {
    double s = 0;
    for (int k = 0; k < 4; k++)
      s += X[i][(j + k) % n];
    double t = s;
    for (int k = 0; k < 4; k++)
      t -= X[(i + k) % n][j] * s;
    x[i * n + j] = t;
  }

//# few_outside: parallel
for (int k = 0; k < 3; k++)
  for (int i = 0; i < n; i++)
    y[i] += x[i] * (k + 1);

//# sum_that_goes_on: parallel
for (int i = 0; i + 2 < n; i++)
  for (int k = 0; k < 3; k++)
    c[i] += K[i][k] * 77;

//# element_beside_itself: serial
for (int i = 1; i < n; i++)
  for (int k = 0; k < 3; k++)
    y[i] = y[i] * 0.5 + y[i - 1] + x[i] * k;

//# perhaps_stored: parallel
for (int i = 0; i + 2 < n; i++)
  for (int k = 0; k < 3; k++)
    if (x[i + k] > 60)
      y[i] = y[i] / 2 + x[i + k];

//# perhaps_read: parallel
for (int i = 0; i < n; i++) {
  for (int k = 0; k < 2; k++)
    b[i] = z[i] > 0 ? a[i] + b[i] * k : k;
}

//# least_of_a_window: parallel
int w = n % 4;
#pragma scop
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) {
    int m = 1000;
    for (int u = -w; u <= w; u++)
      for (int v = -w; v <= w; v++) {
        int y = i + u, x = j + v;
        if (y >= 0 && y < n && x >= 0 && x < n && K[y][x] < m) m = K[y][x];
      }
    a[i * n + j] = m;
  }
#pragma endscop

//# least_of_a_window_nested: parallel
int w = n % 4;
#pragma scop
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) {
    double m = 1e30;
    for (int u = -w; u <= w; u++)
      for (int v = -w; v <= w; v++)
        if (i + u >= 0 && i + u < n)
          if (j + v >= 0 && j + v < n) {
            double t = X[i + u][j + v];
            if (t < m) m = t;
          }
    y[i * n + j] = m;
  }
#pragma endscop

//# greatest_of_a_window_left_early: parallel
int w = n % 4;
#pragma scop
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) {
    unsigned char m = 0;
    for (int u = i - w; u <= i + w; u++) {
      if (u < 0 || u >= n) continue;
      for (int v = j - w; v <= j + w; v++) {
        if (v < 0 || v >= n) continue;
        m = c[u * n + v] > m ? c[u * n + v] : m;
      }
    }
    a[i * n + j] = m;
  }
#pragma endscop

//# counted_in_a_window_where_data_say_so: parallel
int w = n % 4;
#pragma scop
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) {
    int found = 0;
    for (int u = -w; u <= w; u++)
      for (int v = -w; v <= w; v++)
        if (K[i][j] > 1 && i + u >= 0 && i + u < n && j + v >= 0 && j + v < n && K[i + u][j + v] % 2 == 0)
          found++;
    a[i * n + j] = found;
  }
#pragma endscop

//# tested_before_it_divides: parallel
int w = n % 3;
#pragma scop
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++)
    for (int u = -w; u <= w; u++)
      if (b[i] != 0 && 12 / b[i] > u && j + u >= 0 && j + u < n)
        y[i * n + j] += X[i][j + u];
#pragma endscop

//# least_of_floats_by_doubles: parallel
int w = n % 4;
#pragma scop
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) {
    float m = 1e30f;
    for (int u = -w; u <= w; u++)
      for (int v = -w; v <= w; v++)
        if (i + u >= 0 && i + u < n && j + v >= 0 && j + v < n && X[i + u][j + v] * 1.1 < m)
          m = X[i + u][j + v] * 1.1;
    y[i * n + j] = m;
  }
#pragma endscop
