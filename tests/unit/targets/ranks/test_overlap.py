"""The border of a block is all that writes what other ranks read; the rest runs while messages travel."""

from __future__ import annotations

import islpy as isl
import pytest

from polybuild.poly.relations import sets_of
from polybuild.schedule.original import original_bands
from polybuild.targets.ranks.messages import value_flow, values_read
from polybuild.targets.ranks.model import END, FIRST, TO_END, TO_FIRST
from polybuild.targets.ranks.overlap import find_overlap
from polybuild.targets.ranks.phases import mark_phases, phases_of

ROWS = "int n, int steps, double a[restrict n], double b[restrict n]"
MATRIX = "int n, int steps, double a[restrict n][n], double b[restrict n][n]"


def overlaps(found):
    """What each phase of the original order has, and what others read of it."""
    scop, dependences = found.scop, found.dependences
    phases = phases_of(mark_phases(original_bands(scop, dependences)))
    readers = isl.UnionSet.empty(scop.context.get_space())
    for each in phases:
        readers = readers.union(each.block(TO_FIRST, TO_END))
    nothing = isl.UnionMap.empty(scop.context.get_space())
    flow = values_read(value_flow(scop, dependences), readers, nothing)
    return [(find_overlap(each, flow), each.block(FIRST, END), flow) for each in phases]


def values(instances, first, end, **given):
    """The values of the loop ``i`` of ``instances``, sorted, with parameters and ``t`` fixed."""
    found = set()
    for each in sets_of(instances):
        fixed = each.fix_val(isl.dim_type.set, 0, isl.Val(1))
        for name, value in {FIRST: first, END: end, **given}.items():
            position = fixed.find_dim_by_name(isl.dim_type.param, name)
            if position >= 0:
                fixed = fixed.fix_val(isl.dim_type.param, position, isl.Val(value))
        fixed = fixed.project_out_all_params()
        number = range(-3, 50)
        found |= {
            value for value in number if not fixed.fix_val(isl.dim_type.set, 1, isl.Val(value)).is_empty()
        }
    return sorted(found)


@pytest.mark.parametrize("radius", [1, 2, 3])
def test_the_border_is_as_wide_as_what_others_read(model, radius):
    found = model(
        f"for (int t = 0; t < steps; t++) {{"
        f"  for (int i = {radius}; i < n - {radius}; i++) b[i] = a[i - {radius}] + a[i + {radius}];"
        f"  for (int i = {radius}; i < n - {radius}; i++) a[i] = 0.5 * b[i]; }}",
        ROWS,
    )
    (nothing, *_), (overlap, block, _) = overlaps(found)
    assert nothing is None  # nobody else reads b
    border = [*range(10, 10 + radius), *range(20 - radius, 20)]
    assert values(overlap.border, 10, 20, n=40, steps=5) == border
    assert values(overlap.interior, 10, 20, n=40, steps=5) == list(range(10 + radius, 20 - radius))
    assert values(overlap.border, 10, 11, n=40, steps=5) == [10]
    assert overlap.border.intersect(overlap.interior).is_empty()
    assert overlap.border.union(overlap.interior).is_equal(block)


def test_nothing_of_the_interior_is_sent(model):
    found = model(
        "for (int t = 0; t < steps; t++) {"
        "  for (int i = 1; i < n - 2; i++)"
        "    for (int j = 1; j < n; j++) b[i][j] = a[i - 1][j] + a[i + 2][j - 1];"
        "  for (int i = 1; i < n - 1; i++)"
        "    for (int j = 1; j < n; j++) a[i][j] = b[i + 1][j - 1] + a[i][j]; }",
        MATRIX,
    )
    for overlap, _, flow in overlaps(found):
        assert overlap is not None
        apart = isl.Set(
            f"[{FIRST}, {END}, {TO_FIRST}, {TO_END}] -> {{ : {END} <= {TO_FIRST} or {TO_END} <= {FIRST} }}"
        )
        assert flow.intersect_params(apart).intersect_domain(overlap.interior).is_empty()


@pytest.mark.parametrize("read", ["b[j][i]", "b[2 * i < n ? 2 * i : 0][j]"])
def test_what_is_sent_from_everywhere_has_no_overlap(model, read):
    """Or a part of it in the midst of the block."""
    found = model(
        "for (int t = 0; t < steps; t++) {"
        "  for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) b[i][j] = a[i][j] * 0.5;"
        f"  for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) a[i][j] = {read} + 1; }}",
        MATRIX,
    )
    assert [overlap for overlap, _, _ in overlaps(found)] == [None, None]
