/* Waves on a square membrane that is held at its border: a program for one machine.

   There is nothing of MPI in it. Built as README.md says, the ranks that mpirun starts share the loops of the
   marked regions, the pragma in main() keeps the heights on the ranks that compute them, and what is printed is
   the same to the last bit. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* What polybuild knows, and an ordinary compiler need not: all ranks run the program, one of them prints. */
#ifdef __has_include
#if __has_include(<polybuild.h>)
#include <polybuild.h>
#else
#define polybuild_on_first() 1
#endif
#else
#define polybuild_on_first() 1
#endif

enum { EACH = 50 }; /* steps, after which the highest wave is told */

/* Heights u now, and v one step before; afterwards both are two times `steps` steps later. */
static void run(int n, int steps, double c, double u[restrict n][n], double v[restrict n][n])
{
#pragma scop
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        v[i][j] = 2 * u[i][j] - v[i][j]
                  + c * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] - 4 * u[i][j]);
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        u[i][j] = 2 * v[i][j] - u[i][j]
                  + c * (v[i - 1][j] + v[i + 1][j] + v[i][j - 1] + v[i][j + 1] - 4 * v[i][j]);
  }
#pragma endscop
}

/* The highest crest or deepest trough. */
static double extreme(int n, double u[n][n])
{
  double highest = 0;
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      if (fabs(u[i][j]) > highest)
        highest = fabs(u[i][j]);
#pragma endscop
  return highest;
}

/* The heights as a grey picture: still water is grey, crests are bright. */
static int draw(const char *path, int n, double u[n][n], double highest)
{
  FILE *file = fopen(path, "wb");
  if (!file)
    return 1;
  fprintf(file, "P5 %d %d 255\n", n, n);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      fputc((int)(127.5 + 127.0 * (highest > 0 ? u[i][j] / highest : 0)), file);
  return fclose(file);
}

int main(int argc, char **argv)
{
  int n = argc > 1 ? atoi(argv[1]) : 500, steps = argc > 2 ? atoi(argv[2]) : 200;
  double energy = 0, highest = 0;

  if (n < 3 || steps < 0) {
    fprintf(stderr, "usage: waves [points per side] [steps] [picture.pgm]\n");
    return 1;
  }
  double (*u)[n] = calloc(n, sizeof *u), (*v)[n] = calloc(n, sizeof *v);
  if (!u || !v)
    return 1;
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      u[i][j] = v[i][j] = exp(-((i - n / 3) * (i - n / 3) + (j - n / 2) * (j - n / 2)) / 40.0);
  struct timespec t0, t1;
  timespec_get(&t0, TIME_UTC);
#pragma polybuild distributed(u[0:n], v[0:n])
  {
    for (int done = 0; done < steps; done += EACH) {
      run(n, done + EACH < steps ? EACH : steps - done, 0.25, u, v);
      highest = extreme(n, u);
      if (polybuild_on_first())
        printf("step %d: highest wave %.17g\n", done + EACH < steps ? done + EACH : steps, highest);
    }
  }
  timespec_get(&t1, TIME_UTC);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      energy += u[i][j] * u[i][j];
  int failed = 0;
  if (polybuild_on_first()) {
    printf("energy %.17g\n", energy);
    if (argc > 3) {
      printf("seconds %.6f\n", (double)(t1.tv_sec - t0.tv_sec) + 1e-9 * (double)(t1.tv_nsec - t0.tv_nsec));
      failed = draw(argv[3], n, u, highest) != 0;
    }
  }
  free(u);
  free(v);
  return failed;
}
