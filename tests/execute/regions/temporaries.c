Temporary arrays between loops that make and use their values.

//# blur: parallel
double t[n][n];
#pragma scop contract_arrays(on) tile_sizes(3,4)
for (int i = 0; i < n; i++)
  for (int j = 0; j + 2 < n; j++)
    t[i][j] = X[i][j] + X[i][j + 1] + X[i][j + 2];
for (int i = 2; i < n; i++)
  for (int j = 0; j + 2 < n; j++)
    x[i * n + j] = t[i][j] + t[i - 1][j] + t[i - 2][j];
#pragma endscop

//# neighbours_of_bytes: parallel
for (int i = 1; i < n - 1; i++) {
  int near = 3 * c[i - 1] - c[i] * 4 + c[i + 1];
  int above = near > 200, low = near < 0 ? -near : near;
  r[i] = above ? near << 16 : low * 70000 + (int)sizeof(int);
}
for (int i = 1; i < n - 1; i++) {
  int all = c[i - 1] + c[i] + c[i + 1];
  a[i] = all * all * 9 + (all == 3);
}

//# blur_other_way: parallel
double t[n][n];
#pragma scop contract_arrays(on) tile_sizes(2,5)
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++)
    t[j][i] = X[j][i] * 0.5;
for (int i = 0; i < n; i++)
  for (int j = 1; j < n; j++)
    x[j * n + i] = t[j][i] - t[j - 1][i];
#pragma endscop

//# two_stages: parallel
double s[n][n], t[n][n];
#pragma scop contract_arrays(on) tile_sizes(3,3)
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++)
    s[i][j] = X[i][j] + 1.0;
for (int i = 1; i < n; i++)
  for (int j = 0; j < n; j++)
    t[i][j] = s[i][j] * s[i - 1][j];
for (int i = 2; i < n; i++)
  for (int j = 0; j < n; j++)
    x[i * n + j] = t[i][j] - t[i - 1][j];
#pragma endscop

//# values_kept_long: parallel
double t[n];
#pragma scop contract_arrays(on)
for (int i = 0; i < n; i++)
  t[i] = x[i] * 3.0;
for (int i = 0; i < n; i++)
  y[i] = t[n - 1 - i];
#pragma endscop

//# pairs_in_line: serial
double t[n];
#pragma scop contract_arrays(on) parallel(off)
for (int i = 0; i < n; i++)
  t[i] = x[i] * 2.0;
for (int i = 2; i < n; i++)
  y[i] = t[i] + t[i - 2];
#pragma endscop

//# scalar_per_step: parallel
double t[n];
#pragma scop contract_arrays(on)
for (int i = 0; i < n; i++) {
  t[i] = x[i] * 2.0;
  y[i] = t[i] + t[i] * z[i];
}
#pragma endscop

//# overwritten: parallel
double t[n][n];
#pragma scop contract_arrays(on) tile_sizes(3,4)
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) {
    t[i][j] = X[i][j];
    t[i][j] += 1.0;
    x[i * n + j] = t[i][j];
    t[i][j] = t[i][j] * 2.0;
    y[i * n + j] = t[i][j];
  }
#pragma endscop

//# convolution_then_clipped: parallel
double t[n][n];
#pragma scop contract_arrays(on)
for (int i = 0; i + 1 < n; i++)
  for (int j = 0; j + 1 < n; j++) {
    t[i][j] = 0;
    for (int k = 0; k < 2; k++)
      for (int l = 0; l < 2; l++)
        t[i][j] += X[i + k][j + l] * y[2 * k + l];
  }
for (int i = 0; i + 1 < n; i++)
  for (int j = 0; j + 1 < n; j++)
    x[i * n + j] = t[i][j] > 0 ? t[i][j] : 0;
#pragma endscop

//# of_integers: parallel
short t[n];
#pragma scop contract_arrays(on)
for (int i = 0; i < n; i++) {
  t[i] = (short)(a[i] * 1000);
  b[i] = t[i] + 1;
}
#pragma endscop

//# fibonacci: serial
if (n < 3) return;
double f[n];
#pragma scop contract_arrays(on)
f[0] = 0;
f[1] = 1;
for (int i = 2; i < n; i++)
  f[i] = f[i - 1] + 0.5 * f[i - 2];
x[0] = f[n - 1];
#pragma endscop

//# front_of_a_stencil: parallel
double t[n][n];
#pragma scop contract_arrays(on) tile_sizes(3,3)
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) {
    t[i][j] = X[i][j];
    if (i > 0) t[i][j] += t[i - 1][j];
    if (j > 0) t[i][j] += t[i][j - 1];
    x[i * n + j] = t[i][j];
  }
#pragma endscop

//# read_afterwards: parallel
double t[n][n];
#pragma scop contract_arrays(on) tile_sizes(3,4)
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++)
    t[i][j] = X[i][j] + 1;
for (int i = 1; i < n; i++)
  for (int j = 0; j < n; j++)
    x[i * n + j] = t[i][j] * t[i - 1][j];
#pragma endscop
for (int i = 0; i < n; i++)
  y[i] = t[i][0];

//# named_by_pragma: serial
double *t = z;
#pragma polybuild temporary(t)
#pragma scop contract_arrays(on) parallel(off)
for (int i = 0; i < n; i++)
  t[i] = x[i] * 2.0;
for (int i = 1; i < n; i++)
  y[i] = t[i] + t[i - 1];
#pragma endscop
for (int i = 0; i < n; i++)
  z[i] = 0;

//# sums_in_any_order: parallel
int t[n];
#pragma scop contract_arrays(on)
for (int i = 0; i < n; i++)
  t[i] = 0;
for (int k = 0; k < n; k++)
  for (int i = 0; i < n; i++)
    t[i] += K[k][i];
for (int i = 0; i < n; i++)
  b[i] = t[i];
#pragma endscop

//# sums_in_variables: parallel
int t[n];
#pragma scop contract_arrays(scalars)
for (int i = 0; i < n; i++) {
  t[i] = 0;
  for (int k = 0; k < n; k++)
    t[i] += K[i][k];
  b[i] = t[i];
}
#pragma endscop

//# named_but_read_first: serial
double *t = z;
#pragma polybuild temporary(t)
#pragma scop contract_arrays(on) parallel(off)
for (int i = 1; i < n; i++) {
  y[i] = t[i - 1];
  t[i] = x[i];
}
#pragma endscop

//# one_side_never_runs: serial
#pragma scop parallel(off)
for (int l = 0; l < n - 1; l++) {
  int t[5];
  for (int i = 0; i < 5; i++)
    t[i] = K[l][0] + n;
  t[0] ^= K[l][1];
  b[l + 1] += l == 1 ? (K[l][l] > 3 ? K[l][0] : t[1]) : b[l];
}
#pragma endscop

//# named_where_nothing_runs: serial
#pragma scop contract_arrays(on) parallel(off)
for (int l = 0; l < n; l++) {
  int t[5];
  for (int i = 0; i < 5; i++)
    t[i] = K[l][0] + i;
  b[l] = l < l - n ? t[0] : K[l][l];
}
#pragma endscop

//# unrolled: parallel
#pragma scop contract_arrays(on)
for (int i = n / 3; i < n; i++) {
  int t[5];
  for (int j = 0; j < 5; j++)
    t[j] = K[i][0] + j;
  b[i] = b[i] * t[1] - (t[0] ^ i);
}
#pragma endscop
