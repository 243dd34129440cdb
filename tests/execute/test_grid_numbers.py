"""Steps between grids by numbers whose first is not known, or a sum: tiles over time, equal to the bit."""

from __future__ import annotations

import pytest
from compiling import QUICK, output, transform, write
from step_programs import tree_of

TOP = """\
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#define EACH for (int i = 1; i < h - 1; i++) for (int j = 1; j < w - 1; j++)
#define MEAN(p) (0.2 * (p[i][j] + p[i][j - 1] + p[i][j + 1] + p[i - 1][j] + p[i + 1][j]))
#define AT(k, i, j) a[(k) + (i)*w + (j)]
#define FLAT(k) (0.2 * (AT(k, i, j) + AT(k, i, j - 1) + AT(k, i, j + 1) + AT(k, i - 1, j) + AT(k, i + 1, j)))
#define STEP(to, from) EACH u[to][i][j] = MEAN(u[from]);
#define MOVE(to, from) EACH AT(to, i, j) = FLAT(from);
#define LOOP for (int t = 0; t < steps; t++)
struct grids { double *a; int now, next; };
int fallbacks;
static int the_one;
"""
FUNCTION = """\
static int f{number}(int steps, int h, int w, int now, int next, double *restrict a, struct grids *s)
{{
  {before}
#pragma scop
{body}
#pragma endscop
  return 3 * now + next + steps + h + w + (s != 0) + ({after});
}}
"""
MAIN = """\
typedef int solver(int, int, int, int, int, double *, struct grids *);
int main(void)
{
  static const int sizes[] = {0, 1, 2, 3, 7, 33}, counts[] = {-1, 0, 1, 2, 3, 8, 9};
  solver *all[] = {FUNCTIONS};
  for (unsigned k = 0; k < sizeof all / sizeof *all; k++) {
    unsigned long long sum = 0;
    for (int at = 0; at < 6 * 7 * 3; at++) {
      int h = sizes[at % 6], w = sizes[5 - at % 6] + 2, n = h * w;
      int now = at / 42 % FIRST[k], steps = counts[at / 6 % 7];
      double *u = malloc((4 * n + 1) * sizeof *u);
      struct grids own = {u, now, 1 - now};
      for (int i = 0; i < 4 * n; i++)
        u[i] = (i * 7 + i / 5) % 101 / 3.0;
      the_one = now;
      sum = sum * 31 + all[k](steps, h, w, now, 1 - now, u, steps > 0 ? &own : 0);
      for (int i = 0; i < 4 * n * (int)sizeof *u; i++)
        sum = sum * 31 + ((unsigned char *)u)[i];
      sum = sum * 31 + 5 * own.now + own.next + 7 * the_one;
      free(u);
    }
    printf("%llu %d\\n", sum, fallbacks);
    fallbacks = 0;
  }
  return 0;
}
"""
PLANES = "double (*u)[h][w] = (double (*)[h][w])a;"
# what stands before the region, the region, and what is looked at after it
FORMS = {
    "one less the number": (PLANES, "LOOP { STEP(1 - now, now) now = 1 - now; }", "now"),
    "exclusive or": (PLANES, "LOOP { STEP(now ^ 1, now) now ^= 1; }", "now"),
    "not": (PLANES, "LOOP { STEP(!now, now) now = !now; }", "now"),
    "remainders": (PLANES, "LOOP { STEP((now + 1) % 2, now) now = (now + 1) % 2; }", "now"),
    "a choice": (PLANES, "LOOP { STEP(now ? 0 : 1, now) now = now ? 0 : 1; }", "now"),
    "an unsigned number": (f"{PLANES} unsigned k = now;", "LOOP { STEP(1 - k, k) k = 1 - k; }", "(int)k"),
    "a name of the other": (PLANES, "LOOP { int to = 1 - now; STEP(to, now) now = to; }", "now"),
    "a name outside": (f"{PLANES} int to;", "LOOP { to = 1 - now; STEP(to, now) now = to; }", "now"),
    "changing places": (PLANES, "LOOP { STEP(next, now) int s = now; now = next; next = s; }", "now + next"),
    "both by differences": (PLANES, "LOOP { STEP(next, now) now = 1 - now; next = 1 - next; }", "now + next"),
    "changed first": (PLANES, "LOOP { now = 1 - now; STEP(now, 1 - now) }", "now"),
    "a while loop": (
        PLANES,
        "int t = 0;\nwhile (t < steps) { STEP(1 - now, now) now = 1 - now; t++; }",
        "now",
    ),
    "used after": (
        PLANES,
        "LOOP { STEP(1 - now, now) now = 1 - now; }\nEACH u[2][i][j] = u[now][i][j];",
        "now",
    ),
    "three grids": (PLANES, "LOOP { STEP((now + 1) % 3, now) now = (now + 1) % 3; }", "now"),
    "flat places": ("", "LOOP { MOVE((1 - now) * h * w, now * h * w) now = 1 - now; }", "now"),
    "a member": (PLANES, "LOOP { STEP(1 - s->now, s->now) s->now = 1 - s->now; }", "0"),
    "a member by bits": (PLANES, "LOOP { STEP(s->now ^ 1, s->now) s->now ^= 1; }", "0"),
    "members that change places": (
        PLANES,
        "LOOP { STEP(s->next, s->now) int k = s->now; s->now = s->next; s->next = k; }",
        "0",
    ),
    "what a pointer leads to": (
        f"{PLANES} int own = now, *k = &own;",
        "LOOP { STEP(1 - *k, *k) *k = 1 - *k; }",
        "own",
    ),
    "a variable of the file": (PLANES, "LOOP { STEP(1 - the_one, the_one) the_one = 1 - the_one; }", "0"),
    "a variable of the file by bits": (PLANES, "LOOP { STEP(the_one ^ 1, the_one) the_one ^= 1; }", "0"),
    "places that change places": (
        "",
        "int to = h * w, from = 0;\nLOOP { MOVE(to, from) int k = from; from = to; to = k; }\nnow = to;",
        "now",
    ),
    "places set before": (
        "int to = h * w, from = 0;",
        "LOOP { MOVE(to, from) int k = from; from = to; to = k; }",
        "to",
    ),
    "places of size_t": (
        "size_t plane = (size_t)h * w;",
        "size_t to = plane, from = 0;\nLOOP { MOVE(to, from) size_t k = from; from = to; to = k; }",
        "0",
    ),
    "a place by a difference": (
        "",
        "int from = 0;\nLOOP { MOVE(h * w - from, from) from = h * w - from; }",
        "0",
    ),
    "places by differences": (
        "",
        "int from = 0, to = h * w;\nLOOP { MOVE(to, from) from = h * w - from; to = h * w - to; }",
        "0",
    ),
    "pointers to places": (
        "",
        """int from = 0, to = h * w;
LOOP {
  double *p = a + from, *q = a + to;
  EACH q[i * w + j] = 0.3 * (p[i * w + j] + p[i * w + j - 1] + p[i * w - w + j] + p[i * w + w + j]);
  int k = from; from = to; to = k;
}""",
        "0",
    ),
}


# forms that run with a first number of 2, too: as that of three grids, and where there are others
THREE = {"three grids", "exclusive or", "a member by bits", "a variable of the file by bits"}
REMAINDERS = (PLANES, "LOOP { STEP((t + 1) % 2, t % 2) }", "0")


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    folder = tmp_path_factory.mktemp("grid-numbers")
    functions = [
        FUNCTION.format(number=number, before=before, body=body, after=after)
        for number, (before, body, after) in enumerate(FORMS.values())
    ]
    pointers = ", ".join(f"f{number}" for number in range(len(functions)))
    firsts = ", ".join("3" if each in THREE else "2" for each in FORMS)
    main = MAIN.replace("FUNCTIONS", pointers)
    text = TOP + f"static const int FIRST[] = {{{firsts}}};\n" + "".join(functions) + main
    source = write(folder / "in.c", text)
    result = transform(source, text, "-O2", "-ffp-contract=off", tile_sizes=(3, 10, 8))
    original = "} else { /* the original loops */"
    transformed = write(folder / "out.c", result.text.replace(original, f"{original} fallbacks++;"))
    flags = ("-Wno-unused-but-set-variable", "-fopenmp", *QUICK)
    lines = [output(each, *flags).splitlines() for each in (source, transformed)]
    return dict(zip(FORMS, zip(*lines, result.regions, strict=True), strict=True))


@pytest.mark.parametrize("form", FORMS)
def test_tiled_over_time(outcome, form):
    before, after, region = outcome[form]
    assert after.split()[0] == before.split()[0]
    assert int(after.split()[1]) < 6 * 7 * 3 / 2
    assert any("stencil over time" in each for each in region.remarks)
    assert not any("all steps before" in each for each in region.remarks)


def test_all_forms_have_the_same_tree(tmp_path):
    """Bands, marks and tiles are those of ``u[t % 2]``."""
    forms = {"remainders": REMAINDERS, **FORMS}
    for other in ("three grids", "used after"):
        del forms[other]
    functions = [
        FUNCTION.format(number=number, before=before, body=body, after=after)
        for number, (before, body, after) in enumerate(forms.values())
    ]
    result = transform(tmp_path / "in.c", TOP + "".join(functions), "-O2")
    trees = dict(zip(forms, map(tree_of, result.details), strict=True))
    assert {name for name, tree in trees.items() if tree != trees["remainders"]} == set()
