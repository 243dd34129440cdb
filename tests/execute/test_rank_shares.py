"""What a rank has of a program: messages and bytes of a product, and the memory that it touches."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from polybuild.driver.file import compile_source
from polybuild.options import Options
from tests.mpi_libraries import assert_all_print

pytestmark = pytest.mark.mpi

INCLUDE = f"-I{Path(__file__).parents[2] / 'polybuild' / 'runtime' / 'include'}"
FLAGS = ["-O2", "-w", "-ffp-contract=off", INCLUDE]
SIZE = 512
"""Rows and columns: a row of doubles is a page of most machines."""

PROGRAM = """
#define _GNU_SOURCE
#include <polybuild.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
static void fill(int n, double a[restrict n][n], double b[restrict n][n], double c[restrict n][n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      a[i][j] = (i * 7 + j) % 5 - 2;
      b[i][j] = (i + 3 * j) % 7 - 3;
      c[i][j] = 0;
    }
#pragma endscop
}
static void product(int n, double a[restrict n][n], double b[restrict n][n], double c[restrict n][n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double s = 0;
      for (int k = 0; k < n; k++)
        s += a[i][k] * b[k][j];
      c[i][j] = s * 0.01;
    }
#pragma endscop
}
static void smooth(int n, double a[restrict n][n], double b[restrict n][n])
{
#pragma scop
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      b[i][j] = 0.25 * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]);
#pragma endscop
}
static void *pages_of(size_t bytes)
{
  void *memory = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    exit(2);
  madvise(memory, bytes, MADV_NOHUGEPAGE);
  return memory;
}
static int touched(void *memory, size_t bytes)
{
  static unsigned char here[1 << 16];
  size_t pages = bytes / (size_t)sysconf(_SC_PAGESIZE), count = 0;
  if (mincore(memory, bytes, here))
    exit(3);
  for (size_t page = 0; page < pages; page++)
    count += here[page] & 1;
  return (int)count;
}
int main(int argc, char **argv)
{
  int n = atoi(argv[1]), steps = atoi(argv[2]), products = argv[3][0] == 'p', counts[3] = {0};
  size_t bytes = (size_t)n * n * sizeof(double);
  double (*a)[n] = pages_of(bytes), (*b)[n] = pages_of(bytes), (*c)[n] = pages_of(bytes), sum = 0;
#pragma polybuild distributed(a[0:n], b[0:n], c[0:n])
  {
    fill(n, a, b, c);
    for (int t = 0; t < steps; t++) {
      if (products)
        product(n, a, b, c);
      else
        smooth(n, b, c);
      double (*other)[n] = b; b = c; c = other;
    }
    counts[0] = touched(a, bytes), counts[1] = touched(b, bytes), counts[2] = touched(c, bytes);
  }
  if (argc > 4)
    fprintf(stderr, "touched %d %d %d of %d\\n", counts[0], counts[1], counts[2],
            (int)(bytes / (size_t)sysconf(_SC_PAGESIZE)));
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      sum = 0.7 * sum + a[i][j] + b[i][j] - c[i][j];
  printf("%a\\n", sum);
}
"""


@pytest.fixture(scope="module")
def program(mpi, tmp_path_factory):
    """The program on ranks, and as it is."""
    folder = tmp_path_factory.mktemp("shares")
    (folder / "in.c").write_text(PROGRAM)
    options = Options(min_work=0, distribute="mpi")
    result = compile_source(str(folder / "in.c"), options, [mpi.compiler], FLAGS)
    assert all("ranks share the loops" in " ".join(each.remarks) for each in result.regions)
    (folder / "out.c").write_text(result.text)
    subprocess.run([mpi.compiler, *FLAGS, folder / "out.c", "-o", folder / "out"], check=True)
    subprocess.run(["gcc", *FLAGS, folder / "in.c", "-o", folder / "in"], check=True)
    return folder


def sent(mpi, program, ranks, steps):
    """The messages and the bytes that all ranks sent."""
    done = mpi.run(program / "out", ranks, 96, steps, "product", POLYBUILD_VERBOSE="1")
    plain = subprocess.run(
        [program / "in", "96", str(steps), "product"], check=True, capture_output=True, text=True
    )
    assert_all_print(done, plain.stdout.splitlines(), ranks)
    told = re.findall(r"rank \d+ of \d+: .* sent (\d+) messages, (\d+) bytes", done.stderr)
    assert len(told) == ranks, done.stderr
    return [sum(map(int, each)) for each in zip(*told, strict=True)]


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_a_product_sends_the_rows_of_one_operand(mpi, program, ranks):
    """Each step reads all of what the step before computed: every rank sends its rows to each other one."""
    few, many = sent(mpi, program, ranks, 3), sent(mpi, program, ranks, 8)
    messages, volume = ((more - less) / 5 for less, more in zip(few, many, strict=True))
    assert messages == ranks * (ranks - 1)
    assert volume == (ranks - 1) * 96 * 96 * 8


def touched(mpi, program, ranks, kind):
    """For each rank how many pages of the three arrays it has touched, and how many an array has."""
    done = mpi.run(program / "out", ranks, SIZE, 1, kind, "tell")
    assert done.returncode == 0, done.stderr
    told = re.findall(r"touched (\d+) (\d+) (\d+) of (\d+)", done.stderr)
    assert len(told) == ranks, done.stderr
    return [tuple(map(int, each)) for each in told]


def test_pages_of_a_stencil_fall_with_ranks(mpi, program):
    for ranks in (1, 2, 4):
        for a, b, c, whole in touched(mpi, program, ranks, "stencil"):
            halo = 2 * whole / SIZE + 2  # a row at each side, and the page that a block ends in
            assert a <= whole / ranks + 2
            assert max(b, c) <= whole / ranks + halo
            assert min(a, b, c) >= whole / ranks - halo


def test_pages_of_a_product_fall_but_for_the_operand_that_all_read(mpi, program):
    for ranks in (1, 2, 4):
        for a, b, c, whole in touched(mpi, program, ranks, "product"):
            result, operand = b, c  # they change places after the step
            assert max(a, result) <= whole / ranks + 2
            assert operand == whole
