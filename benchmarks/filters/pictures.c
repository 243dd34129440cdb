/* Filters of pictures, and a layer of a neural network, as programs have them; halide_peer.py has the same for Halide. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef unsigned char byte;

static void separable(int h, int w, float out[restrict h][w], float in[restrict h + 8][w + 8],
                      const float taps[restrict 9])
{
  float (*rows)[w] = malloc((h + 8) * sizeof *rows);
#pragma scop temporary(rows)
  for (int y = 0; y < h + 8; y++)
    for (int x = 0; x < w; x++) {
      float s = 0;
      for (int k = 0; k < 9; k++)
        s += in[y][x + k] * taps[k];
      rows[y][x] = s;
    }
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) {
      float s = 0;
      for (int k = 0; k < 9; k++)
        s += rows[y + k][x] * taps[k];
      out[y][x] = s;
    }
#pragma endscop
  free(rows);
}

static void sobel(int h, int w, byte out[restrict h][w], byte in[restrict h + 2][w + 2])
{
#pragma scop
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) {
      int gx = in[y][x + 2] - in[y][x] + 2 * (in[y + 1][x + 2] - in[y + 1][x])
               + in[y + 2][x + 2] - in[y + 2][x];
      int gy = in[y + 2][x] - in[y][x] + 2 * (in[y + 2][x + 1] - in[y][x + 1])
               + in[y + 2][x + 2] - in[y][x + 2];
      int v = abs(gx) + abs(gy);
      if (v > 255)
        v = 255;
      out[y][x] = v;
    }
#pragma endscop
}

static void unsharp(int h, int w, byte out[restrict h][w], byte in[restrict h + 2][w + 2])
{
#pragma scop
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) {
      int blurred = (in[y][x] + 2 * in[y][x + 1] + in[y][x + 2] + 2 * in[y + 1][x] + 4 * in[y + 1][x + 1]
                     + 2 * in[y + 1][x + 2] + in[y + 2][x] + 2 * in[y + 2][x + 1] + in[y + 2][x + 2] + 8) >> 4;
      int v = 2 * in[y + 1][x + 1] - blurred;
      out[y][x] = v < 0 ? 0 : v > 255 ? 255 : v;
    }
#pragma endscop
}

static void harris(int h, int w, float out[restrict h][w], float in[restrict h + 4][w + 4])
{
  float (*gx)[w + 2] = malloc((h + 2) * sizeof *gx);
  float (*gy)[w + 2] = malloc((h + 2) * sizeof *gy);
#pragma scop temporary(gx, gy)
  for (int y = 0; y < h + 2; y++)
    for (int x = 0; x < w + 2; x++) {
      gx[y][x] = (in[y][x + 2] - in[y][x] + 2 * (in[y + 1][x + 2] - in[y + 1][x])
                  + in[y + 2][x + 2] - in[y + 2][x]) / 12;
      gy[y][x] = (in[y + 2][x] - in[y][x] + 2 * (in[y + 2][x + 1] - in[y][x + 1])
                  + in[y + 2][x + 2] - in[y][x + 2]) / 12;
    }
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) {
      float xx = 0, xy = 0, yy = 0;
      for (int k = 0; k < 3; k++)
        for (int l = 0; l < 3; l++) {
          xx += gx[y + k][x + l] * gx[y + k][x + l];
          xy += gx[y + k][x + l] * gy[y + k][x + l];
          yy += gy[y + k][x + l] * gy[y + k][x + l];
        }
      out[y][x] = xx * yy - xy * xy - 0.04f * (xx + yy) * (xx + yy);
    }
#pragma endscop
  free(gx);
  free(gy);
}

static void layer(int h, int w, float out[restrict 32][h][w], float in[restrict 32][h + 2][w + 2],
                  float weights[restrict 32][32][3][3])
{
#pragma scop
  for (int f = 0; f < 32; f++)
    for (int y = 0; y < h; y++)
      for (int x = 0; x < w; x++) {
        float s = 0;
        for (int c = 0; c < 32; c++)
          for (int k = 0; k < 3; k++)
            for (int l = 0; l < 3; l++)
              s += in[c][y + k][x + l] * weights[f][c][k][l];
        out[f][y][x] = s;
      }
#pragma endscop
}

/* Three levels, each half as high and half as wide as the one before. */
static void pyramid(int h, int w, byte out[restrict h][w], byte in[restrict 8 * h][8 * w])
{
  byte (*half)[4 * w] = malloc(4 * h * sizeof *half);
  byte (*quarter)[2 * w] = malloc(2 * h * sizeof *quarter);
#define MEAN(p) ((p[2 * y][2 * x] + p[2 * y][2 * x + 1] + p[2 * y + 1][2 * x] + p[2 * y + 1][2 * x + 1] + 2) / 4)
#pragma scop temporary(half, quarter)
  for (int y = 0; y < 4 * h; y++)
    for (int x = 0; x < 4 * w; x++)
      half[y][x] = MEAN(in);
  for (int y = 0; y < 2 * h; y++)
    for (int x = 0; x < 2 * w; x++)
      quarter[y][x] = MEAN(half);
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++)
      out[y][x] = MEAN(quarter);
#pragma endscop
  free(half);
  free(quarter);
}

static double now(void)
{
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + 1e-9 * time.tv_nsec;
}

static void *read_all(const char *name, size_t bytes)
{
  FILE *file = fopen(name, "rb");
  void *data = malloc(bytes);
  if (!file || !data || fread(data, 1, bytes, file) != bytes)
    exit(2);
  fclose(file);
  return data;
}

/* usage: program KERNEL H W IN IN_BYTES WEIGHTS OUT OUT_BYTES SECONDS: runs for a while on what the files hold, prints
   the seconds of the fastest run and writes the result. */
int main(int argc, char **argv)
{
  if (argc != 10)
    return 2;
  int h = atoi(argv[2]), w = atoi(argv[3]);
  size_t bytes = strtoull(argv[8], 0, 10);
  void *in = read_all(argv[4], strtoull(argv[5], 0, 10)), *weights = read_all(argv[6], 32 * 32 * 9 * sizeof(float));
  void *out = calloc(bytes, 1);
  double least = atof(argv[9]), best = 1e9, started = now();
  do {
    double begun = now();
#define RUN(kernel, ...) if (!strcmp(argv[1], #kernel)) kernel(h, w, out, in, ##__VA_ARGS__)
    RUN(separable, weights);
    RUN(sobel);
    RUN(unsharp);
    RUN(harris);
    RUN(layer, weights);
    RUN(pyramid);
    double taken = now() - begun;
    if (taken < best)
      best = taken;
  } while (now() - started < least);
  FILE *file = fopen(argv[7], "wb");
  if (!file || fwrite(out, 1, bytes, file) != bytes)
    return 2;
  fclose(file);
  printf("%.9g\n", best);
  return 0;
}
