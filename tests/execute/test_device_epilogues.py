"""Prologues and epilogues of sums on devices: in the kernels of the sums, each as people write it."""

from __future__ import annotations

import re
import shlex
import shutil

import pytest
from compiling import in_turn
from device_programs import FLAGS, HAS_OPENCL, Workbench, build, on, run, transform

from polybuild.targets.gpu.nvcc import build_image
from tests.emulator.stand_ins import ORDERS

LOOPS = "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)"
C = "C[i * m + j]"
SUM = "for (int k = 0; k < p; k++)"
TERM = "A[i * p + k] * B[k * m + j]"
OVERWRITTEN = {
    "array": f"{LOOPS} {{ {C} = 0; {SUM} {C} += {TERM}; }}",
    "scalar": f"{LOOPS} {{ REAL s = 0; {SUM} s += {TERM}; {C} = s; }}",
    "nest": f"{LOOPS} {C} = 0; {LOOPS} {SUM} {C} += {TERM};",
    "memset": f"memset(C, 0, sizeof(REAL) * n * m); {LOOPS} {SUM} {C} += {TERM};",
    "columns": "for (int j = 0; j < m; j++) for (int i = 0; i < n; i++) C[i * m + j] = 0;"
    f" for (int i = 0; i < n; i++) {SUM} for (int j = 0; j < m; j++) {C} += {TERM};",
    "outer": f"{LOOPS} {C} = 0; {SUM} {LOOPS} {C} += {TERM};",
    "within": f"{LOOPS} {SUM} {{ if (k == 0) {C} = 0; {C} += {TERM}; }}",
    "peeled": f"{LOOPS} {{ {C} = A[i * p] * B[j]; for (int k = 1; k < p; k++) {C} += {TERM}; }}",
    "bias": f"{LOOPS} {{ {C} = bias[j]; {SUM} {C} += {TERM}; }}",
    "rest": f"{LOOPS} {{ {C} = D[i * m + j]; {SUM} {C} -= {TERM}; }}",
    "rectified": f"{LOOPS} {{ REAL s = bias[j]; {SUM} s += {TERM}; {C} = s > 0 ? s : 0; }}",
    "biased": f"{LOOPS} {{ REAL s = 0; {SUM} s += {TERM}; {C} = s + bias[j]; }}",
    "added nest": f"{LOOPS} {C} = 0; {LOOPS} {SUM} {C} += {TERM}; {LOOPS} {C} += bias[j];",
    "clamped": f"{LOOPS} {{ {C} = 0; {SUM} {C} += {TERM}; if ({C} > 9) {C} = 9; }}",
    "strict": f"{LOOPS} {{ {C} = 0; for (int k = 0; k < i; k++) {C} += {TERM}; }}",
    "above": f"{LOOPS} {{ REAL s = 0; for (int k = j + 1; k < p; k++) s += {TERM}; {C} = s; }}",
}
SCALED = {
    "scaled": f"{LOOPS} {{ {C} *= beta; {SUM} {C} += alpha * {TERM}; }}",
    "scaled nest": f"{LOOPS} {C} *= beta; {LOOPS} {SUM} {C} += alpha * {TERM};",
    "rows": f"for (int i = 0; i < n; i++) {{ for (int j = 0; j < m; j++) {C} *= beta;"
    f" {SUM} for (int j = 0; j < m; j++) {C} += alpha * {TERM}; }}",
    "blas": f"{LOOPS} {{ REAL s = 0; {SUM} s += {TERM}; {C} = alpha * s + beta * {C}; }}",
    "added": f"{LOOPS} {{ REAL s = 0; {SUM} s += {TERM}; {C} += s; }}",
    "three nests": f"{LOOPS} D[i * m + j] = 0; {LOOPS} {SUM} D[i * m + j] += {TERM};"
    f" {LOOPS} {C} = alpha * D[i * m + j] + beta * {C};",
    "triangular": "for (int i = 0; i < n; i++) { for (int j = 0; j <= i && j < m; j++) C[i * m + j] *= beta;"
    f" {SUM} for (int j = 0; j <= i && j < m; j++) C[i * m + j] += alpha * {TERM}; }}",
}
FORMS = OVERWRITTEN | SCALED
TRIANGLES = {  # products of rows or of columns: with their copies, sums take almost all registers
    "rank": "for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++) {"
    " REAL s = 0; for (int k = 0; k < m; k++) s += A[i * m + k] * B[j * m + k] + B[i * m + k] * A[j * m + k];"
    " C[i * n + j] = alpha * s + beta * C[i * n + j]; }",
    "moments": "for (int i = 0; i < m - 1; i++) { C[i * m + i] = 1; for (int j = i + 1; j < m; j++) {"
    " C[i * m + j] = 0; for (int k = 0; k < n; k++) C[i * m + j] += A[k * m + i] * A[k * m + j];"
    " C[j * m + i] = C[i * m + j]; } }",
}
PRODUCT = f"{LOOPS} {{ {C} = 0; {SUM} {C} += {TERM}; }}"
CHAIN = f"{PRODUCT} {LOOPS} D[i * m + j] *= beta; {LOOPS} for (int k = 0; k < m; k++) D[i * m + j] += "
MORE = {  # and how many kernels they are: sums over results stay apart, and what looks at several of them
    "norms": (2, f"for (int i = 0; i < n; i++) bias[i] = 0; {PRODUCT} {LOOPS} bias[i] += {C};"),
    "two products": (2, f"{CHAIN} C[i * m + k] * B[k * m + j];"),
    "neighbours": (2, f"{PRODUCT} {LOOPS} D[i * m + j] = {C} - C[i * m];"),
    "transposed": (1, f"{PRODUCT} {LOOPS} D[j * n + i] = {C} * alpha;"),
    "every other": (1, PRODUCT.replace(C, "C[i * 2 * m + 2 * j]")),
    "a vector": (1, f"for (int i = 0; i < n; i++) {{ C[i] = 0; {SUM} C[i] += A[i * p + k] * B[k]; }}"),
}
PARAMETERS = "int n, int m, int p, REAL alpha, REAL beta, const REAL *restrict A, const REAL *restrict B"
MAIN = """
int main(int argc, char **argv)
{
  int n = argc > 1 ? atoi(argv[1]) : 1, m = argc > 2 ? atoi(argv[2]) : 1, p = argc > 3 ? atoi(argv[3]) : 1;
  int most = n > m ? n : m, size = 3 * (most > p ? most : p) * (most > p ? most : p) + 54;
  REAL *A = malloc(size * sizeof *A), *B = malloc(size * sizeof *B), *C = malloc(size * sizeof *C);
  REAL *D = malloc(size * sizeof *D), *bias = malloc(size * sizeof *bias);
  for (int i = 0; i < size; i++) {
    A[i] = VALUE_A, B[i] = VALUE_B, C[i] = i % 7;
    D[i] = i % 5 - 2, bias[i] = i % 11 - 5;
  }
  CALLS
  for (int i = 0; i < size; i++)
    printf("%a %a %a\\n", (double)C[i], (double)D[i], (double)bias[i]);
  return 0;
}
"""
VALUES = "(i * 37 % 101) / (REAL)7 - 5", "(i * 53 % 103) / (REAL)9 - 6"
WHOLE = "i * 37 % 101 - 50", "i * 53 % 103 - 51"
SIZES = ("7 33 20", "33 7 1", "1 1 1", "0 5 5", "5 6 0", "16 32 8", "17 40 9")
KEEPING = """\
#!/bin/sh
for each; do last="$each"; done
cp "$last" {file}
while [ "$1" != -o ]; do shift; done
echo an image > "$2"
"""
"""In place of nvcc: keeps the kernels' text, the last word of its command line, and makes no code of it."""
TILES = {"tile_sizes": (8, 16, 4), "block_sizes": (4, 4), "grid_sizes": (2, 1)}


def program(forms, real="float", values=VALUES):
    """A program that runs ``forms``, one after the other, with elements of type ``real``."""
    functions = "".join(
        f"static void f{number}({PARAMETERS}, REAL *restrict C, REAL *restrict D, REAL *restrict bias)\n{{\n"
        "  (void)m, (void)p, (void)alpha, (void)beta, (void)B, (void)D, (void)bias;\n"
        f"#pragma scop\n  {form}\n#pragma endscop\n}}\n"
        for number, form in enumerate(forms)
    )
    calls = "\n  ".join(f"f{number}(n, m, p, 2, -3, A, B, C, D, bias);" for number in range(len(forms)))
    main = MAIN.replace("CALLS", calls).replace("VALUE_A", values[0]).replace("VALUE_B", values[1])
    head = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
    return (head + functions + main).replace("REAL", real)


@pytest.fixture
def written(tmp_path, monkeypatch):
    """What the region of a program becomes for CUDA, and the text of its kernels, which nobody compiles."""
    nvcc, kept = tmp_path / "nvcc", tmp_path / "kept.cu"
    nvcc.write_text(KEEPING.format(file=shlex.quote(str(kept))))
    nvcc.chmod(0o755)
    monkeypatch.setenv("POLYBUILD_CACHE", "0")

    def make(text, **options):
        (region,) = transform(text, "cuda", tmp_path, nvcc=str(nvcc), **options).regions
        return region, kept.read_text()

    return make


@pytest.fixture
def workbench(emulator, runtime, tmp_path, monkeypatch):
    """Where programs are made."""
    monkeypatch.setenv("NVCC", emulator.nvcc)
    monkeypatch.setenv("POLYBUILD_CACHE", "0")
    return Workbench(emulator, runtime, tmp_path)


@pytest.fixture
def compare(workbench):
    """Runs a program on a backend, each size in an order of its own under emulation, and on the host."""

    def compared(text, backend, regions, sizes, **options):
        result = transform(text, backend, workbench.folder, **options)
        assert [each.backend for each in result.regions] == [backend] * regions
        if backend == "opencl" and not HAS_OPENCL:
            return
        made = build(result, "epilogues", workbench.runtime, workbench.folder)
        for number, size in enumerate(sizes):
            expected = run(made, *size.split(), environment=on("host")).stdout
            order = ORDERS[number % len(ORDERS)]
            environment = workbench.emulator.environment(order=order) if backend == "cuda" else on(backend)
            assert run(made, *size.split(), environment=environment).stdout == expected, size

    return compared


@pytest.mark.parametrize("form", FORMS)
def test_one_kernel_for_each_form(form, written):
    """What is overwritten is not loaded, and all that is computed is stored once."""
    region, text = written(program([FORMS[form]]), **TILES)
    assert (region.backend, region.kernels) == ("cuda", 1)
    text = text.partition("__global__")[2]
    loads = re.findall(r"_own\[\d\]\[\d\] = C\[", text)
    assert bool(loads) == (form in SCALED and form not in {"blas", "added", "three nests"})
    assert "s_expanded[" not in text


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="needs nvcc")
@pytest.mark.parametrize("form", TRIANGLES)
def test_sums_leave_no_registers_to_what_all_tiles_share(form, written):
    """Addresses that nvcc computes once for all tiles of a block would be spilled."""
    _, text = written(program([TRIANGLES[form]], "double"))
    image = build_image(text, "nvcc", (90,), contract=True)
    assert [each.spills for each in image.usage] == [0] * len(image.usage)


@pytest.mark.parametrize("form", MORE)
def test_what_stays_apart(form, written):
    kernels, loops = MORE[form]
    region, _ = written(program([loops]), **TILES)
    assert region.kernels == kernels


GROUPS = {
    "overwritten": OVERWRITTEN,
    "scaled": SCALED,
    "apart": {name: form for name, (_, form) in MORE.items()},
}
TURNS = [("float", "cuda"), ("double", "opencl")], [("double", "cuda"), ("float", "opencl")]


@pytest.mark.parametrize(
    ("group", "real", "backend"),
    [
        pytest.param(*each, marks=[pytest.mark.opencl] * (each[-1] == "opencl"))
        for each in in_turn(GROUPS, *TURNS)
    ],
)
def test_results(group, real, backend, compare):
    forms = GROUPS[group].values()
    compare(program(forms, real), backend, len(forms), SIZES, **TILES)


def test_results_with_usual_tiles(compare):
    forms = [FORMS[name] for name in ("blas", "strict")]
    compare(program(forms), "cuda", len(forms), ("65 129 17", "128 128 16", "5 6 0"))


@pytest.mark.parametrize("form", ["array", "blas", "strict", "triangular"])
def test_matrix_instructions(form, compare):
    """Sums of whole numbers are the same in any order; rows without terms keep what they begin with."""
    options = {"allow_reassociation": True, "tile_sizes": (16, 32, 8), "block_sizes": (8, 8)}
    text = program([FORMS[form]], "double", WHOLE)
    sizes = ("17 33 20", "33 17 1", "1 1 1", "5 6 0", "16 64 16", "35 70 25")
    compare(text, "cuda", 1, sizes, flags=[*FLAGS, "-ffp-contract=fast"], **options)
