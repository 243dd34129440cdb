#ifndef SOLVER_H
#define SOLVER_H

/* Row i has the entries first[i] to first[i + 1] - 1. */
struct matrix {
  int n;
  int *first, *column;
  double *entry;
};

/* Solve a x = r from x = 0 in at most so many steps; r, p and y are overwritten. The number of steps;
   squares gets the squared residual before each, and the last one. */
int solve(const struct matrix *a, int most, double *x, double *r, double *p, double *y, double *squares);

#endif
