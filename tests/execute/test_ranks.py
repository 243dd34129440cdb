"""Regions that the ranks of an MPI program share give, on every rank, what one process gives."""

from __future__ import annotations

import functools
import re
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
import region_programs
from kernel_programs import SANITIZERS, Toolchain, build, run, shapes, source, transform

from polybuild.driver.file import compile_source
from polybuild.options import Options
from tests.mpi_libraries import LIBRARIES, assert_all_print

pytestmark = pytest.mark.mpi

SHARED = Options(min_work=0, distribute="mpi")
PLAIN = Toolchain("plain", "gcc", ("-O2", "-Wno-unknown-pragmas"))
CHECKED = ("-O0", "-g", "-fopenmp", *SANITIZERS)
WRITTEN_FOR = Toolchain("ranks", "gcc", CHECKED)
"""What is written is for every implementation of MPI."""
WAVES = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static void waves(int n, int steps, double u[restrict n][n], double v[restrict n][n])
{
#pragma scop
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        v[i][j] = u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] - v[i][j];
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        u[i][j] = v[i][j];
  }
#pragma endscop
}
static int second(void)
{
  const char *rank = getenv("OMPI_COMM_WORLD_RANK");
  if (!rank)
    rank = getenv("PMI_RANK");
  return rank && *rank == '1';
}
int main(int argc, char **argv)
{
  int n = atoi(argv[1]), steps = atoi(argv[2]);
  int more = argc > 3 && !strcmp(argv[3], "more"), late = argc > 3 && !strcmp(argv[3], "late");
  n += more && second();
  double (*u)[n] = calloc(n, sizeof *u), (*v)[n] = calloc(n, sizeof *v), sum = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      u[i][j] = (i * j) % 7;
  for (int k = 0; k <= late; k++) {
    if (k && second())
      sleep(60);
    waves(n, steps, u, v);
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      sum = 0.7 * sum + u[i][j] + v[i][j];
  printf("%a\\n", sum);
}
"""


@pytest.fixture(scope="module")
def waves(mpi, tmp_path_factory):
    """The program on ranks, and as it is."""
    folder = tmp_path_factory.mktemp("waves")
    (folder / "waves.c").write_text(WAVES)
    result = compile_source(str(folder / "waves.c"), SHARED, [mpi.compiler], ["-O2"])
    (folder / "out.c").write_text(result.text)
    for file, compiler in (("out", mpi.compiler), ("waves", "gcc")):
        subprocess.run([compiler, "-O2", folder / f"{file}.c", "-o", folder / file], check=True)
    return folder


def messages_of(done):
    """What ranks said, each message once for each of them; without the path of the file."""
    return re.findall(r"^.*polybuild: \S*(waves\.c:.*\S)\s*$", done.stderr, re.MULTILINE)


@pytest.mark.parametrize("kernel", ["gemm", "jacobi-2d", "lu", "gramschmidt", "correlation"])
def test_kernels(some_mpi, kernel, tmp_path):
    """Products, stencils, triangular loops, sweeps along rows and columns, and what cannot be shared."""
    toolchain = Toolchain(some_mpi.name, some_mpi.compiler, CHECKED)
    result = transform(kernel, SHARED, WRITTEN_FOR)
    assert [each.status for each in result.regions] == ["transformed"]
    file = tmp_path / f"{kernel}.c"
    file.write_text(result.text)
    program, plain = (
        build(file, tmp_path / "shared", toolchain),
        build(source(kernel), tmp_path / "plain", PLAIN),
    )
    for extents in ((0,), (1,), (7,), shapes(kernel, (29, 17, 13, 11))):
        expected = run(plain, tuple(map(str, extents)))
        for ranks in (1, 3):
            assert_all_print(some_mpi.run(program, ranks, *extents), expected, ranks)


@pytest.mark.parametrize(("kernel", "steps"), [("jacobi-1d", 8), ("jacobi-2d", 3), ("heat-3d", 4)])
def test_steps_between_exchanges(some_mpi, kernel, steps, tmp_path):
    """Blocks with many rows, with fewer than neighbours need, and ranks without any."""
    toolchain = Toolchain(some_mpi.name, some_mpi.compiler, CHECKED)
    result = transform(kernel, replace(SHARED, rank_steps=steps), WRITTEN_FOR)
    (region,) = result.regions
    assert any(f"they meet once in {steps} steps" in each for each in region.remarks)
    (tmp_path / f"{kernel}.c").write_text(result.text)
    shared = build(tmp_path / f"{kernel}.c", tmp_path / "shared", toolchain)
    plain = build(source(kernel), tmp_path / "plain", PLAIN)
    for extents, ranks in (((29, 11), 3), ((13, 8), 7), ((4, 5), 7), ((29, 1), 2)):
        expected = run(plain, tuple(map(str, extents)))
        assert_all_print(some_mpi.run(shared, ranks, *extents), expected, ranks)


def test_steps_between_exchanges_cost_messages_and_no_bytes(mpi, tmp_path):
    """A step needs a row of the neighbour, and tells it one, however often ranks meet."""
    steps, n = 24, 42
    counted = {}
    for together in (1, 4):
        toolchain = Toolchain(mpi.name, mpi.compiler, ("-O1", "-fopenmp"))
        result = transform("jacobi-2d", replace(SHARED, rank_steps=together), toolchain)
        (tmp_path / "jacobi-2d.c").write_text(result.text)
        program = build(tmp_path / "jacobi-2d.c", tmp_path / "shared", toolchain)
        said = mpi.run(program, 2, n, steps, POLYBUILD_VERBOSE="1").stderr
        ((messages, sent),) = re.findall(r"rank 0 of 2: .* sent (\d+) messages, (\d+) bytes", said)
        counted[together] = int(messages) - 1, int(sent) - 2 * 20 * 40 * 8  # both arrays after the region
    row = 40 * 8
    # nothing is read after the last step, or the last tile
    assert counted == {1: (steps - 1, (steps - 1) * row), 4: (steps // 4 - 1, (steps - 4) * row)}


@functools.cache
def forms(group):
    """A program of loops in many forms, as it is and for ranks: the same for every implementation of MPI."""
    cases = {
        name: each.body
        for name, each in region_programs.cases(group).items()
        if each.expected in {"parallel", "serial"}
    }
    text = region_programs.program(cases, (1, 2, 13), "", "")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "in.c")
        path.write_text(text)
        result = compile_source(str(path), SHARED, ["gcc"], [*region_programs.FLAGS, "-fopenmp"])
    assert not [each.message for each in result.regions if each.code == "internal"]
    return text, result.text


@pytest.mark.parametrize("group", ["normal-form-edges", "data-dependent"])
def test_forms(some_mpi, group, tmp_path):
    """Loops in many forms, those with dynamic bounds among them."""
    flags = region_programs.FLAGS
    for name, text in zip(("in", "out"), forms(group), strict=True):
        (tmp_path / f"{name}.c").write_text(text)
    for file, compiler, more in (("in", "gcc", ()), ("out", some_mpi.compiler, ("-fopenmp",))):
        command = [compiler, *flags, *more, tmp_path / f"{file}.c", "-o", tmp_path / file, "-lm", "-w"]
        subprocess.run(command, check=True)
    expected = subprocess.run([tmp_path / "in"], check=True, capture_output=True, text=True)
    assert_all_print(some_mpi.run(tmp_path / "out", 3), expected.stdout.splitlines(), 3)


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 7])
def test_any_number_of_ranks(mpi, waves, ranks):
    for size in (0, 1, 3, 8, 30):
        expected = subprocess.run(
            [waves / "waves", str(size), "5"], capture_output=True, text=True, check=True
        )
        assert_all_print(mpi.run(waves / "out", ranks, size, 5), [expected.stdout.rstrip()], ranks)


def test_messages_are_the_rows_between_blocks(mpi, waves):
    """Two rows a step between neighbours, and both arrays to all others at the end."""
    said = mpi.run(waves / "out", 3, 32, 5, POLYBUILD_VERBOSE="1").stderr
    counted = {
        int(rank): (int(messages), int(sent))
        for rank, messages, sent in re.findall(r"rank (\d) of 3: .* sent (\d+) messages, (\d+) bytes", said)
    }
    row, whole = 30 * 8, 10 * 30 * 8 * 2
    # nothing is read after the last of the five steps
    assert counted == {
        0: (4 + 2, 4 * row + 2 * whole),
        1: (8 + 2, 8 * row + 2 * whole),
        2: (4 + 2, 4 * row + 2 * whole),
    }


def test_ranks_that_disagree_end_together(mpi, waves):
    done = mpi.run(waves / "out", 3, 9, 3, "more")
    assert done.returncode != 0
    said = "the ranks came to different regions, or with different sizes: unlike rank 0 is rank 1"
    assert messages_of(done) == [f"waves.c:8: rank 0: {said}"]


def test_a_rank_that_does_not_come_is_missed(mpi, waves):
    done = mpi.run(waves / "out", 3, 9, 3, "late", POLYBUILD_RANKS_TIMEOUT="4")
    assert done.returncode != 0
    (message,) = messages_of(done)
    assert re.fullmatch(
        r"waves\.c:8: rank [02]: waits for other ranks to come to this region: not here is rank 1", message
    )


def test_the_launcher_of_another_mpi_is_told(mpi, waves):
    other = next((each for each in LIBRARIES if each != mpi), None)
    if other is None:
        pytest.skip("needs two implementations of MPI")
    done = other.run(waves / "out", 3, 9, 3)
    assert done.returncode == 0
    said = "each of 3 processes does all of the work: start them with the mpirun of the MPI that the program"
    assert messages_of(done) == [f"waves.c:8: {said} was compiled with"]
    expected = subprocess.run([waves / "waves", "9", "3"], capture_output=True, text=True, check=True)
    assert_all_print(done, [expected.stdout.rstrip()], 3)


def test_what_ranks_do_is_told():
    (region,) = transform("jacobi-2d", replace(SHARED, rank_steps=1)).regions
    (told,) = (
        each for each in region.remarks if each.startswith("ranks share the loops, and send each other")
    )
    assert told.endswith("; they work while messages travel")
    (region,) = transform("gemm", SHARED).regions  # sends nothing before its end
    assert not any("while messages travel" in each for each in region.remarks)
    (region,) = transform("lu", replace(SHARED, rank_steps=4)).regions
    assert "ranks meet in each step: what they share is not all in one loop over time" in region.remarks
    (region,) = transform("jacobi-2d", SHARED).regions
    assert any(each.endswith("compute the border of others' blocks themselves") for each in region.remarks)
    (region,) = transform("seidel-2d", SHARED).regions
    assert "all ranks run the whole region: no loop was found that they could share" in region.remarks
