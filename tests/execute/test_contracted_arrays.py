"""Temporary arrays in small buffers: the same results, and the buffers one expects."""

from __future__ import annotations

import re

import pytest
from region_programs import cases, check, compare

CASES = cases("temporaries")

# What each array is kept in, where it is not left alone.
BUFFERS = {
    "blur": ["'t' is kept in a buffer of 3 x 3 elements"],
    "blur_other_way": ["'t' is kept in a buffer of 2 x 2 elements"],
    "two_stages": [
        "'s' is kept in a buffer of 2 x 3 elements",
        "'t' is kept in a buffer of 2 x 3 elements",
    ],
    "values_kept_long": ["'t' is kept in a variable"],  # one loop runs backwards
    "pairs_in_line": ["'t' is kept in a buffer of 3 elements"],
    "scalar_per_step": ["'t' is kept in a variable"],
    "overwritten": ["'t' is kept in a variable"],
    "convolution_then_clipped": ["'t' is kept in a variable"],
    "fibonacci": ["'f' is kept in a buffer of 2 elements"],
    "sums_in_any_order": ["'t' is kept in a buffer of 2048 elements"],
    "named_by_pragma": ["'t' is kept in a buffer of 2 elements"],
    "of_integers": ["'t' is kept in a variable"],
    "one_side_never_runs": ["'t' is kept in a buffer of 5 elements"],
    "named_where_nothing_runs": ["'t' is kept in a variable"],
    "unrolled": ["'t' is kept in a buffer of 5 elements"],
}


@pytest.fixture(scope="module")
def comparison(tmp_path_factory):
    return compare(tmp_path_factory.mktemp("temporaries"), CASES, (1, 2, 3, 7, 16, 33))


@pytest.mark.fast
@pytest.mark.parametrize("name", CASES)
def test_temporary_arrays(comparison, name):
    check(comparison, CASES[name])
    kept = [each for each in comparison.regions[name].remarks if "kept in" in each]
    assert [re.sub(" instead of .* elements", "", each) for each in kept] == BUFFERS.get(name, [])


@pytest.mark.fast
def test_why_a_named_array_stays(comparison):
    (remark,) = comparison.regions["named_but_read_first"].remarks
    assert remark == "'t' stays in memory: elements may be read that the region has not written"
