"""Hexagonal and hybrid tiling: figures 18 to 20 of the thesis, and the proof on each tree."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import islpy as isl
import pytest
from small_stencils import grid, line, sizes, tiles

from polybuild.schedule.legality import check_schedule
from polybuild.transform.tiling.hybrid import Hexagons, hybrid, hybrid_phases, minimum_width
from polybuild.transform.tiling.stencil import Cone, find_stencil

EXAMPLE = ((1, -2), (2, 2))  # A[t][i] = f(A[t - 2][i - 2], A[t - 1][i + 2]), of figures 17 to 19


def truncated_cone(cone, height, width, at):
    """All points that ``width + 1`` points of the last row of a tile may depend on (section 5.2.1.2)."""
    fall, rise = cone.fall, cone.rise
    top, left = 2 * height + 1, math.floor(fall * height)
    return {
        (a + at[0], b + at[1])
        for a in range(top + 1)
        for b in range(-20 * height - 40, 20 * height + 40)
        if fall * a - b <= top * fall - left and rise * a + b <= top * rise + left + width
    }


@pytest.mark.parametrize(("height", "width"), [(2, 3), (1, 2), (3, 1), (4, 6)])
def test_a_hexagon_is_what_three_cones_leave_of_one(height, width):
    program = line(*EXAMPLE)
    (cone,) = program.stencil.cones
    left, right = math.floor(cone.fall * height), math.floor(cone.rise * height)
    expected = truncated_cone(cone, height, width, (0, 0))
    for at in (
        (-height - 1, -width - 1 - left),
        (-height - 1, width + 1 + right),
        (-2 * height - 2, right - left),
    ):
        expected -= truncated_cone(cone, height, width, at)
    found = tiles(hybrid_phases(program.stencil, height, width, ()), 1, range(24), range(-30, 60))
    green = {
        point
        for (wave, phase, tile), points in found.items()
        if (wave, phase, tile) == (0, 1, 0)
        for point in points
    }
    assert green == {(a, b) for a, b in expected if b >= 0}  # the domain begins at place 0


def test_the_hexagon_of_figure_18():
    found = tiles(hybrid_phases(line(*EXAMPLE).stencil, 2, 3, ()), 1, range(12), range(20, 80))
    points = found[1, 1, 2]
    rows = [
        [place for time, place in points if time == step] for step in sorted({time for time, _ in points})
    ]
    assert [len(row) for row in rows] == [4, 7, 10, 10, 7, 4]
    assert len(rows) == 2 * 2 + 2


@pytest.mark.parametrize(
    ("distances", "height", "width"),
    [
        (EXAMPLE, 2, 3),
        (((1, -1), (1, 1)), 3, 0),
        (((1, 1), (3, -1)), 4, 2),
        (((1, 2), (3, -1)), 3, 4),
        (((2, 3), (1, -1)), 2, 2),
    ],
)
def test_hexagons_tile_the_plane_with_the_same_points_each(distances, height, width):
    program = line(*distances)
    steps, places = range(40, 40 + 6 * height + 12), range(300, 420)
    found = tiles(hybrid_phases(program.stencil, height, width, ()), 1, steps, places)
    points = list(itertools.chain.from_iterable(found.values()))
    assert sorted(points) == list(itertools.product(steps, places))  # each once
    assert len(sizes(found, (steps, places))) == 1
    program.prove(hybrid(program.loop, program.stencil, height, width, ()))


def test_the_pattern_of_figure_19():
    program = line(*EXAMPLE)
    hexagons = Hexagons(program.stencil.cones[0], 2, 3)
    assert hexagons.steps == 6
    assert hexagons.period == 2 * 3 + 2 + 2 + 4
    found = tiles(hybrid_phases(program.stencil, 2, 3, ()), 1, range(60), range(100, 200))
    first = {key: min(points) for key, points in found.items() if len(points) == 42}
    for (wave, phase, tile), (time, place) in first.items():
        assert time == 6 * wave - 3 * (1 - phase)  # blue tiles start half a tile before the green ones
        if (wave, phase, tile + 1) in first:
            assert first[wave, phase, tile + 1] == (time, place + hexagons.period)
        if (wave + 1, phase, tile) in first:
            assert first[wave + 1, phase, tile] == (time + 6, place + 2 - 4)


def test_narrow_hexagons_are_refused():
    cone = line(*EXAMPLE).stencil.cones[0]
    assert minimum_width(cone, 2) == 1  # what the text says of equation 3
    with pytest.raises(ValueError, match="too narrow"):
        Hexagons(cone, 2, 0)
    with pytest.raises(ValueError, match="both sides"):
        Hexagons(Cone(Fraction(1), None), 2, 3)


FIGURE_20 = """{{ S[t, s0, s1, s2] -> [T, S0, S1, S2, u, v0, v1, v2] : exists a, b :
    a = (t + {h} + 1) mod {steps} and b = (s0 + {h} + 1 + {w0}) mod {period} and
    a - b <= {h} + 1 and a + b <= 3*{h} + 1 + {w0} and a + b >= {h} and a - b >= -{w0} - {h} and
    T = floor((t + {h} + 1)/{steps}) and
    S0 = floor((s0 + {h} + 1 + {w0})/{period}) and
    S1 = floor((s1 + a)/{w1}) and S2 = floor((s2 + a)/{w2}) and
    u = a and v0 = b and v1 = (s1 + a) mod {w1} and v2 = (s2 + a) mod {w2} }}"""


@pytest.mark.parametrize(("h", "w0", "w1", "w2"), [(1, 2, 4, 8), (2, 3, 5, 7), (3, 0, 4, 16)])
def test_the_schedule_of_figure_20(h, w0, w1, w2):
    ones = [(1, *space) for space in itertools.product((-1, 0, 1), repeat=3) if sum(map(abs, space)) <= 1]
    program = grid(3, *ones)
    phase = hybrid_phases(program.stencil, h, w0, (w1, w2))[0]
    members = (phase.wave, *phase.tiles, *phase.strips, *phase.points)
    schedule = isl.UnionMap.from_union_pw_aff(members[0])
    for each in members[1:]:
        schedule = schedule.flat_range_product(isl.UnionMap.from_union_pw_aff(each))
    domain = program.schedule.get_domain()
    numbers = {"h": h, "w0": w0, "w1": w1, "w2": w2, "steps": 2 * h + 2, "period": 2 * h + 2 + 2 * w0}
    wanted = isl.UnionMap(FIGURE_20.format(**numbers)).intersect_domain(domain)
    assert schedule.intersect_domain(phase.instances).is_equal(wanted)


def test_hybrid_tiles_of_a_plane_and_of_space_are_legal():
    plane = grid(2, (1, 1, 0), (1, -2, 0), (1, 0, 1), (1, 0, -1), (2, 0, 0))
    plane.prove(hybrid(plane.loop, plane.stencil, 2, 3, (5,)))
    space = grid(3, (1, 1, 0, 0), (1, -1, 0, 0), (1, 0, 1, -1), (1, 0, -1, 1))
    space.prove(hybrid(space.loop, space.stencil, 1, 2, (4, 6)))


@pytest.mark.parametrize("name", ["jacobi-2d", "fdtd-2d"])
def test_several_statements(name, kernel):
    scop, known = kernel(name)
    loop = scop.schedule.get_root().child(0)
    stencil = find_stencil(loop, known.validity)
    assert stencil is not None
    check_schedule(hybrid(loop, stencil, 3, 4, (16,)).get_schedule(), known, scop.domain)
