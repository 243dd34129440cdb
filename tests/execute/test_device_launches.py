"""Loops of the host as one kernel whose blocks wait for each other: ``--device-launches together``."""

from __future__ import annotations

import itertools
import re
import subprocess

import pytest
from device_programs import build, on, run, transform

from polybuild.targets.gpu.nvcc import build_image
from tests.emulator.nvcc import with_mistakes
from tests.emulator.stand_ins import FAULT, ORDERS

STEPS = {
    "steps": "for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++)"
    " B[i][j] = 0.25 * (A[i - 1][j] + A[i + 1][j] + A[i][j - 1] + A[i][j + 1]);"
    " for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++) A[i][j] = B[i][j];",
    "different blocks": "for (int i = 0; i < n; i++) x[i] = 0.5 * A[t % n][i] + x[i];"
    " for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) A[i][j] = A[i][j] + x[(i + t) % n] * 0.125;",
    "one thread": "for (int i = 1; i < n; i++) x[i] = 0.5 * x[i - 1] + A[i][t % n];"
    " for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) A[i][j] += x[i] * 0.125;",
    "products": "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) { B[i][j] = 0;"
    " for (int k = 0; k < n; k++) B[i][j] += A[i][k] * A[k][j]; }"
    " for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) A[i][j] = B[i][j] / 1024;",
    "triangles": "if (t < n - 1) { for (int i = t + 1; i < n; i++) A[i][t] = A[i][t] / (A[t][t] + 4);"
    " for (int i = t + 1; i < n; i++) for (int j = t + 1; j < n; j++) A[i][j] -= A[i][t] * A[t][j]; }",
}
"""What a step does with two matrices and a line."""
PLANES = (
    "for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++)"
    " P[(t + 1) % 2][i][j] = 0.25 * (P[t % 2][i - 1][j] + P[t % 2][i + 1][j]"
    " + P[t % 2][i][j - 1] + P[t % 2][i][j + 1]);"
)
"""What a step does with two planes."""
_MAIN = """
int main(int argc, char **argv)
{
  int n = argc > 1 ? atoi(argv[1]) : 1, steps = argc > 2 ? atoi(argv[2]) : 1;
  size_t plane = (size_t)n * n + 1, all = 4 * plane + n + 1;
  double *m = malloc(all * sizeof *m);
  for (size_t k = 0; k < all; k++)
    m[k] = (double)(k * 2654435761u % 1000) / 1024;
  f(n, steps, (void *)m, (void *)(m + plane), m + 4 * plane, (void *)(m + 2 * plane));
  for (size_t k = 0; k < all; k++)
    printf("%a\\n", m[k]);
  free(m);
  return 0;
}
"""


def program(step: str) -> str:
    return (
        "#include <stdio.h>\n#include <stdlib.h>\n"
        "static void f(int n, int steps, double A[restrict n][n], double B[restrict n][n],\n"
        "              double *restrict x, double P[restrict 2][n][n])\n"
        "{\n  (void)A, (void)B, (void)x, (void)P;\n#pragma scop\n"
        f"  for (int t = 0; t < steps; t++) {{ {step} }}\n#pragma endscop\n}}\n{_MAIN}"
    )


@pytest.fixture
def together(emulator, runtime, tmp_path, monkeypatch):
    """Builds the program of a step, with small blocks so that there are several of each kernel."""
    monkeypatch.setenv("NVCC", emulator.nvcc)
    monkeypatch.setenv("POLYBUILD_CACHE", "0")
    monkeypatch.setenv("POLYBUILD_EMULATOR_KEEP", str(tmp_path / "kernels.cu"))

    def made(step, **options):
        wanted = {"device_launches": "together", "tile_shape": "rectangular", "block_sizes": (2, 8)}
        result = transform(program(STEPS.get(step, step)), "cuda", tmp_path, **{**wanted, **options})
        (region,) = result.regions
        assert region.backend == "cuda", region.remarks
        assert "polybuild_launch_together" in result.text
        return build(result, "program", runtime, tmp_path)

    return made


def compare(made, size, environment):
    assert run(made, *size, environment=environment).stdout == run(made, *size, environment=on("host")).stdout


@pytest.mark.fast(step=["steps"])
@pytest.mark.parametrize("step", STEPS)
def test_results_are_the_same(step, together, emulator):
    """In four orders of blocks and threads: no race, and one launch."""
    made = together(step)
    for order, size in zip(ORDERS, (("23", "5"), ("9", "4"), ("18", "1"), ("1", "3")), strict=True):
        compare(made, size, emulator.environment(order=order))
    compare(made, ("7", "0"), emulator.environment())
    (kernel,) = emulator.report([str(made), "19", "6"])["kernels"].values()
    assert kernel["launches"] == 1
    assert kernel["meetings"] >= 2 * 6


@pytest.mark.parametrize("reuse", ["static-reuse", "dynamic-reuse"])
def test_tiles_over_time(reuse, together, emulator):
    """The boxes of both phases have one place in shared memory."""
    steps = ("shared-memory", "interleaved-copy-out", "aligned-loads", reuse)
    sizes = {"tile_shape": "hybrid", "tile_sizes": (4, 6, 8), "block_sizes": (2, 4)}
    made = together(PLANES, device_tiles=steps, **sizes)
    for order in ORDERS:
        compare(made, ("33", "13"), emulator.environment(order=order))
    (kernel,) = emulator.report([str(made), "33", "13"])["kernels"].values()
    assert kernel["launches"] == 1
    assert kernel["shared_reads"]["accesses"]


def test_loops_of_steps_in_shared_memory_are_left_as_they_are(together, tmp_path, monkeypatch):
    """Compilers must not unroll the steps that work there, in one launch as in many."""
    kept = tmp_path / "kept.cu"
    monkeypatch.setenv("POLYBUILD_EMULATOR_KEEP", str(kept))
    sizes = {"tile_shape": "hybrid", "tile_sizes": (4, 6, 8), "block_sizes": (2, 4)}
    together(PLANES, device_tiles=("shared-memory",), **sizes)
    kernel = next(each for each in kept.read_text().split("__global__") if "this_grid" in each)
    steps = kernel.partition("__syncthreads")[2].partition("this_grid")[0].splitlines()
    lines = [each.strip() for each in steps]
    above = [before for before, each in itertools.pairwise(lines) if each.startswith("for (")]
    assert above
    assert set(above) == {"#pragma unroll 1"}


def test_a_device_that_runs_no_blocks_together(together, emulator):
    """The loop launches its kernels."""
    made = together("steps")
    compare(made, ("23", "5"), emulator.environment(POLYBUILD_EMULATOR_TOGETHER="0"))
    kernels = emulator.report([str(made), "23", "5"], POLYBUILD_EMULATOR_TOGETHER="0")["kernels"].values()
    assert [each["launches"] for each in kernels] == [5, 5]


def test_long_kernels_are_launched_one_by_one(together, emulator, tmp_path):
    """Blocks that have their tiles from the start lose more than a launch takes."""
    machine = tmp_path / "machine.toml"
    machine.write_text('version = 1\n[device]\ninstance = "1 us"\n')
    made = together("steps", machine=str(machine))
    kernels = emulator.report([str(made), "23", "5"])["kernels"].values()
    assert [each["launches"] for each in kernels] == [5, 5]


def test_every_meeting_is_needed(together, emulator, tmp_path):
    made = together("steps")
    text = with_mistakes((tmp_path / "kernels.cu").read_text())
    image = tmp_path / "image"
    image.write_bytes(build_image(text, emulator.nvcc, (80,), contract=False).data)
    meetings = re.findall(r"EMULATOR_MEETING\((\d+)\)", text)
    assert len(meetings) == 2
    for number in meetings:
        environment = emulator.environment(
            POLYBUILD_EMULATOR_IMAGE=str(image), POLYBUILD_EMULATOR_MISTAKE=f"barrier:{number}"
        )
        with pytest.raises(subprocess.CalledProcessError, match=str(FAULT)):
            run(made, "23", "5", environment=environment)


def test_opencl_launches_each(runtime, tmp_path):
    result = transform(program(STEPS["steps"]), "opencl", tmp_path, device_launches="together")
    assert "polybuild_launch_together" not in result.text
    build(result, "program", runtime, tmp_path)
