// Bodies of functions as in data-dependent.c: rows of a fixed capacity, of which data say how much is used.

//# rows_in_use: parallel
for (int i = 0; i < n * n / 4; i++) a[i] %= 5;
#pragma scop
for (int i = 0; i < n * n / 4; i++)
  for (int k = 0; k < a[i]; k++) x[4 * i + k] = x[4 * i + k] * 2 + y[4 * i + k];
#pragma endscop

//# rows_that_are_longer: parallel
for (int i = 0; i < n * n / 4; i++) a[i] = i % 5 == 3 && 4 * i + 7 < n * n ? 7 : a[i] % 5;
#pragma scop
for (int i = 0; i < n * n / 4; i++)
  for (int k = 0; k < a[i]; k++) x[4 * i + k] = x[4 * i + k] * 2 + y[4 * i];
#pragma endscop

//# rows_longer_by_one: parallel
for (int i = 0; i < n * n / 4; i++) a[i] = 4 * i + 4 < n * n ? 5 : 4;
#pragma scop
for (int i = 0; i < n * n / 4; i++)
  for (int k = 0; k < a[i]; k++) x[4 * i + k] = x[4 * i + k] * 2 + y[4 * i];
#pragma endscop

//# rows_up_to_the_last: parallel
for (int i = 0; i < n * n / 4; i++) a[i] = a[i] % 5 - 1;
#pragma scop
for (int i = 0; i < n * n / 4; i++)
  for (int k = 0; k <= a[i]; k++) x[i * 4 + k] *= y[i];
#pragma endscop

//# rows_up_to_a_last_beyond: parallel
for (int i = 0; i < n * n / 4; i++) a[i] = 4 * i + 4 < n * n ? 4 : 3;
#pragma scop
for (int i = 0; i < n * n / 4; i++)
  for (int k = 0; k <= a[i]; k++) x[i * 4 + k] = x[i * 4 + k] * 2 + y[i];
#pragma endscop

//# rows_with_a_counter_beside: parallel
for (int i = 0; i < n * n / 4; i++) a[i] %= 5;
#pragma scop
for (int i = 0; i < n * n / 4; i++)
  for (int k = 0, at = 4 * i; k < a[i]; k++, at++) x[at] = x[at] * 2 + y[at];
#pragma endscop

//# rows_of_named_pointers: parallel
for (int i = 0; i < n * n / 4; i++) a[i] %= 5;
#pragma scop
for (int i = 0; i < n * n / 4; i++) {
  double *to = x + 4 * i;
  const double *from = y + 4 * i;
  const int used = a[i];
  for (int k = 0; k < used; k++) to[k] = to[k] * 2 + from[k];
}
#pragma endscop

//# rows_of_components: parallel
struct cells { int *used; double (*at)[3], (*speed)[3]; } all = {a, (double (*)[3])x, (double (*)[3])y}, *cells = &all;
for (int i = 0; i < n * n / 12; i++) a[i] %= 5;
#pragma scop
for (int i = 0; i < n * n / 12; i++)
  for (int k = 0, at = 4 * i; k < cells->used[i]; k++, at++) {
    cells->at[at][0] += 0.5 * cells->speed[at][0];
    cells->at[at][1] += 0.5 * cells->speed[at][1];
    cells->at[at][2] += 0.5 * cells->speed[at][2];
  }
#pragma endscop

//# rows_while_used: parallel
for (int i = 0; i < n * n / 4; i++) a[i] %= 5;
#pragma scop
for (int i = 0; i < n * n / 4; i++) {
  int k = 0;
  while (k < a[i]) {
    x[4 * i + k] = x[4 * i + k] * 2 + y[4 * i + k];
    k++;
  }
}
#pragma endscop

//# rows_of_an_enumerator: parallel
enum { CAPACITY = 4 };
for (int i = 0; i < n * n / 4; i++) a[i] %= 5;
#pragma scop
for (int j = 0; j < n / 4; j++)
  for (int i = 0; i < n; i++) {
    int row = j * n + i;
    for (int k = 0; k < a[row]; k++) x[row * CAPACITY + k] = x[row * CAPACITY + k] * 2 + y[k];
  }
#pragma endscop

//# rows_of_which_few_run: parallel
for (int i = 0; i < n * n / 4; i++) a[i] = i % 3 ? a[i] % 5 : 9;
#pragma scop
for (int i = 0; i < n * n / 4; i++)
  if (i % 3) for (int k = 0; k < a[i]; k++) x[4 * i + k] = x[4 * i + k] * 2 + y[4 * i + k];
#pragma endscop

//# rows_whose_use_changes: serial
for (int i = 0; i < n * n / 4; i++) a[i] %= 4;
#pragma scop
for (int i = 0; i < n * n / 4; i++) {
  for (int k = 0; k < a[i]; k++) x[4 * i + k] = x[4 * i + k] * 2 + y[4 * i + k];
  a[i] = a[i] / 2;
}
#pragma endscop

//# rows_of_a_size: parallel
const int cap = n > 3 ? 4 : 3;
for (int i = 0; i < n * n / 4; i++) a[i] %= cap + 1;
#pragma scop
for (int i = 0; i < n * n / 4; i++)
  for (int k = 0; k < a[i]; k++) x[cap * i + k] = x[cap * i + k] * 2 + y[cap * i + k];
#pragma endscop

//# rows_of_a_size_that_are_longer: parallel
long cap = n > 3 ? 4 : 3;
for (int i = 0; i < n * n / 4; i++) a[i] = i % 5 == 3 && 4 * i + 7 < n * n ? 7 : a[i] % 3;
#pragma scop
for (int i = 0; i < n * n / 4; i++)
  for (int k = 0; k < a[i]; k++) x[i * cap + k] = x[i * cap + k] * 2 + y[4 * i];
#pragma endscop

//# rows_of_a_size_by_pointers: parallel
size_t cap = n > 3 ? 4 : 3;
for (int i = 0; i < n * n / 4; i++) a[i] %= 4;
#pragma scop
for (int i = 0; i < n * n / 4; i++) {
  double *to = x + cap * i;
  const int used = a[i];
  for (int k = 0; k < used; k++) to[k] = to[k] * 2 + y[k];
}
#pragma endscop

//# rows_of_a_member: parallel
struct { int capacity, rows; } cells = {n > 3 ? 4 : 3, n * n / 4};
for (int i = 0; i < n * n / 4; i++) a[i] %= 3;
#pragma scop
for (int i = 0; i < cells.rows; i++)
  for (int k = 0; k <= a[i]; k++) x[k + cells.capacity * i] *= y[k];
#pragma endscop

//# rows_of_a_size_in_a_grid: parallel
int cap = n > 3 ? 4 : 3;
for (int i = 0; i < n * n / 4; i++) a[i] %= 4;
#pragma scop
for (int j = 0; j < n / 4; j++)
  for (int i = 0; i < n; i++) {
    int row = j * n + i;
    for (int k = 0; k < a[row]; k++) x[row * cap + k] = x[row * cap + k] * 2 + y[k];
  }
#pragma endscop

//# rows_of_pairs: parallel
int cap = n > 3 ? 4 : 3;
for (int i = 0; i < n * n / 8; i++) a[i] %= 4;
#pragma scop
for (int i = 0; i < n * n / 8; i++)
  for (int k = 0; k < a[i]; k++) { x[2 * (i * cap + k)] += y[k]; x[2 * (i * cap + k) + 1] *= 2; }
#pragma endscop

//# rows_of_places: parallel
for (int i = 0; i < n * n / 12; i++) a[i] %= 5;
#pragma scop
for (int i = 0; i < n * n / 12; i++)
  for (int k = 0; k < a[i]; k++)
    for (int d = 0; d < 3; d++) x[3 * (4 * i + k) + d] = x[3 * (4 * i + k) + d] * 2 + y[d];
#pragma endscop

//# rows_of_half_a_size: parallel
int half = n > 3 ? 2 : 1;
for (int i = 0; i < n * n / 4; i++) a[i] %= 2 * half + 1;
#pragma scop
for (int i = 0; i < n * n / 4; i++)
  for (int k = 0; k < a[i]; k++) x[2 * half * i + k] = x[2 * half * i + k] * 2 + y[k];
#pragma endscop

//# rows_of_a_negative_size: serial
int cap = -(n > 3 ? 4 : 3);
for (int i = 0; i < n * n / 4; i++) a[i] = i % 3 - 1;
#pragma scop
for (int i = 0; i < n * n / 4; i++)
  for (int k = 0; k < a[i]; k++) x[n * n - 1 + cap * i + k] = x[n * n - 1 + cap * i + k] * 2 + y[k];
#pragma endscop

//# rows_filled_from_one: parallel
int cap = n > 3 ? 4 : 3;
for (int i = 0; i < n * n / 4; i++) a[i] = 4 * i + 4 < n * n ? cap : 0;
#pragma scop
for (int i = 0; i < n * n / 4; i++)
  for (int k = 1; k <= a[i]; k++) x[cap * i + k] = x[cap * i + k] * 2 + y[cap * i + k];
#pragma endscop

//# rows_filled_from_one_that_are_longer: parallel
for (int i = 0; i < n * n / 4; i++) a[i] = 4 * i + 8 < n * n ? 5 : 0;
#pragma scop
for (int i = 0; i < n * n / 4; i++)
  for (int k = 1; k <= a[i]; k++) x[4 * i + k] = x[4 * i + k] * 2 + y[4 * i];
#pragma endscop

//# rows_counted_from_their_start: parallel
for (int i = 0; i < n * n / 4; i++) a[i] %= 5;
#pragma scop
for (int i = 0; i < n * n / 4; i++)
  for (int k = 4 * i; k < 4 * i + a[i]; k++) x[k] = x[k] * 2 + y[k];
#pragma endscop

//# rows_counted_from_their_start_with_a_use_with_a_name: parallel
for (int i = 0; i < n * n / 4; i++) a[i] %= 5;
#pragma scop
for (int i = 0; i < n * n / 4; i++) {
  const int used = a[i];
  for (int k = i * 4; k < i * 4 + used; ++k) {
    double v = x[k];
    x[k] = v * k + y[k - 4 * i];
  }
}
#pragma endscop

//# rows_counted_to_the_last: parallel
for (int i = 0; i < n * n / 4; i++) a[i] = a[i] % 5 - 1;
#pragma scop
for (int i = 0; i < n * n / 4; i++)
  for (int k = 4 * i; k <= a[i] + 4 * i; k += 1) x[k] = x[k] * 2 + y[k];
#pragma endscop

//# rows_counted_beyond_their_end: parallel
for (int i = 0; i < n * n / 4; i++) a[i] = i % 5 == 3 && 4 * i + 7 < n * n ? 7 : a[i] % 5;
#pragma scop
for (int i = 0; i < n * n / 4; i++)
  for (int k = 4 * i; k < 4 * i + a[i]; k++) x[k] = x[k] * 2 + y[4 * i];
#pragma endscop

//# rows_counted_by_a_short: serial
for (int i = 0; i < n * n / 4; i++) a[i] %= 5;
#pragma scop
for (int i = 0; i < n * n / 4; i++)
  for (short k = 4 * i; k < 4 * i + a[i]; k++) x[k] = x[k] * 2 + y[k];
#pragma endscop
