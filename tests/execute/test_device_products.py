"""Products on devices, each as people write it: micro-tiles for all, and the bits of the original."""

from __future__ import annotations

import re

import pytest
from device_programs import FLAGS, HAS_OPENCL, build, on, run, transform

from tests.emulator.stand_ins import ORDERS

LOOPS = "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)"
SUM = "for (int k = 0; k < p; k++)"
TERM = "A[i * p + k] * B[k * m + j]"
FORMS = {
    "plain": f"{LOOPS} {SUM} C[i * m + j] += {TERM};",
    "initialised": f"{LOOPS} {{ C[i * m + j] = 0; {SUM} C[i * m + j] += {TERM}; }}",
    "scaled": f"{LOOPS} {{ C[i * m + j] *= beta; {SUM} C[i * m + j] += alpha * {TERM}; }}",
    "scalar": f"{LOOPS} {{ REAL s = 0; {SUM} s += {TERM}; C[i * m + j] = s; }}",
    "added": f"{LOOPS} {{ REAL s = 0; {SUM} s += {TERM}; C[i * m + j] += s; }}",
    "blas": f"{LOOPS} {{ REAL s = 0; {SUM} s += {TERM}; C[i * m + j] = alpha * s + beta * C[i * m + j]; }}",
    "ikj": "for (int i = 0; i < n; i++) for (int k = 0; k < p; k++) { REAL a = A[i * p + k];"
    " for (int j = 0; j < m; j++) C[i * m + j] += a * B[k * m + j]; }",
    "transposed": f"{LOOPS} {SUM} C[i * m + j] += A[k * n + i] * B[j * p + k];",
    "symmetric": "for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++)"
    f" {SUM} C[i * n + j] += A[i * p + k] * A[j * p + k];",
    "triangular": "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)"
    " for (int k = 0; k <= i; k++) C[i * m + j] += A[i * n + k] * B[k * m + j];",
    "batched": f"for (int b = 0; b < 3; b++) {LOOPS} {{ REAL s = 0; {SUM}"
    " s += A[(b * n + i) * p + k] * B[(b * p + k) * m + j]; C[(b * n + i) * m + j] = s; }",
    "convolution": "for (int c = 0; c < 3; c++) for (int i = 0; i < n - 2; i++)"
    " for (int j = 0; j < m - 2; j++) for (int d = 0; d < 2; d++)"
    " for (int r = 0; r < 3; r++) for (int t = 0; t < 3; t++)"
    " C[(c * n + i) * m + j] += B[((c * 2 + d) * 3 + r) * 3 + t] * A[(d * n + i + r) * m + j + t];",
}
PARAMETERS = "int n, int m, int p, REAL alpha, REAL beta, const REAL *restrict A, const REAL *restrict B"
MAIN = """
int main(int argc, char **argv)
{
  int n = argc > 1 ? atoi(argv[1]) : 1, m = argc > 2 ? atoi(argv[2]) : 1, p = argc > 3 ? atoi(argv[3]) : 1;
  int most = n > m ? n : m, size = 3 * (most > p ? most : p) * (most > p ? most : p) + 54;
  REAL *A = malloc(size * sizeof *A), *B = malloc(size * sizeof *B), *C = malloc(size * sizeof *C);
  for (int i = 0; i < size; i++)
    A[i] = (i * 37 % 101) / (REAL)7 - 5, B[i] = (i * 53 % 103) / (REAL)9 - 6, C[i] = i % 7;
  CALLS
  for (int i = 0; i < size; i++)
    printf("%a\\n", (double)C[i]);
  return 0;
}
"""
SIZES = ("7 33 20", "33 7 1", "1 1 1", "0 5 5", "5 5 0", "17 40 9")


def program(real, forms):
    """A program that runs ``forms`` with elements of type ``real``."""
    functions = "".join(
        f"static void {name}({PARAMETERS}, REAL *restrict C)\n{{\n"
        "  (void)m, (void)p, (void)alpha, (void)beta, (void)B;\n"
        f"#pragma scop\n  {FORMS[name]}\n#pragma endscop\n}}\n"
        for name in forms
    )
    calls = "\n  ".join(f"{name}(n, m, p, 1.5, 1.25, A, B, C);" for name in forms)
    text = "#include <stdio.h>\n#include <stdlib.h>\n" + functions + MAIN.replace("CALLS", calls)
    return text.replace("REAL", real)


def compare(made, sizes, emulator, backend):
    """Each of ``sizes`` in an order of its own under emulation, or on OpenCL."""
    for number, size in enumerate(sizes):
        expected = run(made, *size.split(), environment=on("host")).stdout
        environment = on(backend)
        if backend == "cuda":
            environment = emulator.environment(order=ORDERS[number % len(ORDERS)])
        assert run(made, *size.split(), environment=environment).stdout == expected, size


@pytest.fixture
def folder(emulator, tmp_path, monkeypatch):
    """A folder in which the kernels' text is kept when they are compiled."""
    monkeypatch.setenv("NVCC", emulator.nvcc)
    monkeypatch.setenv("POLYBUILD_CACHE", "0")
    monkeypatch.setenv("POLYBUILD_EMULATOR_KEEP", str(tmp_path / "kernels.cu"))
    return tmp_path


@pytest.mark.parametrize("backend", ["cuda", pytest.param("opencl", marks=pytest.mark.opencl)])
@pytest.mark.parametrize("real", ["float", "double"])
def test_forms_with_small_tiles(real, backend, emulator, runtime, folder):
    options = {"tile_sizes": (8, 16, 4), "block_sizes": (4, 4), "grid_sizes": (2, 1)}
    forms = list(FORMS)[:: 1 if real == "float" else 2]
    result = transform(program(real, forms), backend, folder, **options)
    assert {each.backend for each in result.regions} == {backend}
    made = build(result, "products", runtime, folder)
    if backend == "cuda" or HAS_OPENCL:
        compare(made, SIZES, emulator, backend)
    if backend == "cuda":
        kernels = (folder / "kernels.cu").read_text().split("__global__")
        products = [each for each in kernels if re.search(r"_own(\[1\])?\[[24]\]\[[24]\]", each)]
        assert len(products) >= len(forms) - 1  # the convolution is tiled as three loops


def test_integers_have_vectors_of_some_types_only(emulator, runtime, folder):
    text = program("unsigned", ["plain", "transposed"]).replace("1.5, 1.25", "3, 2")
    result = transform(text, "cuda", folder, tile_sizes=(8, 16, 4), block_sizes=(4, 4))
    compare(build(result, "integers", runtime, folder), ("17 9 13", "8 32 8"), emulator, "cuda")


TRIANGLES = {
    "below": "k = 0; k <= i",
    "strictly": "k = 0; k < i",
    "above": "k = i; k < p",
    "inside": "k = i + 2; k < p - 1",
    "columns": "k = 0; k <= j",
    "both": "k = i > j ? i : j; k < p",
    "band": "k = i > 20 ? i - 20 : 0; k < (i + 21 < p ? i + 21 : p)",
}


@pytest.mark.parametrize("ends", TRIANGLES)
def test_sums_that_end_where_rows_or_columns_say(ends, emulator, runtime, folder):
    """Whole tiles of terms that all points have run without conditions, others with them."""
    form = f"{LOOPS} for (int {TRIANGLES[ends]}; k++) C[i * m + j] += A[i * p + k] * B[k * m + j];"
    text = program("float", ["plain"]).replace(FORMS["plain"], form)
    result = transform(text, "cuda", folder, tile_sizes=(8, 16, 4), block_sizes=(4, 4))
    assert "/* all terms of a whole tile */" in (folder / "kernels.cu").read_text()
    compare(build(result, "sums", runtime, folder), ("33 33 33", "40 64 48", "9 17 40"), emulator, "cuda")


@pytest.mark.parametrize("form", ["blas", "symmetric"])
def test_forms_with_usual_tiles(form, emulator, runtime, folder):
    made = build(transform(program("float", [form]), "cuda", folder), form, runtime, folder)
    assert "_own[8][8];" in (folder / "kernels.cu").read_text()
    compare(made, ("129 129 33", "100 7 1", "128 128 16"), emulator, "cuda")


@pytest.mark.parametrize("real", ["float", "double"])
def test_convolutions_with_usual_tiles(real, emulator, runtime, folder):
    """Of three mapped loops the first has an index of its own."""
    made = build(transform(program(real, ["convolution"]), "cuda", folder), "convolution", runtime, folder)
    compare(made, ("20 33 20", "7 9 13"), emulator, "cuda")


def whole_numbers(forms):
    """The program of ``forms`` in doubles whose sums are exact in any order."""
    text = program("double", forms).replace("1.5, 1.25", "2, -3")
    return text.replace("(i * 37 % 101) / (double)7 - 5", "i * 37 % 101 - 50").replace(
        "(i * 53 % 103) / (double)9 - 6", "i * 53 % 103 - 51"
    )


MATRICES = {"allow_reassociation": True, "tile_sizes": (16, 32, 8), "block_sizes": (8, 8)}
CONTRACTED = [*FLAGS, "-ffp-contract=fast"]


@pytest.mark.parametrize("form", [each for each in FORMS if each not in {"convolution", "ikj"}])
def test_matrix_instructions(form, emulator, runtime, folder):
    """A warp computes doubles together in whole tiles along the sum, in whatever form they are written."""
    options = dict(MATRICES)
    if form == "batched":
        options |= {"tile_sizes": (1, 16, 32, 8), "block_sizes": (1, 8, 8)}
    result = transform(whole_numbers([form]), "cuda", folder, flags=CONTRACTED, **options)
    made = build(result, form, runtime, folder)
    assert "polybuild_multiply" in (folder / "kernels.cu").read_text().partition("__global__")[2]
    compare(
        made, ("17 33 20", "33 17 1", "1 1 1", "0 5 5", "5 5 0", "16 64 16", "35 70 25"), emulator, "cuda"
    )


@pytest.mark.parametrize(
    ("rows", "called"), [(8, "polybuild_multiply("), (24, "polybuild_multiply("), (32, "_pair(")]
)
def test_rows_of_a_thread_in_pairs(rows, called, emulator, runtime, folder):
    """Two are taken at once if their number is even."""
    options = {**MATRICES, "tile_sizes": (rows, 32, 8)}
    result = transform(whole_numbers(["plain"]), "cuda", folder, flags=CONTRACTED, **options)
    assert called in (folder / "kernels.cu").read_text().partition("__global__")[2]
    compare(build(result, "pairs", runtime, folder), ("35 70 25", "48 64 16"), emulator, "cuda")


@pytest.mark.parametrize(
    ("flags", "options"),
    [(FLAGS, {}), (CONTRACTED, {"allow_reassociation": False}), (CONTRACTED, {"cuda_arch": (70,)})],
)
@pytest.mark.usefixtures("emulator")
def test_no_matrix_instructions_without_leave(flags, options, folder):
    """Products and sums may not be fused, sums keep their order, or a device has none."""
    transform(whole_numbers(["plain"]), "cuda", folder, flags=flags, **{**MATRICES, **options})
    assert "polybuild_multiply" not in (folder / "kernels.cu").read_text().partition("__global__")[2]


@pytest.mark.parametrize("sizes", [(16, 32, 6), (12, 32, 8), (16, 24, 8)])
def test_matrix_instructions_take_whole_tiles(sizes, emulator, runtime, folder):
    """Sizes given by hand that they do not fill get the usual kernel."""
    result = transform(
        whole_numbers(["plain"]), "cuda", folder, flags=CONTRACTED, **{**MATRICES, "tile_sizes": sizes}
    )
    assert "polybuild_multiply" not in (folder / "kernels.cu").read_text().partition("__global__")[2]
    compare(build(result, "odd", runtime, folder), ("17 33 20",), emulator, "cuda")
