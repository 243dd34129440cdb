"""``#pragma polybuild resident``: a solver copies each array once in and once out, whatever runs it."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from polybuild.options import Options
from polybuild.pipeline import compile_source
from tests.emulator import stand_ins

FLAGS = ("-O1", "-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas", "-ffp-contract=off")
INCLUDE = ("-I", str(stand_ins.RUNTIME / "include"))
STEPS = 1000
SOLVER = r"""
#include <polybuild.h>
#include <stdio.h>
#include <stdlib.h>
static double field[60];
static void step(int n, double *restrict u, const double *restrict v)
{
#pragma scop
  for (int i = 1; i < n - 1; i++)
    u[i] = (v[i - 1] + 2 * v[i] + v[i + 1]) / 4;
#pragma endscop
}
int main(int argc, char **argv)
{
  int n = 60, steps = argc > 1 ? atoi(argv[1]) : 1;
  double *u = malloc((size_t)n * sizeof *u), *v = field;
  for (int i = 0; i < n; i++)
    u[i] = v[i] = (i * i % 17) / 3.0;
#pragma polybuild resident(u[0:n], field)
  {
    for (int t = 0; t < steps; t++) {
      double *w = u;
      step(n, u, v);
      u = v;
      v = w;
    }
  }
  for (int i = 0; i < n; i++)
    printf("%a %a\n", u[i], v[i]);
  polybuild_counts counts;
  polybuild_counters(NULL, 0, &counts);
  fprintf(stderr, "runs %llu %llu in %llu out %llu\n", counts.device_runs, counts.host_runs, counts.copies_in,
          counts.copies_out);
  if (u == field)
    u = v;
  free(u);
  return 0;
}
"""


@pytest.fixture(scope="module")
def emulator(tmp_path_factory) -> stand_ins.StandIns:
    return stand_ins.build(tmp_path_factory.mktemp("stand-ins"))


@pytest.fixture(scope="module")
def runtime(tmp_path_factory) -> Path:
    made = tmp_path_factory.mktemp("runtime") / "runtime.o"
    sources = sorted(map(str, (stand_ins.RUNTIME / "src").glob("*.c")))
    subprocess.run(["gcc", "-O1", "-r", *INCLUDE, *sources, "-o", made], check=True, timeout=120)
    return made


def program(text: str, backend: str, runtime: Path, folder: Path, codes: tuple[str, ...] = ()) -> Path:
    """The program made of ``text``, with warnings of ``codes`` alone."""
    source, made = folder / "solver.c", folder / f"solver-{backend}"
    source.write_text(text, encoding="utf-8")
    options = Options(backend=backend, min_work=0)
    result = compile_source(str(source), options, ["gcc"], [*FLAGS, *INCLUDE])
    assert tuple(each.code for each in result.diagnostics) == codes
    changed = folder / f"solver-{backend}.c"
    changed.write_text(result.text, encoding="utf-8")
    command = ["gcc", *FLAGS, *INCLUDE, changed, runtime, "-lm", "-ldl", "-lpthread", "-o", made]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return made


def run(made: Path, environment: dict[str, str]) -> tuple[str, list[int]]:
    """The results, and runs on the device and on the host, copies in and out."""
    done = subprocess.run(
        [made, str(STEPS)], env=environment, check=True, capture_output=True, text=True, timeout=120
    )
    return done.stdout, list(map(int, re.findall(r"\d+", done.stderr.splitlines()[-1])))


def test_emulated_cuda(emulator, runtime, tmp_path, monkeypatch):
    monkeypatch.setenv("NVCC", emulator.nvcc)
    made = program(SOLVER, "cuda", runtime, tmp_path)
    expected, counts = run(made, {**os.environ, "POLYBUILD_BACKEND": "host"})
    assert counts == [0, STEPS, 0, 0]
    assert run(made, emulator.environment(order="descending")) == (expected, [STEPS, 0, 2, 2])


@pytest.mark.skipif(not Path("/etc/OpenCL/vendors").is_dir(), reason="needs an OpenCL platform")
def test_opencl(runtime, tmp_path):
    made = program(SOLVER, "opencl", runtime, tmp_path)
    expected, _ = run(made, {**os.environ, "POLYBUILD_BACKEND": "host"})
    environment = {**os.environ, "POLYBUILD_BACKEND": "opencl"}
    assert run(made, environment) == (expected, [STEPS, 0, 2, 2])


ON_THE_HOST = """    for (int i = 1; i < n; i++)
      if (u[i] > u[i - 1])
        u[i] = u[i - 1] + u[i] / 2;
"""


def test_a_region_of_the_host_finds_and_leaves_current_values(emulator, runtime, tmp_path, monkeypatch):
    """It has no parallel loop and so no kernels, and runs between those that have."""
    monkeypatch.setenv("NVCC", emulator.nvcc)
    text = SOLVER.replace("u = v;", f"\n#pragma scop\n{ON_THE_HOST}#pragma endscop\n      u = v;", 1)
    made = program(text, "cuda", runtime, tmp_path)
    expected, _ = run(made, {**os.environ, "POLYBUILD_BACKEND": "host"})
    assert run(made, emulator.environment()) == (expected, [STEPS, STEPS, 2 * STEPS, STEPS])


def test_a_region_that_is_kept_keeps_arrays_from_staying(emulator, runtime, tmp_path, monkeypatch):
    monkeypatch.setenv("NVCC", emulator.nvcc)
    loop = "    for (int i = 0; i < n; i++)\n      putchar(u[i] > 3 ? 43 : 45);\n"
    refused = f"\n#pragma scop\n{loop}#pragma endscop\n"
    text = SOLVER.replace("u = v;", f"{refused}      u = v;", 1)
    made = program(text, "cuda", runtime, tmp_path, ("call", "resident-kept"))
    expected, _ = run(made, {**os.environ, "POLYBUILD_BACKEND": "host"})
    assert run(made, emulator.environment()) == (expected, [STEPS, 0, STEPS, STEPS])


def test_lines_keep_their_numbers(tmp_path):
    """And the file of a backend without a device stays as it is."""
    source = tmp_path / "solver.c"
    source.write_text(SOLVER, encoding="utf-8")
    result = compile_source(str(source), Options(backend="opencl", min_work=0), ["gcc"], [*FLAGS, *INCLUDE])
    after = result.text[result.text.rindex("#line") :]
    number = int(after.split()[1])
    assert after.split("\n")[1:] != SOLVER.split("\n")[number - 1 :]
    for line, original in zip(after.split("\n")[1:], SOLVER.split("\n")[number - 1 :], strict=True):
        assert line == original or "polybuild_re" in line
    other = SOLVER.replace("scop", "omp simd")
    source.write_text(other, encoding="utf-8")
    assert compile_source(str(source), Options(), ["gcc"], [*FLAGS, *INCLUDE]).text == other
