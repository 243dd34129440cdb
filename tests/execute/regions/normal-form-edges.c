//# branch_on_data: serial
int k = 0;
#pragma scop
for (int i = 0; i < n; i++) {
  if (y[i] > 50)
    k = i;
  x[i] = k;
}
#pragma endscop
a[0] = k;

//# continue_before_increment: serial
int k = 0;
#pragma scop
for (int i = 0; i < n; i++) {
  if (i % 3 == 1)
    continue;
  x[k] = i;
  k++;
}
#pragma endscop
a[0] = k;

//# shadowed_name: parallel
int k = 1;
#pragma scop
for (int i = 0; i < n; i++) {
  int m = i;
  {
    int m = n - 1 - i;
    x[m] = 1;
  }
  y[m] = 2;
}
#pragma endscop
a[0] = k;

//# inner_loop_that_may_not_run: parallel
int k = 0;
#pragma scop
for (int i = 0; i < n; i++) {
  for (int j = 5; j < n; j++)
    k++;
  x[i] = k;
}
#pragma endscop
a[0] = k;

//# bound_from_induction: parallel
int k = 1;
#pragma scop
for (int i = 2; i < n; i += 2)
  k++;
for (int j = 0; j < k; j++)
  x[j] = j;
#pragma endscop
a[0] = k;

//# reset_in_the_middle: serial
int k = 0;
#pragma scop
for (int i = 0; i < n; i++) {
  x[k] = i;
  if (i == 3)
    k = 0;
  k++;
}
#pragma endscop
a[0] = k;

//# unsigned_short_as_data: parallel
unsigned short k = 65530;
#pragma scop
for (int i = 0; i < n; i++) {
  a[i] = k;
  k += 3;
}
#pragma endscop
b[0] = k;

//# signed_char_as_data: parallel
signed char k = 120;
#pragma scop
for (int i = 0; i < n; i++) {
  a[i] = k * 2;
  k++;
}
#pragma endscop
b[0] = k;

//# unsigned_as_data: parallel
unsigned k = 5;
#pragma scop
for (int i = 0; i < n; i++) {
  x[i] = k;
  k -= 2;
}
#pragma endscop
b[0] = (int)(k >> 1);

//# alternates_for_a_while: serial
int now, count;
#pragma scop
now = count = 0;
for (int i = 0; i < n; i++) {
  x[i] = now;
  now = (now + (count < 20)) % 2;
  count++;
}
#pragma endscop
a[0] = now;

//# three_of_two_that_alternate: serial
int one = 0, two = 0, three = 0;
#pragma scop
one = 0; two = 0; three = 0;
for (int i = 0; i < n; i++) {
  x[i] = three;
  three = (three + 1 + (one == 1 && two == 2)) % 2;
  one = 1 - one;
  two = (two + 1) % 3;
}
#pragma endscop
a[0] = three;

//# quadratic: parallel
int k = 0;
#pragma scop
for (int i = 0; i < n; i++) {
  k += i;
  x[i] = k;
}
#pragma endscop
a[0] = k;

//# counter_after_its_loop: parallel
int i, k;
#pragma scop
for (i = 0; i < n; i++)
  x[i] = 1;
k = i - 1;
y[k] = 7;
#pragma endscop
a[0] = i + k;

//# two_conditions: parallel
int i = 0, j = 3;
#pragma scop
while (i < n && j < 2 * n) {
  x[i] = j;
  i++;
  j += 2;
}
#pragma endscop
a[0] = i + 100 * j;

//# runs_once_at_least: parallel
int i = n;
if (n > 5)
  i = 1;
#pragma scop
do {
  x[i - 1] = i;
  i++;
} while (i < n);
#pragma endscop
a[0] = i;

//# runs_just_once: serial
int i = n;
#pragma scop
do {
  x[i - 1] = i;
  i++;
} while (i < n);
#pragma endscop
a[0] = i;

//# condition_with_effect_and_short_circuit: serial
int k = 0;
#pragma scop
for (int i = 0; i < n; i++)
  if (i > 2 && k++ < 3)
    x[i] = 1;
#pragma endscop
a[0] = k;

//# walks_from_a_new_place: parallel
double *p = x;
#pragma scop
for (int i = 0; i < n; i++) {
  p = X[i];
  for (int j = 0; j < n; j++)
    *p++ = i - j;
}
#pragma endscop

//# row_kept_after_the_region: partial-subscript
double *p = x;
#pragma scop
for (int i = 0; i < n; i++) {
  p = X[i];
  p[0] = i;
}
#pragma endscop
a[0] = (int)(p - X[0]);

//# two_pointers_that_meet: parallel
double *p = x, *q = x + n;
#pragma scop
while (p < q) {
  q--;
  *p = *q + 1;
  p++;
}
#pragma endscop
a[0] = (int)(p - x), a[n * n - 1] = (int)(q - x);

//# down_by_three: parallel
int k = 7;
#pragma scop
for (int i = n; i > 0; i -= 3) {
  x[i - 1] = k;
  k += 5;
}
#pragma endscop
a[0] = k;

//# increment_before_and_after: parallel
int k = 0;
#pragma scop
for (int i = 0; i < n / 2; i++) {
  x[k++] = y[i];
  x[k++] = 3;
}
#pragma endscop
a[0] = k;

//# conditional_value_live: parallel
int k = 3;
#pragma scop
for (int i = 0; i < n; i++)
  if (i > 4) {
    k = 2 * i;
    x[k / 2] = 1;
  }
#pragma endscop
a[0] = k;

//# swapped_rows: parallel
double *p = x, *q = y;
#pragma scop
for (int t = 0; t < 4; t++) {
  for (int i = 1; i < n - 1; i++)
    q[i] = p[i - 1] + p[i + 1];
  double *s = p;
  p = q;
  q = s;
}
#pragma endscop
a[0] = p == x;
