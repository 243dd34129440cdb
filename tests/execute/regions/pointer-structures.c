// Bodies of functions as in data-dependent.c: structures behind arrays of pointers.

//# members: parallel
node **v = nodes_of(x, n, n);
#pragma scop
for (int i = 0; i < n; i++) v[i]->y += y[i] * v[i]->z;
#pragma endscop
drop(v, n, y);

//# elements: parallel
node **v = nodes_of(x, n, n);
#pragma scop
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) v[i]->x[j] += X[i][j];
#pragma endscop
drop(v, n, y);

//# elements_of_arrays: parallel
node **v = nodes_of(x, n, n);
#pragma scop
for (int i = 0; i < n; i++)
  for (int j = 0; j < 3; j++) v[i]->w[j] += y[j % n] * v[i]->y;
#pragma endscop
drop(v, n, y);

//# elements_read: parallel
node **v = nodes_of(x, n, n);
#pragma scop
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) X[i][j] = v[j]->x[i] * v[i]->y + v[i]->w[1];
#pragma endscop
drop(v, n, y);

//# elements_by_an_asterisk: parallel
node **v = nodes_of(x, n, n);
#pragma scop
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) (*v[i]).x[j] += (**(v + i)).y;
#pragma endscop
drop(v, n, y);

//# elements_by_a_pointer: parallel
node **v = nodes_of(x, n, n);
#pragma scop
for (int i = 0; i < n; i++) {
  node *q = v[i];
  double *r = q->x;
  for (int j = 0; j < n; j++) r[j] += X[i][j];
  q->y = i;
}
#pragma endscop
drop(v, n, y);

//# elements_of_walking_pointers: parallel
node **v = nodes_of(x, n, n);
#pragma scop
for (node **q = v; q < v + n; q++)
  for (int j = 0; j < n; j++) (*q)->x[j] += y[j];
#pragma endscop
drop(v, n, y);

//# elements_of_a_member: parallel
graph g = {nodes_of(x, n, n), n}, *h = &g;
#pragma scop
for (int i = 0; i < h->count; i++)
  for (int j = 0; j < n; j++) h->nodes[i]->x[j] += X[i][j];
#pragma endscop
drop(g.nodes, n, y);

//# elements_of_an_array_of_pointers: parallel
node **v = nodes_of(x, n, n), *u[64];
for (int i = 0; i < n; i++) u[i] = v[n - 1 - i];
#pragma scop
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) u[i]->x[j] += X[i][j];
#pragma endscop
drop(v, n, y);

//# grids: parallel
node **v = nodes_of(x, 1, n), **u = nodes_of(y, 1, n);
#pragma scop
for (int c = 0; c < 1; c++)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) v[c]->x[i * n + j] += u[c]->x[j * n + i];
#pragma endscop
drop(v, 1, y), drop(u, 1, y);

//# in_functions: parallel
node **v = nodes_of(x, n, n);
#pragma scop
for (int i = 0; i < n; i++) moved(v[i], length(v[i]));
#pragma endscop
drop(v, n, y);

//# one_that_is_twice_there: parallel
node **v = nodes_of(x, n, n), *first = v[0];
if (n > 3) v[0] = v[2];
#pragma scop
for (int i = 0; i < n; i++) v[i]->y = v[i]->y * 2 + y[i];
#pragma endscop
v[0] = first;
drop(v, n, y);

//# rows_that_overlap: parallel
node **v = nodes_of(x, n, n);
if (n > 3) v[2]->x = v[1]->x + 1;
#pragma scop
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) v[i]->x[j] = v[i]->x[j] * 2 + j;
#pragma endscop
drop(v, n, y);

//# what_is_written_is_a_row: parallel
node **v = nodes_of(x, n, n);
#pragma scop
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) x[(n - 1 - i) * n + j] += v[i]->x[j];
#pragma endscop
drop(v, n, y);

//# arrays_by_a_pointer: parallel
node **v = nodes_of(x, n, n);
#pragma scop
for (int i = 0; i < n; i++) {
  double *r = v[i]->w;
  for (int j = 0; j < 3; j++) *r++ += y[j % n];
}
#pragma endscop
drop(v, n, y);

//# elements_walked: parallel
node **v = nodes_of(x, n, n);
#pragma scop
for (int i = 0; i < n; i++) {
  const double *from = v[i]->x, *end = from + n;
  double *to = X[i];
  while (from < end) *to++ = *from++ * 2;
}
#pragma endscop
drop(v, n, y);

//# structures_that_are_an_array_s: parallel
node *all = calloc(n + 1, sizeof *all), **v = malloc((n + 1) * sizeof *v);
for (int i = 0; i < n; i++) v[i] = all + (i + 1) % n, all[i].y = i;
#pragma scop
for (int i = 0; i < n; i++) v[i]->y = 2 * all[i].y + y[i];
#pragma endscop
for (int i = 0; i < n; i++) y[i] += all[i].y;
free(v), free(all);

//# neighbours: serial
node **v = nodes_of(x, n, n);
#pragma scop
for (int i = 1; i < n; i++) v[i]->y += v[i - 1]->y;
#pragma endscop
drop(v, n, y);

//# chosen_by_data: unknown-footprint
node **v = nodes_of(x, n, n);
#pragma scop
for (int i = 0; i < n; i++) v[K[0][i]]->y += y[i];
#pragma endscop
drop(v, n, y);

//# as_long_as_data_say: unknown-footprint
node **v = nodes_of(x, n, n);
#pragma scop
for (int i = 0; i < n; i++)
  for (int j = 0; j < v[i]->n; j++) v[i]->x[j] += X[i][j];
#pragma endscop
drop(v, n, y);

//# under_a_condition: unknown-footprint
node **v = nodes_of(x, n, n), *first = v[0];
if (n > 3) v[0] = NULL;
#pragma scop
for (int i = 0; i < n; i++)
  if (i + a[i] - a[i] > 0)
    for (int j = 0; j < n; j++) v[i]->x[j] += X[i][j];
#pragma endscop
v[0] = first;
drop(v, n, y);

//# that_are_set: pointer-value
node **v = nodes_of(x, n, n);
#pragma scop
for (int i = 0; i < n; i++) {
  v[i]->x = x + i * n;
  for (int j = 0; j < n; j++) v[i]->x[j] += X[i][j];
}
#pragma endscop
drop(v, n, y);
