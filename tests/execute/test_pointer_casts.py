"""Pointers that are cast where they are followed (``((double *)m->data)[i]``), and moved by bytes before."""

from __future__ import annotations

import pytest
from region_programs import cases, check, compare

CASES = cases("pointer-casts")
TOP = """
typedef struct { int rows, cols, step; void *memory; } box;
typedef struct { double x, y; } point;
typedef struct { int u, v; } couple;
#define ELEMENT(m, i, j) (((double *)(m)->memory)[(i) * (m)->cols + (j)])
#define ROW(m, i) ((double *)((char *)(m)->memory + (i) * (m)->step))
#define AT(m, i, j) (ROW(m, i)[j])
static double element(const box *m, int i, int j) {
  return *(const double *)((const char *)m->memory + i * m->step + j * sizeof(double));
}
static double *place(box *m, int i, int j) { return (double *)((char *)m->memory + i * m->step) + j; }
"""


@pytest.fixture(scope="module")
def comparison(tmp_path_factory):
    return compare(tmp_path_factory.mktemp("casts"), CASES, (1, 2, 3, 7, 16, 33), TOP)


@pytest.mark.parametrize("name", CASES)
def test_pointers_that_are_cast(comparison, name):
    check(comparison, CASES[name])
