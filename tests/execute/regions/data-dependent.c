// Bodies of functions with the parameters of region_programs.PARAMETERS. A line of the form
// "//# name: parallel" (or serial, or the code of a refusal) begins a case and says what is
// expected of it; the whole body is the region unless the case marks one.

//# condition: parallel
for (int i = 0; i < n; i++) if (a[i] > 2) x[i] = y[i]; else x[i] += 1;

//# condition_on_own: parallel
for (int i = 0; i < n; i++) if (x[i] > 50) x[i] = -x[i];

//# condition_nested: parallel
for (int i = 0; i < n; i++) if (a[i] > 2) { if (b[i] > 0) x[i] = 1; } else x[i] = 2;

//# condition_around_loop: parallel
for (int i = 0; i < n; i++) if (b[i] > 0) for (int j = 0; j < n; j++) X[i][j] = x[j] + b[i];

//# condition_guards_bounds: parallel
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) {
    double s = X[i][j];
    if (j > 0 && b[j] > 0) s += X[i][j - 1] * 0.5;
    K[i][j] = (int)s;
  }

//# condition_carries: serial
for (int i = 1; i < n; i++) if (x[i - 1] > 60) x[i] = x[i - 1] - 50; else x[i] += x[i - 1];

//# condition_around_nest: parallel
if (x[0] > 60) for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) X[i][j] += y[j];
else for (int i = 0; i < n; i++) y[i] = i;

//# condition_in_time: parallel
for (int t = 0; t < 5; t++)
  if (b[t % n] > 0) {
    for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) X[i][j] += y[j] * t;
  } else for (int i = 0; i < n; i++) y[i] += t;

//# condition_that_changes: serial
if (x[0] > 60) for (int i = 0; i < n; i++) x[i] = i;
for (int i = 1; i < n; i++) x[i] += x[i - 1];

//# ternary: parallel
for (int i = 0; i < n; i++) x[i] = y[i] > 50 ? z[i] : x[i] * 2;

//# ternary_subscript: parallel
for (int i = 0; i < n; i++) x[i] = y[b[i] > 0 ? i : 0];

//# scalar_in_branches: parallel
for (int i = 0; i < n; i++) { double t; if (b[i] > 0) t = x[i]; else t = y[i]; z[i] = t * t; }

//# scalar_in_one_branch: serial
double t = 5;
for (int i = 0; i < n; i++) { if (b[i] > 0) t = x[i]; z[i] = t * t; }

//# maximum_with_place: parallel
double best = -1; int place = 0;
for (int i = 0; i < n; i++) if (x[i] > best) { best = x[i]; place = i; }
y[0] = best; a[0] = place;

//# place_of_maximum: parallel
int place = 0;
for (int i = 1; i < n; i++) if (x[i] > x[place]) place = i;
a[0] = place;

//# place_of_minimum_downwards: parallel
int place = n > 0 ? n - 1 : 0;
for (int i = n - 2; i >= 0; i--) if (x[place] * y[place] >= x[i] * y[i]) { place = i; }
a[0] = place;

//# places_in_rows: parallel
for (int i = 0; i < n; i++) {
  int place = 0;
  for (int j = 1; j < n; j++) place = X[i][j] < X[i][place] ? j : place;
  a[i] = place;
}

//# place_in_a_narrow_type: serial
signed char place = 0;
for (int i = 1; i < n; i++) if (x[i] > x[place & 7]) place = i;
a[0] = place;

//# in_a_block: parallel
{ double s = y[0]; for (int i = 0; i < n; i++) if (a[i] > 2) x[i] = s; z[0] = s; }

//# gather: parallel
for (int i = 0; i < n; i++) y[i] = x[a[i]];

//# gather_twice: parallel
for (int i = 0; i < n; i++) y[i] = x[a[a[i]]] + X[a[i]][i];

//# gather_under_condition: parallel
double *u = x, *v = y;
#pragma scop
for (int i = 0; i < n; i++) if (b[i] >= 0 && b[i] < n) v[i] = u[b[i]] + 1;
#pragma endscop

//# gather_under_condition_in_place: parallel
double *u = x, *v = x;
#pragma scop
for (int i = 0; i < n; i++) if (b[i] >= 0 && b[i] < n) v[i] = u[b[i]] + 1;
#pragma endscop

//# gather_of_chosen: parallel
double *u = x, *v = y;
#pragma scop
for (int i = 0; i < n; i++) { int k = b[i]; v[i] += k < 0 || k >= n ? 2 : u[k]; }
#pragma endscop

//# gather_in_place: serial
for (int i = 0; i < n; i++) x[i] = x[a[i]] + 1;

//# gather_row: parallel
for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) X[i][j] += x[K[i][j]];

//# scatter: serial
for (int i = 0; i < n; i++) x[a[i]] = y[i];

//# scatter_in_row: parallel
for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) X[i][K[i][j]] = x[j] + i;

//# histogram: serial
for (int i = 0; i < n; i++) b[a[i]]++;

//# histogram_of_rows: parallel
for (int i = 0; i < n; i++) {
  for (int j = 0; j < n; j++) X[i][j] = 0;
  for (int j = 0; j < n; j++) X[i][K[i][j]] += x[j];
}

//# histogram_of_blocks: parallel
for (int i = 0; i < n / 4; i++)
  for (int j = 0; j < n; j++) x[4 * i + (K[i][j] & 3)] += y[j] + z[4 * i + a[j] % 4];

//# histogram_of_blocks_that_meet: serial
for (int i = 0; i < n / 4; i++) for (int j = 0; j < n; j++) x[3 * i + (K[i][j] & 3)] += y[j];

//# nonlinear_subscript: parallel
for (int i = 0; i < n; i++) y[i] = x[i * i % n];

//# local_gathered: parallel
for (int i = 0; i < n; i++) {
  double t[4];
  for (int k = 0; k < 4; k++) t[k] = x[i] * k;
  y[i] = t[c[i] & 3] + t[c[i] >> 6];
}

//# two_locals: parallel
for (int i = 0; i < n; i++) { double t = x[i]; if (b[i] > 0) t += y[i]; z[i] = t; }
for (int i = 0; i < n; i++) {
  float t[2];
  t[0] = t[1] = 0;
  if (b[i] > 0) t[a[i] & 1] = sizeof t;
  y[i] = t[1];
}

//# break_out: parallel
for (int i = 0; i < n; i++) {
  int j;
  for (j = 0; j < n; j++) { if (X[i][j] > 9) break; X[i][j] += 1; }
  a[i] = j;
}

//# break_of_search: parallel
for (int i = 0; i < n; i++) {
  double s = 0;
  for (int j = 0; j < n; j++) { s += X[i][j]; if (s > 20) break; }
  x[i] = s;
}

//# break_of_outer: early-exit
for (int i = 0; i < n; i++) { if (x[i] > 100) break; x[i] += 1; }

//# continue_outer: parallel
for (int i = 0; i < n; i++) { if (b[i] < 0) continue; x[i] += 1; y[i] *= 2; }

//# continue_affine: parallel
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) { if (i == j) continue; X[i][j] += 2; }

//# continue_deep: parallel
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) {
    if (X[i][j] > 0) { X[i][j] = 0; if (j > 2) continue; K[i][j] = 3; }
    X[i][j] += 2;
  }

//# while_loop: parallel
for (int i = 0; i < n; i++) { int k = a[i], s = 0; while (k > 0) { s += k; k /= 2; } b[i] = s; }

//# while_alone: while
while (x[0] > 3) x[0] /= 2;

//# do_loop: parallel
for (int i = 0; i < n; i++) { int k = a[i], s; do { s = k; k -= 3; } while (k > 0); b[i] = s; }

//# do_with_break: parallel
for (int i = 0; i < n; i++) {
  int k = a[i], s = 9;
  do { if (k == 1) break; s = k; k -= 3; } while (k > 0);
  b[i] = s;
}

//# switch_cases: parallel
for (int i = 0; i < n; i++)
  switch (a[i] & 3) { case 0: x[i] = 1; break; case 1: x[i] = 2; default: x[i] += 3; }

//# switch_that_translates: parallel
for (int i = 0; i < n; i++) {
  int t;
  switch (a[i] & 7) { case 0: t = 5; break; case 1: case 2: t = i; break; case 6: t = b[i]; break; default: t = -1; }
  x[i] = t;
}

//# switch_that_updates: parallel
for (int i = 0; i < n; i++)
  switch (b[n - 1 - i] - 'a') { case 1: x[i] += 1; break; case 3: x[i] = y[i]; z[i] += 2; break; case 4: break; case 5: x[i] = 0; }

//# switch_with_continue: parallel
for (int i = 0; i < n; i++) {
  int s = 0;
  for (int j = 0; j < n; j++) { switch (b[j] + i & 1) { case 1: continue; default: break; } s += j; }
  a[i] = s;
}

//# switch_scalar: parallel
for (int i = 0; i < n; i++) {
  double t = 0;
  switch (a[i] % 3) { case 0: t = 2; case 1: t += y[i]; break; default: { double t = z[i]; x[i] = t; } }
  x[i] += t;
}

//# flag: parallel
for (int i = 0; i < n; i++) {
  int found = 0, j = 0;
  while (!found && j < n) { if (K[i][j] == i) found = 1; else j++; }
  a[i] = found ? j : -1;
}

//# dynamic_upper: parallel
for (int i = 0; i < n; i++) { double s = 0; for (int j = 0; j < a[i]; j++) s += X[i][j]; x[i] = s; }

//# dynamic_lower: parallel
for (int i = 0; i < n; i++) for (int j = a[i]; j < n; j++) X[i][j] = j;

//# dynamic_down: parallel
for (int i = 0; i < n; i++) for (int j = a[i]; j >= 0; j--) X[i][j] = j + x[i];

//# dynamic_writes_columns: parallel
for (int i = 0; i < n; i++) for (int j = 0; j < a[i]; j++) X[j][i] = j;

//# dynamic_writes_below: serial
for (int i = 0; i < n; i++) for (int j = a[i]; j < n; j++) x[j] += y[i];

//# dynamic_stride: parallel
for (int i = 0; i < n; i++) for (int j = 0; j < n; j += a[i] + 1) X[i][j] = j;

//# doubling: parallel
for (int i = 0; i < n; i++) for (int j = 1; j < n; j *= 2) X[i][j] = j;

//# csr: parallel
for (int i = 0; i < n; i++) {
  double s = 0;
  for (int j = r[i]; j < r[i + 1]; j++) s += x[j] * y[a[j]];
  z[i] = s;
}

//# csr_with_bounds_that_change: parallel
for (int i = 0; i < n; i++) {
  int first = r[i], end = r[i + 1];
  if (n > 1) end = r[i];
  for (int j = first; j < end; j++) z[i] += y[j];
}

//# csr_in_place: parallel
for (int i = 0; i < n; i++) for (int j = r[i]; j < r[i + 1]; j++) z[i] += x[j] * y[a[j]];

//# csr_outer_counters: parallel
int i, j; double s;
#pragma scop
for (i = 0; i < n; i++) {
  s = 0;
  for (j = r[i]; j < r[i + 1]; j++) s += x[j] * y[a[j]];
  z[i] = s;
}
#pragma endscop
for (j = 0; j < n; j++) z[j] += 1;

//# csr_live_counter: serial
int i, j = 0;
#pragma scop
for (i = 0; i < n; i++) {
  double s = 0;
  for (j = r[i]; j < r[i + 1]; j++) s += x[j] * y[a[j]];
  z[i] = s;
}
#pragma endscop
b[0] = i + j;

//# csr_shared_counter: parallel
int i, j;
#pragma scop
for (j = 0; j < n; j++) z[j] = 1;
for (i = 0; i < n; i++) for (j = r[i]; j < r[i + 1]; j++) z[i] += x[j] * y[a[j]];
for (i = 0; i < n; i++) for (j = 0; j < n; j++) X[i][j] += z[j];
#pragma endscop

//# csr_symmetric: serial
for (int i = 0; i < n; i++) {
  double s = 0;
  for (int j = r[i]; j < r[i + 1]; j++) { s += x[j] * y[a[j]]; z[a[j]] += x[j] * y[i]; }
  z[i] += s;
}

//# ell: parallel
for (int i = 0; i < n; i++) {
  double s = 0;
  for (int k = 0; k < n; k++) { if (K[i][k] == 0) break; s += X[i][k] * x[K[i][k]]; }
  y[i] = s;
}

//# ell_padded: parallel
for (int i = 0; i < n; i++) {
  double s = 0;
  for (int k = 0; k < n; k++) if (K[k][i] != 0) s += X[k][i] * x[K[k][i]];
  y[i] = s;
}

//# hog: parallel
for (int i = 0; i < n; i++) {
  for (int k = 0; k < n; k++) X[i][k] = 0;
  for (int j = 0; j < n; j++) {
    int bin = (c[j] * n) >> 8, first = bin > 0 ? bin - 1 : 0;
    for (int k = first; k <= bin; k++) X[i][k] += x[j] * (K[i][j] & 1);
  }
}

//# shadowed_counter: parallel
for (int i = 0; i < n; i++) {
  int s = 0;
  for (int j = 0; j < a[i]; j++) { int i = j * 2; s += i; }
  b[i] = s + i;
}

//# counter_in_condition: parallel
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) if (K[i][j] == j && i != j) X[i][j] = i - j;

//# work_array: parallel
double t[3];
#pragma scop
for (int i = 0; i < n; i++) {
  t[0] = x[i]; t[1] = y[i];
  if (t[0] > t[1]) { t[2] = t[0]; t[0] = t[1]; t[1] = t[2]; }
  z[i] = t[1] - t[0];
}
#pragma endscop

//# work_array_filled_in_part: serial
double t[2] = {1, 2};
#pragma scop
for (int i = 0; i < n; i++) { t[a[i] & 1] = x[i]; if (b[i] > 0) t[0] = y[i]; z[i] = t[1] - t[0]; }
#pragma endscop

//# compaction: serial
int k = 0;
for (int i = 0; i < n; i++) if (b[i] > 0) y[k++] = x[i];
a[0] = k;

//# nested_dynamic: parallel
for (int i = 0; i < n; i++) {
  int s = 0;
  for (int j = 0; j < a[i]; j++) for (int k = 0; k < K[i][j]; k++) s += k;
  b[i] = s;
}

//# triangular: parallel
for (int i = 0; i < n; i++) {
  double s = 0;
  for (int j = 0; j <= i; j++) if (X[i][j] > 0) s += X[i][j];
  y[i] = s;
}

//# bubble: parallel
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++)
    for (int k = 0; k < n - 1 - j; k++)
      if (X[i][k] > X[i][k + 1]) { double t = X[i][k]; X[i][k] = X[i][k + 1]; X[i][k + 1] = t; }

//# insertion: parallel
for (int i = 0; i < n; i++)
  for (int j = 1; j < n; j++) {
    double v = X[i][j];
    int k = j - 1;
    while (k >= 0 && X[i][k] > v) { X[i][k + 1] = X[i][k]; k--; }
    X[i][k + 1] = v;
  }

//# jump: parallel
for (int i = 0; i < n; i++) { if (x[i] > 50) goto skip; x[i] = 1; skip: y[i] = 2; }

//# leave: early-exit
for (int i = 0; i < n; i++) { if (x[i] > 1000) return; x[i] = 1; }

//# search: search
for (int i = 0; i < n; i++) { if (x[i] > 1000) return; }

//# bound_in_memory: parallel
b[0] = n;
#pragma scop
for (int i = 0; i < b[0]; i++) x[i] = i;
#pragma endscop

//# member_not_always_read: parallel
struct s { int n, m; } all = {n, 1}, *p = n > 5 ? &all : 0;
#pragma scop
for (int i = 5; i < n; i++) for (int j = 0; j < p->n - 1; j++) X[i][j] = X[i][j + p->m] + j;
#pragma endscop

//# member_read_under_condition: parallel
struct s { int n, m; } all = {n, 1}, *p = n > 5 ? &all : 0;
#pragma scop
for (int i = 0; i < n; i++) {
  if (i > 4) for (int j = 0; j < p->n; j++) X[i][j] = i + p->m;
  if (n > 6) x[i] = p->n + y[(i + p->m) % n];
}
#pragma endscop

//# member_read_under_data: parallel
struct s { int n, m; } all = {n, 1}, *p = b[0] > 0 ? &all : 0;
#pragma scop
for (int i = 0; i < n; i++) x[i] = b[0] > 0 ? y[i * p->m] : z[i];
#pragma endscop

//# bound_in_memory_not_always_read: parallel
int *p = n > 5 ? a : 0;
#pragma scop
for (int i = 5; i < n; i++) for (int j = 0; j < p[3]; j++) X[i][j] = i + j;
#pragma endscop

//# bound_in_memory_under_condition: parallel
int *p = n > 5 ? a : 0;
#pragma scop
for (int i = 0; i < n; i++) if (i > 4) for (int j = 0; j < p[3]; j++) X[i][j] = i + j;
#pragma endscop

//# bound_in_memory_that_changes: parallel
for (int i = 0; i < n; i++) { X[i][0] = 1; for (int j = 0; j < a[0]; j++) X[i][j] = i + j; }
for (int i = 0; i < n; i++) a[i] = 0;

//# bound_in_memory_under_data: parallel
int *p = b[0] > 0 ? a : 0;
#pragma scop
for (int i = 0; i < n; i++) if (b[0] > 0) for (int j = 0; j < p[0]; j++) X[i][j] = i + j;
#pragma endscop

//# kept_values_after_continue: serial
double t[4] = {1, 2, 3, 4};
#pragma scop
for (int i = 0; i < n; i++)
  if (x[i] > 30) {
    for (int k = 0; k < 4; k++) { if (a[i] >> k & 1) continue; t[k] = x[i]; }
    y[i] = t[0] + t[1] + t[2] + t[3];
  }
#pragma endscop

//# values_before_use: parallel
double t[4] = {1, 2, 3, 4};
#pragma scop
for (int i = 0; i < n; i++)
  if (x[i] > 30) {
    for (int k = 0; k < 4; k++) { t[k] = x[i]; if (a[i] >> k & 1) continue; t[k] += 1; }
    y[i] = t[0] + t[1] + t[2] + t[3];
  }
#pragma endscop

//# dynamic_work_variable: parallel
double t;
#pragma scop
for (int i = 0; i < n; i++) for (int j = r[i]; j < r[i + 1]; j++) { t = x[j]; X[i][a[j]] += t * t; }
#pragma endscop

//# dynamic_work_array: parallel
double t[3];
#pragma scop
for (int i = 0; i < n; i++)
  for (int j = 0; j < a[i]; j++) {
    for (int k = 0; k < 3; k++) t[k] = x[j] + k;
    if (K[i][j] > 2) t[1] = 0;
    for (int k = 0; k < 3; k++) X[i][j] += t[k];
  }
#pragma endscop

//# dynamic_work_variable_from_before: serial
double t = 3;
#pragma scop
for (int i = 0; i < n; i++) for (int j = 0; j < a[i]; j++) { X[i][j] = t; t = x[j]; }
#pragma endscop

//# dynamic_value_of_last: parallel
for (int i = 0; i < n; i++) { double t = 1; for (int j = 0; j < a[i]; j++) t = X[i][j]; y[i] = t; }

//# dynamic_around_affine: parallel
for (int i = 0; i < n; i++)
  for (int j = r[i]; j < r[i + 1]; j++)
    for (int k = 0; k < n; k++) X[i][k] += x[j] * K[a[j]][k];

//# dynamic_in_affine: parallel
for (int i = 0; i < n; i++)
  for (int k = 0; k < n; k++)
    for (int j = r[i]; j < r[i + 1]; j++) X[i][k] += x[j] * K[a[j]][k];

//# dynamic_in_dynamic: parallel
for (int i = 0; i < n; i++)
  for (int j = 0; j < a[i]; j++) {
    X[i][j] = 0;
    for (int k = 0; k < K[i][j]; k++) X[i][j] += x[k];
  }

//# dynamic_in_time: parallel
for (int t = 0; t < n; t++) {
  for (int i = 0; i < n; i++) { z[i] = 0; for (int j = r[i]; j < r[i + 1]; j++) z[i] += x[j] * y[a[j]]; }
  for (int i = 0; i < n; i++) y[i] += z[i] * 0.25;
}

//# dynamic_with_temporaries: parallel
for (int i = 0; i < n; i++) {
  int begin = r[i], end = r[i + 1];
  double s = 0;
  for (int j = begin; j < end; ++j) s += x[j] * y[a[j]];
  z[i] = s;
}

//# dynamic_with_temporaries_from_outside: parallel
int i, j, begin, end; double s;
#pragma scop
for (i = 0; i < n; i++) {
  begin = r[i]; end = r[i + 1]; s = 0;
  for (j = begin; j < end; ++j) s += x[j] * y[a[j]];
  z[i] = s;
}
#pragma endscop

//# dynamic_stride_of_two: parallel
for (int i = 0; i < n; i++) for (int j = a[i]; j <= n - 1; j += 2) X[i][j] += j;

//# dynamic_down_by_three: parallel
for (int i = 0; i < n; i++) for (int j = a[i]; j > b[i] && 1; j -= 3) X[i][0] += j;

//# dynamic_down_in_order: parallel
for (int i = 0; i < n; i++) for (int j = a[i]; j > 0; j--) X[i][j] = X[i][j - 1] * 0.5 + X[i][j];

//# dynamic_down_without_order: parallel
for (int i = 0; i < n; i++) for (int j = a[i]; j >= 0; j--) { X[i][j] += 1; K[i][j] = j; }

//# stride_from_parameter: parallel
int m = n / 2 + 1;
#pragma scop
for (int i = 0; i < n; i += m) x[i] += y[i];
#pragma endscop

//# stride_from_parameter_down: parallel
int m = n / 3 + 1;
#pragma scop
for (int i = n - 1; i >= 0; i -= m) for (int j = 0; j < n; j++) X[i][j] += y[i];
#pragma endscop

//# stride_of_size_t: parallel
size_t m = n, step = n / 2 + 1;
#pragma scop
for (size_t i = 0; i < m; i += step) x[i] += y[i];
#pragma endscop

//# stride_of_unsigned: parallel
unsigned m = n, step = n > 5 ? n / 4 : 4294967290u;
#pragma scop
for (unsigned i = m / 8; i < m; i += step) for (unsigned j = 0; j < m; j++) X[i][j] += y[j];
#pragma endscop

//# stride_from_parameter_in_order: serial
int m = n / 5 + 1;
#pragma scop
for (int i = m; i < n; i += m) x[i] += x[i - m];
#pragma endscop

//# stride_not_positive: parallel
int m = n > 5 ? 2 : -2;
#pragma scop
for (int i = m > 0 ? 0 : n; i < n; i += m) x[i] += y[i];
#pragma endscop

//# stride_inside: parallel
int m = n / 4 + 2;
#pragma scop
for (int i = 0; i < n; i++) for (int j = i; j < n; j += m) { X[i][j] += 1; if (j > 3) K[i][j] -= j; }
#pragma endscop

//# dynamic_down_to: parallel
for (int i = 0; i < n; i++) for (int j = a[i]; b[i] <= j; j -= 3) X[i][0] += j;

//# dynamic_up_to: parallel
for (int i = 0; i < n; i++) for (int j = b[i]; j <= a[i]; j++) X[i][0] += j * x[i];

//# dynamic_mirrored: parallel
for (int i = 0; i < n; i++) for (int j = 0; a[i] > j; ++j) X[i][j] += j;

//# dynamic_unsigned: parallel
for (int i = 0; i < n; i++) for (unsigned j = a[i] / 2; j < (unsigned)a[i]; j++) X[i][j] += j;

//# dynamic_size: parallel
for (int i = 0; i < n; i++) for (size_t j = 1; j < (size_t)a[i]; j++) X[i][j] += X[i][j - 1] + j;

//# dynamic_narrow: parallel
for (int i = 0; i < n; i++) for (unsigned char j = 0; j < c[i] % n; j++) X[i][j] += j;

//# dynamic_long: parallel
for (int i = 0; i < n; i++) for (long j = c[i] - 300L; j < c[i] - 290L; j++) X[i][0] += j * j;

//# dynamic_narrowing_start: parallel
for (int i = 0; i < n; i++) for (short j = b[i] + 65536; j < a[i]; j++) X[i][0] += j;

//# dynamic_compared_as_unsigned: parallel
for (int i = 0; i < n; i++) for (int j = a[i]; j < (unsigned)n; j++) X[i][j] += j;

//# dynamic_with_affine_condition: parallel
for (int i = 0; i < n; i++)
  for (int j = b[i]; j < a[i]; j++) {
    if (j >= 2) X[i][j] += j;
    if (j == i) x[i] = j;
    if (j < i && j >= 0) X[i][j] *= 2;
  }

//# dynamic_with_stride_inside: parallel
for (int i = 0; i < n; i++) for (int j = 0; j < a[i]; j++) if (j % 3 == 1) X[i][j] += j;

//# dynamic_under_affine_condition: parallel
int *p = n > 5 ? a : 0;
#pragma scop
for (int i = 0; i < n; i++) {
  if (i > 4) for (int j = 0; j < p[i]; j++) X[i][j] += 1;
  x[i] += 2;
}
#pragma endscop

//# dynamic_around_outer_conditions: parallel
for (int i = 0; i < n; i++)
  for (int j = r[i]; j < r[i + 1]; j++) {
    if (i > 2) y[i] += x[j]; else y[i] -= x[j];
    if (i > 5) z[i] += x[j] * y[i];
  }

//# dynamic_around_one_outer_condition: parallel
for (int i = 0; i < n; i++) {
  for (int j = r[i]; j < r[i + 1]; j++) if (i % 3 == 1) y[i] += x[j];
  z[i] = y[i];
}

//# dynamic_where_its_bounds_may_be_read: parallel
for (int i = 0; i <= n; i++) {
  if (i < n)
    for (int j = r[i]; j < r[i + 1]; j++) { if (i > 1) y[i] += x[j]; if (i > 3) y[i] -= 3 * x[j]; }
  b[i % n] = 2;
}

//# dynamic_under_data_condition: parallel
for (int i = 0; i < n; i++)
  if (b[i] > 0) for (int j = 0; j < a[i]; j++) for (int k = 0; k < 3; k++) X[i][j] += k;

//# dynamic_with_data_condition: parallel
for (int i = 0; i < n; i++)
  for (int j = 0; j < a[i]; j++) if (X[i][j] > 3) { X[i][j] = 1; } else K[i][j] += 2;

//# dynamic_with_break: parallel
for (int i = 0; i < n; i++) for (int j = 0; j < a[i]; j++) { if (X[i][j] > 8) break; X[i][j] += 1; }

//# dynamic_with_continue: parallel
for (int i = 0; i < n; i++) for (int j = 0; j < a[i]; j++) { if (X[i][j] > 3) continue; X[i][j] += 1; }

//# dynamic_bound_that_changes: parallel
for (int i = 0; i < n; i++) for (int j = 0; j < K[i][0]; j++) { K[i][0] -= 1; X[i][j] = j; }

//# dynamic_bound_changed_before: parallel
for (int i = 0; i < n; i++) { a[i] /= 2; for (int j = 0; j < a[i]; j++) X[i][j] = j; a[i] += b[i]; }

//# dynamic_bound_of_others: parallel
for (int i = 0; i < n - 1; i++) { for (int j = 0; j < a[i]; j++) X[i][j] = j; a[i + 1] = (a[i] * 7 + 1) % n; }

//# dynamic_counter_from_outside: parallel
int j;
#pragma scop
for (int i = 0; i < n; i++) for (j = r[i]; j < r[i + 1]; j++) z[i] += x[j];
#pragma endscop

//# dynamic_column: parallel
for (int j = 0; j < n; j++) for (int i = a[j]; i < n; i++) X[i][j] += y[i];

//# dynamic_with_inner_counter_needed: serial
int k = 0;
#pragma scop
for (int i = 0; i < n; i++) for (int j = 0; j < a[i]; j++) for (k = 0; k < j; k++) X[i][j] += k;
#pragma endscop
x[0] += k;

//# dynamic_compaction: serial
int k = 0;
#pragma scop
for (int i = 0; i < n; i++) for (int j = 0; j < a[i]; j++) { y[k] = j; k++; if (k == n) k = 0; }
#pragma endscop
x[0] += k;

//# dynamic_induction: serial
int k = 0;
#pragma scop
for (int i = 0; i < n; i++) for (int j = 0; j < a[i] && 1; j++) k += 2;
#pragma endscop
x[0] += k;

//# pointers_that_change_places_as_data_say: pointer-swap
for (int t = 0; t < 4; t++) {
  for (int i = 1; i < n - 1; i++) y[i] = x[i - 1] + x[i + 1];
  if (y[1] < x[1]) {
    double *s = x;
    x = y;
    y = s;
  }
}

//# least_or_greatest: parallel
double low = x[0], high = x[0];
for (int i = 1; i < n; i++) if (x[i] < low) low = x[i]; else if (x[i] > high) high = x[i];
y[0] = low; y[n - 1] += high;

//# least_or_greatest_with_places: parallel
int at = 0, to = 0;
double low = x[0], high = low;
for (int i = 1; i < n; i++) {
  double v = x[i];
  if (high < v) { high = v; to = i; } else { if (low >= v) { at = i; low = v; } }
}
y[0] = low; y[n - 1] += high; a[0] = at; a[n - 1] += to;

//# least_or_greatest_of_rows: parallel
for (int i = 0; i < n; i++) {
  int low, high;
  low = high = K[i][0];
  for (int j = 1; j < n; j++) if (K[i][j] <= low) low = K[i][j]; else if (K[i][j] >= high) high = K[i][j];
  a[i] = high - low;
}

//# least_or_greatest_of_numbers_that_are_none: serial
double low = x[0], high;
x[n / 2] = 0.0 / (n > 2 ? 0 : 1);
high = low;
#pragma scop
for (int i = 1; i < n; i++) if (x[i] < low) low = x[i]; else if (x[i] > high) high = x[i];
#pragma endscop
y[0] = low; y[n - 1] += high;

//# least_or_greatest_from_far: serial
double low = 1e9, high = -1e9;
for (int i = 0; i < n; i++) if (x[i] < low) low = x[i]; else if (x[i] > high) high = x[i];
y[0] = low; y[n - 1] += high;

//# least_or_greatest_of_what_changed: serial
double low = x[0], high;
x[0] = x[n - 1] - 1;
high = x[0];
for (int i = 1; i < n; i++) if (x[i] < low) low = x[i]; else if (x[i] > high) high = x[i];
y[0] = low; y[n - 1] += high;

//# rows_walked: parallel
for (int i = 0; i < n; i++) {
  double s = 0;
  int k = r[i];
  const int end = r[i + 1];
  while (k < end) {
    s += x[k] * y[a[k]];
    k++;
  }
  z[i] = s;
}

//# rows_walked_from_outside: parallel
int k;
#pragma scop
for (int i = 0; i < n; i++) {
  z[i] = 0;
  k = r[i];
  while (r[i + 1] > k) { z[i] += x[k]; k += 1; }
}
#pragma endscop

//# rows_walked_and_left: serial
int k = 0;
#pragma scop
for (int i = 0; i < n; i++) {
  k = r[i];
  while (k < r[i + 1]) { z[i] += x[k]; k++; }
}
#pragma endscop
x[0] += k;

//# rows_walked_by_pointers: parallel
for (int i = 0; i < n; i++) {
  const double *p = x + r[i], *end = x + r[i + 1];
  const int *q = &a[r[i]];
  double s = 0;
  while (p < end) s += *p++ * y[*q++];
  z[i] = s;
}

//# rows_walked_by_pointers_in_headers: parallel
for (int i = 0; i < n; i++) {
  const int *q = a + r[i];
  for (const double *p = x + r[i]; p != x + r[i + 1]; ++p, ++q) z[i] += *p * y[*q];
}

//# rows_walked_by_pointers_and_counted: parallel
for (int i = 0; i < n; i++) {
  const double *p = x + r[i];
  int left = r[i + 1] - r[i];
  double s = 0;
  while (left-- > 0) s += *p++;
  z[i] = s;
}

//# rows_walked_by_steps: parallel
for (int i = 0; i < n; i++) {
  int k = r[i];
  while (k < r[i + 1]) { z[i] += x[k]; k += 2; }
}

//# rows_walked_after_a_change: parallel
for (int i = 0; i < n; i++) {
  int k = a[i];
  a[i] = i;
  while (k < n) { z[i] += x[k] + a[i]; k++; }
}

//# rows_that_go_on: parallel
int k = 0;
for (int i = 0; i < n; i++) {
  double s = 0;
  for (; k < r[i + 1]; k++) s += x[k] * y[a[k]];
  z[i] = s;
}

//# rows_that_go_on_from_outside: parallel
int i, k = r[0], end;
#pragma scop
for (i = 0; i < n; i++) {
  end = r[i + 1];
  z[i] = 1;
  while (k < end) { z[i] += x[k]; k += 1; }
}
#pragma endscop

//# rows_that_go_on_out_of_order: parallel
int i, k;
for (i = 1, k = -3; i < n; ++i) { while (b[i] > k) { z[i] += x[(k + 3) % n]; k++; } }

//# rows_that_go_on_and_are_read: serial
int k = 0;
#pragma scop
for (int i = 0; i < n; i++) while (k < r[i + 1]) { z[i] += x[k]; k++; }
#pragma endscop
x[0] += k;

//# rows_that_go_on_and_skip: serial
int k = 0;
for (int i = 0; i < n; i++) {
  if (a[i] < 2) continue;
  while (k < r[i + 1]) { z[i] += x[k]; k++; }
}

//# rows_that_go_on_and_change: serial
int k = 0;
for (int i = 0; i < n; i++) {
  while (k < a[i]) { z[i] += x[k]; k++; }
  a[i] = k;
}

//# search_by_condition: search
int i = 0;
#pragma scop
while (i < n && x[i] != 3) i++;
#pragma endscop
a[0] = i;

//# search_by_header: search
int i;
#pragma scop
for (i = 0; i < n && a[i] != 3; i++) ;
#pragma endscop
b[0] = i;

//# search_by_flag: search
int at = -1, found = 0;
#pragma scop
for (int i = 0; i < n && !found; i++) if (a[i] == 3) { at = i; found = 1; }
#pragma endscop
b[0] = at;

//# search_by_place: search
int at = -1;
#pragma scop
for (int i = 0; at < 0 && i < n; i++) if (a[i] == 3) at = i;
#pragma endscop
b[0] = at;

//# no_search_but_steps: while
double e = n, last = 0;
#pragma scop
while (e > 0.5) { last = e; e = last / 2; }
#pragma endscop
x[0] = last;

//# row_chosen_by_data: parallel
for (int i = 0; i < n; i++) {
  const double *own = X[a[i]], *other = b[i] >= 0 ? X[K[0][i]] : X[a[i]];
  x[i] = own[0] - other[n - 1];
}

//# row_chosen_of_planes: parallel
const double (*P)[1][n] = (const double (*)[1][n])X;
#pragma scop
for (int i = 0; i < n; i++) {
  const double *r = b[i] > 0 ? P[a[i]][0] : P[i][0];
  for (int j = 0; j < n; j++) x[i] += r[j] * j;
}
#pragma endscop

//# row_chosen_in_a_structure: parallel
struct { double v[3]; int k; } s[40];
for (int i = 0; i < 40; i++) s[i].k = i, s[i].v[0] = i, s[i].v[1] = 2 * i, s[i].v[2] = i * i;
#pragma scop
for (int i = 0; i < n; i++) {
  const double *p = x[i] > 60 ? s[a[i]].v : s[i].v;
  y[i] = p[0] + p[1] * p[2];
}
#pragma endscop

//# row_chosen_and_moved: parallel
for (int i = 0; i < n; i++) {
  const double *p = b[i] > 0 ? X[a[i]] + 1 : X[i];
  for (int j = 0; j < n - 1; j++) x[i] += p[j];
}

//# row_chosen_in_turn: parallel
for (int i = 0; i < n; i++) {
  const double *p = b[i] > 1 ? X[a[i]] : b[i] < -1 ? X[n - 1 - i] : X[i];
  x[i] += p[i] * 2;
}

//# row_chosen_by_address: parallel
for (int i = 0; i < n; i++) {
  double *p = b[i] > 0 ? &X[i][n - 1] : X[a[i]] + n / 2;
  y[i] = p[0] * 2;
}
