"""polybuild.load on arrays of CuPy and PyCUDA, where these and a device are; test_load imitates them."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import polybuild

TEXT = """
void axpy(int n, double by, const double x[restrict n], double y[restrict n]) {
#pragma scop
  for (int i = 0; i < n; i++)
    y[i] = y[i] + by * x[i];
#pragma endscop
}
"""
SIZE = 1000


def _of_cupy() -> Callable[[Any], Any]:
    cupy = pytest.importorskip("cupy")
    return cupy.asarray  # type: ignore[no-any-return]


def _of_pycuda() -> Callable[[Any], Any]:
    pytest.importorskip("pycuda", exc_type=ImportError)
    pytest.importorskip("pycuda.autoprimaryctx", exc_type=ImportError)
    return pytest.importorskip("pycuda.gpuarray").to_gpu


def _has_device() -> bool:
    try:
        driver, count = ctypes.CDLL("libcuda.so.1"), ctypes.c_int()
    except OSError:
        return False
    return driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(count)) == 0 and count.value > 0


@pytest.mark.parametrize("library", [_of_cupy, _of_pycuda])
def test_arrays_of_libraries(library, tmp_path, monkeypatch):
    """Ten regions after each other, without waiting, on arrays that stay where they are."""
    if not _has_device():
        pytest.skip("needs a device of CUDA")
    to_device = library()
    monkeypatch.setenv("POLYBUILD_BACKEND", "cuda")
    (tmp_path / "axpy.c").write_text(TEXT)
    flags = ("-O2", "-ffp-contract=off")
    module = polybuild.load(tmp_path / "axpy.c", backend="cuda", flags=flags, min_work=0)
    x, y = np.arange(SIZE, dtype=float), np.ones(SIZE)
    on_device = to_device(x), to_device(y)
    for _ in range(10):
        module.axpy(SIZE, 2.0, *on_device)
        y += 2.0 * x
    np.testing.assert_array_equal(on_device[1].get(), y)
