"""Residuals of each step of which the program looks at the last one: tiles over time, equal to the bit."""

from __future__ import annotations

import pytest
from compiling import QUICK, output, transform, write

PROGRAM = """\
#include <math.h>
#include <stdio.h>
#define EACH for (int i = 1; i < h - 1; i++) for (int j = 1; j < w - 1; j++)
#define MEAN(p) (0.2 * (p[i][j] + p[i][j - 1] + p[i][j + 1] + p[i - 1][j] + p[i + 1][j]))
#define FLAT(p) (0.2 * (p[i * w + j - 1] + p[i * w + j + 1] + p[(i - 1) * w + j] + p[(i + 1) * w + j]))
#define COLOUR for (int i = 1; i < h - 1; i++) for (int j = 1 + (i + c) % 2; j < w - 1; j += 2)
struct state { int steps; double residual; };
FUNCTIONS
typedef double solver(int, int, int, double *, double *, double *, struct state *);
enum { MOST = 100 };
static double pool[3 * MOST * MOST];
int main(void)
{
  static const int sizes[] = {0, 1, 2, 3, 7, 33, MOST}, counts[] = {0, 1, 2, 3, 8, 9};
  solver *all[] = {NAMES};
  for (unsigned k = 0; k < sizeof all / sizeof *all; k++) {
    unsigned long long sum = 0;
    for (int s = 0; s < 7; s++)
      for (int c = 0; c < 6; c++) {
        struct state state = {counts[c], -1};
        int h = sizes[s], w = s % 2 && h < 90 ? h + 5 : h, n = h * w;
        for (int i = 0; i < 3 * MOST * MOST; i++)
          pool[i] = (i * 7 + i / 5) % 101 / 3.0;
        double *last = pool + 2 * MOST * MOST;
        double left[2] = {all[k](counts[c], h, w, pool, pool + n, last, &state), state.residual};
        for (int i = 0; i < (int)sizeof pool; i++)
          sum = sum * 31 + ((unsigned char *)pool)[i];
        for (int i = 0; i < (int)sizeof left; i++)
          sum = sum * 31 + ((unsigned char *)left)[i];
      }
    printf("%llu\\n", sum);
  }
  return 0;
}
"""
FUNCTION = """
static double f{number}(int steps, int h, int w, double *restrict v, double *restrict x, double *restrict p,
                        struct state *restrict s)
{{
  double residual = 0, most = 0;
  double (*a)[w] = (void *)v, (*b)[w] = (void *)x, (*u)[h][w] = (void *)v, (*q)[w] = a;
  (void)a, (void)b, (void)u, (void)q;
#pragma scop
{body}
#pragma endscop
  return residual + most + 0 * p[0] * s->steps;
}}
"""
COPY = "EACH a[i][j] = b[i][j];"
SWAP = "q = a; a = b; b = q;"
FORMS = {
    "two grids by turns": """for (int t = 0; t < steps; t++) {
      residual = 0;
      EACH { u[(t + 1) % 2][i][j] = MEAN(u[t % 2]);
        double d = u[(t + 1) % 2][i][j] - u[t % 2][i][j]; residual += d * d; } }""",
    "in a nest of its own, its root": """for (int t = 0; t < steps; t++) {
      EACH u[(t + 1) % 2][i][j] = MEAN(u[t % 2]);
      double sum = 0;
      EACH sum += fabs(u[(t + 1) % 2][i][j] - u[t % 2][i][j]);
      residual = sqrt(sum); }""",
    "swapped": f"""for (int t = 0; t < steps; t++) {{
      residual = 0;
      EACH {{ b[i][j] = MEAN(a); residual += fabs(b[i][j] - a[i][j]); }}
      {SWAP} }}""",
    "at the start of a step, swapped": f"""for (int t = 0; t < steps; t++) {{
      residual = 0;
      EACH residual += a[i][j] * a[i][j];
      EACH b[i][j] = MEAN(a);
      {SWAP} }}""",
    "largest": """for (int t = 0; t < steps; t++) {
      most = 0;
      EACH { u[(t + 1) % 2][i][j] = MEAN(u[t % 2]);
        double d = fabs(u[(t + 1) % 2][i][j] - u[t % 2][i][j]); if (d > most) most = d; } }""",
    "copied": f"""for (int t = 0; t < steps; t++) {{
      residual = 0;
      EACH {{ b[i][j] = MEAN(a); residual += (b[i][j] - a[i][j]) * (b[i][j] - a[i][j]); }}
      {COPY} }}""",
    "with the copy": """for (int t = 0; t < steps; t++) {
      EACH b[i][j] = MEAN(a);
      residual = 0;
      EACH { residual += fabs(b[i][j] - a[i][j]); a[i][j] = b[i][j]; } }""",
    "at the start of a step, copied": f"""for (int t = 0; t < steps; t++) {{
      residual = 0;
      EACH residual += a[i][j] * a[i][j];
      EACH b[i][j] = MEAN(a);
      {COPY} }}""",
    "two of them": f"""for (int t = 0; t < steps; t++) {{
      residual = 0; most = 0;
      EACH {{ b[i][j] = MEAN(a); double d = b[i][j] - a[i][j];
        residual += d * d; most = fabs(d) > most ? fabs(d) : most; }}
      {COPY} }}""",
    "in rows": """for (int t = 0; t < steps; t++) {
      most = 0;
      EACH b[i][j] = MEAN(a);
      for (int i = 1; i < h - 1; i++) {
        double row = 0;
        for (int j = 1; j < w - 1; j++) { row += fabs(b[i][j] - a[i][j]); a[i][j] = b[i][j]; }
        if (row > most) most = row; } }""",
    "through a pointer": f"""for (int t = 0; t < steps; t++) {{
      *p = 0;
      EACH {{ b[i][j] = MEAN(a); *p += fabs(b[i][j] - a[i][j]); }}
      {COPY} }}""",
    "in elements": f"""for (int t = 0; t < steps; t++) {{
      p[2] = 0;
      EACH {{ b[i][j] = MEAN(a); p[2] += fabs(b[i][j] - a[i][j]); }}
      {COPY}
      p[3] = sqrt(p[2]); }}""",
    "in a member": f"""for (int t = 0; t < steps; t++) {{
      s->residual = 0;
      EACH {{ b[i][j] = MEAN(a); s->residual += fabs(b[i][j] - a[i][j]); }}
      {COPY} }}""",
    "stored from a variable": """for (int t = 0; t < steps; t++) {
      double sum = 0;
      EACH { u[(t + 1) % 2][i][j] = MEAN(u[t % 2]); sum += fabs(u[(t + 1) % 2][i][j] - u[t % 2][i][j]); }
      *p = sum; }""",
    "flat": """for (int t = 0; t < steps; t++) {
      residual = 0;
      EACH { x[i * w + j] = FLAT(v); residual += fabs(x[i * w + j] - v[i * w + j]); }
      EACH v[i * w + j] = x[i * w + j]; }""",
    "in place": """for (int t = 0; t < steps; t++) {
      residual = 0;
      EACH { double old = a[i][j]; a[i][j] = MEAN(a); residual += fabs(a[i][j] - old); } }""",
    "only in the last step": f"""for (int t = 0; t < steps; t++) {{
      EACH b[i][j] = MEAN(a);
      if (t == steps - 1) {{ residual = 0; EACH residual += fabs(b[i][j] - a[i][j]); }}
      {COPY} }}""",
    "only in the first step": f"""for (int t = 0; t < steps; t++) {{
      if (t == 0) {{ residual = 0; EACH residual += fabs(a[i][j]); }}
      EACH b[i][j] = MEAN(a);
      {COPY} }}""",
    "of two colours": """for (int t = 0; t < steps; t++) {
      residual = 0;
      for (int c = 0; c < 2; c++) COLOUR {
        double d = MEAN(a) - a[i][j]; a[i][j] += 1.5 * d; residual += d * d; } }""",
    "of two colours by turns": """for (int t = 0; t < steps; t++) {
      residual = 0; int isw = 1;
      for (int c = 0; c < 2; c++) { int jsw = isw;
        for (int i = 1; i < h - 1; i++) { for (int j = jsw; j < w - 1; j += 2) {
          double d = MEAN(a) - a[i][j]; a[i][j] += 1.5 * d; residual += fabs(d); } jsw = 3 - jsw; }
        isw = 3 - isw; } }""",
    "of two colours under a condition": """for (int t = 0; t < steps; t++) {
      residual = 0;
      for (int c = 0; c < 2; c++) EACH if ((i + j) % 2 == c) {
        double d = MEAN(a) - a[i][j]; a[i][j] += 1.5 * d; residual += d * d; } }""",
    "the largest of two colours": """for (int t = 0; t < steps; t++) {
      most = 0;
      for (int c = 0; c < 2; c++) COLOUR {
        double d = MEAN(a) - a[i][j]; a[i][j] += 1.5 * d; if (fabs(d) > most) most = fabs(d); } }""",
    "a line": """for (int t = 0; t < steps; t++) {
      residual = 0;
      for (int i = 1; i < h - 1; i++) x[i] = 0.5 * (v[i - 1] + v[i + 1]);
      for (int i = 1; i < h - 1; i++) { residual += (x[i] - v[i]) * (x[i] - v[i]); v[i] = x[i]; } }""",
    "after each two, copied": f"""for (int t = 0; t < steps; t++) {{
      EACH b[i][j] = MEAN(a);
      {COPY}
      if (t % 2 == 1) {{ *p = 0; EACH *p += a[i][j] * a[i][j]; }} }}""",
    "at the start of each four, copied": f"""for (int t = 0; t < steps; t++) {{
      if (t % 4 == 0) {{ *p = 0; EACH *p += a[i][j] * a[i][j]; }}
      EACH b[i][j] = MEAN(a);
      {COPY} }}""",
    "after each four, swapped": f"""for (int t = 1; t <= steps; t++) {{
      EACH b[i][j] = MEAN(a);
      {SWAP}
      if (!(t & 3)) {{ residual = 0; EACH residual += a[i][j] - b[i][j]; }} }}""",
    "at the start of each three, by turns": """for (int t = 0; t < steps; t++) {
      if (t % 3 == 0) { residual = 0; EACH residual = fmax(residual, u[t % 2][i][j]); }
      EACH u[(t + 1) % 2][i][j] = MEAN(u[t % 2]); }""",
    "in each four, all kept": f"""for (int t = 0; t < steps; t++) {{
      EACH b[i][j] = MEAN(a);
      if (t % 4 == 1) {{ double sum = 0; EACH sum += fabs(b[i][j] - a[i][j]); p[t / 4] = sum; }} {COPY} }}""",
    "at the start of each four, all kept, by turns": """for (int t = 0; t < steps; t++) {
      if (t % 4 == 0) { p[t / 4] = 0; EACH p[t / 4] += u[t % 2][i][j]; }
      EACH u[(t + 1) % 2][i][j] = MEAN(u[t % 2]); }""",
    "counted by while": f"""int t = 0;
    while (t < steps) {{
      residual = 0;
      EACH {{ b[i][j] = MEAN(a); residual += fabs(b[i][j] - a[i][j]); }}
      {COPY}
      t++; }}""",
}
READ = {
    "a region of nothing else": """for (int t = 0; t < steps; t++) {
      residual = 0;
      EACH residual += a[i][j]; }""",
    "of nothing that is looked at": """for (int t = 0; t < steps; t++) {
      double sum = 0;
      EACH sum += a[i][j];
      double root = sqrt(sum);
      (void)root; }""",
    "each step reads the last one": f"""for (int t = 0; t < steps; t++) {{
      EACH b[i][j] = MEAN(a) + 1e-9 * residual;
      residual = 0;
      EACH residual += fabs(b[i][j] - a[i][j]);
      {COPY} }}""",
    "a grid takes it": f"""for (int t = 0; t < steps; t++) {{
      residual = 0;
      EACH {{ b[i][j] = MEAN(a); residual += fabs(b[i][j] - a[i][j]); }}
      {COPY}
      if (h > 0 && w > 0) a[0][0] = residual; }}""",
    "all steps add up": f"""for (int t = 0; t < steps; t++) {{
      EACH {{ b[i][j] = MEAN(a); residual += fabs(b[i][j] - a[i][j]); }}
      {COPY} }}""",
    "another one takes it": f"""for (int t = 0; t < steps; t++) {{
      residual = 0;
      EACH {{ b[i][j] = MEAN(a); residual += fabs(b[i][j] - a[i][j]); }}
      {COPY}
      most += residual; }}""",
    "not in all steps": f"""for (int t = 0; t < steps; t++) {{
      EACH b[i][j] = MEAN(a);
      if (t < 5) {{ *p = 0; EACH *p += fabs(b[i][j] - a[i][j]); }}
      {COPY} }}""",
}


def _compared(folder, forms):
    functions = [FUNCTION.format(number=number, body=body) for number, body in enumerate(forms.values())]
    names = ", ".join(f"f{number}" for number in range(len(functions)))
    text = PROGRAM.replace("FUNCTIONS", "".join(functions)).replace("NAMES", names)
    source = write(folder / "in.c", text)
    result = transform(source, text, "-O2", "-ffp-contract=off")
    new = write(folder / "out.c", result.text)
    flags = ("-Wno-unused", "-fopenmp", *QUICK)
    assert output(new, *flags) == output(source, *flags)
    return dict(zip(forms, result.regions, strict=True))


@pytest.mark.parametrize("part", range(4))
def test_steps_are_tiled(tmp_path, part):
    names = list(FORMS)[part::4]
    for name, region in _compared(tmp_path, {each: FORMS[each] for each in names}).items():
        assert region.tile_sizes, name


def test_what_is_read_is_computed(tmp_path):
    for name, region in _compared(tmp_path, READ).items():
        assert not any("only the last value" in each for each in region.remarks), name
