"""Loops over small elements run in wider vectors than the compiler would choose, and cost as much less."""

from __future__ import annotations

from dataclasses import replace

import pytest
from contexts import context_of

from polybuild.analysis.reduction_dependences import separate_reduction_dependences
from polybuild.analysis.reductions import find_reductions
from polybuild.context import CompilerRules, VectorRules
from polybuild.machine.model import Origin
from polybuild.targets.cpu.cost.compare import cost_of_mapping
from polybuild.targets.cpu.mapping import map_to_cpu

BLEND = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) q[i][j] = (3 * p[i][j] + q[i][j]) / 4;"
SUM = "for (int i = 0; i < n; i++) { int s = 0; for (int j = 0; j < n; j++) s += p[i][j]; q[i][0] = s; }"
WIDE, USUAL = ({"vector.bytes": 64, "vector.rows": rows} for rows in (64, 32))


def mapped(model, text, element, figures, compiler):
    """What ``text`` becomes on pictures of ``element``: the lanes of its loops, and the cost on a thread."""
    picture = f"{element} p[restrict n][n], {element} q[restrict n][n]"
    read, context = model(text, f"int n, {picture}"), context_of()
    machine = context.machine.with_figures(figures, Origin.FILE)
    context = replace(context, machine=machine, compiler=compiler)
    reductions = find_reductions(read.scop, read.region, context.reordering).found
    dependences = separate_reduction_dependences(read.scop, read.dependences, reductions)
    mapping = map_to_cpu(read.scop, dependences, read.scop.schedule, context)
    assert mapping.simd_loops
    cost = cost_of_mapping("chosen", read.scop, dependences, mapping, context).one_thread
    widths = {each.width for each in mapping.directives.values() if each.simd}
    return widths, cost.at({"n": 16000}).arithmetic


@pytest.mark.parametrize(
    ("element", "figures", "widens", "lanes"),
    [
        ("unsigned char", WIDE, True, 64),
        ("short", WIDE, True, 32),
        ("int", WIDE, True, 0),
        ("float", WIDE, True, 0),
        ("unsigned char", USUAL, True, 0),
        ("unsigned char", WIDE, False, 0),
    ],
)
def test_lanes_are_as_many_as_small_elements_fill(model, element, figures, widens, lanes):
    compiler = CompilerRules(vectors=VectorRules(widens=widens))
    assert mapped(model, BLEND, element, figures, compiler)[0] == {lanes}


def test_compilers_that_do_not_optimise_are_told_nothing(model):
    assert mapped(model, BLEND, "char", WIDE, CompilerRules(optimises=False))[0] == {0}


def test_elements_of_tables_are_left_to_the_compiler(model):
    """No vector is made of bytes that are loaded one by one."""
    table = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) q[i][j] = p[0][q[i][j]];"
    read, context = (
        model(table, "int n, unsigned char p[restrict n][n], unsigned char q[restrict n][n]"),
        context_of(),
    )
    context = replace(context, machine=context.machine.with_figures(WIDE, Origin.FILE))
    mapping = map_to_cpu(read.scop, read.dependences, read.scop.schedule, context)
    assert {each.width for each in mapping.directives.values() if each.simd} == {0}


def test_sums_are_left_to_the_compiler(model):
    assert mapped(model, SUM, "unsigned char", WIDE, CompilerRules())[0] == {0}


def test_wide_vectors_cost_half(model):
    wide, usual = (mapped(model, BLEND, "char", each, CompilerRules())[1] for each in (WIDE, USUAL))
    assert wide == pytest.approx(usual / 2, rel=0.1)
