"""Subscripts chosen by conditions and remainders: modelled piece by piece, with the same results."""

from __future__ import annotations

import pytest
from region_programs import cases, check, compare

CASES = cases("piecewise")
TOP = """
#define max(a, b) ((a) > (b) ? (a) : (b))
#define min(a, b) ((a) < (b) ? (a) : (b))
#define AT(i, j) ((j) + (i) * n)
#define CLAMP(i) ((i) < 0 ? 0 : (i) > n - 1 ? n - 1 : (i))
#define WRAP(i) ((i) % n)
static inline int clamped(int i, int n) { return i < 0 ? 0 : i >= n ? n - 1 : i; }
static inline int wrapped(int i, int n) { return (i + n) % n; }
static inline int upwind(double v, int i) { return v < 60 ? i + 1 : i - 1; }
"""


@pytest.fixture(scope="module")
def comparison(tmp_path_factory):
    return compare(tmp_path_factory.mktemp("piecewise"), CASES, (1, 2, 3, 4, 7, 16, 33), TOP)


@pytest.mark.fast(name=["torus_flat", "neighbours_chosen"])
@pytest.mark.parametrize("name", CASES)
def test_piecewise_subscripts(comparison, name):
    check(comparison, CASES[name])
