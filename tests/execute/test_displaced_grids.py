"""Steps between grids at unknown places of one array: tiles over time, equal to the bit, if apart."""

from __future__ import annotations

import pytest
from compiling import QUICK, output, transform, write

TOP = """\
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#define EACH for (int i = 1; i < h - 1; i++) for (int j = 1; j < w - 1; j++)
#define AT(p, k, i, j) p[(k) + (i)*w + (j)]
#define FLAT(p, k) (0.2 * (AT(p, k, i, j) + AT(p, k, i, j - 1) + AT(p, k, i, j + 1) + AT(p, k, i - 1, j) \\
  + AT(p, k, i + 1, j)))
#define MEAN(p) (0.2 * (p[i][j] + p[i][j - 1] + p[i][j + 1] + p[i - 1][j] + p[i + 1][j]))
#define MOVE(to, from) EACH AT(a, to, i, j) = FLAT(a, from);
#define COPY(to, from) EACH AT(a, to, i, j) = AT(a, from, i, j);
#define STEP(to, from) EACH u[to][i][j] = MEAN(u[from]);
#define LOOP for (int t = 0; t < steps; t++)
struct pool { double *a; int from, to; };
int fallbacks;
static int place;
"""
FUNCTION = """\
static int f{number}(int steps, int h, int w, int from, int to, double *restrict a, struct pool *s)
{{
  {before}
#pragma scop
{body}
#pragma endscop
  return 3 * from + to + steps + h + w + (s != 0) + ({after});
}}
"""
MAIN = """\
typedef int solver(int, int, int, int, int, double *, struct pool *);
static void run(solver *f, int planes, int apart)
{
  static const int sizes[] = {0, 1, 2, 3, 7, 33, 100}, counts[] = {-1, 0, 1, 2, 3, 8, 9};
  unsigned long long sum = 0;
  fallbacks = 0;
  for (int at = 0; at < 7 * 7 * 2; at++) {
    int h = sizes[at % 7], w = sizes[6 - at % 7] + 2, n = h * w, odd = at / 49, steps = counts[at / 7 % 7];
    int far = apart ? n + 3 : n / 2 * odd, first = odd ? far : 5, second = odd ? 5 : far + 5;
    double *u = malloc((5 * n + 20) * sizeof *u);
    if (planes) {
      first = odd ? 3 : 1;
      second = apart ? 2 - odd : first;
    }
    struct pool own = {u, first, second};
    place = second;
    for (int i = 0; i < 5 * n + 20; i++)
      u[i] = (i * 7 + i / 5) % 101 / 3.0;
    sum = sum * 31 + f(steps, h, w, first, second, u, steps > 0 ? &own : 0);
    for (int i = 0; i < (5 * n + 20) * (int)sizeof *u; i++)
      sum = sum * 31 + ((unsigned char *)u)[i];
    sum = sum * 31 + 5 * own.from + own.to + 7 * place;
    free(u);
  }
  printf("%llu %d ", sum, fallbacks);
}
int main(void)
{
  solver *all[] = {FUNCTIONS};
  for (int k = 0; k < (int)(sizeof all / sizeof *all); k++) {
    run(all[k], PLANES[k], 1);
    run(all[k], PLANES[k], 0);
    printf("\\n");
  }
  return 0;
}
"""
PLANES = "double (*u)[h][w] = (double (*)[h][w])a;"
LINE = "for (int i = 1; i < h - 1; i++) a[to + i] = 0.3 * (a[from + i - 1] + a[i + 1 + from]);"
SWAP = "int k = from; from = to; to = k;"
# what stands before the region, the region, and what is looked at after it
FORMS = {
    "changing places": ("", f"LOOP {{ MOVE(to, from) {SWAP} }}", "0"),
    "one of no displacement": ("", f"from = 0;\nLOOP {{ MOVE(to, from) {SWAP} }}", "0"),
    "one of no displacement before": ("from = 0; to += 5;", f"LOOP {{ MOVE(to, from) {SWAP} }}", "0"),
    "copied back": ("", "LOOP { MOVE(to, from) COPY(from, to) }", "0"),
    "copied back to the start": ("to += 5;", "LOOP { MOVE(to, 0) COPY(0, to) }", "0"),
    "there and back": ("", "LOOP { MOVE(to, from) MOVE(from, to) }", "0"),
    "in turns": ("", "LOOP { if (t % 2 == 0) { MOVE(to, from) } else { MOVE(from, to) } }", "0"),
    "in turns by bits": ("", "LOOP { if (t & 1) { MOVE(from, to) } else { MOVE(to, from) } }", "0"),
    "members": ("", "LOOP { MOVE(s->to, s->from) int k = s->from; s->from = s->to; s->to = k; }", "0"),
    "members, copied back": ("", "LOOP { MOVE(s->to, s->from) COPY(s->from, s->to) }", "0"),
    "of what a member leads to": (
        "",
        "LOOP { EACH AT(s->a, to, i, j) = FLAT(s->a, from); EACH AT(s->a, from, i, j) = AT(s->a, to, i, j);}",
        "0",
    ),
    "a variable of the file": ("", "LOOP { MOVE(place, from) COPY(from, place) }", "0"),
    "a line": (
        "",
        f"LOOP {{ {LINE} {SWAP} }}",
        "0",
    ),
    "planes in turns": (PLANES, "LOOP { if (t % 2 == 0) { STEP(to, from) } else { STEP(from, to) } }", "0"),
    "planes copied back": (
        PLANES,
        "LOOP { STEP(to, from) EACH u[from][i][j] = u[to][i][j]; }",
        "0",
    ),
    "planes there and back": (PLANES, "LOOP { STEP(to, from) STEP(from, to) }", "0"),
    "planes by members": (PLANES, "LOOP { STEP(s->to, s->from) STEP(s->from, s->to) }", "0"),
}


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    folder = tmp_path_factory.mktemp("displaced-grids")
    functions = [
        FUNCTION.format(number=number, before=before, body=body, after=after)
        for number, (before, body, after) in enumerate(FORMS.values())
    ]
    pointers = ", ".join(f"f{number}" for number in range(len(functions)))
    planes = ", ".join("1" if before == PLANES else "0" for before, _, _ in FORMS.values())
    main = MAIN.replace("FUNCTIONS", pointers)
    text = TOP + f"static const int PLANES[] = {{{planes}}};\n" + "".join(functions) + main
    source = write(folder / "in.c", text)
    result = transform(source, text, "-O2", "-ffp-contract=off", tile_sizes=(3, 10, 8))
    original = "} else { /* the original loops */"
    transformed = write(folder / "out.c", result.text.replace(original, f"{original} fallbacks++;"))
    flags = ("-Wno-unused-but-set-variable", "-Wno-unused-parameter", "-fopenmp", *QUICK)
    lines = [output(each, *flags).splitlines() for each in (source, transformed)]
    return dict(zip(FORMS, zip(*lines, result.regions, strict=True), strict=True))


@pytest.mark.parametrize("form", FORMS)
def test_tiled_over_time(outcome, form):
    before, after, region = outcome[form]
    (apart, _, together, _), (found, few, met, some) = before.split(), after.split()
    assert (found, met) == (apart, together)
    assert int(few) < 7 * 7
    assert int(some) > int(few)
    assert any("stencil over time" in each for each in region.remarks)
    assert not any("all steps before" in each for each in region.remarks)


LEFT_ALONE = {
    "a row of many": "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) a[to + i] += a[from + j];",
    "used elsewhere": "LOOP for (int i = 1; i < n - to; i++) a[to + i] = a[from + i];",
    "one place": "LOOP EACH a[to + i] = 0.5 * a[to + i - 1];",
    "an element of the time": "LOOP EACH a[to + t] += a[from + i];",
    "a number that changes": "LOOP { EACH a[to + i] = a[from + i]; to++; }",
    "neighbours far away": "LOOP { EACH b[i] = a[i] + a[to + i]; EACH a[i] = b[i]; }",
    "an unsigned number": "LOOP EACH a[m + i] = a[from + i];",
}


@pytest.mark.parametrize("form", LEFT_ALONE)
def test_left_alone(tmp_path, form):
    text = "#define LOOP for (int t = 0; t < steps; t++)\n#define EACH for (int i = 1; i < n; i++)\n"
    text += f"""
void f(int steps, int n, int from, int to, unsigned m, double *a, double *b)
{{
#pragma scop
{LEFT_ALONE[form]}
#pragma endscop
}}
"""
    result = transform(tmp_path / "in.c", text, "-O2")
    assert not any("_at_" in each.name for details in result.details for each in details.scop.arrays)
