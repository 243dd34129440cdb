/* Cellular automata. */
#include "loops.h"

void life(const unsigned char *now_, unsigned char *next, int w, int h)
{
#pragma scop
  for (int y = 1; y < h - 1; y++)
    for (int x = 1; x < w - 1; x++) {
      int sum = 0;
      for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
          if (dx != 0 || dy != 0)
            sum += now_[(y + dy) * w + x + dx] & 1;
      next[y * w + x] = sum == 3 || (sum == 2 && (now_[y * w + x] & 1));
    }
#pragma endscop
}
LOOP(life, 64, 5000) { life(bytes(n * n), bytes(n * n), n, n); }

enum { CELLS = 4096 };
unsigned char world[2][CELLS][CELLS];
void life_steps(int n, int steps)
{
  int t, i, j;
#pragma scop
  for (t = 0; t < steps; t++)
    for (i = 1; i < n - 1; i++)
      for (j = 1; j < n - 1; j++) {
        int s = world[t % 2][i - 1][j - 1] + world[t % 2][i - 1][j] + world[t % 2][i - 1][j + 1] +
                world[t % 2][i][j - 1] + world[t % 2][i][j + 1] + world[t % 2][i + 1][j - 1] +
                world[t % 2][i + 1][j] + world[t % 2][i + 1][j + 1];
        world[(t + 1) % 2][i][j] = (s == 3) | ((s == 2) & world[t % 2][i][j]);
      }
#pragma endscop
}
LOOP(life_steps, 60, 2000)
{
  unsigned char *first = bytes(n * n);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      world[0][i][j] = world[1][i][j] = first[i * n + j] & 1;
  life_steps(n, 8);
  for (int i = 0; i < n; i++)
    memcpy(first + i * n, world[0][i], n);
}

void rule_110(int steps, int n, unsigned char *cells)
{
#pragma scop
  for (int t = 0; t < steps; t++)
    for (int i = 1; i < n - 1; i++) {
      unsigned char l = cells[t * n + i - 1], c = cells[t * n + i], r = cells[t * n + i + 1];
      cells[(t + 1) * n + i] = (c | r) & ~(l & c & r) & 1;
    }
#pragma endscop
}
LOOP(rule_110, 60, 8000) { rule_110(n, n, bytes((n + 1) * (size_t)n)); }

void sandpile(int n, const int *sand, int *after)
{
#pragma scop
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++) {
      int k = i * n + j;
      after[k] = sand[k] % 4 + sand[k - 1] / 4 + sand[k + 1] / 4 + sand[k - n] / 4 + sand[k + n] / 4;
    }
#pragma endscop
}
LOOP(sandpile, 64, 2500) { sandpile(n, ints(n * n), ints(n * n)); }

void forest(int w, int h, const signed char *trees, signed char *after)
{
  int x, y;
#pragma scop
  for (y = 1; y < h - 1; y++)
    for (x = 1; x < w - 1; x++) {
      signed char c = trees[y * w + x];
      if (c > 64)
        after[y * w + x] = 0;
      else if (trees[y * w + x - 1] > 100 || trees[y * w + x + 1] > 100 || trees[(y - 1) * w + x] > 100 ||
               trees[(y + 1) * w + x] > 100)
        after[y * w + x] = 120;
      else
        after[y * w + x] = c;
    }
#pragma endscop
}
LOOP(forest, 64, 1500) { forest(n, n, (signed char *)bytes(n * n), (signed char *)bytes(n * n)); }
