//# return_of_check: parallel
for (int i = 0; i < n; i++) {
  if (x[i] < 0) return;
  for (int j = 0; j < n; j++) X[i][j] += sqrt(x[i]) * y[j];
}

//# return_that_happens: parallel
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) {
    if (x[i * n + j] > 120) return;
    X[i][j] += x[i * n + j];
  }

//# return_of_value_in_a_name: parallel
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) {
    double d = x[i * n + j] - 1e6;
    if (d > 0) { y[0] = d; return; }
    X[i][j] -= d;
  }

//# return_otherwise: parallel
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) {
    if (x[i * n + j] >= 0) X[i][j] += x[i * n + j];
    else return;
  }

//# return_or_work: parallel
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) {
    if (K[i][j] >= n) return;
    else if (K[i][j] > n / 2) X[i][j] = 1;
    else X[i][j] += 2;
  }

//# return_of_rows: parallel
for (int i = 0; i < n; i++) {
  for (int j = 0; j < n; j++) if (K[i][j] < 0) return;
  for (int j = 0; j < n; j++) X[i][j] += x[i] * y[K[i][j]];
}

//# break_of_outermost: parallel
for (int i = 0; i < n; i++) {
  if (a[i] < 0) break;
  for (int j = 0; j < n; j++) X[i][j] += x[i] * y[j];
}

//# break_that_happens: parallel
for (int i = 0; i < n; i++) {
  if (a[i] == n / 2) break;
  for (int j = 0; j < n; j++) X[i][j] += x[i] * y[j];
}

//# break_with_counter: parallel
int i;
#pragma scop
for (i = 0; i < n; i++) {
  if (a[i] < 0) break;
  for (int j = 0; j < n; j++) X[i][j] += x[i] * y[j];
}
#pragma endscop
x[0] = i;

//# goto_out: parallel
#pragma scop
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) {
    if (x[i * n + j] < 0) goto failed_1;
    X[i][j] += x[i * n + j];
  }
#pragma endscop
failed_1:
y[0] = 1;

//# asserted: parallel
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) {
    assert(K[i][j] >= 0 &&
           K[i][j] < n);
    X[i][j] += x[K[i][j]];
  }

//# asserted_strictly: parallel
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) {
    ((K[i][j] >= 0) ? (void)(0) : abort());
    (void)((K[i][j] < n) || (abort(), 0));
    X[i][j] += x[K[i][j]];
  }

//# told: parallel
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) {
    if (x[i * n + j] < 0) fprintf(stderr, "negative: %d %d\n", i, j);
    X[i][j] += x[i * n + j];
  }

//# told_and_ended: parallel
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) {
    if (isnan(x[i * n + j])) {
      fprintf(stderr, "no number: %d %d\n", i, j);
      exit(1);
    }
    X[i][j] += x[i * n + j];
  }

//# told_of_some: parallel
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) {
    if (x[i * n + j] > 120) printf("told_of_some %d %d\n", i, j);
    X[i][j] += x[i * n + j];
  }

//# told_by_a_macro: parallel
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) {
    do { if (n > 30) fprintf(stderr, "at %d\n", i); } while (0);
    do { if (x[i * n + j] > 120) do { printf("told_by_a_macro %d %d\n", i, j); } while (0); } while (0);
    X[i][j] += x[i * n + j];
  }

//# left_a_block: call
for (int i = 0; i < n; i++)
  do {
    if (x[i] > 60) break;
    y[i] += x[i];
    if (n > 30) printf("left_a_block %d\n", i);
  } while (0);

//# left_under_data: parallel
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) {
    if (c[i] > 100) {
      if (x[i * n + j] < 0) return;
      X[i][j] += x[i * n + j];
    }
  }

//# left_where_data_are_written: early-exit
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) {
    X[i][j] += x[i * n + j];
    if (X[i][j] > 1e9) return;
  }

//# left_where_nothing_is_after_the_end: parallel
int *found = malloc((n + 1) * sizeof *found);
for (int i = 0; i < n; i++) found[i] = i == n / 3;
#pragma scop
for (int i = 0; i < 1000000; i++) {
  if (found[i]) break;
  for (int j = 0; j < n; j++) X[i][j] += y[j];
}
#pragma endscop
free(found);

//# left_by_steps: parallel
for (int t = 0; t < 3; t++) {
  if (a[t % n] < 0) return;
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++) x[i * n + j] = y[i * n + j - 1] + y[i * n + j + 1];
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++) y[i * n + j] = x[i * n + j] * 0.5;
}
