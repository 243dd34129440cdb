/* Filters: sums over windows of a few elements of pictures and signals, as image and signal code has them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void square_sum(int n, float out[restrict n][n], float in[restrict n][n], float w[restrict 5][5])
{
#pragma scop
  for (int i = 0; i < n - 4; i++)
    for (int j = 0; j < n - 4; j++) {
      float s = 0;
      for (int k = 0; k < 5; k++)
        for (int l = 0; l < 5; l++)
          s += in[i + k][j + l] * w[k][l];
      out[i][j] = s;
    }
#pragma endscop
}
static void square_array(int n, float out[restrict n][n], float in[restrict n][n], float w[restrict 5][5])
{
#pragma scop
  for (int i = 0; i < n - 4; i++)
    for (int j = 0; j < n - 4; j++) {
      out[i][j] = 0;
      for (int k = 0; k < 5; k++)
        for (int l = 0; l < 5; l++)
          out[i][j] += in[i + k][j + l] * w[k][l];
    }
#pragma endscop
}
static void small_square(int n, float out[restrict n][n], float in[restrict n][n], float w[restrict 5][5])
{
#pragma scop
  for (int i = 0; i < n - 2; i++)
    for (int j = 0; j < n - 2; j++) {
      out[i][j] = 0;
      for (int k = 0; k < 3; k++)
        for (int l = 0; l < 3; l++)
          out[i][j] += in[i + k][j + l] * w[k][l];
    }
#pragma endscop
}
static void square_of_bytes(int n, int out[restrict n][n], unsigned char in[restrict n][n], short w[restrict 5][5])
{
#pragma scop
  for (int i = 0; i < n - 4; i++)
    for (int j = 0; j < n - 4; j++) {
      int s = 0;
      for (int k = 0; k < 5; k++)
        for (int l = 0; l < 5; l++)
          s += in[i + k][j + l] * w[k][l];
      out[i][j] = s >> 4;
    }
#pragma endscop
}
static void rows(int n, float out[restrict n][n], float in[restrict n][n], float w[restrict 5][5])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n - 4; j++) {
      out[i][j] = 0;
      for (int l = 0; l < 5; l++)
        out[i][j] += in[i][j + l] * w[0][l];
    }
#pragma endscop
}
static void columns(int n, float out[restrict n][n], float in[restrict n][n], float w[restrict 5][5])
{
#pragma scop
  for (int i = 0; i < n - 4; i++)
    for (int j = 0; j < n; j++) {
      float s = 0;
      for (int l = 0; l < 5; l++)
        s += in[i + l][j] * w[0][l];
      out[i][j] = s;
    }
#pragma endscop
}
static void signal(int n, float out[restrict n], float in[restrict n + 16], float w[restrict 16])
{
#pragma scop
  for (int i = 0; i < n; i++) {
    float s = 0;
    for (int l = 0; l < 16; l++)
      s += in[i + l] * w[l];
    out[i] = s;
  }
#pragma endscop
}
/* A layer of a neural network: 16 filters over 8 channels. */
static void layer(int n, float out[restrict 16][n][n], float in[restrict 8][n + 2][n + 2], float w[restrict 16][8][3][3])
{
#pragma scop
  for (int f = 0; f < 16; f++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        out[f][i][j] = 0;
        for (int c = 0; c < 8; c++)
          for (int k = 0; k < 3; k++)
            for (int l = 0; l < 3; l++)
              out[f][i][j] += in[c][i + k][j + l] * w[f][c][k][l];
      }
#pragma endscop
}
static double now(void)
{
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + 1e-9 * time.tv_nsec;
}

/* usage: program KERNEL N ELEMENTS SECONDS: prints the seconds of the fastest run, and a number made of the result. */
int main(int argc, char **argv)
{
  if (argc != 5)
    return 2;
  int n = atoi(argv[2]);
  size_t elements = strtoull(argv[3], 0, 10);
  double least = atof(argv[4]), best = 1e9, started = now();
  float *out = calloc(elements, sizeof *out), *in = malloc(elements * sizeof *in), weights[16 * 8 * 9];
  for (size_t k = 0; k < elements; k++)
    in[k] = k % 251 * 0.25f - 30;
  for (size_t k = 0; k < sizeof weights / sizeof *weights; k++)
    weights[k] = k % 7 * 0.5f - 1;
  void *a = out, *b = in, *w = weights;
  do {
    double begun = now();
#define RUN(kernel) if (!strcmp(argv[1], #kernel)) kernel(n, a, b, w)
    RUN(square_sum);
    RUN(square_array);
    RUN(small_square);
    RUN(square_of_bytes);
    RUN(rows);
    RUN(columns);
    RUN(signal);
    RUN(layer);
    double taken = now() - begun;
    if (taken < best)
      best = taken;
  } while (now() - started < least);
  unsigned long long sum = 14695981039346656037ull;
  for (size_t k = 0; k < elements; k++) {
    unsigned bits;
    memcpy(&bits, &out[k], sizeof bits);
    sum = (sum ^ bits) * 1099511628211ull;
  }
  printf("%.9g %016llx\n", best, sum);
  return 0;
}
