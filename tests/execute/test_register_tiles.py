"""Register tiles: what is computed in blocks equals, to the bit, what the original computes."""

from __future__ import annotations

import re
import subprocess

import pytest
from compiling import output, write

from polybuild.driver.file import compile_source
from polybuild.options import Options

PROGRAM = """\
#include <stdio.h>
#include <string.h>
enum {{ MOST = 61 }};
typedef {type} real;
static void run(int n, int m, real f, real C[restrict n][n], real A[restrict n][n], real B[restrict n][n])
{{
#pragma scop
{body}
#pragma endscop
  (void)m; (void)f; (void)A; (void)B;
}}
static real storage[3][MOST * MOST];
int main(void)
{{
  for (int n = 0; n <= MOST; n += n < 4 ? 1 : 19) {{
    unsigned seed = 1, bits;
    unsigned long long sum = 0;
    for (int a = 0; a < 3; a++)
      for (int i = 0; i < n * n; i++)
        seed = seed * 1664525u + 1013904223u, storage[a][i] = (real)((seed >> 8) / 16777216.0 - 0.5);
    run(n, n / 2 + 3, (real)1.5, (void *)storage[0], (void *)storage[1], (void *)storage[2]);
    for (int i = 0; i < (int)(sizeof(real) / 4) * n * n; i++)
      memcpy(&bits, (char *)storage[0] + 4 * i, 4), sum = sum * 31 + bits;
    printf("%d %llu\\n", n, sum);
  }}
  return 0;
}}
"""
BODIES = {
    "product": """
  for (int i = 0; i < n; i++) for (int k = 0; k < n; k++) for (int j = 0; j < n; j++)
    C[i][j] += f * A[i][k] * B[k][j];""",
    "transposed operands": """
  for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++)
    C[i][j] = C[i][j] - A[k][i] * B[j][k];""",
    "lower triangle": """
  for (int i = 0; i < n; i++) for (int k = 0; k < n; k++) for (int j = 0; j <= i; j++)
    C[i][j] += A[j][k] * f * B[i][k] + B[j][k] * f * A[i][k];""",
    "in place, steps after the rows": """
  for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) {
    for (int k = i + 1; k < n; k++) C[i][j] += A[k][i] * C[k][j];
    C[i][j] *= f;
  }""",
    "in place, steps before the rows": """
  for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)
    for (int k = 0; k < i; k++) C[i][j] -= A[i][k] * C[k][j];""",
    "factorisation": """
  for (int k = 0; k < n; k++) {
    for (int i = k + 1; i < n; i++) A[i][k] /= A[k][k] + 100;
    for (int i = k + 1; i < n; i++) for (int j = k + 1; j < n; j++) A[i][j] -= A[i][k] * A[k][j];
  }
  for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) C[i][j] = A[i][j];""",
    "backwards and shifted": """
  for (int i = n - 1; i > 0; i--) for (int j = n - 1; j >= 0; j--) for (int k = n - 1; k >= 0; k--)
    C[i - 1][j] += -A[i][k] / (B[k][j] + 2);""",
    "two updates in one band": """
  for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) {
    for (int k = 0; k <= i; k++) C[i][j] += f * A[i][k] * B[k][j];
    for (int k = i + 1; k < n; k++) C[i][j] += f * A[k][i] * B[k][j];
  }""",
    "a band of four loops": """
  for (int r = 0; r < m; r++) for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)
    for (int k = 0; k < n; k++) C[i][j] += A[i][k] * B[k][j];""",
    "window": """
  for (int i = 0; i < n; i++) for (int j = 0; j < n - 2; j++) for (int k = 0; k < n; k++)
    for (int l = 0; l < 3; l++) C[i][j] += A[i][k] * B[k][j + l];""",
    "window of rows and columns": """
  for (int i = 0; i < n; i++) for (int j = 0; j < n - 2; j++) for (int k = 0; k < n / 2; k++)
    for (int h = 0; h < 2; h++) for (int l = 0; l < 3; l++) C[i][j] += A[i][k + h] * B[k + h][j + l];""",
    "window at the border": """
  for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++)
    for (int l = 0; l < 3; l++) if (j + l < n) C[i][j] += A[i][k] * B[k][j + l];""",
    "window, transposed": """
  for (int i = 0; i < n; i++) for (int j = 0; j < n - 2; j++) for (int k = 0; k < n; k++)
    for (int l = 0; l < 3; l++) C[i][j] += A[i][k] * B[j + l][k];""",
    "one row": """
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      C[0][j] = 0;
      for (int k = 0; k < n; k++) C[0][j] += A[i][k] * B[k][j];
    }
    for (int j = 0; j < n; j++) A[i][j] = C[0][j];
  }""",
}
BODIES |= {
    "filter of one line": """
  for (int j = 0; j < n - m; j++) for (int k = 0; k < m; k++) C[0][j] += A[0][k] * B[0][j + k];""",
    "filter of one line, by sums": """
  for (int j = 0; j <= n - m; j++) {
    real sum = 0;
    for (int k = 0; k < m; k++) sum += A[0][m - 1 - k] * B[0][j + k];
    C[0][j] = sum;
  }""",
    "filter of one line, by pointers": """
  real *to = C[0];
  const real *from = B[0];
  int left = n - m;
  while (left-- > 0) {
    real sum = 0;
    for (int k = 0; k < m; k++) sum += A[0][k] * from[k];
    *to++ = sum;
    from++;
  }""",
}
STREAM = """
  for (int j = 0; j < n; j++) for (int k = 0; k < n; k++) C[0][j] += A[0][k] * B[k][j];"""
FLAGS = ("-O2", "-ffp-contract=off")


def transform(tmp_path, body, flags=FLAGS, real="double", **options):
    """The text that the program became, and the paths of both."""
    source = write(tmp_path / "in.c", PROGRAM.format(type=real, body=body))
    result = compile_source(str(source), Options(min_work=0, **options), ["gcc"], flags)
    assert [each.status for each in result.regions] == ["transformed"]
    return source, write(tmp_path / "out.c", result.text)


@pytest.mark.fast(name=["product"])
@pytest.mark.parametrize("name", BODIES)
def test_equal_to_the_original(name, tmp_path):
    source, transformed = transform(tmp_path, BODIES[name], tile_sizes=(16,))
    assert output(transformed, *FLAGS, "-fopenmp") == output(source, *FLAGS)


@pytest.mark.parametrize(
    "name",
    [
        "product",
        "transposed operands",
        "lower triangle",
        "in place, steps after the rows",
        "window",
        "one row",
        "filter of one line",
        "filter of one line, by sums",
        "filter of one line, by pointers",
    ],
)
def test_blocks_are_built(name, tmp_path):
    assert "polybuild_double" in transform(tmp_path, BODIES[name])[1].read_text()


def test_what_streams_from_memory_is_read_in_long_rows(tmp_path):
    assert "polybuild_double" not in transform(tmp_path, STREAM)[1].read_text()


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize(("real", "vector"), [("double", 64), ("float", 32), ("float", 64)])
def test_every_width_without_warnings(compiler, real, vector, tmp_path):
    source, transformed = transform(tmp_path, BODIES["product"], real=real, vector_size=vector)
    lanes = vector // (4 if real == "float" else 8)
    assert f"polybuild_{real}{lanes} " in transformed.read_text()
    expected = output(source, *FLAGS)
    assert output(transformed, *FLAGS, compiler=compiler) == expected


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_the_block_stays_in_registers(compiler, tmp_path):
    """No store stands in the loop over the steps, and each of its sums is one instruction."""
    flags = ("-O3", "-mavx2", "-mfma")
    _, transformed = transform(tmp_path, BODIES["product"], flags)
    assembly = tmp_path / "out.s"
    command = [compiler, *flags, "-ffp-contract=fast", "-S", str(transformed), "-o", str(assembly)]
    subprocess.run(command, check=True)
    blocks = re.split(r"^\.L\w+:|^\s+j\w+\s.*$", assembly.read_text(), flags=re.MULTILINE)
    sums = [len(re.findall(r"vfn?madd\w+pd\s.*%ymm", each)) for each in blocks]
    best = blocks[sums.index(max(sums))]
    assert max(sums) >= 12
    assert max(sums) % 12 == 0
    assert not re.search(r"vmov\w+\s+%ymm\d+, .*\(", best)


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_wide_vectors_stay_whole(compiler, tmp_path):
    """In blocks of vectors of 64 bytes, each sum is one instruction, in threads of OpenMP, too."""
    flags = ("-O2", "-march=skylake-avx512")
    _, transformed = transform(tmp_path, BODIES["product"], flags)
    assembly = tmp_path / "out.s"
    command = [compiler, *flags, "-fopenmp", "-S", str(transformed), "-o", str(assembly)]
    subprocess.run(command, check=True)
    assert len(re.findall(r"vf\w*madd\w+pd\s.*%zmm", assembly.read_text())) >= 16


def test_updates_that_share_a_band_are_both_tiled(tmp_path):
    text = transform(tmp_path, BODIES["two updates in one band"], fusion="max")[1].read_text()
    for operands in (r"A\[i\]\[k\]", r"A\[k\]\[i\]"):
        assert re.search(rf"C\[i\]\[j\] \+= f \* {operands}", text)  # what is left at the edges
    assert len(re.findall(r"\n\s+acc_0_0 \+=", text)) == 2


def test_off(tmp_path):
    assert "polybuild_double" not in transform(tmp_path, BODIES["product"], registers=False)[1].read_text()
