"""Arrays of the caller that are copied to variables: the same results, and nothing else is touched."""

from __future__ import annotations

import pytest
from region_programs import cases, check, compare

CASES = cases("copies")

# What is copied, and to which variables.
_WINDOW = "3 variables while they are in use: [i] in (i mod 3)"
COPIES = {
    "window": [f"'x' are copied to {_WINDOW}"],
    "windows_of_rows": ["'X' are copied to 5 variables while they are in use: [i][j] in (j mod 5)"],
    "window_of_a_flat_array": ["'x' are copied to 3 variables while they are in use: [i][j] in (j mod 3)"],
    "sums_in_place": ["'y' are copied to a variable while they are in use"],
    "sums_only_written": ["'y' are copied to a variable while they are in use"],
    "in_place": [f"'x' are copied to {_WINDOW}"],
    "downwards": [f"'x' are copied to {_WINDOW}"],
    "narrow_integers": [f"'c' are copied to {_WINDOW}"],
    "two_windows": [f"'x' are copied to {_WINDOW}", f"'z' are copied to {_WINDOW}"],
    "beside_a_statement_that_never_runs": [
        "'X' are copied to 2 variables while they are in use: [i][j] in (i mod 2)"
    ],
    "beside_a_temporary": [f"'x' are copied to {_WINDOW}"],
}


@pytest.fixture(scope="module")
def comparison(tmp_path_factory):
    return compare(tmp_path_factory.mktemp("copies"), CASES, (1, 2, 3, 4, 5, 7, 16, 33))


@pytest.mark.parametrize("name", CASES)
def test_copies(comparison, name):
    check(comparison, CASES[name])
    copied = [each for each in comparison.regions[name].remarks if "copied to" in each]
    assert [each.removeprefix("elements of ") for each in copied] == COPIES.get(name, [])
