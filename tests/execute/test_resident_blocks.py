"""``#pragma polybuild resident``: a solver copies each array once in and once out, whatever runs it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from device_programs import HAS_OPENCL, build, on, run, transform

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


def program(
    text: str, backend: str, runtime: Path, folder: Path, codes: tuple[str, ...] = (), **options: object
) -> Path:
    """The program made of ``text``, with warnings of ``codes`` alone."""
    result = transform(text, backend, folder, **options)
    assert tuple(each.code for each in result.diagnostics) == codes
    return build(result, f"solver-{backend}", runtime, folder)


def counted(made: Path, environment: dict[str, str], steps: int = STEPS) -> tuple[str, list[int]]:
    """The results, and runs on the device and on the host, copies in and out."""
    done = run(made, str(steps), environment=environment)
    return done.stdout, list(map(int, re.findall(r"\d+", done.stderr.splitlines()[-1])))


def test_emulated_cuda(emulator, runtime, tmp_path, monkeypatch):
    monkeypatch.setenv("NVCC", emulator.nvcc)
    made = program(SOLVER, "cuda", runtime, tmp_path)
    expected, counts = counted(made, on("host"))
    assert counts == [0, STEPS, 0, 0]
    assert counted(made, emulator.environment(order="descending")) == (expected, [STEPS, 0, 2, 2])


@pytest.mark.skipif(not HAS_OPENCL, reason="needs an OpenCL platform")
def test_opencl(runtime, tmp_path):
    made = program(SOLVER, "opencl", runtime, tmp_path)
    expected, _ = counted(made, on("host"))
    assert counted(made, on("opencl")) == (expected, [STEPS, 0, 2, 2])


LARGE = SOLVER.replace("60", "20000").replace("static double field", "double other[3];\nstatic double field")


@pytest.mark.parametrize(
    ("element", "runs"),
    [("u[i] = v[i] / 2", [40, 0]), ("other[i] += i", [20, 20])],
    ids=["that are there", "that are not"],
)
def test_little_loops_run_where_their_arrays_are(*, element, runs, emulator, runtime, tmp_path, monkeypatch):
    """And bring no others home."""
    monkeypatch.setenv("NVCC", emulator.nvcc)
    region = (
        f"\n#pragma scop\n      for (int i = 0; i < n / 8000; i++)\n        {element};\n#pragma endscop\n"
    )
    text = LARGE.replace("u = v;", f"{region}      u = v;", 1)
    made = program(text, "cuda", runtime, tmp_path, min_work=1)
    found = [counted(made, environment, steps=20) for environment in (on("host"), emulator.environment())]
    assert found[0][0] == found[1][0]
    assert found[1][1] == [*runs, 2, 2]


ON_THE_HOST = """    for (int i = 1; i < n; i++)
      if (u[i] > u[i - 1])
        u[i] = u[i - 1] + u[i] / 2;
"""


def test_a_region_of_the_host_finds_and_leaves_current_values(emulator, runtime, tmp_path, monkeypatch):
    """It has no parallel loop and so no kernels, and runs between those that have."""
    monkeypatch.setenv("NVCC", emulator.nvcc)
    text = SOLVER.replace("u = v;", f"\n#pragma scop\n{ON_THE_HOST}#pragma endscop\n      u = v;", 1)
    made = program(text, "cuda", runtime, tmp_path)
    expected, _ = counted(made, on("host"))
    assert counted(made, emulator.environment()) == (expected, [STEPS, STEPS, 2 * STEPS, STEPS])


def test_a_region_that_is_kept_keeps_arrays_from_staying(emulator, runtime, tmp_path, monkeypatch):
    monkeypatch.setenv("NVCC", emulator.nvcc)
    loop = "    for (int i = 0; i < n; i++)\n      putchar(u[i] > 3 ? 43 : 45);\n"
    refused = f"\n#pragma scop\n{loop}#pragma endscop\n"
    text = SOLVER.replace("u = v;", f"{refused}      u = v;", 1)
    made = program(text, "cuda", runtime, tmp_path, ("call", "resident-kept"))
    expected, _ = counted(made, on("host"))
    assert counted(made, emulator.environment()) == (expected, [STEPS, 0, STEPS, STEPS])


def test_lines_keep_their_numbers(tmp_path):
    """And the file of a backend without a device stays as it is."""
    result = transform(SOLVER, "opencl", tmp_path)
    after = result.text[result.text.rindex("#line") :]
    number = int(after.split()[1])
    pairs = list(zip(after.split("\n")[1:], SOLVER.split("\n")[number - 1 :], strict=True))
    assert any(line != original for line, original in pairs)
    assert all(line == original or "polybuild_re" in line for line, original in pairs)
    other = SOLVER.replace("scop", "omp simd")
    assert transform(other, "openmp", tmp_path).text == other
