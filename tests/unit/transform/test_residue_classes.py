"""Loops over alternating storage: which get a statement for each step of a period."""

from __future__ import annotations

import islpy as isl
import pytest

from polybuild.analysis.dependences import compute_dependences
from polybuild.schedule.legality import IllegalSchedule, check_schedule
from polybuild.transform import residue_classes
from polybuild.transform.residue_classes import split_residue_classes

PARAMETERS = "int n, int steps, double u[4][n][n], double a[restrict n][n]"
SUM = "for (int j = 0; j < 7; j++) for (int k = 0; k < 7; k++)"
SPACE = "for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++)"
TIME = "for (int t = 0; t < steps; t++)"


def split(model, body):
    found = model(body, PARAMETERS)
    after = split_residue_classes(found.scop)
    check_schedule(after.schedule, compute_dependences(after, frozenset()), after.domain)
    assert after.schedule.get_map().is_injective()  # else it is no order of the instances
    return found.scop, after


@pytest.mark.parametrize(
    ("body", "count"),
    [
        (f"{TIME} {SPACE} u[(t + 1) % 2][i][j] = u[t % 2][i - 1][j];", 2),
        (f"{TIME} {SPACE} u[(t + 1) % 3][i][j] = u[t % 3][i - 1][j];", 3),
        (f"{TIME} {SPACE} u[(t & 3) ^ 1][i][j] = u[t & 3][i - 1][j];", 4),
        (f"{TIME} {{ {SPACE} u[t % 2][i][j] = a[i][j]; {SPACE} a[i][j] = u[1 - t % 2][i + 1][j]; }}", 4),
        (f"{TIME} if (t % 2) {SPACE} u[0][i][j] = u[1][i][j]; else {SPACE} u[1][i][j] = u[0][i - 1][j];", 2),
        (f"for (int t = steps; t > 0; t--) {SPACE} u[t % 2][i][j] = u[(t + 1) % 2][i - 1][j];", 2),
        (f"for (int l = 0; l < 9; l++) {TIME} {SPACE} u[(t + 1) % 2][i][j] = u[t % 2][i - 1][j] + l;", 2),
    ],
)
def test_each_step_of_a_period_has_its_statements(model, body, count):
    _, after = split(model, body)
    assert len(after.statements) == count
    for statement in after.statements:
        assert not statement.domain.involves_locals()
        assert not any(each.relation.wrap().involves_locals() for each in statement.accesses)


@pytest.mark.parametrize(
    "body",
    [
        f"{TIME} {SPACE} u[1][i][j] = u[0][i - 1][j] + t % 2;",
        f"{SPACE} a[i / 2][j] += u[0][i][j];",
        f"{SPACE} if (i % 2) a[i][j] = u[0][i - 1][j];",
        f"{TIME} {SPACE} a[i][j] += u[t % 2][i / 2][j];",
        f"for (int b = 0; b < n; b += 16) for (int i = b; i < b + 16; i++) {SUM} a[i][0] += u[0][j][k];",
        f"{TIME} {{ {SPACE} a[i][j] = u[0][i][j]; if (t % 4 == 0) {SPACE} u[1][0][0] += a[i][j]; }}",
        f"{TIME} {SPACE} u[(t + 1) % 5 % 4][i][j] = u[t % 5 % 4][i - 1][j];",
    ],
)
def test_other_divisions_are_left_alone(model, body):
    before, after = split(model, body)
    assert after is before


def test_a_split_in_another_order_is_found(model, monkeypatch):
    monkeypatch.setattr(
        residue_classes, "_in_phases", lambda schedule, *_: isl.Schedule.from_domain(schedule.get_domain())
    )
    with pytest.raises(IllegalSchedule, match="into another order"):
        split(model, f"{TIME} {SPACE} u[(t + 1) % 2][i][j] = u[t % 2][i - 1][j];")


def test_bodies_keep_the_value_of_the_time(model):
    _, after = split(model, f"{TIME} {SPACE} u[(t + 1) % 2][i][j] = u[t % 2][i - 1][j] + t;")
    even, odd = after.statements
    for statement, first in ((even, 0), (odd, 1)):
        cast = statement.body.rvalue.right
        assert cast.expr.left.left.value == "2"
        assert cast.expr.right.value == str(first)


def instances(scop):
    """How many instances there are where all parameters are seven."""
    seven = isl.Set("[n, steps] -> { : n = 7 and steps = 7 }")
    return sum(
        each.domain.intersect_params(seven).project_out_all_params().count_val().to_python()
        for each in scop.statements
    )


def test_loops_in_steps_after_one_that_is_split_keep_their_instances(model):
    step = "u[(t + 1) % 2][i][j] = u[t % 2][i - 1][j];"
    strided = "for (int i = 1; i < n - 1; i += 2) for (int j = 0; j < n; j += 3)"
    before, after = split(model, f"{TIME} {SPACE} {step} {TIME} {strided} {step}")
    assert len(after.statements) == 4
    assert instances(after) == instances(before)


def test_instances_that_are_lost_are_found(model, monkeypatch):
    classes = residue_classes.instances_in_phases

    def without_last(*given):
        *found, last = classes(*given)
        return [*found, isl.Set.empty(last.get_space())]

    monkeypatch.setattr(residue_classes, "instances_in_phases", without_last)
    with pytest.raises(IllegalSchedule, match="in no residue class"):
        split(model, f"{TIME} {SPACE} u[(t + 1) % 2][i][j] = u[t % 2][i - 1][j];")
