"""Stencils in tiles over time on devices: a kernel for each phase, equal to the bit in all styles."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass

import device_programs
import islpy as isl
import pytest

from polybuild.driver import passes
from tests.emulator.stand_ins import ORDERS

# With tiles this small a grid of a few rows has several of each phase, and blocks take turns.
SMALL = {"tile_sizes": (4, 6, 8), "block_sizes": (2, 4), "grid_sizes": (3,)}
SIZES = [(n, steps) for n in (0, 1, 2, 7, 33) for steps in (0, 1, 8, 13)] + [(100, 3)]
_MAIN = """
int main(int argc, char **argv)
{
  int n = atoi(argv[1]), steps = atoi(argv[2]);
  size_t size = 2 * ((size_t)n * n + 1), all = 3 * size;
  double *m = malloc(all * sizeof *m);
  for (size_t k = 0; k < all; k++) m[k] = (double)(k * 2654435761u % 1000) / 7;
  f(n, steps, (void *)m, (void *)(m + size), (void *)(m + 2 * size));
  unsigned long long h = 14695981039346656037ull;
  const unsigned char *c = (const unsigned char *)m;
  for (size_t k = 0; k < all * sizeof *m; k++) h = (h ^ c[k]) * 1099511628211ull;
  printf("%llx\\n", h);
  free(m);
  return argc - 3;
}
"""
_MATRICES = "double A[restrict n][n], double B[restrict n][n], double C[restrict n][n]"
_POINTERS = "double *restrict A, double *restrict B, double *restrict C"
_FIVE = "A[i][j] + A[i - 1][j] + A[i + 1][j] + A[i][j - 1] + A[i][j + 1]"
_INNER = "for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++)"
_COPY = f"{_INNER} A[i][j] = B[i][j];"


@dataclass(frozen=True)
class Way:
    """A stencil: the parameters of its function, and the body of its loop over time."""

    parameters: str
    step: str


WAYS = {
    "two grids": Way(_MATRICES, f"{_INNER} B[i][j] = 0.2 * ({_FIVE}); {_COPY}"),
    "there and back": Way(
        _MATRICES,
        f"{_INNER} B[i][j] = 0.2 * ({_FIVE}); {_INNER} A[i][j] = 0.2 * ({_FIVE.replace('A', 'B')});",
    ),
    "scalar": Way(
        _MATRICES,
        f"{_INNER} {{ double s = A[i][j]; s += A[i - 1][j] + A[i + 1][j]; s += A[i][j - 1] + A[i][j + 1];"
        f" B[i][j] = 0.2 * s; }} {_COPY}",
    ),
    "parity": Way(
        _MATRICES.replace("A[restrict n][n]", "A[restrict 2][n][n]"),
        f"{_INNER} A[(t + 1) % 2][i][j] = 0.2 * ({_FIVE.replace('A[', 'A[t % 2][')});",
    ),
    "flat": Way(
        _POINTERS,
        f"{_INNER} B[i * n + j] = 0.2 * (A[i * n + j] + A[(i - 1) * n + j] + A[(i + 1) * n + j]"
        f" + A[i * n + j - 1] + A[i * n + j + 1]); {_INNER} A[i * n + j] = B[i * n + j];",
    ),
    "staggered": Way(
        _MATRICES,
        "for (int j = 0; j < n; j++) A[0][j] = t;"
        " for (int i = 1; i < n; i++) for (int j = 0; j < n; j++) A[i][j] -= 0.5 * (C[i][j] - C[i - 1][j]);"
        " for (int i = 0; i < n; i++) for (int j = 1; j < n; j++) B[i][j] -= 0.5 * (C[i][j] - C[i][j - 1]);"
        " for (int i = 0; i < n - 1; i++) for (int j = 0; j < n - 1; j++)"
        " C[i][j] -= 0.7 * (B[i][j + 1] - B[i][j] + A[i + 1][j] - A[i][j]);",
    ),
    "space": Way(
        "double (*restrict A)[n / 4 + 1][n / 4 + 1][n / 3 + 1], double *B, double *C",
        "for (int i = 1; i < n / 4; i++) for (int j = 1; j < n / 4; j++) for (int k = 1; k < n / 3; k++)"
        " A[(t + 1) % 2][i][j][k] = 0.2 * (A[t % 2][i - 1][j][k] + A[t % 2][i + 1][j][k]"
        " + A[t % 2][i][j - 1][k] + A[t % 2][i][j + 1][k] + A[t % 2][i][j][k - 1] + A[t % 2][i][j][k + 1]);",
    ),
    "line": Way(
        _POINTERS,
        "for (int i = 1; i < n - 1; i++) B[i] = 0.33 * (A[i - 1] + A[i] + A[i + 1]);"
        " for (int i = 1; i < n - 1; i++) A[i] = B[i];",
    ),
    "upwind": Way(
        _POINTERS,
        "for (int i = 2; i < n; i++) B[i] = 0.33 * (A[i - 2] + A[i - 1] + A[i]);"
        " for (int i = 2; i < n; i++) A[i] = B[i];",
    ),
}
JACOBI = ("two grids", "there and back", "scalar", "flat")


def program(way: str) -> str:
    """The program that prints a hash of the arrays, for a size and a number of steps."""
    chosen = WAYS[way]
    unused = "".join(f"(void){name};" for name in "ABC")
    return (
        "#include <stdio.h>\n#include <stdlib.h>\n"
        f"static void f(int n, int steps, {chosen.parameters})\n{{\n  {unused}\n#pragma scop\n"
        f"  for (int t = 0; t < steps; t++) {{ {chosen.step} }}\n#pragma endscop\n}}\n{_MAIN}"
    )


def tiled(way, backend, folder, **options):
    """What the program becomes; its stencil must have tiles over time."""
    result = device_programs.transform(program(way), backend, folder, **{**SMALL, **options})
    (region,) = result.regions
    assert region.backend == backend, region.remarks
    assert any("tiles of" in each and "over time" in each for each in region.remarks), region.remarks
    return result


@pytest.fixture
def nvcc(emulator, monkeypatch):
    monkeypatch.setenv("NVCC", emulator.nvcc)


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """What a program prints as it was written."""
    folder = tmp_path_factory.mktemp("original")

    def printed(way, size):
        made = folder / way.replace(" ", "_")
        if not made.exists():
            file = made.with_suffix(".c")
            file.write_text(program(way))
            subprocess.run(["gcc", *device_programs.FLAGS, file, "-o", made], check=True, timeout=60)
        return device_programs.run(made, *map(str, size), environment=device_programs.on("host")).stdout

    return printed


@pytest.fixture(scope="module")
def counted():
    """What kernels of ways that were looked at did, by the ways."""
    return {}


def compare(made, way, original, sizes, environment):
    for size in sizes:
        ran = device_programs.run(made, *map(str, size), environment=environment)
        assert ran.stdout == original(way, size), size


@pytest.mark.usefixtures("nvcc")
@pytest.mark.fast(way=["two grids"])
@pytest.mark.parametrize("way", WAYS)
def test_every_access_is_right(way, workbench, original, counted):
    """In four orders of blocks and threads: no race, nothing uninitialised, nothing out of bounds.

    A tile of a Jacobi sweep has two launches for its steps, and does the same whatever the way.
    """
    emulator, folder = workbench.emulator, workbench.folder
    made = device_programs.build(tiled(way, "cuda", folder), "program", workbench.runtime, folder)
    compare(made, way, original, SIZES, emulator.environment(order="1"))
    for order in ORDERS:
        compare(made, way, original, [(7, 5), (33, 13)], emulator.environment(order=order))
    if way in JACOBI:
        kernels = emulator.report([str(made), "33", "16"])["kernels"].values()
        counted[way] = [(each["launches"], each["barriers"], each["global_writes"]) for each in kernels]
        assert [launches for launches, _, _ in counted[way]] == [5, 4]  # 16 steps, four for each tile
        assert all(each == counted[way] for each in counted.values())


STEPS = {
    "b": ("shared-memory",),
    "c": ("shared-memory", "interleaved-copy-out"),
    "e": ("shared-memory", "interleaved-copy-out", "aligned-loads", "static-reuse"),
    "f": ("shared-memory", "interleaved-copy-out", "aligned-loads", "dynamic-reuse"),
    "full": ("shared-memory", "interleaved-copy-out", "aligned-loads", "static-reuse", "full-tiles"),
}
"""The steps of table 4 of the thesis, and code for full tiles."""


@pytest.mark.usefixtures("nvcc")
@pytest.mark.parametrize(
    "case", [*((way, step) for way in ("parity", "line") for step in STEPS), ("space", "e"), ("space", "f")]
)
def test_boxes_in_shared_memory(case, emulator, runtime, original, tmp_path):
    """What strips copy, move and store makes the same results, in four orders of blocks and threads."""
    way, step = case
    sizes = {"tile_sizes": (4, 4, 6, 8), "block_sizes": (1, 2, 4)} if way == "space" else {}
    result = tiled(way, "cuda", tmp_path, device_tiles=STEPS[step], **sizes)
    made = device_programs.build(result, "program", runtime, tmp_path)
    compare(made, way, original, SIZES, emulator.environment(order="1"))
    for order in ORDERS:
        compare(made, way, original, [(7, 5), (33, 13)], emulator.environment(order=order))
    kernels = emulator.report([str(made), "33", "13"])["kernels"].values()
    assert all(each["shared_reads"]["accesses"] for each in kernels)


@pytest.mark.usefixtures("nvcc")
@pytest.mark.parametrize("way", ["staggered", "line", "space"])
def test_full_tiles_in_memory(way, emulator, runtime, original, tmp_path):
    """Strips that are cut off nowhere have code of their own; at most of these sizes there are both kinds."""
    sizes = {"tile_sizes": (4, 4, 6, 8), "block_sizes": (1, 2, 4)} if way == "space" else {}
    made = tiled(way, "cuda", tmp_path, device_tiles=("full-tiles",), **sizes)
    program_ = device_programs.build(made, "program", runtime, tmp_path)
    compare(program_, way, original, SIZES, emulator.environment(order="1"))
    for order in ORDERS:
        compare(program_, way, original, [(7, 5), (33, 13)], emulator.environment(order=order))


@pytest.mark.usefixtures("nvcc")
@pytest.mark.parametrize("shape", ["diamond", "hexagonal", "split"])
def test_other_shapes(shape, emulator, runtime, original, tmp_path):
    result = tiled("two grids", "cuda", tmp_path, tile_shape=shape)
    made = device_programs.build(result, "program", runtime, tmp_path)
    for order in ("descending", "1"):
        compare(made, "two grids", original, [(1, 2), (7, 5), (33, 13)], emulator.environment(order=order))


@pytest.mark.skipif(not device_programs.HAS_OPENCL, reason="needs an OpenCL platform")
@pytest.mark.parametrize("way", ["two grids", "parity", "staggered"])
def test_opencl(way, runtime, original, tmp_path):
    made = device_programs.build(tiled(way, "opencl", tmp_path), "program", runtime, tmp_path)
    compare(made, way, original, SIZES, device_programs.on("opencl"))


@pytest.mark.skipif(not device_programs.HAS_OPENCL, reason="needs an OpenCL platform")
@pytest.mark.parametrize("steps", [("full-tiles",), STEPS["full"]])
def test_full_tiles_with_opencl(steps, runtime, original, tmp_path):
    result = tiled("parity", "opencl", tmp_path, device_tiles=steps)
    made = device_programs.build(result, "program", runtime, tmp_path)
    compare(made, "parity", original, SIZES, device_programs.on("opencl"))


def test_tiles_that_take_too_long_to_write(tmp_path, monkeypatch):
    """Each step has kernels of its own then, and the report says so."""
    written = passes.write_region

    def limited(*arguments):
        if any(kernel.in_steps for request in arguments[4:] for kernel in request.plan.kernels):
            raise isl.Error("maximal number of operations exceeded")
        return written(*arguments)

    monkeypatch.setattr(passes, "write_region", limited)
    (region,) = device_programs.transform(program("line"), "opencl", tmp_path, **SMALL).regions
    assert region.kernels == 2
    assert region.remarks[-1] == (
        "on the device each step has kernels of its own: tiles over time take too long to write"
    )
