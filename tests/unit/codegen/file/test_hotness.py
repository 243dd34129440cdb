"""How hot the original loops look to a compiler beside new ones that are nested deeper."""

from __future__ import annotations

import re
import subprocess

from polybuild.codegen.file.hotness import CHANCE, DEFINITION
from polybuild.driver.file import compile_source
from polybuild.options import Options

_PRODUCT = """\
void product(int n, double a[n][n], double b[n][n], double c[n][n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        c[i][j] += a[i][k] * b[k][j];
#pragma endscop
}
"""

_SCALING = """\
void scale(int n, double *a)
{
#pragma scop
  for (int i = 0; i < n; i++)
    a[i] *= 2;
#pragma endscop
}
"""


def _compiled(tmp_path, text, **options):
    path = tmp_path / "a.c"
    path.write_text(text)
    return compile_source(str(path), Options(**options), ["gcc"], ("-O3", "-fopenmp")).text


def test_new_loops_that_are_nested_deeper_are_said_to_run_more_seldom(tmp_path):
    tiled = _compiled(tmp_path, _PRODUCT, tile_sizes=(32, 32, 32), registers=False)
    assert f"if ({CHANCE}(1.0 / 512, " in tiled
    assert f"#define {CHANCE}(chance, condition)" in tiled


def test_new_loops_that_are_as_deep_are_not(tmp_path):
    plain = _compiled(tmp_path, _SCALING)
    assert "/* the original loops */" in plain
    assert CHANCE not in plain


def test_several_conditions_are_as_likely_together_as_one(tmp_path):
    """gcc takes each term of ``a && b`` to hold as seldom as all of it, if it sees the terms."""
    path, dump = tmp_path / "a.c", tmp_path / "profile"
    several = f"{CHANCE}(1.0 / 512, n > 10 && m > 10 && n < m)"
    path.write_text(
        f"{DEFINITION}void work(void), rest(void);\n"
        f"void choose(int n, int m) {{ if ({several}) work(); else rest(); }}\n"
    )
    warnings = ("-Wall", "-Wextra", "-Wshadow", "-Wpedantic", "-Werror")
    dumped = f"-fdump-tree-profile_estimate-details={dump}"
    command = ("gcc", "-O2", *warnings, dumped, "-c", "-o", "a.o", path.name)
    subprocess.run(command, cwd=tmp_path, check=True, timeout=60)
    told = re.findall(r"builtin_expect_with_probability heuristics of edge .*: ([\d.]+)%", dump.read_text())
    assert len(told) == 1
    assert min(float(told[0]), 100 - float(told[0])) < 0.25
