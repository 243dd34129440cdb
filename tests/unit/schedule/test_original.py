"""What the original order's loops carry, and which of them are one band."""

from __future__ import annotations

import islpy as isl
import pytest

from polybuild.poly.trees import descendants, is_band
from polybuild.schedule.legality import check_schedule
from polybuild.schedule.original import original_bands, original_loops

PARAMETERS = "int n, double a[restrict n][n], double b[restrict n][n], double x[restrict n], double *s"
NEST = "for (int i = 1; i < n; i++) for (int j = 1; j < n - 1; j++)"


@pytest.mark.parametrize(
    ("body", "bands"),
    [
        (f"{NEST} a[i][j] = b[j][i];", [[1, 1]]),
        (f"{NEST} a[i][j] = a[i - 1][j];", [[0, 1]]),
        (f"{NEST} a[i][j] = a[i - 1][j - 1] + a[i - 1][j + 1];", [[0], [1]]),
        (f"{NEST} {{ double t = b[i][j]; a[i][j] = t * t; }}", [[1, 1]]),
        (f"{NEST} x[i] += a[i][j];", [[1, 0]]),
        (
            "for (int i = 0; i < n; i++) { x[i] = 0; for (int j = 0; j < n; j++) x[i] += a[i][j]; }",
            [[1], [0]],
        ),
        ("for (int i = 1; i < n; i++) { x[i] = 2; a[i][0] = x[i - 1]; }", [[0]]),
    ],
)
def test_bands(model, body, bands):
    found = model(body, PARAMETERS)
    schedule = original_bands(found.scop, found.dependences)
    check_schedule(schedule, found.dependences, found.scop.domain)
    assert schedule.get_map().is_equal(found.scop.schedule.get_map())
    assert [
        [int(each.band_member_get_coincident(position)) for position in range(each.band_n_member())]
        for each in descendants(schedule.get_root())
        if is_band(each)
    ] == bands


@pytest.mark.parametrize(
    ("body", "up"),
    [
        ("for (int i = n - 1; i >= 0; i--) for (int j = n - 1; j > 0; j--) a[i][j] = b[i][j];", [True, True]),
        (
            "for (int i = n - 2; i >= 0; i--) for (int j = n - 1; j > 0; j--) a[i][j] = a[i + 1][j];",
            [False, True],
        ),
    ],
)
def test_loops_that_carry_nothing_count_up(model, body, up):
    found = model(body, PARAMETERS)
    schedule = original_bands(found.scop, found.dependences)
    check_schedule(schedule, found.dependences, found.scop.domain)
    (band,) = filter(is_band, descendants(schedule.get_root()))
    aff = [
        band.band_get_partial_schedule().get_union_pw_aff(at).get_pw_aff_list().get_at(0).get_pieces()[0][1]
        for at in range(2)
    ]
    signs = [each.get_coefficient_val(isl.dim_type.in_, at).sgn() for at, each in enumerate(aff)]
    assert [each > 0 for each in signs] == up


@pytest.mark.parametrize(
    ("body", "loops"),
    [
        (f"{NEST} a[i][j] = b[j][i];", [1, 1]),
        (f"{NEST} a[i][j] = a[i - 1][j];", [0, 1]),
        (f"for (int t = 0; t < n; t++) {NEST} a[i][j] = b[i][j] + t;", [0, 1, 1]),
        (f"{NEST} x[i] += a[i][j];", [1, 0]),
    ],
)
def test_loops(model, body, loops):
    found = model(body, PARAMETERS)
    schedule = original_loops(found.scop, found.dependences)
    check_schedule(schedule, found.dependences, found.scop.domain)
    assert schedule.get_map().is_equal(found.scop.schedule.get_map())
    bands = [each for each in descendants(schedule.get_root()) if is_band(each)]
    assert all(each.band_n_member() == 1 for each in bands)
    assert [int(each.band_member_get_coincident(0)) for each in bands] == loops
