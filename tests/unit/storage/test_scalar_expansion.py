"""Private variables as arrays over the loops they are private to."""

from __future__ import annotations

import islpy as isl

from polybuild.analysis.dependences import compute_dependences
from polybuild.poly.relations import maps_of
from polybuild.schedule.legality import check_schedule
from polybuild.storage.scalar_expansion import expand_private

PARAMETERS = "int n, double a[restrict n][n], double b[restrict n][n], double c[restrict n][n]"
SCALED = """for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) {
    double s = 0;
    for (int k = 0; k < n; k++) s += a[i][k] * b[k][j];
    c[i][j] = 2 * s + c[i][j];
}"""


def expanded(model, body):
    found = model(body, PARAMETERS)
    return expand_private(found.scop, found.live)


def test_each_iteration_has_its_own_sum(model):
    found = expanded(model, SCALED)
    (array,) = found.arrays
    assert (found.depth, len(array.extents), array.element.name) == (2, 2, "double")
    dependences = compute_dependences(found.scop, frozenset())
    check_schedule(found.scop.schedule, dependences, found.scop.domain)
    for each in maps_of(dependences.validity):  # nothing goes from one i or j to another
        same = isl.Map.universe(each.get_space())
        same = same.equate(isl.dim_type.in_, 0, isl.dim_type.out, 0).equate(
            isl.dim_type.in_, 1, isl.dim_type.out, 1
        )
        assert each.is_subset(same)


def test_what_ends_in_its_iteration_stays(model):
    body = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) { double t = a[i][j]; c[i][j] = t * t; }"
    assert expanded(model, body) is None


def test_statements_outside_of_the_loops_leave_it_as_it_is(model):
    assert expanded(model, f"{SCALED} for (int i = 0; i < n; i++) a[i][0] = 1;") is None
