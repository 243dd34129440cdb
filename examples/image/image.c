/* Three filters of a picture: blur, edges (Sobel), and sharpening by an unsharp mask.

   image IN.ppm BLURRED.ppm EDGES.ppm SHARP.ppm */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define TAPS 9

typedef unsigned char byte;

/* Gaussian weights, first along rows, then along columns; the frame of the picture stays as it was. */
static void blur(int h, int w, const float weight[TAPS], const float in[restrict h][w],
                 float rows[restrict h][w], float out[restrict h][w])
{
#pragma scop
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++)
      out[y][x] = in[y][x];
  for (int y = 0; y < h; y++)
    for (int x = TAPS / 2; x < w - TAPS / 2; x++) {
      float sum = 0;
      for (int k = 0; k < TAPS; k++)
        sum += weight[k] * in[y][x + k - TAPS / 2];
      rows[y][x] = sum;
    }
  for (int y = TAPS / 2; y < h - TAPS / 2; y++)
    for (int x = TAPS / 2; x < w - TAPS / 2; x++) {
      float sum = 0;
      for (int k = 0; k < TAPS; k++)
        sum += weight[k] * rows[y + k - TAPS / 2][x];
      out[y][x] = sum;
    }
#pragma endscop
}

static void sobel(int h, int w, const float in[restrict h][w], float out[restrict h][w])
{
#pragma scop
  for (int y = 1; y < h - 1; y++)
    for (int x = 1; x < w - 1; x++) {
      float across = in[y - 1][x + 1] + 2 * in[y][x + 1] + in[y + 1][x + 1]
                   - in[y - 1][x - 1] - 2 * in[y][x - 1] - in[y + 1][x - 1];
      float down = in[y + 1][x - 1] + 2 * in[y + 1][x] + in[y + 1][x + 1]
                 - in[y - 1][x - 1] - 2 * in[y - 1][x] - in[y - 1][x + 1];
      across = across < 0 ? -across : across;
      down = down < 0 ? -down : down;
      out[y][x] = across + down;
    }
#pragma endscop
}

static void sharpen(int h, int w, float amount, const float in[restrict h][w], const float blurred[restrict h][w],
                    float out[restrict h][w])
{
#pragma scop
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++)
      out[y][x] = in[y][x] + amount * (in[y][x] - blurred[y][x]);
#pragma endscop
}

static double now(void)
{
  struct timespec t;
  timespec_get(&t, TIME_UTC);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static byte *read_ppm(const char *name, int *h, int *w)
{
  FILE *file = fopen(name, "rb");
  if (!file || fscanf(file, "P6 %d %d 255", w, h) != 2)
    return NULL;
  fgetc(file);
  size_t size = 3 * (size_t)*h * (size_t)*w;
  byte *pixels = malloc(size);
  if (pixels && fread(pixels, 1, size, file) != size)
    pixels = NULL;
  fclose(file);
  return pixels;
}

static int write_ppm(const char *name, int h, int w, float *const planes[3])
{
  FILE *file = fopen(name, "wb");
  if (!file)
    return 0;
  fprintf(file, "P6 %d %d 255\n", w, h);
  for (int i = 0; i < h * w; i++)
    for (int c = 0; c < 3; c++) {
      float value = planes[c][i] + 0.5f;
      fputc(value < 0 ? 0 : value > 255 ? 255 : (int)value, file);
    }
  return !fclose(file);
}

int main(int argc, char **argv)
{
  int h, w;
  byte *pixels = argc == 5 ? read_ppm(argv[1], &h, &w) : NULL;
  if (!pixels)
    return 1;
  const float weight[TAPS] = {.028f, .066f, .122f, .179f, .210f, .179f, .122f, .066f, .028f};
  size_t size = (size_t)h * (size_t)w * sizeof(float);
  float *in[3], *blurred[3], *edges[3], *sharp[3], *rows = calloc(1, size);
  for (int c = 0; c < 3; c++) {
    in[c] = malloc(size), blurred[c] = calloc(1, size), edges[c] = calloc(1, size), sharp[c] = calloc(1, size);
    for (int i = 0; i < h * w; i++)
      in[c][i] = pixels[3 * i + c];
  }
  double begin = now();
  for (int c = 0; c < 3; c++) {
    blur(h, w, weight, (const float(*)[w])in[c], (float(*)[w])rows, (float(*)[w])blurred[c]);
    sobel(h, w, (const float(*)[w])blurred[c], (float(*)[w])edges[c]);
    sharpen(h, w, 1.5f, (const float(*)[w])in[c], (const float(*)[w])blurred[c], (float(*)[w])sharp[c]);
  }
  printf("seconds %.6f\n", now() - begin);
  return !(write_ppm(argv[2], h, w, blurred) && write_ppm(argv[3], h, w, edges) && write_ppm(argv[4], h, w, sharp));
}
