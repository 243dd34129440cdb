"""Last values computed apart from the loops: which instances, and that the loops are free then."""

from __future__ import annotations

import islpy as isl

from polybuild.analysis.dependences import compute_dependences
from polybuild.schedule.legality import check_schedule
from polybuild.storage.rematerialisation import recompute_last_values

PARAMETERS = "int n, double a[restrict n][n], double b[restrict n][n], double c[restrict n][n]"
PRODUCT = """for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) {
  s = 0; for (int k = 0; k < n; k++) s += a[i][k] * b[k][j]; c[i][j] = s; }"""


def recomputed(model, body, before="double s;", after="c[0][0] = s;", taken=()):
    found = model(body, PARAMETERS, before=before, after=after)
    return found.scop, found.live, recompute_last_values(found.scop, found.live, taken)


def test_the_last_iteration_is_computed_again(model):
    before, live, (after, last) = recomputed(model, PRODUCT)
    assert [each.name for each in last.scalars] == ["s"]
    again = [each for each in after.statements if each.name in last.statements]
    assert len(after.statements) == len(before.statements) + len(again)
    expected = [
        "[n] -> { S3[i, j] : i = n - 1 and j = n - 1 and n > 0 }",
        "[n] -> { S4[i, j, k] : i = n - 1 and j = n - 1 and 0 <= k < n }",
    ]
    assert all(one.domain.is_equal(isl.Set(text)) for one, text in zip(again, expected, strict=True))
    dependences = compute_dependences(after, live)
    assert [each.array.name for each in dependences.private] == ["s_each"]
    check_schedule(after.schedule, dependences, after.domain)


def test_names_in_use_are_not_taken(model):
    _, _, (after, _) = recomputed(model, PRODUCT, taken={"s_each", "s_each_"})
    assert "s_each__" in {each.name for each in after.arrays}


def test_a_sum_of_all_iterations_stays(model):
    before, _, (after, last) = recomputed(
        model, "for (int i = 0; i < n; i++) { s += a[i][0]; c[i][0] = s; }", before="double s = 0;"
    )
    assert after is before
    assert not last.scalars
    assert not last.statements


def test_what_is_overwritten_is_read_before_the_loops(model):
    body = "for (int i = 0; i < n; i++) { s = a[i][0]; a[i][0] = 2 * s; }"
    _, live, (after, last) = recomputed(model, body)
    (again,) = last.statements
    first = next(isl.UnionSet.from_set(each.domain) for each in after.statements if each.name == again)
    order = after.schedule.get_map().intersect_domain(after.domain)
    later = order.lex_lt_union_map(order).intersect_domain(first).range()
    assert later.is_equal(after.domain.subtract(first))
    check_schedule(after.schedule, compute_dependences(after, live), after.domain)


def test_what_is_overwritten_before_and_after_stays(model):
    body = "for (int i = 0; i < n; i++) { a[i][0] += 1; s = a[i][0]; a[i][0] = 2 * s; }"
    before, _, (after, _) = recomputed(model, body)
    assert after is before
