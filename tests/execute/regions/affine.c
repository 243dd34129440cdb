//# add_and_multiply: parallel
for (int i = 0; i < n / 4; i++)
  x[3 * i + (i + 2) - 2] = y[(2 * i + 1) * 2 - 2];

//# maximum: parallel
for (int i = 0; i < n; i++)
  for (int j = max(i - 2, 0); j < n; j++)
    X[i][j] = max(i, j);

//# minimum: parallel
for (int i = 0; i < n; i++)
  for (int j = 0; j < min(n, 2 * i + 1); j++)
    X[i][min(j, n - 1)] = 1;

//# modulo: parallel
for (int i = 0; i < n; i++)
  x[i] = y[(i + 3) % 5 % n];

//# modulo_of_negative: parallel
for (int i = 0; i < n; i++)
  if ((i - 7) % 3 == -1)
    x[i] = y[i / 2];

//# division: parallel
for (int i = 0; i < n; i++)
  x[i] = y[i / 2] + y[(n - i) / 3];

//# division_of_negative: serial
for (int i = 0; i < n; i++)
  x[n - 1 + (1 - i) / 2] += i;

//# floord_and_ceild: parallel
for (int i = floord(-n, 3); i <= ceild(n, 4); i++)
  for (int j = 0; j < n; j++)
    if (i >= 0 && i < n)
      X[i][j] = floord(i - 4, 3);

//# conditional: parallel
for (int i = 0; i < n; i++)
  x[i < n / 2 ? i : n - 1 - i + n / 2] = y[i ? i - 1 : 0];

//# comparisons: parallel
for (int i = 0; i <= n - 1; i++) {
  if (i < 3) x[i] = 1;
  if (i <= 4) x[i] += 2;
  if (i == 5) x[i] += 3;
  if (i >= 6) x[i] += 4;
  if (n > i + 2) x[i] += 5;
}

//# not_equal: parallel
for (int i = 0; i != n; i++)
  if (i != 3)
    x[i] = y[i];

//# implicit_comparison_to_zero: parallel
for (int i = 0; i < n; i++) {
  if (i) x[i] = 1;
  if (i % 4) x[i] += 2;
}

//# and_or_not: parallel
for (int i = 0; i < n; i++)
  if ((i > 2 && i < n - 2) || !(i < n - 1 || i == 4))
    x[i] = y[i];

//# boolean_as_number: parallel
for (int i = 0; i < n; i++)
  x[i] = y[i * (i > 4)] + (i < 3) + !i;

//# stride: parallel
for (int i = 1; i < n; i += 3)
  x[i] = y[i - 1];

//# negative_stride: parallel
for (int i = n - 1; i >= 0; i -= 2)
  x[i] = y[i];

//# negative_stride_in_order: serial
for (int i = n - 2; i >= 0; i--)
  x[i] = x[i + 1] + y[i];

//# bound_restriction: parallel
for (int i = 0; i < n && i < 20 && 2 * i <= n + 3; i++)
  x[i] = 1;

//# prefix_condition: parallel
for (int i = 0; i < n && i != 9; i++)
  x[i] = 1;

//# prefix_condition_with_stride: parallel
int i;
#pragma scop
for (i = 1; i < n && (i < 5 || i > 11); i += 3)
  x[i] = 1;
#pragma endscop
a[0] = i;

//# prefix_condition_modulo: parallel
int i;
#pragma scop
for (i = 1; i % 8; i++)
  if (i < n)
    x[i] = i;
#pragma endscop
a[0] = i;

//# if_else: parallel
for (int i = 0; i < n; i++)
  if (i > n / 2)
    x[i] = 1;
  else if (i > n / 3)
    x[i] = 2;
  else
    x[i] = 3;

//# static_size: parallel
double S[40][40];
#pragma scop
for (int i = 0; i < n; i++)
  for (int j = 0; j < 40; j++)
    S[i][j] = i + j;
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++)
    X[i][j] = S[j][i];
#pragma endscop

//# variable_size: parallel
double V[n][2 * n + 1];
#pragma scop
for (int i = 0; i < n; i++)
  for (int j = 0; j < 2 * n + 1; j++)
    V[i][j] = i - j;
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++)
    X[i][j] = V[j][2 * i];
#pragma endscop

//# generated_loops: parallel
int t1, t2, t3;
#pragma scop
if (n >= 1)
  for (t1 = 0; t1 <= floord(n - 1, 8); t1++)
    for (t2 = max(0, ceild(8 * t1 - 3, 4)); t2 <= min(floord(n - 1, 4), floord(8 * t1 + 7, 4)); t2++)
      for (t3 = max(8 * t1, 4 * t2); t3 <= min(min(n - 1, 8 * t1 + 7), 4 * t2 + 3); t3++)
        x[t3] = t1 + 2 * t2;
#pragma endscop

//# unsigned_counter: parallel
for (unsigned i = 0; i < (unsigned)n; i++)
  x[i] = y[n - 1 - i];

//# unsigned_wrap_in_subscript: parallel
for (unsigned i = 1; i < (unsigned)n; i++)
  x[i + (unsigned)-1] = y[i];

//# unsigned_wrap_in_bound: parallel
unsigned m = n;
#pragma scop
if (m > 5u)
  for (unsigned i = 0; i < m - 5u; i++)
    x[i] = 1;
#pragma endscop

//# unsigned_wrap_in_condition: parallel
unsigned m = n;
#pragma scop
for (unsigned i = 0; i < m; i++)
  if (i - 3u < 4u)
    x[i] = 1;
#pragma endscop

//# unsigned_wrap_to_start: parallel
unsigned m = n;
#pragma scop
for (unsigned i = m - 1; i < m; i--)
  x[i] = y[i];
#pragma endscop

//# cast_to_narrow: parallel
for (int i = 0; i < n; i++)
  x[(unsigned char)i] = y[(short)(i + 1) - 1];

//# cast_that_wraps: parallel
for (int i = 0; i < n; i++)
  x[i] = y[(unsigned char)(i + 250) % n];

//# unsigned_char_counter: parallel
for (unsigned char i = 0; i < n; i++)
  x[i] = 1;

//# short_counter: parallel
for (short i = (short)(n - 1); i >= 0; i--)
  x[i] = i;

//# size_t_and_int: parallel
for (size_t i = 1; i < (size_t)n; i++)
  for (int j = 0; j < (int)i; j++)
    X[i][j] = X[i][j] + i - j;

//# int_compared_with_unsigned: parallel
unsigned m = n;
#pragma scop
for (int i = 0; i < m; i++)
  x[i] = 1;
#pragma endscop

//# negative_compared_with_unsigned: parallel
unsigned m = n;
#pragma scop
for (int i = -3; i < n; i++)
  if (i < m)
    x[i] = 1;
#pragma endscop

//# shifts_and_masks: serial
for (int i = 0; i < n; i++)
  x[i >> 1] += y[i & 7 & (n > 7 ? 7 : 0)];

//# masks_of_high_bits: parallel
for (int i = -n; i < (n & ~1); i++)
  if ((i & ~3) == i)
    x[(i + n) / 2] += y[(i + n) >> 1];

//# masks_of_unsigned: serial
for (unsigned i = 0; i < ((unsigned)n & ~1u); i++)
  for (size_t j = 0; j < ((size_t)n & ~3); j++)
    x[j & ~(size_t)1] += y[i & ~3u];

//# masks_narrower_than_values: non-affine-bound
for (size_t i = 0; i < ((size_t)n & ~3u); i++)
  x[i] += y[i & 1];

//# long_counter: parallel
for (long i = 0; i < n; i++)
  x[i] = (int)i;

//# endless_for: loop-header
if (n > 0)
  return;
#pragma scop
for (;;)
  x[0] = 1;
#pragma endscop

//# endless_while: while
if (n > 0)
  return;
#pragma scop
while (1)
  x[0] = 1;
#pragma endscop

//# endless_do: do-while
if (n > 0)
  return;
#pragma scop
do
  x[0] = 1;
while (n < 5);
#pragma endscop

//# endless_counter: endless-loop
if (n > 0)
  return;
#pragma scop
for (int i = 0; i >= 0; i++)
  x[i & 1] = 1;
#pragma endscop

//# never_reaches_its_end: parallel
int i;
#pragma scop
for (i = 0; i != 2 * (n / 2); i += 2)
  x[i] = 1;
#pragma endscop
a[0] = i;

//# unsigned_char_wraps_around: parallel
unsigned char k;
int seen[256] = {0};
#pragma scop
for (k = 252; k % 9 <= 5; ++k)
  seen[k] = n;
#pragma endscop
for (int i = 0; i < 256; i++)
  b[i % n] += seen[i];
a[0] = k;

//# labels_without_jumps: parallel
for (int i = 0; i < n; i++) {
first:
  x[i] = 1;
second:
  y[i] = 2;
}

//# strides_from_remainders: parallel
int seen[40] = {0};
#pragma scop
for (int i = n % 7 - 1; i >= 2; i -= 3)
  seen[i] = i + n;
for (int i = 5 - (n + 2) % 4; i < 9; i += 3)
  seen[i + 20] = i;
#pragma endscop
for (int i = 0; i < 40; i++)
  b[i % n] += seen[i];

//# product_of_sizes: parallel
for (int i = 0; i < n * n; i++)
  x[i] = y[i] * 2;

//# triangular_number: parallel
for (int i = 0; i < n * (n - 1) / 2; i++)
  a[i] += b[i] - i;

//# product_inside: parallel
for (int i = 0; i < n; i++)
  for (int j = 1; j <= n * n - i; j++)
    a[j - 1] += b[n * n - j] + i;

//# grids_as_vectors: parallel
double t = 0;
#pragma scop
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++)
    y[i * n + j] = x[i * n + j] * (i > 0 ? x[(i - 1) * n + j] : 1);
for (int k = 0; k < n * n; k++) t += x[k] * y[k];
for (int k = 0; k < n * n; k++) z[k] -= y[k];
for (int k = 0; k < n * n; k++) x[k] = z[k] + t * x[k];
#pragma endscop
z[0] = t;

//# grids_as_vectors_by_a_name: parallel
int all = n * n, k;
#pragma scop
for (k = 0; k < all; k++) z[k] = 2 * x[k];
for (int i = 1; i < n; i++)
  for (int j = 0; j < n; j++)
    y[i * n + j] = z[i * n + j] - z[(i - 1) * n + j];
for (k = 0; k < all; k++) x[k] += y[k] * k;
#pragma endscop
k = all;

//# planes_as_vectors: parallel
int m = n / 4;
#pragma scop
for (int c = 0; c < 3; c++)
  for (int i = 0; i < m; i++)
    for (int j = 0; j < m; j++)
      y[c * m * m + i * m + j] = x[i * m + j] + c;
for (int p = 0; p < m * m; p++) {
  double s = 0;
  for (int c = 0; c < 3; c++)
    s += x[c] * y[c * m * m + p];
  z[p] = s;
}
#pragma endscop

//# product_of_quotients: parallel
for (int i = 0; i < (n / 2) * ((n + 1) / 2); i++)
  x[i] = y[i] * 2;

//# quotient_of_sizes: parallel
int part = n / 3 + 1;
#pragma scop
for (int i = 0; i < n / part; i++)
  x[i] = y[i] + n % part;
for (int i = n - n % part; i < n; i++)
  x[i] = -y[i];
#pragma endscop
part = 0;

//# quotient_where_there_is_one: parallel
int part = n / 3;
#pragma scop
if (part)
  for (int i = 0; i < n / part; i++)
    x[i] = y[i] * 2;
for (int i = 0; i < n; i++) {
  if (part != 0 && i < n / part) z[i] += 1;
  if (part == 0 || i > n % part) z[i] -= y[i];
}
for (int i = 0; i < (part ? (n + part - 1) / part : n); i++)
  a[i] += 1;
#pragma endscop
part = 0;

//# part_of_a_thread: parallel
int parts = n / 7 + 1, own = parts / 2;
#pragma scop
for (int i = own * (n / parts); i < (own + 1) * (n / parts); i++)
  x[i] = y[i] * 2;
#pragma endscop
parts = own;

//# product_of_a_variable: parallel
int m = n / 2;
#pragma scop
for (int i = 0; i < m * (n + 1) - m; i++)
  x[i] = y[i] + 1;
#pragma endscop
m = 0;

//# size_t_down_until_it_wraps: parallel
for (size_t i = (size_t)n - 1; i < (size_t)n; i--)
  x[i] = y[i] * 2;

//# size_t_down_to_the_greatest: parallel
size_t m = n;
#pragma scop
for (size_t i = m - 1; i != (size_t)-1; --i)
  x[i] += y[i];
#pragma endscop

//# unsigned_down_from_anywhere: parallel
unsigned m = n, first = n / 2;
#pragma scop
for (unsigned i = first; m > i; i -= 1)
  for (unsigned j = m - 1; j < m; j--)
    X[i][j] += y[j];
#pragma endscop

//# size_t_down_with_a_counter_of_the_function: parallel
size_t i, m = n;
#pragma scop
for (i = m - 1; i < m; i--) {
  if (a[i] > 3) continue;
  x[i] += y[i];
}
#pragma endscop

//# size_t_down_in_order: serial
size_t m = n;
#pragma scop
for (size_t i = m - 2; i < m; i--)
  x[i] += x[i + 1] * 0.5;
#pragma endscop

//# size_t_down_that_is_needed_after: endless-loop
size_t i, m = n;
#pragma scop
for (i = m - 1; i < m; i--)
  x[i] += y[i];
#pragma endscop
a[0] = i == (size_t)-1;
