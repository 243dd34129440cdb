/* Prints what a message of 8 bytes takes, in nanoseconds, and how many bytes a nanosecond a long one has: the best of
   many that go to the other rank and back. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double there_and_back(char *data, int bytes, int rank)
{
  double best = 1e9;
  for (int run = 0; run < 500; run++) {
    double start = MPI_Wtime(), taken;
    if (rank == 0) {
      MPI_Send(data, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
      MPI_Recv(data, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(data, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(data, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    }
    taken = (MPI_Wtime() - start) / 2;
    if (taken < best)
      best = taken;
  }
  return best * 1e9;
}

int main(int argc, char **argv)
{
  int rank, bytes = 1 << 20;
  char *data = calloc((size_t)bytes, 1);
  double few, many;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  few = there_and_back(data, 8, rank);
  many = there_and_back(data, bytes, rank);
  if (rank == 0) /* short ones may have waited for other work */
    printf("%.1f %.3f\n", few, bytes / (many > few ? many - few : many));
  MPI_Finalize();
  return 0;
}
