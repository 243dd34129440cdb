"""Pointers that change places between steps, however that is written: tiles over time, equal to the bit."""

from __future__ import annotations

import re

import pytest
from compiling import QUICK, output, transform, write

TOP = """\
#include <stdio.h>
#include <stdlib.h>
#define EACH for (int i = 1; i < h - 1; i++) for (int j = 1; j < w - 1; j++)
#define AT(u, i, j) u[(i)*w + (j)]
#define STEP(to, from) EACH AT(to, i, j) = 0.2 * (AT(from, i, j) + AT(from, i, j - 1) \\
  + AT(from, i, j + 1) + AT(from, i - 1, j) + AT(from, i + 1, j));
#define WAVE(to, from, old) EACH AT(to, i, j) = 2 * AT(from, i, j) - AT(old, i, j) \\
  + 0.1 * (AT(from, i, j - 1) + AT(from, i, j + 1) + AT(from, i - 1, j) + AT(from, i + 1, j));
#define SWAP(x, y) do { double *kept = x; x = y; y = kept; } while (0)
static void swap(double **x, double **y) { double *kept = *x; *x = *y; *y = kept; }
struct three { double *a, *b, *c; };
struct grids { int w; double *a, *b, *c, *old, *g[3]; struct three in; };
static void turn(struct grids *s) { double *kept = s->a; s->a = s->b; s->b = kept; }
int fallbacks;
"""
FUNCTION = """\
static int f{number}(int steps, int h, int w, double *a, double *b, double *c, double **held)
{{
  double *tmp = a;
#pragma scop
{body}
#pragma endscop
  held[0] = a; held[1] = b; held[2] = c; held[3] = tmp;
  return steps + w;
}}
"""
IN_MEMORY = """\
static int f{number}(int steps, int h, int w, double *a, double *b, double *c, double **held)
{{
  double *tmp = a, *g[3] = {{a, b, c}};
  struct grids own = {{w, a, b, c, a, {{a, b, c}}, {{a, b, c}}}}, *s = steps > 0 ? &own : 0;
#pragma scop
{body}
#pragma endscop
  held[0] = {A}; held[1] = {B}; held[2] = {C}; held[3] = own.old;
  return steps + w + (tmp != a) + (s == &own) + (g[0] != a);
}}
"""
MAIN = """\
typedef int solver(int, int, int, double *, double *, double *, double **);
int main(void)
{
  static const int sizes[] = {0, 1, 2, 3, 7, 33, 100}, counts[] = {-1, 0, 1, 2, 3, 7, 10};
  solver *all[] = {FUNCTIONS};
  for (unsigned k = 0; k < sizeof all / sizeof *all; k++) {
    unsigned long long sum = 0;
    for (int s = 0; s < 7; s++)
      for (int c = 0; c < 7; c++) {
        int h = sizes[s], w = sizes[6 - s] + 5, n = h * w;
        double *u = malloc((3 * n + 1) * sizeof *u), *held[4] = {u, u, u, u};
        for (int i = 0; i < 3 * n; i++)
          u[i] = (i * 7 + i / 5) % 101 / 3.0;
        sum = sum * 31 + all[k](counts[c], h, w, u, u + n, u + 2 * n, held);
        for (int i = 0; i < 3 * n * (int)sizeof *u; i++)
          sum = sum * 31 + ((unsigned char *)u)[i];
        for (int i = 0; i < 4; i++)
          sum = sum * 31 + (held[i] - u);
        free(u);
      }
    printf("%llu %d\\n", sum, fallbacks);
    fallbacks = 0;
  }
  for (int far = 10; far <= 35; far += 25) { /* grids that overlap, and such that do not */
    double u[100], sum = 0, *held[4];
    for (int i = 0; i < 100; i++)
      u[i] = i * i % 17;
    f0(5, 5, 7, u, u + far, u, held);
    for (int i = 0; i < 100; i++)
      sum = 1.25 * sum + u[i];
    printf("%a%d %d\\n", sum, (int)(held[0] - u), fallbacks);
    fallbacks = 0;
  }
  return 0;
}
"""
LOOP = "for (int t = 0; t < steps; t++)"
FORMS = {
    "at the end": f"{LOOP} {{ STEP(b, a) tmp = a; a = b; b = tmp; }}",
    "at the start": f"{LOOP} {{ tmp = b; b = a; a = tmp; STEP(b, a) }}",
    "in the middle": f"{LOOP} {{ STEP(b, a) tmp = a; a = b; b = tmp;\n EACH AT(b, i, j) += 1; }}",
    "a pointer of the step": f"{LOOP} {{ STEP(b, a) double *s = a; a = b; b = s; }}",
    "a macro": f"{LOOP} {{ STEP(b, a) SWAP(a, b); }}",
    "a function": f"{LOOP} {{ STEP(b, a) swap(&a, &b); }}",
    "a function, twice": f"{LOOP} {{ WAVE(c, b, a) swap(&a, &b); swap(&b, &c); }}",
    "in one statement": f"{LOOP} {{ STEP(b, a) tmp = a, a = b, b = tmp; }}",
    "steps from one": "for (int t = 1; t <= steps; t++) { STEP(b, a) SWAP(a, b); }",
    "a while loop": "while (steps-- > 0) { STEP(b, a) SWAP(a, b); }",
    "a while loop that counts": "int t = 0;\n while (t < steps) { STEP(b, a) SWAP(a, b); t++; }",
    "downwards": "for (int t = steps; t > 0; t--) { STEP(b, a) SWAP(a, b); }",
    "seven steps": "for (int t = 0; t < 7; t++) { STEP(b, a) SWAP(a, b); }",
    "eight steps": "for (int t = 0; t < 8; t++) { STEP(b, a) SWAP(a, b); }",
    "the time itself": f"{LOOP} {{ STEP(b, a)\n EACH AT(b, i, j) += 0.01 * t;\n SWAP(a, b); }}",
    "three pointers": f"{LOOP} {{ WAVE(c, b, a) tmp = a; a = b; b = c; c = tmp; }}",
    "two swaps of three pointers": f"{LOOP} {{ WAVE(c, b, a) SWAP(a, b); SWAP(b, c); }}",
    "a line": f"{LOOP} {{ for (int i = 1; i < h - 1; i++) b[i] = (a[i - 1] + a[i + 1]) / 2;\n SWAP(a, b); }}",
    "a line, counting down": """while (steps-- > 0) {
  for (int i = 1; i < h - 1; i++) b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3;
  SWAP(a, b);
}""",
    "the last grid used": f"{LOOP} {{ STEP(b, a) SWAP(a, b); }}\n EACH AT(c, i, j) = AT(a, i, j);",
    "a grid set before": f"EACH AT(b, i, j) = 1;\n {LOOP} {{ STEP(b, a) SWAP(a, b); }}",
}
# where the pointers are: as the region names them, and as it is without looking where nothing is
PLACES = {
    "members behind a pointer": ("s->a s->b s->c", "own.a own.b own.c"),
    "members": ("own.a own.b own.c", "own.a own.b own.c"),
    "elements": ("g[0] g[1] g[2]", "g[0] g[1] g[2]"),
    "elements of a member": ("s->g[0] s->g[1] s->g[2]", "own.g[0] own.g[1] own.g[2]"),
    "members of a member": ("s->in.a s->in.b s->in.c", "own.in.a own.in.b own.in.c"),
}
IN_PLACES = {
    "at the end": f"{LOOP} {{ STEP(B, A) tmp = A; A = B; B = tmp; }}",
    "a macro": f"{LOOP} {{ STEP(B, A) SWAP(A, B); }}",
    "a function": f"{LOOP} {{ STEP(B, A) swap(&A, &B); }}",
    "three pointers": f"{LOOP} {{ WAVE(C, B, A) tmp = A; A = B; B = C; C = tmp; }}",
    "a while loop": "while (steps-- > 0) { STEP(B, A) SWAP(A, B); }",
    "in a loop": "for (int r = 0; r < steps; r++) for (int t = 0; t < 5; t++) { STEP(B, A) SWAP(A, B); }",
    "used after": f"{LOOP} {{ STEP(B, A) SWAP(A, B); }}\n if (steps > 0) EACH AT(c, i, j) = AT(A, i, j);",
}
OF_STRUCTURES = {
    "a function of the structure": f"{LOOP} {{ STEP(s->b, s->a) turn(s); }}",
    "a member that keeps one": f"{LOOP} {{ STEP(s->b, s->a) s->old = s->a; s->a = s->b; s->b = s->old; }}",
}


EVERYWHERE = ("at the end", "a function")
COMBINED = [
    (form, place)
    for place in PLACES
    for form in IN_PLACES
    if place == "members behind a pointer" or form in EVERYWHERE
]
IN_MEMORY_FORMS = [*(f"{form}, {place}" for form, place in COMBINED), *OF_STRUCTURES]


def _functions():
    bodies = [FUNCTION.format(number=number, body=body) for number, body in enumerate(FORMS.values())]
    for form, place in COMBINED:
        places, left = (dict(zip("ABC", each.split(), strict=True)) for each in PLACES[place])
        body = re.sub(r"\b[ABC]\b", lambda match, places=places: places[match[0]], IN_PLACES[form])
        bodies.append(IN_MEMORY.format(number=len(bodies), body=body, **left))
    own = {each: f"own.{each.lower()}" for each in "ABC"}
    for body in OF_STRUCTURES.values():
        bodies.append(IN_MEMORY.format(number=len(bodies), body=body, **own))
    return bodies


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pointer-rotation")
    functions = _functions()
    pointers = ", ".join(f"f{number}" for number in range(len(functions)))
    text = TOP + "".join(functions) + MAIN.replace("FUNCTIONS", pointers)
    source = write(folder / "in.c", text)
    result = transform(source, text, "-O2", "-ffp-contract=off", tile_sizes=(3, 10, 8))
    original = "} else { /* the original loops */"
    transformed = write(folder / "out.c", result.text.replace(original, f"{original} fallbacks++;"))
    lines = [output(each, "-fopenmp", *QUICK).splitlines() for each in (source, transformed)]
    regions = [*result.regions, None, None]
    names = [*FORMS, *IN_MEMORY_FORMS, "overlapping", "apart"]
    return dict(zip(names, zip(*lines, regions, strict=True), strict=True))


@pytest.mark.parametrize("form", [*FORMS, *IN_MEMORY_FORMS])
def test_tiled_over_time(outcome, form):
    before, after, region = outcome[form]
    assert after == before
    # steps that are counted in two loops are tiled in neither
    assert any("stencil over time" in each for each in region.remarks) or form.startswith("in a loop")


@pytest.mark.parametrize(("grids", "fallbacks"), [("overlapping", "1"), ("apart", "0")])
def test_grids_that_overlap_run_the_original_loops(outcome, grids, fallbacks):
    before, after, _ = outcome[grids]
    assert after.split() == [before.split()[0], fallbacks]
