"""Diamond tiling and its stretched form: figures 21 to 28 of the thesis, and the proof on each tree."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict

import islpy as isl
import pytest
from small_stencils import grid, line, sizes, tiles

from polybuild.schedule.legality import check_schedule
from polybuild.transform.tiling.diamond import along, determinant, diamond, diamond_planes, tied_sizes
from polybuild.transform.tiling.hexagonal import hexagonal, hexagonal_phases
from polybuild.transform.tiling.phases import divided
from polybuild.transform.tiling.stencil import find_stencil

SYMMETRIC = line((1, 1), (1, -1))  # figures 21 and 22
ASYMMETRIC = line((1, 1), (1, -2))  # figure 23
SEVERAL_STEPS = line((1, 1), (3, -1))  # figures 24 and 25
STRETCHED = line((1, 1), (2, -1))  # figures 26 to 28


def planes(program, dims=1):
    return diamond_planes(program.stencil, dims, program.dependences)


def diamonds(program, lengths):
    """The points of each tile ``(T_0, T_1)`` in a part of the domain, for any tile sizes."""
    found = defaultdict(list)
    functions = [
        divided(along(program.stencil, plane), length)
        for plane, length in zip(planes(program), lengths, strict=True)
    ]
    space = isl.Set("{ S[t, i] }").get_space()
    numbers = [each.extract_pw_aff(space.from_domain().add_dims(isl.dim_type.out, 1)) for each in functions]
    for time, place in itertools.product(*EDGES):
        at = isl.Set(f"[steps, n] -> {{ S[{time}, {place}] : steps = n = 1000 }}").sample_point()
        found[tuple(each.eval(at).to_python() for each in numbers)].append((time, place))
    return found


EDGES = (range(20, 40), range(300, 360))


def fronts(found):
    """Per wavefront of the default coefficients, the first step of each of its whole tiles."""
    starts = defaultdict(set)
    for tile, points in found.items():
        if all(
            each.start < x < each.stop - 1 for point in points for x, each in zip(point, EDGES, strict=True)
        ):
            starts[sum(tile)].add(min(points)[0])
    return starts


@pytest.mark.parametrize(
    ("program", "expected", "volume"),
    [
        (SYMMETRIC, ((1, 1), (1, -1)), 2),
        (ASYMMETRIC, ((2, 1), (1, -1)), 3),
        (SEVERAL_STEPS, ((1, 3), (1, -1)), 4),
        (STRETCHED, ((1, 2), (1, -1)), 3),
    ],
)
def test_the_hyperplanes_of_the_text(program, expected, volume):
    assert planes(program) == expected
    assert determinant(expected) == volume


def test_square_tiles_start_together_figure_21():
    assert all(len(each) == 1 for each in fronts(diamonds(SYMMETRIC, (4, 4))).values())


def test_other_tiles_do_not_figure_22():
    assert any(len(each) > 1 for each in fronts(diamonds(SYMMETRIC, (6, 4))).values())


def test_points_are_placed_alike_only_in_multiples_of_the_determinant_figure_23():
    assert len(sizes(diamonds(ASYMMETRIC, (4, 4)), EDGES)) > 1
    assert sizes(diamonds(ASYMMETRIC, (3, 3)), EDGES) == {3}


def test_sizes_are_tied_where_time_steps_are_several_figures_24_and_25():
    square = fronts(diamonds(SEVERAL_STEPS, (4, 4)))
    assert any(len(each) > 1 for each in square.values())
    assert tied_sizes(planes(SEVERAL_STEPS), 4) == (12, 4)
    found = diamonds(SEVERAL_STEPS, (12, 4))
    assert all(len(each) == 1 for each in fronts(found).values())
    assert sizes(found, EDGES) == {12}


def test_tied_sizes_of_figure_26():
    assert tied_sizes(planes(STRETCHED), 3) == (6, 3)
    assert sizes(diamonds(STRETCHED, (6, 3)), EDGES) == {6}


EQUATION_24 = """{{ [d0, d1] -> [T0, T1] : exists o0, o1 :
    o0 = {v0}*(T1 - T0) and o1 = {v1}*(T1 - T0) and
    {s0}*T0 + o0 + {v0} <= d0 < {s0}*(T0 + 1) + o0 and {s1}*T1 + o1 <= d1 < {s1}*(T1 + 1) + {v1} + o1 and
    {c0}*T0 + {c1}*T1 <= {n0}*d0 + {n1}*d1 < {c0}*(T0 + 1) + {c1}*(T1 + 1) }}"""


@pytest.mark.parametrize(
    ("program", "size", "stretch", "numbers"),
    [
        (STRETCHED, 3, 2, {"s0": 6, "s1": 3, "v0": -4, "v1": 2, "n0": 1, "n1": 2}),  # figure 27
        (STRETCHED, 6, 1, {"s0": 12, "s1": 6, "v0": -2, "v1": 1, "n0": 1, "n1": 2}),  # figure 28
        (SYMMETRIC, 6, 4, {"s0": 6, "s1": 6, "v0": -4, "v1": 4, "n0": 1, "n1": 1}),  # figure 29
        (ASYMMETRIC, 3, 0, {"s0": 3, "s1": 3, "v0": 0, "v1": 0, "n0": 1, "n1": 1}),  # figure 23
    ],
)
def test_the_two_phases_are_equation_24(program, size, stretch, numbers):
    numbers["c0"] = numbers["n0"] * numbers["s0"]
    numbers["c1"] = numbers["n1"] * numbers["s1"]
    first, second = (along(program.stencil, plane) for plane in planes(program))
    transformed = isl.UnionMap.from_union_pw_aff(first).flat_range_product(
        isl.UnionMap.from_union_pw_aff(second)
    )
    wanted = transformed.apply_range(isl.UnionMap(EQUATION_24.format(**numbers)))
    found = isl.UnionMap("{ }")
    for odd, phase in enumerate(hexagonal_phases(program.stencil, planes(program), size, stretch)):
        numbered = isl.UnionMap.from_union_pw_aff(phase.wave).flat_range_product(
            isl.UnionMap.from_union_pw_aff(phase.tiles[0])
        )
        number = isl.UnionMap(f"{{ [T, M1] -> [2*T + {odd} + M1, -M1] }}")  # M1 counts along the grid
        found = found.union(numbered.intersect_domain(phase.instances).apply_range(number))
    assert found.is_equal(wanted)
    assert found.is_single_valued()


def test_the_hexagon_of_figures_29_and_30():
    found = tiles(hexagonal_phases(SYMMETRIC.stencil, planes(SYMMETRIC), 6, 4), 1, *EDGES)
    whole = [points for points in found.values() if len(points) == max(map(len, found.values()))]
    assert {len(points) for points in whole} == {6 * 6 // 2 + 6 * 4}  # O(T, B) of section 6.3
    rows = sorted(Counter(time for time, _ in whole[0]).items())
    assert [count for _, count in rows] == [5, 7, 9, 9, 7, 5]


@pytest.mark.parametrize("program", [SYMMETRIC, ASYMMETRIC, SEVERAL_STEPS, STRETCHED])
def test_lines_are_tiled_legally(program):
    chosen = planes(program)
    for size in (3, determinant(chosen)):
        program.prove(diamond(program.loop, program.stencil, chosen, size))
    program.prove(hexagonal(program.loop, program.stencil, chosen, 4, stretch=3))


def test_planes_and_space_start_together_in_all_dimensions():
    star = [(1, 0, 0), (1, 1, 0), (1, -1, 0), (1, 0, 1), (1, 0, -1)]
    plane = grid(2, *star)
    chosen = planes(plane, 2)
    assert chosen == ((1, 1, 0), (1, 0, 1), (1, -1, -1))
    assert [sum(each) for each in zip(*chosen, strict=True)] == [3, 0, 0]  # time is inside of the cone
    assert determinant(chosen) == 3
    plane.prove(diamond(plane.loop, plane.stencil, chosen, 6))
    space = grid(3, *[(*each, 0) for each in star], (1, 0, 0, 1), (1, 0, 0, -1))
    space.prove(diamond(space.loop, space.stencil, planes(space, 3), 4))


def test_one_dimension_in_diamonds_the_others_in_strips():
    plane = grid(2, (1, 1, 0), (1, -2, 0), (1, 0, 1), (2, 0, -1))
    plane.prove(diamond(plane.loop, plane.stencil, planes(plane), 6, (5,)))
    plane.prove(hexagonal(plane.loop, plane.stencil, planes(plane), 6, stretch=2, strips=(5,)))


@pytest.mark.parametrize("name", ["jacobi-1d", "heat-3d", "fdtd-2d"])
def test_several_statements(name, kernel):
    scop, known = kernel(name)
    loop = scop.schedule.get_root().child(0)
    stencil = find_stencil(loop, known.validity)
    assert stencil is not None
    chosen = diamond_planes(stencil, 1, known.validity)
    widths = (16,) * (len(stencil.space) - 1)
    check_schedule(diamond(loop, stencil, chosen, 8, widths).get_schedule(), known, scop.domain)
    if name == "fdtd-2d":
        check_schedule(
            hexagonal(loop, stencil, chosen, 8, stretch=2, strips=widths).get_schedule(), known, scop.domain
        )
