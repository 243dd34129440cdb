/* Conjugate gradients for a sparse, symmetric, positive definite matrix in compressed rows. */
#include "solver.h"

/* y = A p; the product p y. */
static double apply(int n, const int *restrict first, const int *restrict column, const double *restrict entry,
                    const double *restrict p, double *restrict y)
{
  double product = 0.0;
#pragma scop
  for (int i = 0; i < n; i++) {
    double sum = 0.0;
    for (int k = first[i]; k < first[i + 1]; k++)
      sum += entry[k] * p[column[k]];
    y[i] = sum;
  }
#pragma endscop
#pragma scop allow_reassociation(on)
  for (int i = 0; i < n; i++)
    product += p[i] * y[i];
#pragma endscop
  return product;
}

/* x and r take a step; the square of r. */
static double step(int n, double alpha, const double *restrict p, const double *restrict y, double *restrict x,
                   double *restrict r)
{
  double square = 0.0;
#pragma scop allow_reassociation(on)
  for (int i = 0; i < n; i++) {
    x[i] += alpha * p[i];
    r[i] -= alpha * y[i];
    square += r[i] * r[i];
  }
#pragma endscop
  return square;
}

static void turn(int n, double beta, const double *restrict r, double *restrict p)
{
#pragma scop
  for (int i = 0; i < n; i++)
    p[i] = r[i] + beta * p[i];
#pragma endscop
}

int solve(const struct matrix *a, int most, double *x, double *r, double *p, double *y, double *squares)
{
  int n = a->n, steps = 0;
  double square = 0.0;
  for (int i = 0; i < n; i++) {
    p[i] = r[i];
    square += r[i] * r[i];
  }
  squares[0] = square;
  while (steps < most && square > 1e-16 * squares[0]) {
    double alpha = square / apply(n, a->first, a->column, a->entry, p, y);
    double next = step(n, alpha, p, y, x, r);
    turn(n, next / square, r, p);
    squares[++steps] = square = next;
  }
  return steps;
}
