/* Layers of neural networks. */
#include <math.h>
#include <stdint.h>
#include "loops.h"

void dense(int batch, int inputs, int outputs, const float *x, const float *w, const float *bias, float *y)
{
#pragma scop
  for (int b = 0; b < batch; b++)
    for (int o = 0; o < outputs; o++) {
      float acc = bias[o];
      for (int i = 0; i < inputs; i++)
        acc += x[b * inputs + i] * w[o * inputs + i];
      y[b * outputs + o] = acc > 0 ? acc : 0;
    }
#pragma endscop
}
LOOP(dense, 24, 300) { dense(n, n, n, floats(n * n), floats(n * n), floats(n), floats(n * n)); }

void dense_int8(int n, const int8_t *x, const int8_t *w, int32_t *y)
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int o = 0; o < n; o++) {
      int32_t acc = 0;
      for (int k = 0; k < n; k++)
        acc += (int32_t)x[i * n + k] * w[o * n + k];
      y[i * n + o] = acc;
    }
#pragma endscop
}
LOOP(dense_int8, 32, 600) { dense_int8(n, (int8_t *)bytes(n * n), (int8_t *)bytes(n * n), ints(n * n)); }

void softmax(int rows, int cols, float *x)
{
#pragma scop
  for (int r = 0; r < rows; r++) {
    float most = x[r * cols];
    for (int c = 1; c < cols; c++)
      if (x[r * cols + c] > most)
        most = x[r * cols + c];
    float sum = 0;
    for (int c = 0; c < cols; c++) {
      x[r * cols + c] = expf(x[r * cols + c] - most);
      sum += x[r * cols + c];
    }
    for (int c = 0; c < cols; c++)
      x[r * cols + c] /= sum;
  }
#pragma endscop
}
LOOP(softmax, 40, 1500) { softmax(n, n, floats(n * n)); }

void layer_norm(int rows, int cols, const float *x, const float *gain, const float *bias, float *y)
{
#pragma scop
  for (int r = 0; r < rows; r++) {
    float mean = 0, var = 0;
    for (int c = 0; c < cols; c++)
      mean += x[r * cols + c];
    mean /= cols;
    for (int c = 0; c < cols; c++) {
      float d = x[r * cols + c] - mean;
      var += d * d;
    }
    float scale = 1.0f / sqrtf(var / cols + 1e-5f);
    for (int c = 0; c < cols; c++)
      y[r * cols + c] = (x[r * cols + c] - mean) * scale * gain[c] + bias[c];
  }
#pragma endscop
}
LOOP(layer_norm, 60, 2000) { layer_norm(n, n, floats(n * n), floats(n), floats(n), floats(n * n)); }

/* Channels first. */
void conv_planes(int cin, int cout, int h, int w, const float *in, const float *k, float *out)
{
#pragma scop
  for (int o = 0; o < cout; o++)
    for (int y = 0; y < h; y++)
      for (int x = 0; x < w; x++) {
        float s = 0;
        for (int c = 0; c < cin; c++)
          for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
              s += in[(c * (h + 2) + y + i) * (w + 2) + x + j] * k[((o * cin + c) * 3 + i) * 3 + j];
        out[(o * h + y) * w + x] = s;
      }
#pragma endscop
}
LOOP(conv_planes, 8, 80) { conv_planes(16, 16, n, n, floats(16 * (n + 2) * (n + 2)), floats(16 * 16 * 9), floats(16 * n * n)); }

/* Channels last. */
void conv_pixels(int h, int w, int cin, int cout, const float *in, const float *k, float *out)
{
  int y, x, o, i, j, c;
#pragma scop
  for (y = 0; y < h; y++)
    for (x = 0; x < w; x++)
      for (o = 0; o < cout; o++) {
        float s = 0;
        for (i = 0; i < 3; i++)
          for (j = 0; j < 3; j++)
            for (c = 0; c < cin; c++)
              s += in[((y + i) * (w + 2) + x + j) * cin + c] * k[((i * 3 + j) * cin + c) * cout + o];
        out[(y * w + x) * cout + o] = s;
      }
#pragma endscop
}
LOOP(conv_pixels, 8, 80) { conv_pixels(n, n, 16, 16, floats(16 * (n + 2) * (n + 2)), floats(16 * 16 * 9), floats(16 * n * n)); }

void depthwise(int channels, int n, float (*in)[n + 2][n + 2], float (*k)[3][3], float (*out)[n][n])
{
#pragma scop
  for (int c = 0; c < channels; c++)
    for (int y = 0; y < n; y++)
      for (int x = 0; x < n; x++) {
        out[c][y][x] = 0;
        for (int i = 0; i < 3; i++)
          for (int j = 0; j < 3; j++)
            out[c][y][x] += in[c][y + i][x + j] * k[c][i][j];
      }
#pragma endscop
}
LOOP(depthwise, 16, 500)
{
  depthwise(32, n, (float(*)[n + 2][n + 2])floats(32 * (n + 2) * (n + 2)), (float(*)[3][3])floats(32 * 9),
            (float(*)[n][n])floats(32 * n * n));
}

void max_pool(int channels, int h, int w, const float *in, float *out)
{
#pragma scop
  for (int c = 0; c < channels; c++)
    for (int y = 0; y < h; y++)
      for (int x = 0; x < w; x++) {
        float m = in[(c * 2 * h + 2 * y) * 2 * w + 2 * x];
        for (int i = 0; i < 2; i++)
          for (int j = 0; j < 2; j++) {
            float v = in[(c * 2 * h + 2 * y + i) * 2 * w + 2 * x + j];
            m = v > m ? v : m;
          }
        out[(c * h + y) * w + x] = m;
      }
#pragma endscop
}
LOOP(max_pool, 20, 600) { max_pool(16, n, n, floats(64 * n * n), floats(16 * n * n)); }

void attention(int n, int d, const float *q, const float *k, const float *v, float *scores, float *out)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    float sum = 0;
    for (int j = 0; j < n; j++) {
      float s = 0;
      for (int c = 0; c < d; c++)
        s += q[i * d + c] * k[j * d + c];
      scores[i * n + j] = expf(s * 0.02f);
      sum += scores[i * n + j];
    }
    for (int c = 0; c < d; c++) {
      float o = 0;
      for (int j = 0; j < n; j++)
        o += scores[i * n + j] * v[j * d + c];
      out[i * d + c] = o / sum;
    }
  }
#pragma endscop
}
LOOP(attention, 24, 700)
{
  attention(n, 32, floats(32 * n), floats(32 * n), floats(32 * n), floats(n * n), floats(32 * n));
}

void batch_norm(int images, int channels, int pixels, float *x, const float *mean, const float *inv, const float *beta)
{
  int b, c, p;
#pragma scop
  for (b = 0; b < images; b++)
    for (c = 0; c < channels; c++)
      for (p = 0; p < pixels; p++) {
        float *v = x + (b * channels + c) * pixels;
        v[p] = fmaxf((v[p] - mean[c]) * inv[c] + beta[c], 0.0f);
      }
#pragma endscop
}
LOOP(batch_norm, 16, 400) { batch_norm(4, 16, n * n, floats(64 * n * n), floats(16), floats(16), floats(16)); }

/* A layer as a product with a matrix of patches. */
void patches_product(int n, const float *weights, const float *image, float *patches, float *out)
{
#pragma scop
  for (int i = 0; i < 25; i++)
    for (int y = 0; y < n; y++)
      for (int x = 0; x < n; x++)
        patches[i * n * n + y * n + x] = image[(y + i / 5) * (n + 4) + x + i % 5];
  for (int o = 0; o < 8; o++)
    for (int p = 0; p < n * n; p++) {
      float s = 0;
      for (int i = 0; i < 25; i++)
        s += weights[o * 25 + i] * patches[i * n * n + p];
      out[o * n * n + p] = s;
    }
#pragma endscop
}
LOOP(patches_product, 16, 300)
{
  patches_product(n, floats(8 * 25), floats((n + 4) * (n + 4)), floats(25 * n * n), floats(8 * n * n));
}
