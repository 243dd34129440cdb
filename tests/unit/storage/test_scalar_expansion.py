"""Private variables as arrays over the loops they are private to."""

from __future__ import annotations

from dataclasses import replace

import islpy as isl
import pytest

from polybuild.analysis.dependences import compute_dependences
from polybuild.poly.relations import maps_of
from polybuild.schedule.legality import check_schedule
from polybuild.storage.scalar_expansion import expand_private, private_nests

PARAMETERS = "int n, double a[restrict n][n], double b[restrict n][n], double c[restrict n][n]"
SCALED = """for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) {
    double s = 0;
    for (int k = 0; k < n; k++) s += a[i][k] * b[k][j];
    c[i][j] = 2 * s + c[i][j];
}"""


def expanded(model, body):
    found = model(body, PARAMETERS)
    nests = private_nests(found.scop, found.dependences, found.live)
    return expand_private(found.scop, nests) if nests else None


def test_each_iteration_has_its_own_sum(model):
    found = expanded(model, SCALED)
    (nest,) = found.nests
    (array,) = nest.arrays
    assert (nest.nest.depth, len(array.extents), array.element.name) == (2, 2, "double")
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


def test_other_nests_stay_as_they_are(model):
    found = expanded(model, f"for (int i = 0; i < n; i++) a[i][0] = 1; {SCALED} {SCALED}")
    assert [sorted(each.nest.statements) for each in found.nests] == [["S1", "S2", "S3"], ["S4", "S5", "S6"]]
    assert len({array.name for each in found.nests for array in each.arrays}) == 2


@pytest.mark.parametrize(
    "body",
    [
        """for (int i = 1; i < n; i++) { double s = 0;
           for (int k = 0; k < n; k++) s += a[i][k]; a[i - 1][0] = s; }""",
        """for (int i = 0; i < n; i++) { double s = 0;
           for (int k = 0; k < n; k++) s += a[0][k]; a[0][0] = s; }""",
    ],
)
def test_loops_that_need_their_order_stay(model, body):
    assert expanded(model, body) is None


def test_rows_have_the_cells_that_statements_touch(model):
    found = expanded(
        model,
        """for (int i = 0; i < n; i++) { double r[n];
           for (int j = 0; j < n; j++) r[j] = 0;
           for (int k = 0; k < n; k++) for (int j = 0; j < n; j++) r[j] += a[i][k] * b[k][j];
           for (int j = 0; j < n; j++) c[i][j] += r[j]; }""",
    )
    (nest,) = found.nests
    assert nest.nest.depth == 2
    place = isl.UnionMap.from_union_pw_aff(nest.nest.coordinates[1])
    assert place.is_equal(
        isl.UnionMap(
            "[n] -> { S0[i, j] -> [j] : 0 <= i < n and 0 <= j < n;"
            " S2[i, j] -> [j] : 0 <= i < n and 0 <= j < n;"
            " S1[i, k, j] -> [j] : 0 <= i < n and 0 <= j < n and 0 <= k < n }"
        )
    )


def test_a_value_of_another_iteration_is_noticed(model):
    """A lane must not see the variable of another one: a web that is taken for too private is refused."""
    found = model(
        """for (int i = 0; i < n; i++) { double s = 0;
           for (int j = 0; j < n; j++) for (int k = 0; k < n; k++) s += a[j][k]; c[i][0] = s; }""",
        PARAMETERS,
    )
    (nest,) = private_nests(found.scop, found.dependences, found.live)
    (web,) = nest.webs
    assert web.depth == 1
    assert expand_private(found.scop, [nest]) is not None
    last = replace(web, readers=web.readers - {"S2"}, writers=web.writers)
    assert expand_private(found.scop, [replace(nest, webs=(last,))]) is None


def test_small_arrays_have_their_elements_outside(model):
    found = expanded(
        model,
        """for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) { double s[2];
           for (int l = 0; l < 2; l++) s[l] = l;
           for (int k = 0; k < n; k++) { s[0] += a[i][k] * b[k][j]; s[1] += a[k][i] * b[k][j]; }
           c[i][j] = s[0] * s[1]; }""",
    )
    (nest,) = found.nests
    for array in nest.arrays:
        (statement, *_) = (
            each
            for each in found.scop.statements
            if {array.name, "b"} <= {access.array.name for access in each.accesses}
        )
        (relation,) = {
            str(access.relation) for access in statement.accesses if access.array.name == array.name
        }
        element = isl.Map(relation).range()
        assert element.dim_max_val(0).to_python() == element.dim_min_val(0).to_python()


def test_nests_within_a_loop_that_keeps_its_order(model):
    found = expanded(
        model,
        f"""for (int t = 0; t < 9; t++) {{ {SCALED}
            for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) a[i][j] = c[i][j]; }}""",
    )
    (nest,) = found.nests
    assert (nest.nest.outer, nest.nest.depth, sorted(nest.nest.statements)) == (1, 2, ["S0", "S1", "S2"])
    assert [len(each.extents) for each in nest.arrays] == [2]
