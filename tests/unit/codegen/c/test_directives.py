"""What the directives of loops say."""

from __future__ import annotations

import pytest
from compiling import transform

from polybuild.codegen.c.directives import DirectivePrinter
from polybuild.codegen.c.layout import loop
from polybuild.codegen.c.names_in_use import NamesInUse
from polybuild.poly.marks import Mark, MarkKind
from polybuild.targets.model import LoopDirective, ThreadLimits

SCALE = """
void scale(int n, %(type)s (*restrict out)[n], const %(type)s (*restrict in)[n], %(type)s table[4][4])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      out[i][j] = in[i][j] / 2 + table[1][2];
#pragma endscop
}
"""

BLEND = """
void blend(int n, %(type)s (*restrict out)[n], const %(type)s (*restrict in)[n], float part, double whole)
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      out[i][j] = in[i][j] * part + whole;
#pragma endscop
}
"""

LEAST = (("min", ("s",)),)


def directives(tmp_path, element, program=SCALE):
    text = transform(tmp_path / "scale.c", program % {"type": element}).text
    return [line for line in text.splitlines() if "(parallel for" in line]


def test_threads_have_pointers_and_sizes_of_their_own_where_characters_are_written(tmp_path):
    (line,) = directives(tmp_path, "unsigned char")
    assert "firstprivate(in, out, table, pb_n)" in line


def test_threads_share_pointers_that_no_write_can_change(tmp_path):
    (line,) = directives(tmp_path, "float")
    assert "firstprivate" not in line


@pytest.mark.parametrize(("element", "copied"), [("float", "part"), ("double", "whole")])
def test_threads_have_the_numbers_of_their_own_that_a_write_may_change(tmp_path, element, copied):
    (line,) = directives(tmp_path, element, BLEND)
    assert f"firstprivate({copied})" in line


def test_threads_share_numbers_of_types_that_are_not_written(tmp_path):
    (line,) = directives(tmp_path, "int", BLEND)
    assert "firstprivate" not in line


@pytest.mark.parametrize(
    ("directive", "words"),
    [
        (
            LoopDirective(0, shared=1, limits=ThreadLimits(minimum=9)),
            "parallel for num_threads(polybuild_team_for(n, 4))",
        ),
        # what is combined in any order without a difference may run on any number of threads
        (
            LoopDirective(0, shared=1, reductions=LEAST, limits=ThreadLimits(minimum=9)),
            "parallel for num_threads(polybuild_team_for(n, 4)) reduction(min : s)",
        ),
    ],
)
def test_as_many_threads_as_pay(directive, words):
    mark = Mark(MarkKind.PARALLEL, 0)
    printer = DirectivePrinter({mark: directive}, NamesInUse(), lambda _: "n")
    assert printer.above(loop("for (;;)"), directive, ())[0] == f"POLYBUILD_OMP({words}) for (;;) {{"
