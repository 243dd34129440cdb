"""Elements that iterations update under conditions: which become variables, and where they are copied."""

from __future__ import annotations

import pytest

from polybuild.analysis.dependences import compute_dependences
from polybuild.schedule.legality import check_schedule
from polybuild.storage.element_promotion import promote_elements

PARAMETERS = "int n, double a[restrict n][n], double b[restrict n], int p[restrict n]"
UPDATE = "for (int j = 0; j < n; j++) if (a[i][j] > b[i]) { b[i] = a[i][j]; p[i] = j; }"
SET = "b[i] = 0; p[i] = 0;"


def loop(inside):
    return f"for (int i = 0; i < n; i++) {{ {inside} }}"


def promoted(model, body, taken=()):
    found = model(body, PARAMETERS)
    return found.scop, found.live, promote_elements(found.scop, taken)


def variables(scop):
    return [each.name for each in scop.arrays if each.local]


def test_what_is_set_first_is_only_copied_back(model):
    before, live, after = promoted(model, loop(SET + UPDATE))
    assert sorted(variables(after)) == ["b_each", "p_each"]
    assert len(after.statements) == len(before.statements) + 2
    dependences = compute_dependences(after, live)
    assert {each.array.name for each in dependences.private} == {"b_each", "p_each"}
    check_schedule(after.schedule, dependences, after.domain)


def test_what_another_nest_sets_is_copied_there_and_back(model):
    before, live, after = promoted(model, loop(SET) + loop(UPDATE))
    assert sorted(variables(after)) == ["b_each", "p_each"]
    assert len(after.statements) == len(before.statements) + 4
    dependences = compute_dependences(after, live)
    assert {each.array.name for each in dependences.private} == {"b_each", "p_each"}


@pytest.mark.parametrize(
    "body",
    [
        loop(UPDATE),  # it may be that no element is written
        loop(f"{SET} for (int j = 0; j < n; j++) if (a[i][j] > 0) {{ b[j] = 1; p[j] = i; }}"),
        loop(f"{SET} for (int j = 1; j < n; j++) if (a[i][j] > b[i]) {{ b[i] = b[j - 1]; p[0] = 1; }}"),
    ],
    ids=["perhaps never written", "elements of the inner loop", "other elements besides"],
)
def test_what_stays_in_memory(model, body):
    before, _, after = promoted(model, body)
    assert after is before


def test_names_in_use_are_not_taken(model):
    _, _, after = promoted(model, loop(SET + UPDATE), taken={"b_each"})
    assert sorted(variables(after)) == ["b_each_", "p_each"]
