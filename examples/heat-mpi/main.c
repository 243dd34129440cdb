/* A plate that cools down, its rows divided among the ranks of an MPI program.

   Before each time step a rank gets the rows next to its own from its neighbours. The step itself is in
   solver.c, and runs on as many threads as OMP_NUM_THREADS says. What is printed does not depend on the
   number of ranks, to the last bit. */

#include "solver.h"

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { UP, DOWN };

static void exchange(int rows, int n, double u[rows + 2][n], int above, int below)
{
  MPI_Sendrecv(u[1], n, MPI_DOUBLE, above, UP, u[rows + 1], n, MPI_DOUBLE, below, UP, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Sendrecv(u[rows], n, MPI_DOUBLE, below, DOWN, u[0], n, MPI_DOUBLE, above, DOWN, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
}

/* Row by row, from the first rank to the last: the order of additions is always the same. */
static double total(int rows, int n, double u[rows + 2][n], int rank, int ranks)
{
  double sum = 0.0;

  if (rank > 0)
    MPI_Recv(&sum, 1, MPI_DOUBLE, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 1; i <= rows; i++)
    for (int j = 0; j < n; j++)
      sum += u[i][j];
  if (rank + 1 < ranks)
    MPI_Send(&sum, 1, MPI_DOUBLE, rank + 1, 0, MPI_COMM_WORLD);
  MPI_Bcast(&sum, 1, MPI_DOUBLE, ranks - 1, MPI_COMM_WORLD);
  return sum;
}

static int threads(void)
{
  const char *text = getenv("OMP_NUM_THREADS");

  return text ? atoi(text) : 0;
}

int main(int argc, char **argv)
{
  int level, rank, ranks;

  /* Only the thread that is outside of the regions talks to other ranks. */
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);

  int n = argc > 1 ? atoi(argv[1]) : 1000, steps = argc > 2 ? atoi(argv[2]) : 200;
  if (n < 3 || n - 2 < ranks || steps < 0 || level < MPI_THREAD_FUNNELED) {
    if (rank == 0)
      fprintf(stderr, "usage: heat-mpi [points per side] [steps], with a row or more for each rank\n");
    MPI_Finalize();
    return 1;
  }
  int first = 1 + (int)((long)(n - 2) * rank / ranks), end = 1 + (int)((long)(n - 2) * (rank + 1) / ranks);
  int rows = end - first, above = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  int below = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
  double (*u)[n] = calloc((size_t)rows + 2, sizeof *u), (*w)[n] = calloc((size_t)rows + 2, sizeof *w);
  if (!u || !w)
    MPI_Abort(MPI_COMM_WORLD, 1);
  for (int i = 1; i <= rows; i++)
    for (int j = 1; j < n - 1; j++)
      u[i][j] = (double)((first + i - 1) * 7 % 32 + j * 5 % 16);

  double start = MPI_Wtime();
  for (int step = 0; step < steps; step++) {
    exchange(rows, n, u, above, below);
    time_step(rows, n, u, w);
  }
  double seconds = MPI_Wtime() - start, hottest = 0.0, all_hottest, sum = total(rows, n, u, rank, ranks);
  for (int i = 1; i <= rows; i++)
    for (int j = 0; j < n; j++)
      hottest = fmax(hottest, u[i][j]);
  MPI_Reduce(&hottest, &all_hottest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    printf("%d ranks of %d threads: %.3f s\n", ranks, threads(), seconds);
    printf("sum of all temperatures: %.17g\n", sum);
    printf("hottest point: %.17g\n", all_hottest);
  }
  free(u);
  free(w);
  MPI_Finalize();
  return 0;
}
