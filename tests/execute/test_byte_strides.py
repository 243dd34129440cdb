"""Strides in bytes along all axes, as of arrays of Python: ``*(double *)(data + i * s[0] + j * s[1])``."""

from __future__ import annotations

import pytest
from region_programs import cases, check, compare

CASES = cases("byte-strides")
TOP = """
typedef struct { char *data; int nd; long dims[3]; const long *strides; } array;
typedef struct { int u, v; } couple;
typedef struct { struct { long shape, stride; } axes[2]; void *memory; } buffer;
#define PLACE(type, memory, i, s, j, t) (type)((char *)memory + i * s + j * t)
#define PLACE2(a, i, j) ((void *)((a)->data + (i) * (a)->strides[0] + (j) * (a)->strides[1]))
#define PLACE3(a, i, j, k) \\
  ((void *)((a)->data + (i) * (a)->strides[0] + (j) * (a)->strides[1] + (k) * (a)->strides[2]))
static long numbers[3];
static const long *strides(int n) { numbers[0] = 8 * n, numbers[1] = n % 2 ? 8 : 16; return numbers; }
static const long *planes(int n) {
  numbers[0] = 24 * n, numbers[1] = 8 * n, numbers[2] = n % 2 ? 8 : 16;
  return numbers;
}
static const long *steps(int n) {
  for (int k = 0; k < 3; k++) numbers[k] = n % 2 ? 8 : 8 * k;
  return numbers;
}
static const long *in_elements(int n) { numbers[0] = n, numbers[1] = 1; return numbers; }
static char *table[64];
static char **operands(void *a, void *b, void *c) { table[0] = a, table[1] = b, table[2] = c; return table; }
#define WALK(args, n, s) \\
  char *in = args[0], *out = args[1]; const long in_step = s[0], out_step = s[1]; int i; \\
  for (i = 0; i < n; i++, in += in_step, out += out_step)
static double element_at(const array *a, long i, long j) {
  return *(const double *)(a->data + i * a->strides[0] + j * a->strides[1]);
}
static void set_element(array *a, long i, long j, double v) {
  *(double *)(a->data + i * a->strides[0] + j * a->strides[1]) = v;
}
static void add_to_element(array *a, long i, long j, double v) {
  double *p = (double *)(a->data + i * a->strides[0] + j * a->strides[1]);
  *p += v;
}
"""


@pytest.fixture(scope="module")
def comparison(tmp_path_factory):
    return compare(tmp_path_factory.mktemp("strides"), CASES, (1, 2, 3, 4, 7, 16, 33), TOP)


@pytest.mark.parametrize("name", CASES)
def test_strides_in_bytes(comparison, name):
    check(comparison, CASES[name])
