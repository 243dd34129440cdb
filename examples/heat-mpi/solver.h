#ifndef SOLVER_H
#define SOLVER_H

/* How much of the difference to its neighbours a cell gains in a step; at most 0.25. */
#define RATE 0.2

/* One time step of an explicit scheme on the rows 1 to rows of a plate; the rows 0 and rows + 1 belong to
   the neighbours, or to the boundary. */
void time_step(int rows, int n, double u[rows + 2][n], double w[rows + 2][n]);

#endif
