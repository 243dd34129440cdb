#include <stdio.h>

struct grid {
  int n;
  float cell[80][80];
};

/* A triangle, conditions, members of a structure, and a region inside a line. */
static void mark(struct grid *g, int limit)
{
#pragma scop
  for (int i = 0; i < g->n; i++)
    for (int j = i; j < g->n; j++) {
      if (j == i || (j > limit && i % 2 == 0))
        g->cell[i][j] = 1;
      else
        g->cell[i][j] += g->cell[j][i];
    }
#pragma endscop
  _Pragma("scop") for (int i = 0; i < g->n; i++) g->cell[i][0] = 0; _Pragma("endscop") limit = 0;
}

int main(void)
{
  static struct grid g = {80, {{0}}};
  double sum = 0;
  for (int i = 0; i < 80; i++)
    for (int j = 0; j < 80; j++)
      g.cell[i][j] = (float)((i * 5 + j) % 11);
  mark(&g, 40);
  for (int i = 0; i < 80; i++)
    for (int j = 0; j < 80; j++)
      sum += (i + 2 * j) * g.cell[i][j];
  printf("%.17g\n", sum);
  return 0;
}
