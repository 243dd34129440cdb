"""A device for each rank: kernels between messages, borders copied, and hosts that stand in for devices."""

from __future__ import annotations

import functools
import re
import subprocess
import tempfile
from pathlib import Path

import pytest
from device_programs import FLAGS, HAS_OPENCL

from polybuild.driver.file import compile_source
from polybuild.options import Options
from tests.emulator import failing_opencl
from tests.mpi_libraries import Mpi, assert_all_print

pytestmark = pytest.mark.mpi
needs_opencl = pytest.mark.skipif(not HAS_OPENCL, reason="needs an OpenCL platform")

REGIONS = """
#include <polybuild.h>
#include <stdio.h>
#include <stdlib.h>
static double u[61][61], v[61][61], a[61][61], b[61][61], c[61][61], p[14][15][16], q[14][15][16];
static void heat(int steps, int n, double u[restrict n][n], double v[restrict n][n])
{
#pragma scop
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        v[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        u[i][j] = v[i][j];
  }
#pragma endscop
}
static void box(int steps)
{
#pragma scop
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < 13; i++)
      for (int j = 1; j < 14; j++)
        for (int k = 1; k < 15; k++)
          q[i][j][k] = 0.125 * (p[i - 1][j][k] + p[i + 1][j][k] + p[i][j - 1][k] + p[i][j + 1][k])
                       + 0.25 * (p[i][j][k - 1] + p[i][j][k + 1]) + 0.1 * p[i][j][k];
    for (int i = 1; i < 13; i++)
      for (int j = 1; j < 14; j++)
        for (int k = 1; k < 15; k++)
          p[i][j][k] = q[i][j][k];
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
static void lu(int n, double a[restrict n][n])
{
#pragma scop
  for (int k = 0; k < n; k++)
    for (int i = k + 1; i < n; i++) {
      a[i][k] /= a[k][k];
      for (int j = k + 1; j < n; j++)
        a[i][j] -= a[i][k] * a[k][j];
    }
#pragma endscop
}
static void print(const char *what, const double *at, size_t bytes)
{
  double sum = 0;
  for (size_t i = 0; i < bytes / sizeof *at; i++)
    sum = 0.9 * sum + at[i];
  printf("%s %a\\n", what, sum);
}
int main(void)
{
  polybuild_counts counts = {0};
  for (int i = 0; i < 61; i++)
    for (int j = 0; j < 61; j++) {
      u[i][j] = (i * 7 + j * 3) % 11;
      a[i][j] = (i * j) % 7 + (i == j) * 70;
      b[i][j] = (i + 2 * j) % 5 - 1.5;
    }
  for (int i = 0; i < 14 * 15 * 16; i++)
    (&p[0][0][0])[i] = i % 13;
  heat(5, 61, u, v);
  print("u", u[0], sizeof u);
  print("v", v[0], sizeof v);
  box(5);
  print("p", p[0][0], sizeof p);
  product(61, a, b, c);
  print("c", c[0], sizeof c);
  lu(61, a);
  print("a", a[0], sizeof a);
  polybuild_counters(NULL, 0, &counts);
  fprintf(stderr, "rank %d: %llu runs\\n", polybuild_rank(), counts.device_runs);
  return 0;
}
"""

SUMS = """
#include <polybuild.h>
#include <stdio.h>
static int x[5000], y[5000], h[40];
static double d[5000];
static int dot(int n, const int *x, const int *y)
{
  int s;
#pragma scop
  s = 7;
  for (int i = 0; i < n; i++)
    s += x[i] * y[i];
#pragma endscop
  return s;
}
static void sums(int n, int t, const int *restrict x, int *restrict h)
{
#pragma scop
  for (int k = 0; k < 40; k++)
    h[k] = k;
  for (int i = 0; i < n; i++)
    for (int k = 0; k < 40; k++)
      h[k] += x[i] * (k + t);
#pragma endscop
}
static void largest(int n, double *d)
{
  double m = d[0];
#pragma scop
  for (int i = 0; i < n; i++)
    d[i] = d[i] * 1.5 + i % 7;
  for (int i = 1; i < n; i++)
    d[0] += d[i] * 0.001 - d[i - 1] * 0.002;
  for (int i = 0; i < n; i++)
    if (d[i] > m)
      m = d[i];
  for (int i = 0; i < n; i++)
    d[i] = d[i] - m;
#pragma endscop
}
int main(void)
{
  polybuild_counts counts = {0};
  double sum = 0;
  for (int i = 0; i < 5000; i++) {
    x[i] = i * 37 % 101 - 50;
    y[i] = i * 11 % 7;
    d[i] = i % 13;
  }
  printf("dot %d\\n", dot(5000, x, y));
  sums(5000, 3, x, h);
  for (int k = 0; k < 40; k++)
    printf("h%d %d\\n", k, h[k]);
  largest(5000, d);
  for (int i = 0; i < 5000; i++)
    sum = 0.9 * sum + d[i];
  printf("d %a\\n", sum);
  polybuild_counters(NULL, 0, &counts);
  fprintf(stderr, "rank %d: %llu runs\\n", polybuild_rank(), counts.device_runs);
  return 0;
}
"""

STEPS = """
#include <polybuild.h>
#include <stdio.h>
#include <stdlib.h>
static void step(int n, double u[restrict n][n], double v[restrict n][n])
{
#pragma scop
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      v[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
#pragma endscop
}
int main(int argc, char **argv)
{
  int n = 60, steps = argc > 1 ? atoi(argv[1]) : 1;
  double (*u)[n] = calloc(n, sizeof *u), (*v)[n] = calloc(n, sizeof *v), middle = 0, sum = 0;
  polybuild_counts counts = {0};
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      u[i][j] = v[i][j] = (i * 7 + j * 3) % 11;
#pragma polybuild resident(u[0:n], v[0:n])
  {
#pragma polybuild distributed(u[0:n], v[0:n])
    {
      for (int t = 0; t < steps; t++) {
        double (*other)[n] = u;
        step(n, u, v);
        u = v;
        v = other;
        if (t == 2) {
          polybuild_collect(u);
          polybuild_update_host(u);
          for (int i = 0; i < n; i++)
            middle = 0.7 * middle + u[i][i];
        }
      }
    }
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      sum = 0.9 * sum + u[i][j] - v[i][j];
  printf("%a %a\\n", middle, sum);
  polybuild_counters(NULL, 0, &counts);
  fprintf(stderr, "rank %d: device %llu host %llu in %llu out %llu\\n", polybuild_rank(), counts.device_runs,
          counts.host_runs, counts.bytes_in, counts.bytes_out);
  return 0;
}
"""


@functools.cache
def written(text: str, backend: str) -> str:
    """What is written for ranks with devices, the same for every implementation of MPI."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "in.c")
        source.write_text(text)
        options = Options(min_work=0, distribute="mpi", backend=backend)
        result = compile_source(str(source), options, ["gcc"], FLAGS)
    assert not result.diagnostics
    assert all("the device of each rank" in " ".join(each.remarks) for each in result.regions)
    return result.text


def made(text: str, mpi: Mpi, runtime: Path, folder: Path, backend: str = "opencl") -> Path:
    """The program for ranks with devices, beside the original; all regions have kernels."""
    (folder / "in.c").write_text(text)
    (folder / "out.c").write_text(written(text, backend))
    rest = [runtime, "-lm", "-ldl", "-lpthread"]
    flags = [each for each in FLAGS if each != "-Werror"]  # of the headers of MPI
    subprocess.run([mpi.compiler, *flags, folder / "out.c", *rest, "-o", folder / "out"], check=True)
    subprocess.run(["gcc", *flags, folder / "in.c", *rest, "-o", folder / "in"], check=True)
    return folder / "out"


def original(program: Path, *arguments: object) -> list[str]:
    """What the original of ``program`` prints."""
    command = [program.parent / "in", *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def on_second(program: Path, settings: dict[str, str]) -> Path:
    """A program that is ``program`` with other ``settings`` on the second rank."""
    script = program.parent / "second.sh"
    exports = "\n".join(f"  export {name}='{value}'" for name, value in settings.items())
    asked = 'if [ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 1 ]; then'
    script.write_text(f'#!/bin/sh\n{asked}\n{exports}\nfi\nexec {program} "$@"\n')
    script.chmod(0o755)
    return script


def runs(stderr: str) -> dict[int, int]:
    """How often each rank ran something on its device."""
    return {int(rank): int(count) for rank, count in re.findall(r"rank (\d+): (\d+) runs", stderr)}


@pytest.fixture(scope="module")
def regions(mpi, runtime, tmp_path_factory):
    """The program of all regions, for OpenCL."""
    return made(REGIONS, mpi, runtime, tmp_path_factory.mktemp("regions"))


@needs_opencl
@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_devices_compute_what_one_process_does(mpi, regions, ranks):
    done = mpi.run(regions, ranks, POLYBUILD_BACKEND="opencl")
    assert_all_print(done, original(regions), ranks)
    found = runs(done.stderr)
    assert len(found) == ranks
    assert all(found.values())


@needs_opencl
def test_hosts_work_between_blocks_of_devices(mpi, runtime, tmp_path):
    """For loops that all ranks run alike, and for sums that they put together."""
    program = made(SUMS, mpi, runtime, tmp_path)
    done = mpi.run(program, 2, POLYBUILD_BACKEND="opencl")
    assert_all_print(done, original(program), 2)
    assert all(runs(done.stderr).values())


@needs_opencl
def test_a_rank_without_a_device_is_among_others(mpi, regions, tmp_path):
    (tmp_path / "none").mkdir()
    program = on_second(regions, {"OCL_ICD_VENDORS": f"{tmp_path}/none"})
    done = mpi.run(program, 3, POLYBUILD_BACKEND="opencl")
    assert_all_print(done, original(regions), 3)
    found = runs(done.stderr)
    assert not found[1]
    assert found[0]
    assert found[2]


@needs_opencl
@pytest.mark.parametrize("fail", ["9", "20+", "31", "45", "70+", "120"])
def test_a_rank_whose_device_fails_ends_well_or_ends_all(mpi, regions, tmp_path, fail):
    """It runs its block on the host, unless values are lost: then all ranks end, and one says why."""
    failing = failing_opencl.build(tmp_path / "library")
    assert failing is not None
    settings = {
        "LD_LIBRARY_PATH": str(failing.folder),
        "POLYBUILD_OPENCL_LIBRARY": failing.library,
        "POLYBUILD_OPENCL_FAIL": fail,
    }
    done = mpi.run(on_second(regions, settings), 2, POLYBUILD_BACKEND="opencl")
    if done.returncode:
        assert "the program cannot go on" in done.stderr
    else:
        assert_all_print(done, original(regions), 2)


def test_kernels_of_cuda(some_mpi, emulator, runtime, tmp_path, monkeypatch):
    monkeypatch.setenv("NVCC", emulator.nvcc)
    program = made(REGIONS, some_mpi, runtime, tmp_path, "cuda")
    for ranks in (1, 2):
        done = some_mpi.run(program, ranks, LD_LIBRARY_PATH=str(emulator.folder), POLYBUILD_BACKEND="cuda")
        assert_all_print(done, original(program), ranks)
        assert all(runs(done.stderr).values())


@needs_opencl
@pytest.mark.parametrize("ranks", [2, 3])
def test_only_borders_travel(mpi, runtime, tmp_path, ranks):
    """Of arrays that are resident and distributed, between host and device, too."""
    program = made(STEPS, mpi, runtime, tmp_path)

    def copied(steps: int) -> dict[int, tuple[int, ...]]:
        done = mpi.run(program, ranks, steps, POLYBUILD_BACKEND="opencl")
        assert_all_print(done, original(program, steps), ranks)
        told = re.findall(r"rank (\d+): device (\d+) host (\d+) in (\d+) out (\d+)", done.stderr)
        return {int(rank): tuple(map(int, counts)) for rank, *counts in told}

    few, many = copied(6), copied(26)
    assert len(few) == ranks
    row = 58 * 8
    for rank, counts in few.items():
        neighbours = (rank > 0) + (rank < ranks - 1)
        more = [late - early for early, late in zip(counts, many[rank], strict=True)]
        assert more == [20, 0, 20 * neighbours * row, 20 * neighbours * row]
