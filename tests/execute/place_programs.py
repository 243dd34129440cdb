"""Loops that find minima and maxima with their places, or search: one program of them all."""

from __future__ import annotations

# Each body finds in x (or k, in integers) what it keeps in best (or most) and in where, also and value.
BODIES = {
    "first largest": "for (int i = 0; i < n; i++) if (x[i] > best) { best = x[i]; where = i; }",
    "last largest": "for (int i = 0; i < n; i++) if (x[i] >= best) { best = x[i]; where = i; }",
    "first least": "for (int i = 0; i < n; i++) if (x[i] < best) { where = i; best = x[i]; }",
    "last least": "for (int i = 0; i < n; i++) if (best >= x[i]) { best = x[i], where = i; }",
    "downwards": "for (int i = n - 1; i >= 0; i--) if (x[i] > best) { best = x[i]; where = i; }",
    "downwards, last": "for (int i = n - 1; i >= 0; i--) if (x[i] <= best) { best = x[i]; where = i; }",
    "value alone": "for (int i = 0; i < n; i++) if (x[i] > best) best = x[i];",
    "choice alone": "for (int i = 0; i < n; i++) best = x[i] < best ? x[i] : best;",
    "magnitude": """for (int i = 0; i < n; i++) {
    double d = fabs(x[i]);
    if (d > best) { best = d; where = i; } }""",
    "companion": "for (int i = 0; i < n; i++) if (x[i] > best) { best = x[i]; value = y[i]; }",
    "two and a half": """for (int i = 0; i < n; i++)
    if (y[i] < 9 && best < x[i] + 1) { best = x[i] + 1; where = n - i; also = 2 * i; value = y[i] / 4; }""",
    "guarded": "for (int i = 0; i < n; i++) if (k[i] & 1) if (x[i] > best) { best = x[i]; where = i; }",
    "places of two": """for (int i = 0; i < m; i++) for (int j = 0; j < 7; j++)
    if (z[i][j] > best) { best = z[i][j]; where = i; also = j; }""",
    "last of two": """for (int i = 0; i < m; i++) for (int j = 6; j >= 0; j--)
    if (z[i][j] >= best) { best = z[i][j]; where = i; also = j; }""",
    "integers": "for (int i = 0; i < n; i++) if (k[i] > most) { most = k[i]; where = i; }",
    "last of integers": "for (int i = 0; i < n; i++) if (k[i] <= most) { most = k[i]; where = i; }",
    "distance": """for (int i = 0; i < n; i++) {
    int d = k[i] - 3, e = d * d;
    if (e < most) { most = e; where = i; } }""",
    "choices": """for (int i = 0; i < n; i++) {
    where = x[i] > best ? i : where;
    best = x[i] > best ? x[i] : best; }""",
    "conditions": """for (int i = 0; i < n; i++) {
    if (fabs(x[i]) >= best) where = i;
    if (fabs(x[i]) >= best) { value = y[i]; best = fabs(x[i]); } }""",
    "each row": """for (int i = 0; i < m; i++) {
    rows[i] = -1, w[i] = -1;
    for (int j = 0; j < 7; j++)
      if (z[i][j] > rows[i]) { rows[i] = z[i][j]; w[i] = j; } }""",
    "nearest of each": """for (int i = 0; i < n; i++) {
    double nearest = INFINITY; int own = 0;
    for (int j = 0; j < 5; j++) {
      double d = (x[i] - y[j]) * (x[i] - y[j]);
      if (d < nearest) { nearest = d; own = j; } }
    w[i] = own; }""",
    "place alone": """{ where = 0;
    for (int i = 1; i < n; i++) if (x[i] > x[where]) where = i; }""",
    "last place alone": """{ where = 0;
    for (int i = 1; i < n; i++) if (x[where] <= x[i]) where = i; }""",
    "place of a magnitude": """{ where = 3;
    for (int i = n - 1; i >= 0; i--) if (fabs(y[i] - x[i]) < fabs(y[where] - x[where])) where = i; }""",
    "place as a choice": """{ where = 0;
    for (int i = 1; i < m; i++) where = z[i][2] > z[where][2] ? i : where; }""",
    "any": "for (int i = 0; i < n; i++) if (x[i] < -4.5) also = 1;",
    "all": "for (int i = 0; i < n; i++) if (!(x[i] >= -5)) most = 0;",
    "any, as a choice": "for (int i = 0; i < n; i++) most = x[i] > 8 ? 1 : most;",
    "any, once": "for (int i = 0; i < n; i++) if (!most && x[i] > 3) most = 1;",
    "all, once": "for (int i = 0; i < n; i++) if (most != 0 && x[i] > 6) { most = 0; where = i; }",
    "or": "for (int i = 0; i < n; i++) most = most || x[i] > 8 || k[i] > 35;",
    "and": "for (int i = 0; i < n; i++) most = x[i] < 9 && most;",
    "and of two": "for (int i = 0; i < m; i++) for (int j = 0; j < 7; j++) most = most && z[i][j] < 9;",
    "any of truth": """{ _Bool any = most;
    for (int i = 0; i < n; i++) if (x[i] > 8) any = 1;
    most = any; }""",
    "last that fits": "for (int i = 0; i < n; i++) if (k[i] == 3) { where = i; value = y[i]; }",
    "first that fits": "for (int i = 0; i < n; i++) if (where < 0 && k[i] == 3) where = i;",
    "first, with more": """for (int i = 0; i < n; i++)
    if (-1 == where && y[i] > 12) { where = i; value = x[i]; }""",
    "first, downwards": "for (int i = n - 1; i >= 0; i--) if (k[i] == 3 && where == -1) where = i;",
    "first of two": """for (int i = 0; i < m; i++) for (int j = 6; j >= 0; j--)
    if (where < 0 && z[i][j] > 7) { where = i; also = j; }""",
    "last of two, each way": """for (int i = m - 1; i >= 0; i--) for (int j = 0; j < 7; j++)
    if (z[i][j] > 7) { where = i; also = j; }""",
}
LOOKING = {
    "not settled": "for (int i = 0; i < n; i++) if (where < 0 && k[i] == 3) where = i - 5;",
    "looked at": "for (int i = 0; i < n; i++) if (x[i] > where) where = k[i];",
    "of what is found": "for (int i = 0; i < n; i++) if (k[i] != where) where = k[i];",
    "read by chance": "for (int i = 0; i < n; i++) most = most || x[w[i]] > 3;",
    "read after": "for (int i = 0; i < n; i++) if (!most && y[w[i]] > 3) most = 1;",
}
FUNCTION = """\
static void f{number}(int n, int m, const double *restrict x, const double *restrict y,
                      const int *restrict k, const double (*restrict z)[7])
{{
  double best = now.best, value = now.value;
  int where = now.where, also = now.also, most = now.most;
#pragma scop
  {body}
#pragma endscop
  now = (struct found){{best, value, where, also, most}};
  (void)n, (void)m, (void)x, (void)y, (void)k, (void)z;
}}
"""
MAIN = r"""
static void test(int number, void (*run)(int, int, const double *, const double *, const int *,
                                         const double (*)[7]), int n, int data, double from)
{
  double *x = malloc((n + 8) * sizeof *x), *y = malloc((n + 8) * sizeof *y);
  int *k = calloc(n + 1, sizeof *k);
  rows = calloc(n + 1, sizeof *rows), w = calloc(n + 1, sizeof *w);
  for (int i = 0; i < n + 8; i++) {
    x[i] = data == 0 ? (i * 37 % 101) / 7.0 - 5 : data == 1 ? (i % 3 ? 0.0 : -0.0) : i % 5 ? NAN : i % 13;
    y[i] = i * 7 % 19;
  }
  for (int i = 0; i < n; i++)
    k[i] = i * 31 % 47 - 11;
  now = (struct found){from, -7, -1, -2, isnan(from) ? 0 : (int)from};
  run(n, n / 7, x, y, k, (void *)x);
  unsigned long sum = 0;
  for (int i = 0; i < n; i++)
    sum = sum * 31 + (unsigned)w[i] + (unsigned long)(rows[i] * 7);
  printf("%d: %a %d %d %a %d %lu\n", number, now.best, now.where, now.also, now.value, now.most, sum);
  free(x), free(y), free(k), free(rows), free(w);
}
int main(int argc, char **argv)
{
  const double from[] = {-3, 3, -0.0, 0.0, NAN, 9};
  for (int k = 1; k + 2 < argc; k += 3) {
    int n = atoi(argv[k]), data = atoi(argv[k + 1]), start = atoi(argv[k + 2]);
CALLS  }
  return 0;
}
"""
DECLARATIONS = """\
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
static struct found { double best, value; int where, also, most; } now;
static double *restrict rows;
static int *restrict w;
"""
PROGRAM = (
    DECLARATIONS
    + "".join(FUNCTION.format(number=number, body=body) for number, body in enumerate(BODIES.values()))
    + MAIN.replace(
        "CALLS",
        "".join(f"    test({number}, f{number}, n, data, from[start]);\n" for number in range(len(BODIES))),
    )
)
# Size, data, and values of before; the last size is more than there are parts. A program does several.
RUNS = (("0", "0", "0"), ("1", "0", "1"), ("33", "2", "0"), ("3000", "0", "0"), ("140000", "0", "5"))
MORE = tuple((size, data, start) for size in ("33", "140000") for data in "012" for start in "012345")
