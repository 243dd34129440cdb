// Bodies of functions as in data-dependent.c: numbers taken to bits by unions of the function and by literals,
// and memory of bytes that is taken for numbers.

//# union_of_the_function: parallel
union { float f; unsigned u; } v;
#pragma scop
for (int i = 0; i < n; i++) { v.f = (float)x[i]; a[i] = v.u >> 23; }
#pragma endscop

//# union_with_a_name: parallel
bits v;
#pragma scop
for (int i = 0; i < n; i++) { v.d = x[i]; v.halves.high &= 0x7fffffffu; y[i] += v.d; }
#pragma endscop

//# union_with_a_tag: parallel
union tagged v;
#pragma scop
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) { v.f = (float)X[i][j]; v.i = 0x1fbb4f2e + (v.i >> 1); X[i][j] = v.f; }
#pragma endscop

//# union_in_two_loops: parallel
union tagged v;
#pragma scop
for (int i = 0; i < n; i++) { v.f = (float)x[i]; int high = v.i >> 16; a[i] = high + 1; }
for (int i = 0; i < n; i++) { if (K[0][i] > 1) { v.i = a[i] << 16; y[i] += v.f; } else { v.f = (float)i; b[i] = v.i & 255; } }
#pragma endscop

//# union_set_in_turns: parallel
union tagged v, w;
#pragma scop
for (int i = 0; i < n; i++) { v.f = (float)x[i]; w.i = v.i ^ 255; y[i] = w.f - v.f; }
#pragma endscop

//# union_from_before: union
union tagged v; v.f = 1;
#pragma scop
for (int i = 0; i < n; i++) { a[i] = v.i >> 3; v.f = (float)x[i]; }
#pragma endscop

//# union_that_is_needed_after: union
union tagged v; v.f = 0;
#pragma scop
for (int i = 0; i < n; i++) { v.f = (float)x[i]; a[i] = v.i >> 3; }
#pragma endscop
b[0] = v.i;

//# union_set_in_part: union
bits v; v.d = 0.5;
#pragma scop
for (int i = 0; i < n; i++) { v.halves.high = 0x3ff00000u + i; y[i] = v.d; }
#pragma endscop

//# union_under_a_condition: union
union tagged v; v.f = 2;
#pragma scop
for (int i = 0; i < n; i++) { if (x[i] > 50) v.f = (float)x[i]; a[i] = v.i >> 3; }
#pragma endscop

//# literal: parallel
for (int i = 0; i < n; i++) a[i] = ((union { float f; unsigned u; }){ .f = (float)x[i] }).u >> 20;

//# literal_of_a_macro: parallel
for (int i = 0; i < n; i++) { unsigned f = BITS((float)x[i]); y[i] = FLOAT(f & 0x7fffff00u); a[i] = f >> 31; }

//# literal_of_a_function: parallel
for (int i = 0; i < n; i++) { a[i] = as_bits((float)x[i]); y[i] = as_float(a[i] & ~255u); }

//# literal_of_a_name: parallel
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) X[i][j] += ((bits){ .halves = { i, 0x3ff00000u + j } }).d;

//# literal_in_a_condition: parallel
for (int i = 0; i < n; i++) if (BITS((float)z[i]) >> 31) y[i] = -y[i];

//# literal_by_its_first_member: parallel
for (int i = 0; i < n; i++) { double d = z[i] * i; a[i] = ((bits){ d }).halves.high >> 20; }

//# pool_as_numbers: parallel
#pragma scop
for (int i = 0; i < n; i++) ((double *)pool)[i] = 2 * x[i] + i;
for (int i = 0; i < n; i++) y[i] = ((double *)pool)[n - 1 - i];
#pragma endscop

//# pool_by_a_name: parallel
#pragma scop
double *row = (double *)pool;
for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) row[i * n + j] = X[j][i];
for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) X[i][j] = row[i * n + j];
#pragma endscop

//# pool_from_a_place_on: parallel
double *row = (double *)&pool[8 * n];
#pragma scop
for (int i = 0; i < n; i++) { row[i] = x[i]; *(int *)(places + 4 * i) = 3 * i; }
for (int i = 0; i < n; i++) { y[i] = row[i] + ((int *)places)[i]; }
#pragma endscop

//# pool_that_is_what_is_written: parallel
double *to = n % 2 ? (double *)pool + 1 : x;
for (int i = 0; i < 2 * n; i++) ((double *)pool)[i] = i;
#pragma scop
for (int i = 0; i < n; i++) to[i] = ((double *)pool)[i] * 2;
#pragma endscop
for (int i = 0; i < n; i++) y[i] = to[i];

//# pool_of_two_types: pointer-cast
#pragma scop
for (int i = 0; i < n; i++) ((int *)pool)[i] = i;
for (int i = 0; i < n; i++) a[i] = ((unsigned *)pool)[i] / 2;
#pragma endscop

//# numbers_of_bytes: parallel
for (int i = 0; i < n / 2; i++) a[i] = c[2 * i] | c[2 * i + 1] << 8;

//# numbers_of_bytes_in_functions: parallel
for (int i = 0; i < n / 4; i++) a[i] = little(c + 4 * i) + (int)big(&c[4 * i]);

//# numbers_of_bytes_in_loops: parallel
for (int i = 0; i < n / 4; i++) {
  unsigned v = 0;
  for (int k = 0; k < 4; k++) v = v << 8 | c[4 * i + k];
  a[i] = v >> 3;
}

//# numbers_of_bytes_walked: parallel
const unsigned char *p = c, *end = c + n / 4 * 4;
int *to = a;
#pragma scop
while (p < end) { *to++ = p[3] << 16 | p[2] << 8 | p[1]; p += 4; }
#pragma endscop

//# numbers_of_bytes_by_a_union: parallel
for (int i = 0; i < n / 8; i++) {
  union { unsigned char bytes[8]; unsigned long long u; } v;
  for (int k = 0; k < 8; k++) v.bytes[k] = c[8 * i + 7 - k];
  y[i] = (double)(v.u >> 12);
}

//# numbers_into_bytes: parallel
for (int i = 0; i < n / 2; i++) split(c + 2 * i, (unsigned)a[i] + i);

//# numbers_of_bytes_that_are_copied: parallel
for (int i = 0; i < n / 4; i++) { unsigned v; memcpy(&v, c + 4 * i, 4); a[i] = v >> 3; }

//# numbers_of_bytes_that_are_copied_by_their_size: parallel
for (int i = 0; i < n / 8; i++) { long long v; __builtin_memcpy(&v, &c[8 * i], sizeof v); y[i] = (double)v; }

//# numbers_of_bytes_that_are_copied_in_functions: parallel
for (int i = 0; i < n / 4; i++) a[i] = (int)(copied(c + 4 * i) + copied(c + 4 * (n / 4 - 1 - i) + 0) / 2);

//# numbers_of_bytes_that_are_copied_by_a_macro: parallel
for (int i = 0; i < n / 2; i++) { short v; TAKE(v, c + 2 * i); a[i] = v * 3; }

//# numbers_of_bytes_that_are_copied_to_members: parallel
for (int i = 0; i < n / 6; i++) {
  memcpy(&pairs[i].high, c + 6 * i, 4);
  memcpy(&pairs[i].low, c + 6 * i + 4, sizeof pairs[i].low);
}

//# numbers_of_bytes_that_are_copied_and_walked: parallel
const unsigned char *from = c;
#pragma scop
for (int i = 0; i < n / 4; i++) { int v; memcpy(&v, from, 4); from += 4; a[i] = v / 5; }
#pragma endscop

//# rows_of_bytes_that_are_copied: parallel
#pragma scop
for (int i = 0; i < n / 8; i++) memcpy(a + 2 * i, c + 8 * i, 2 * sizeof(int));
#pragma endscop

//# numbers_that_are_copied_into_bytes: parallel
for (int i = 0; i < n / 4; i++) { unsigned v = (unsigned)a[i] * 3; memcpy(&c[4 * i], &v, sizeof v); }

//# numbers_that_are_copied_into_bytes_in_functions: parallel
for (int i = 0; i < n / 4; i++) put(c + 4 * i, (unsigned)a[i] + copied(c + 4 * i));

//# numbers_that_are_copied_into_bytes_under_a_condition: parallel
for (int i = 0; i < n / 4; i++) if (a[i] > 20) memcpy(c + 4 * i, &a[i], 4);

//# numbers_that_overlap_in_bytes
for (int i = 0; i < n / 4; i++) { unsigned v; memcpy(&v, c + 3 * i, 4); v += 7; memcpy(c + 3 * i + 2, &v, 4); }

//# parts_of_numbers_of_bytes: call
for (int i = 0; i < n / 4; i++) { unsigned v = 0; memcpy(&v, c + 4 * i, 3); a[i] = v >> 3; }
