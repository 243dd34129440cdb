"""What is counted of each value that blocks of ranks are made of, and the blocks that follow from it."""

from __future__ import annotations

from itertools import pairwise

import islpy as isl
import pytest

from polybuild.driver.file import compile_source
from polybuild.options import Options
from polybuild.targets.ranks.blocks import blocks_at, equal_blocks, even_blocks

FUNCTION = """
void f(int n, int m, double a[restrict n][n], double c[restrict n][n])
{{
#pragma scop
  {body}
#pragma endscop
}}
"""


@pytest.fixture(name="sharing")
def _sharing(tmp_path):
    def found(body):
        (tmp_path / "in.c").write_text(FUNCTION.format(body=body))
        options = Options(min_work=0, distribute="mpi")
        (details,) = compile_source(str(tmp_path / "in.c"), options, ["gcc"], []).details
        mapped, _ = details.shared
        return mapped.sharing

    return found


@pytest.mark.parametrize(
    "body",
    [
        "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) c[i][j] = a[j][i];",
        "for (int i = 1; i < n; i++) c[i][i] = a[0][i];",
        "for (int i = 0; i < n; i++) for (int j = i; j < i + 4; j++) c[i][j - i] = a[i][j - i];",
    ],
)
def test_nothing_is_counted_of_equal_values(sharing, body):
    found = sharing(body)
    assert found.work == ()
    blocks = blocks_at(found, {"n": 12}, 3)
    assert blocks == equal_blocks(blocks[0], blocks[-1] - 1, 3)


def test_what_does_not_depend_on_the_value_is_a_factor(sharing):
    body = """for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++)
      for (int k = 0; k < m; k++) c[i][j] += a[i][k] * a[j][k];"""
    (work,) = sharing(body).work
    assert work.points.dim(isl.dim_type.set) == 2
    assert len(work.times) == 1


def test_statements_with_the_same_instances_are_counted_once(sharing):
    body = """for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++) {
      c[i][j] = a[i][j]; a[i][j] = c[i][j] * c[i][j]; }"""
    found = sharing(body).work
    assert sum(each.number for each in found) == 2


@pytest.mark.parametrize("ranks", [1, 2, 3, 7])
def test_blocks_of_a_triangle_have_the_same_work(sharing, ranks):
    body = "for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++) c[i][j] = a[i][j];"
    blocks = blocks_at(sharing(body), {"n": 1000}, ranks)
    assert (blocks[0], blocks[-1], len(blocks)) == (0, 1000, ranks + 1)
    work = [sum(range(first + 1, end + 1)) for first, end in pairwise(blocks)]
    assert max(work) <= 1.02 * min(work)


def test_more_ranks_than_values():
    assert even_blocks(lambda _: 1.0, (5, 6), 4)[0] == 5
    assert even_blocks(lambda _: 1.0, (5, 6), 4)[-1] == 7
    assert even_blocks(lambda _: 0.0, (0, 9), 2) == [0, 5, 10]


def test_loops_that_never_run_are_not_counted(sharing):
    body = """for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) c[i][j] = a[j][i];
      for (int i = 0; i > n; i--) c[0][0] = 1;"""
    (work,) = sharing(body).work
    assert work.number == 1
