Arrays that the caller sees, some of whose elements are copied to variables while they are in use.

//# window: serial
#pragma scop contract_arrays(copies) parallel(off)
for (int i = 0; i + 2 < n; i++)
  y[i] = x[i] - 0.5 * x[i + 1] + x[i + 2];
#pragma endscop

//# windows_of_rows: parallel
#pragma scop contract_arrays(copies)
for (int i = 0; i < n; i++)
  for (int j = 2; j + 2 < n; j++)
    x[i * n + j] = X[i][j - 2] - X[i][j - 1] + X[i][j] - X[i][j + 1] + X[i][j + 2];
#pragma endscop

//# window_of_a_flat_array: parallel
#pragma scop contract_arrays(copies)
for (int i = 0; i < n; i++)
  for (int j = 0; j + 2 < n; j++)
    X[i][j] += x[i * n + j] - x[i * n + j + 1] + 2 * x[i * n + j + 2];
#pragma endscop

//# sums_in_place: parallel
#pragma scop contract_arrays(copies)
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++)
    y[i] += X[i][j] * z[j];
#pragma endscop

//# sums_only_written: parallel
#pragma scop contract_arrays(copies)
for (int i = 0; i < n; i++) {
  y[i] = 0;
  for (int j = 0; j < i; j++)
    y[i] += X[i][j] * z[j];
}
#pragma endscop

//# in_place: serial
#pragma scop contract_arrays(copies) parallel(off)
for (int i = 1; i + 1 < n; i++)
  x[i] = (x[i - 1] + x[i] + x[i + 1]) / 4;
#pragma endscop

//# downwards: serial
#pragma scop contract_arrays(copies) parallel(off)
for (int i = n - 3; i >= 0; i--)
  y[i] = x[i] - 0.5 * x[i + 1] + x[i + 2];
#pragma endscop

//# every_other: serial
#pragma scop contract_arrays(copies) parallel(off)
for (int i = 0; 2 * i + 2 < n; i++)
  y[i] = x[2 * i] - 0.5 * x[2 * i + 1] + x[2 * i + 2];
#pragma endscop

//# narrow_integers: serial
#pragma scop contract_arrays(copies) parallel(off)
for (int i = 2; i < n; i++)
  c[i] = c[i] + c[i - 1] * 3 - c[i - 2];
#pragma endscop

//# two_windows: serial
#pragma scop contract_arrays(copies) parallel(off)
for (int i = 0; i + 2 < n; i++)
  y[i] = x[i] - 0.5 * x[i + 1] + x[i + 2] * (z[i] - z[i + 1] + z[i + 2]);
#pragma endscop

//# beside_a_temporary: serial
double t[n];
#pragma scop contract_arrays(copies) parallel(off)
for (int i = 0; i + 2 < n; i++)
  t[i] = x[i] - 0.5 * x[i + 1] + x[i + 2];
for (int i = 1; i + 2 < n; i++)
  y[i] = t[i] + t[i - 1];
#pragma endscop

//# too_many_for_the_variables: serial
#pragma scop contract_arrays(copies) parallel(off) scalars(2)
for (int i = 0; i + 2 < n; i++)
  y[i] = x[i] - 0.5 * x[i + 1] + x[i + 2];
#pragma endscop

//# only_where_asked: serial
#pragma scop contract_arrays(copies) parallel(off)
for (int i = 0; i < n; i++)
  y[i] = b[i] < n - i - 2 && b[i] > -i ? x[i] - 0.5 * x[i + 1] + x[i + 2] : 0;
#pragma endscop

//# threads_share_the_loop: parallel
#pragma scop contract_arrays(copies)
for (int i = 0; i + 2 < n; i++)
  y[i] = x[i] - 0.5 * x[i + 1] + x[i + 2];
#pragma endscop

//# beside_a_statement_that_never_runs: serial
#pragma scop contract_arrays(copies) parallel(off)
for (int i = 2; i < n; i++)
  X[i][n - 1] -= 1;
for (int i = 0; i >= n / 3; i--)
  if (i % 2 == 1)
    X[i][n - 1] = X[2 * i + 1][i + 1];
  else
    X[i][0] = X[2 * i][i] + X[i][i] + X[n - 1 - i][0];
#pragma endscop
