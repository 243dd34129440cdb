"""Counters with strides, counted in steps."""

from __future__ import annotations

import islpy as isl
import pytest
from pycparser.c_generator import CGenerator

from polybuild.analysis.dependences import compute_dependences
from polybuild.schedule.legality import check_schedule
from polybuild.scop.strides import count_steps

PARAMETERS = "int n, double x[restrict n], double y[restrict n]"


def test_strides_are_gone_and_the_order_stays(model):
    made = model("for (int i = 3; i < n - 1; i += 4) { x[i] += x[i - 1]; x[i + 1] += x[i]; }", PARAMETERS)
    scop = count_steps(made.scop)
    for statement, name, offset in zip(scop.statements, ("S0", "S1"), (3, 4), strict=True):
        expected = isl.Set(f"[n] -> {{ {name}[i] : 0 <= i and 4i + 4 < n }}")
        assert statement.domain.is_equal(expected)
        assert not statement.domain.involves_locals()
        write = isl.Map(f"[n] -> {{ {name}[i] -> x[4i + {offset}] }}").intersect_domain(expected)
        assert statement.accesses[-1].relation.is_equal(write)
    order = scop.schedule.get_map()
    pair = isl.UnionMap("[n] -> { S1[0] -> S0[1] : n > 9 }")
    assert pair.is_subset(order.lex_lt_union_map(order))
    check_schedule(scop.schedule, compute_dependences(scop, frozenset()), scop.domain)


def test_starts_at_remainders_and_downwards(model):
    made = model("for (int i = n - 1; i >= 0; i -= 2) x[i] = y[i];", PARAMETERS)
    (statement,) = count_steps(made.scop).statements
    assert not statement.domain.gist_params(statement.domain.params()).involves_locals()
    written = statement.accesses[-1].relation.range()
    assert written.is_equal(made.scop.statements[0].accesses[-1].relation.range())


def test_bodies_compute_with_what_the_counter_was(model):
    scop = count_steps(model("for (int i = 1; i < n; i += 2) x[i] = i;", PARAMETERS).scop)
    (statement,) = scop.statements
    steps = isl.Set("[n] -> { S0[i] : 0 <= i and 2i + 1 < n }")
    assert statement.domain.is_equal(steps)
    written = isl.Map("[n] -> { S0[i] -> x[2i + 1] }").intersect_domain(steps)
    assert statement.accesses[-1].relation.is_equal(written)
    assert CGenerator().visit(statement.body.rvalue) == "(int) ((2 * i) + 1)"


@pytest.mark.parametrize(
    "body",
    [
        "for (int i = 0; i < n; i++) x[i] = 0;",
        "for (int i = 0; i < n; i++) x[i] = i;",
        # the start is no number, so the value of the counter cannot be written from steps
        "for (int i = n % 2; i < n; i += 2) x[i] = i;",
    ],
)
def test_other_counters_stay(model, body):
    scop = model(body, PARAMETERS).scop
    assert count_steps(scop) is scop


@pytest.mark.parametrize(
    "body",
    [
        # the inner counter has the stride, as its start depends on the outer one
        "for (int i = 0; i < n; i++) for (int j = i + 2; j < n; j += 2) x[n * i + j] = 0;",
        # both have one, and the inner one starts at the outer one
        "for (int i = 1; i < n; i += 3) for (int j = i; j < n; j += 2) x[n * i + j] = 0;",
        (
            "for (int i = 0; i < n; i += 2) for (int j = i + 3; j < n; j += 4)"
            " for (int k = i + j; k < 2 * n; k += 3) x[2 * n * n * i + 2 * n * j + k] = 0;"
        ),
    ],
)
def test_no_instance_is_lost(model, body):
    scop = model(body, "int n, double x[restrict n * n * n * n]").scop
    (old,), (new,) = scop.statements, count_steps(scop).statements
    fixed = isl.Set("[n] -> { : n = 13 }")
    points = {id(each): [] for each in (old, new)}
    for each in (old, new):
        each.domain.intersect_params(fixed).foreach_point(points[id(each)].append)
    assert len(points[id(old)]) == len(points[id(new)]) > 0
    written, again = (each.accesses[-1].relation.intersect_params(fixed).range() for each in (old, new))
    assert written.is_equal(again)
