#ifndef SOLVER_H
#define SOLVER_H

/* What the solver needs besides the temperature; see solver.c. */
struct elimination {
  double *factor;  /* factor[k] is what one elimination step divides by, inverted */
  double coupling; /* half a time step over the squared mesh width */
};

/* Prepare time steps of length dt on a plate of n by n points, the boundary
   included. Returns 0 if there is not enough memory. */
int elimination_init(struct elimination *e, int n, double dt);
void elimination_free(struct elimination *e);

/* Advance the temperature u by one time step. u and the work space w and d
   have n by n points; the temperature on the boundary is zero. */
void time_step(int n, double h, const double factor[n], double u[n][n], double w[n][n], double d[n][n]);

#endif
