"""Variables that ask for a register have no address: kernels work on copies of them."""

from __future__ import annotations

import pytest
from device_programs import build, on, run, transform

PROGRAM = r"""
#include <stdio.h>
static int values[5000];
static void sums(register int n, register const int *x, long *found)
{
  register long sum = 0;
  register int most = -100000, positive, last = 7;
#pragma scop
  positive = 0;
  for (register int i = 0; i < n; i++) {
    register int value = x[i];
    sum += value;
    if (value > most)
      most = value;
    positive += value > 0;
  }
#pragma endscop
#pragma scop
  for (int i = 0; i < n; i++)
    last = x[i];
#pragma endscop
  found[0] = sum;
  found[1] = most;
  found[2] = positive;
  found[3] = last;
}
int main(void)
{
  static const int sizes[] = {0, 1, 2, 7, 33, 4999};
  for (int i = 0; i < 5000; i++)
    values[i] = i * 37 % 1001 - 500;
  for (int k = 0; k < 6; k++) {
    long found[4];
    sums(sizes[k], values, found);
    printf("%ld %ld %ld %ld\n", found[0], found[1], found[2], found[3]);
  }
  return 0;
}
"""


@pytest.mark.parametrize("backend", ["cuda", pytest.param("opencl", marks=pytest.mark.opencl)])
def test_variables_without_an_address(backend, emulator, runtime, tmp_path):
    result = transform(PROGRAM, backend, tmp_path, nvcc=emulator.nvcc)
    assert result.regions[0].backend == backend
    made = build(result, "registers", runtime, tmp_path)
    expected = run(made, environment=on("host")).stdout
    environment = emulator.environment() if backend == "cuda" else on("opencl")
    found = run(made, environment={**environment, "POLYBUILD_VERBOSE": "1"})
    assert found.stdout == expected
    assert "6 runs on the device" in found.stderr
