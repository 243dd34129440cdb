"""The affine constructs of C and the semantics of its integers: transformed, with the same results."""

from __future__ import annotations

import pytest
from region_programs import cases, check, compare

CASES = cases("affine")
TOP = """
#define max(a, b) ((a) > (b) ? (a) : (b))
#define min(a, b) ((a) < (b) ? (a) : (b))
#define floord(n, d) ((n) < 0 ? -((-(n) + (d) - 1) / (d)) : (n) / (d))
#define ceild(n, d) ((n) < 0 ? -((-(n)) / (d)) : ((n) + (d) - 1) / (d))
"""


@pytest.fixture(scope="module")
def comparison(tmp_path_factory):
    return compare(tmp_path_factory.mktemp("affine"), CASES, (1, 2, 3, 7, 16, 33), TOP)


@pytest.mark.fast
@pytest.mark.parametrize("name", CASES)
def test_affine_code(comparison, name):
    check(comparison, CASES[name])
