/* Two stages over a picture, and the memory that they took. usage: program N; prints a sum and KiB */
#include <stdio.h>
#include <stdlib.h>

static void sharpen(int n, const float (*restrict in)[n], float (*restrict out)[n])
{
  float (*t)[n] = malloc(n * sizeof *t);
#pragma polybuild temporary(t)
#pragma scop
  for (int y = 0; y < n; y++)
    for (int x = 0; x < n - 2; x++)
      t[y][x] = in[y][x] + in[y][x + 1] + in[y][x + 2];
  for (int y = 2; y < n; y++)
    for (int x = 0; x < n - 2; x++)
      out[y][x] = t[y][x] + t[y - 1][x] + t[y - 2][x];
#pragma endscop
  free(t);
}

/* The peak of this program alone: that of getrusage begins with what its parent had. */
static long peak(void)
{
  long taken = 0;
  char line[256];
  FILE *status = fopen("/proc/self/status", "r");
  while (status && fgets(line, sizeof line, status))
    sscanf(line, "VmHWM: %ld", &taken);
  if (status) fclose(status);
  return taken;
}

int main(int argc, char **argv)
{
  int n = argc > 1 ? atoi(argv[1]) : 2048;
  float (*in)[n] = malloc(n * sizeof *in), (*out)[n] = malloc(n * sizeof *out);
  for (int y = 0; y < n; y++)
    for (int x = 0; x < n; x++)
      in[y][x] = (x * 7 + y * 3) % 11, out[y][x] = 0;
  sharpen(n, in, out);
  double sum = 0;
  for (int y = 0; y < n; y++)
    for (int x = 0; x < n; x++)
      sum += out[y][x] * ((x + y) % 5);
  printf("%.17g %ld\n", sum, peak());
  return 0;
}
