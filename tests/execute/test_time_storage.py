"""Steps that keep two grids or three, however that is written: tiles over time, equal to the bit."""

from __future__ import annotations

import pytest
from compiling import transform
from step_programs import Grids, run_steps, tree_of

GRIDS = Grids(
    """
#define EACH for (int i = 1; i < h - 1; i++) for (int j = 1; j < w - 1; j++)
#define AT(u, i, j) u[(i)*w + (j)]
#define MEAN(p) (0.2 * (p[i][j] + p[i][j - 1] + p[i][j + 1] + p[i - 1][j] + p[i + 1][j]))
#define FLAT(p) (0.2 * (AT(p, i, j) + AT(p, i, j - 1) + AT(p, i, j + 1) + AT(p, i - 1, j) + AT(p, i + 1, j)))
static void step(int h, int w, double to[h][w], double from[h][w]) { EACH to[i][j] = MEAN(from); }
""",
    "int steps, int h, int w, double u[4][h][w], double *restrict v, double *restrict p",
    "h * w",
)
FORMS = {
    "remainders": "for (int t = 0; t < steps; t++) EACH u[(t + 1) % 2][i][j] = MEAN(u[t % 2]);",
    "a line": """
for (int t = 0; t < steps; t++)
  for (int j = 1; j < w - 1; j++)
    u[(t + 1) % 2][1][j] = 0.3 * (u[t % 2][1][j - 1] + u[t % 2][1][j] + u[t % 2][1][j + 1]);""",
    "masks": "for (int t = 0; t < steps; t++) EACH u[(t + 1) & 1][i][j] = MEAN(u[t & 1]);",
    "exclusive or": "for (int t = 0; t < steps; t++) EACH u[(t & 1) ^ 1][i][j] = MEAN(u[t & 1]);",
    "differences": "for (int t = 0; t < steps; t++) EACH u[1 - t % 2][i][j] = MEAN(u[t % 2]);",
    "steps from one": "for (int t = 1; t <= steps; t++) EACH u[t % 2][i][j] = MEAN(u[(t - 1) % 2]);",
    "names of grids": """
for (int t = 0; t < steps; t++) {
  const int now = t % 2, next = 1 - now;
  EACH u[next][i][j] = MEAN(u[now]);
}""",
    "numbers of grids that flip": """
int now = 0;
for (int t = 0; t < steps; t++) {
  EACH u[1 - now][i][j] = MEAN(u[now]);
  now = 1 - now;
}
p[0] = now;""",
    "numbers of grids that change places": """
int now = 0, next = 1;
for (int t = 0; t < steps; t++) {
  EACH u[next][i][j] = MEAN(u[now]);
  int kept = now;
  now = next;
  next = kept;
}
p[0] = next;""",
    "numbers of grids in a while loop": """
int now = 0, t = 0;
while (t < steps) {
  EACH u[!now][i][j] = MEAN(u[now]);
  now ^= 1;
  t++;
}
p[0] = now;""",
    "numbers of three grids": """
int old = 0, now = 1, next = 2;
for (int t = steps; t > 0; t--) {
  EACH u[next][i][j] = MEAN(u[now]) - u[old][i][j];
  int kept = old;
  old = now; now = next; next = kept;
}
p[0] = 9 * old + 3 * now + next;""",
    "a number of four grids": """
int now = 3;
for (int t = 0; t < steps; t++) {
  EACH u[(now + 1) % 4][i][j] = MEAN(u[now]) - u[(now + 2) % 4][i][j];
  now = (now + 1) % 4;
}
p[0] = now;""",
    "a function of planes": "for (int t = 0; t < steps; t++) step(h, w, u[(t + 1) % 2], u[t % 2]);",
    "conditions": """
for (int t = 0; t < steps; t++) {
  if (t % 2 == 0) { EACH u[1][i][j] = MEAN(u[0]); }
  else { EACH u[0][i][j] = MEAN(u[1]); }
}""",
    "choices": """
for (int t = 0; t < steps; t++)
  EACH u[t % 2 ? 0 : 1][i][j] = MEAN(u[t % 2 == 0 ? 0 : 1]);""",
    "flat subscripts": """
for (int t = 0; t < steps; t++)
  EACH AT(v, (t + 1) % 2 * h + i, j) = 0.2 * (AT(v, t % 2 * h + i, j) + AT(v, t % 2 * h + i, j - 1)
    + AT(v, t % 2 * h + i, j + 1) + AT(v, t % 2 * h + i - 1, j) + AT(v, t % 2 * h + i + 1, j));""",
    "pointers to grids": """
for (int t = 0; t < steps; t++) {
  double *from = v + t % 2 * h * w, *to = v + (t + 1) % 2 * h * w;
  EACH AT(to, i, j) = FLAT(from);
}""",
    "chosen rows": """
for (int t = 0; t < steps; t++) {
  double (*from)[w] = t % 2 ? u[1] : u[0], (*to)[w] = t % 2 ? u[0] : u[1];
  EACH to[i][j] = MEAN(from);
}""",
    "chosen pointers": """
for (int t = 0; t < steps; t++) {
  double *from = (t & 1) ? p : v;
  double *to = (t & 1) ? v : p;
  EACH AT(to, i, j) = FLAT(from);
}""",
    "pointers set by conditions": """
for (int t = 0; t < steps; t++) {
  double *from, *to;
  if (t % 2 == 0) { from = v; to = p; } else { from = p; to = v; }
  EACH AT(to, i, j) = FLAT(from);
}""",
    "pointers set anew in odd steps": """
for (int t = 0; t < steps; t++) {
  double *from = v, *to = p;
  if (t % 2) { from = p; to = v; }
  EACH AT(to, i, j) = FLAT(from);
}""",
    "a table of pointers": """
double *both[2] = {v, p};
for (int t = 0; t < steps; t++)
  EACH AT(both[(t + 1) % 2], i, j) = FLAT(both[t % 2]);""",
    "a flag": """
int odd = 0;
for (int t = 0; t < steps; t++) {
  double *from = odd ? p : v;
  double *to = odd ? v : p;
  EACH AT(to, i, j) = FLAT(from);
  odd = !odd;
}
u[0][0][0] = odd;""",
    "choices in subscripts": """
for (int t = 0; t < steps; t++)
  EACH (t % 2 ? u[0] : u[1])[i][j] = MEAN((t % 2 ? u[1] : u[0]));""",
    "chosen arguments": """
for (int t = 0; t < steps; t++)
  step(h, w, t % 2 ? u[0] : u[1], t % 2 ? u[1] : u[0]);""",
    "three grids": """
for (int t = 1; t <= steps; t++)
  EACH u[(t + 1) % 3][i][j] = 2 * u[t % 3][i][j] - u[(t - 1) % 3][i][j] + 0.1 * MEAN(u[t % 3]);""",
    "four grids": """
for (int t = 0; t < steps; t++)
  EACH u[(t + 1) % 4][i][j] = MEAN(u[t % 4]) - u[(t + 2) % 4][i][j];""",
    "the time itself": """
for (int t = 0; t < steps; t++) {
  EACH u[(t + 1) % 2][i][j] = MEAN(u[t % 2]) + 0.01 * t;
  u[(t + 1) % 2][1][1] += sin(t);
}""",
    "a condition on the time": """
for (int t = 0; t < steps; t++)
  EACH u[(t + 1) % 2][i][j] = MEAN(u[t % 2]) + (t < 3 ? 1.5 : 0);""",
    "two statements": """
for (int t = 0; t < steps; t++) {
  EACH u[2 + t % 2][i][j] = u[2 + (t + 1) % 2][i][j] - 0.5 * (u[t % 2][i][j] - u[t % 2][i - 1][j - 1]);
  EACH u[(t + 1) % 2][i][j] = u[t % 2][i][j] - 0.7 * (u[2 + t % 2][i + 1][j + 1] - u[2 + t % 2][i][j]);
}""",
    "two steps": """
for (int t = 0; t < steps; t++) {
  EACH u[1][i][j] = MEAN(u[0]);
  EACH u[0][i][j] = MEAN(u[1]);
}""",
    "repeated": """
for (int round = 1; round < 4; round++)
  for (int t = 0; t < steps; t++)
    EACH u[(t + 1) % 2][i][j] = MEAN(u[t % 2]) / round;""",
    "copies": """
for (int t = 0; t < steps; t++) {
  EACH u[1][i][j] = MEAN(u[0]);
  EACH u[0][i][j] = u[1][i][j];
}""",
}


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    return run_steps(tmp_path_factory.mktemp("time-storage"), GRIDS, FORMS, (3, 10, 8))


@pytest.mark.parametrize("form", FORMS)
def test_tiled_over_time(outcome, form):
    before, after, region = outcome[form]
    assert after == before
    assert any("stencil over time" in each for each in region.remarks)


# one step from a grid to the other; counted from 0, so that the trees have the same bounds
ALIKE = [
    "remainders",
    "masks",
    "exclusive or",
    "differences",
    "names of grids",
    "numbers of grids that flip",
    "numbers of grids that change places",
    "numbers of grids in a while loop",
    "conditions",
    "choices",
    "flat subscripts",
    "pointers to grids",
    "a function of planes",
    "chosen rows",
    "choices in subscripts",
    "chosen arguments",
]
POINTERS = {
    "pointers": "double *kept = v; v = p; p = kept;",
    "a function": "swap(&v, &p);",
}
CHOSEN = [
    "chosen pointers",
    "pointers set by conditions",
    "a table of pointers",
]
PARAMETERS = "int steps, int h, int w, double *restrict v, double *restrict p"


def test_all_forms_have_the_same_tree(tmp_path):
    """Bands, marks and tiles are the same, however the storage of two grids is written."""
    top = f"""{GRIDS.macros}
static void swap(double **x, double **y) {{ double *kept = *x; *x = *y; *y = kept; }}
"""
    frame = "void f{}({}) {{\n{}\n#pragma scop\n{}\n#pragma endscop\n}}\n"
    bodies = [(GRIDS.parameters, "", FORMS[each].partition("p[0]")[0].strip()) for each in ALIKE]
    flip = bodies[ALIKE.index("numbers of grids that flip")][2]
    declared, _, loop = flip.partition("\n")
    bodies.append((GRIDS.parameters, declared, loop))
    for change in POINTERS.values():
        loop = f"for (int t = 0; t < steps; t++) {{ EACH AT(p, i, j) = FLAT(v); {change} }}"
        bodies.append((PARAMETERS, "", loop))
    bodies += [(PARAMETERS, "", FORMS[each]) for each in CHOSEN]
    text = top + "".join(frame.format(number, *each) for number, each in enumerate(bodies))
    result = transform(tmp_path / "in.c", text, "-O2")
    names = [*ALIKE, "set before the region", *POINTERS, *CHOSEN]
    trees = dict(zip(names, map(tree_of, result.details), strict=True))
    assert {name for name, tree in trees.items() if tree != trees["remainders"]} == set()
