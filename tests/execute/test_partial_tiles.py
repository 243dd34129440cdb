"""Partial register tiles: computed as full ones they give what the loops give, at all sizes."""

from __future__ import annotations

import pytest
from compiling import output, write

from polybuild.driver.file import compile_source
from polybuild.options import Options

PROGRAM = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef {real} real;
typedef {operand} operand;
struct grid {{ int w, h; real *cell; }};
static void run(int n, int m, int p, operand f, real *c, const operand *a, const operand *b,
                real **rows, struct grid *to)
{{
  (void)n; (void)m; (void)f; (void)c; (void)a; (void)rows; (void)to;
#pragma scop
{body}
#pragma endscop
}}
static double next(unsigned *seed) {{ return (*seed = *seed * 1664525u + 1013904223u) / 16777216 - 99.5; }}
int main(void)
{{
  unsigned long long sum = 0;
  unsigned seed = 1, bits = 0;
  for (int n = 1; n <= 15; n++)
    for (int m = 1; m <= 19; m++)
      for (int p = 0; p <= 9; p += 3) {{
        /* no element more than there is, so that a sanitizer sees what is read beyond */
        real *c = malloc(sizeof(real) * n * m), **rows = malloc(sizeof(real *) * n);
        operand *a = malloc(sizeof(operand) * (n * p + 1)), *b = malloc(sizeof(operand) * (m * p + 1));
        struct grid to = {{ m, n, c }};
        for (int i = 0; i < n; i++) rows[i] = c + i * m;
        for (int i = 0; i < n * m; i++) c[i] = (real)next(&seed);
        for (int i = 0; i < n * p; i++) a[i] = (operand)next(&seed);
        for (int i = 0; i < m * p; i++) b[i] = (operand)next(&seed);
        run(n, m, p, (operand)1.75, c, a, b, rows, &to);
        for (int i = 0; i < n * m; i++) {{
          memcpy(&bits, (char *)&c[i], sizeof(real) < 4 ? sizeof(real) : 4), sum = sum * 31 + bits;
          memcpy(&bits, (char *)&c[i] + sizeof(real) / 2, sizeof(real) / 2), sum = sum * 31 + bits;
        }}
        free(c), free(a), free(b), free(rows);
      }}
  printf("%llu\\n", sum);
  return 0;
}}
"""
LOOPS = "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)"
FORMS = {
    "flat": f"{LOOPS} for (int k = 0; k < p; k++) c[i * m + j] += a[i * p + k] * b[k * m + j];",
    "sum in a variable": f"""{LOOPS} {{
    real s = 0;
    for (int k = 0; k < p; k++) s += a[i * p + k] * b[k * m + j];
    c[i * m + j] = s;
  }}""",
    "scaled, by columns": """for (int j = 0; j < m; j++) for (int k = 0; k < p; k++)
    for (int i = 0; i < n; i++) c[i * m + j] -= f * b[k * m + j] * a[i * p + k];""",
    "transposed operands": f"""{LOOPS} for (int k = 0; k < p; k++)
    c[i * m + j] = a[k * n + i] * b[j * p + k] + c[i * m + j];""",
    "the same for all rows": f"{LOOPS} for (int k = 0; k < p; k++) c[i * m + j] += f * b[k * m + j];",
    "pointers to rows": f"{LOOPS} for (int k = 0; k < p; k++) rows[i][j] += a[i * p + k] * b[k * m + j];",
    "backwards, without borders": """for (int i = n - 2; i > 0; i--) for (int j = m - 2; j > 0; j--)
    for (int k = p - 1; k >= 0; k--) c[i * m + j] += a[i * p + k] * b[k * m + j];""",
    "member of a structure": """for (int y = 0; y < to->h; y++) for (int x = 0; x < to->w; x++) {
    to->cell[y * to->w + x] = 0;
    for (int k = 0; k < p; k++) to->cell[y * to->w + x] += a[y * p + k] * b[k * m + x];
  }""",
    "lower triangle": """for (int i = 0; i < n; i++) for (int k = 0; k < p; k++)
    for (int j = 0; j <= i && j < m; j++) c[i * m + j] += a[i * p + k] * b[k * m + j];""",
    "below the diagonal": """for (int i = 0; i < n; i++) for (int j = 0; j < i && j < m; j++)
    for (int k = 0; k < p; k++) c[i * m + j] += a[i * p + k] * b[j * p + k];""",
    "upper triangle": """for (int i = 0; i < n; i++) for (int j = i; j < m; j++) {
    real s = 0;
    for (int k = 0; k < p; k++) s += a[i * p + k] * b[k * m + j];
    c[i * m + j] -= s;
  }""",
    "beside the other diagonal": """for (int i = 0; i < n; i++) for (int j = 0; j < m - i; j++)
    for (int k = 0; k < p; k++) c[i * m + j] += a[i * p + k] * b[k * m + j];""",
    "band of a matrix": """for (int i = 0; i < n; i++) for (int j = i - 5; j <= i + 9; j++)
    if (j >= 0 && j < m) for (int k = 0; k < p; k++) c[i * m + j] += a[i * p + k] * b[k * m + j];""",
    "steps that rows bound": """for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)
    for (int k = 0; k < p && k <= i; k++) c[i * m + j] += a[i * p + k] * b[k * m + j];""",
}
FLAGS = ("-O2", "-ffp-contract=off")
TOLD = "a partial tile as a full one"


def transformed(tmp_path, form, real="double", operand=None, **options):
    """The program and what it became."""
    text = PROGRAM.format(real=real, operand=operand or real, body=f"  {FORMS[form]}")
    source = write(tmp_path / "in.c", text)
    result = compile_source(str(source), Options(min_work=0, paranoid=True, **options), ["gcc"], FLAGS)
    assert [each.status for each in result.regions] == ["transformed"]
    return source, write(tmp_path / "out.c", result.text)


@pytest.mark.fast(form=["flat"])
@pytest.mark.parametrize("form", FORMS)
def test_all_sizes_are_equal_to_the_original(form, tmp_path):
    source, new = transformed(tmp_path, form)
    assert (TOLD in new.read_text()) == (form != "steps that rows bound")
    sanitized = ("-fsanitize=address,undefined", "-fno-sanitize=alignment", "-fno-sanitize-recover=all")
    assert output(new, *FLAGS, *sanitized) == output(source, *FLAGS)


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize(
    ("real", "operand", "vector"),
    [
        ("float", "float", 32),
        ("double", "float", 32),
        ("int", "int", 16),
        ("long", "short", 32),
        ("double", "double", 64),
    ],
)
def test_every_type_is_equal_to_the_original(compiler, real, operand, vector, tmp_path):
    source, new = transformed(tmp_path, "flat", real, operand, vector_size=vector)
    assert TOLD in new.read_text()
    assert output(new, *FLAGS, "-fopenmp", compiler=compiler) == output(source, *FLAGS)


def test_tiles_of_steps_are_as_long_as_the_buffer(tmp_path):
    source, new = transformed(tmp_path, "flat", tile_sizes=(6, 4, 4))
    assert TOLD in new.read_text()
    assert output(new, *FLAGS) == output(source, *FLAGS)
