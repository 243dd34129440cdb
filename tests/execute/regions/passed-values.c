//# nearest_counted: parallel
for (int i = 0; i < n; i++) {
  int at = 0;
  double least = 1e30;
  for (int k = 0; k < n; k++) {
    double d = 0;
    for (int j = 0; j < 8; j++) {
      double t = x[i * 8 % n * n + j % n] - X[k][j % n];
      d += t * t;
    }
    if (d < least) { least = d; at = k; }
  }
  r[i] = at;
  a[at]++;
  for (int j = 0; j < n; j++)
    K[at][j] += b[i * n + j];
}

//# nearest_in_an_element: parallel
for (int i = 0; i < n; i++) {
  r[i] = 0;
  double least = 1e30;
  for (int k = 0; k < n; k++) {
    double d = 0;
    for (int j = 0; j < 8; j++)
      d += (X[i][j % n] - X[k][j % n]) * (z[j % n] + 4);
    if (d < least) { least = d; r[i] = k; }
  }
  y[r[i]] += z[i] * 0.5;
}

//# nearest_with_its_distance: parallel
double loss = 0;
int at;
#pragma scop
for (int i = 0; i < n; i++) {
  double least = 1e30;
  at = -1;
  for (int k = 0; k < n; k++) {
    double d = 0;
    for (int j = 0; j < n; j++)
      d += (X[i][j] - x[k * n + j]) * (X[i][j] - x[k * n + j]);
    if (d < least) least = d, at = k;
  }
  if (at >= 0) a[at] += 1;
  loss += least;
}
#pragma endscop
y[0] += loss;

//# deposited: parallel
for (int i = 0; i < n; i++) {
  double p = 0;
  for (int k = 0; k < n; k++)
    p += X[i][k] / (x[k] * x[k] + 1) + sqrt(fabs(z[k])) * X[k][i];
  p = fabs(p) / (fabs(p) + 1) * (n - 1);
  int cell = (int)p;
  double weight = p - cell;
  y[cell] += 1 - weight;
  y[cell + (cell < n - 1)] += weight;
}

//# recurrence_of_sums: parallel
double e = 0.5;
#pragma scop
for (int i = 0; i < n; i++) {
  double s = 0;
  for (int k = 0; k < n; k++)
    s += X[i][k] * X[k][i] / (x[k] + 1);
  e = 0.5 * e + s;
  y[i] = e;
}
#pragma endscop
y[0] += e;

//# largest_kept_in_order: parallel
int filled = 0;
#pragma scop
for (int i = 0; i < n; i++) {
  double s = 0;
  for (int k = 0; k < n; k++)
    s += X[i][k] * z[k] / (x[k] + 1);
  if (s > 0) { y[filled] = s; filled = filled + 1; }
}
#pragma endscop
a[0] += filled;

//# read_by_those_that_run_in_any_order: serial
double e = 0.5;
#pragma scop
for (int i = 0; i < n; i++) {
  double s = e;
  for (int k = 0; k < n; k++)
    s += X[i][k] / (s * s + x[k] + 1);
  e = s * 0.5;
  y[i] = e;
}
#pragma endscop
y[0] += e;

//# set_between: parallel
for (int i = 0; i < n; i++) {
  double s = 0;
  for (int k = 0; k < n; k++)
    s += X[i][k] / (x[k] + 1);
  int at = (int)fabs(s) % n;
  a[at] += 1;
  s = 0;
  for (int k = 0; k < n; k++)
    s += X[k][i] / (x[k] + 2);
  at = (int)fabs(s) % n;
  a[at] += 2;
}

//# products_with_a_norm: parallel
for (int t = 0; t < 5; t++) {
  double norm = 0;
  for (int i = 0; i < n; i++) {
    double s = 0;
    for (int j = 0; j < n; j++)
      s += X[i][j] * x[j];
    y[i] = s;
    if (fabs(s) > norm) norm = fabs(s);
  }
  for (int i = 0; i < n; i++)
    x[i] = y[i] / (norm + 1);
}

//# products_with_a_sum_in_order: parallel
double sum;
#pragma scop
for (int t = 0; t < 5; t++) {
  sum = 0;
  for (int i = 0; i < n; i++) {
    double s = z[i];
    for (int j = 0; j < n; j++)
      s += X[i][j] * x[j];
    y[i] = s;
    sum += s * s;
  }
  for (int i = 0; i < n; i++)
    x[i] = y[i] / (sum + 1);
}
#pragma endscop
z[0] = sum;

//# steps_that_count_the_nearest: parallel
for (int t = 0; t < 3; t++) {
  for (int i = 0; i < n; i++) {
    int at = 0;
    double least = 1e30;
    for (int k = 0; k < n; k++) {
      double d = 0;
      for (int j = 0; j < 8; j++)
        d += (X[i][j % n] - X[k][j % n]) * (z[j % n] + t);
      if (d < least) { least = d; at = k; }
    }
    r[i] = at;
    a[at]++;
  }
  for (int i = 0; i < n; i++)
    z[i] = a[i] % 5 - 2;
}
