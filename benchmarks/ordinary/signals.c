/* Signals: filters, transforms, correlations. */
#include <math.h>
#include "loops.h"

void fir(const float *x, const float *taps, float *y, int n, int ntaps)
{
  int i, k;
#pragma scop
  for (i = 0; i < n; i++) {
    float acc = 0;
    for (k = 0; k < ntaps; k++)
      acc += taps[k] * x[i + k];
    y[i] = acc;
  }
#pragma endscop
}
LOOP(fir, 1000, 600000) { fir(floats(n + 64), floats(64), floats(n), n, 64); }

void fir_fixed(const short *x, const short *taps, short *y, int n)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    int acc = 1 << 11;
    for (int k = 0; k < 32; k++)
      acc += taps[k] * x[i + k];
    y[i] = (short)(acc >> 12);
  }
#pragma endscop
}
LOOP(fir_fixed, 1000, 4000000) { fir_fixed(shorts(n + 32), shorts(32), shorts(n), n); }

/* A second-order section for each channel; samples of all channels lie side by side. */
void biquads(int frames, int channels, const float *in, float *out, float *z1, float *z2)
{
#pragma scop
  for (int t = 0; t < frames; t++)
    for (int c = 0; c < channels; c++) {
      float x = in[t * channels + c];
      float y = 0.2f * x + z1[c];
      z1[c] = 0.3f * x - 0.4f * y + z2[c];
      z2[c] = 0.1f * x - 0.1f * y;
      out[t * channels + c] = y;
    }
#pragma endscop
}
LOOP(biquads, 200, 200000) { biquads(n, 16, floats(n * 16), floats(n * 16), floats(16), floats(16)); }

void one_pole(const double *x, double *y, long n, double a)
{
#pragma scop
  y[0] = x[0];
  for (long i = 1; i < n; i++)
    y[i] = y[i - 1] + a * (x[i] - y[i - 1]);
#pragma endscop
}
LOOP(one_pole, 2000, 5000000) { one_pole(doubles(n), doubles(n), n, 0.25); }

void autocorrelation(const double *x, double *r, int n, int lags)
{
#pragma scop
  for (int l = 0; l < lags; l++) {
    double s = 0.0;
    for (int i = 0; i < n - l; i++)
      s += x[i] * x[i + l];
    r[l] = s;
  }
#pragma endscop
}
LOOP(autocorrelation, 500, 100000) { autocorrelation(doubles(n), doubles(128), n, 128); }

/* One radix-2 stage of a transform: blocks of 2 * half numbers. */
void butterflies(double *re, double *im, const double *wr, const double *wi, int n, int half)
{
#pragma scop
  for (int b = 0; b < n / (2 * half); b++)
    for (int k = 0; k < half; k++) {
      int p = b * 2 * half + k, q = p + half;
      double tr = wr[k] * re[q] - wi[k] * im[q];
      double ti = wr[k] * im[q] + wi[k] * re[q];
      re[q] = re[p] - tr;
      im[q] = im[p] - ti;
      re[p] = re[p] + tr;
      im[p] = im[p] + ti;
    }
#pragma endscop
}
LOOP(butterflies, 4096, 4194304) { butterflies(doubles(n), doubles(n), doubles(64), doubles(64), n, 64); }

void slow_dft(int n, const float *x, float *re, float *im, const float *c, const float *s)
{
  int k, t;
#pragma scop
  for (k = 0; k < n; k++) {
    float a = 0, b = 0;
    for (t = 0; t < n; t++) {
      a += x[t] * c[k * n + t];
      b -= x[t] * s[k * n + t];
    }
    re[k] = a;
    im[k] = b;
  }
#pragma endscop
}
LOOP(slow_dft, 64, 2000) { slow_dft(n, floats(n), floats(n), floats(n), floats(n * n), floats(n * n)); }

void haar(const float *x, float *low, float *high, int half)
{
#pragma scop
  for (int i = 0; i < half; i++) {
    low[i] = (x[2 * i] + x[2 * i + 1]) * 0.70710678f;
    high[i] = (x[2 * i] - x[2 * i + 1]) * 0.70710678f;
  }
#pragma endscop
}
LOOP(haar, 8000, 5000000) { haar(floats(2 * (size_t)n), floats(n), floats(n), n); }

struct frame {
  float left, right;
};
void mix(struct frame *out, const struct frame *a, const struct frame *b, float gain, int n)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    out[i].left = a[i].left + gain * b[i].left;
    out[i].right = a[i].right + gain * b[i].right;
  }
#pragma endscop
}
LOOP(mix, 5000, 5000000)
{
  mix((struct frame *)floats(2 * (size_t)n), (struct frame *)floats(2 * (size_t)n),
      (struct frame *)floats(2 * (size_t)n), 0.5f, n);
}

void power_spectrum(const double *re, const double *im, double *power, double *phase, int n)
{
  int i;
#pragma scop
  for (i = 0; i < n; ++i) {
    power[i] = sqrt(re[i] * re[i] + im[i] * im[i]);
    phase[i] = im[i] / (re[i] + 1e-9);
  }
#pragma endscop
}
LOOP(power_spectrum, 1000, 3000000) { power_spectrum(doubles(n), doubles(n), doubles(n), doubles(n), n); }

/* Every fourth sample of a low-pass filter. */
void decimate(const float *restrict in, float *restrict out, const float *restrict h, int n)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    out[i] = 0;
    for (int k = 0; k < 16; k++)
      out[i] += h[k] * in[4 * i + k];
  }
#pragma endscop
}
LOOP(decimate, 1500, 4000000) { decimate(floats(4 * (size_t)n + 16), floats(n), floats(16), n); }

void window_frames(const short *pcm, const float *window, float *frames, int count, int size, int hop)
{
#pragma scop
  for (int f = 0; f < count; f++)
    for (int i = 0; i < size; i++)
      frames[f * size + i] = pcm[f * hop + i] / 32768.0f * window[i];
#pragma endscop
}
LOOP(window_frames, 80, 60000) { window_frames(shorts(128 * n + 256), floats(256), floats(256 * (size_t)n), n, 256, 128); }
