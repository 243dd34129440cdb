"""Rows that data choose are walked along, in lanes and in other orders, with the same results."""

from __future__ import annotations

import pytest
from compiling import output, write

from polybuild.driver.file import compile_source
from polybuild.options import Options

PROGRAM = """\
#include <stdio.h>
enum { N = 61, M = 37, W = 7 };
static int row[N], column[N * W], swap[M];
static double a[N][M], b[N][M], y[N][M], flat[N * M], weight[N * W];
static void run(int n, int m, int w)
{
#pragma scop
BODY
#pragma endscop
  (void) w;
}
int main(void)
{
  for (int i = 0; i < N; i++) {
    row[i] = (i * 7 + 3) % N;
    for (int k = 0; k < W; k++) column[i * W + k] = (i * 5 + k * k) % N;
    for (int k = 0; k < W; k++) weight[i * W + k] = 0.5 * k - i % 3;
    for (int j = 0; j < M; j++) {
      a[i][j] = (i * 37 + j) % 101 / 9.0; b[i][j] = i - j; flat[i * M + j] = (i * 3 + j * 11) % 53 / 7.0;
    }
  }
  for (int j = 0; j < M; j++) swap[j] = (j * 11 + 5) % M;
  run(N, M, W);
  double sum = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) sum += y[i][j] * (i % 13 + 1) + a[i][j] * (j % 5) + flat[i * M + j];
  printf("%.17g %d\\n", sum, row[3]);
  return 0;
}
"""
FLAGS = ("-O3", "-march=native", "-ffp-contract=off")
SUM = "double s = 0; for (int k = 0; k < w; k++) s += weight[i * w + k]"
FORMS = {
    "down the columns": "for (int j = 0; j < m; j++) for (int i = 0; i < n; i++) y[i][j] = 2 * a[row[i]][j];",
    "of a flat array": """for (int j = 0; j < m; j++) for (int i = 0; i < n; i++)
    y[i][j] = flat[row[i] * m + j] + b[i][j];""",
    "from a variable": """for (int i = 0; i < n; i++) { int first = row[i] * m;
    for (int j = 0; j < m - 1; j++) y[i][j] = flat[first + j] - flat[first + j + 1]; }""",
    "backwards": """for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)
    y[i][j] = flat[row[i] * m + m - 1 - j];""",
    "every second": """for (int i = 0; i < n; i++) for (int j = 0; j < m / 2; j++)
    y[i][j] = flat[row[i] * m + 2 * j] * flat[row[i] * m + 2 * j + 1];""",
    "products with a sparse matrix": f"""for (int j = 0; j < m; j++) for (int i = 0; i < n; i++) {{
    {SUM} * a[column[i * w + k]][j]; y[i][j] = s; }}""",
    "the same, row by row": """for (int i = 0; i < n; i++)
    for (int k = 0; k < w; k++) for (int j = 0; j < m; j++)
      y[i][j] += weight[i * w + k] * a[column[i * w + k]][j];""",
    "lines from above and below": f"""for (int i = 0; i < n - 9; i++) for (int j = 0; j < m; j++) {{
    {SUM} * flat[(row[i] * 5 / 6 + k) * m + j]; y[i][j] = s; }}""",
    "both chosen": """for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)
    y[i][j] += b[i][j] * a[row[i]][swap[j]];""",
    "that are written": """for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)
    a[row[i] / 2][j] += b[i][j] * 0.5;""",
    "read and written": """for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)
    a[i][j] = a[row[i]][j] * 0.5 + b[i][j];""",
    "by data that change": """for (int i = 0; i < n; i++) { row[i] = (row[i] + i) % n;
    for (int j = 0; j < m; j++) y[i][j] = a[row[i]][j];
    row[3] = i; }""",
    "by data that change along the row": """for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) {
    row[3] = j; y[i][j] = a[row[i]][j]; }""",
}


@pytest.mark.fast(form=["products with a sparse matrix"])
@pytest.mark.parametrize("form", FORMS)
def test_rows_that_data_choose(form, tmp_path):
    source = write(tmp_path / "in.c", PROGRAM.replace("BODY", FORMS[form]))
    expected = output(source, "-O2")
    for name, sizes in (("plain.c", ()), ("tiles.c", (8, 16, 4))):
        options = Options(min_work=0, tile_sizes=sizes)
        text = compile_source(str(source), options, ["gcc"], FLAGS).text
        assert output(write(tmp_path / name, text), *FLAGS) == expected


def test_a_sparse_product_goes_along_rows_and_is_in_vectors(tmp_path):
    body = FORMS["products with a sparse matrix"]
    source = write(tmp_path / "in.c", PROGRAM.replace("BODY", body))
    (region,) = compile_source(str(source), Options(parallel=False), ["gcc"], FLAGS).regions
    assert region.status == "transformed"
    assert region.vector_loops
