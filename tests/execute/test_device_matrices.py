"""Products of matrices with vectors on devices, as people write them: whole sectors, and many blocks."""

from __future__ import annotations

import pytest
from device_programs import HAS_OPENCL, build, on, run, transform

from benchmarks.gpu.sectors import FEWEST_BLOCKS, MOST_SECTORS, PROGRAMS
from polybuild.machine.model import Machine
from tests.emulator.stand_ins import ORDERS

PRODUCT = "for (int j = 0; j < n; j++)"
FORMS = {
    **PROGRAMS,
    "atax, a variable of the whole region": f"""
  double s;
  for (int i = 0; i < n; i++) y[i] = 0;
  for (int i = 0; i < n; i++) {{
    s = 0;
    {PRODUCT} s = s + a[i][j] * x[j];
    {PRODUCT} y[j] = y[j] + s * a[i][j];
  }}""",
    "atax, a vector": f"""
  for (int i = 0; i < n; i++) y[i] = 0;
  for (int i = 0; i < n; i++) {{
    z[i] = 0;
    {PRODUCT} z[i] += a[i][j] * x[j];
    {PRODUCT} y[j] += a[i][j] * z[i];
  }}""",
    "atax, in two nests": f"""
  for (int i = 0; i < n; i++) {{
    double s = 0;
    {PRODUCT} s += a[i][j] * x[j];
    z[i] = s;
  }}
  for (int j = 0; j < n; j++) {{
    double s = 0;
    for (int i = 0; i < n; i++) s += a[i][j] * z[i];
    y[j] = s;
  }}""",
    "atax, scaled": f"""
  for (int i = 0; i < n; i++) {{
    double s = 0;
    {PRODUCT} s += x[j] * a[i][j];
    s *= 2;
    {PRODUCT} y[j] += s * a[i][j];
  }}""",
    "bicg, in one nest": f"""
  for (int i = 0; i < n; i++) z[i] = 0;
  for (int i = 0; i < n; i++) {{
    y[i] = 0;
    {PRODUCT} {{
      z[j] += w[i] * a[i][j];
      y[i] += a[i][j] * x[j];
    }}
  }}""",
    "gemver, in variables": f"""
  for (int i = 0; i < n; i++)
    {PRODUCT} a[i][j] = a[i][j] + u[i] * v[j] + w[i] * z[j];
  for (int i = 0; i < n; i++) {{
    double s = 0;
    {PRODUCT} s += a[j][i] * u[j];
    x[i] += 0.25 * s;
  }}
  for (int i = 0; i < n; i++) {{
    double s = 0;
    {PRODUCT} s += a[i][j] * x[j];
    y[i] = 1.5 * s;
  }}""",
}
FUNCTION = """\
static void f{number}(int n, double (*restrict a)[n], double *restrict u, double *restrict v,
                      double *restrict w, double *restrict x, double *restrict y, double *restrict z)
{{
  (void)u, (void)v, (void)w, (void)x, (void)y, (void)z;
#pragma scop
  {body}
#pragma endscop
}}
"""
MAIN = r"""
typedef void product(int, double *, double *, double *, double *, double *, double *, double *);
static void test(int number, product *run, int n)
{
  double *a = malloc((size_t)n * n * sizeof *a), *vectors = malloc((size_t)n * 6 * sizeof *a), sum = 0;
  for (int k = 0; k < n * n; k++)
    a[k] = k * 37 % 101 - 50;
  for (int k = 0; k < n * 6; k++)
    vectors[k] = k * 53 % 103 - 51;
  run(n, a, vectors, vectors + n, vectors + 2 * n, vectors + 3 * n, vectors + 4 * n, vectors + 5 * n);
  for (int k = 0; k < n * 6; k++)
    sum += vectors[k] * (k % 7);
  printf("%d %a\n", number, sum);
  free(a), free(vectors);
}
int main(int argc, char **argv)
{
  int n = argc > 1 ? atoi(argv[1]) : 0;
CALLS  return 0;
}
"""
PROGRAM = (
    "#include <stdio.h>\n#include <stdlib.h>\n"
    + "".join(FUNCTION.format(number=number, body=body) for number, body in enumerate(FORMS.values()))
    + MAIN.replace(
        "CALLS", "".join(f"  test({number}, (product *)f{number}, n);\n" for number in range(len(FORMS)))
    )
)
SIZE = 160


@pytest.fixture(scope="module")
def cuda(emulator, runtime, tmp_path_factory):
    folder = tmp_path_factory.mktemp("matrices")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NVCC", emulator.nvcc)
        result = transform(PROGRAM, "cuda", folder, allow_reassociation="on")
    assert [each.backend for each in result.regions] == ["cuda"] * len(FORMS)
    return build(result, "matrices", runtime, folder)


def test_whole_sectors_many_blocks_and_one_launch(cuda, emulator):
    """Blocks grow with the matrix: with 4000 rows there are four for each multiprocessor.

    Those of a plane grow with its area, and are one less here.
    """
    kernels = emulator.report([str(cuda), str(SIZE)])["kernels"]
    fewest = FEWEST_BLOCKS * Machine().multiprocessor.count * SIZE // 4000
    touched = dict.fromkeys(range(len(FORMS)), 0)
    for name, each in kernels.items():
        assert each["launches"] == 1, name
        uses = [each["global_reads"], each["global_writes"]]
        sectors, ideal = (sum(use[what] for use in uses) for what in ("sectors", "ideal"))
        assert sectors <= MOST_SECTORS * ideal, name
        if ideal >= SIZE * SIZE // 8:
            touched[int(name.split("_f")[1].split("_")[0])] += 1
            assert each["blocks"] >= fewest - 1, name
    assert all(1 <= each <= 3 for each in touched.values()), touched


def test_the_results_of_the_original(cuda, emulator, runtime, tmp_path):
    """Sums of whole numbers are the same in any order."""
    programs = [(cuda, emulator.environment(order=order)) for order in ORDERS]
    if HAS_OPENCL:
        other = transform(PROGRAM, "opencl", tmp_path, allow_reassociation="on")
        programs.append((build(other, "opencl", runtime, tmp_path), on("opencl")))
    for number, (program, environment) in enumerate(programs):
        size = str((67, 1, 130, 33)[number % 4])
        expected = run(cuda, size, environment=on("host")).stdout
        assert run(program, size, environment=environment).stdout == expected
