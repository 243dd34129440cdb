"""Steps that copy between two grids, however that is written: the copies go, all values stay, to the bit."""

from __future__ import annotations

import pytest
from compiling import output, transform, write
from step_programs import Grids, run_steps

GRIDS = Grids(
    """
#include <string.h>
#define EACH for (int i = 1; i < h - 1; i++) for (int j = 1; j < w - 1; j++)
#define ALL for (int i = 0; i < h; i++) for (int j = 0; j < w; j++)
#define AT(u, i, j) u[(i)*w + (j)]
#define MEAN(p) (0.2 * (p[i][j] + p[i][j - 1] + p[i][j + 1] + p[i - 1][j] + p[i + 1][j]))
#define FLAT(p) (0.2 * (AT(p, i, j) + AT(p, i, j - 1) + AT(p, i, j + 1) + AT(p, i - 1, j) + AT(p, i + 1, j)))
""",
    "int steps, int h, int w, double u[4][h][w], double *restrict v, double *restrict p",
    "h * w",
)
FORMS = {
    "interior": """
for (int t = 0; t < steps; t++) {
  EACH AT(p, i, j) = FLAT(v);
  EACH AT(v, i, j) = AT(p, i, j);
}""",
    "everything": """
for (int t = 0; t < steps; t++) {
  EACH AT(p, i, j) = FLAT(v);
  ALL AT(v, i, j) = AT(p, i, j);
}""",
    "rows": """
for (int t = 0; t < steps; t++) {
  EACH AT(p, i, j) = FLAT(v);
  if (w > 2) for (int i = 1; i < h - 1; i++) memcpy(&AT(v, i, 1), &AT(p, i, 1), (w - 2) * sizeof *v);
}""",
    "first": """
for (int t = 0; t < steps; t++) {
  ALL AT(p, i, j) = AT(v, i, j);
  EACH AT(v, i, j) = FLAT(p);
}""",
    "first, with what was there": """
for (int t = 0; t < steps; t++) {
  ALL AT(p, i, j) = AT(v, i, j);
  EACH AT(v, i, j) = 0.5 * AT(v, i, j) + FLAT(p);
}""",
    "counted down": """
for (int t = steps; t > 0; t--) {
  EACH AT(p, i, j) = FLAT(v);
  EACH AT(v, i, j) = AT(p, i, j);
}""",
    "counted from one": """
for (int t = 1; t <= steps; t++) {
  EACH AT(p, i, j) = FLAT(v);
  EACH AT(v, i, j) = AT(p, i, j);
}""",
    "a line": """
if (h > 0) for (int t = 0; t < steps; t++) {
  for (int i = 1; i < w - 1; i++) p[i] = (v[i - 1] + v[i] + v[i + 1]) / 3;
  for (int i = 1; i < w - 1; i++) v[i] = p[i];
}""",
    "another place": """
if (h > 0) for (int t = 0; t < steps; t++) {
  for (int i = 1; i < w - 1; i++) p[i - 1] = (v[i - 1] + v[i] + v[i + 1]) / 3;
  for (int i = 0; i < w - 2; i++) v[i + 1] = p[i];
}""",
    "pointers that walk": """
if (h > 0) for (int t = 0; t < steps; t++) {
  double *to = p + 1, *from = v + 1;
  for (int i = 1; i < w - 1; i++, to++, from++) *to = (from[-1] + from[0] + from[1]) / 3;
  to = v + 1; from = p + 1;
  for (int i = 1; i < w - 1; i++) *to++ = *from++;
}""",
    "with the time": """
for (int t = 0; t < steps; t++) {
  EACH AT(p, i, j) = FLAT(v) + 0.01 * t + (t < 3 ? 0.5 : 0);
  EACH AT(v, i, j) = AT(p, i, j);
}""",
    "two statements": """
for (int t = 0; t < steps; t++) {
  EACH AT(p, i, j) = FLAT(v);
  EACH AT(p, i, j) = AT(p, i, j) * 0.75;
  EACH AT(v, i, j) = AT(p, i, j);
}""",
    "a border that moves": """
if (h > 2) for (int t = 0; t < steps; t++) {
  EACH AT(p, i, j) = FLAT(v);
  EACH AT(v, i, j) = AT(p, i, j);
  for (int j = 1; j < w - 1; j++) { AT(v, 0, j) = AT(v, 1, j); AT(v, h - 1, j) = AT(v, h - 2, j); }
}""",
    "around a ring, elsewhere": """
if (h > 2 && w > 3) for (int t = 0; t < steps; t++) {
  for (int i = 1; i <= h - 2; i++) for (int j = 1; j <= w - 1; j++)
    AT(p, i - 1, j - 1) = (AT(v, i, j) + AT(v, i - 1, (j + w - 3) % (w - 1) + 1)
                           + AT(v, i - 1, j % (w - 1) + 1) + AT(v, i, j == 1 ? w - 1 : j - 1)) / 4;
  for (int i = 1; i <= h - 2; i++) for (int j = 1; j <= w - 1; j++) AT(v, i, j) = AT(p, i - 1, j - 1);
  for (int j = 1; j <= w - 1; j++) AT(v, 0, j) = AT(v, h - 2, j);
  for (int j = 1; j <= w - 1; j++) AT(v, h - 1, j) = AT(v, 1, j);
}""",
    "mirrored": """
if (h > 0) for (int t = 0; t < steps; t++) {
  for (int i = 1; i < w - 1; i++) p[i] = (v[i - 1] + v[i] + v[i + 1]) / 3;
  for (int i = 1; i < w - 1; i++) v[i] = p[w - 1 - i];
}""",
    "beside others": """
ALL AT(p, i, j) = AT(v, i, j) / 3;
for (int t = 0; t < steps; t++) {
  EACH AT(p, i, j) = FLAT(v);
  EACH AT(v, i, j) = AT(p, i, j);
}
EACH AT(p, i, j) = AT(v, i, j) - AT(p, i - 1, j);""",
}
# copies of all that steps read: the two grids take turns themselves, without memory of the region's own
WHOLE = {
    "a ring": """
if (h > 0) for (int t = 0; t < steps; t++) {
  for (int i = 0; i < w; i++) p[i] = (v[(i + w - 1) % w] + v[i] + v[(i + 1) % w]) / 3;
  for (int i = 0; i < w; i++) v[i] = p[i];
}""",
    "a ring, copied first": """
if (h > 0) for (int t = 0; t < steps; t++) {
  memcpy(p, v, w * sizeof *v);
  for (int i = 0; i < w; i++) v[i] = (p[(i + w - 1) % w] + p[i] + p[(i + 1) % w]) / 3;
}""",
    "a plane on a ring": """
for (int t = 0; t < steps; t++) {
  ALL AT(p, i, j) = 0.25 * (AT(v, (i + h - 1) % h, j) + AT(v, (i + 1) % h, j)
                            + AT(v, i, (j + w - 1) % w) + AT(v, i, (j + 1) % w));
  ALL AT(v, i, j) = AT(p, i, j);
}""",
    "a line, copied first": """
if (h > 0) for (int t = 0; t < steps; t++) {
  for (int i = 0; i < w; i++) p[i] = v[i];
  for (int i = 1; i < w - 1; i++) v[i] = (p[i - 1] + p[i] + p[i + 1]) / 3;
}""",
    "counted down, copied first": """
for (int t = steps; t > 0; t--) {
  ALL AT(p, i, j) = AT(v, i, j);
  EACH AT(v, i, j) = FLAT(p) + 0.125 * t;
}""",
    "two sweeps, copied first": """
for (int t = 0; t < steps; t++) {
  ALL AT(p, i, j) = AT(v, i, j);
  EACH AT(v, i, j) = FLAT(p);
  EACH AT(v, i, j) = 0.75 * AT(v, i, j) + 0.25 * AT(p, i - 1, j);
}""",
    "copied first, beside others": """
ALL AT(p, i, j) = AT(v, i, j) / 3;
for (int t = 0; t < steps; t++) {
  ALL AT(p, i, j) = AT(v, i, j);
  EACH AT(v, i, j) = FLAT(p);
}
EACH AT(p, i, j) = AT(v, i, j) - AT(p, i - 1, j);""",
    "everything, beside others": """
ALL AT(v, i, j) = AT(p, i, j) / 3;
for (int t = 0; t < steps; t++) {
  EACH AT(p, i, j) = FLAT(v);
  ALL AT(v, i, j) = AT(p, i, j);
}
EACH AT(p, i, j) = AT(v, i, j) - AT(p, i - 1, j);""",
}
# copies of the interior of a line
LINES = {
    "a line of radius two": """
if (h > 0) for (int t = 0; t < steps; t++) {
  for (int i = 2; i < w - 2; i++) p[i] = (v[i - 2] + v[i - 1] + v[i] + v[i + 1] + v[i + 2]) / 5;
  for (int i = 2; i < w - 2; i++) v[i] = p[i];
}""",
    "a line from one side": """
if (h > 0) for (int t = 0; t < steps; t++) {
  for (int i = 1; i < w; i++) p[i] = v[i] - 0.5 * (v[i] - v[i - 1]);
  for (int i = 1; i < w; i++) v[i] = p[i];
}""",
    "rows by themselves": """
for (int t = 0; t < steps; t++) {
  for (int i = 0; i < h; i++) for (int j = 1; j < w - 1; j++) AT(p, i, j) = AT(v, i, j - 1) + AT(v, i, j + 1);
  for (int i = 0; i < h; i++) for (int j = 1; j < w - 1; j++) AT(v, i, j) = 0.5 * AT(p, i, j);
  for (int i = 0; i < h; i++) for (int j = 1; j < w - 1; j++) AT(p, i, j) = AT(v, i, j) - 1;
  for (int i = 0; i < h; i++) for (int j = 1; j < w - 1; j++) AT(v, i, j) = AT(p, i, j);
}""",
    "columns by themselves": """
for (int t = 0; t < steps; t++) {
  for (int i = 1; i < h - 1; i++) for (int j = 0; j < w; j++) AT(p, i, j) = AT(v, i - 1, j) + AT(v, i + 1, j);
  for (int i = 1; i < h - 1; i++) for (int j = 0; j < w; j++) AT(v, i, j) = AT(p, i, j);
}""",
}
# what looks like copies of the same kind, but is none of it
OTHERS = {
    "a part": """
for (int t = 0; t < steps; t++) {
  EACH AT(p, i, j) = FLAT(v);
  for (int i = 2; i < h - 2; i++) for (int j = 1; j < w - 1; j++) AT(v, i, j) = AT(p, i, j);
}""",
    "what was there": """
for (int t = 0; t < steps; t++) {
  EACH AT(p, i, j) = 0.5 * AT(p, i, j) + FLAT(v);
  EACH AT(v, i, j) = AT(p, i, j);
}""",
    "some steps": """
for (int t = 0; t < steps; t++) {
  EACH AT(p, i, j) = FLAT(v);
  if (t % 2 == 0) EACH AT(v, i, j) = AT(p, i, j);
}""",
    "fewer each step": """
for (int t = 0; t < steps; t++) {
  EACH AT(p, i, j) = FLAT(v);
  for (int i = 1; i < h - 1 - t; i++) for (int j = 1; j < w - 1; j++) AT(v, i, j) = AT(p, i, j);
}""",
}


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    folder = tmp_path_factory.mktemp("copied-grids")
    return run_steps(folder, GRIDS, FORMS | WHOLE | OTHERS, (3, 10, 8), contract_arrays="on")


@pytest.fixture(scope="module")
def unasked(tmp_path_factory):
    bodies = FORMS | WHOLE | LINES | OTHERS
    return run_steps(tmp_path_factory.mktemp("grids-in-turn"), GRIDS, bodies, (3, 10, 8))


@pytest.mark.parametrize("form", FORMS | WHOLE)
def test_copies_are_folded_away(outcome, form):
    before, after, region = outcome[form]
    assert after == before
    assert any("takes turns with" in each for each in region.remarks)


@pytest.mark.parametrize("form", OTHERS)
def test_other_copies_stay_right(outcome, form):
    before, after, _ = outcome[form]
    assert after == before


ALL_THERE = ("everything", "first", "first, with what was there", *WHOLE)
ONE_BORDER = {"a line", "pointers that walk", "a line from one side", "columns by themselves"}
IN_PLACE = {*ALL_THERE, *ONE_BORDER}


@pytest.mark.parametrize("form", FORMS | WHOLE | LINES | OTHERS)
def test_grids_take_turns_in_their_own_memory(unasked, form):
    before, after, region = unasked[form]
    assert after == before
    assert any("'v' takes turns with 'p'" in each for each in region.remarks) == (form in IN_PLACE)


PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define N 40
#define EACH for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++)
#define POINTS for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++) for (int k = 1; k < n - 1; k++)
static double a[N][N], b[N][N], c[N][N], d[N][N], x[N][N][N], y[N][N][N];
static unsigned char l[N][N], m[N][N];
static float f[N], g[N];
static double *p[N], *q[N];
FUNCTIONS
static unsigned long long sum;
static void add(const void *data, unsigned long size)
{
  for (unsigned long k = 0; k < size; k++)
    sum = sum * 31 + ((const unsigned char *)data)[k];
}
static void fill(double *data, int count)
{
  for (int k = 0; k < count; k++)
    data[k] = (k * 7 + k / 5) % 101 / 3.0;
}
int main(void)
{
  static const int counts[] = {0, 3, 4, 5, 8, 9}, sizes[] = {0, 1, 2, 3, 4, 7, 33, N};
  void (*all[])(int, int) = {NAMES};
  for (unsigned k = 0; k < sizeof all / sizeof *all; k++) {
    sum = 0;
    for (int s = 0; s < 8; s++)
      for (int t = 0; t < 6; t++) {
        fill(*a, N * N), fill(*b, N * N), fill(*c, N * N), fill(*d, N * N);
        fill(**x, N * N * N), fill(**y, N * N * N);
        for (int i = 0; i < N; i++) {
          p[i] = a[(i + 3) % N], q[i] = b[N - 1 - i], f[i] = i % 7, g[i] = i % 5;
          for (int j = 0; j < N; j++)
            l[i][j] = i * j + 3 * i, m[i][j] = i ^ j;
        }
        all[k](counts[t], sizes[s]);
        add(a, sizeof a), add(b, sizeof b), add(c, sizeof c), add(d, sizeof d), add(x, sizeof x);
        add(y, sizeof y), add(l, sizeof l), add(m, sizeof m), add(f, sizeof f), add(g, sizeof g);
      }
    printf("%llu\\n", sum);
  }
  return 0;
}
"""
OTHER_GRIDS = {
    "two grids": """
EACH b[i][j] = a[i][j] - 0.3 * (c[i][j] - c[i - 1][j]);
EACH d[i][j] = c[i][j] - 0.2 * (b[i][j] - a[i][j - 1]);
EACH a[i][j] = b[i][j];
EACH c[i][j] = d[i][j];""",
    "space": """
POINTS y[i][j][k] = 0.125 * (x[i][j][k - 1] + x[i][j][k + 1] + x[i][j - 1][k] + x[i][j + 1][k]
  + x[i - 1][j][k] + x[i + 1][j][k]) + 0.25 * x[i][j][k];
POINTS x[i][j][k] = y[i][j][k];""",
    "bytes": """
EACH m[i][j] = l[i][j - 1] + l[i][j + 1] + (l[i - 1][j] ^ l[i + 1][j]);
memcpy(l, m, sizeof l);""",
    "floats": """
for (int i = 0; i < n; i++) g[i] = f[i];
for (int i = 1; i < n - 1; i++) f[i] = (g[i - 1] + g[i] + g[i + 1]) / 3;""",
    "rows": """
EACH q[i][j] = 0.25 * (p[i][j - 1] + p[i][j + 1] + p[i - 1][j] + p[i + 1][j]);
EACH p[i][j] = q[i][j];""",
    "a grid of the function": """
EACH own[i][j] = 0.25 * (a[i][j - 1] + a[i][j + 1] + a[i - 1][j] + a[i + 1][j]);
EACH a[i][j] = own[i][j];""",
}


@pytest.fixture(scope="module", params=["on", "auto"])
def others(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("other-grids")
    functions = "".join(
        f"""
static void f{number}(int steps, int n)
{{
  double own[N][N] __attribute__((unused));
#pragma scop
  for (int t = 0; t < steps; t++) {{{body}}}
#pragma endscop
}}
"""
        for number, body in enumerate(OTHER_GRIDS.values())
    )
    names = ", ".join(f"f{number}" for number in range(len(OTHER_GRIDS)))
    text = PROGRAM.replace("FUNCTIONS", functions).replace("NAMES", names)
    source = write(folder / "in.c", text)
    options = {"min_work": False, "contract_arrays": request.param}
    result = transform(source, text, "-O2", "-ffp-contract=off", **options)
    transformed = write(folder / "out.c", result.text)
    before, after = (output(each, "-fopenmp").split() for each in (source, transformed))
    found = dict(zip(OTHER_GRIDS, zip(before, after, result.regions, strict=True), strict=True))
    return request.param, found


@pytest.mark.parametrize("grids", OTHER_GRIDS)
def test_grids_of_other_kinds_take_turns(others, grids):
    asked, found = others
    before, after, region = found[grids]
    assert after == before
    # the borders of all others may be somebody else's, or not be there, and have many parts
    in_place = grids in {"two grids", "bytes", "floats", "a grid of the function"}
    assert any("takes turns with" in each for each in region.remarks) == (asked == "on" or in_place)
