"""Steps over the same elements: from what length of a line, and how many steps on, new loops gain."""

from __future__ import annotations

from dataclasses import replace

import pytest
from contexts import context_of

from polybuild.analysis.trip_counts import trip_counts
from polybuild.machine.model import Origin
from polybuild.targets.cpu.choice import choose_mapping
from polybuild.targets.cpu.cost.compare import cost_of_mapping, cost_of_original, cost_of_versions
from polybuild.targets.cpu.cost.crossover import enough_for_threads, enough_to_gain, threads_gain
from polybuild.targets.cpu.cost.grids import walk_of

LINE = "int n, int steps, double u[restrict n], double v[restrict n]"
COPIED = (
    "for (int t = 0; t < steps; t++) {"
    " for (int i = 1; i < n - 1; i++) v[i] = u[i - 1] + u[i + 1];"
    " for (int i = 1; i < n - 1; i++) u[i] = v[i]; }"
)
FIXED = COPIED.replace("steps", "4000").replace("n - 1", "{}")


def versions(read, context):
    mapping = choose_mapping(read.scop, read.dependences, context)
    return cost_of_versions(
        (read.scop, read.dependences, ()), (read.scop, read.dependences, mapping), context
    )


def test_loops_walk_over_lines_again(model):
    walk = walk_of(model(COPIED, LINE).scop.statements)
    assert (walk.along, walk.again, walk.dimensions, walk.repeats) == ({"n"}, {"steps"}, 1, True)


@pytest.mark.parametrize(
    "parts",
    [
        ("", "0.3 * (u[i - 1] + u[i + 1]) + f[t]", ""),
        ("f[t] = 0.1 * t;", "u[i - 1] + u[i + 1] * f[t]", ""),
        ("", "u[i - 1] + u[i + 1]", "f[t] = u[1];"),
    ],
    ids=["a table", "set in steps", "a history"],
)
def test_what_steps_have_of_their_own_is_no_line(model, parts):
    before, value, after = parts
    body = f"for (int t = 0; t < steps; t++) {{ {before} for (int i = 1; i < n - 1; i++) v[i] = {value};"
    body += f" for (int i = 1; i < n - 1; i++) u[i] = v[i]; {after} }}"
    walk = walk_of(model(body, f"{LINE}, double f[restrict steps]").scop.statements)
    assert (walk.along, walk.again, walk.dimensions, walk.repeats) == ({"n"}, {"steps"}, 1, True)


@pytest.mark.parametrize(
    ("body", "parameters"),
    [
        (
            "for (int t = 0; t < steps; t++) for (int i = 0; i < n; i++) u[i] += v[i] * f[t];",
            f"{LINE}, double f[steps]",
        ),
        ("for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) u[i] += v[j];", LINE),
        ("for (int t = 0; t < n; t++) for (int i = 0; i < n; i++) u[i] += v[i];", LINE),
        ("for (int i = 0; i < n; i++) u[i] += v[i];", LINE),
    ],
    ids=["pairs of two sets", "all pairs", "as many steps as elements", "once"],
)
def test_other_loops_do_not(model, body, parameters):
    assert not walk_of(model(body, parameters).scop.statements).repeats


def test_lines_gain_from_where_a_cache_is_too_small(model):
    """Tiles gain nothing on two lines that the first cache holds, however many steps there are."""
    read, context = model(COPIED, LINE), context_of()
    scop = read.scop
    found = enough_to_gain(scop.statements, trip_counts(scop), scop.context, versions(read, context), 20_000)
    assert found[0].minimum == 20_000
    assert [[str(each.max_val()) for each in trips] for trips in found[1].counts] == [["infty"]]
    assert context.machine.l1.bytes * 0.8 < found[1].minimum * 16 < context.machine.l1.bytes * 3


def test_lines_may_gain_where_only_memory_holds_them(model):
    """A third cache as fast as operations are: tiles gain once it is too small for the lines."""
    read, context = model(COPIED, LINE), context_of()
    machine = context.machine.with_figures(
        {f"l{level}.bandwidth": 1000.0 for level in (1, 2, 3)} | {"l3.bytes": 64 << 20}, Origin.OPTION
    )
    found = versions(read, replace(context, machine=machine))
    assert not found.gains_at(found.usual)
    assert found.compared().gains_alone
    scop = read.scop
    enough = enough_to_gain(scop.statements, trip_counts(scop), scop.context, found, 20_000)
    assert machine.l3.bytes * 0.4 < enough[1].minimum * 16 < machine.l3.bytes * 4


def test_threads_want_tiles_for_each(model):
    read, context = model(COPIED, LINE), context_of()
    scop = read.scop
    (found,) = enough_for_threads(scop.statements, trip_counts(scop), scop.context, versions(read, context))
    assert 1000 < found.minimum < 20_000


@pytest.mark.parametrize(("last", "gains"), [(999, False), (999_999, True)])
def test_threads_gain_nothing_on_a_short_line(model, last, gains):
    parameters = f"double u[restrict {last + 1}], double v[restrict {last + 1}]"
    read, context = model(FIXED.replace("{}", str(last)), parameters), context_of()
    found = threads_gain(read.scop.statements, read.scop.context, versions(read, context))
    assert found == gains


def test_phases_of_tiles_have_all_instances_together(model):
    """Hexagons come in two phases, and each of them has a half of what a statement computes."""
    body = "for (int t = 0; t < steps; t++) for (int i = 1; i < n; i++) u[t + 1][i] = u[t][i - 1] + u[t][i];"
    read = model(body, "int n, int steps, double u[restrict steps + 1][n]")
    context = context_of(tile_shape="hexagonal")
    mapping = choose_mapping(read.scop, read.dependences, context)
    new = cost_of_mapping("tiles", read.scop, read.dependences, mapping, context).one_thread
    before = cost_of_original(read.scop, read.dependences, (), context)
    for n in (300, 3_000, 300_000):
        values = {"n": n, "steps": 1000}
        assert 0.95 < new.at(values).arithmetic / before.at(values).arithmetic < 1.3
