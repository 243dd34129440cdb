//# neighbours_chosen: parallel
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) {
    int c = i * n + j;
    int w = (j == 0) ? c : c - 1, e = j == n - 1 ? c : c + 1;
    int u = (i == 0) ? c : c - n, d = i == n - 1 ? c : c + n;
    y[c] = x[w] + x[e] * 2 + x[u] * 3 + x[d] * 5 + x[c] * 7;
  }

//# neighbours_set_under_conditions: parallel
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) {
    int w, e, u, d;
    if (j == 0) w = i * n + j; else w = i * n + j - 1;
    if (j < n - 1) e = i * n + j + 1; else e = i * n + j;
    if (i > 0) { u = (i - 1) * n + j; } else { u = j; }
    d = (i + 1) * n + j;
    if (i + 1 >= n) d = i * n + j;
    y[i * n + j] = x[w] + x[e] * 2 + x[u] * 3 + x[d] * 5;
  }

//# neighbours_by_macros: parallel
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++)
    y[AT(i, j)] = x[AT(i, CLAMP(j - 1))] + x[AT(i, CLAMP(j + 1))] * 2 + x[AT(CLAMP(i - 1), j)] * 3
                + x[AT(CLAMP(i + 1), j)] * 5;

//# neighbours_by_functions: parallel
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++)
    y[i * n + j] = x[i * n + clamped(j - 1, n)] + x[i * n + clamped(j + 1, n)] * 2
                 + x[clamped(i - 1, n) * n + j] * 3 + x[clamped(i + 1, n) * n + j] * 5;

//# neighbours_of_unsigned_counters: parallel
unsigned m = n;
#pragma scop
for (unsigned i = 0; i < m; i++)
  for (unsigned j = 0; j < m; j++) {
    unsigned w = j == 0 ? 0 : j - 1, e = j == m - 1 ? j : j + 1, u = i == 0 ? 0 : i - 1;
    y[i * m + j] = x[i * m + w] + x[i * m + e] * 2 + x[u * m + j] * 3;
  }
#pragma endscop

//# neighbours_of_rows: parallel
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) {
    int ys = i == 0 ? i : i - 1, yn = i == n - 1 ? i : i + 1;
    int xs = j == 0 ? j : j - 1, xn = j == n - 1 ? j : j + 1;
    y[j + i * n] = x[j + ys * n] + x[j + yn * n] * 2 + x[xs + i * n] * 3 + x[xn + i * n] * 5;
  }

//# two_borders_wide: parallel
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++)
    y[i * n + j] = X[i][j < 2 ? 0 : j - 2] + X[i < n - 2 ? i + 2 : n - 1][j] * 2;

//# windows_under_conditions: parallel
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) {
    double s = 0;
    for (int v = -1; v <= 1; v++)
      for (int u = -2; u <= 2; u++)
        if (i + v >= 0 && i + v < n && j + u >= 0 && j + u < n)
          s += X[i + v][j + u] * (u + 3 * v);
    y[i * n + j] = s;
  }

//# windows_left_early: parallel
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) {
    double s = 0;
    int count = 0;
    for (int v = 0; v < 3; v++) {
      int yy = i + v - 1;
      if (yy < 0 || yy >= n) continue;
      for (int u = 0; u < 3; u++) {
        int xx = j + u - 1;
        if (xx < 0 || xx >= n) continue;
        s += x[yy * n + xx] * (u + 3 * v);
        count++;
      }
    }
    y[i * n + j] = s / count;
  }

//# windows_of_zeros_outside: parallel
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) {
    double s = 0;
    for (int v = -1; v <= 1; v++)
      for (int u = -1; u <= 1; u++) {
        int yy = i + v, xx = j + u;
        double value = (yy >= 0 && yy < n && xx >= 0 && xx < n) ? X[yy][xx] : 1;
        s += value * (u + 3 * v);
      }
    y[i * n + j] = s;
  }

//# windows_cut: parallel
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) {
    double s = 0;
    for (int yy = max(0, i - 1); yy <= min(n - 1, i + 1); yy++)
      for (int xx = max(0, j - 2); xx <= min(n - 1, j + 2); xx++)
        s += X[yy][xx] * (xx - j + 3 * (yy - i));
    y[i * n + j] = s;
  }

//# windows_in_steps: parallel
int half = (n + 1) / 2;
#pragma scop
for (int i = 0; i < half; i++)
  for (int j = 0; j < half; j++) {
    double most = -1000;
    for (int v = 0; v < 3; v++)
      for (int u = 0; u < 3; u++) {
        int yy = 2 * i + v - 1, xx = 2 * j + u - 1;
        double value = yy >= 0 && yy < n && xx >= 0 && xx < n ? X[yy][xx] : -1000;
        most = value > most ? value : most;
      }
    y[i * half + j] = most;
  }
#pragma endscop

//# neighbours_added_under_conditions: parallel
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) {
    double s = X[i][j] * 4;
    if (i > 0) s -= X[i - 1][j];
    if (i < n - 1) s -= X[i + 1][j];
    if (j > 0) s -= X[i][j - 1];
    if (j < n - 1) s -= X[i][j + 1];
    y[i * n + j] = s;
  }

//# torus_of_rows: parallel
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) {
    int s = 0;
    s += K[(i + n - 1) % n][(j + n - 1) % n] + K[(i + n - 1) % n][j] * 2 + K[(i + n - 1) % n][(j + 1) % n] * 3;
    s += K[i][(j + n - 1) % n] * 4 + K[i][(j + 1) % n] * 5;
    s += K[(i + 1) % n][(j + n - 1) % n] * 6 + K[(i + 1) % n][j] * 7 + K[(i + 1) % n][(j + 1) % n] * 8;
    a[i * n + j] = s % 3 == 0 || (s % 3 == 1 && K[i][j]);
  }

//# torus_flat: parallel
for (int jj = 0; jj < n; jj++)
  for (int ii = 0; ii < n; ii++) {
    int yn = (jj + 1) % n, xe = (ii + 1) % n;
    int ys = (jj == 0) ? (jj + n - 1) : (jj - 1), xw = (ii == 0) ? (ii + n - 1) : (ii - 1);
    y[ii + jj * n] = x[ii + jj * n] + x[xw + jj * n] * 2 + x[xe + jj * n] * 3 + x[ii + ys * n] * 4
                   + x[ii + yn * n] * 5 + x[xw + ys * n] * 6 + x[xe + ys * n] * 7 + x[xw + yn * n] * 8
                   + x[xe + yn * n] * 9;
  }

//# torus_of_negative_remainders: parallel
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++)
    y[i * n + j] = X[((i - 1) % n + n) % n][j] + X[i][((j - 1) % n + n) % n] * 2 + X[i][(j + 1 + n) % n] * 3;

//# torus_of_unsigned_counters: parallel
unsigned m = n;
#pragma scop
for (unsigned i = 0; i < m; i++)
  for (unsigned j = 0; j < m; j++)
    y[i * m + j] = x[(i + 1) % m * m + j] + x[i * m + (j + m - 1) % m] * 2;
#pragma endscop

//# torus_by_conditions: parallel
for (int i = 0; i < n; i++) {
  int up = i - 1, down = i + 1;
  if (up < 0) up += n;
  if (down >= n) down -= n;
  for (int j = 0; j < n; j++) {
    int left = j - 1, right = j + 1;
    if (left < 0) left = n - 1;
    if (right == n) right = 0;
    y[i * n + j] = x[up * n + j] + x[down * n + j] * 2 + x[i * n + left] * 3 + x[i * n + right] * 5;
  }
}

//# torus_by_functions: parallel
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++)
    y[i * n + j] = x[wrapped(i - 1, n) * n + j] + x[wrapped(i + 1, n) * n + j] * 2
                 + x[i * n + wrapped(j - 1, n)] * 3 + x[i * n + wrapped(j + 1, n)] * 5;

//# torus_by_macros: parallel
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++)
    y[AT(i, j)] = x[AT(WRAP(i + 1), j)] + x[AT(i, WRAP(j - 1 + n))] * 2;

//# torus_of_windows: parallel
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) {
    int s = 0;
    for (int u = -1; u <= 1; u++)
      for (int v = -1; v <= 1; v++) {
        if (u == 0 && v == 0) continue;
        s += K[(i + u + n) % n][(j + v + n) % n] * (u + 2 * v);
      }
    a[i * n + j] = s == 3 || (s == 2 && K[i][j]);
  }

//# torus_of_windows_around: parallel
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) {
    double s = -x[i * n + j];
    for (int u = i - 1; u <= i + 1; u++)
      for (int v = j - 1; v <= j + 1; v++)
        s += x[(u + n) % n * n + (v + n) % n];
    y[i * n + j] = s;
  }

//# torus_of_windows_of_constants: parallel
static int g[40][24];
#pragma scop
for (int i = 0; i < 40; i++)
  for (int j = 0; j < 24; j++) {
    int s = 0;
    for (int u = -1; u < 2; u++)
      for (int v = -1; v < 2; v++)
        s += g[(i + u + 40) % 40][(j + v + 24) % 24] + u * v;
    g[i][j] += 0 * s + (i * j) % n;
  }
for (int i = 0; i < n && i < 40; i++)
  for (int j = 0; j < n && j < 24; j++)
    for (int u = -1; u < 2; u++)
      a[i * n + j] += g[(i + u + 40) % 40][(j + u + 24) % 24] - g[(40 + u) % 40][(24 - u) % 24];
#pragma endscop

//# torus_of_windows_by_functions: parallel
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++)
    for (int u = -1; u <= 1; u++)
      y[i * n + j] += x[wrapped(i + u, n) * n + wrapped(j - u, n)] * (u + 3);

//# torus_of_masks: parallel
for (int i = 0; i < n / 4 - 3; i++)
  for (int j = 0; j < 4; j++)
    y[i * 4 + j] = x[i * 4 + ((j + 1) & 3)] + x[i * 4 + ((j - 1) & 3)] * 2 + x[i * 4 + (j + 3) % 4] * 3;

//# ring_of_masks: parallel
static double ring[64], next[64];
for (int i = 0; i < 64; i++) ring[i] = x[i % n];
#pragma scop
for (int t = 0; t < n; t++) {
  for (int i = 0; i < 64; i++) next[i] = ring[(i + 1) & 63] - ring[(i - 1) & 63] / 2 + ring[(i + 61) % 64] / 4;
  for (int i = 0; i < 64; i++) ring[i] = next[i];
}
#pragma endscop
for (int i = 0; i < 64; i++) y[i % n] += ring[i];

//# shifted_by_a_parameter: parallel
int shift = n / 3;
#pragma scop
for (int i = 0; i < n; i++)
  y[i] = x[(i + shift) % n];
#pragma endscop

//# shifted_too_far: parallel
int shift = 5 * n + 2;
#pragma scop
for (int i = 0; i < n; i++)
  y[i] = x[(i + shift) % n];
#pragma endscop

//# shifted_to_the_left: parallel
int shift = -3 * n + 1;
#pragma scop
for (int i = 0; i < n; i++)
  y[i] = x[((i + shift) % n + n) % n];
#pragma endscop

//# repeated_after_a_parameter: parallel
int period = n / 4 + 1;
#pragma scop
for (int i = 0; i < n; i++)
  y[i] = x[i % period];
#pragma endscop

//# quotient_by_a_parameter: parallel
for (int i = 0; i < n; i++)
  y[i] = x[(i + n / 2) / n] + i;

//# torus_in_place: parallel
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++)
    X[i][j] += X[i][(j + 1) % n];

//# torus_over_time: parallel
for (int t = 0; t < n; t++) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      y[i * n + j] = X[i][j] + X[(i + 1) % n][j] / 2 + X[i][j == 0 ? n - 1 : j - 1] / 4;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      X[i][j] = y[i * n + j];
}

//# temporaries_of_the_function: parallel
double s, t;
int w;
#pragma scop
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) {
    w = j == 0 ? n - 1 : j - 1;
    s = X[i][w] * 2;
    t = X[i == n - 1 ? 0 : i + 1][j];
    y[i * n + j] = s - t;
  }
#pragma endscop

//# temporary_from_the_row_before: serial
double s = 3;
#pragma scop
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) {
    y[i * n + j] = s;
    s = X[i][j == 0 ? n - 1 : j - 1];
  }
#pragma endscop
x[0] = s;

//# window_of_clamped_rows: parallel
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) {
    double s = 0;
    for (int k = -1; k <= 1; k++)
      for (int l = -1; l <= 1; l++)
        s += X[min(max(i + k, 0), n - 1)][min(max(j + l, 0), n - 1)] * (k + 2 * l);
    y[i * n + j] = s;
  }

//# window_in_a_cube: parallel
int m = n / 4;
#pragma scop
for (int i = 0; i < 4; i++)
  for (int j = 0; j < n; j++)
    for (int k = 0; k < m; k++) {
      int e = k == m - 1 ? k : k + 1, w = k == 0 ? 0 : k - 1, s = j == 0 ? 0 : j - 1;
      y[(i * n + j) * m + k] = x[(i * n + j) * m + e] - x[(i * n + j) * m + w] * 2 + x[(i * n + s) * m + k] * 3;
    }
#pragma endscop

//# stream_of_distributions: parallel
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++)
    if (c[i * n + j] & 1) {
      int e = (j + 1) % n, w = j == 0 ? j + n - 1 : j - 1;
      y[i * n + e] = x[i * n + j];
      z[i * n + w] = x[i * n + j] * 2;
    }

//# upwind_of_data: parallel
for (int i = 2; i < n - 2; i++) {
  int up, down;
  if (x[i] < 60) {
    up = i + 2;
    down = i + 1;
  } else {
    up = i - 1;
    down = i;
  }
  y[i] = (x[up] - x[down]) * 2 + x[down];
}

//# upwind_by_choices: parallel
for (int i = 1; i < n - 1; i++)
  for (int j = 1; j < n - 1; j++) {
    int u = X[i][j] > 3 ? i - 1 : i + 1, w = X[i][j] > X[j][i] ? j - 1 : j + 1;
    y[i * n + j] = x[u * n + j] * 2 + x[i * n + w] * 3 + x[u * n + w];
  }

//# upwind_in_subscripts: parallel
for (int i = 1; i < n - 1; i++)
  for (int j = 1; j < n - 1; j++)
    y[i * n + j] = X[X[i][j] > 3 ? i - 1 : i + 1][j] * 2 + X[i][X[j][i] > 2 ? j : j - 1];

//# upwind_of_three: parallel
int k;
#pragma scop
for (int i = 1; i < n - 1; i++)
  for (int j = 1; j < n - 1; j++) {
    if (X[i][j] < 2)
      k = j - 1;
    else if (X[j][i] < 4)
      k = j;
    else
      k = j + 1;
    y[i * n + j] = X[i][k] * 3 + X[k][i];
  }
#pragma endscop

//# upwind_by_functions: parallel
for (int i = 1; i < n - 1; i++)
  y[i] = x[upwind(x[i], i)] * 2 + x[upwind(x[i + 1], i)];

//# upwind_that_changes: parallel
for (int i = 1; i < n - 1; i++) {
  int k = i - 1;
  if (y[i] > 50) k = i + 1;
  y[i] = x[k] + 1;
  y[i] += x[k] * 3;
}

//# written_where_data_choose: parallel
for (int i = 0; i < n; i++) {
  int k;
  if (x[i] < 60) k = 2 * i; else k = 2 * i + 1;
  y[k] = x[i] + 5;
  y[k] += y[2 * i + 1] * 2;
}

//# classes_counted: serial
for (int i = 0; i < n; i++) {
  int k = x[i] < 40 ? 0 : x[i] < 80 ? 1 : 2;
  y[k] += x[i];
}
