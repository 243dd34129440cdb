"""polybuild.load: functions of a C file on NumPy arrays, and on arrays of a device."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import polybuild
from polybuild.diagnostics import SourceError, UsageError
from polybuild.integrations import loading
from polybuild.integrations.loading import BuildError
from tests.emulator.stand_ins import StandIns, build

TEXT = """
void gemm(int n, int m, const double A[n][m], const double B[m][n], double C[restrict n][n]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      C[i][j] = 0;
      for (int k = 0; k < m; k++)
        C[i][j] += A[i][k] * B[k][j];
    }
#pragma endscop
}

void scale(unsigned char count, float by, float *restrict a, int table[4 * 2 + 1][2]) {
#pragma scop
  for (int i = 0; i < count; i++)
    a[i] = by * a[i] + table[1][0];
#pragma endscop
}

void rows(int n, double **a) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      a[i][j] = 1;
#pragma endscop
}

static void hidden(int n, double *a) {
#pragma scop
  for (int i = 0; i < n; i++)
    a[i] = 1;
#pragma endscop
}

int plain(double *a) { hidden(1, a); return 1; }
"""


@pytest.fixture(scope="module")
def module(tmp_path_factory):
    path = tmp_path_factory.mktemp("load") / "k.c"
    path.write_text(TEXT)
    return polybuild.load(
        path, flags=("-O1", "-ffp-contract=off"), compiler="gcc", min_work=0, tile_sizes=(8, 8, 8)
    )


@pytest.mark.fast
def test_functions_compute(module):
    assert module.functions == ("gemm", "scale", "rows")
    a, b = np.random.default_rng(1).random((2, 20, 20))
    c = np.full((20, 20), 7.0)
    assert module.gemm(20, 20, a, b, c) is None
    np.testing.assert_allclose(c, a @ b, rtol=1e-13)
    x = np.arange(5, dtype=np.float32)
    module.scale(np.uint8(3), 2, x, np.full((9, 2), 10, dtype=np.int32))
    assert x.tolist() == [10, 12, 14, 3, 4]


SQUARE = np.zeros((4, 4))
TABLE = np.zeros((9, 2), dtype=np.int32)


@pytest.mark.parametrize(
    ("name", "arguments", "error", "message"),
    [
        ("gemm", (4, 4, SQUARE, SQUARE), TypeError, "gemm takes 5 arguments (4 given)"),
        ("gemm", (4.5, 4, SQUARE, SQUARE, SQUARE), TypeError, "'n' must be a whole number, not float"),
        (
            "gemm",
            (2**31, 4, SQUARE, SQUARE, SQUARE),
            ValueError,
            "'n' is 2147483648, which 'int' does not hold",
        ),
        ("gemm", (4, 4, [[0.0]], SQUARE, SQUARE), TypeError, "'A' must be an array, not list"),
        (
            "gemm",
            (4, 4, SQUARE.astype("f4"), SQUARE, SQUARE),
            TypeError,
            "'A' has elements of type '<f4', not '<f8'",
        ),
        ("gemm", (4, 4, SQUARE.astype(">f8"), SQUARE, SQUARE), TypeError, "'>f8', not '<f8' (double)"),
        ("gemm", (4, 5, SQUARE, SQUARE, SQUARE), ValueError, "'A' has the shape (4, 4); extent 1 must be 5"),
        ("gemm", (4, 4, SQUARE[0], SQUARE, SQUARE), ValueError, "'A' has 1 dimensions; C declares 2"),
        ("gemm", (4, 4, SQUARE, np.zeros((4, 8))[:, ::2], SQUARE), ValueError, "'B' is not contiguous"),
        ("gemm", (4, 4, SQUARE, SQUARE, np.broadcast_to(SQUARE, (4, 4))), ValueError, "'C' is read-only"),
        ("scale", (256, 1, SQUARE, TABLE), ValueError, "which 'unsigned char' does not hold"),
        ("scale", (1, "x", SQUARE, TABLE), TypeError, "'by' must be a number, not str"),
        ("scale", (1, 1, SQUARE.astype("f4"), TABLE[:8].copy()), ValueError, "extent 0 must be 9"),
        ("rows", (4, SQUARE), TypeError, "'a' is an array of pointers, which Python cannot give"),
    ],
)
def test_what_does_not_fit_the_declaration_is_told(module, name, arguments, error, message):
    with pytest.raises(error) as told:
        getattr(module, name)(*arguments)
    assert message in str(told.value)


@pytest.mark.fast
def test_files_that_cannot_be_loaded(tmp_path):
    path = tmp_path / "k.c"
    path.write_text("int f(void) { return 0; }\n")
    with pytest.raises(BuildError, match="no function with a region"):
        polybuild.load(path)
    with pytest.raises(UsageError, match="unknown option 'sise'"):
        polybuild.load(path, sise=3)
    path.write_text(TEXT + "int wrong(void) { return nothing; }\n")
    with pytest.raises(BuildError, match="does not compile"):
        polybuild.load(path, compiler="gcc")


DOCUMENTED = """\
#include "factor.h"
#define COMMENT /* not this one */

/*
 * a becomes FACTOR * a.
 *
 *   All of it.
 */
void
scale(int n, double a[n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    a[i] = FACTOR * a[i];
#pragma endscop
}

// The sum of the elements
// of a.
double sum(int n, const double *a) {
  double s = 0;
#pragma scop
  for (int i = 0; i < n; i++)
    s += a[i];
#pragma endscop
  return s;
}

/* of nothing */

void bare(double *a) {
#pragma scop
  for (int i = 0; i < 9; i++)
    a[i] = 1;
#pragma endscop
}
"""


def test_c_text_with_its_documentation(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "factor.h").write_text("#define FACTOR 3\n")
    module = polybuild.load(DOCUMENTED, flags="-O1 '-DUNUSED=a b'", compiler="gcc")
    assert repr(module) == "<polybuild module '<text>': scale, sum, bare>"
    x = np.ones(4)
    module.scale(4, x)
    assert module.sum(4, x) == 12
    assert module.scale.__doc__ == "void scale(int n, double a[n])\n\na becomes FACTOR * a.\n\n  All of it."
    assert module.sum.__doc__ == "double sum(int n, const double *a)\n\nThe sum of the elements\nof a."
    assert module.bare.__doc__ == "void bare(double *a)"
    assert str(inspect.signature(module.scale)) == "(n, a, /)"
    with pytest.raises(SourceError, match=r"text\.c:1"):
        polybuild.load('#include "nothing.h"\n#pragma scop\n', compiler="gcc")


def test_libraries_are_kept_by_their_content(tmp_path, monkeypatch):
    monkeypatch.setenv("POLYBUILD_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("POLYBUILD_CACHE", raising=False)
    monkeypatch.chdir(tmp_path)
    compiled = []
    compile_it = loading._compile
    monkeypatch.setattr(loading, "_compile", lambda *words: compiled.append(words) or compile_it(*words))
    header, file = tmp_path / "factor.h", tmp_path / "file.c"
    file.write_text(DOCUMENTED)

    def scaled(what, factor, **more):
        header.write_text(f"#define FACTOR {factor}\n")
        x = np.ones(4)
        polybuild.load(what, compiler="gcc", flags="-O1", **more).scale(4, x)
        return x[0], len(compiled)

    for what in (file, DOCUMENTED):
        compiled.clear()
        assert scaled(what, 3) == (3, 1)
        assert scaled(what, 3) == (3, 1)
        assert scaled(what, 4) == (4, 2)
        assert scaled(what, 3) == (3, 2)
        assert scaled(what, 3, parallel=False) == (3, 3)


DEVICE_PROGRAM = """
import ctypes, sys
import numpy as np
import polybuild

flags = ("-O1", "-ffp-contract=off")
module = polybuild.load(sys.argv[1], backend="cuda", flags=flags, compiler="gcc", min_work=0)
library = module.gemm._library
rng = np.random.default_rng(1)
a, b = rng.random((12, 9)), rng.random((9, 12))
c = np.zeros((12, 12))
module.gemm(12, 9, a, b, c)
np.testing.assert_allclose(c, a @ b, rtol=1e-13)

class Counts(ctypes.Structure):
    names = "device host failures launches ins outs b_in b_out"
    _fields_ = [(name, ctypes.c_ulonglong) for name in names.split()]
    _fields_ += [("times", ctypes.c_ulonglong * 5)]

def counts():
    found = Counts()
    library.polybuild_counters(None, 0, ctypes.byref(found))
    return found

# A library of device arrays, as far as it is needed here.
driver = ctypes.CDLL("libcuda.so.1")
context, stream = ctypes.c_void_p(), ctypes.c_void_p()
driver.cuInit(0)
driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
driver.cuCtxPushCurrent_v2(context)
driver.cuStreamCreate(ctypes.byref(stream), 0)

class Copy(ctypes.Structure):
    _fields_ = [
        ("sx", ctypes.c_size_t), ("sy", ctypes.c_size_t), ("st", ctypes.c_uint), ("sh", ctypes.c_void_p),
        ("sd", ctypes.c_ulonglong), ("sa", ctypes.c_void_p), ("sp", ctypes.c_size_t),
        ("tx", ctypes.c_size_t), ("ty", ctypes.c_size_t), ("tt", ctypes.c_uint), ("th", ctypes.c_void_p),
        ("td", ctypes.c_ulonglong), ("ta", ctypes.c_void_p), ("tp", ctypes.c_size_t),
        ("width", ctypes.c_size_t), ("height", ctypes.c_size_t),
    ]

class Capsule:
    # An array by DLPack alone.
    def __init__(self, array, kind, pointer):
        class Tensor(ctypes.Structure):
            _fields_ = [
                ("data", ctypes.c_void_p), ("kind", ctypes.c_int32), ("number", ctypes.c_int32),
                ("dimensions", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.c_void_p), ("offset", ctypes.c_uint64),
            ]
        self.array, self.kind, self.streams = array, kind, []
        self.shape = (ctypes.c_int64 * 2)(*array.shape)
        shape = ctypes.cast(self.shape, ctypes.POINTER(ctypes.c_int64))
        self.tensor = Tensor(pointer - 8, kind, 0, 2, 2, 64, 1, shape, None, 8)

    def __dlpack_device__(self):
        return self.kind, 0

    def __dlpack__(self, stream=None):
        self.streams.append(stream)
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
        return new(ctypes.addressof(self.tensor), b"dltensor", None)

class DeviceArray:
    def __init__(self, array, **more):
        self.host, pointer = array, ctypes.c_ulonglong()
        driver.cuMemAlloc_v2(ctypes.byref(pointer), ctypes.c_size_t(array.nbytes))
        self.pointer = pointer.value
        copy = Copy(st=1, sh=array.ctypes.data, tt=2, td=self.pointer, width=array.nbytes, height=1)
        copy.sp = copy.tp = array.nbytes
        assert driver.cuMemcpy2DAsync_v2(ctypes.byref(copy), stream) == 0
        given = {"shape": array.shape, "typestr": array.dtype.str, "data": (self.pointer, False)}
        self.__cuda_array_interface__ = {**given, "version": 3, **more}

    def get(self):
        copy = Copy(st=2, sd=self.pointer, tt=1, th=self.host.ctypes.data, width=self.host.nbytes, height=1)
        copy.sp = copy.tp = self.host.nbytes
        assert driver.cuMemcpy2DAsync_v2(ctypes.byref(copy), stream) == 0
        return self.host

x, y, z = (DeviceArray(each, stream=stream.value) for each in (a, b, np.zeros((12, 12))))
before = counts()
module.gemm(12, 9, x, y, z)
after = counts()
np.testing.assert_array_equal(z.get(), c)
print("device", after.device - before.device, "host", after.host - before.host,
      "in", after.ins - before.ins, "out", after.outs - before.outs)
w = DeviceArray(np.zeros((12, 12)))
capsules = [Capsule(each.host, 2, each.pointer) for each in (x, y, w)]
host = Capsule(a, 1, a.ctypes.data)
module.gemm(12, 9, host, *capsules[1:])
np.testing.assert_array_equal(w.get(), c)
print("streams", host.streams, *(each.streams for each in capsules[1:]))
for wrong in (DeviceArray(a, stream=0), Capsule(a, 7, 8)):
    try:
        module.gemm(12, 9, wrong, y, z)
    except ValueError as error:
        print(error)
try:
    module.gemm(12, 9, x, z, y)
except ValueError as error:
    print(error)
"""


@pytest.fixture(scope="module")
def stand_ins(tmp_path_factory) -> StandIns:
    return build(tmp_path_factory.mktemp("stand-ins"))


@pytest.mark.parametrize(
    ("backend", "expected"), [("cuda", "device 1 host 0 in 0 out 0"), ("host", "host 1 in")]
)
def test_arrays_of_a_device_are_used_where_they_are(tmp_path, stand_ins, backend, expected):
    """Without copies if the region runs there; through a stand-in on the host if it does not."""
    (tmp_path / "k.c").write_text(TEXT)
    environment = stand_ins.environment(
        NVCC=stand_ins.nvcc, POLYBUILD_BACKEND=backend, PYTHONPATH=str(Path(polybuild.__file__).parents[1])
    )
    done = subprocess.run(
        [sys.executable, "-c", DEVICE_PROGRAM, str(tmp_path / "k.c")],
        env=environment, check=False, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert expected in done.stdout, done.stderr
    assert "argument 'B' has the shape (12, 12); extent 0 must be 9" in done.stdout
    assert "streams [None] [1] [1]" in done.stdout, done.stderr
    assert "argument 'A': its stream is 0, which the CUDA array interface has no meaning for" in done.stdout
    assert "argument 'A': it is on a device of a kind (7 of DLPack) that is not known here" in done.stdout
