/* A network with one hidden layer learns to tell two spirals apart.

   Each step of training: forward, the gradients backward, and a step down the gradients, on all points. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define POINTS 512
#define HIDDEN 128
#define SIDE 240

static float point[POINTS][2], wanted[POINTS];
static float in_weight[HIDDEN][2], in_bias[HIDDEN], mid_weight[HIDDEN][HIDDEN], mid_bias[HIDDEN], out_weight[HIDDEN];
static float first[POINTS][HIDDEN], second[POINTS][HIDDEN], error[POINTS];
static float slope2[POINTS][HIDDEN], slope1[POINTS][HIDDEN];

static void forward(int n, const float in[restrict n][2], float out[restrict n])
{
#pragma scop
  for (int p = 0; p < n; p++)
    for (int h = 0; h < HIDDEN; h++) {
      float sum = in_bias[h] + in_weight[h][0] * in[p][0] + in_weight[h][1] * in[p][1];
      first[p][h] = sum > 0 ? sum : 0.1f * sum;
    }
  for (int p = 0; p < n; p++)
    for (int h = 0; h < HIDDEN; h++) {
      float sum = mid_bias[h];
      for (int k = 0; k < HIDDEN; k++)
        sum += first[p][k] * mid_weight[k][h];
      second[p][h] = sum > 0 ? sum : 0.1f * sum;
    }
  for (int p = 0; p < n; p++) {
    float sum = 0;
    for (int h = 0; h < HIDDEN; h++)
      sum += second[p][h] * out_weight[h];
    out[p] = sum;
  }
#pragma endscop
}

static void backward(float rate)
{
#pragma scop
  for (int p = 0; p < POINTS; p++)
    for (int h = 0; h < HIDDEN; h++)
      slope2[p][h] = error[p] * out_weight[h] * (second[p][h] > 0 ? 1 : 0.1f);
  for (int p = 0; p < POINTS; p++)
    for (int k = 0; k < HIDDEN; k++) {
      float sum = 0;
      for (int h = 0; h < HIDDEN; h++)
        sum += slope2[p][h] * mid_weight[k][h];
      slope1[p][k] = sum * (first[p][k] > 0 ? 1 : 0.1f);
    }
  for (int k = 0; k < HIDDEN; k++)
    for (int h = 0; h < HIDDEN; h++) {
      float sum = 0;
      for (int p = 0; p < POINTS; p++)
        sum += first[p][k] * slope2[p][h];
      mid_weight[k][h] -= rate * sum;
    }
  for (int h = 0; h < HIDDEN; h++) {
    float middle = 0, outer = 0, inner = 0, across = 0, down = 0;
    for (int p = 0; p < POINTS; p++) {
      middle += slope2[p][h];
      outer += error[p] * second[p][h];
      inner += slope1[p][h];
      across += slope1[p][h] * point[p][0];
      down += slope1[p][h] * point[p][1];
    }
    mid_bias[h] -= rate * middle;
    out_weight[h] -= rate * outer;
    in_bias[h] -= rate * inner;
    in_weight[h][0] -= rate * across;
    in_weight[h][1] -= rate * down;
  }
#pragma endscop
}

static float uniform(void)
{
  static unsigned state = 1;
  state = state * 1664525u + 1013904223u;
  return (float)(state >> 8) / (1 << 23) - 1;
}

static void begin_with(void)
{
  for (int p = 0; p < POINTS; p++) {
    float turn = 2.6f * sqrtf((float)(p / 2) / (POINTS / 2)) + 0.5f;
    float angle = 2.2f * turn + (float)(p % 2) * 3.14159265f;
    point[p][0] = 0.3f * turn * cosf(angle) + 0.015f * uniform();
    point[p][1] = 0.3f * turn * sinf(angle) + 0.015f * uniform();
    wanted[p] = p % 2 ? 1 : -1;
  }
  for (int h = 0; h < HIDDEN; h++) {
    in_weight[h][0] = 2 * uniform();
    in_weight[h][1] = 2 * uniform();
    in_bias[h] = 2 * uniform();
    out_weight[h] = 0.06f * uniform();
    for (int k = 0; k < HIDDEN; k++)
      mid_weight[h][k] = 0.12f * uniform();
  }
}

/* What the network says of each point of the square from -1.1 to 1.1, as a picture. */
static int draw(const char *name)
{
  static float row[SIDE][2], said[SIDE];
  FILE *file = fopen(name, "wb");
  if (!file)
    return 0;
  fprintf(file, "P6 %d %d 255\n", SIDE, SIDE);
  for (int y = 0; y < SIDE; y++) {
    for (int x = 0; x < SIDE; x++) {
      row[x][0] = 2.2f * (float)x / SIDE - 1.1f;
      row[x][1] = 2.2f * (float)y / SIDE - 1.1f;
    }
    forward(SIDE, (const float(*)[2])row, said);
    for (int x = 0; x < SIDE; x++) {
      float v = said[x] < -1 ? -1 : said[x] > 1 ? 1 : said[x];
      int colour[3] = {(int)(150 + 90 * v), 150, (int)(150 - 90 * v)};
      for (int p = 0; p < POINTS; p++)
        if (fabsf(point[p][0] - row[x][0]) < 0.007f && fabsf(point[p][1] - row[x][1]) < 0.007f)
          colour[0] = colour[1] = colour[2] = wanted[p] > 0 ? 255 : 0;
      for (int c = 0; c < 3; c++)
        fputc(colour[c], file);
    }
  }
  return !fclose(file);
}

int main(int argc, char **argv)
{
  int steps = argc > 2 ? atoi(argv[2]) : 500;
  struct timespec t0, t1;
  begin_with();
  timespec_get(&t0, TIME_UTC);
  for (int s = 0; s <= steps; s++) {
    forward(POINTS, (const float(*)[2])point, error);
    float loss = 0;
    for (int p = 0; p < POINTS; p++) {
      error[p] -= wanted[p];
      loss += error[p] * error[p] / POINTS;
    }
    if (s % 100 == 0)
      printf("loss %.9g\n", (double)loss);
    backward(0.05f / POINTS);
  }
  timespec_get(&t1, TIME_UTC);
  printf("seconds %.6f\n", (double)(t1.tv_sec - t0.tv_sec) + 1e-9 * (double)(t1.tv_nsec - t0.tv_nsec));
  return !draw(argc > 1 ? argv[1] : "network.ppm");
}
