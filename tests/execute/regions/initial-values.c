// Bodies of functions as in data-dependent.c: arrays that start with values, or as zero.

//# rows_in_braces: parallel
for (int i = 0; i < n; i++) {
  double R[2][3] = {{x[i], 1, 2}, {3, -x[i]}};
  for (int j = 0; j < 6; j++) y[i] += R[j / 3][j % 3] * (j + 1);
}

//# rows_without_braces: parallel
for (int i = 0; i < n; i++) {
  const double R[2][3] = {x[i], 1, 2, 3, -x[i]};
  for (int j = 0; j < 6; j++) y[i] += R[j / 3][j % 3] * (j + 1);
}

//# rows_by_subscripts: parallel
for (int i = 0; i < n; i++) {
  double R[3][2] = {[1] = {x[i], [1] = 2}, {4}}, t[3] = {[1] = 2, 3};
  for (int j = 0; j < 3; j++) y[i] += R[j][0] * t[j] - R[j][1];
}

//# matrix_of_zeros: parallel
for (int i = 0; i < n; i++) {
  double J[3][3] = {{0}};
  for (int j = 0; j < n; j++)
    for (int p = 0; p < 3; p++)
      for (int q = 0; q < 3; q++) J[p][q] += X[i][j] * (p + q * x[j]);
  y[i] = J[0][0] * J[1][2] - J[2][1];
}

//# long_array_of_zeros: parallel
for (int i = 0; i < n; i++) {
  int h[300] = {0}, best = 0;
  for (int j = 0; j < n; j++) h[K[i][j]]++;
  for (int j = 1; j < 300; j++) best = h[j] > h[best] ? j : best;
  a[i] = best;
}

//# zeros_behind_others: parallel
for (int i = 0; i < n; i++) {
  double f[40] = {x[i], 2}, zero_0 = 0.5;
  for (int j = 0; j < 40; j++) f[j] += zero_0 * j;
  for (int j = 0; j < 40; j++) y[i] += f[j] * f[39 - j];
}

//# zeros_in_a_function: parallel
for (int i = 0; i < n; i++) y[i] = folded(x + i, n - i);

//# zeros_of_three_dimensions: parallel
for (int i = 0; i < n; i++) {
  float C[2][3][4] = {{{0}}, {{0.f}}};
  for (int j = 0; j < 24; j++) C[j % 2][j % 3][j / 6] += (float)(x[i] + j);
  y[i] = C[0][0][0] + C[1][2][3] * C[1][1][1];
}

//# zeros_that_numbers_name: parallel
for (int i = 0; i < n; i++) {
  double acc[12] = {0.0};
  for (int j = 0; j < n; j++) { acc[0] += X[i][j]; acc[5] += X[i][j] * x[j]; acc[11] -= x[j]; }
  y[i] = acc[0] + acc[5] * acc[11] + acc[7];
}

//# extents_that_are_computed: parallel
for (int i = 0; i < n; i++) {
  double f[2 * HALF + 1] = {0}, g[SIDES][HALF] = {{1}, {x[i]}};
  for (int j = 0; j < 2 * HALF; j++) f[j + 1] = g[j / HALF][j % HALF] + f[j];
  y[i] = f[2 * HALF];
}

//# values_by_two_subscripts: initialiser-list
double R[2][2] = {[0][1] = 1, [1][0] = 3};
for (int i = 0; i < n; i++) y[i] += R[i % 2][0];

//# value_given_twice: initialiser-list
double R[3] = {1, 2, [1] = 3};
for (int i = 0; i < n; i++) y[i] += R[i % 3];
