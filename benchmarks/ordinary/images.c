/* Pictures: bytes, shorts and floats; neighbourhoods, colours, warps. */
#include "loops.h"

typedef unsigned char u8;
#define CLAMP(x) ((x) < 0 ? 0 : (x) > 255 ? 255 : (x))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

void box_blur(const u8 *src, u8 *dst, int w, int h)
{
  int x, y, dx, dy;
#pragma scop
  for (y = 1; y < h - 1; y++)
    for (x = 1; x < w - 1; x++) {
      int sum = 0;
      for (dy = -1; dy <= 1; dy++)
        for (dx = -1; dx <= 1; dx++)
          sum += src[(y + dy) * w + x + dx];
      dst[y * w + x] = sum / 9;
    }
#pragma endscop
}
LOOP(box_blur, 64, 5000) { box_blur(bytes(n * n), bytes(n * n), n, n); }

void sobel(const u8 *img, u8 *out, int width, int height)
{
#pragma scop
  for (int y = 1; y < height - 1; y++) {
    const u8 *above = img + (y - 1) * width;
    const u8 *row = img + y * width;
    const u8 *below = img + (y + 1) * width;
    for (int x = 1; x < width - 1; x++) {
      int gx = above[x + 1] + 2 * row[x + 1] + below[x + 1] - above[x - 1] - 2 * row[x - 1] - below[x - 1];
      int gy = below[x - 1] + 2 * below[x] + below[x + 1] - above[x - 1] - 2 * above[x] - above[x + 1];
      int g = abs(gx) + abs(gy);
      out[y * width + x] = g > 255 ? 255 : g;
    }
  }
#pragma endscop
}
LOOP(sobel, 64, 4000) { sobel(bytes(n * n), bytes(n * n), n, n); }

/* Nine taps along the rows, then along the columns. */
void gauss(int w, int h, const float *restrict in, float *restrict tmp, float *restrict out, const float *restrict k)
{
#pragma scop
  for (int y = 0; y < h; y++)
    for (int x = 4; x < w - 4; x++) {
      float s = 0.0f;
      for (int t = -4; t <= 4; t++)
        s += k[t + 4] * in[y * w + x + t];
      tmp[y * w + x] = s;
    }
  for (int y = 4; y < h - 4; y++)
    for (int x = 4; x < w - 4; x++) {
      float s = 0.0f;
      for (int t = -4; t <= 4; t++)
        s += k[t + 4] * tmp[(y + t) * w + x];
      out[y * w + x] = s;
    }
#pragma endscop
}
LOOP(gauss, 60, 2000) { gauss(n, n, floats(n * n), floats(n * n), floats(n * n), floats(9)); }

struct plane {
  int width, height;
  u8 *data;
};
void erode(const struct plane *in, struct plane *out)
{
#pragma scop
  for (int y = 1; y < in->height - 1; y++)
    for (int x = 1; x < in->width - 1; x++) {
      u8 least = 255;
      for (int j = -1; j <= 1; j++)
        for (int i = -1; i <= 1; i++) {
          u8 v = in->data[(y + j) * in->width + x + i];
          if (v < least)
            least = v;
        }
      out->data[y * in->width + x] = least;
    }
#pragma endscop
}
LOOP(erode, 64, 6000)
{
  struct plane in = {n, n, bytes(n * n)}, out = {n, n, bytes(n * n)};
  erode(&in, &out);
}

void dilate_columns(const u8 *restrict a, u8 *restrict b, long w, long h)
{
  long i, j;
#pragma scop
  for (i = 2; i < h - 2; i++)
    for (j = 0; j < w; j++) {
      u8 m = MAX(a[(i - 1) * w + j], a[(i + 1) * w + j]);
      m = MAX(m, MAX(a[(i - 2) * w + j], a[(i + 2) * w + j]));
      b[i * w + j] = MAX(m, a[i * w + j]);
    }
#pragma endscop
}
LOOP(dilate_columns, 90, 6000) { dilate_columns(bytes(n * n), bytes(n * n), n, n); }

void integral(const u8 *img, unsigned *sum, int w, int h)
{
#pragma scop
  for (int y = 0; y < h; y++) {
    unsigned row = 0;
    for (int x = 0; x < w; x++) {
      row += img[y * w + x];
      sum[(y + 1) * (w + 1) + x + 1] = sum[y * (w + 1) + x + 1] + row;
    }
  }
#pragma endscop
}
LOOP(integral, 64, 3000) { integral(bytes(n * n), (unsigned *)ints((n + 1) * (n + 1)), n, n); }

void grey(const u8 *rgb, u8 *out, size_t pixels)
{
#pragma scop
  for (size_t i = 0; i < pixels; i++) {
    int r = rgb[3 * i], g = rgb[3 * i + 1], b = rgb[3 * i + 2];
    out[i] = (77 * r + 150 * g + 29 * b + 128) >> 8;
  }
#pragma endscop
}
LOOP(grey, 10000, 12000000) { grey(bytes(3 * (size_t)n), bytes(n), n); }

void yuv_to_rgb(const u8 *yp, const u8 *up, const u8 *vp, u8 *rp, u8 *gp, u8 *bp, int count)
{
#pragma scop
  for (int i = 0; i < count; i++) {
    int c = 298 * (yp[i] - 16), d = up[i] - 128, e = vp[i] - 128;
    rp[i] = CLAMP((c + 409 * e + 128) >> 8);
    gp[i] = CLAMP((c - 100 * d - 208 * e + 128) >> 8);
    bp[i] = CLAMP((c + 516 * d + 128) >> 8);
  }
#pragma endscop
}
LOOP(yuv_to_rgb, 4000, 8000000) { yuv_to_rgb(bytes(n), bytes(n), bytes(n), bytes(n), bytes(n), bytes(n), n); }

void blend(u8 *restrict dst, const u8 *restrict src, const u8 *restrict alpha, int w, int h, int stride)
{
#pragma scop
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) {
      int a = alpha[y * stride + x];
      dst[y * stride + x] = (src[y * stride + x] * a + dst[y * stride + x] * (255 - a) + 127) / 255;
    }
#pragma endscop
}
LOOP(blend, 100, 4000) { blend(bytes(n * n), bytes(n * n), bytes(n * n), n, n, n); }

void rotate(int n, const short *a, short *b)
{
  int i, j;
#pragma scop
  for (i = 0; i < n; i++)
    for (j = 0; j < n; j++)
      b[j * n + n - 1 - i] = a[i * n + j];
#pragma endscop
}
LOOP(rotate, 64, 2500) { rotate(n, shorts(n * n), shorts(n * n)); }

static float lerp(float a, float b, float t) { return a + t * (b - a); }
void resize(const float *src, float *dst, const int *left, const float *part, int w, int h)
{
#pragma scop
  for (int y = 0; y < h; y++) {
    const float *r0 = src + left[y] * w, *r1 = r0 + w;
    for (int x = 0; x < w; x++) {
      float top = lerp(r0[left[x]], r0[left[x] + 1], part[x]);
      float bottom = lerp(r1[left[x]], r1[left[x] + 1], part[x]);
      dst[y * w + x] = lerp(top, bottom, part[y]);
    }
  }
#pragma endscop
}
LOOP(resize, 60, 2000) { resize(floats(n * n), floats(n * n), numbers(n, n - 1), floats(n), n, n); }

void sharpen(short *out, const short *in, int stride, int w, int h)
{
#pragma scop
  for (int y = 1; y < h - 1; y++)
    for (int x = 1; x < w - 1; x++) {
      const short *p = in + y * stride + x;
      int v = 5 * p[0] - p[-1] - p[1] - p[-stride] - p[stride];
      out[y * stride + x] = v < -2048 ? -2048 : v > 2047 ? 2047 : v;
    }
#pragma endscop
}
LOOP(sharpen, 64, 4000) { sharpen(shorts(n * n), shorts(n * n), n, n, n); }

void recolour(u8 *pixels, const u8 table[256], int count)
{
  int i = 0;
#pragma scop
  while (i < count) {
    pixels[i] = table[pixels[i]];
    i++;
  }
#pragma endscop
}
LOOP(recolour, 4000, 20000000) { recolour(bytes(n), bytes(256), n); }
