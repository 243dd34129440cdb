"""Tiles in waves."""

from __future__ import annotations

import islpy as isl
import pytest

from polybuild.poly.trees import is_band, member
from polybuild.schedule.legality import check_schedule
from polybuild.schedule.scheduler import Fusion, compute_schedule
from polybuild.transform.bands import coincident_members, tile
from polybuild.transform.tiling.wavefront import wavefront, wavefront_of_points


def bands(node):
    found = []
    while is_band(node):
        found.append(node)
        node = node.child(0)
    return found


def test_the_example_of_its_description():
    tree = isl.Schedule(
        '{ domain: "{ T[a, b, c] }", child: { schedule: '
        '"[{ T[a, b, c] -> [(a)] }, { T[a, b, c] -> [(b)] }, { T[a, b, c] -> [(c)] }]", permutable: 1 } }'
    )
    found = bands(wavefront(tree.get_root().child(0)))
    expressions = [
        isl.UnionMap.from_multi_union_pw_aff(member(each, position))
        for each in found
        for position in range(each.band_n_member())
    ]
    wanted = [isl.UnionMap(f"{{ T[a, b, c] -> [{each}] }}") for each in ("a + b", "b", "c")]
    assert all(one.is_equal(other) for one, other in zip(expressions, wanted, strict=True))
    assert [coincident_members(each) for each in found] == [[], [0], []]


LINE = """
  for (int t = 0; t < n; t++)
    for (int i = 1; i < n - 1; i++) a[i] = a[i - 1] + a[i + 1];"""
GRID = """
  for (int t = 0; t < n; t++)
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++) a[i][j] = a[i - 1][j] + a[i][j - 1] + a[i][j + 1] + a[i + 1][j];"""
STENCILS = {2: (LINE, "*restrict a"), 3: (GRID, "a[restrict n][n]")}


@pytest.mark.parametrize("members", STENCILS)
def test_the_waves_of_a_stencil_are_legal(members, model):
    body, array = STENCILS[members]
    found = model(body, f"int n, double {array}")
    node = compute_schedule(found.scop, found.dependences, Fusion.MIN).get_root().child(0)
    assert (node.band_n_member(), coincident_members(node)) == (members, [])
    node = wavefront(tile(node, (8,) * members))
    # the proof includes that the second loop carries nothing
    assert coincident_members(node.child(0)) == [0]
    check_schedule(node.get_schedule(), found.dependences, found.scop.domain)
    assert [each.band_n_member() for each in bands(node)] == [1, 1, *([1] if members > 2 else []), members]


def test_points_on_a_diagonal_are_free_of_each_other(kernel):
    scop, known = kernel("seidel-2d")
    members = ", ".join(f"{{ S0[t, i, j] -> [({each})] }}" for each in ("t", "t + i", "2t + i + j"))
    skewed = isl.MultiUnionPwAff(f"[steps, n] -> [{members}]")
    loop = scop.schedule.get_root().child(0)
    band = loop.delete().delete().delete().insert_partial_schedule(skewed).band_set_permutable(1)
    inner = wavefront_of_points(band)
    assert inner.band_get_partial_schedule().dim(isl.dim_type.out) == 1
    assert inner.band_member_get_coincident(0)
    check_schedule(inner.get_schedule(), known, scop.domain)
