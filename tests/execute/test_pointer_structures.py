"""Structures behind arrays of pointers (``p[i]->x[j]``): apart in memory, or the original loops run."""

from __future__ import annotations

import pytest
from region_programs import cases, check, compare

CASES = cases("pointer-structures")
TOP = """
typedef struct node { int n; double *x; double y, z, w[3]; struct node *other; } node;
typedef struct { node **nodes; int count; } graph;
static node **nodes_of(double *x, int count, int n) {
  node **v = malloc((count + 1) * sizeof *v);
  for (int i = 0; i < count; i++) {
    v[i] = malloc(sizeof **v);
    *v[i] = (node){n, x + i * n, i, 2 * i, {i, 3, 1}, v[i ? i - 1 : 0]};
  }
  return v;
}
static void drop(node **v, int count, double *y) {
  for (int i = 0; i < count; i++) y[i] += v[i]->y + 2 * v[i]->z + v[i]->w[1] + v[i]->w[2];
  for (int i = 0; i < count; i++) free(v[i]);
  free(v);
}
static void scaled(node *q, double by) { for (int j = 0; j < q->n; j++) q->x[j] *= by; }
static void moved(node *q, double by) { q->y += by; q->z -= by; }
static double length(const node *q) { return q->y * q->y + q->z * q->z; }
"""


@pytest.fixture(scope="module")
def comparison(tmp_path_factory):
    return compare(tmp_path_factory.mktemp("structures"), CASES, (1, 2, 3, 7, 16, 33), TOP)


@pytest.mark.parametrize("name", CASES)
def test_structures_behind_pointers(comparison, name):
    check(comparison, CASES[name])
