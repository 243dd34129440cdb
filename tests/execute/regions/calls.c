// Cases in the form of data-dependent.c; calls-top.c has the functions.

//# inlined_subscript: parallel
for (int i = 0; i < n && i < W; i++) for (int j = 0; j < n && j < W; j++) if (at(i, j) < n * n) x[at(i, j)] = j;

//# inlined_value: parallel
for (int i = 0; i < n; i++) x[i] = square(y[i] + 1);

//# inlined_conversions: parallel
for (int i = 0; i < n; i++) { x[i] = narrow(y[i] / 3) + narrow(i); a[i] = wrap(a[i]); }

//# inlined_nested: parallel
for (int i = 0; i < n; i++) x[i] = twice(square(y[i]));

//# inlined_element: parallel
for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) { double s = 0;
  for (int k = 0; k < n; k++) s += *place(x, n, i, k) * row_of(n, X, k)[j];
  *place(y, n, i, j) = s; }

//# inlined_element_that_walks: parallel
for (int i = 0; i < n; i++) { double *p = behind(x, i * n); for (int j = 0; j < n; j++) *p++ += *behind(y + i, j); }

//# inlined_pointer: parallel
for (int i = 0; i < n; i++) x[i] = element(y, i);

//# two_returns: parallel
for (int i = 0; i < n; i++) x[i] = clamp(x[i], 10, 60 + i);

//# row_of_matrix: parallel
for (int i = 0; i < n; i++) y[i] = dot(X[i], x, n);

//# row_written: parallel
for (int i = 0; i < n; i++) scale(X[i], n, 0.5);

//# row_with_its_own_element: parallel
for (int i = 0; i < n; i++) axpy(n, X[i][i], x, X[i]);

//# rest_of_row: parallel
for (int i = 0; i < n; i++) scale(&X[i][i], n - i, 0.5);

//# part_of_flat: parallel
for (int i = 0; i < n; i++) scale(&x[i * n], n, 0.5);

//# part_of_flat_by_sum: parallel
for (int i = 0; i < n; i++) scale(y + i * n, n, 0.5);

//# overlapping_parts: serial
for (int i = 0; i < n - 1; i++) scale(&x[i], 2, 0.5);

//# early_return: parallel
for (int i = 0; i < n; i++) scale_some(X[i], n);

//# data_as_bound: parallel
for (int i = 0; i < n; i++) scale(X[i], a[i], 2);

//# data_as_address: serial
for (int i = 0; i < n; i++) scale(X[a[i]], n, 2);

//# element_by_address: parallel
for (int i = 0; i < n; i++) { set_first(&x[i]); set_first(y + i); }

//# scalar_by_address: parallel
for (int i = 0; i < n; i++) { double s; mean(X[i], n, &s); y[i] = s; }

//# swap_elements: parallel
for (int i = 0; i < n; i++) swap(&x[i], &y[i]);

//# swap_neighbours: serial
for (int i = 0; i + 1 < n; i++) swap(&x[i], &x[i + 1]);

//# matrix_parameter: parallel
for (int i = 0; i < n; i++) rows(n, X, i);

//# whole_matrix: parallel
for (int i = 0; i < 3; i++) matrix(n, X);

//# calls_below: parallel
for (int i = 0; i < n; i++) y[i] = chain(X[i], n);

//# global_read: parallel
for (int i = 0; i < n; i++) y[i] = from_table(a[i]);

//# global_written: serial
for (int i = 0; i < n; i++) { to_table(a[i], y[i]); x[i] = from_table(b[i] & 7); }

//# global_scalar_written: serial
for (int i = 0; i < n; i++) a[i] = next_number();

//# global_relied_on: call
for (int i = 0; i < n; i++) if (i < counter) a[i] = next_number();

//# call_in_condition: parallel
for (int i = 0; i < n; i++) if (clamp(x[i], 0, 50) < 50) x[i] = square(y[i]); else scale(X[i], n, 2);

//# call_in_loop_of_statement: parallel
for (int i = 0; i < n; i++) { double s = 0; for (int j = 0; j < a[i]; j++) s += chain(X[i], j); y[i] = s; }

//# local_array_passed: parallel
for (int i = 0; i < n; i++) { double t[4]; t[0] = x[i]; t[1] = 1; t[2] = y[i]; t[3] = 2; z[i] = dot(t, t, 4); }

//# defined_later: parallel
for (int i = 0; i < n; i++) x[i] = later(y[i]);

//# attribute_const: parallel
for (int i = 0; i < n; i++) x[i] = add_one(y[i]);

//# attribute_pure: parallel
for (int i = 0; i < n; i++) a[i] = (int)first_of(y) + i;

//# attribute_pure_of_written: serial
for (int i = 0; i < n; i++) y[i] = first_of(y) / 2;

//# pragma_access: serial
for (int i = 0; i < n; i++) told(x, y, i);

//# pragma_access_of_rows: parallel
for (int i = 0; i < n; i++) told(x, X[i], i);

//# pragma_access_by_place: parallel
for (int i = 0; i < n; i++) told_by_place(X[i], X[i], i);

//# pragma_access_of_values: parallel
for (int i = 0; i < n; i++) told_value(x[i], X[i]);

//# pragma_access_below_addresses: parallel
for (int i = 0; i < n; i++) told_value(x[i], &X[i][i]);

//# pragma_access_below_sums: parallel
for (int i = 0; i < n; i++) told_value(x[i], X[i] + i);

//# pragma_access_somewhere_in_an_array: serial
for (int i = 0; i < n; i++) told_value(x[i], &y[i]);

//# pragma_access_of_one_variable: serial
for (int i = 0; i < n; i++) told_value(x[i], &y[0]);

//# pure_below_an_address: parallel
for (int i = 0; i < n; i++) a[i] = (int)first_of(&y[i]) + i;

//# pragma_access_global: parallel
for (int i = 0; i < n; i++) x[i] = told_global(i);

//# mathematics: parallel
for (int i = 0; i < n; i++) x[i] = sqrt(fabs(y[i])) + __builtin_fmax(z[i], 0);

//# kinds_of_numbers: parallel
for (int i = 0; i < n; i++) {
  if (isnormal(y[i]) && !isunordered(x[i], z[i])) x[i] = isgreater(y[i], z[i]) ? y[i] : z[i];
  a[i] = isfinite(x[i]) + 2 * isinf(z[i]) + isless(x[i], 3.0);
}

//# infinities: parallel
for (int i = 0; i < n; i++) {
  x[i] = INFINITY;
  for (int j = 0; j < n; j++)
    if (X[i][j] < x[i]) { x[i] = X[i][j]; a[i] = j; }
  y[i] = i % 2 ? -HUGE_VAL : x[i];
}

//# no_number: parallel
for (int i = 0; i < n; i++) x[i] = y[i] < 0 ? nan("") : sqrt(y[i]);

//# no_number_under_a_condition: parallel
for (int i = 0; i < n; i++) {
  x[i] = i;
  if (y[i] > 3) x[i] = nan("1");
}

//# no_number_of_a_float: parallel
for (int i = 0; i < n; i++) z[i] = z[i] > 1 ? nanf("0x12") : z[i] * 2;

//# no_number_of_a_function: parallel
for (int i = 0; i < n; i++) x[i] = is_missing(y[i]) ? missing() : y[i] + 1;

//# no_number_to_begin_with: parallel
for (int i = 0; i < n; i++) {
  x[i] = nan("");
  for (int j = 0; j < n; j++) if (X[i][j] > 0 && !(x[i] >= X[i][j])) x[i] = X[i][j];
}

//# no_number_said_by_a_pointer: pointer-value
for (int i = 0; i < n; i++) x[i] = nan(missing_by[i % 2]);

//# kinds_and_exponents: parallel
for (int i = 0; i < n; i++) {
  a[i] = ilogb(y[i]) + (fpclassify(z[i]) == FP_ZERO);
  x[i] = nexttoward(z[i], 3.0L);
}

//# bits_of_integers: parallel
for (int i = 0; i < n; i++) a[i] = __builtin_popcount((unsigned)a[i] ^ 85u) + (int)(__builtin_bswap16((unsigned short)i) & 7);

//# what_is_likely: parallel
for (int i = 0; i < n; i++) {
  __builtin_prefetch(&y[i] + 8);
  if (__builtin_expect(i == 3, 0)) x[i] = 1;
  else if (__builtin_expect(!!(y[i] > 40), 1)) x[i] = y[i] * 2;
  else if (y[i] < -1e9) __builtin_unreachable();
}

//# likely_is_a_long: parallel
for (int i = 0; i < n; i++) x[i] = __builtin_expect(y[i] / 3, 1);

//# recursion: call
for (int i = 0; i < n; i++) a[i] = factorial(a[i] & 7);

//# output: call
for (int i = 0; i < n; i++) a[i] = i < 0 ? chatter(i) : i;

//# state: call
for (int i = 0; i < n; i++) a[i] = remembers(i);

//# structure_by_value: parallel
for (int i = 0; i < n; i++) { number v; v.re = x[i]; v.im = y[i]; x[i] = abs_of(v); }

//# no_effects_said: serial
for (int i = 0; i < n; i++) x[i] = untold(y[i]);

//# unknown_function: call
for (int i = 0; i < n; i++) x[i] = rand() & 7;

//# function_pointer: parallel
double (*f)(double) = later;
#pragma scop
for (int i = 0; i < n; i++) x[i] = f(y[i]);
#pragma endscop

//# walking_pointer: parallel
for (int i = 0; i < n; i++) y[i] = walk_through(X[i], n);

//# walking_pointer_from_inside: parallel
for (int i = 0; i < n; i++) y[i] = walk_through(X[i] + i, n - i) + walk_through(&X[0][i], 1);

//# walking_with_return: parallel
for (int i = 0; i < n; i++) y[i] = until_negative(&X[i][1], n - 1);

//# walking_pointers_that_write: parallel
for (int i = 0; i < n; i++) fill(X[i], y, n);

//# walking_pointers_that_write_elsewhere: serial
for (int i = 1; i < n; i++) fill(X[i], X[i - 1], n);

//# walking_local_pointer: parallel
for (int i = 0; i < n; i++) a[i] = find(X[i], n, x[i], &y[i]);

//# walking_as_data_say: call
for (int i = 0; i < n; i++) y[i] = skip_some(X[i], n);

//# function_sees_counter: parallel
for (position = 0; position < n; position++) a[position] = where();

//# function_moves_counter: call
for (position = 0; position < n; position++) x[position] = moves(y[position]);

//# inlined_counter: parallel
for (position = 0; position < n; position++) a[position] = here();

//# values_not_used: parallel
for (int i = 0; i < n; i++) { square(y[i]); if (a[i] > 2) square(x[i]); x[i] = square(y[i]); }

//# element_of_a_product: parallel
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) x[i * n + j] = row_by_column(n, X, X, i, j);

//# dot_of_rows: parallel
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) { double d = halves(n, &X[i][0], X[j]); x[i * n + j] = 2 * d; }

//# out_parameters: parallel
for (int i = 0; i < n; i++) { double s, d; sum_and_difference(x[i], y[i], &s, &d); z[i] = s * d; }

//# out_parameters_of_two_variables_of_a_name: parallel
for (int i = 0; i < n; i++) { double s, d; sum_and_difference(x[i], y[i], &s, &d); z[i] = s * d; }
for (int i = 0; i < n; i++) { double s, d; sum_and_difference(z[i], i, &s, &d); x[i] = d - s; }

//# out_parameters_of_variables_of_two_types: parallel
for (int i = 0; i < n; i++) { int s; double d; s = i; d = x[i]; y[i] = s + d; }
for (int i = 0; i < n; i++) { double s, d; sum_and_difference(z[i], i, &s, &d); x[i] = d - s; }

//# out_parameters_declared_before: parallel
double s, d; for (int i = 0; i < n; i++) { sum_and_difference(x[i], y[i], &s, &d); z[i] = s * d; }

//# out_parameter_that_is_an_argument: parallel
for (int i = 0; i < n; i++) { double s = x[i], d; sum_and_difference(s, y[i], &s, &d); z[i] = s - 3 * d; }

//# out_parameters_that_are_one: parallel
for (int i = 0; i < n; i++) { double s; sum_and_difference(x[i], y[i], &s, &s); z[i] = s; }

//# out_parameters_that_are_read: parallel
for (int i = 0; i < n; i++) { double p = x[i], q = y[i]; put_in_order(&p, &q); x[i] = p; z[i] = q; }

//# out_parameter_of_a_sum: serial
double s = 0, d; for (int i = 0; i < n; i++) { sum_and_difference(s, y[i], &s, &d); z[i] = d; }

//# out_parameter_and_elements: parallel
for (int i = 1; i < n; i++) { double s; first_and_next(y + i - 1, &s); z[i] = s; }

//# member_behind_a_sum: parallel
number *p = (number *)X;
#pragma scop
for (int i = 0; i < n / 2; i++) { (p + i)->re = y[i]; (p + i)->im *= 2; }
#pragma endscop

//# member_behind_a_difference: parallel
number *end = (number *)X + n / 2;
#pragma scop
for (int i = 1; i <= n / 2; i++) (end - i)->re = (end - i)->im * 2 + i;
#pragma endscop

//# member_behind_a_row: parallel
number *p = (number *)x; const number *q = (const number *)X;
#pragma scop
for (int i = 0; i < n / 2; i++)
  for (int j = 0; j < n / 2; j++)
    (p + i * (n / 2) + j)->re += (q + j)->im * (*(q + i)).re;
#pragma endscop

//# member_behind_an_address: parallel
number *p = (number *)X;
#pragma scop
for (int i = 0; i < n / 2; i++) (&p[i])->re *= 0.5 + (&p[i])->im;
#pragma endscop

//# member_behind_an_element_of_rows: parallel
number (*p)[2] = (number (*)[2])x;
#pragma scop
for (int i = 0; i < n / 4; i++) for (int j = 0; j < 2; j++) (p[i] + j)->re = (*(p + i) + j)->im * 2 + j;
#pragma endscop

//# members_set_by_a_function: parallel
number *p = (number *)X;
#pragma scop
for (int i = 0; i < n / 2; i++) set_number(p + i, y[i]);
#pragma endscop

//# address_that_stays: declaration
for (int i = 0; i < n; i++) { double s = x[i], *p = &s; put_in_order(&s, &y[i]); *p += 1; z[i] = s; }

//# fraction_of_a_number: parallel
for (int i = 0; i < n; i++) { double w; z[i] = modf(x[i] * 3, &w); y[i] = w; }

//# fraction_in_a_product: parallel
double w; for (int i = 0; i < n; i++) { z[i] = 2 * modf(y[i] / 3, &w); z[i] += w; }

//# fraction_of_what_is_no_number: parallel
for (int i = 0; i < n; i++) {
  double w, v = i % 5 == 0 ? INFINITY : i % 5 == 1 ? -INFINITY : i % 5 == 2 ? -0.0 : i % 5 == 3 ? NAN : -x[i] / 8;
  y[i] = modf(v, &w);
  z[i] = w;
}

//# fraction_in_a_condition: parallel
for (int i = 0; i < n; i++) { double w; if (modf(x[i] * 0.3, &w) > 0.5) w += 1; z[i] = w; }

//# fraction_set_in_elements: parallel
for (int i = 0; i < n; i++) { y[i] = modf(x[i] / 7, z + i); X[i][0] = modf(y[i], &x[i]); }

//# fraction_left_out: parallel
for (int i = 0; i < n; i++) (void)modf(x[i] / 7, &z[i]);

//# fractions_of_small_numbers: parallel
for (int i = 0; i < n; i++) { float w; z[i] = modff((float)x[i] * 0.7f, &w) + 1; y[i] = w; }

//# fractions_beside_each_other: parallel
for (int i = 0; i < n; i++) { double a, b; z[i] = modf(x[i] / 3, &a) - modf(y[i] / 5, &b); y[i] = a * b; }

//# fraction_read_beside_it: parallel
for (int i = 0; i < n; i++) { double w = i; z[i] = modf(x[i] / 3, &w) + w * 0; }

//# sine_and_cosine: parallel
for (int i = 0; i < n; i++) { double s, c; sincos(x[i], &s, &c); z[i] = s * y[i] + c; y[i] = c - s; }

//# sine_and_cosine_in_elements: parallel
for (int i = 0; i < n; i++) sincos(x[i], &y[i], &z[i]);

//# exponent_of_a_number: parallel
for (int i = 0; i < n; i++) { int e; z[i] = frexp(x[i], &e); y[i] = e; }

//# exponent_in_a_variable_of_before: parallel
int e; for (int i = 0; i < n; i++) { z[i] = 2 * frexp(x[i], &e); z[i] += e; }

//# exponent_in_a_variable_of_the_function: parallel
int e;
#pragma scop
for (int i = 0; i < n; i++) { z[i] = 2 * frexp(x[i], &e); z[i] += e; }
#pragma endscop

//# exponent_in_a_variable_that_is_read_after: serial
int e = 3;
#pragma scop
for (int i = 0; i < n; i++) { z[i] = 2 * frexp(x[i], &e); z[i] += e; }
#pragma endscop
x[0] = e;

//# exponent_in_a_variable_that_others_know: serial
int e = 3, *p = &e;
#pragma scop
for (int i = 0; i < n; i++) { z[i] = 2 * frexp(x[i], &e); z[i] += e; }
#pragma endscop
x[0] = *p;

//# exponent_in_elements: parallel
for (int i = 0; i < n; i++) x[i] = frexp(x[i], &a[i]);

//# exponent_behind_a_pointer: parallel
for (int i = 0; i < n; i++) (void)frexp(y[i], a + i);

//# exponent_in_a_condition: parallel
for (int i = 0; i < n; i++) { int e; if (frexp(x[i], &e) > 0.6) e++; z[i] = e; }

//# exponent_of_some: parallel
for (int i = 0; i < n; i++) { int e = 0; double v = 0; if (x[i] > 9) v = frexp(x[i], &e); z[i] = v + e; }

//# quotient_of_numbers: parallel
for (int i = 0; i < n; i++) { int q; z[i] = remquo(x[i], y[i] + 1, &q); y[i] = q; }

//# exponent_by_functions_of_ones_own: parallel
for (int i = 0; i < n; i++) { z[i] = mantissa(x[i]); y[i] = exponent(x[i]); }

//# value_by_a_kind: parallel
for (int i = 0; i < n; i++) z[i] = of_kind(n % 5, x[i]) + y[i];

//# value_by_kinds_of_elements: parallel
for (int i = 0; i < n; i++) z[i] = of_kind(b[i], x[i]) + y[i];

//# value_by_kinds_others_first: parallel
for (int i = 0; i < n; i++) z[i] = of_kind_others_first(b[i], x[i]) + of_kind_others_first(n, y[i]);

//# value_by_kinds_with_others: parallel
for (int i = 0; i < n; i++) z[i] = of_kind_with_others(b[i], x[i]) + of_kind_with_others(i, y[i]);

//# value_by_a_kind_that_falls: parallel
for (int i = 0; i < n; i++) z[i] = of_kind_that_falls(n % 3, x[i]) - of_kind_that_falls(b[i], y[i]);

//# value_by_a_kind_that_ends_last: parallel
for (int i = 0; i < n; i++) z[i] = of_kind_that_ends_last(n % 3, x[i]) - of_kind_that_ends_last(b[i] % 3, y[i]);

//# value_by_a_kind_that_ends: parallel
for (int i = 0; i < n; i++) z[i] = of_kind_that_ends(n % 3, x[i]) - of_kind_that_ends(b[i], y[i]);

//# value_that_is_not_used: parallel
for (int i = 0; i < n; i++) { double s, d; counted_sum(x[i], y[i], &s, &d); z[i] = s * d; }

//# value_that_is_cast_away: parallel
for (int i = 0; i < n; i++) { double s, d; (void)counted_sum(x[i], y[i], &s, &d); z[i] = s * d; }

//# value_in_a_sum_with_what_it_sets: parallel
for (int i = 0; i < n; i++) { double s, d; z[i] = 1 + counted_sum(x[i], y[i], &s, &d) * y[i]; z[i] += s - d; }

//# value_that_is_asked_for: parallel
for (int i = 0; i < n; i++) { double s, d; if (counted_sum(x[i], y[i], &s, &d) == 2) z[i] = s * d; }

//# memory_set: parallel
for (int i = 0; i < n; i++) {
  memset(X[i], 0, n * sizeof(double));
  X[i][i] = 1;
  memset(&K[i][0], 0, sizeof(int) * (size_t)i);
}

//# memory_copied: parallel
for (int i = 0; i < n; i++) {
  double row[4];
  memcpy(X[i], y + i, sizeof *y * (n - i));
  memset(row, 0, sizeof row);
  for (int k = 0; k < 4; k++) row[k] += k * z[i];
  x[i] = row[1] + row[3];
}

//# grid_copied: parallel
for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) X[i][j] += i * j;
memcpy(X + n / 2, X, sizeof(double) * n * (n / 2));
memset(X, 0, n / 2 * sizeof *X);

//# bytes_set: parallel
memset(c, 0, n);
for (int i = 0; i < n; i++) c[i] += a[i] & 3;

//# memory_of_other_values: call
for (int i = 0; i < n; i++) memset(X[i], i, n * sizeof(double));

//# structure_of_a_grid: parallel
struct grid g = {n, n, &X[0][0]}, o = {n, n, x};
#pragma scop
for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) set_pixel(o, i, j, pixel(g, i, j));
#pragma endscop

//# structure_of_a_shifted_grid: parallel
struct grid g = {n, n, &X[0][0]}, o = {n, n, x};
#pragma scop
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) {
    double v = pixel_or_zero(g, i + 2, j - 1);
    set_pixel(o, i, j, v);
  }
#pragma endscop

//# structure_of_a_grid_of_neighbours: parallel
struct grid g = {n, n, &X[0][0]}, o = {n, n, x};
#pragma scop
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++)
    o.d[i * n + j] = 4 * pixel(g, i, j) - pixel_or_zero(g, i - 1, j) - pixel_or_zero(g, i + 1, j)
      - pixel_or_zero(g, i, j - 1) - pixel_or_zero(g, i, j + 1);
#pragma endscop

//# structure_of_a_grid_in_a_condition: parallel
struct grid g = {n, n, &X[0][0]};
#pragma scop
for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) if (pixel(g, i, j) > 1) K[i][j] = 1; else K[i][j] = -1;
#pragma endscop

//# structure_outside_of_which_something_is: parallel
struct grid g = {n, n, &X[0][0]}, o = {n, n + 1, x};
#pragma scop
for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) set_pixel(o, i, j, pixel_or_zero(g, j, i + 1));
#pragma endscop

//# structures_in_memory: parallel
number *f = (number *)x, *g = (number *)z;
#pragma scop
for (int i = 0; i < n / 2; i++) y[i] = real_product(f[i], g[i]) + real_product(g[i], g[i]);
#pragma endscop

//# structures_returned: parallel
number *f = (number *)x, *g = (number *)z;
#pragma scop
for (int i = 0; i < n / 2; i++) f[i] = sum_of(f[i], g[i]);
#pragma endscop

//# structures_returned_into_arguments: parallel
number *f = (number *)x, *g = (number *)z;
#pragma scop
for (int i = 0; i < n / 2; i++) g[i] = product_of(sum_of(f[i], scaled(g[i], 0.5)), conjugate(g[i]));
#pragma endscop

//# structures_returned_to_variables: parallel
number *f = (number *)x, *g = (number *)z;
#pragma scop
for (int i = 0; i < n / 2; i++) {
  number a = f[i], c = scaled(a, 3);
  a = sum_of(c, a);
  c = product_of(a, c);
  f[i] = c;
  y[i] = real_product(sum_of(a, g[i]), conjugate(c)) + a.im;
}
#pragma endscop

//# structures_added_up: parallel
number *f = (number *)x, *g = (number *)z;
#pragma scop
for (int i = 0; i < n / 2; i++) {
  number sum = {0, 0};
  for (int j = 0; j < n / 2; j++) sum = sum_of(sum, product_of(f[j], g[i]));
  y[i] = sum.re - sum.im;
}
#pragma endscop

//# structures_chosen: parallel
number *f = (number *)x, *g = (number *)z;
#pragma scop
for (int i = 0; i < n / 2; i++) { number c = larger_of(f[i], g[i]); y[i] = c.re + 2 * c.im; }
#pragma endscop

//# structures_by_literals: parallel
number *f = (number *)x, *g = (number *)z;
#pragma scop
for (int i = 0; i < n / 2; i++) f[i] = (number){g[i].re * 2, f[i].re - i};
#pragma endscop

//# structures_by_literals_with_members: parallel
number *f = (number *)x;
#pragma scop
for (int i = 0; i < n / 2; i++) { number *p = f + i; *p = (number){.im = p->re, .re = p->im + 1}; }
#pragma endscop

//# structures_by_literals_in_declarations: parallel
number *f = (number *)x;
#pragma scop
for (int i = 0; i < n / 2; i++) { number v = (number){f[i].im, -f[i].re}, w = larger_of((number){1, i}, v); f[i] = w; }
#pragma endscop

//# structures_by_literals_that_are_chosen: parallel
number *f = (number *)x, *g = (number *)z;
#pragma scop
for (int i = 0; i < n / 2; i++) f[i] = g[i].re > 0 ? (number){g[i].re, g[i / 2].im} : g[i];
#pragma endscop

//# structures_by_literals_in_arguments: parallel
number *f = (number *)x, *g = (number *)z;
#pragma scop
for (int i = 0; i < n / 2; i++) f[i] = larger_of((number){g[i].im, g[i].re}, larger_of(f[i], (number){i, 0.5}));
#pragma endscop

//# structures_by_literals_in_conditions: parallel
number v, *f = (number *)x;
#pragma scop
for (int i = 0; i < n / 2; i++) {
  v = (number){f[i].im, 1};
  if (v.re > 2) v = (number){0}; else if (v.re < -2) v = (number){-f[i].re, fabs(v.re)};
  f[i] = v;
}
#pragma endscop

//# structure_that_is_a_copy: call
struct grid g = {n, n, &X[0][0], {1, 2}};
#pragma scop
for (int i = 0; i < n; i++) y[i] = of_copy(g, i);
#pragma endscop
y[0] += g.own[0] + g.w;

//# larger_by_a_function: parallel
double m = 1 + fabs(x[0]);
#pragma scop
for (int i = 0; i < n; i++) y[i] = larger(x[i], z[i]);
#pragma endscop
y[0] = m;

//# rounded_with_names_of_its_own: parallel
for (int i = 0; i < n; i++) a[i] = rounded(x[i] - 20) + rounded(-z[i]);

//# limited_slopes: parallel
for (int i = 1; i < n - 1; i++) y[i] = x[i] + 0.5 * limited(x[i] - x[i - 1], x[i + 1] - x[i]);

//# functions_that_return_early_and_change_elements: parallel
for (int i = 0; i < n; i++) raise_some(y, i, x[i] - 60);

//# return_from_a_loop: parallel
for (int i = 0; i < n; i++) y[i] = in_loop(X[i], n);

//# arrays_of_elements: parallel
struct extents e = {n / 2, 1, 1.5};
cell *f = (cell *)x, *g = (cell *)y;
#pragma scop
spread(e, g, f);
#pragma endscop

//# arrays_of_elements_in_one_loop: parallel
struct extents e = {n / 2, 1, 1.5};
cell *f = (cell *)x, *g = (cell *)y;
#pragma scop
spread_and_tell(e, g, f);
#pragma endscop

//# arrays_of_elements_behind_pointers: parallel
struct extents e = {n / 2, 1, 1.5};
cell *f = (cell *)x, *g = (cell *)y;
#pragma scop
spread_behind(&e, g, f);
#pragma endscop

//# arrays_of_elements_of_fields: parallel
struct field f = {{n / 2, 1, 1.5}, (cell *)x}, g = {{n / 2, 1, 2}, (cell *)y};
#pragma scop
spread_within(&g, &f);
#pragma endscop

//# arrays_of_elements_of_copies: parallel
struct field f = {{n / 2, 1, 1.5}, (cell *)x}, g = {{n / 2, 1, 2}, (cell *)y};
#pragma scop
spread_fields(g, f);
#pragma endscop

//# structures_in_a_copy: call
struct pair p = {{{{1, 2}}, {{3, 4}}}};
#pragma scop
for (int i = 0; i < n; i++) y[i] = of_both(p, x[i]);
#pragma endscop
y[0] += p.both[1].part[0];

//# bits_of_a_number: parallel
for (int i = 0; i < n; i++) y[i] = x[i] * near_root(x[i] + 1);

//# parts_of_a_number: parallel
for (int i = 0; i < n; i++) x[i] = cut(y[i] / 3, i) + 1;

//# bits_of_a_row: parallel
for (int i = 0; i < n; i++) cut_row(n, X[i]);

//# exponents: parallel
for (int i = 0; i < n; i++) a[i] = binary_exponent(x[i]) + binary_exponent(y[i]);

//# constant_bits: parallel
for (int i = 0; i < n; i++) { double low = LARGE; for (int j = 0; j < n; j++) if (X[i][j] < low) low = X[i][j]; y[i] = low; }

//# bits_that_may_change: union
for (int i = 0; i < n; i++) y[i] = changing_bits.value + i;

//# bits_in_the_region: parallel
for (int i = 0; i < n; i++) { union { float f; int i; } u; u.f = (float)x[i]; a[i] = u.i >> 3; }

//# bits_in_nested_loops: parallel
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) {
    union { double d; unsigned long long u; } v = {X[i][j]};
    v.u &= ~0xfffffULL;
    if (v.d > 0) X[i][j] = v.d + y[j]; else X[i][j] -= 1;
  }

//# bits_beside_loops: parallel
for (int i = 0; i < n; i++) {
  union parts v;
  v.d = y[i];
  for (int j = 0; j < n; j++) X[i][j] += v.bytes[j % 8];
}

//# bits_that_are_passed_on: union
union parts v = {1.5};
#pragma scop
for (int i = 0; i < n; i++) { y[i] += v.halves.high; v.d = x[i]; }
#pragma endscop

//# bits_that_are_copied: parallel
for (int i = 0; i < n; i++) { unsigned long long u; memcpy(&u, &x[i], sizeof u); y[i] += u >> 60; }

//# bits_that_are_copied_in_functions: parallel
for (int i = 0; i < n; i++) { x[i] = of_bits(bits_of((float)x[i]) ^ 0x80000000u) + shortened(y[i]); }

//# bits_of_elements_that_are_copied: parallel
for (int i = 0; i < n; i++) { float f = (float)y[i]; memcpy(&a[i], &f, sizeof f); }

//# parts_of_bits_that_are_copied: call
for (int i = 0; i < n; i++) { unsigned u; memcpy(&u, &x[i], sizeof u); a[i] = u >> 3; }
