"""What the threads of a warp ask memory for at once."""

from __future__ import annotations

import pytest
from device_regions import MATRICES, PRODUCT

ROWS = "int n, double a[restrict n][n], double b[restrict n][n], double x[restrict n], int *restrict c"
NEST = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) {}"


def requests(planned, body, parameters=ROWS, **options):
    """The sectors, and those that would do, by array and whether it is written."""
    tree = planned(body, parameters, **options).plan.tree
    return {
        (one.array.name, one.writes): (one.sectors, one.minimum)
        for each in tree.requests.values()
        for one in each
    }


@pytest.mark.parametrize(
    ("statement", "wanted"),
    [
        ("a[i][j] = b[i][j];", {("a", True): (8, 8), ("b", False): (8, 8)}),
        ("a[i][j] = b[i][j] + b[i][0];", {("a", True): (8, 8), ("b", False): (8, 8)}),
        ("a[i][j] = x[i];", {("a", True): (8, 8), ("x", False): (1, 1)}),
        ("a[i][j] = b[j][i];", {("a", True): (8, 8)}),  # which goes through shared memory
        ("a[j][i] = 0; b[i][j] = 1;", {("a", True): (32, 8), ("b", True): (8, 8)}),
        ("a[i][j] = x[c[j] % 9 + 9];", {("a", True): (8, 8), ("c", False): (4, 4), ("x", False): (32, 8)}),
    ],
)
def test_neighbours_share_sectors(planned, statement, wanted):
    """32 doubles of neighbours are 8 sectors of 32 bytes; what lies apart has one each."""
    assert requests(planned, NEST.format(statement.join("{}"))) == wanted


def test_what_lies_in_registers_and_shared_memory_is_not_asked_for(planned):
    assert requests(planned, PRODUCT, MATRICES) == {}


@pytest.mark.parametrize(
    ("before", "after", "wanted"),
    [
        ("a[i][j] = x[j];", "", {("x", False): (4, 2)}),
        ("a[i][j] *= b[j][i];", "", {("b", False): (16, 8)}),
        ("a[i][j] = 0;", "a[i][j] += x[i];", {("x", False): (2, 1)}),
        ("a[i][j] = 0;", "b[i][j] = a[i][j] + b[i][j];", {("b", False): (16, 8), ("b", True): (16, 8)}),
    ],
)
def test_prologues_and_epilogues(planned, before, after, wanted):
    """The threads of a warp lie 4 by 8, with results at every other place."""
    product = f"{{ {before} for (int k = 0; k < n; k++) a[i][j] += d[i][k] * e[k][j]; {after} }}"
    parameters = f"{ROWS}, double d[restrict n][n], double e[restrict n][n]"
    assert requests(planned, NEST.replace("{}", product), parameters) == wanted


def test_steps_of_tiles_over_time(planned):
    """The plane that is read takes turns; threads of a row are neighbours in both."""
    body = """
      for (int t = 0; t < n; t++)
        for (int i = 1; i < n - 1; i++)
          for (int j = 1; j < n - 1; j++)
            u[(t + 1) % 2][i][j] = u[t % 2][i - 1][j] + u[t % 2][i][j + 1] + u[t % 2][i][j - 1];"""
    found = requests(planned, body, "int n, float u[restrict 2][n][n]", tile_shape="hybrid")
    assert found == {("u", False): (4, 4), ("u", True): (4, 4)}
