/* Finance: trees, paths, portfolios. */
#include <math.h>
#include "loops.h"

double values[4096];
void binomial_tree(int steps, double s0, double strike, double up, double p, double discount)
{
  int i, t;
#pragma scop
  for (i = 0; i <= steps; i++)
    values[i] = fmax(s0 * (1 + up * (2 * i - steps)) - strike, 0.0);
  for (t = steps - 1; t >= 0; t--)
    for (i = 0; i <= t; i++)
      values[i] = discount * (p * values[i + 1] + (1 - p) * values[i]);
#pragma endscop
}
LOOP(binomial_tree, 100, 4000)
{
  binomial_tree(n, 100, 95, 0.001, 0.51, 0.999);
  memcpy(doubles(1), values, sizeof(double));
}

void options(int n, const double *spot, const double *strike, const double *years, double *call, double *put)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    double root = 0.3 * sqrt(years[i]);
    double d1 = (log(spot[i] / strike[i]) + (0.02 + 0.045) * years[i]) / root;
    double d2 = d1 - root;
    double n1 = 0.5 * erfc(-d1 * 0.70710678118654752), n2 = 0.5 * erfc(-d2 * 0.70710678118654752);
    double k = strike[i] * exp(-0.02 * years[i]);
    call[i] = spot[i] * n1 - k * n2;
    put[i] = call[i] - spot[i] + k;
  }
#pragma endscop
}
LOOP(options, 200, 300000) { options(n, doubles(n), doubles(n), doubles(n), doubles(n), doubles(n)); }

void asian_paths(int paths, int steps, const float *z, float *payoff)
{
#pragma scop
  for (int p = 0; p < paths; p++) {
    float price = 100, sum = 0;
    for (int t = 0; t < steps; t++) {
      price *= 1 + 0.01f * (z[p * steps + t] - 0.6f);
      sum += price;
    }
    float mean = sum / steps;
    payoff[p] = mean > 100 ? mean - 100 : 0;
  }
#pragma endscop
}
LOOP(asian_paths, 60, 3000) { asian_paths(n, n, floats(n * n), floats(n)); }

void risk(int assets, int scenarios, const double *weights, const double *cov, double *variance)
{
#pragma scop
  for (int s = 0; s < scenarios; s++) {
    double v = 0;
    for (int i = 0; i < assets; i++)
      for (int j = 0; j < assets; j++)
        v += weights[s * assets + i] * cov[i * assets + j] * weights[s * assets + j];
    variance[s] = v;
  }
#pragma endscop
}
LOOP(risk, 20, 4000) { risk(64, n, doubles(64 * (size_t)n), doubles(64 * 64), doubles(n)); }

void bond_prices(int bonds, int periods, const double *rate, const double *coupon, double *price)
{
  int i, t;
#pragma scop
  for (i = 0; i < bonds; i++) {
    double factor = 1, pv = 0;
    for (t = 0; t < periods; t++) {
      factor /= 1 + rate[i];
      pv += coupon[i] * factor;
    }
    price[i] = pv + 100 * factor;
  }
#pragma endscop
}
LOOP(bond_prices, 100, 50000) { bond_prices(n, 60, doubles(n), doubles(n), doubles(n)); }

/* Prices weighted by volume over the last days of each instrument. */
struct market {
  int days, instruments;
  float *price, *volume, *average;
};
void weighted_prices(struct market *m)
{
#pragma scop
  for (int d = 9; d < m->days; d++)
    for (int k = 0; k < m->instruments; k++) {
      float pv = 0, v = 0;
      for (int l = 0; l < 10; l++) {
        pv += m->price[(d - l) * m->instruments + k] * m->volume[(d - l) * m->instruments + k];
        v += m->volume[(d - l) * m->instruments + k];
      }
      m->average[d * m->instruments + k] = pv / v;
    }
#pragma endscop
}
LOOP(weighted_prices, 50, 2000)
{
  struct market m = {n, n, floats(n * n), floats(n * n), floats(n * n)};
  weighted_prices(&m);
}

/* An implicit scheme's explicit half: values over prices and time. */
void price_grid(int steps, int prices, double v[2][prices], const double *lower, const double *middle, const double *upper)
{
#pragma scop
  for (int t = 0; t < steps; t++)
    for (int i = 1; i < prices - 1; i++)
      v[(t + 1) % 2][i] = 0.3 * lower[i] * v[t % 2][i - 1] + 0.3 * middle[i] * v[t % 2][i] + 0.3 * upper[i] * v[t % 2][i + 1];
#pragma endscop
}
LOOP(price_grid, 100, 6000) { price_grid(n, n, (double(*)[n])doubles(2 * n), doubles(n), doubles(n), doubles(n)); }
