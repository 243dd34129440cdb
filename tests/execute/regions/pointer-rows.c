//# matrix_of_rows: parallel
double **v = rows_of(x, n, n);
#pragma scop
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) v[i][j] += X[i][j];
#pragma endscop
free(v);

//# rows_made_one_by_one: parallel
double **v = rows_apart(n, n, 0), **w = rows_apart(n, n, 0);
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) v[i][j] = x[i * n + j], w[i][j] = y[i * n + j];
#pragma scop
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) {
    double s = 0;
    for (int k = 0; k < n; k++) s += v[i][k] * w[k][j];
    X[i][j] = s;
  }
#pragma endscop
drop(v, n), drop(w, n);

//# planes_with_sums_of_neighbours: parallel
double ***v = malloc((n + 1) * sizeof *v), ***w = malloc((n + 1) * sizeof *w), s1[64], s2[64];
for (int p = 0; p < n; p++) {
  v[p] = rows_of(x, n, n), w[p] = rows_apart(n, n, 0);
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++) w[p][i][k] = p + y[i * n + k];
}
#pragma scop
for (int i = 1; i < n - 1; i++)
  for (int j = 1; j < n - 1; j++) {
    for (int k = 0; k < n; k++) {
      s1[k] = v[i - 1][j][k] + v[i + 1][j][k] + v[i][j - 1][k] + v[i][j + 1][k];
      s2[k] = v[i - 1][j - 1][k] + v[i - 1][j + 1][k] + v[i + 1][j - 1][k] + v[i + 1][j + 1][k];
    }
    for (int k = 1; k < n - 1; k++) w[i][j][k] += 0.5 * v[i][j][k] + 0.2 * s1[k] + s2[k - 1] - s2[k + 1];
  }
#pragma endscop
for (int p = 0; p < n; p++) {
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++) X[i][k] += w[p][i][k];
  free(v[p]), drop(w[p], n);
}
free(v), free(w);

//# rows_made_in_turn: parallel
double **v = malloc((n + 1) * sizeof *v), **w = malloc((n + 1) * sizeof *w);
for (int i = 0; i < n; i++) v[i] = malloc(n * 8), w[i] = malloc(n * 8);
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) v[i][j] = x[i * n + j], w[i][j] = 0;
#pragma scop
for (int i = 1; i < n - 1; i++)
  for (int j = 1; j < n - 1; j++) w[i][j] = v[i - 1][j] + v[i + 1][j] + v[i][j - 1] + v[i][j + 1];
#pragma endscop
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) y[i * n + j] = w[i][j];
drop(v, n), drop(w, n);

//# rows_exchanged: parallel
double **v = rows_of(x, n, n);
for (int i = 0; i < n; i++) {
  double *t = v[i];
  v[i] = v[K[0][i]], v[K[0][i]] = t;
}
#pragma scop
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) v[i][j] = v[i][j] * 2 + X[j][i];
#pragma endscop
free(v);

//# rows_that_are_one: parallel
double **v = malloc((n + 1) * sizeof *v);
for (int i = 0; i < n; i++) v[i] = x + i / 2 * n;
#pragma scop
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) v[i][j] = v[i][j] * 2 + X[j][i];
#pragma endscop
free(v);

//# rows_that_overlap: parallel
double **v = malloc((n + 1) * sizeof *v);
for (int i = 0; i < n; i++) v[i] = x + i * (n - 1);
#pragma scop
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) v[i][j] = v[i][j] * 2 + X[j][i];
#pragma endscop
free(v);

//# rows_of_another_matrix: parallel
double **v = rows_of(x, n, n), **w = malloc((n + 1) * sizeof *w);
for (int i = 0; i < n; i++) w[i] = v[n - 1 - i];
#pragma scop
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) v[i][j] = w[i][j] + 1;
#pragma endscop
free(v), free(w);

//# rows_read_alone: parallel
double **v = malloc((n + 1) * sizeof *v);
for (int i = 0; i < n; i++) v[i] = x + K[0][i];
#pragma scop
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) X[i][j] = v[i][j < n - K[0][i] ? j : 0];
#pragma endscop
free(v);

//# cube_of_pointers: parallel
double ***v = malloc((n + 1) * sizeof *v);
int m = n < 4 ? n : 4, q = n / m;
for (int i = 0; i < m; i++) v[i] = rows_of(x + i * q * n, q, n);
#pragma scop
for (int i = 0; i < m; i++)
  for (int j = 0; j < q; j++)
    for (int k = 0; k < n; k++) v[i][j][k] += X[j][k] + i;
#pragma endscop
for (int i = 0; i < m; i++) free(v[i]);
free(v);

//# cube_by_triangles: unknown-footprint
double ***v = malloc((n + 1) * sizeof *v);
for (int i = 0; i < n; i++) v[i] = rows_of(x, n, n);
#pragma scop
for (int i = 0; i < n; i++)
  for (int j = 0; j <= i; j++)
    for (int k = 0; k < n; k++) v[i][j][k] += X[j][k];
#pragma endscop
for (int i = 0; i < n; i++) free(v[i]);
free(v);

//# structure_with_rows: parallel
struct rows m = {rows_of(x, n, n), n}, *p = &m;
#pragma scop
for (int i = 0; i < p->n; i++)
  for (int j = 0; j < p->n; j++) p->v[i][j] = m.v[i][j] * 3 + X[i][j];
#pragma endscop
free(m.v);

//# array_of_rows: parallel
double *v[64];
for (int i = 0; i < n; i++) v[i] = x + i * n;
#pragma scop
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) v[i][j] += X[j][i];
#pragma endscop

//# matrix_with_a_name: parallel
matrix v = rows_of(x, n, n), w = rows_of(y, n, n);
#pragma scop
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) v[i][j] = w[j][i];
#pragma endscop
free(v), free(w);

//# rows_from_one: parallel
double **v = malloc((n + 1) * sizeof *v), *shifted[65];
for (int i = 1; i <= n; i++) v[i] = x + (i - 1) * n - 1;
for (int i = 1; i <= n; i++) shifted[i] = y + (i - 1) * n;
#pragma scop
for (int i = 1; i <= n; i++)
  for (int j = 1; j <= n; j++) v[i][j] += shifted[i][j - 1];
#pragma endscop
free(v);

//# planes_of_flat_rows: parallel
double *planes[3] = {x, y, z};
#pragma scop
for (int k = 0; k < 3; k++)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) planes[k][i * n + j] += X[i][j] * k;
#pragma endscop

//# two_grids_by_turns: parallel
double *grids[2] = {x, y};
int cur = n % 2;
#pragma scop
for (int i = 1; i < n - 1; i++)
  for (int j = 1; j < n - 1; j++) grids[1 - cur][i * n + j] = grids[cur][i * n + j - n] + grids[cur][i * n + j + n];
#pragma endscop

//# layers_of_structures: parallel
struct layer { double *w; int n; } layers[2] = {{x, n}, {y, n}};
#pragma scop
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) layers[1].w[i * n + j] = layers[0].w[j * n + i] + X[i][j];
#pragma endscop

//# rows_behind_row_pointers: parallel
double **v = rows_of(x, n, n);
#pragma scop
for (int i = 0; i < n; i++) {
  double *r = v[i];
  for (int j = 0; j < n; j++) r[j] += X[i][j];
}
#pragma endscop
free(v);

//# rows_walked: parallel
double **v = rows_of(x, n, n);
double *p;
#pragma scop
for (int i = 0; i < n; i++) {
  p = v[i];
  for (int j = 0; j < n; j++) *p++ += X[i][j];
}
#pragma endscop
free(v);

//# rows_by_pointer_arithmetic: parallel
double **v = rows_of(x, n, n);
#pragma scop
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) *(*(v + i) + j) += X[i][j];
#pragma endscop
free(v);

//# rows_of_bytes: parallel
unsigned char **v = malloc((n + 1) * sizeof *v);
for (int i = 0; i < n; i++) v[i] = c + i * n;
#pragma scop
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) v[i][j] = 255 - v[i][j];
#pragma endscop
free(v);

//# rows_inside_functions: parallel
double **v = rows_of(x, n, n), **w = rows_of(y, n, n);
#pragma scop
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) v[i][j] += dot(w[i], w[j], n);
#pragma endscop
free(v), free(w);

//# rows_chosen_by_data: parallel
double **v = rows_of(x, n, n);
#pragma scop
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) X[i][j] = v[K[0][i]][j];
#pragma endscop
free(v);

//# rows_that_are_set: pointer-value
double **v = malloc((n + 1) * sizeof *v);
#pragma scop
for (int i = 0; i < n; i++) {
  v[i] = x + i * n;
  for (int j = 0; j < n; j++) v[i][j] += X[i][j];
}
#pragma endscop
free(v);

//# rows_of_structures: parallel
struct point { double x, y; } **v = malloc((n + 1) * sizeof *v), *all = calloc(n + 1, sizeof *all);
for (int i = 0; i < n; i++) v[i] = all + i;
#pragma scop
for (int i = 0; i < n; i++) v[i]->x += x[i];
#pragma endscop
for (int i = 0; i < n; i++) y[i] = all[i].x;
free(v), free(all);

//# rows_of_layers: parallel
struct layer { double *w; int n; } layers[2] = {{x, n}, {y, n}}, *l;
#pragma scop
for (int i = 0; i < n; i++) {
  double *to = layers[0].w + i * n, *from = layers[1].w;
  for (int j = 0; j < n; j++) to[j] += from[j * n + i];
}
#pragma endscop
l = layers, y[0] += l->n;

//# rows_in_steps: parallel
double **v = rows_of(x, n, n), **w = rows_of(y, n, n);
#pragma scop
for (int t = 0; t < 5; t++) {
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      w[i][j] = 0.2 * (v[i][j] + v[i - 1][j] + v[i + 1][j] + v[i][j - 1] + v[i][j + 1]);
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++) v[i][j] = w[i][j];
}
#pragma endscop
free(v), free(w);

//# rows_exchanged_in_steps: parallel
double **v = rows_of(x, n, n), **w = rows_of(y, n, n), **t;
#pragma scop
for (int s = 0; s < 5; s++) {
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      w[i][j] = 0.2 * (v[i][j] + v[i - 1][j] + v[i + 1][j] + v[i][j - 1] + v[i][j + 1]);
  t = v, v = w, w = t;
}
#pragma endscop
free(v), free(w);

//# rows_summed: serial
double **v = rows_of(x, n, n), s = 0;
#pragma scop
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) s += v[i][j];
#pragma endscop
free(v), y[0] = s;
