/* Statistics: sums over samples and features, distances, windows. */
#include <float.h>
#include <math.h>
#include "loops.h"

void column_means(int samples, int features, const float *data, float *mean, float *deviation)
{
  int i, j;
#pragma scop
  for (j = 0; j < features; j++) {
    float s = 0, q = 0;
    for (i = 0; i < samples; i++) {
      float v = data[i * features + j];
      s += v;
      q += v * v;
    }
    mean[j] = s / samples;
    deviation[j] = sqrtf(q / samples - mean[j] * mean[j]);
  }
#pragma endscop
}
LOOP(column_means, 60, 2500) { column_means(n, n, floats(n * n), floats(n), floats(n)); }

void covariance(int n, int m, const double *x, const double *mean, double *cov)
{
#pragma scop
  for (int i = 0; i < m; i++)
    for (int j = i; j < m; j++) {
      double s = 0;
      for (int k = 0; k < n; k++)
        s += (x[k * m + i] - mean[i]) * (x[k * m + j] - mean[j]);
      cov[i * m + j] = cov[j * m + i] = s / (n - 1);
    }
#pragma endscop
}
LOOP(covariance, 32, 350) { covariance(n, n, doubles(n * n), doubles(n), doubles(n * n)); }

int bins[256];
void histogram(const unsigned char *v, size_t n)
{
#pragma scop
  for (int b = 0; b < 256; b++)
    bins[b] = 0;
  for (size_t i = 0; i < n; i++)
    bins[v[i]]++;
#pragma endscop
}
LOOP(histogram, 4000, 40000000)
{
  histogram(bytes(n), n);
  memcpy(ints(256), bins, sizeof bins);
}

void nearest_centre(int points, int centres, const float (*p)[8], const float (*c)[8], int *label)
{
#pragma scop
  for (int i = 0; i < points; i++) {
    float best = FLT_MAX;
    int where = 0;
    for (int k = 0; k < centres; k++) {
      float d = 0;
      for (int f = 0; f < 8; f++) {
        float t = p[i][f] - c[k][f];
        d += t * t;
      }
      if (d < best) {
        best = d;
        where = k;
      }
    }
    label[i] = where;
  }
#pragma endscop
}
LOOP(nearest_centre, 400, 1000000)
{
  nearest_centre(n, 16, (const float(*)[8])floats(8 * (size_t)n), (const float(*)[8])floats(8 * 16), ints(n));
}

void distances(int n, int dims, const double *x, double *d)
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int k = 0; k < dims; k++) {
        double diff = x[i * dims + k] - x[j * dims + k];
        sum += diff * diff;
      }
      d[i * n + j] = sqrt(sum);
    }
#pragma endscop
}
LOOP(distances, 40, 900) { distances(n, 24, doubles(24 * (size_t)n), doubles(n * n)); }

void moving_average(const double *x, double *y, int n, int window)
{
  int i, j;
  double sum;
#pragma scop
  for (i = 0; i < n - window; i++) {
    sum = 0.0;
    for (j = 0; j < window; j++)
      sum += x[i + j];
    y[i] = sum / window;
  }
#pragma endscop
}
LOOP(moving_average, 1000, 2000000) { moving_average(doubles(n + 20), doubles(n), n, 20); }

void standardise(int rows, int cols, double *x, const double *mean, const double *sd)
{
#pragma scop
  for (int j = 0; j < cols; j++)
    for (int i = 0; i < rows; i++)
      x[i * cols + j] = (x[i * cols + j] - mean[j]) / sd[j];
#pragma endscop
}
LOOP(standardise, 60, 2000) { standardise(n, n, doubles(n * n), doubles(n), doubles(n)); }

void density(int n, int m, const float *at, const float *samples, float *out, float width)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    float s = 0;
    for (int k = 0; k < m; k++) {
      float u = (at[i] - samples[k]) / width;
      s += u * u < 1 ? 0.75f * (1 - u * u) : 0;
    }
    out[i] = s / (m * width);
  }
#pragma endscop
}
LOOP(density, 64, 5000) { density(n, n, floats(n), floats(n), floats(n), 0.3f); }

void smooth_series(int series, int length, double (*x)[length], double (*y)[length], double alpha)
{
#pragma scop
  for (int s = 0; s < series; s++) {
    y[s][0] = x[s][0];
    for (int t = 1; t < length; t++)
      y[s][t] = alpha * x[s][t] + (1 - alpha) * y[s][t - 1];
  }
#pragma endscop
}
LOOP(smooth_series, 50, 2000) { smooth_series(n, n, (double(*)[n])doubles(n * n), (double(*)[n])doubles(n * n), 0.1); }

void range_of(const float *x, int n, float *low, float *high)
{
#pragma scop
  *low = x[0];
  *high = x[0];
  for (int i = 1; i < n; i++) {
    if (x[i] < *low)
      *low = x[i];
    if (x[i] > *high)
      *high = x[i];
  }
#pragma endscop
}
LOOP(range_of, 2000, 10000000) { range_of(floats(n), n, floats(1), floats(1)); }
