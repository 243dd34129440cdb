What is summed, compared or computed along columns, which threads share in strips.

//# sums: parallel
for (int j = 0; j < n; j++) {
  double s = 0;
  for (int i = 0; i < n; i++)
    s += X[i][j] * x[i];
  y[j] = s;
}

//# flat: parallel
for (int j = 0; j < n; j++) {
  y[j] = 0;
  for (int i = 0; i < n; i++)
    y[j] += x[i * n + j] * z[i];
}

//# zeroed_before: parallel
for (int j = 0; j < n; j++)
  y[j] = 0;
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++)
    y[j] = y[j] + X[i][j] * x[i];

//# counted_down: parallel
for (int j = n - 1; j >= 0; j--) {
  double s = 0;
  for (int i = n - 1; i >= 0; i--)
    s += X[i][j] * x[i];
  y[j] = s;
}

//# by_pointer: parallel
for (int j = 0; j < n; j++) {
  const double *at = x + j;
  double s = 0;
  for (int i = 0; i < n; i++) {
    s += *at * z[i];
    at += n;
  }
  y[j] = s;
}

//# lower_triangle: parallel
for (int j = 0; j < n; j++) {
  double s = 0;
  for (int i = j; i < n; i++)
    s += X[i][j] * x[i];
  y[j] = s;
}

//# upper_triangle_from_one: parallel
for (int j = 1; j < n; j++) {
  double s = 1;
  for (int i = 0; i <= j; i++)
    s += X[i][j] * x[i];
  y[j] = s;
}

//# means_and_variances: parallel
for (int j = 0; j < n; j++) {
  double mean = 0, variance = 0;
  for (int i = 0; i < n; i++)
    mean += X[i][j];
  mean /= n;
  for (int i = 0; i < n; i++)
    variance += (X[i][j] - mean) * (X[i][j] - mean);
  x[j] = mean;
  y[j] = variance / n;
}

//# of_integers: parallel
for (int j = 0; j < n; j++) {
  int s = 0;
  for (int i = 0; i < n; i++)
    s += K[i][j] * a[i];
  b[j] = s;
}

//# in_steps: parallel
for (int k = 0; k < 3; k++)
  for (int j = 0; j < n; j++) {
    double s = y[j];
    for (int i = 0; i < n; i++)
      s += X[i][j] * (x[i] + k);
    y[j] = s;
  }
