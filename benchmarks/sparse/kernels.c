/* Sparse products and a histogram. Run as: kernels <name> <rows> <repeats>; prints seconds and a checksum. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WIDTH = 10, BINS = 16 };

static void csr(int n, const int *restrict row, const int *restrict col, const double *restrict val,
                const double *restrict x, double *restrict y)
{
  int i, j;
#pragma scop
  for (i = 0; i < n; i++) {
    double sum = 0;
    for (j = row[i]; j < row[i + 1]; j++)
      sum += val[j] * x[col[j]];
    y[i] = sum;
  }
#pragma endscop
}

static void ell(int n, const int *restrict row, const int *restrict col, const double *restrict val,
                const double *restrict x, double *restrict y)
{
  /* WIDTH entries a row, as many of them used as row[] says, at most */
#pragma scop
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int k = 0; k < WIDTH; k++) {
      if (k >= row[i + 1] - row[i])
        break;
      sum += val[i * WIDTH + k] * x[col[i * WIDTH + k]];
    }
    y[i] = sum;
  }
#pragma endscop
}

static void histograms(int n, const int *restrict row, const int *restrict col, const double *restrict val,
                       const double *restrict x, double *restrict y)
{
  /* one histogram of BINS bins for each block of rows, weighted by the values */
#pragma scop
  for (int i = 0; i < n / BINS; i++) {
    for (int k = 0; k < BINS; k++)
      y[i * BINS + k] = 0;
    for (int j = row[i * BINS]; j < row[i * BINS + BINS]; j++)
      y[i * BINS + (col[j] & (BINS - 1))] += val[j] * x[i];
  }
#pragma endscop
}

static void symmetric(int n, const int *restrict row, const int *restrict col, const double *restrict val,
                      const double *restrict x, double *restrict y)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    double sum = val[row[i]] * x[i];
    for (int j = row[i] + 1; j < row[i + 1]; j++) {
      sum += val[j] * x[col[j]];
      y[col[j]] += val[j] * x[i];
    }
    y[i] += sum;
  }
#pragma endscop
}

typedef void kernel(int, const int *, const int *, const double *, const double *, double *);

static double now(void)
{
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + 1e-9 * time.tv_nsec;
}

static unsigned next(unsigned *state)
{
  *state = *state * 1664525u + 1013904223u;
  return *state >> 8;
}

int main(int argc, char **argv)
{
  const struct { const char *name; kernel *run; } kernels[] = {
    {"csr", csr}, {"ell", ell}, {"histograms", histograms}, {"symmetric", symmetric}};
  int n = argc > 2 ? atoi(argv[2]) : 1000000, repeats = argc > 3 ? atoi(argv[3]) : 9;
  unsigned state = 1;
  int *row = malloc((n + 1) * sizeof *row);
  row[0] = 0;
  for (int i = 0; i < n; i++) row[i + 1] = row[i] + 1 + next(&state) % (2 * WIDTH - 1);
  long entries = row[n] > (long)n * WIDTH ? row[n] : (long)n * WIDTH;
  int *col = malloc(entries * sizeof *col);
  double *val = malloc(entries * sizeof *val), *x = malloc(n * sizeof *x), *y = malloc(n * sizeof *y);
  for (long j = 0; j < entries; j++) {
    col[j] = next(&state) % n;
    val[j] = next(&state) % 7;
  }
  for (int i = 0; i < n; i++) x[i] = i % 13;
  for (unsigned k = 0; k < sizeof kernels / sizeof *kernels; k++) {
    if (argc < 2 || strcmp(argv[1], kernels[k].name) != 0) continue;
    double best = 1e30, sum = 0;
    for (int r = 0; r < repeats; r++) {
      memset(y, 0, n * sizeof *y);
      double start = now();
      kernels[k].run(n, row, col, val, x, y);
      double seconds = now() - start;
      if (seconds < best) best = seconds;
    }
    for (int i = 0; i < n; i++) sum += y[i] * (i % 17);
    printf("%.6f %.17g\n", best, sum);
  }
  return 0;
}
