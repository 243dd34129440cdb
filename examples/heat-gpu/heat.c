/* A hot ring cools down on a plate: thousands of steps on arrays that stay on the device. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void step(int n, float (*restrict u)[n], float (*restrict next)[n])
{
#pragma scop
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      next[i][j] = u[i][j] + 0.2f * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] - 4.0f * u[i][j]);
#pragma endscop
}

int main(int argc, char **argv)
{
  const int n = 512, steps = argc > 2 ? atoi(argv[2]) : 400;
  float (*u)[n] = calloc((size_t)n, sizeof *u), (*next)[n] = calloc((size_t)n, sizeof *next);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      int square = (i - n / 2) * (i - n / 2) + (j - n / 2) * (j - n / 2);
      u[i][j] = square > 120 * 120 && square < 150 * 150 ? 1.0f : 0.0f;
    }

  struct timespec t0, t1;
  timespec_get(&t0, TIME_UTC);
#pragma polybuild resident(u[0:n], next[0:n])
  {
    for (int t = 0; t < steps; t += 2) {
      step(n, u, next);
      step(n, next, u);
    }
  }
  timespec_get(&t1, TIME_UTC);
  printf("seconds %.6f\n", (double)(t1.tv_sec - t0.tv_sec) + 1e-9 * (double)(t1.tv_nsec - t0.tv_nsec));

  FILE *file = fopen(argc > 1 ? argv[1] : "heat.pgm", "wb");
  if (!file)
    return 1;
  fprintf(file, "P5 %d %d 255\n", n, n);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      fputc((int)(255.0f * u[i][j]), file);
  return fclose(file);
}
