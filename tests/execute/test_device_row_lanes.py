"""Rows that a warp takes together on devices: by leave to reorder, the same in every order and language."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from device_programs import HAS_OPENCL, build, is_close, on, run, transform

from polybuild.targets.gpu.nvcc import build_image
from tests.emulator.nvcc import places, with_mistakes
from tests.emulator.stand_ins import ORDERS

# Each computes y (or z, of integers) from the rows of a sparse matrix, or of one of seven columns.
ROWS = {
    "a variable": """for (int i = 0; i < n; i++) {
    double s = 0;
    for (int j = row[i]; j < row[i + 1]; j++)
      s += val[j] * x[col[j]];
    y[i] = s; }""",
    "an element": """for (int i = 0; i < n; i++) {
    y[i] = 1;
    for (int j = row[i]; j < row[i + 1]; j++)
      y[i] -= val[j] * x[col[j]]; }""",
    "a product": """for (int i = 0; i < n; i++)
    for (int j = row[i]; j < row[i + 1]; j++) {
      double product = val[j] * x[col[j]];
      y[i] = y[i] + product; }""",
    "a condition": """for (int i = 0; i < n; i++)
    for (int j = row[i]; j < row[i + 1]; j++)
      if (val[j] > 0)
        y[i] += val[j];""",
    "backwards": """for (int i = 0; i < n; i++)
    for (int j = row[i + 1] - 1; j >= row[i]; j--)
      y[i] += val[j] / 3;""",
    "the last one": """for (int i = 0; i < n; i++) {
    y[i] = 0;
    for (int j = row[i]; j <= row[i + 1] - 1; j++)
      y[i] += val[j]; }""",
    "the limit first": """for (int i = 0; i < n; i++)
    for (int j = row[i]; row[i + 1] > j; j++)
      y[i] += val[j] * j;""",
    "unsigned": """for (unsigned i = 0; i < (unsigned)n; i++)
    for (unsigned j = (unsigned)row[i]; j < (unsigned)row[i + 1]; j++)
      y[i] += val[j];""",
    "long": """for (long i = 0; i < n; i++)
    for (long j = row[i]; j < row[i + 1]; ++j)
      y[i] += val[j] * x[col[j]];""",
    "a pointer's distance": """for (int i = 0; i < n; i++)
    for (int j = 0; j < row[i + 1] - row[i]; j++)
      y[i] += val[row[i] + j];""",
    "integers": """for (int i = 0; i < n; i++)
    for (int j = row[i]; j < row[i + 1]; j++)
      z[i] ^= col[j] * 1000003;""",
    "shorts": """for (int i = 0; i < n; i++)
    for (int j = row[i]; j < row[i + 1]; j++)
      h[i] += (short)(col[j] * 1003);""",
    "a matrix": """for (int i = 0; i < n; i++) {
    double s = 0;
    for (int j = 0; j < m; j++)
      s += a[i][j] * x[j];
    y[i] = s; }""",
    "a gathered matrix": """for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      y[i] += a[i][j] * x[col[j]];""",
}
FUNCTION = """\
static void f{number}(int n, int m, const int *restrict row, const int *restrict col,
                      const double *restrict val, const double *restrict x, const double (*restrict a)[97],
                      double *restrict y, int *restrict z, short *restrict h)
{{
#pragma scop
  {body}
#pragma endscop
  (void)m, (void)row, (void)col, (void)val, (void)x, (void)a, (void)y, (void)z, (void)h;
}}
"""
MAIN = r"""
static void test(int number, void (*run)(int, int, const int *, const int *, const double *, const double *,
                                         const double (*)[97], double *, int *, short *), int n, int mean)
{
  int all = 0, *row = malloc((n + 1) * sizeof *row), *z = calloc(n + 1, sizeof *z);
  short *h = calloc(n + 1, sizeof *h);
  for (int i = 0; i < n; i++)
    row[i] = all, all += i % 5 == 3 ? 0 : i * 37 % (2 * mean) + (i == 2) * 200;
  row[n] = all;
  int many = all < 97 ? 97 : all, *col = malloc(many * sizeof *col);
  double *val = malloc(many * sizeof *val), *x = malloc((n + 97) * sizeof *x), *y = calloc(n + 1, sizeof *y);
  double *a = malloc((n + 1) * 97 * sizeof *a);
  for (int j = 0; j < many; j++)
    val[j] = j % 13 - 6.3, col[j] = n ? j * 7 % n : 0;
  for (int i = 0; i < n + 97; i++)
    x[i] = i % 11 / 3.0;
  for (int i = 0; i < n * 97; i++)
    a[i] = i % 17 / 7.0;
  run(n, 97, row, col, val, x, (void *)a, y, z, h);
  printf("%d\n", number);
  for (int i = 0; i < n; i++)
    printf("%a %d ", y[i], z[i] + h[i]);
  free(row), free(col), free(val), free(x), free(y), free(a), free(z), free(h);
}
int main(int argc, char **argv)
{
  int n = argc > 1 ? atoi(argv[1]) : 0, mean = argc > 2 ? atoi(argv[2]) : 1;
CALLS  return 0;
}
"""
PROGRAM = (
    "#include <stdio.h>\n#include <stdlib.h>\n"
    + "".join(FUNCTION.format(number=number, body=body) for number, body in enumerate(ROWS.values()))
    + MAIN.replace(
        "CALLS", "".join(f"  test({number}, f{number}, n, mean);\n" for number in range(len(ROWS)))
    )
)
RUNS = (("0", "1"), ("1", "9"), ("30", "40"))
WARP = "__shfl_xor_sync"


@pytest.fixture(scope="module")
def kernels(emulator, tmp_path_factory):
    """The folder of the program, what was done, and the text of its kernels."""
    folder = tmp_path_factory.mktemp("lanes")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NVCC", emulator.nvcc)
        patch.setenv("POLYBUILD_EMULATOR_KEEP", str(folder / "kernels.cu"))
        patch.setenv("POLYBUILD_CACHE", "0")
        result = transform(PROGRAM, "cuda", folder, allow_reassociation="on")
    return folder, result, (folder / "kernels.cu").read_text()


@pytest.fixture(scope="module")
def cuda(kernels, runtime):
    folder, result, _ = kernels
    return build(result, "lanes", runtime, folder)


def test_a_warp_takes_each_row_however_it_is_written(kernels):
    _, result, text = kernels
    found = dict(zip(ROWS, result.regions, strict=True))
    assert {name: each.remarks for name, each in found.items() if each.backend != "cuda"} == {}
    own = text.split("__global__")[1:]
    shared = {part.split("polybuild_f", 1)[1].split("_")[0] for part in own if WARP in part}
    assert {name for number, name in enumerate(ROWS) if str(number) not in shared} == set()
    if shutil.which("nvcc"):
        image = build_image(text, "nvcc", (90,), contract=False)
        assert {each.kernel: each.spills for each in image.usage if each.spills} == {}


def test_the_same_bits_in_every_order_and_language(cuda, emulator, runtime, tmp_path):
    programs = [(cuda, emulator.environment(order=order)) for order in ORDERS]
    if HAS_OPENCL:
        other = transform(PROGRAM, "opencl", tmp_path, allow_reassociation="on")
        programs.append((build(other, "opencl", runtime, tmp_path), on("opencl")))
    for arguments in RUNS:
        expected = run(cuda, *arguments, environment=on("host")).stdout.split()
        found = [run(program, *arguments, environment=where).stdout.split() for program, where in programs]
        assert is_close(found[0], expected)
        assert all(each == found[0] for each in found)


def test_values_and_columns_of_sparse_rows_are_read_in_whole_sectors(
    emulator, runtime, tmp_path, monkeypatch
):
    monkeypatch.setenv("NVCC", emulator.nvcc)
    text = """
#include <stdlib.h>
static void run(int n, int *restrict row, int *restrict col, double *restrict val, double *restrict y)
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = row[i]; j < row[i + 1]; j++)
      y[i] += val[j] * col[j];
#pragma endscop
}
int main(void)
{
  int n = 100, all = 0, *row = malloc((n + 1) * sizeof *row), *col = calloc(300 * n, sizeof *col);
  double *val = calloc(300 * n, sizeof *val), *y = calloc(n, sizeof *y);
  for (int i = 0; i <= n; i++)
    row[i] = all, all += 120 + i * 37 % 160;
  run(n, row, col, val, y);
  free(row), free(col), free(val), free(y);
  return 0;
}
"""
    made = build(transform(text, "cuda", tmp_path, allow_reassociation="on"), "sectors", runtime, tmp_path)
    (kernel,) = emulator.report([str(made)])["kernels"].values()
    assert kernel["blocks"] == 25
    # where a row begins inside of 32, lanes before that place are 32 ahead: nine sectors for eight
    assert kernel["global_reads"]["sectors"] <= 9 / 8 * 1.01 * kernel["global_reads"]["ideal"]


def test_every_exchange_has_to_be_there(cuda, kernels, emulator, tmp_path):
    """Where a thread keeps its own value instead of that of another, the row is another."""
    text = kernels[2]
    assert places(text, "shuffle") >= len(ROWS)
    image = tmp_path / "image"
    image.write_bytes(build_image(with_mistakes(text), emulator.nvcc, (80,), contract=False).data)
    expected = run(cuda, *RUNS[-1], environment=emulator.environment()).stdout
    for number in range(1, places(text, "shuffle") + 1):
        environment = emulator.environment(
            POLYBUILD_EMULATOR_MISTAKE=f"shuffle:{number}", POLYBUILD_EMULATOR_IMAGE=str(image)
        )
        done = subprocess.run(
            [cuda, *RUNS[-1]], env=environment, check=False, capture_output=True, text=True, timeout=60
        )
        assert done.returncode or done.stdout != expected, number


def test_without_leave_a_thread_takes_a_row_in_its_order(tmp_path):
    result = transform(PROGRAM, "opencl", tmp_path)
    found = dict(zip(ROWS, result.regions, strict=True))
    assert all(each.backend == "opencl" for name, each in found.items() if "matrix" not in name)
    assert "z_own_lanes" in result.text  # integers are the same in any order
    assert "y_own_lanes" not in result.text
