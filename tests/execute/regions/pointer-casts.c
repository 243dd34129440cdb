// Bodies of functions as in data-dependent.c: pointers that are cast where they are followed.

//# cast_parameter: parallel
void *to = x; const void *from = y;
#pragma scop
for (int i = 0; i < n; i++) ((double *)to)[i] = ((const double *)from)[i] * 2;
#pragma endscop

//# cast_to_constants: parallel
void *to = x;
#pragma scop
for (int i = 0; i < n; i++) ((double *)to)[i] = ((const double *)to)[i] * 2 + ((double const *)to)[i];
#pragma endscop

//# cast_to_constants_by_names: parallel
box u = {n, n, 8 * n, x}, *s = &u;
#pragma scop
for (int i = 0; i < n; i++) {
  const double *from = (const double *)((char *)s->memory + i * s->step);
  double *to = (double *)((char *)s->memory + i * s->step);
  for (int j = 0; j < n; j++) to[j] = from[j] * 2;
}
#pragma endscop

//# cast_needlessly: parallel
const double *from = y;
#pragma scop
for (int i = 0; i < n; i++) { ((double *)x)[i] = x[i] * 2 + ((const double *)x)[i]; ((double *)from)[i] += ((const double *)from)[i]; }
#pragma endscop

//# cast_and_moved: parallel
void *to = x; const void *from = y;
#pragma scop
for (int i = 0; i < n; i++) *((double *)to + i) += *(i + (const double *)from);
#pragma endscop

//# cast_members: parallel
box s = {n, n, 8 * n, x}, t = {n, n, 8 * n, y};
#pragma scop
for (int i = 0; i < s.rows; i++) for (int j = 0; j < s.cols; j++) ELEMENT(&s, i, j) = 2 * ELEMENT(&t, j, i);
#pragma endscop

//# cast_members_behind_pointers: parallel
box u = {n, n, 8 * n, x}, v = {n, n, 8 * n, y}, *s = &u, *t = &v;
#pragma scop
for (int i = 0; i < s->rows; i++)
  for (int j = 0; j < s->cols; j++) ((double *)s->memory)[i * s->cols + j] += ((double *)t->memory)[i * t->cols + j];
#pragma endscop

//# cast_to_a_name: parallel
box u = {n, n, 8 * n, x}, *s = &u;
#pragma scop
double *to = (double *)s->memory;
for (int i = 0; i < n; i++) { const double *row = (const double *)y + i * n; for (int j = 0; j < n; j++) to[i * n + j] += row[j]; }
#pragma endscop

//# cast_and_walked: parallel
box u = {n, n, 8 * n, x}, *s = &u;
#pragma scop
for (int i = 0; i < n; i++) { double *p = (double *)s->memory + i * n; for (int j = 0; j < n; j++) *p++ *= 2; }
#pragma endscop

//# cast_to_rows: parallel
void *to = x;
#pragma scop
for (int i = 0; i < n; i++) { ((double (*)[2])to)[i][0] = y[i]; ((double (*)[2])to)[i][1] = -y[i]; }
#pragma endscop

//# cast_to_structures: parallel
void *to = x;
#pragma scop
for (int i = 0; i < n / 2; i++) { ((point *)to)[i].x = y[i]; ((point *)to)[i].y += 2; }
#pragma endscop

//# product_of_casts: parallel
box u = {n, n, 8 * n, x}, v = {n, n, 8 * n, y}, w = {n, n, 8 * n, X[0]};
#pragma scop
for (int i = 0; i < u.rows; i++)
  for (int j = 0; j < u.cols; j++) {
    double sum = 0;
    for (int k = 0; k < v.cols; k++) sum += ELEMENT(&v, i, k) * ELEMENT(&w, k, j);
    ELEMENT(&u, i, j) = sum;
  }
#pragma endscop

//# rows_of_bytes: parallel
box s = {n, n, 8 * n, x}, t = {n, n - 1, 8 * n, y};
#pragma scop
for (int i = 1; i < t.rows - 1; i++)
  for (int j = 1; j < t.cols - 1; j++)
    AT(&s, i, j) = (AT(&t, i - 1, j) + AT(&t, i + 1, j) + AT(&t, i, j - 1) + AT(&t, i, j + 1)) / 4;
#pragma endscop

//# rows_of_bytes_by_names: parallel
box u = {n, n - 1, 8 * n, x}, v = {n, n, 8 * n, y}, *s = &u, *t = &v;
#pragma scop
for (int i = 0; i < s->rows; i++) {
  double *to = (double *)((char *)s->memory + (size_t)i * s->step);
  const double *from = (const double *)&((const char *)t->memory)[i * t->step];
  for (int j = 0; j < s->cols; j++) to[j] = 2 * from[j];
}
#pragma endscop

//# rows_of_bytes_that_are_walked: parallel
box u = {n, n - 1, 8 * n, x}, *s = &u;
#pragma scop
for (int i = 0; i < s->rows; i++) {
  double *to = (double *)((char *)s->memory + s->step * i) + 1;
  for (int j = 1; j < s->cols; j++) *to++ *= 2;
}
#pragma endscop

//# rows_of_bytes_with_a_header: parallel
char *bytes = (char *)x; long step = 8 * n;
#pragma scop
for (int i = 0; i < n - 1; i++)
  for (int j = 0; j < n; j++) *(double *)(bytes + 16 + i * step + j * sizeof(double)) += i;
#pragma endscop

//# rows_of_bytes_and_back: parallel
char *bytes = (char *)x; long step = 8 * n;
#pragma scop
for (int i = 1; i < n; i++)
  for (int j = 2; j < n; j++) {
    ((double *)(bytes + i * step) - 2)[j] += i;
    *((double *)(bytes + i * step - 8 * n) + j - 1) += ((double *)(bytes + i * step - step) - 1)[j + 1];
  }
#pragma endscop

//# rows_of_bytes_in_a_function: parallel
box u = {n, n, 8 * n, x}, v = {n, n, 8 * n, y}, *s = &u, *t = &v;
#pragma scop
for (int i = 0; i < s->rows; i++) for (int j = 0; j < s->cols; j++) *place(s, i, j) = element(t, i, j) * 3;
#pragma endscop

//# rows_of_structures: parallel
box u = {n, n / 2, 8 * n, x}, *s = &u;
#pragma scop
for (int i = 0; i < s->rows; i++)
  for (int j = 0; j < s->cols; j++) {
    point *p = (point *)((char *)s->memory + i * s->step) + j;
    p->x += 1; p->y *= 2;
  }
#pragma endscop

//# rows_that_may_be_no_whole_elements: parallel
box u = {n / 2, n / 2, 4 * n, a}, *s = &u;
#pragma scop
for (int i = 0; i < s->rows; i++) {
  couple *p = (couple *)((char *)s->memory + i * s->step);
  for (int j = 0; j < s->cols; j++) { p[j].u += i; p[j].v = j; }
}
#pragma endscop

//# one_memory_of_two_types: pointer-cast
void *to = a;
#pragma scop
for (int i = 0; i < n; i++) ((int *)to)[i] = ((unsigned *)to)[i] / 2;
#pragma endscop

//# members_that_are_set: pointer-arithmetic
box u = {n, n, n, x}, *s = &u; void *other = y;
#pragma scop
for (int i = 0; i < n; i++) { ((double *)s->memory)[i] = i; s->memory = other; }
#pragma endscop

//# structures_that_are_set: pointer-arithmetic
box u = {n, n, n, x}, v = {n, n, n, y}, *s = &u, *t = &v, *old = s;
#pragma scop
for (int i = 0; i < n; i++) { ((double *)s->memory)[i] += i; old = s; s = t; t = old; }
#pragma endscop

//# casts_that_are_set: pointer-arithmetic
void *to = x, *other = y;
#pragma scop
for (int i = 0; i < n; i++) { ((double *)to)[i] = i; to = other; }
#pragma endscop

//# bytes_over_a_pointer: parallel
box u = {n, n, n, c}, *s = &u;
#pragma scop
for (int i = 0; i < s->rows; i++) for (int j = 0; j < n; j++) ((unsigned char *)s->memory)[i * n + j] += j;
#pragma endscop
