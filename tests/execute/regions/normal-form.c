//# index_temporary: parallel
for (int i = 0; i < n / 2; i++) {
  int k = i * 2 + 1;
  x[k] = y[k] + 1;
}

//# outer_index_temporary: parallel
int k;
#pragma scop
for (int i = 0; i < n; i++) {
  k = n - 1 - i;
  x[k] = y[i] * 2;
}
#pragma endscop

//# live_index_temporary: parallel
int k = -5;
#pragma scop
for (int i = 0; i < n - 1; i++) {
  k = n - 1 - i;
  x[k] = y[i] * 2;
}
#pragma endscop
a[0] = k;

//# constant_variables: parallel
static const int width = 4;
const int first = 7 > 3 ? 1 : 0, last = -1 + (3 * 2);
#pragma scop
for (int i = 0; i < n / width; i++)
  for (int k = first; k < last - 1; k++)
    x[i * width + k] = y[i * width + k - first] + last;
#pragma endscop

//# temporary_as_data: parallel
for (int i = 0; i < n; i++) {
  int k = 3 * i - 7;
  x[i] = k * 0.5 + y[i];
  a[i] = k / 2;
}

//# chain_of_temporaries: parallel
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) {
    const int row = i, column = n - 1 - j;
    int flipped = column;
    X[row][flipped] = K[row][j];
  }

//# linearised_temporary: parallel
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) {
    int k = i * n + j;
    x[k] = y[k] + z[k];
  }

//# row_pointer: parallel
for (int i = 0; i < n; i++) {
  double *row = X[i];
  for (int j = 0; j < n; j++)
    row[j] = row[j] * 2 + i;
}

//# row_of_flat_array: parallel
for (int i = 0; i < n; i++) {
  double *row = x + i * n;
  const double *other = &y[i * n];
  for (int j = 0; j < n; j++)
    row[j] += other[j];
}

//# pointer_to_element: parallel
for (int i = 0; i < n; i++) {
  double *e = &X[i][0];
  *e = 1;
  if (n > 1)
    e[1] = 2;
}

//# pointer_to_rows: parallel
double (*P)[n] = X;
#pragma scop
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++)
    P[i][j] += 1;
#pragma endscop

//# pointer_arithmetic: parallel
for (int i = 0; i < n; i++)
  *(x + i) = *(y + n - 1 - i) + *(*(X + i) + i);

//# address_and_back: parallel
for (int i = 0; i < n; i++)
  (&x[1])[i - 1] = *&y[i];

//# induction_with_constant: parallel
int k = 0;
#pragma scop
for (int i = 0; i < n / 2; i++) {
  x[k] = y[k] + 1;
  k += 2;
}
#pragma endscop

//# induction_from_outside: parallel
int k = r[0] + 1;
#pragma scop
for (int i = 1; i < n; i++) {
  x[k] = y[i];
  k++;
}
#pragma endscop
a[0] = k;

//# induction_downwards: parallel
int k = n;
#pragma scop
for (int i = 0; i < n; i++)
  x[--k] = y[i];
#pragma endscop
a[0] = k;

//# induction_live_and_conditional_loop: parallel
int k = 4;
#pragma scop
if (n > 5)
  for (int i = 3; i <= n; i += 3) {
    x[i - 1] = k;
    k -= 2;
  }
#pragma endscop
a[0] = k;

//# induction_in_nest: parallel
int k = 0;
#pragma scop
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++)
    x[k++] = X[i][j];
#pragma endscop
a[0] = k;

//# induction_in_nest_of_constant_trips: parallel
int k = 0;
#pragma scop
for (int i = 0; i < n / 4; i++)
  for (int j = 0; j < 4; j++)
    x[k++] = y[4 * i + 3 - j];
#pragma endscop
a[0] = k;

//# two_inductions: parallel
int lo = 0, hi = n - 1;
#pragma scop
for (int i = 0; i < n; i++) {
  x[lo] = y[hi];
  lo++;
  hi--;
}
#pragma endscop
a[0] = lo + 3 * hi;

//# comma_header: parallel
int i, k;
#pragma scop
for (i = 0, k = n - 1; i < n; i++, k--)
  x[i] = y[k];
#pragma endscop
a[0] = i, a[n * n - 1] = k;

//# meeting_in_the_middle: parallel
int i, k;
#pragma scop
for (i = 0, k = n - 1; i < k; i++, k--) {
  x[i] = y[k];
  x[k] = y[i];
}
#pragma endscop

//# unsigned_induction: parallel
unsigned k = 1;
#pragma scop
for (int i = 0; i < n - 1; i++) {
  x[k] = i;
  k += 1;
}
#pragma endscop
a[0] = (int)k;

//# size_t_induction: parallel
size_t k = 0;
#pragma scop
for (size_t i = 0; i < (size_t)n; i++) {
  x[k] = y[i];
  k += (size_t)n;
}
#pragma endscop
a[0] = (int)k;

//# narrow_induction: parallel
short k = 0;
#pragma scop
for (int i = 0; i < n; i++) {
  x[k] = y[i];
  k++;
}
#pragma endscop
a[0] = k;

//# wrapping_char: parallel
unsigned char k = 250;
#pragma scop
for (int i = 0; i < n; i++) {
  x[i] = y[i];
  k++;
}
#pragma endscop
a[0] = k;

//# symbolic_increment: parallel
int ix = 0;
#pragma scop
for (int i = 0; i < n; i++) {
  x[ix] = 2 * y[ix];
  ix += n;
}
#pragma endscop
a[0] = ix;

//# walking_pointers: parallel
double *p = x;
const double *q = y;
#pragma scop
for (int i = 0; i < n; i++)
  *p++ = *q++ * 2;
#pragma endscop
a[0] = (int)(p - x);

//# walking_pointer_in_region: parallel
double *p;
#pragma scop
p = x;
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++)
    *p++ = X[i][j];
#pragma endscop
a[0] = (int)(p - x);

//# unrolled_walk: parallel
double *p = x;
#pragma scop
for (int i = 0; i < n / 4; i++) {
  *p++ = 1;
  *p++ = 2;
  p[0] = 3, p[1] = 4;
  p += 2;
}
#pragma endscop

//# pointer_iterator: parallel
for (double *p = x; p < x + n; p++)
  *p = 2 * *p;

//# pointer_iterator_with_end: parallel
double *end = x + n, *p;
#pragma scop
for (p = x; p != end; ++p)
  *p = 1;
#pragma endscop
a[0] = (int)(p - x);

//# pointer_in_steps_of_a_variable: parallel
int step = n;
const double *p = x, *end = x + n * step;
double *q = y;
#pragma scop
while (p < end) {
  *q++ = *p * 2;
  p += step;
}
#pragma endscop

//# pointer_in_steps_of_a_variable_in_a_header: parallel
int step = n;
#pragma scop
double *q = y;
for (const double *p = x, *end = x + n * step; p != end; p += step, q++) *q = *p + 1;
#pragma endscop

//# pointer_in_steps_of_a_variable_in_do_while: parallel
int step = n;
double *p = x, *end = x + n * step;
#pragma scop
do {
  *p *= 2;
  p += step;
} while (p < end);
#pragma endscop
y[0] = p - x;

//# pointer_in_steps_of_a_variable_to_anywhere: parallel
size_t step = n / 2 + 1;
double *p = x, *end = x + n * n;
#pragma scop
while (p < end) {
  *p = 3 - *p;
  p += step;
}
#pragma endscop
y[0] = p - x;

//# pointer_in_steps_of_a_variable_up_to_the_last: parallel
int step = n / 2 + 1;
double *p = x, *last = x + n * n;
#pragma scop
for (; p <= last; p += 2 * step) *p = 3 - *p;
#pragma endscop
y[0] = p - x;

//# pointer_in_steps_of_a_variable_downwards: parallel
long step = n;
double *p = x + n * step;
#pragma scop
while (p > x) {
  p -= step;
  *p *= 3;
}
#pragma endscop

//# pointer_in_steps_that_may_be_negative: parallel
int step = n > 2 ? 2 : -1;
double *p = x, *end = n > 2 ? x + n : x;
#pragma scop
while (p < end) {
  *p += y[0];
  p += step;
}
#pragma endscop

//# rows_in_steps_of_a_variable: parallel
int stride = n, w = n - 1;
const double *row = x, *bottom = x + n * stride;
double *out = y;
#pragma scop
for (; row < bottom; row += stride, out += stride) {
  const double *p = row, *end = row + w;
  double *q = out;
  while (p < end) *q++ = *p++ / 2;
}
#pragma endscop

//# rows_of_colours_in_steps_of_a_variable: parallel
int step = 3;
if (n > 16) step = 4;
const unsigned char *p = c, *end = c + n / 4 * step;
#pragma scop
for (int *g = a; p < end; p += step, g++) *g = (77 * p[0] + 150 * p[1] + 29 * p[2]) >> 8;
#pragma endscop

//# counter_in_steps_of_a_variable: parallel
int step = n, k = 0;
#pragma scop
while (k < n * step) {
  x[k] *= 2;
  k += step;
}
#pragma endscop
y[0] = k;

//# counter_in_steps_of_a_variable_in_do_while: parallel
int step = n / 2 + 1, k = 0, j = 0;
#pragma scop
do {
  x[k] = y[j++];
  k += step;
} while (k < n * n);
#pragma endscop
y[0] = k + j;

//# pointer_in_steps_that_data_choose: pointer-value
double *p = x, *end = x + n * n;
#pragma scop
while (p < end) {
  *p *= 2;
  p += r[n] % 3 + 1;
  r[n] = r[n] + 1;
}
#pragma endscop

//# pointer_iterator_of_unknown_pointers: parallel
double *begin = x + n / 3, *end = x + n;
#pragma scop
while (begin < end)
  *begin++ = 7;
#pragma endscop
a[0] = (int)(begin - x);

//# while_that_counts: parallel
int i = 0;
#pragma scop
while (i < n) {
  x[i] = y[i];
  i++;
}
#pragma endscop
a[0] = i;

//# while_from_region: parallel
int i, k;
#pragma scop
i = 2;
k = n;
while (i <= n) {
  i += 2;
  x[i - 4] = y[k - 1];
  k--;
}
#pragma endscop
a[0] = i, a[n * n - 1] = k;

//# while_counting_down: parallel
int i = n;
#pragma scop
while (i--)
  x[i] = y[i] + i;
#pragma endscop
a[0] = i;

//# while_decrement_first: parallel
int i = n;
#pragma scop
while (--i > 0)
  x[i] = y[i - 1];
#pragma endscop
a[0] = i;

//# for_with_decrement_in_condition: parallel
for (int i = n; i-- > 0;)
  x[i] = y[i] * 3;

//# do_while_that_counts: parallel
int i = 0;
#pragma scop
do {
  x[i] = y[i] + 1;
  i++;
} while (i < n);
#pragma endscop
a[0] = i;

//# do_while_test_after_increment: parallel
int i = 0;
#pragma scop
do
  x[i] = 1;
while (++i < n);
#pragma endscop
a[0] = i;

//# do_once: parallel
for (int i = 0; i < n; i++)
  do {
    x[i] = 1;
    y[i] = 2;
  } while (0);

//# nested_while: parallel
int i = 0, j;
#pragma scop
while (i < n) {
  j = 0;
  while (j < n) {
    X[i][j] = K[i][j];
    j++;
  }
  i++;
}
#pragma endscop

//# counter_stepped_in_body: parallel
for (int i = 0; i < n; i++) {
  x[i] = 1;
  i++;
}

//# chained_assignment: parallel
int i, j;
#pragma scop
i = j = 1;
for (int k = 1; k < n; k++) {
  x[i] = y[j];
  i++, j++;
}
#pragma endscop

//# temporary_chosen_by_condition: parallel
for (int i = 0; i < n; i++) {
  int k;
  if (i > 3)
    k = i;
  else
    k = 0;
  x[i] = y[k];
}

//# flag_of_counter: parallel
for (int i = 0; i < n; i++) {
  int inside = i > 0 && i < n - 1;
  if (inside)
    x[i] = y[i - 1] + y[i + 1];
}

//# bounds_in_temporaries: parallel
for (int i = 0; i < n; i++) {
  int first = i, last = n - i;
  for (int j = first; j < last; j++)
    X[i][j] = 0;
}

//# sum_is_no_induction: serial
int s = 0;
#pragma scop
for (int i = 1; i < n; i++) {
  s += a[i];
  x[i] = x[i - 1] + s;
}
#pragma endscop
a[0] = s;

//# gather_stays_data: parallel
for (int i = 0; i < n; i++) {
  int k = a[i];
  x[i] = y[k];
}

//# reused_temporary: parallel
int k;
#pragma scop
for (int i = 0; i < n; i++) {
  k = i;
  x[k] = 1;
  k = n - 1 - i;
  y[k] = 2;
}
#pragma endscop
a[0] = k;

//# count_of_iterations: parallel
int count = 0;
#pragma scop
for (int i = 0; i < n; i++)
  for (int j = 0; j < i; j++) {
    X[i][j] = 1;
    count++;
  }
#pragma endscop
a[0] = count;

//# conditional_counter: serial
int count = 0;
#pragma scop
for (int i = 0; i < n; i++)
  if (x[i] > 50) {
    y[count] = x[i];
    count++;
  }
#pragma endscop
a[0] = count;

//# names_of_two_blocks: parallel
for (int i = 0; i < n; i++) {
  { int k = 0; while (k < n) { x[i * n + k] += 1; k++; } }
  { int k = i; while (k < n) { X[i][k] -= k; k++; } }
}

//# pointers_of_two_blocks: parallel
for (int i = 0; i < n; i++) {
  for (int j = 0; j < i; j++) { double *p = &X[i][0]; p[j] += 1; }
  for (int j = i; j < n; j++) { double *p = &X[0][i]; p[j * n] -= 1; }
}

//# name_of_the_function: parallel
int k = 3;
#pragma scop
for (int i = 0; i < n; i++) { int k = 2 * i; x[k] = i; }
#pragma endscop
a[0] = k;

//# walking_down_a_column: parallel
for (int i = 0; i < n; i++) {
  const double *p = &X[0][i];
  double s = 0;
  for (int k = 0; k < n; k++) { s += *p; p += n; }
  x[i] = s;
}

//# walking_through_rows_backwards: parallel
for (int i = 0; i < n; i++) {
  double *p = &X[n - 1][i];
  for (int k = 0; k < n; k++) { *p += k; p -= n; }
}

//# row_before: parallel
for (int i = 1; i < n; i++)
  for (int j = 0; j < n; j++) { double *p = &X[i][j]; x[i * n + j] = p[0] - p[-n]; }

//# buffer_as_long_as_its_row: parallel
for (int i = 0; i < n; i++) {
  double row[i + 1];
  for (int j = 0; j <= i; j++) row[j] = X[i][j] * 2;
  for (int k = 0; k < n; k++)
    for (int j = 0; j <= i; j++) row[j] += X[k][j];
  for (int j = 0; j <= i; j++) x[i * n + j] = row[j];
}

//# buffer_of_what_is_left: parallel
for (int i = 0; i < n; i++) {
  double rest[n - i];
  for (int j = i; j < n; j++) rest[j - i] = X[i][j] + i;
  for (int j = i; j < n; j++) y[i * n + j] = rest[n - 1 - j];
}

//# register_variable: parallel
for (int i = 0; i < n; i++) {
  register double s = 0;
  for (int j = 0; j < n; j++) s += X[i][j];
  x[i] = s;
}

//# pointers_that_change_places: parallel
for (int t = 0; t < 4; t++) {
  for (int i = 1; i < n - 1; i++) y[i] = x[i - 1] + x[i + 1];
  double *s = x;
  x = y;
  y = s;
}

//# pointers_that_change_places_in_do_while: parallel
int t = 0, steps = n % 5;
#pragma scop
do {
  for (int i = 1; i < n - 1; i++) y[i] = x[i - 1] + x[i + 1];
  double *s = x; x = y; y = s;
  t++;
} while (t < steps);
#pragma endscop
a[0] = t; x[0] += 1;

//# pointers_that_change_places_until_break: parallel
int t = 0;
#pragma scop
for (;;) {
  for (int i = 1; i < n - 1; i++) y[i] = x[i - 1] + x[i + 1];
  double *s = x; x = y; y = s;
  if (++t == n) break;
}
#pragma endscop
x[0] += t;

//# pointers_that_change_places_until_break_in_the_middle: parallel
int t = 0;
#pragma scop
while (1) {
  for (int i = 1; i < n - 1; i++) y[i] = x[i - 1] + x[i + 1];
  double *s = x; x = y; y = s;
  t += 2;
  if (t >= n) break;
}
#pragma endscop
x[0] += 1;

//# counted_by_do_while: parallel
int t = n / 3, k = 0;
#pragma scop
do {
  for (int i = 0; i < n; i++) X[k % n][i] += t;
  k++, t -= 2;
} while (t > 1);
#pragma endscop
a[0] = k, b[0] = t;

//# rows_of_members: parallel
struct node { double *x, *g; int n; } node = {x, y, n}, other = {z, y, n}, *p = &node, *q = &other;
#pragma scop
for (int i = 0; i < n; i++) {
  double *g = &p->g[i * n], *r = &q->x[i * n], *u = &(*p).x[i * n];
  for (int j = 0; j < n; j++) g[j] += r[j] * 2 + u[j];
}
#pragma endscop

//# rows_of_members_walked: parallel
struct node { double *x, *g; int n; } node = {x, y, n}, *p = &node;
#pragma scop
for (int i = 0; i < n; i++) {
  double *g = &p->g[i * n], *s = &node.x[i * n];
  for (int j = 0; j < n; j++) *g++ += *s++ * 3;
}
#pragma endscop

//# rows_of_members_that_are_written: parallel
struct node { double *x, *g; int n; } node = {x, y, n}, *p = &node;
#pragma scop
for (int i = 0; i < n; i++) {
  double *g = p->g + i * n;
  for (int j = 0; j < n; j++) g[j] += p->x[j] * 2;
  p->g[i * n] = 0;
}
#pragma endscop

//# jump_back: parallel
int k = 0;
double s = 0;
#pragma scop
for (int i = 0; i < n; i++) {
  s = 0;
  k = 0;
next:
  if (k < n) {
    s += X[i][k] * y[k];
    k++;
    goto next;
  }
  x[i] = s;
}
#pragma endscop

//# jumps_as_of_fortran: parallel
int i = 0, j = 0;
#pragma scop
i = 1;
first:
  if (i > n) goto last;
  j = 1;
again:
  if (j > n) { goto done; }
  X[i - 1][j - 1] = y[i - 1] * z[j - 1];
  ++j;
  goto again;
done:
  ++i;
  goto first;
last:
  x[0] = 1;
#pragma endscop

//# jump_back_behind: parallel
int k = 0;
#pragma scop
for (int i = 0; i < n; i++) {
  k = 0;
next:
  X[i][k] = y[k] + i;
  ++k;
  if (k < n) goto next;
}
#pragma endscop
a[0] = k;

//# endless_loop: parallel
for (int i = 0;; i++) {
  if (i >= n) break;
  int k = 0;
  for (;;) {
    if (!(k < n)) break;
    X[i][k] = y[k] * 2;
    k++;
  }
}

//# endless_loop_left_behind: parallel
for (int i = 0; i < n; i++) {
  int k = 0;
  while (1) {
    X[i][k] = y[k] - 1;
    if (++k == n) break;
  }
}

//# endless_loop_with_a_step: parallel
for (int i = 0; i < n; i++)
  for (int k = n - 1;; k--) {
    X[i][k] = y[k] - 1;
    if (k == 0) break;
  }

//# endless_loop_left_in_the_middle: parallel
for (int i = 0; i < n; i++) {
  int k = -1;
  for (;;) {
    k++;
    if (k == n) break;
    X[i][k] = y[k] - 1;
  }
}

//# endless_loop_left_otherwise: parallel
for (int i = 0; i < n; i++) {
  int k = 0;
  do {
    if (k < n) {
      X[i][k] = y[k] * y[k];
      k++;
      continue;
    } else
      break;
  } while (1);
}

//# bounds_in_variables_set_from_memory: parallel
int sizes[2] = {n, n}, *rows = sizes;
int last = 0, until = 0;
#pragma scop
last = *rows;
for (int i = 1; i <= last; ++i) {
  until = sizes[1] - 1;
  for (int j = 0; j <= until; ++j)
    X[i - 1][j] = y[j] + i;
}
#pragma endscop

//# bounds_in_variables_that_are_written: data-dependent-bound
int sizes[2] = {n / 2, n};
int last = 0;
#pragma scop
last = sizes[0];
sizes[0] = 1;
for (int i = 0; i < last; ++i)
  x[i] = y[i] + i;
#pragma endscop
a[0] = sizes[0];

//# switch_of_a_mode: parallel
for (int i = 0; i < n; i++)
  switch (n % 3) { case 0: x[i] = y[i]; break; case 1: x[i] += y[i]; default: x[i] += 2 * y[i]; }

//# switch_before_a_loop_in_steps: parallel
for (int i = 0; i < n; i++) {
  double s = 0; int k = 0;
  switch (n % 4) { case 3: s += X[i][k] * y[k]; k++; case 2: s += X[i][k] * y[k]; k++; case 1: s += X[i][k] * y[k]; k++; }
  for (; k < n; k += 4) {
    s += X[i][k] * y[k]; s += X[i][k + 1] * y[k + 1]; s += X[i][k + 2] * y[k + 2]; s += X[i][k + 3] * y[k + 3];
  }
  x[i] = s;
}

//# value_of_the_iteration_before: parallel
int before = n - 1, behind = 0;
for (int i = 0; i < n; i++) { x[i] = y[i] - y[before]; before = i; }
for (int i = n - 1; i >= 0; i -= 2) { z[i] += y[behind] + before; behind = i + 1; }
a[0] += before; a[1] += behind;

//# counter_of_the_iteration_before_in_the_header: parallel
int i, j, k = 0, l = n - 1, e;
for (i = 0, j = n - 1; i < n; j = i++) x[i] = y[i] - y[j];
while (k < n) { z[k] += y[l] * 2; l = k++; }
for (i = n - 1, e = 0; i >= 0; e = i, i -= 2) b[i] = y[e] + i;
a[0] += j - l; a[1] += e;

//# flag_of_the_first_iteration: parallel
for (int i = 0; i < n; i++) {
  double s = 5; int first = 1;
  for (int k = i; k < n; k++) { if (first) { s = X[i][k] * y[k]; first = 0; } else s += X[i][k] * y[k]; }
  x[i] = s + first;
}

//# counter_of_the_iteration_before: parallel
int j = n - 2, k;
for (k = 0; k < n; k++) { if (j > 2) a[k] = 0; for (j = 0; j < n; j++) a[j] += k; b[k] = j; }
b[0] += j;

//# rows_with_a_first_element_walked: parallel
double *w = x; const double *d = y;
#pragma scop
for (int j = 0; j < n - 1; j++) {
  *w++ += *d * 0.5;
  for (int k = 0; k < n; k++) *w++ += *d * z[k];
  d++;
}
#pragma endscop
a[0] = (int)(w - x) + (int)(d - y);

//# rows_with_a_last_element_walked: parallel
double *w = x; int j, k;
#pragma scop
for (j = 0; j < n - 1; j++) {
  for (k = 1; k < n + 1; ++k) { *w = y[j] * z[k - 1]; ++w; }
  *w++ = -y[j];
}
#pragma endscop
a[0] = (int)(w - x) + j;

//# rows_with_a_first_element_counted: parallel
int p = 0;
#pragma scop
for (int j = 0; j < n - 1; j++) {
  x[p] = y[j];
  p++;
  for (int k = 0; k < n; k++, p++) x[p] = y[j] + z[k];
}
#pragma endscop
a[0] = p;

//# rows_with_elements_left_out_walked: parallel
double *w = x;
#pragma scop
for (int j = 0; j < n - 2; j++) {
  w += 2;
  int k = n;
  while (k-- > 0) *w++ += y[j] * z[k];
}
#pragma endscop
a[0] = (int)(w - x);

//# rows_of_a_chosen_length_walked: parallel
double *w = x; int few = a[0] % 2 ? a[0] % n : n - 1, chosen = b[0];
#pragma scop
for (int j = 0; j < n; j++) {
  *w++ *= 2;
  for (int k = 0; k < (chosen > 0 ? few : n - 1); k++) *w++ += y[j] * z[k];
}
#pragma endscop
b[0] = (int)(w - x);

//# rows_that_may_have_no_elements_walked: parallel
double *w = x; int few = a[0] % 3 - 1, m = 3;
#pragma scop
for (int j = 0; j < n; j++) {
  *w++ += 1;
  for (int k = 0; k < few; k++) *w++ = y[j] * k;
  if (j == m) w[0] = 0;
}
#pragma endscop
b[0] = (int)(w - x);

//# window_whose_sizes_are_set_again_walked: parallel
int w = 3, h = 3, count;
double *end = x + n, *line, *from, *to, *last;
const double *weights = z;
if (w > n) w = n;
if (h > n) h = n;
if (w < 3) w = 1;
count = w * h;
#pragma scop
for (int i = 0; i < count; i++) {
  int column = i % w, row = i / w, shift = column - w / 2;
  line = y + n * row;
  if (shift >= 0) { from = line + shift; to = x; last = end - shift; }
  else { from = line; to = x - shift; last = end; }
  while (to < last)
    *(to++) += weights[i] * *(from++);
}
#pragma endscop

//# window_whose_sizes_are_set_again_counted: parallel
int w = 3, h = n, count = 9;
if (h > 3) { h = 3; }
w = w < n ? w : n;
count = w * h;
#pragma scop
for (int i = 0; i < count; i++)
  for (int k = 0; k < n - w; k++)
    x[k] += z[i] * y[n * (i / w) + k + i % w];
#pragma endscop

//# grid_whose_size_is_reused: parallel
int m = n + 1, size = n * n;
for (int i = 0; i < size; i++) a[i] = b[i] % 3;
m = n;
if (m > 20) m = 20;
size = m * n;
#pragma scop
for (int k = 0; k < size; k++)
  x[k] += y[(k / n) * n + n - 1 - k % n] + a[k];
#pragma endscop
size = 0;
b[size] = m;

//# grid_whose_sizes_a_loop_changes: parallel
int m = n, size;
while (m > 0) {
  size = m * n;
  #pragma scop
  for (int k = 0; k < size; k++)
    x[k] += y[(k % n) * n + k / n];
  #pragma endscop
  m -= 5;
}

//# grid_whose_size_is_set_under_a_condition: parallel
int m = n, size = 0;
if (m > 16) m = 16;
if ((size = m * n) > 3) {
  #pragma scop
  for (int k = 0; k < size; k++)
    X[k / n][k % n] = x[k] * 2;
  #pragma endscop
}

//# grid_whose_size_is_no_longer_its_rows: parallel
int m = n, size;
if (m > 16) m = 16;
size = m * n;
m--;
#pragma scop
for (int k = 0; k < size; k++)
  for (int j = 0; j < m; j++)
    X[j][k % n] += x[k];
#pragma endscop

//# tested_by_a_step_in_do_while: parallel
int t = n / 2, k = n, m = 0;
#pragma scop
do {
  for (int i = 0; i < n; i++) X[m % n][i] += t;
  m++;
} while (--t > 1);
do {
  for (int i = 0; i < n; i++) y[i] += x[i] * 2;
} while (k--);
#pragma endscop
a[0] = m, b[0] = t, r[0] = k;
