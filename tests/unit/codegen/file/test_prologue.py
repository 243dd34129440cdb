"""The helpers: right for all values, defined once, silent."""

from __future__ import annotations

import pytest
from compiling import STRICT, messages, output, write

from polybuild.codegen.file.prologue import WholeVector, prologue
from polybuild.codegen.file.vector_types import VectorType

ALL = frozenset({"polybuild_min", "polybuild_max", "polybuild_floordiv", "POLYBUILD_OMP", "POLYBUILD_SIMD"})


def test_only_what_is_needed():
    assert prologue(frozenset()) == ""
    assert "polybuild_max" not in prologue(frozenset({"polybuild_min"}))
    assert prologue(ALL) == prologue(frozenset(sorted(ALL, reverse=True)))


def test_vectors_come_with_what_keeps_them_whole():
    vector = VectorType("double", 8)
    assert "typedef double polybuild_double8 " in prologue({vector})
    assert "polybuild_whole_double8" not in prologue({vector})
    assert WholeVector(vector).name in prologue({vector, WholeVector(vector)})


def test_values(tmp_path):
    pairs = [(a, b) for a in range(-9, 10) for b in (1, 2, 3, 8)]
    calls = "".join(
        f'  printf("%lld %lld %lld\\n", polybuild_min({a}, {b}), polybuild_max({a}, {b}),'
        f" polybuild_floordiv({a}, {b}));\n"
        for a, b in pairs
    )
    text = f"{prologue(ALL)}#include <stdio.h>\nint main(void) {{\n{calls}  return 0;\n}}\n"
    lines = output(write(tmp_path / "values.c", text)).splitlines()
    assert lines == [f"{min(a, b)} {max(a, b)} {a // b}" for a, b in pairs]


USES = """
void f(int n, double *a);
void f(int n, double *a) {
  double t;
  POLYBUILD_OMP(parallel for private(t))
  for (int i = 0; i < n; i++) { t = a[i]; a[i] = t * 2; }
  POLYBUILD_SIMD
  for (long long i = polybuild_max(0, n - 9); i < polybuild_min(n, 9); i++) a[polybuild_floordiv(i, 2)] = 1;
}
"""


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("flags", [(), ("-fopenmp",)])
def test_twice_in_one_unit_and_silent(flags, compiler, tmp_path):
    source = write(tmp_path / "unit.c", f"{prologue(ALL)}{prologue(ALL)}{USES}")
    assert messages(compiler, source, *STRICT, *flags) == (0, "")
