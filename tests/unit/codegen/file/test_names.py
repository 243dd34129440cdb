"""Names of generated variables, among those the user has."""

from __future__ import annotations

import pytest
from compiling import output, transform, write
from pycparser import c_parser

from polybuild.codegen.file.names import fresh, identifiers


def test_fresh():
    assert fresh("pb_n", []) == "pb_n"
    assert fresh("pb_n", ["pb_n"]) == "pb_n1"
    assert fresh("pb_n", ["pb_n", "pb_n1", "pb_n3"]) == "pb_n2"


def test_identifiers():
    tree = c_parser.CParser().parse("void f(int n) { int a = b; { struct s *c; c->m = d[e(n)]; } }")
    found = set(identifiers(tree.ext[0].body.block_items))
    assert {"a", "b", "c", "d", "e", "n"} <= found


PROGRAM = """\
#include <stdio.h>
int %(n)s = 40;
int %(other)s = 5;
double %(array)s[40][40];
int main(void) {
  int pb_i = 2;
#pragma scop
  for (int %(i)s = 0; %(i)s < %(n)s; %(i)s++)
    for (int %(j)s = 0; %(j)s < %(n)s; %(j)s++)
      for (int k = 0; k < 3; k++) %(array)s[%(i)s][%(j)s] += %(i)s * 2 + %(j)s * %(other)s + k * pb_i;
#pragma endscop
  double sum = 0;
  for (int x = 0; x < 40; x++) for (int y = 0; y < 40; y++) sum += (x + 2 * y) * %(array)s[x][y];
  printf("%%f %%d %%d\\n", sum, %(n)s, %(other)s);
  return 0;
}
"""


@pytest.mark.parametrize(
    "names",
    [
        {"n": "pb_n", "other": "pb_n1", "array": "pb_A"},
        {"n": "n", "other": "pb_n", "array": "pb_c"},
        {"n": "c0", "other": "c1", "array": "c2"},
        {"n": "S0", "other": "pb_j", "array": "pb_k"},
        {"i": "pb_i0", "j": "pb_c", "array": "i"},
        {"i": "c1", "j": "c0", "array": "S0", "n": "i"},
        {"n": "min", "other": "max", "array": "floord"},
        {"n": "and", "other": "mod", "array": "exists"},
    ],
)
def test_names_that_generated_ones_might_be(names, tmp_path):
    text = PROGRAM % {"n": "n", "other": "m", "array": "A", "i": "i", "j": "j", **names}
    result = transform(tmp_path / "in.c", text)
    expected = output(tmp_path / "in.c")
    assert output(write(tmp_path / "out.c", result.text)) == expected
