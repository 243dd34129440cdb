"""Arrays that stay on the ranks that compute them: ``#pragma polybuild distributed``."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from kernel_programs import SANITIZERS

from polybuild.driver.file import compile_source
from polybuild.options import Options
from tests.mpi_libraries import assert_all_print

pytestmark = pytest.mark.mpi

SHARED = Options(min_work=0, distribute="mpi")
INCLUDE = f"-I{Path(__file__).parents[2] / 'polybuild' / 'runtime' / 'include'}"

REGIONS = {
    "step": """
static void step(int n, double u[restrict n][n], double v[restrict n][n])
{
#pragma scop
  v[0][0] = u[n - 1][n - 1] + 1;
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      v[i][j] = u[i - 1][j] + u[i + 1][j] + 0.25 * u[i][j - 1] + u[i][j + 1] - v[i][j];
  v[n - 1][n - 1] = v[n / 2][n / 3] * 0.1;
#pragma endscop
}
""",
    # all ranks run it
    "border": """
static void border(int n, double u[restrict n][n])
{
#pragma scop
  for (int i = 1; i < n; i++)
    u[i][0] = u[i - 1][0] * 0.5 + u[i][n - 1];
#pragma endscop
}
""",
    # data decide what is written, and columns are read
    "sometimes": """
static void sometimes(int n, double u[restrict n][n], double v[restrict n][n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      if (u[j][i] > 1.5)
        v[i][j] = 0.5 * u[j][i];
#pragma endscop
}
""",
    # any element may be read
    "gather": """
static void gather(int n, const int *restrict at, const double *restrict x, double *restrict y)
{
#pragma scop
  for (int i = 0; i < n; i++)
    y[i] = y[i] * 0.5 + x[at[i]];
#pragma endscop
}
""",
    "move": """
static void move(int n, int *at)
{
#pragma scop
  for (int i = 0; i < n; i++)
    at[i] = (at[i] + 1) % n;
#pragma endscop
}
""",
    # every second element
    "part": """
static void part(int n, int k, double *restrict y, const double *restrict x)
{
#pragma scop
  for (int i = k; i < n / 2 + k; i++)
    y[2 * i] = x[i] + y[2 * i];
#pragma endscop
}
""",
    # one member of structs that lie side by side
    "cells": """
struct cell {
  char tag;
  double value;
};
static void cells(int n, struct cell *restrict c, const double *restrict x)
{
#pragma scop
  for (int i = 1; i < n; i++)
    c[i].value = 0.5 * c[i].value + x[i - 1];
#pragma endscop
}
""",
    # what overlaps is looked at before, and the original loops run
    "shift": """
static void shift(int n, double *y, const double *x)
{
#pragma scop
  for (int i = 0; i < n; i++)
    y[i] = 0.5 * x[i] + 1;
#pragma endscop
}
""",
    # left as it is
    "odd": """
static void odd(int n, double *y)
{
#pragma scop
  for (int i = 1; i < n; i++)
    __atomic_store_n((long *)&y[0], 3, __ATOMIC_RELAXED);
#pragma endscop
}
""",
}

MAIN = """
int main(int argc, char **argv)
{
  int n = argc > 2 ? atoi(argv[1]) : 0, steps = argc > 2 ? atoi(argv[2]) : 0;
  double (*u)[n] = calloc(n, sizeof *u), (*v)[n] = calloc(n, sizeof *v), sum = 0;
  double *x = calloc(n, sizeof *x), *y = calloc(2 * n + 1, sizeof *y);
  struct cell *c = calloc(n, sizeof *c), *whole = calloc(n, sizeof *c);
  int at[n];
  for (int i = 0; i < n; i++) {
    at[i] = i * 3 % n;
    x[i] = y[i] = i;
    for (int j = 0; j < n; j++)
      u[i][j] = (i * j) % 7;
  }
#pragma polybuild distributed(u[0:n], v[0:n], x[0:n], y[1:2 * n - 3], at, c[0:n])
  {
    for (int k = 0; k <= steps; k++) {
      step(n, u, v);
      if (k % 3 == 1) {
#pragma polybuild distributed(u[0:n], v[1:n])
        {
          border(n, v);
          sometimes(n, v, u);
        }
      }
      if (k % 4 == 2) {
        polybuild_collect(u);
        sum += u[n / 2][n / 2];
        u[n / 2][n / 2] = 1;
      }
      cells(n, c, x);
      cells(n, whole, y);
      gather(n, at, x, y);
      move(n, at);
      part(n, k % 2, y, x);
      gather(n, at, y, x);
      shift(n, y, y + k % 3);
      if (k % 5 == 2)
        odd(n, y);
      double (*other)[n] = u;
      u = v;
      v = other;
    }
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      sum = 0.7 * sum + u[i][j] + v[i][j] + y[i] + y[n + i] + at[i] + x[i] + c[i].value + whole[i].value;
  printf("%a\\n", sum);
  free(u);
  free(v);
  free(x);
  free(y);
  free(c);
  free(whole);
  return 0;
}
"""
HEAD = "#include <stdio.h>\n#include <stdlib.h>\n#include <polybuild.h>\n"

DIFFUSION = """
void step(int n, double u[restrict n][n], double v[restrict n][n])
{
#pragma scop
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      v[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
#pragma endscop
}
"""
# in another file than the region, without headers
DIFFUSION_MAIN = """
int printf(const char *, ...), atoi(const char *);
void *calloc(unsigned long, unsigned long);
void step(int n, double u[restrict n][n], double v[restrict n][n]);
int main(int argc, char **argv)
{
  int n = atoi(argv[argc - 2]), steps = atoi(argv[argc - 1]);
  double (*u)[n] = calloc(n, sizeof *u), (*v)[n] = calloc(n, sizeof *v), sum = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      u[i][j] = v[i][j] = (i * j) % 7;
#pragma polybuild distributed(u[0:n], v[0:n])
  {
    for (int k = 0; k < steps; k++) {
      step(n, u, v);
      double (*other)[n] = u;
      u = v;
      v = other;
    }
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      sum = 0.7 * sum + u[i][j] + v[i][j];
  printf("%a\\n", sum);
  return 0;
}
"""


def built(folder, mpi, texts, *more):
    """The program of ``texts`` on ranks, that of one process, and the messages."""
    messages = []
    for name, text in texts.items():
        (folder / f"{name}.c").write_text(text)
        result = compile_source(str(folder / f"{name}.c"), SHARED, [mpi.compiler], ["-O1", INCLUDE])
        (folder / f"{name}.out.c").write_text(result.text)
        messages += [each.message for each in result.diagnostics]
    for program, compiler, kind, flags in (
        ("shared", mpi.compiler, ".out.c", ("-g", *SANITIZERS, *more)),
        ("plain", "gcc", ".c", ("-w",)),
    ):
        files = [folder / f"{name}{kind}" for name in texts]
        subprocess.run([compiler, "-O1", *flags, INCLUDE, *files, "-o", folder / program], check=True)
    return folder / "shared", folder / "plain", messages


def test_regions_of_all_kinds(mpi, tmp_path):
    """Each rank gets what it reads, whichever wrote it, and where all ranks run a region they have all."""
    text = HEAD + "".join(REGIONS.values()) + MAIN
    shared, plain, messages = built(tmp_path, mpi, {"all": text}, "-Wno-unknown-pragmas", "-Wall", "-Werror")
    assert not any("distributed" in each for each in messages)
    for arguments in (("5", "4"), ("1", "6"), ("2", "9"), ("30", "7")):
        expected = subprocess.run([plain, *arguments], capture_output=True, text=True, check=True)
        for ranks in (1, 2, 3, 7):
            assert_all_print(mpi.run(shared, ranks, *arguments), [expected.stdout.rstrip()], ranks)


def test_only_the_rows_between_blocks_travel(mpi, tmp_path):
    """The ideal surface: each rank sends each neighbour one row a step. At the end arrays are made whole."""
    shared, plain, _ = built(tmp_path, mpi, {"step": DIFFUSION, "main": DIFFUSION_MAIN})
    size, ranks, row, block = 62, 3, 60 * 8, 20 * 60 * 8
    counted = {}
    for steps in (10, 30):
        expected = subprocess.run([plain, str(size), str(steps)], capture_output=True, text=True, check=True)
        done = mpi.run(shared, ranks, size, steps, POLYBUILD_VERBOSE="1")
        assert_all_print(done, [expected.stdout.rstrip()], ranks)
        found = re.findall(r"rank (\d) of 3: .* sent (\d+) messages, (\d+) bytes", done.stderr)
        counted[steps] = {int(rank): (int(messages), int(sent)) for rank, messages, sent in found}
    for rank, neighbours in enumerate((1, 2, 1)):
        few, many = counted[10][rank], counted[30][rank]
        assert (many[0] - few[0], many[1] - few[1]) == (20 * neighbours, 20 * neighbours * row)
        # nothing was written before the first step; a row that a rank has read since is not sent again
        at_the_end = 2 * 2 * block - row * neighbours
        assert few == (9 * neighbours + 4, 9 * neighbours * row + at_the_end)


def test_regions_that_check_themselves_read_everything(mpi, tmp_path):
    """The original loops, too, find what they read."""
    for name, text in {"step": DIFFUSION, "main": DIFFUSION_MAIN}.items():
        (tmp_path / f"{name}.c").write_text(text)
        options = Options(min_work=0, distribute="mpi", verify=True)
        result = compile_source(str(tmp_path / f"{name}.c"), options, [mpi.compiler], ["-O1", INCLUDE])
        (tmp_path / f"{name}.out.c").write_text(result.text)
    files = [tmp_path / "step.out.c", tmp_path / "main.out.c"]
    subprocess.run([mpi.compiler, "-O1", INCLUDE, *files, "-o", tmp_path / "shared"], check=True)
    done = mpi.run(tmp_path / "shared", 3, 32, 7, POLYBUILD_VERIFY="1", POLYBUILD_VERIFY_EXIT="70")
    assert done.returncode == 0, done.stderr
    assert len(set(done.stdout.splitlines())) == 1
