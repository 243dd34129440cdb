"""POLYBUILD_VERIFY on devices: silent where kernels are right; a wrong one is named by its line."""

from __future__ import annotations

import re

import pytest
from device_programs import HAS_OPENCL, build, on, run, transform

from polybuild.targets.kernel_file import KernelFunction

PROGRAM = """\
#include <stdio.h>
static double a[90][70], b[90][70], total;
struct point { double x, y; };
static struct point p[90];
static void step(int n, int m)
{
#pragma scop
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < m - 1; j++)
      b[i][j] = 0.25 * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]);
  for (int i = 0; i < n; i++)
    p[i].y = p[i].x + b[i][3];
#pragma endscop
}
int main(void)
{
  for (int i = 0; i < 90; i++) {
    p[i].x = i;
    for (int j = 0; j < 70; j++)
      a[i][j] = (i * 7 + j * 3) % 11;
  }
#pragma polybuild resident(a, b)
  {
    step(90, 70);
    step(80, 60);
  }
  for (int i = 0; i < 90; i++)
    total += b[i][i % 70] * i + p[i].y;
  printf("%a\\n", total);
  return 0;
}
"""
BACKENDS = [
    "cuda",
    pytest.param("opencl", marks=pytest.mark.skipif(not HAS_OPENCL, reason="needs an OpenCL platform")),
]


@pytest.fixture
def checked(emulator, runtime, tmp_path, monkeypatch):
    """Builds the program with its kernels changed, and runs it with the check on."""
    monkeypatch.setenv("NVCC", emulator.nvcc)

    def work(backend: str, old: str, new: str):
        right = KernelFunction.text

        def wrong(kernel, language):
            text = right(kernel, language)
            changed.append(old in text)
            return text.replace(old, new)

        changed = []
        monkeypatch.setattr(KernelFunction, "text", wrong)
        result = transform(PROGRAM, backend, tmp_path, verify=True)
        assert [each.backend for each in result.regions] == [backend]
        assert any(changed)
        made = build(result, f"checked-{backend}", runtime, tmp_path)
        asked = {"POLYBUILD_VERIFY": "1", "POLYBUILD_VERBOSE": "1"}
        there = emulator.environment() if backend == "cuda" else on(backend)
        done = run(made, environment={**there, **asked})
        assert "runs on the device" in done.stderr
        assert done.stdout == run(made, environment=on("host")).stdout  # those of the original, whatever ran
        return [line for line in done.stderr.splitlines() if ": polybuild: ver" in line]

    return work


@pytest.mark.parametrize("backend", BACKENDS)
def test_right_kernels_agree(checked, backend):
    told = checked(backend, "0.25", "0.25")
    assert [re.sub(r".*:(\d+): ", r"\1 ", each) for each in told] == [
        f"7 polybuild: verified, {count} elements agree" for count in (88 * 68 + 90, 78 * 58 + 80)
    ]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("new", "line", "element"),
    [(("0.25", "0.5"), 10, "b[1][1]"), (("p_x[", "2 * p_x["), 12, "p[1].y")],
    ids=["array", "member"],
)
def test_a_wrong_kernel_is_told_with_its_line(checked, backend, new, line, element):
    told = checked(backend, *new)
    assert len(told) == 2
    for each in told:
        assert f"program.c:{line}: polybuild: verification failed: {element} is " in each
        assert each.endswith("elements differ in the region at line 7)")
