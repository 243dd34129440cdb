"""``#pragma polybuild resident``: a solver copies each array once in and once out, whatever runs it."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from device_programs import FLAGS, HAS_OPENCL, build, on, run, transform

from tests.emulator import stand_ins

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


# Steps of a plane with borders that are kept up, until the largest change, and the sum of squares, are small.
WHOLE = r"""
#include <math.h>
#include <polybuild.h>
#include <stdio.h>
#include <stdlib.h>
enum { N = 128 };
int main(int argc, char **argv)
{
  int most = argc > 1 ? atoi(argv[1]) : 1, steps = 0;
  double (*restrict u)[N] = malloc(sizeof(double[N][N])), (*restrict v)[N] = malloc(sizeof(double[N][N]));
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      u[i][j] = v[i][j] = i * j % 17 / 3.0;
  double change = 2, norm = 2;
#pragma polybuild resident(u[0:N], v[0:N])
  {
    while (steps < most && change > 1.2 && norm > 1) {
      change = 0, norm = 0;
#pragma scop
      for (int i = 1; i < N - 1; i++)
        for (int j = 1; j < N - 1; j++)
          v[i][j] = (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]) / 4;
#pragma endscop
BORDERS
#pragma scop allow_reassociation(on)
      for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
          norm += v[i][j] * v[i][j];
#pragma endscop
#pragma scop
      for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
          double d = fabs(v[i][j] - u[i][j]);
          change = d > change ? d : change;
        }
#pragma endscop
#pragma scop
      for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
          u[i][j] = v[i][j];
#pragma endscop
      steps++;
    }
  }
  double sum = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      sum += u[i][j] * (i + 2 * j) + v[i][j];
  printf("%d %.9g %.9g %.9g\n", steps, change, norm, sum);
  polybuild_counts counts;
  polybuild_counters(NULL, 0, &counts);
  fprintf(stderr, "runs %llu %llu bytes in %llu out %llu\n", counts.device_runs, counts.host_runs,
          counts.bytes_in, counts.bytes_out);
  free(u), free(v);
  return 0;
}
"""
BORDERS = {
    "a loop for all": """#pragma scop
      for (int i = 1; i < N - 1; i++) {
        v[i][0] = v[i][1], v[i][N - 1] = v[i][N - 2];
        v[0][i] = v[1][i], v[N - 1][i] = v[N - 2][i];
      }
#pragma endscop""",
    "a loop for each": """#pragma scop
      for (int i = 0; i < N; i++) v[i][0] = v[i][1];
      for (int i = 0; i < N; i++) v[i][N - 1] = v[i][N - 2];
#pragma endscop
#pragma scop
      for (int j = 0; j < N; j++) {
        v[0][j] = v[1][j];
        v[N - 1][j] = v[N - 2][j];
      }
#pragma endscop""",
}


def whole(form: str, backend: str, runtime: Path, folder: Path) -> tuple[Path, str]:
    """The solver with such borders, and what it prints on the host when it has converged."""
    result = transform(WHOLE.replace("BORDERS", BORDERS[form]), backend, folder)
    assert {each.backend for each in result.regions} == {backend}, result.regions
    made = build(result, "whole", runtime, folder)
    expected = run(made, "60", environment=on("host")).stdout
    assert 5 < int(expected.split()[0]) < 60
    return made, expected


def assert_moves_grids_once(done: subprocess.CompletedProcess[str], regions: int, steps: int) -> None:
    """Each step moves no more than the two numbers that its norm and its largest change are kept in."""
    on_device, on_host, *moved = map(int, re.findall(r"\d+", done.stderr.splitlines()[-1]))
    assert (on_device, on_host) == (regions * steps, 0)
    grids = 2 * 128 * 128 * 8
    assert all(grids <= bytes_moved <= grids + 16 * steps for bytes_moved in moved), moved


@pytest.mark.skipif(not HAS_OPENCL, reason="needs an OpenCL platform")
def test_a_whole_solver_on_opencl(runtime, tmp_path):
    made, expected = whole("a loop for all", "opencl", runtime, tmp_path)
    done = run(made, "60", environment=on("opencl"))
    assert done.stdout == expected
    assert_moves_grids_once(done, 5, int(expected.split()[0]))


@pytest.mark.parametrize("form", BORDERS)
def test_a_whole_solver_copies_its_grids_once(form, emulator, runtime, tmp_path, monkeypatch):
    """With borders, a norm, and a test on the host whether it is done: numbers alone come home meanwhile."""
    monkeypatch.setenv("NVCC", emulator.nvcc)
    made, expected = whole(form, "cuda", runtime, tmp_path)
    done = run(made, "60", environment=emulator.environment(order="1"))
    assert done.stdout == expected
    assert_moves_grids_once(done, 4 + BORDERS[form].count("endscop"), int(expected.split()[0]))
    found = {}
    for steps in (3, 5):
        found[steps] = emulator.report([str(made), str(steps)])["copies"]
    grids = 2 * 128 * 128 * 8
    for way in ("in", "out"):
        for steps, copies in found.items():
            assert grids <= copies[way][1] <= grids + 16 * steps, (way, steps, copies)
            assert copies[way][0] <= 2 + 2 * steps, (way, steps, copies)


# A program with a region, and a library that it opens, with another one; each is linked with a runtime.
LIBRARY = SOLVER[: SOLVER.index("int main")].replace("static double field[60];", "").replace("static ", "")
OPENS = SOLVER.replace("#include <polybuild.h>", "#include <dlfcn.h>\n#include <polybuild.h>").replace(
    "  int n = 60", """  void (*other)(int, double *, const double *);
  *(void **)&other = dlsym(dlopen(argv[2], RTLD_NOW | RTLD_LOCAL), "step");
  int n = 60"""
).replace("u = v;", """other(n, v, u);
      u = v;""", 1)  # fmt: skip


@pytest.mark.parametrize("backend", ["cuda", pytest.param("opencl", marks=pytest.mark.opencl)])
def test_a_library_with_a_runtime_of_its_own(backend, emulator, runtime, tmp_path, monkeypatch):
    """Uses the arrays of the program where they are, and copies none."""
    monkeypatch.setenv("NVCC", emulator.nvcc)
    made = program(OPENS, backend, runtime, tmp_path)
    (tmp_path / "library").mkdir()
    source, library = tmp_path / "library" / "made.c", tmp_path / "library" / "step.so"
    source.write_text(transform(LIBRARY, backend, tmp_path / "library").text, encoding="utf-8")
    own = sorted(map(str, (stand_ins.RUNTIME / "src").glob("*.c")))
    shared = ["-fPIC", "-shared", "-Wl,-Bsymbolic", "-ldl", "-lpthread"]
    subprocess.run(["gcc", *FLAGS, source, *own, *shared, "-o", library], check=True, timeout=120)
    device = emulator.environment() if backend == "cuda" else on("opencl")
    found = []
    for environment in (on("host"), device):
        done = run(made, "20", str(library), environment=environment)
        found.append((done.stdout, list(map(int, re.findall(r"\d+", done.stderr.splitlines()[-1])))))
    (expected, on_host), (result, on_device) = found
    assert result == expected
    assert (on_host, on_device) == ([0, 40, 0, 0], [40, 0, 2, 2])


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
