"""Which hyperplanes move along dimensions of arrays that grow with a parameter."""

from __future__ import annotations

import islpy as isl
import pytest

from polybuild.storage.contraction import StorageMapping
from polybuild.storage.tiling import crossing_members

PARAMETERS = "int n, double a[restrict n][n]"
GROWING = StorageMapping(((1, 0), (0, 1)), (isl.PwAff("[n] -> { [n] }"), isl.PwAff("[n] -> { [3] }")))


HYPERPLANES = "[{ S0[i, j] -> [(i)] }, { S0[i, j] -> [(j)] }]"


@pytest.mark.parametrize(
    ("loops", "element", "hyperplanes", "found"),
    [
        ("for (int j = 0; j < n; j++)", "a[i][j]", HYPERPLANES, [0]),
        ("for (int j = 0; j < n; j++)", "a[i][j]", "[{ S0[i, j] -> [(j)] }, { S0[i, j] -> [(i + j)] }]", [1]),
        ("for (int j = 3; j < n; j += 2)", "a[i][j]", HYPERPLANES, [0]),
        # a subscript whose coefficients are fractions: no steps are known
        ("for (int j = 3; j < n; j += 2)", "a[i][j % 3]", HYPERPLANES, []),
    ],
)
def test_crossing_members(model, loops, element, hyperplanes, found):
    scop = model(f"for (int i = 0; i < n; i++) {loops} {element} += 1;", PARAMETERS).scop
    band = isl.MultiUnionPwAff(f"[n] -> {hyperplanes}")
    assert crossing_members(scop, band, {"a": GROWING}) == found
