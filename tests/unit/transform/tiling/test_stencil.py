"""Time-iterated stencils: cones of dependences, places of several statements."""

from __future__ import annotations

from fractions import Fraction

import islpy as isl
import pytest
from small_stencils import grid, line

from polybuild.poly.relations import maps_of
from polybuild.transform.tiling.stencil import Cone, cone_along, find_stencil, fold

CONES = {
    "the example of figure 17": (((1, -2), (2, 2)), Cone(Fraction(1), Fraction(2))),
    "three points": (((1, -1), (1, 0), (1, 1)), Cone(Fraction(1), Fraction(1))),
    "asymmetric, figure 23": (((1, 1), (1, -2)), Cone(Fraction(1), Fraction(2))),
    "several time steps, figure 24": (((1, 1), (3, -1)), Cone(Fraction(1), Fraction(1, 3))),
    "one way": (((1, 0), (1, 3)), Cone(Fraction(3), Fraction(0))),
}


@pytest.mark.parametrize("what", CONES)
def test_the_cone_of_a_line(what):
    distances, expected = CONES[what]
    assert line(*distances).stencil.cones == (expected,)


def test_each_dimension_has_its_cone():
    stencil = grid(2, (1, 1, 0), (1, -1, 0), (1, 0, 2), (1, 0, -1)).stencil
    assert stencil.cones == (Cone(Fraction(1), Fraction(1)), Cone(Fraction(2), Fraction(1)))


def test_the_cone_along_a_diagonal_is_narrower_than_the_sum_of_the_two():
    program = grid(2, (1, 1, 0), (1, -1, 0), (1, 0, 1), (1, 0, -1))
    stencil = program.stencil
    diagonal = stencil.space[0].add(stencil.space[1])
    assert cone_along(stencil.time, diagonal, program.dependences) == Cone(Fraction(1), Fraction(1))


def test_dependences_within_a_time_step_leave_no_concurrent_start():
    assert find_stencil(line((1, 1), (1, -1), (0, 1)).loop, line((1, 1), (1, -1), (0, 1)).dependences) is None


def test_a_loop_without_space_is_no_stencil():
    assert find_stencil(grid(1, (1, 0)).loop.child(0), grid(1, (1, 0)).dependences) is None


def two_statements(dependences):
    """The two nests of figure 13, ``S`` before ``P`` in each time step."""
    domain = "{ S[t, i] : 0 <= t < T and 0 <= i < N; P[t, i] : 0 <= t < T and 0 <= i < N }"
    tree = isl.Schedule(
        f'{{ domain: "[T, N] -> {domain}", child: {{ schedule: "[{{ S[t, i] -> [(t)]; P[t, i] -> [(t)] }}]",'
        " child: { sequence: ["
        '{ filter: "{ S[t, i] }", child: { schedule: "[{ S[t, i] -> [(i)] }]" } },'
        '{ filter: "{ P[t, i] }", child: { schedule: "[{ P[t, i] -> [(i)] }]" } } ] } } }'
    )
    relation = isl.UnionMap(f"[T, N] -> {{ {dependences} }}")
    domain = tree.get_domain()
    return tree.get_root().child(0), relation.intersect_domain(domain).intersect_range(domain)


def test_folding_the_statements_of_figure_13_into_time():
    loop, dependences = two_statements(
        "S[t, i] -> P[t, i + 2]; P[t, i] -> S[t + 1, i + 1]; S[t, i] -> S[t + 1, i]; P[t, i] -> S[t + 1, i];"
        "P[t, i] -> P[t + 1, i]"
    )
    counters = {
        name: [isl.PwAff(f"[T, N] -> {{ {name}[t, i] -> [({each})] }}") for each in "ti"] for name in "SP"
    }
    stencil = fold(counters, maps_of(dependences))
    assert stencil is not None
    assert stencil.steps == 2
    assert stencil.cones == (Cone(Fraction(2), Fraction(0)),)
    wanted = isl.UnionPwAff("[T, N] -> { S[t, i] -> [(2t)]; P[t, i] -> [(1 + 2t)] }")
    assert stencil.time.sub(wanted).max_val().is_zero()
    # each statement may also be moved aside: then the same nests have a narrower cone
    better = find_stencil(loop, dependences)
    assert better is not None
    spread = Fraction(better.cones[0].fall) + Fraction(better.cones[0].rise)
    assert spread * better.steps / better.scale < 4


def test_there_and_back_runs_between_the_time_steps():
    far = "S[t, i] -> P[t, j] : i - 1 <= j <= i + 1; P[t, i] -> S[t + 1, j] : i - 1 <= j <= i + 1"
    stencil = find_stencil(*two_statements(far))
    assert stencil is not None
    assert (stencil.steps, stencil.scale) == (2, 1)
    assert stencil.cones == (Cone(Fraction(1), Fraction(1)),)


def test_a_second_statement_that_stays_in_place_runs_with_the_first():
    near = "S[t, i] -> P[t, i]; P[t, i] -> S[t + 1, j] : i - 1 <= j <= i + 1"
    stencil = find_stencil(*two_statements(near))
    assert stencil is not None
    assert (stencil.steps, stencil.scale) == (1, 1)
    assert stencil.cones == (Cone(Fraction(1), Fraction(1)),)


KERNELS = {
    # name: (steps, scale, (fall and rise of each dimension, in iterations of the loops))
    "jacobi-1d": (1, 1, 1),
    "jacobi-2d": (2, 1, 2),
    "heat-3d": (2, 1, 2),
    "fdtd-2d": (2, 2, 1),
}


@pytest.mark.parametrize("name", KERNELS)
def test_the_cones_of_the_kernels(name, kernel):
    scop, known = kernel(name)
    stencil = find_stencil(scop.schedule.get_root().child(0), known.validity)
    assert stencil is not None
    steps, scale, slope = KERNELS[name]
    assert (stencil.steps, stencil.scale) == (steps, scale)
    for cone in stencil.cones:
        assert cone.fall == cone.rise == Fraction(slope * scale, steps)


@pytest.mark.parametrize("name", ["seidel-2d", "floyd-warshall", "gemm"])
def test_kernels_that_have_no_concurrent_start(name, kernel):
    scop, known = kernel(name)
    assert find_stencil(scop.schedule.get_root().child(0), known.validity) is None
