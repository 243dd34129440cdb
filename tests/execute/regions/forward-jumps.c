// Bodies of functions as in data-dependent.c, which jump forward out of conditions, and the same written otherwise.

//# skipped_by_goto: parallel
for (int i = 0; i < n; i++) {
  if (x[i] > 50) goto skip;
  x[i] = x[i] * 2 + y[i];
skip:
  z[i] += 1;
}

//# skipped_by_if: parallel
for (int i = 0; i < n; i++) {
  if (!(x[i] > 50)) x[i] = x[i] * 2 + y[i];
  z[i] += 1;
}

//# skipped_by_ternary: parallel
for (int i = 0; i < n; i++) {
  x[i] = x[i] > 50 ? x[i] : x[i] * 2 + y[i];
  z[i] += 1;
}

//# skipped_by_continue: parallel
for (int i = 0; i < n; i++) {
  z[i] += 1;
  if (x[i] > 50) continue;
  x[i] = x[i] * 2 + y[i];
}

//# skipped_out_of_nested_conditions: parallel
for (int i = 0; i < n; i++) {
  if (a[i] > 0) {
    if (x[i] > 50) goto skip;
  } else if (x[i] > 50) {
    goto skip;
  }
  x[i] = x[i] * 2 + y[i];
skip:
  z[i] += 1;
}

//# skipped_past_two_labels: parallel
for (int i = 0; i < n; i++) {
  if (x[i] <= 50) goto work;
  goto done;
work:
  x[i] = x[i] * 2;
  x[i] += y[i];
done:
  z[i] += 1;
}

//# chosen_by_labels: parallel
for (int i = 0; i < n; i++) {
  if (x[i] > 50) goto L20;
  y[i] = -y[i] + x[i] * z[i];
  goto L30;
L20:
  z[i] = -z[i] + x[i];
L30:
  x[i] = y[i] + z[i] * x[i];
}

//# chosen_by_if: parallel
for (int i = 0; i < n; i++) {
  if (x[i] > 50) z[i] = -z[i] + x[i];
  else y[i] = -y[i] + x[i] * z[i];
  x[i] = y[i] + z[i] * x[i];
}

//# chosen_by_ternaries: parallel
for (int i = 0; i < n; i++) {
  double v = x[i] > 50 ? -z[i] + x[i] : -y[i] + x[i] * z[i];
  y[i] = x[i] > 50 ? y[i] : v;
  z[i] = x[i] > 50 ? v : z[i];
  x[i] = y[i] + z[i] * x[i];
}

//# chosen_twice_by_labels: parallel
for (int i = 0; i < n; i++) {
  if (x[i] > 50) goto L20;
  y[i] = -y[i] + z[i] * z[i];
  if (y[i] <= x[i]) goto L30;
  z[i] += z[i] * x[i];
  goto L30;
L20:
  z[i] = -z[i] + x[i] * x[i];
L30:
  x[i] = y[i] + z[i] * x[i];
}

//# carried_past_a_label: serial
for (int i = 0; i < n - 1; i++) {
  if (x[i] >= 80) goto L20;
  if (y[i] >= 50) goto L30;
  x[i] += z[i] * x[i];
L30:
  y[i + 1] = z[i] + x[i];
L20:;
}

//# skipped_by_one_of_two_conditions: parallel
for (int i = 0; i < n; i++) {
  if (a[i] > 2) {
    if (b[i] > 0) goto next;
    x[i] = 1;
  }
  y[i] = 2;
next:
  z[i] += 1;
}

//# skipped_by_one_of_two_conditions_by_flag: parallel
for (int i = 0; i < n; i++) {
  int left = 0;
  if (a[i] > 2) {
    if (b[i] > 0) left = 1;
    else x[i] = 1;
  }
  if (!left) y[i] = 2;
  z[i] += 1;
}

//# skipped_by_conditions_that_change: parallel
for (int i = 0; i < n; i++) {
  if (x[i] > 50) {
    if (b[i] > 2) goto next;
    x[i] -= 30;
    if (x[i] > 50) goto next;
    y[i] = 7;
  }
  y[i] += 2;
next:
  z[i] += 1;
}

//# skipped_in_a_window: parallel
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) {
    if (i == 0 || j == 0) goto border;
    if (i == n - 1) goto border;
    K[i][j] = (int)(X[i - 1][j] + X[i][j - 1] + X[i + 1][j]);
    goto done;
  border:
    K[i][j] = 0;
  done:;
  }

//# skipped_in_a_window_by_continue: parallel
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) {
    if (i == 0 || j == 0 || i == n - 1) { K[i][j] = 0; continue; }
    K[i][j] = (int)(X[i - 1][j] + X[i][j - 1] + X[i + 1][j]);
  }

//# jumped_past_loops: parallel
for (int i = 0; i < n; i++) {
  double s = 0;
  if (b[i] < 0) goto store;
  for (int j = 0; j < n; j++) {
    if (X[i][j] < 0) goto negative;
    s += X[i][j] * y[j];
  negative:;
  }
store:
  x[i] = s;
}

//# jumped_past_declarations: parallel
for (int i = 0; i < n; i++) {
  if (b[i] < 0) goto other;
  double t = y[i];
  x[i] = t * t;
other:
  t = z[i];
  y[i] = t + 1;
}

//# jumped_past_names_of_others: parallel
double t = 3;
#pragma scop
for (int i = 0; i < n; i++) {
  if (b[i] < 0) { double t = y[i]; x[i] = t; goto other; }
  x[i] = t;
other:
  y[i] = t + 1;
}
#pragma endscop

//# switched_by_labels: parallel
for (int i = 0; i < n; i++) {
  switch (b[i]) {
  case 1: goto L15;
  case 2: case 3: goto L20;
  case 4: break;
  default: goto L30;
  }
  x[i] += y[i];
  goto L50;
L15:
  x[i] += y[i] * y[i];
  goto L50;
L20:
  x[i] += z[i] * z[i];
  goto L50;
L30:
  x[i] -= 1;
L50:;
}

//# left_to_behind_a_loop: parallel
for (int i = 0; i < n; i++) {
  for (int j = 0; j < n; j++) {
    if (X[i][j] > 5) goto found;
    K[i][j] = 1;
  }
found:
  x[i] = 1;
}

//# left_past_more: goto
for (int i = 0; i < n; i++) {
  for (int j = 0; j < n; j++) if (X[i][j] > 5) goto found;
  x[i] = 1;
found:;
}

//# into_a_condition: goto
for (int i = 0; i < n; i++) {
  if (x[i] > 50) goto inside;
  y[i] = 1;
  if (b[i] > 0) {
    y[i] = 2;
  inside:
    z[i] = 3;
  }
}

//# continued_in_nested_conditions: parallel
for (int i = 0; i < n; i++) {
  if (a[i] > 2) {
    if (b[i] > 0) continue;
    x[i] = 1;
  }
  y[i] = 2;
}
