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
