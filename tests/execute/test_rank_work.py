"""Ranks have the same work where rows of a triangle differ, and compute the bits of one process."""

from __future__ import annotations

import re
import subprocess

import pytest
from kernel_programs import SANITIZERS

from polybuild.driver.file import compile_source
from polybuild.options import Options
from tests.mpi_libraries import assert_all_print

pytestmark = pytest.mark.mpi

SIZE = 240

# each instance writes an element of its own, which all other ranks are sent
TRIANGLES = {
    "below": "for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++) c[i][j] = a[i][j] + i;",
    "above": "for (int i = 0; i < n; i++) for (int j = i; j < n; j++) c[i][j] = a[i][j] * j;",
    "from the end": "for (int i = n - 1; i >= 0; i--) for (int j = i; j >= 0; j--) c[i][j] = a[j][i];",
    "by columns": "for (int j = 0; j < n; j++) for (int i = 0; i <= j; i++) c[i][j] = a[i][j] - 3;",
    "conditional": "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) if (j < i) c[i][j] = a[i][j];",
    "counters outside": """int i = 0; while (i < n) {
      int j = n - 1; while (j >= n - 1 - i) { c[i][j] = a[i][j] * i; j--; } i++; }""",
    "with sums": """for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++) {
      double s = 0; for (int k = 0; k < n; k++) s += a[i][k] * a[j][k]; c[i][j] = s; }""",
    "pyramid": """for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++) {
      double s = 0; for (int k = 0; k <= j; k++) s += a[i][k] * a[k][j]; c[i][j] = s; }""",
}
PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
static void f(int n, double a[restrict n][n], double c[restrict n][n])
{{
#pragma scop
  {body}
#pragma endscop
}}
int main(int argc, char **argv)
{{
  int n = atoi(argv[1]);
  double (*a)[n] = calloc(n + 1, sizeof *a), (*c)[n] = calloc(n + 1, sizeof *c), sum = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      a[i][j] = (i * 7 + j) % 23 - 11;
  f(n, a, c);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      sum = 0.7 * sum + c[i][j];
  printf("%a\\n", sum);
}}
"""
FLAGS = ["-O1", "-w", "-ffp-contract=off"]


def built(folder, mpi, body):
    """The program with ``body`` on ranks, and what it prints without."""
    (folder / "in.c").write_text(PROGRAM.format(body=body))
    options = Options(min_work=0, distribute="mpi")
    result = compile_source(str(folder / "in.c"), options, [mpi.compiler], FLAGS)
    (region,) = result.regions
    assert any(each.startswith("ranks share the loops") for each in region.remarks), region
    (folder / "out.c").write_text(result.text)
    subprocess.run(
        [mpi.compiler, *FLAGS, "-fopenmp", *SANITIZERS, folder / "out.c", "-o", folder / "out"], check=True
    )
    subprocess.run(["gcc", *FLAGS, folder / "in.c", "-o", folder / "in"], check=True)
    return result.text


def expected(folder, size):
    done = subprocess.run([folder / "in", str(size)], check=True, capture_output=True, text=True)
    return done.stdout.splitlines()


def elements_sent(done, ranks):
    """How many elements each rank sent to each other one."""
    told = re.findall(r"rank \d+ of \d+: .* sent \d+ messages, (\d+) bytes", done.stderr)
    assert len(told) == ranks, done.stderr
    return [int(sent) / 8 / (ranks - 1) for sent in told]


@pytest.mark.parametrize("form", TRIANGLES)
def test_ranks_of_a_triangle_have_the_same_work(some_mpi, form, tmp_path):
    text = built(tmp_path, some_mpi, TRIANGLES[form])
    assert "polybuild_even_block(pb_lowest" in text
    for size in (0, 1, 5):
        assert_all_print(some_mpi.run(tmp_path / "out", 4, size), expected(tmp_path, size), 4)
    right = expected(tmp_path, SIZE)
    for ranks in (2, 3, 4):
        done = some_mpi.run(tmp_path / "out", ranks, SIZE, POLYBUILD_VERBOSE="1")
        assert_all_print(done, right, ranks)
        if form != "pyramid":  # its elements have different work
            sent = elements_sent(done, ranks)
            assert max(sent) <= 1.05 * min(sent)


def test_blocks_of_rectangles_are_equal_without_counting(mpi, tmp_path):
    body = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) c[i][j] = a[i][j] + j;"
    assert "polybuild_even_block(pb_lowest" not in built(tmp_path, mpi, body)
    done = mpi.run(tmp_path / "out", 3, SIZE, POLYBUILD_VERBOSE="1")
    assert set(elements_sent(done, 3)) == {SIZE * SIZE / 3}
