"""Private values in the elements they end up in, and what keeps them from there."""

from __future__ import annotations

import islpy as isl
import pytest

from polybuild.analysis.dependences import compute_dependences
from polybuild.schedule.legality import check_schedule
from polybuild.storage.coalescing import coalesce_private

PARAMETERS = (
    "int n, double a[restrict n][n], double b[restrict n][n], double c[restrict n][n], float d[restrict n][n]"
)
SUM = "for (int k = 0; k < n; k++) s += a[i][k] * b[k][j];"


def nest(inside: str) -> str:
    return f"for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) {{ {inside} }}"


def coalesced(model, body, **around):
    found = model(body, PARAMETERS, **around)
    return found.scop, coalesce_private(found.scop, found.live)


def names(scop):
    return [each.name for each in scop.arrays]


def test_a_scalar_product_becomes_that_of_arrays(model):
    _, scop = coalesced(model, nest(f"double s = 0; {SUM} c[i][j] = s;"))
    assert [each.name for each in scop.statements] == ["S0", "S1"]
    assert "s" not in names(scop)
    relation = next(each.relation for each in scop.statements[1].accesses if each.array.name == "c")
    assert relation.is_equal(
        isl.Map("[n] -> { S1[i, j, k] -> c[i, j] : 0 <= i < n and 0 <= j < n and 0 <= k < n }")
    )
    check_schedule(scop.schedule, compute_dependences(scop, frozenset()), scop.domain)


def test_values_that_another_web_took_along_are_where_they_should_be(model):
    """The root is in the diagonal when it is asked for: the sum before it went there."""
    body = """for (int j = 0; j < n; j++) { double d = a[j][j];
        for (int k = 0; k < j; k++) d -= a[j][k] * a[j][k];
        d = sqrt(d); a[j][j] = d;
        for (int i = j + 1; i < n; i++) { double s = a[i][j];
        for (int k = 0; k < j; k++) s -= a[i][k] * a[j][k]; a[i][j] = s / d; } }"""
    _, scop = coalesced(model, body)
    assert names(scop) == ["a"]


@pytest.mark.parametrize(
    ("inside", "left"),
    [
        (f"double s = c[i][j]; {SUM} c[i][j] = s;", 1),  # nothing but the update
        (f"double s = 2 * c[i][j]; {SUM} c[i][j] = 3 * s;", 3),
        (f"double s = 0; {SUM} c[i][j] = s; c[j][i] = s;", 3),
    ],
)
def test_first_and_last_values_may_be_of_the_element(model, inside, left):
    before, after = coalesced(model, nest(inside))
    assert "s" not in names(after)
    assert len(after.statements) == left
    assert len(before.statements) > len(after.statements) or left == 3


@pytest.mark.parametrize(
    "inside",
    [
        f"double s = 0; {SUM} c[i][j] += s;",  # its old value is needed
        f"double s = 0; {SUM} d[i][j] = s;",  # another type
        f"double s = 0; {SUM} if (a[i][j] > 0) c[i][j] = s;",  # perhaps it keeps its value
        f"double s = 0; {SUM} if (i > j) c[i][j] = s;",  # most keep theirs
        f"double s = 0; {SUM} c[0][0] = s + c[i][j]; c[i][j] = c[0][0];",
        "double s = 0; for (int k = 0; k < n; k++) s += c[i][k] * b[k][j]; c[i][j] = s;",  # read meanwhile
        "double s = 0; for (int k = 0; k < n; k++) { s += a[i][k]; c[i][j] = k; } c[i][j] += s;",
    ],
)
def test_values_stay_where_elements_are_needed_otherwise(model, inside):
    before, after = coalesced(model, nest(inside))
    assert after is before


def test_a_variable_that_is_read_after_the_region_stays(model):
    body = nest(f"s = 0; {SUM} c[i][j] = s;")
    before, after = coalesced(model, body, before="double s;", after="c[0][0] = s;")
    assert after is before


def test_a_row_goes_to_its_row(model):
    body = """for (int i = 0; i < n; i++) {
        double r[n];
        for (int j = 0; j < n; j++) r[j] = 0;
        for (int k = 0; k < n; k++) for (int j = 0; j < n; j++) r[j] += a[i][k] * b[k][j];
        for (int j = 0; j < n; j++) c[i][j] = r[j];
    }"""
    _, after = coalesced(model, body)
    assert len(after.statements) == 2
    assert "r" not in names(after)


def test_two_values_do_not_share_an_element(model):
    body = nest(
        "double s = 0, t = 0; for (int k = 0; k < n; k++) { s += a[i][k]; t += b[k][j]; } c[i][j] = s * t;"
    )
    _, after = coalesced(model, body)
    assert len({"s", "t"} & set(names(after))) == 1


def test_few_iterations_are_left_to_the_compiler(model):
    inside = "double s = 0; for (int k = 0; k < 9; k++) s += a[i][k]; c[i][j] = s;"
    before, after = coalesced(model, nest(inside))
    assert after is before


def test_one_array_may_be_reached_by_several_statements(model):
    body = nest(f"double s = 0; {SUM} if (i == j) c[i][i] = 2 * s; else c[i][j] = s;")
    _, after = coalesced(model, body)
    assert "s" not in names(after)
    assert len(after.statements) == 3  # the value beside the diagonal is where it goes


def test_values_for_two_arrays_are_made_by_two_statements(model):
    body = nest(f"double s = 1; {SUM} if (j < i) c[i][j] = s; else b2[i][j] = s;")
    found = model(body, PARAMETERS + ", double b2[restrict n][n]")
    after = coalesce_private(found.scop, found.live)
    assert "s" not in names(after)
    updates = [each for each in after.statements if len(each.iterators) == 3]
    assert len(updates) == 2
    assert updates[0].domain.set_tuple_name("").is_disjoint(updates[1].domain.set_tuple_name(""))
    assert {each.accesses[-1].array.name for each in updates} == {"c", "b2"}
    check_schedule(after.schedule, compute_dependences(after, frozenset()), after.domain)


@pytest.mark.parametrize(
    "uses",
    [
        "if (j <= i) c[i][j] = s; if (j >= i) b2[i][j] = s;",  # both on the diagonal
        "if (j < i) c[i][j] = s; else b2[i][j] += s;",  # what was there is needed
        "if (j < i) c[i][j] = s;",  # some end up nowhere
    ],
)
def test_values_that_two_arrays_cannot_hold_stay(model, uses):
    found = model(nest(f"double s = 0; {SUM} {uses}"), PARAMETERS + ", double b2[restrict n][n]")
    assert coalesce_private(found.scop, found.live) is found.scop
