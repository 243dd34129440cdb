/* Tables of dynamic programming. */
#include "loops.h"

#define MAX(a, b) ((a) > (b) ? (a) : (b))

void common_subsequence(int n, int m, const char *a, const char *b, int *best)
{
  int i, j;
#pragma scop
  for (i = 1; i <= n; i++)
    for (j = 1; j <= m; j++)
      if (a[i - 1] == b[j - 1])
        best[i * (m + 1) + j] = best[(i - 1) * (m + 1) + j - 1] + 1;
      else
        best[i * (m + 1) + j] = MAX(best[(i - 1) * (m + 1) + j], best[i * (m + 1) + j - 1]);
#pragma endscop
}
LOOP(common_subsequence, 60, 2500) { common_subsequence(n, n, letters(n), letters(n), ints((n + 1) * (size_t)(n + 1))); }

/* Two rows in turn. */
void edit_distance(int n, int m, const char *a, const char *b, int (*d)[m + 1])
{
#pragma scop
  for (int i = 1; i <= n; i++) {
    d[i % 2][0] = i;
    for (int j = 1; j <= m; j++) {
      int swap = d[(i - 1) % 2][j - 1] + (a[i - 1] != b[j - 1]);
      int remove = d[(i - 1) % 2][j] + 1;
      int insert = d[i % 2][j - 1] + 1;
      int least = swap < remove ? swap : remove;
      d[i % 2][j] = least < insert ? least : insert;
    }
  }
#pragma endscop
}
LOOP(edit_distance, 60, 4000) { edit_distance(n, n, letters(n), letters(n), (int(*)[n + 1])ints(2 * (n + 1))); }

void knapsack(int items, int capacity, const int *weight, const int *value, int *best)
{
#pragma scop
  for (int i = 1; i <= items; i++)
    for (int w = 0; w <= capacity; w++) {
      best[i * (capacity + 1) + w] = best[(i - 1) * (capacity + 1) + w];
      if (weight[i] <= w && best[(i - 1) * (capacity + 1) + w - weight[i]] + value[i] > best[i * (capacity + 1) + w])
        best[i * (capacity + 1) + w] = best[(i - 1) * (capacity + 1) + w - weight[i]] + value[i];
    }
#pragma endscop
}
LOOP(knapsack, 40, 1500) { knapsack(n, 4 * n, numbers(n + 1, n), numbers(n + 1, 100), ints((n + 1) * (size_t)(4 * n + 1))); }

void shortest_paths(int n, float *d)
{
  int i, j, k;
#pragma scop
  for (k = 0; k < n; k++)
    for (i = 0; i < n; i++)
      for (j = 0; j < n; j++)
        if (d[i * n + k] + d[k * n + j] < d[i * n + j])
          d[i * n + j] = d[i * n + k] + d[k * n + j];
#pragma endscop
}
LOOP(shortest_paths, 32, 350) { shortest_paths(n, floats(n * n)); }

void chain_order(int n, const double *dims, double (*cost)[n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    cost[i][i] = 0;
  for (int len = 1; len < n; len++)
    for (int i = 0; i < n - len; i++) {
      double best = 1e30;
      for (int k = i; k < i + len; k++) {
        double c = cost[i][k] + cost[k + 1][i + len] + dims[i] * dims[k + 1] * dims[i + len + 1];
        if (c < best)
          best = c;
      }
      cost[i][i + len] = best;
    }
#pragma endscop
}
LOOP(chain_order, 40, 500) { chain_order(n, doubles(n + 1), (double(*)[n])doubles(n * n)); }

unsigned ways[100001];
void change(int coins, const int *coin, int amount)
{
#pragma scop
  for (int c = 0; c < coins; c++)
    for (int a = coin[c] + 1; a <= amount; a++)
      ways[a] += ways[a - coin[c] - 1];
#pragma endscop
}
LOOP(change, 1000, 100000)
{
  memset(ways, 0, sizeof ways);
  ways[0] = 1;
  change(60, numbers(60, 200), n);
  memcpy(ints(1000), ways, 4000);
}

void viterbi(int steps, int states, const float *transition, const float *emission, float *score, int *from)
{
#pragma scop
  for (int t = 1; t < steps; t++)
    for (int s = 0; s < states; s++) {
      float best = -1e30f;
      int arg = 0;
      for (int p = 0; p < states; p++) {
        float v = score[(t - 1) * states + p] + transition[p * states + s];
        if (v > best) {
          best = v;
          arg = p;
        }
      }
      score[t * states + s] = best - emission[t * states + s];
      from[t * states + s] = arg;
    }
#pragma endscop
}
LOOP(viterbi, 8, 3000) { viterbi(n, 48, floats(48 * 48), floats(48 * (size_t)n), floats(48 * (size_t)n), ints(48 * (size_t)n)); }

void warping(int n, int m, const double *x, const double *y, double *d)
{
#pragma scop
  for (int i = 1; i < n; i++)
    for (int j = 1; j < m; j++) {
      double least = d[(i - 1) * m + j - 1];
      if (d[(i - 1) * m + j] < least)
        least = d[(i - 1) * m + j];
      if (d[i * m + j - 1] < least)
        least = d[i * m + j - 1];
      d[i * m + j] = (x[i] - y[j]) * (x[i] - y[j]) + least;
    }
#pragma endscop
}
LOOP(warping, 60, 2000) { warping(n, n, doubles(n), doubles(n), doubles(n * n)); }
