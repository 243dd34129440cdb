"""The example for CuPy, on an imitation whose arrays are in a device's memory; with ``--device`` on CuPy."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import polybuild

KERNEL = """\
void relax(int n, const double from[restrict n][n], double to[restrict n][n])
{
#pragma scop
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      to[i][j] = (from[i - 1][j] + from[i + 1][j] + from[i][j - 1] + from[i][j + 1]) / 4;
#pragma endscop
}
"""
PROGRAM = """\
import cupy
import numpy as np

import polybuild

N, STEPS = 200, 10
kernels = polybuild.load("relax.c", backend="cuda", flags=("-O2", "-ffp-contract=off"))
grid = np.random.default_rng(1).random((N, N))
now, then = cupy.asarray(grid), cupy.asarray(grid)
for _ in range(STEPS):
    kernels.relax(N, now, then)
    now, then = then, now
print(now.get()[1:-1, 1:-1].mean())
"""
COUNTED = """
import ctypes
class Counts(ctypes.Structure):
    names = "device host failures launches ins outs b_in b_out"
    _fields_ = [(name, ctypes.c_ulonglong) for name in names.split()]
    _fields_ += [("times", ctypes.c_ulonglong * 5)]
counts = Counts()
kernels.relax._library.polybuild_counters(None, 0, ctypes.byref(counts))
print(counts.device, counts.host, counts.ins, counts.outs)
"""
CUPY = '''
"""As much of CuPy as the example needs: arrays with the interface that CuPy's have, in its default stream."""
import ctypes

import numpy as np

driver = ctypes.CDLL("libcuda.so.1")
context = ctypes.c_void_p()
driver.cuInit(0)
driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
driver.cuCtxPushCurrent_v2(context)


class Side(ctypes.Structure):
    _fields_ = [
        ("x", ctypes.c_size_t), ("y", ctypes.c_size_t), ("kind", ctypes.c_uint), ("host", ctypes.c_void_p),
        ("device", ctypes.c_ulonglong), ("array", ctypes.c_void_p), ("pitch", ctypes.c_size_t),
    ]


class Copy(ctypes.Structure):
    _fields_ = [
        ("source", Side), ("target", Side), ("width", ctypes.c_size_t), ("height", ctypes.c_size_t)
    ]


def copied(source, target, bytes):
    source.pitch = target.pitch = bytes
    copy = Copy(source, target, bytes, 1)
    assert driver.cuMemcpy2DAsync_v2(ctypes.byref(copy), None) == 0


class ndarray:
    def __init__(self, array):
        self.shape, self.dtype, self.nbytes = array.shape, array.dtype, array.nbytes
        pointer = ctypes.c_ulonglong()
        assert driver.cuMemAlloc_v2(ctypes.byref(pointer), ctypes.c_size_t(self.nbytes)) == 0
        self.pointer = pointer.value
        copied(Side(kind=1, host=array.ctypes.data), Side(kind=2, device=self.pointer), self.nbytes)

    def __del__(self):
        driver.cuMemFree_v2(ctypes.c_ulonglong(self.pointer))

    @property
    def __cuda_array_interface__(self):
        data = (self.pointer, False)
        return {"shape": self.shape, "typestr": self.dtype.str, "data": data, "version": 3, "stream": 1}

    def get(self):
        found = np.empty(self.shape, self.dtype)
        copied(Side(kind=2, device=self.pointer), Side(kind=1, host=found.ctypes.data), self.nbytes)
        return found


asarray = ndarray
'''


def test_the_example_of_the_page(request, emulator, tmp_path):
    """What NumPy computes, a launch for each step, and no copies but those of the imitation."""
    (tmp_path / "relax.c").write_text(KERNEL)
    if request.config.getoption("--device"):
        pytest.importorskip("cupy")
    else:
        (tmp_path / "cupy.py").write_text(CUPY)
    folders = [str(tmp_path), str(Path(polybuild.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    environment = emulator.environment(NVCC=emulator.nvcc, PYTHONPATH=os.pathsep.join(filter(None, folders)))
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM + COUNTED],
        env=environment,
        cwd=tmp_path,
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    mean, counts = done.stdout.splitlines()
    grid = np.random.default_rng(1).random((200, 200))
    for _ in range(10):
        neighbours = grid[:-2, 1:-1] + grid[2:, 1:-1] + grid[1:-1, :-2] + grid[1:-1, 2:]
        grid[1:-1, 1:-1] = neighbours / 4
    assert float(mean) == grid[1:-1, 1:-1].mean()
    assert counts == "10 0 0 0"
