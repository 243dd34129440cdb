//# best_so_far: parallel
for (int k = 0; k < n; k++)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      if (x[i * n + j] + k < X[i][j]) { X[i][j] = x[i * n + j] - k; K[i][j] = k; }

//# best_so_far_in_temporaries: parallel
double c1, c2;
int i, j, k;
#pragma scop
for (k = 0; k < n; k++)
  for (i = 0; i < n; i++)
    for (j = k; j < n; j++) {
      c1 = x[i * n + j] - y[i * n + j - k];
      c2 = c1 < 0 ? -c1 : c1;
      if (c1 < 0) c1 = -c1;
      if (c1 < z[i * n + j]) { z[i * n + j] = c2; a[i * n + j] = k; }
    }
#pragma endscop

//# best_in_flexible_members: parallel
struct image *in = image(n, x), *best = image(n, y);
int u, v;
double w;
#pragma scop
for (v = 0; v < in->height; v++)
  for (u = 0; u < in->width; u++) {
    w = in->data[v * in->width + u];
    if (w < best->data[v * in->width + u]) { best->data[v * in->width + u] = w; K[v][u] = v; }
  }
#pragma endscop
for (int i = 0; i < n * n; i++) y[i] = best->data[i];
free(in), free(best);

//# product_of_members: parallel
struct matrix m = {n, n, x}, o = {n, n, y};
#pragma scop
for (int i = 0; i < m.w * m.h; i++) o.d[i] = m.d[i] * 2;
#pragma endscop

//# product_of_members_of_members: parallel
struct { struct matrix of; } m = {{n, n, x}};
#pragma scop
for (int i = 0; i < (m.of.w - 1) * (m.of.h - 1); i++) y[i] = m.of.d[i] * 2;
#pragma endscop

//# product_of_members_behind_pointers: parallel
struct matrix m = {n, n, x}, *p = &m;
#pragma scop
for (int i = 0; i < p->w * p->h; i++) y[i] = p->d[i] * 2;
#pragma endscop

//# product_of_members_that_change: data-dependent-bound
struct matrix m = {n, n, x};
#pragma scop
for (int i = 0; i < m.w * m.h; i++) { y[i] = x[i]; m.w = n; }
#pragma endscop

//# fortran_subscripts: parallel
int lo = 1, hi = n - 4;
double v;
#pragma scop
for (int k = lo; k <= hi; k++) {
#pragma ivdep
  for (int j = lo; j <= hi; j++) {
    v = 1 / (1 + x[FTNREF2D(j, k, hi + 4, lo - 1, lo - 1)]);
    y[FTNREF2D(j, k, hi + 4, lo - 1, lo - 1)] = v * x[FTNREF2D(j, k, hi + 4, lo - 1, lo - 1)];
    z[FTNREF2D(j, k, hi + 4, lo - 1, lo - 1)] += v * (x[FTNREF2D(j, k - 1, (hi + 4) - (lo - 1), lo - 1, lo - 1)]
                                                     + x[FTNREF2D(j - 1, k, hi + 4, lo - 1, lo - 1)]);
  }
}
#pragma endscop

//# marks_under_conditionals: parallel
#ifdef __GNUC__
#pragma scop
#endif
for (int i = 0; i < n; i++)
  y[i] = x[i] * 2;
#if defined(__GNUC__)
#pragma endscop
#endif

//# hints_to_compilers: parallel
#pragma omp parallel for collapse(2) schedule(static)
for (int i = 0; i < n; i++)
#pragma ivdep
  for (int j = 0; j < n; j++) X[i][j] = x[i * n + j] * 2;
for (int i = 0; i < n; i++) {
#pragma GCC unroll 4
  for (int j = 0; j < n; j++) X[i][j] += y[j * n + i];
#pragma clang loop vectorize(enable)
  for (int j = 0; j < n; j++) X[i][j] *= y[j * n + i];
#pragma omp simd
  for (int j = 0; j < n; j++) X[i][j] += z[j * n + i];
#pragma GCC ivdep
  for (int j = 0; j < n; j++) X[i][j] -= z[j * n + i];
}

//# private_and_read_afterwards: openmp-private
double s = 1;
#pragma scop
#pragma omp parallel for private(s)
for (int i = 0; i < n; i++) s = x[i], y[i] = s * s;
#pragma endscop
if (s > 1e30) y[0] = s;  /* as it is with OpenMP and without */

//# bits_of_a_structure: bit-field
struct { unsigned on : 1; } flag = {1};
#pragma scop
for (int i = 0; i < n; i++) y[i] = flag.on;
#pragma endscop

//# bits_read_before: parallel
struct { unsigned on : 1, kind : 3; } flag = {1, 5};
unsigned kind = flag.kind;
_Bool on = flag.on;
#pragma scop
for (int i = 0; i < n; i++)
  if (on) y[i] = x[i] * kind;
#pragma endscop

//# truth_values: parallel
_Bool on = n > 2;
#pragma scop
for (int i = 0; i < n; i++) {
  _Bool large = x[i] > 50;
  y[i] = large && on;
}
#pragma endscop

//# wide_numbers: parallel
#pragma scop
for (int i = 0; i < n; i++) {
  long double v = x[i];
  y[i] = v * v / 3;
}
#pragma endscop

//# count_under_condition: parallel
int hits = 0;
#pragma scop
for (int i = 0; i < n * n; i++)
  if (x[i] > 60) hits++;
#pragma endscop
a[0] = hits;

//# count_in_nest: parallel
unsigned i, j, many = 3;
#pragma scop
for (i = 0; i < n; i++)
  for (j = 0; j < n; j++) {
    if (X[i][j] > 1 && K[i][j] < 5) { many += 2; }
  }
#pragma endscop
a[0] = many;

//# count_of_repairs: parallel
long bad = 0;
#pragma scop
for (int i = 0; i < n * n; i++)
  if (z[i] < 0) {
    z[i] = -z[i];
    ++bad;
  }
#pragma endscop
a[0] = bad;

//# count_of_two: parallel
short up = 0;
int down = 9;
#pragma scop
for (int i = 0; i < n; i++) {
  if (x[i] > y[i]) up += 1, y[i] = 0;
  if (x[i] > 70) { up++; down -= 3; x[i] = 70; }
}
#pragma endscop
a[0] = up, a[1 % n] = down;

//# count_that_is_asked_for: serial
int hits = 0;
#pragma scop
for (int i = 0; i < n * n; i++)
  if (x[i] > hits) hits++;
#pragma endscop
a[0] = hits;

//# count_under_two_conditions: parallel
int hits = 0;
#pragma scop
for (int i = 0; i < n * n; i++)
  if (i % 2 == 0)
    if (x[i] > 60) hits++;
#pragma endscop
a[0] = hits;

//# count_of_octals: parallel
int hits = 0;
#pragma scop
for (int i = 0; i < n * n; i++) {
  if (x[i] > 60) hits += 010;
  if (x[i] > 70) hits -= 0x10;
}
#pragma endscop
a[0] = hits;

//# count_behind_a_jump: parallel
int hits = 0, all = 0;
#pragma scop
for (int i = 0; i < n * n; i++)
  if (x[i] > 40) {
    all++;
    if (y[i] > 60) continue;
    hits++;
  }
#pragma endscop
a[0] = hits, a[1 % n] = all;

//# count_behind_a_way_out: parallel
int hits;
#pragma scop
for (int i = 0; i < n; i++) {
  hits = 0;
  for (int j = 0; j < n; j++)
    if (X[i][j] > 0) {
      if (K[i][j] > 5) break;
      hits++;
    }
  a[i] = hits;
}
#pragma endscop

//# count_by_pointer: parallel
int hits = 0, more = 0;
double *p = y;
#pragma scop
for (int i = 0; i < n * n; i++) {
  if (*(x + i) > 60) hits++;
  if (*p > 60) more++;
  p++;
}
#pragma endscop
a[0] = hits, a[1 % n] = more;

//# count_chosen: parallel
int hits = 0;
#pragma scop
for (int i = 0; i < n * n; i++) hits = x[i] > 60 ? hits + 1 : hits;
#pragma endscop
a[0] = hits;

//# count_of_both_branches: parallel
int up = 0, down = 0, mid = 0;
#pragma scop
for (int i = 0; i < n * n; i++) if (x[i] > 60) up++; else if (x[i] > 30) mid += 2; else down--;
#pragma endscop
a[0] = up + mid; a[1 % n] = down;

//# count_behind_continue: parallel
int hits = 0, seen = 0;
#pragma scop
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) {
    if (X[i][j] < 0) continue;
    seen++;
    if (!(K[i][j] > 1)) continue;
    hits += 2;
  }
#pragma endscop
a[0] = hits, a[1 % n] = seen;

//# count_of_walk: parallel
int hits = 0;
double *p = x;
#pragma scop
for (int i = 0; i < n * n; i++) if (*p++ > 60) hits++;
#pragma endscop
a[0] = hits;

//# count_of_temporary: parallel
int hits = 0;
#pragma scop
for (int i = 0; i < n * n; i++) { double v = x[i] - y[i]; if (v > 1) hits++; }
#pragma endscop
a[0] = hits;

//# sum_under_condition: parallel
int s = 0;
#pragma scop
for (int i = 0; i < n * n; i++) if (x[i] > 60) s += b[i];
#pragma endscop
a[0] = s;

//# sum_after_write: serial
int s = 0, t = 0;
#pragma scop
for (int i = 0; i < n * n; i++)
  if (x[i] > 60) { b[i] = 0; s += b[i]; t++; }
#pragma endscop
a[0] = s + t;

//# bounding_box: parallel
int x0 = n, x1 = -1, y0 = n, y1 = -1;
#pragma scop
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++)
    if (X[i][j] > 3) {
      if (i < y0) y0 = i;
      if (i > y1) y1 = i;
      if (j < x0) x0 = j;
      if (j > x1) x1 = j;
    }
#pragma endscop
a[0] = x0 + 100 * x1; a[1 % n] = y0 + 100 * y1;

//# first_maximum: parallel
double s = x[0]; int at = 0;
#pragma scop
for (int i = 1; i < n * n; i++) if (x[i] > s) { s = x[i]; at = i; }
#pragma endscop
y[0] = s; a[0] = at;

//# first_maxima_of_rows: parallel
for (int i = 0; i < n; i++) {
  int at = 0;
  double most = X[i][0];
  for (int j = 1; j < n; j++)
    if (X[i][j] > most) { most = X[i][j]; at = j; }
  a[i] = at, y[i] = most;
}

//# counts_of_values: serial
for (int i = 0; i < n * n; i++) b[a[i]]++;

//# sums_into_places: serial
for (int i = 0; i < n * n; i++) z[a[i]] += x[i];

//# members_that_change_places: parallel
struct { double *old, *new; } s = {x, y};
#pragma scop
for (int t = 0; t < 4; t++) {
  for (int i = 1; i < n - 1; i++) s.new[i] = (s.old[i - 1] + s.old[i + 1]) / 2;
  double *h = s.old;
  s.old = s.new, s.new = h;
}
#pragma endscop

//# elements_that_change_places: parallel
double *g[2] = {x, y};
#pragma scop
for (int t = 0; t < 4; t++) {
  for (int i = 1; i < n - 1; i++) g[1][i] = (g[0][i - 1] + g[0][i + 1]) / 2;
  double *h = g[0];
  g[0] = g[1], g[1] = h;
}
#pragma endscop

//# members_of_two_structures_change_places: declaration
struct line { double *at; } one = {x}, other = {y}, *p = &one, *q = n > 5 ? &other : &one;
#pragma scop
for (int t = 0; t < 4; t++) {
  for (int i = 1; i < n - 1; i++) q->at[i] = (p->at[i - 1] + p->at[i + 1]) / 2;
  double *h = p->at;
  p->at = q->at, q->at = h;
}
#pragma endscop

//# members_of_two_variables_change_places: parallel
struct line { double *at; } one = {x}, other = {y};
#pragma scop
for (int t = 0; t < 4; t++) {
  for (int i = 1; i < n - 1; i++) other.at[i] = (one.at[i - 1] + one.at[i + 1]) / 2;
  double *h = one.at;
  one.at = other.at, other.at = h;
}
#pragma endscop
x[0] = one.at == x;

//# members_of_a_union_change_places: union
union { double *old, *new; } s = {x};
#pragma scop
for (int t = 0; t < 4; t++) {
  for (int i = 1; i < n - 1; i++) s.new[i] = (s.old[i - 1] + s.old[i + 1]) / 2;
  double *h = s.old;
  s.old = s.new, s.new = h;
}
#pragma endscop

//# elements_that_change_places_by_a_counter: declaration
double *g[2] = {x, y};
#pragma scop
for (int t = 0; t < 4; t++) {
  for (int i = 1; i < n - 1; i++) g[t % 2][i] = (g[0][i - 1] + g[0][i + 1]) / 2;
  double *h = g[0];
  g[0] = g[1], g[1] = h;
}
#pragma endscop

//# numbers_of_64_bits: parallel
for (size_t i = 0; i < ((size_t)n == 18446744073709551615UL ? 3 : (size_t)n); i++)
  x[i] = 2 + (double)((size_t)n % 18446744073709551615UL) + (a[i] != 9223372036854775808UL);

//# running_sum: serial
for (int i = 1; i < n; i++) y[i] = y[i - 1] + x[i];

//# running_sum_of_integers: parallel
for (int i = 1; i < n; i++) a[i] += a[i - 1];

//# running_sums_of_rows: parallel
for (int i = 1; i < n; i++)
  for (int j = 0; j < n; j++) X[i][j] += X[i - 1][j];

//# running_sums_in_rows: parallel
for (int i = 0; i < n; i++)
  for (int j = 1; j < n; j++) X[i][j] += 0.5 * X[i][j - 1];

//# complex_numbers: parallel
double _Complex *f = (double _Complex *)x;
#pragma scop
for (int i = 0; i < n / 2; i++)
  for (int j = 0; j < n; j++) f[i] = f[i] * 2.0 + y[j];
#pragma endscop

//# memory_of_its_own: declaration
for (int i = 0; i < n; i++) {
  double *t = malloc(n * sizeof *t);
  for (int j = 0; j < n; j++) t[j] = X[i][j] * 2;
  for (int j = 0; j < n; j++) X[i][j] = t[n - 1 - j];
  free(t);
}

//# function_by_pointer: parallel
double (*f)(double) = n > 2 ? sqrt : fabs;
#pragma scop
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) X[i][j] = f(x[i]) + y[j];
#pragma endscop

//# function_by_pointer_that_changes: call
double (*f)(double) = n > 2 ? sqrt : fabs;
#pragma scop
for (int i = 0; i < n; i++) {
  for (int j = 0; j < n; j++) X[i][j] = f(x[i]) + y[j];
  if (x[i] > 5) f = fabs;
}
#pragma endscop

//# function_in_old_style: parallel
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) X[i][j] = half(x[i], j) + y[j];

//# loops_in_old_style: parallel
for (int i = 0; i < n; i++) counted(X[i], n);

//# pointers_in_old_style: parallel
for (int i = 1; i < n; i++) y[i] = both(&x[i], &x[i - 1]);

//# subscripts_in_old_style: parallel
for (int i = 0; i < n; i++) y[i] = x[lesser(i + 1, n - 1)];

//# narrow_numbers_in_old_style: parallel
for (int i = 0; i < n; i++) y[i] = third(x[i]);

//# planes_with_a_name: parallel
int nx = n > 3 ? n / 4 : 1, ny = 2, nz = n / 2;
const int plane = nx * ny;
#pragma scop
for (int k = 1; k < nz; k++)
  for (int j = 0; j < ny; j++)
    for (int i = 0; i < nx; i++)
      x[k * plane + j * nx + i] += x[(k - 1) * plane + j * nx + i] * 0.5;
#pragma endscop

//# planes_set_before: parallel
int nx, ny, nz, plane, i, j, k;
nx = n > 3 ? n / 4 : 1;
ny = 2;
nz = n / 2;
plane = nx * ny;
#pragma scop
for (k = 0; k < nz; k++)
  for (j = 0; j < ny; j++)
    for (i = 1; i < nx; i++)
      x[k * plane + j * nx + i] += x[k * plane + j * nx + i - 1] * 0.5;
#pragma endscop

//# planes_of_sizes: parallel
size_t nx = n > 3 ? n / 4 : 1, ny = 2, nz = n / 2;
size_t plane = nx * ny;
#pragma scop
for (size_t k = 0; k < nz; k++)
  for (size_t j = 1; j < ny; j++)
    for (size_t i = 0; i < nx; i++)
      x[k * plane + j * nx + i] += x[k * plane + (j - 1) * nx + i] * 0.5;
#pragma endscop

//# parts_of_a_line: parallel
size_t m = n / 3, m2 = 2 * m;
#pragma scop
for (size_t k = 0; k < m; k++) {
  double s = x[k + m] * y[k], t = x[k + m2] * y[2 * k];
  x[k + m] = x[k] - s;
  x[k + m2] = x[k] + t;
  x[k] += s + t;
}
#pragma endscop

//# planes_in_steps: parallel
for (int t = 1; t < 3; t++) {
  int nx = n > 3 ? n / 4 : 1, nz = n / 2, w = nx + t - 1;
  long plane = 2L * w;
#pragma scop
  for (int k = 1; k < nz / 2; k++)
    for (int j = 0; j < 2; j++)
      for (int i = 0; i < nx; i++)
        x[k * plane + j * w + i] = x[(k - 1) * plane + j * w + i] + y[i] * t;
#pragma endscop
}

//# counted_down_from_before: parallel
double *F = x, *w = y;
int m = n / 2, k = m;
if (m > 0) {
  k = m;
#pragma scop
  do {
    double s = F[m] * *w;
    F[m] = *F - s;
    *F += s;
    w++, F++;
  } while (--k);
#pragma endscop
}
a[0] = k, b[0] = F - x;

//# counted_down_by_sizes: parallel
double *F = x, *w = y;
size_t m = n / 2 + 1, k;
k = m;
if (n < 4) return;
#pragma scop
do {
  double s = F[m] * *w;
  F[m] = *F - s;
  *F += s;
  w++, F++;
} while (--k);
#pragma endscop
a[0] = k, b[0] = F - x;

//# counted_while_left: parallel
int m = n / 2, left = m;
double *F = x;
#pragma scop
while (left-- > 0) { F[m] = *F * 2 + F[m]; F++; }
#pragma endscop
a[0] = left;

//# counted_up_from_before: parallel
int m = n / 2, k = 1;
#pragma scop
for (; k < m; k++) x[k + m] = x[k] * 2;
#pragma endscop
a[0] = k;

//# counted_from_half: parallel
int m = n / 4, k;
k = 2 * m;
#pragma scop
while (k > 0) { k--; x[k + 2 * m] = x[k] * 2 + y[k]; }
#pragma endscop
a[0] = k;

//# initialised_array: parallel
for (int i = 0; i < n; i++) {
  double w[4] = {1, y[i]}, v[] = {0.5, 2};
  for (int k = 0; k < 4; k++) w[k] += v[k % 2];
  x[i] += w[0] * w[1] + w[2] - w[3];
}

//# table_of_weights: parallel
for (int i = 1; i < n - 1; i++) {
  const double w[3] = {0.25, 0.5, 0.25};
  double s = 0;
  for (int k = 0; k < 3; k++) s += w[k] * y[i + k - 1];
  x[i] = s;
}

//# extents_in_an_array: parallel
int d = n > 2, size[3] = {n, n, n - 1};
#pragma scop
for (int i = 0; i < size[d]; i++)
  for (int j = 0; j < size[d + 1]; j++) z[i * size[d + 1] + j] += y[i];
#pragma endscop

//# extents_of_a_structure: parallel
struct { int axis, length[2]; } shape = {1, {1, n}};
int at = n > 1;
#pragma scop
for (int i = 0; i < n; i++)
  for (int j = 0; j < shape.length[at]; j++) X[i][j] += 0.5;
#pragma endscop

//# bound_that_may_be_written: parallel
b[n - 1] = n;
int last = n - 1, *bound = b;
#pragma scop
for (int i = 0; i < bound[last]; i++) b[i] = i + 2;
#pragma endscop
