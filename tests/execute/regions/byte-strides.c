// Bodies of functions as in data-dependent.c: strides in bytes along all axes. Of odd n they are those of rows
// of n elements, of even n elements lie two apart, or backwards, or rows are one.

//# two_axes: parallel
char *to = (char *)x, *from = (char *)y; const long *s = strides(n), *t = strides(n);
long s0 = s[0], s1 = s[1], t0 = t[0], t1 = t[1], m = n % 2 ? n : n / 2;
#pragma scop
for (long i = 0; i < n; i++)
  for (long j = 0; j < m; j++) *(double *)(to + i * s0 + j * s1) = 2 * *(double *)(from + i * t0 + j * t1);
#pragma endscop

//# neighbours_in_two_axes: parallel
char *to = (char *)x; const char *from = (const char *)y; const long *s = strides(n);
long s0 = s[0], s1 = s[1], m = n % 2 ? n : n / 2;
#pragma scop
for (int i = 1; i < n - 1; i++)
  for (int j = 1; j < m - 1; j++)
    *(double *)(to + i * s0 + j * s1) = *(const double *)(from + (i - 1) * s0 + j * s1)
      + *(const double *)(from + (i + 1) * s0 + j * s1) + *(const double *)(from + i * s0 + (j + 1) * s1);
#pragma endscop

//# elements_by_a_macro: parallel
array u = {(char *)x, 2, {n, n % 2 ? n : n / 2}, strides(n)}, v = {(char *)y, 2, {n, n}, strides(n)}, *A = &u, *B = &v;
#pragma scop
for (long i = 0; i < A->dims[0]; i++)
  for (long j = 0; j < A->dims[1]; j++) *(double *)PLACE2(A, i, j) += 2 * *(double *)PLACE2(B, i, j);
#pragma endscop

//# elements_by_members: parallel
array u = {(char *)x, 2, {n, n % 2 ? n : n / 2}, strides(n)}, v = {(char *)y, 2, {n, n}, strides(n)}, *A = &u, *B = &v;
#pragma scop
for (long i = 0; i < A->dims[0]; i++)
  for (long j = 0; j < A->dims[1]; j++)
    *(double *)((char *)A->data + i * A->strides[0] + j * A->strides[1])
      = *(double *)((char *)B->data + B->strides[0] * i + B->strides[1] * j) + i;
#pragma endscop

//# nothing_without_strides: parallel
array u = {(char *)x, 2, {n > 2 ? n : 0, n % 2 ? n : n / 2}, n > 2 ? strides(n) : 0}, *A = &u;
#pragma scop
for (long i = 0; i < A->dims[0]; i++) for (long j = 0; j < A->dims[1]; j++) *(double *)PLACE2(A, i, j) += 1;
#pragma endscop

//# nothing_without_a_picture: parallel
array u = {(char *)x, 2, {n, n}, strides(n)}, *A = n > 2 ? &u : 0; long m = n > 2 ? n : 0;
#pragma scop
for (long i = 0; i < m; i++) {
  double *row = (double *)(A->data + i * A->strides[0]);
  for (long j = 0; j < n; j++) row[j] += 1;
}
#pragma endscop

//# elements_by_numbered_axes: parallel
buffer u = {{{n, strides(n)[0]}, {n % 2 ? n : n / 2, strides(n)[1]}}, x}, v = {{{n, 8 * n}, {n, n % 2 ? 8 : 16}}, y};
#pragma scop
for (int i = 0; i < u.axes[0].shape; i++)
  for (int j = 0; j < u.axes[1].shape; j++) {
    long t = i, w = j;
    *PLACE(double *, u.memory, t, u.axes[0].stride, w, u.axes[1].stride) = 2.0 * (*PLACE(double *, v.memory, t, v.axes[0].stride, w, v.axes[1].stride));
  }
#pragma endscop

//# several_numbers_at_a_place: parallel
char *from = (char *)y, *to = (char *)x; const long *s = steps(n); long is = 2 * s[1], os = 16;
#pragma scop
for (int i = 0; i < n / 2; i++, from += is, to += os) {
  const double re = ((double *)from)[0], im = ((double *)from)[1];
  ((double *)to)[0] = re * re - im * im;
  ((double *)to)[1] = 2 * re * im;
}
#pragma endscop

//# elements_by_a_function: parallel
array u = {(char *)x, 2, {n, n % 2 ? n : n / 2}, strides(n)}, *A = &u;
#pragma scop
for (long i = 0; i < A->dims[0]; i++)
  for (long j = 0; j < A->dims[1]; j++) set_element(A, i, j, element_at(A, i, j) * 2 + 1);
#pragma endscop

//# elements_by_a_function_with_a_name: parallel
array u = {(char *)x, 2, {n, n % 2 ? n : n / 2}, strides(n)}, *A = &u;
#pragma scop
for (long i = 0; i < A->dims[0]; i++)
  for (long j = 0; j < A->dims[1]; j++) add_to_element(A, i, j, i - 2 * j);
#pragma endscop

//# three_axes: parallel
array u = {(char *)x, 3, {n / 3, 3, n % 2 ? n : n / 2}, planes(n)}, v = {(char *)y, 3, {n, n, n}, planes(n)}, *A = &u, *B = &v;
#pragma scop
for (long i = 0; i < A->dims[0]; i++)
  for (long j = 0; j < A->dims[1]; j++)
    for (long k = 0; k < A->dims[2]; k++) *(double *)PLACE3(A, i, j, k) = *(double *)PLACE3(B, i, j, k) * 3;
#pragma endscop

//# two_axes_walked: parallel
const long *s = strides(n);
char *ra = (char *)x; const char *rb = (const char *)y; long s0 = s[0], s1 = s[1], m = n % 2 ? n : n / 2;
#pragma scop
for (long i = 0; i < n; i++) {
  char *p = ra; const char *q = rb;
  for (long j = 0; j < m; j++) { *(double *)p = 2 * *(const double *)q; p += s1; q += s1; }
  ra += s0; rb += s0;
}
#pragma endscop

//# rows_walked_in_headers: parallel
const long *s = strides(n);
char *a0 = (char *)x; void *b0 = y; long m = n % 2 ? n : n / 2;
#pragma scop
for (long i = 0; i < n; i++) {
  char *p = a0 + i * s[0], *q = (char *)b0 + i * s[0], *row = (char *)b0 + i * s[0];
  for (long j = 0; j < m; j++, p += s[1], q += s[1]) *(double *)p += *(double *)q + *(double *)(row + j * s[1]);
}
#pragma endscop

//# operands_walked: parallel
char *args[3] = {(char *)x, (char *)y, (char *)z};
char *in1 = args[0], *in2 = args[1], *out = args[2]; const long *s = steps(n); long is1 = s[0], is2 = s[1], os = s[2];
#pragma scop
for (int i = 0; i < n; i++, in1 += is1, in2 += is2, out += os) *(double *)out = *(double *)in1 * *(double *)in2;
#pragma endscop

//# operands_walked_in_a_while: parallel
char *in = (char *)x, *out = (char *)y; const long *s = steps(n); long in_step = s[0], out_step = s[1], left = n;
#pragma scop
while (left-- > 0) {
  const double value = *(double *)in;
  *((double *)out) = value / (2 - value);
  in += in_step;
  out += out_step;
}
#pragma endscop

//# operands_at_steps: parallel
char *in = (char *)x, *out = (char *)y; const long *s = steps(n);
#pragma scop
for (int i = 0; i < n; i++) {
  const double value = *(double *)(in + i * s[0]);
  *(double *)(out + i * s[1]) = value * value;
}
#pragma endscop

//# operands_of_bytes: parallel
char *in = (char *)c, *out = (char *)a; const long *s = steps(n); long is = s[0] / 8, os = s[1] / 2;
#pragma scop
for (int i = 0; i < n; i++) { *(int *)out = *(unsigned char *)in; in += is; out += os; }
#pragma endscop

//# operands_of_longs: parallel
long *memory = (long *)x; const long *s = steps(n); char *in = (char *)y, *out = (char *)memory;
#pragma scop
for (int i = 0; i < n; i++) { *(long *)(out + i * s[1]) = *(long *)(in + i * s[0]) / 3; }
#pragma endscop

//# operands_that_are_no_whole_elements: parallel
char *out = (char *)a; long step = n % 2 ? 8 : 4;
#pragma scop
for (int i = 0; i < n / 2; i++) { ((couple *)out)->u = i; ((couple *)out)->v += i; out += step; }
#pragma endscop

//# product_of_axes: parallel
const long *s = strides(n); long m = n % 2 ? n : n / 2;
const char *left = (const char *)y, *right = (const char *)X; char *to = (char *)x;
#pragma scop
for (long i = 0; i < m; i++)
  for (long j = 0; j < m; j++) {
    double sum = 0;
    for (long k = 0; k < m; k++) sum += *(const double *)(left + i * s[0] + k * s[1]) * *(const double *)(right + k * s[0] + j * s[1]);
    *(double *)(to + i * s[0] + j * s[1]) = sum;
  }
#pragma endscop

//# operand_that_is_needed_after: pointer-arithmetic
char *p = (char *)x;
#pragma scop
for (int i = 0; i < n; i++) { *(double *)p += i; p += 8; }
#pragma endscop
a[0] = p - (char *)x;

//# operand_of_two_types: declaration
#pragma scop
for (int i = 0; i < n; i++) { char *p = (char *)a + 4 * i; *(int *)p += i; *(unsigned *)p /= 2; }
#pragma endscop

//# operand_that_moves_as_data_say: pointer-reassigned
char *p = (char *)x; const long *s = steps(n); long step = s[1] / 8;
#pragma scop
for (int i = 0; i < n; i++) { if (a[i] > 3) p += 8 * step; *(double *)p += 1; }
#pragma endscop

//# operands_in_a_table: parallel
char **args = operands(x, y, z); const long *s = steps(n);
#pragma scop
for (int i = 0; i < n; i++)
  *(double *)(args[2] + i * s[2]) = *(double *)(args[0] + i * s[0]) + *(double *)(args[1] + i * s[1]);
#pragma endscop

//# operands_in_an_array: parallel
char *args[] = {(char *)x, (char *)y}; const long *s = steps(n);
#pragma scop
for (int i = 0; i < n; i++) *(double *)&args[1][i * s[1]] = 3 * *(const double *)&args[0][i * s[0]];
#pragma endscop

//# operands_in_a_table_with_names: parallel
char **args = operands(x, y, z); const long *s = steps(n);
#pragma scop
char *left = args[0], *right = args[1], *out = args[2];
long left_step = s[0], right_step = s[1], out_step = s[2];
for (int i = 0; i < n; i++, left += left_step, right += right_step, out += out_step)
  *(double *)out = *(double *)left * *(double *)right;
#pragma endscop

//# operands_in_a_table_with_names_in_the_loop: parallel
char **args = operands(x, y, z); const long *s = steps(n);
#pragma scop
for (int i = 0; i < n; i++) {
  const double *in = (const double *)(args[1] + i * s[1]);
  double *out = (double *)&args[2][i * s[2]];
  *out = *in - 1;
}
#pragma endscop

//# operands_in_a_table_by_a_macro: parallel
char **args = operands(x, y, z); const long *s = steps(n);
#pragma scop
WALK(args, n, s) {
  const double value = *(double *)in;
  *(double *)out = value * value;
}
#pragma endscop

//# bytes_in_a_table: parallel
char **args = operands(c, a, z); const long s[] = {1, 2};
#pragma scop
for (int i = 0; i < n; i++) *(unsigned char *)(args[1] + i * s[1]) = ~*(unsigned char *)(args[0] + i * s[0]);
#pragma endscop

//# bytes_that_are_the_table: parallel
char **args = operands(c + (n > 30 ? 300 : 0), table, z); const long one[] = {1, 64};
#pragma scop
for (int i = 0; i < (n > 30 ? 8 : 0); i++) args[1][i * one[1]] = args[0][i * one[0]];
#pragma endscop

//# numbers_in_a_table: serial
char **args = operands(X, y, numbers + 1); const long *s = steps(n);
#pragma scop
for (int i = 0; i < (n > 1); i++) *(long *)(args[2] + i * s[1]) = *(long *)(args[0] + i * s[0]) % 2;
#pragma endscop
x[0] = numbers[1];

//# strides_in_a_table: parallel
const long *s = in_elements(n);
#pragma scop
for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) x[i * s[0] + j * s[1]] = y[i * s[0] + j] + z[j * s[0] + i];
#pragma endscop

//# strides_in_an_array: parallel
const int s[2] = {n, n > 1};
#pragma scop
for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) x[i * s[0] + j] += y[j * s[0] + i * s[1]];
#pragma endscop

//# strides_that_may_not_be_read: parallel
const long *s = n > 100 ? numbers : 0;
#pragma scop
for (int i = 0; i < n; i++) if (b[i] > 1000) x[i] = y[i * s[0]]; else x[i] = z[i] > 1000 ? y[i * s[1]] : 2;
#pragma endscop
