"""Regions with very many statements: those that follow each other are one, and the result is the same."""

from __future__ import annotations

import pytest
from compiling import output, transform, write

from polybuild import effort

MANY = 120  # statements over three arrays: more pairs than are looked at one by one
BODY = "\n".join(
    f"      {'abc'[k % 3]}[i][j] = {'abc'[k % 3]}[i][j] * 0.{k % 7 + 1} + {'abc'[(k + 1) % 3]}[i][j] - {k};"
    for k in range(MANY)
)
PROGRAM = """\
#include <stdio.h>
#define N 37
static double a[N][N], b[N][N], c[N][N];
int main(void) {
  double sum = 0, last = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) a[i][j] = i * 3 + j, b[i][j] = i - j, c[i][j] = 1;
#pragma scop
%s
#pragma endscop
  for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) sum = sum * 0.99 + a[i][j] + b[i][j] - c[i][j];
  printf("%%.17g %%.17g\\n", sum, last);
  return 0;
}
"""
NEST = f"  for (int i = 1; i < N; i++)\n    for (int j = 1; j < N; j++) {{\n{BODY}\n    }}"

# what a block may hold: variables, values of before, conditions, other loops between its statements
SMALL = {
    "a variable of the block": """\
  for (int i = 1; i < N; i++)
    for (int j = 1; j < N; j++) {
      double t;
      t = a[i][j] * 2;
      b[i][j] = t + b[i][j - 1];
      last = t;
    }""",
    "elements written before they are read": """\
  for (int i = 1; i < N; i++) {
    a[i][0] = i;
    b[i][1] = a[i][0] + a[i - 1][0];
    for (int j = 0; j < N; j++) c[i][j] += b[i][1];
    a[i][1]++;
    b[i][2] = a[i][1], c[0][i] = b[i][2];
    c[i][i] -= c[0][i];
  }""",
    "conditions on data and on counters": """\
  for (int i = 1; i < N; i++)
    for (int j = 1; j < N; j++) {
      a[i][j] += 1;
      b[i][j] = a[i][j] > 20 ? a[i - 1][j] : 0;
      if (i > j) {
        c[i][j] = b[i][j];
        a[i][j] = c[i][j - 1];
      }
      if (b[i][j] > 3) {
        c[i][j] = 1;
        b[i][j] = c[i][j] + 1;
      }
    }""",
    "blocks in blocks, variables of one name": """\
  for (int i = 1; i < N; i++)
    for (int j = 1; j < N; j++) {
      double t = a[i][j] * 2, u;
      { int t = i + j, v = t / 2; b[i][j] = v + b[i][j - 1]; }
      { float t = 0.1f * j; u = t; c[i][j] += u; }
      a[i][j] = t + u;
    }""",
}


def test_a_nest_of_very_many_statements(tmp_path):
    path = tmp_path / "in.c"
    result = transform(path, PROGRAM % NEST)
    (region,) = result.regions
    assert region.statements == 1
    assert region.parallel_loops
    assert any("stay together" in each for each in region.remarks)
    assert output(write(tmp_path / "out.c", result.text), "-fopenmp") == output(path)


# each statement has a column of its own: neighbours, apart from each other, and counted down
COLUMNS = {"neighbours": lambda k: k, "every other": lambda k: 2 * k, "from the last": lambda k: MANY - 1 - k}
WIDE = PROGRAM.replace("c[N][N]", f"c[N][N], wide[N][{2 * MANY}], old[N][{2 * MANY}]").replace(
    "  printf",
    f"  for (int i = 0; i < N; i++) for (int k = 0; k < {2 * MANY}; k++) sum += wide[i][k];\n  printf",
)


@pytest.mark.parametrize("order", COLUMNS)
def test_a_nest_of_very_many_columns(tmp_path, order):
    path = tmp_path / "in.c"
    columns = [COLUMNS[order](k) for k in range(MANY)]
    statements = "\n".join(
        f"    wide[i][{k}] = old[i][{k}] * 0.{k % 7 + 1} + wide[i - 1][{k}] + {k};" for k in columns
    )
    result = transform(path, WIDE % f"  for (int i = 1; i < N; i++) {{\n{statements}\n  }}")
    (region,) = result.regions
    assert (region.status, region.statements) == ("transformed", 1)
    assert output(write(tmp_path / "out.c", result.text), "-fopenmp") == output(path)


@pytest.mark.fast
@pytest.mark.parametrize("name", SMALL)
def test_blocks(name, tmp_path, monkeypatch):
    path = tmp_path / "in.c"
    apart = transform(path, PROGRAM % SMALL[name]).regions[0]
    monkeypatch.setattr(effort, "ACCESS_PAIRS", 0)
    result = transform(path, PROGRAM % SMALL[name], tile_sizes=(3, 5))
    assert result.regions[0].statements < apart.statements
    assert output(write(tmp_path / "out.c", result.text), "-fopenmp") == output(path)


DIRECTIONS = """\
static const int cx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, cy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
static const double wt[9] = {4. / 9, 1. / 9, 1. / 9, 1. / 9, 1. / 9, 1. / 36, 1. / 36, 1. / 36, 1. / 36};
"""
LATTICE = """\
        double rho = 0, ux = 0, uy = 0;
        for (int k = 0; k < 9; k++) {
          double v = u[t % 2][k][i - cy[k]][j - cx[k]];
          rho += v;
          ux += cx[k] * v;
          uy += cy[k] * v;
        }
        ux /= rho;
        uy /= rho;
        for (int k = 0; k < 9; k++) {
          double cu = cx[k] * ux + cy[k] * uy;
          double v = u[t % 2][k][i - cy[k]][j - cx[k]];
          u[(t + 1) % 2][k][i][j] = v - 0.7 * (v - wt[k] * rho * (1 + 3 * cu + 4.5 * cu * cu));
        }"""
RING = """\
        double s = u[t % 2][0][i][(j + 1) % n] + u[t % 2][0][(i + n - 1) % n][j];
        u[(t + 1) % 2][0][i][j] = s * 0.25 + s * s * 0.0625;"""
STEPS = {
    "a lattice": (1, LATTICE, "", "", 2, True),
    "a ring": (0, RING, "", "", 4, True),
    "a ring with a sum": (0, RING + "\n        sum += s;", "double sum = 0;", "norm[t] = sum;", 16, False),
}
OVER_TIME = (
    """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
"""
    + DIRECTIONS
    + """\
__attribute__((noipa)) static void run(int n, int steps, double (*u)[9][n][n], double *norm)
{
#pragma scop
  for (int t = 0; t < steps; t++) {
    %s
    for (int i = %d; i < n - %d; i++)
      for (int j = %d; j < n - %d; j++) {
%s
      }
    %s
  }
#pragma endscop
}
int main(void)
{
  static const int sizes[][2] = {{1, 0}, {1, 2}, {2, 1}, {3, 3}, {7, 4}, {32, 5}, {64, 8}, {67, 9}};
  for (int round = 0; round < 8; round++) {
    int n = sizes[round][0], steps = sizes[round][1];
    size_t size = 18 * (size_t)n * (size_t)n;
    double *u = malloc(size * sizeof *u), *norm = calloc((size_t)steps + 1, sizeof *norm);
    unsigned long long bits, all = 0;
    for (size_t k = 0; k < size; k++) u[k] = 0.3 + (double)(k * 7919 %% 1013) / 4000.;
    run(n, steps, (void *)u, norm);
    for (size_t k = 0; k < size; k++) memcpy(&bits, u + k, 8), all = all * 1000003 + bits;
    for (int k = 0; k < steps; k++) memcpy(&bits, norm + k, 8), all = all * 1000003 + bits;
    printf("%%llx\\n", all);
    free(u);
    free(norm);
  }
  return 0;
}
"""
)


@pytest.mark.parametrize("name", STEPS)
def test_points_of_steps_over_time(name, tmp_path):
    border, body, before, after, statements, together = STEPS[name]
    path = tmp_path / "in.c"
    result = transform(path, OVER_TIME % (before, *[border] * 4, body, after))
    (region,) = result.regions
    assert (region.status, region.statements) == ("transformed", statements), region.remarks
    assert any("stay together" in each for each in region.remarks) == together
    assert bool(region.tile_sizes) or not together
    unused = "-Wno-unused-parameter", "-Wno-unused-const-variable"
    assert output(write(tmp_path / "out.c", result.text), "-fopenmp", *unused) == output(path, *unused)
