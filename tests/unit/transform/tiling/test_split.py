"""Split tiling: figures 11 and 12 of the thesis, and the proof on each tree."""

from __future__ import annotations

import itertools
from collections import Counter

import islpy as isl
import pytest
from small_stencils import grid, line, tiles

from polybuild.poly.marks import MarkKind
from polybuild.poly.trees import children, is_mark
from polybuild.transform.tiling.split import minimum_split_width, split, split_phases

THREE = ((1, -1), (1, 1))


def rows(points):
    """How many points there are per step of time."""
    return [count for _, count in sorted(Counter(point[0] for point in points).items())]


def test_the_trapezoids_of_figure_11():
    found = tiles(split_phases(line(*THREE).stencil, 3, (8,)), 1, range(6), range(8, 48))
    assert rows(found[0, 0, 2]) == [7, 5, 3]
    assert rows(found[0, 1, 2]) == [1, 3, 5]


def test_the_subspaces_and_schedules_of_section_4_1():
    program = line(*THREE)
    upright, inverted = split_phases(program.stencil, 32, (64,))
    domain = program.schedule.get_domain()
    orange = "exists u, x : u = t mod 32 and x = i mod 64 and x - u >= 0 and x + u <= 64 - 2"
    wanted = isl.UnionSet(f"{{ S[t, i] : {orange} }}").intersect(domain)
    assert upright.instances.is_equal(wanted)
    assert inverted.instances.is_equal(domain.subtract(wanted))
    for phase, moved in ((upright, "i"), (inverted, "i - 31")):
        schedule = isl.UnionMap.from_union_pw_aff(phase.wave).flat_range_product(
            isl.UnionMap.from_union_pw_aff(phase.tiles[0])
        )
        expected = isl.UnionMap(f"{{ S[t, i] -> [floor(t/32), floor(({moved})/64)] }}").intersect_domain(
            domain
        )
        assert schedule.is_equal(expected)


def test_the_colours_of_figure_12():
    star = ((1, 0, 0), (1, 1, 0), (1, -1, 0), (1, 0, 1), (1, 0, -1))
    stencil = grid(2, *star).stencil
    assert minimum_split_width(stencil, 0, 3) == 6
    found = tiles(split_phases(stencil, 3, (6, 6)), 2, range(3), range(6, 24))
    assert rows(found[0, 0, 1, 1]) == [25, 9, 1]  # the pyramid, with a square base
    assert rows(found[0, 1, 1, 1]) == [5, 9, 5]  # its neighbour in the one dimension
    assert rows(found[0, 2, 1, 1]) == [5, 9, 5]  # and in the other
    assert rows(found[0, 3, 1, 1]) == [1, 9, 25]  # what is left


@pytest.mark.parametrize(
    ("program", "height", "widths"),
    [
        (line(*THREE), 3, (8,)),
        (line((1, -2), (2, 2)), 4, (11,)),
        (line((1, 1), (3, -1)), 5, (9,)),
        (grid(2, (1, 1, 0), (1, -1, 0), (1, 0, 1), (1, 0, -1)), 3, (6, 9)),
        (grid(3, (1, 1, 0, 0), (1, -1, 0, 1), (1, 0, 1, -1), (1, 0, -1, 0)), 2, (4, 5, 6)),
    ],
)
def test_every_instance_runs_once_and_in_order(program, height, widths):
    phases = split_phases(program.stencil, height, widths)
    everything = isl.UnionSet("{ }")
    for phase in phases:
        assert everything.is_disjoint(phase.instances)
        everything = everything.union(phase.instances)
    assert everything.is_equal(program.schedule.get_domain())
    assert len(phases) == 2 ** len(widths)
    program.prove(split(program.loop, program.stencil, height, widths))


def test_the_tree_names_waves_tiles_and_points():
    program = line(*THREE)
    node = split(program.loop, program.stencil, 3, (8,))
    assert is_mark(node, MarkKind.TILE_WAVE)
    sequence = node.child(0).child(0)
    for each in children(sequence):
        mark = each.child(0)
        assert is_mark(mark, MarkKind.PARALLEL_TILES)
        assert mark.child(0).band_member_get_coincident(0)
        assert is_mark(mark.child(0).child(0), MarkKind.TILE_POINTS)


def test_narrow_tiles_are_refused():
    program = line(*THREE)
    for height, width in itertools.product((3, 5), (4,)):
        with pytest.raises(ValueError, match="wider"):
            split(program.loop, program.stencil, height, (width,))
