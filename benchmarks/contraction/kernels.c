/* Loops with temporary arrays: a producer, and a consumer that runs some iterations after it.

   The kernels are those of Sadler, Alias and Thievenaz, "A polyhedral approach for scalar promotion"
   (2021), section V, written anew. Where a result is built up in an array that the caller sees, it is built
   in a temporary array and copied. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MATRIX(name) double name[restrict n][n]

/* Rows of a picture are its first dimension; the loops run down the columns. */
static void blur(int n, MATRIX(in), MATRIX(out), MATRIX(t))
{
#pragma polybuild temporary(t)
#pragma scop schedule(original)
  for (int y = 0; y < 2; y++)
    for (int x = 0; x < n - 2; x++)
      t[x][y] = in[x][y] + in[x + 1][y] + in[x + 2][y];
  for (int y = 2; y < n; y++)
    for (int x = 0; x < n - 2; x++) {
      t[x][y] = in[x][y] + in[x + 1][y] + in[x + 2][y];
      out[x][y] = t[x][y - 2] + t[x][y - 1] + t[x][y];
    }
#pragma endscop
}

/* The same with the loops exchanged. */
static void blur_permuted(int n, MATRIX(in), MATRIX(out), MATRIX(t))
{
#pragma polybuild temporary(t)
#pragma scop schedule(original)
  for (int x = 0; x < n - 2; x++) {
    for (int y = 0; y < 2; y++)
      t[x][y] = in[x][y] + in[x + 1][y] + in[x + 2][y];
    for (int y = 2; y < n; y++) {
      t[x][y] = in[x][y] + in[x + 1][y] + in[x + 2][y];
      out[x][y] = t[x][y - 2] + t[x][y - 1] + t[x][y];
    }
  }
#pragma endscop
}

/* As pictures are usually written: whole stages, one after the other. */
static void blur_stages(int n, MATRIX(in), MATRIX(out), MATRIX(t))
{
#pragma polybuild temporary(t)
#pragma scop
  for (int y = 0; y < n; y++)
    for (int x = 0; x < n - 2; x++)
      t[y][x] = in[y][x] + in[y][x + 1] + in[y][x + 2];
  for (int y = 2; y < n; y++)
    for (int x = 0; x < n - 2; x++)
      out[y][x] = t[y - 2][x] + t[y - 1][x] + t[y][x];
#pragma endscop
}

/* With a minus, so that the numbers do not grow: they would be infinite soon. */
static void fibonacci(int n, double *restrict in, double *restrict out, double *restrict t)
{
#pragma polybuild temporary(t)
#pragma scop
  t[0] = in[0];
  t[1] = in[1];
  for (int i = 2; i < n; i++)
    t[i] = t[i - 1] - t[i - 2];
  if (n > 1)
    out[0] = t[n - 1];
#pragma endscop
}

static void pc_1d(int n, double *restrict in, double *restrict out, double *restrict t)
{
#pragma polybuild temporary(t)
#pragma scop
  for (int i = 0; i < n; i++)
    t[i] = 2.0 * in[i] + 1.0;
  for (int i = 2; i < n; i++)
    out[i] = t[i] - t[i - 2];
#pragma endscop
}

static void pc_2d_interleaved(int n, MATRIX(in), MATRIX(out), MATRIX(t))
{
#pragma polybuild temporary(t)
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      t[i][j] = 2.0 * in[i][j] + 1.0;
      if (j >= 2)
        out[i][j] = t[i][j - 2] * 0.5;
    }
#pragma endscop
}

static void pc_2d(int n, MATRIX(in), MATRIX(out), MATRIX(t))
{
#pragma polybuild temporary(t)
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      t[i][j] = 2.0 * in[i][j] + 1.0;
  for (int i = 1; i < n; i++)
    for (int j = 1; j < n; j++)
      out[i][j] = t[i - 1][j] + t[i][j - 1];
#pragma endscop
}

static void cnn(int n, MATRIX(in), MATRIX(out), MATRIX(t))
{
  static const double weights[3][3] = {{0.25, 0.5, 0.25}, {-0.5, 1.0, -0.5}, {0.25, -0.5, -1.25}};
#pragma polybuild temporary(t)
#pragma scop
  for (int i = 0; i < n - 2; i++)
    for (int j = 0; j < n - 2; j++) {
      t[i][j] = 0.125;
      for (int k = 0; k < 3; k++)
        for (int l = 0; l < 3; l++)
          t[i][j] += in[i + k][j + l] * weights[k][l];
    }
  for (int i = 0; i < n - 2; i++)
    for (int j = 0; j < n - 2; j++)
      out[i][j] = t[i][j] > 0 ? t[i][j] : 0;
#pragma endscop
}

static void two_products(int n, MATRIX(in), MATRIX(out), MATRIX(t))
{
#pragma polybuild temporary(t)
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      t[i][j] = 0;
      for (int k = 0; k < n; k++)
        t[i][j] += in[i][k] * in[k][j];
    }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        out[i][k] += t[i][j] * in[j][k];
#pragma endscop
}

static void gemm(int n, MATRIX(in), MATRIX(out), MATRIX(t))
{
#pragma polybuild temporary(t)
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      t[i][j] = 0.5 * out[i][j];
      for (int k = 0; k < n; k++)
        t[i][j] += 1.5 * in[i][k] * in[k][j];
      out[i][j] = t[i][j];
    }
#pragma endscop
}

static void poly(int n, double *restrict in, double *restrict out, double *restrict t)
{
#pragma polybuild temporary(t)
#pragma scop
  for (int k = 0; k < 2 * n - 1; k++)
    t[k] = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      t[i + j] += in[i] * in[n + j];
  for (int k = 0; k < 2 * n - 1; k++)
    out[k] = t[k];
#pragma endscop
}

static double *in, *out, *t;

static void run(const char *name, int n)
{
  void *a = in, *b = out, *c = t;
#define MATRICES(kernel) if (!strcmp(name, #kernel)) kernel(n, a, b, c)
  MATRICES(blur);
  MATRICES(blur_permuted);
  MATRICES(blur_stages);
  MATRICES(fibonacci);
  MATRICES(pc_1d);
  MATRICES(pc_2d_interleaved);
  MATRICES(pc_2d);
  MATRICES(cnn);
  MATRICES(two_products);
  MATRICES(gemm);
  MATRICES(poly);
}

static double now(void)
{
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + 1e-9 * time.tv_nsec;
}

/* usage: program KERNEL N ELEMENTS SECONDS: prints seconds a run, and a number made of all that was computed. */
int main(int argc, char **argv)
{
  if (argc != 5)
    return 2;
  int n = atoi(argv[2]);
  size_t elements = strtoull(argv[3], 0, 10);
  double least = atof(argv[4]);
  in = malloc(elements * sizeof *in), out = malloc(elements * sizeof *out), t = malloc(elements * sizeof *t);
  unsigned state = 1;
  for (size_t k = 0; k < elements; k++) {
    state = state * 1103515245u + 12345u;
    in[k] = (state >> 16) % 1000 / 8.0 - 60, out[k] = (state >> 12) % 7, t[k] = 0;
  }
  run(argv[1], n);
  unsigned long long sum = 14695981039346656037ull;
  for (size_t k = 0; k < elements; k++) {
    unsigned long long bits;
    memcpy(&bits, &out[k], sizeof bits);
    sum = (sum ^ bits) * 1099511628211ull;
  }
  double seconds = 0, started = now();
  long runs = 0;
  while (least > 0 && (seconds = now() - started) < least)
    run(argv[1], n), runs++;
  printf("%.9g %016llx\n", runs ? seconds / runs : 0, sum);
  return 0;
}
