"""Which steps a register tile takes, and how loops over blocks are put around a band."""

from __future__ import annotations

import islpy as isl
import pytest

from polybuild.transform.tiling.registers import (
    RegisterBlock,
    block_schedule,
    full_steps,
    insert_tiles,
    partial_steps,
    writes_whole_blocks,
)

BLOCK = RegisterBlock(mr=2, vectors=2, lanes=2)
BAND = "[n] -> [{{ S[i, j, k] -> [({})] }}, {{ S[i, j, k] -> [({})] }}, {{ S[i, j, k] -> [({})] }}]"


def block_schedule_of(domain, order=("i", "k", "j")):
    """The time stamps of ``domain`` within blocks, for the band (rows, steps, lanes) given by ``order``."""
    space = isl.Set(f"[n] -> {{ S[i, j, k] : {domain} }}")
    root = isl.Schedule.from_domain(isl.UnionSet.from_set(space)).get_root()
    band = root.child(0).insert_partial_schedule(isl.MultiUnionPwAff(BAND.format(*order)))
    band = insert_tiles(band.band_set_permutable(1), [(2, BLOCK.nr)]).child(0)
    band = insert_tiles(band, [(0, BLOCK.mr)]).child(0)
    return block_schedule(band, "S", space, BLOCK)


def instances(found, steps, n):
    """The instances of ``steps`` for one ``n``, as triples (i, j, k)."""
    chosen = found.prefix.intersect_range(steps).domain().fix_val(isl.dim_type.param, 0, isl.Val(n))
    points = []
    chosen.foreach_point(points.append)
    return {tuple(p.get_coordinate_val(isl.dim_type.set, at).to_python() for at in range(3)) for p in points}


def element(text):
    return isl.Map(f"[n] -> {{ S[i, j, k] -> {text} }}")


def block(i, j):
    """The places of the block that (i, j) is in."""
    rows, columns = BLOCK.mr, BLOCK.nr
    return {(i // rows * rows + a, j // columns * columns + b) for a in range(rows) for b in range(columns)}


def brute_force(n, runs, reads):
    """Instances at steps with whole blocks, none of whose reads is an element of the block; all there are."""
    ran = {(i, j, k) for i in range(n) for j in range(n) for k in range(n) if runs(i, j, k)}
    whole = {
        (i, j, k)
        for i, j, k in ran
        if all((a, b, k) in ran for a, b in block(i, j))
        and all(reads(a, b, k) not in block(i, j) for a, b in block(i, j))
    }
    return whole, ran


def brute_force_of_partial(ran, full, reads):
    """The same in blocks that are nowhere full, at steps that read nothing which the block holds."""
    blocks = {(i // BLOCK.mr, j // BLOCK.nr) for i, j, _ in full}
    return {
        (i, j, k)
        for i, j, k in ran
        if (i // BLOCK.mr, j // BLOCK.nr) not in blocks
        and all(reads(a, b, k) not in block(i, j) for a, b in block(i, j) if (a, b, k) in ran)
    }


@pytest.mark.parametrize(
    ("domain", "runs"),
    [
        ("0 <= i, j, k < n", lambda *_: True),
        ("0 <= j <= i < n and 0 <= k < n", lambda i, j, _: j <= i),
        ("0 <= i < k < n and 0 <= j < n", lambda i, _, k: i < k),
        ("0 <= k < i < n and k < j < n", lambda i, j, k: k < i and k < j),
    ],
)
@pytest.mark.parametrize(
    ("read", "reads"),
    [
        ("B[i, k]", lambda *_: None),
        ("A[i, k]", lambda a, _, k: (a, k)),
        ("A[k, j]", lambda _, b, k: (k, b)),
    ],
)
def test_full_and_partial_steps(domain, runs, read, reads):
    found = block_schedule_of(domain)
    access = element(read)
    same = [access] if access.get_tuple_name(isl.dim_type.out) == "A" else []
    steps = full_steps(found, element("A[i, j]"), same)
    others = partial_steps(found, steps, element("A[i, j]"), same)
    for n in (3, 7, 9):
        full, ran = brute_force(n, runs, reads)
        assert instances(found, steps, n) == full
        assert instances(found, others, n) == brute_force_of_partial(ran, full, reads)


def test_a_block_is_one_element_for_each_place():
    found = block_schedule_of("0 <= i, j, k < n")
    assert writes_whole_blocks(found, element("A[i, j]"))
    assert writes_whole_blocks(found, element("A[j, i]"))
    assert not writes_whole_blocks(found, element("A[i + j, 0]"))  # one element for several places
    assert not writes_whole_blocks(found, element("A[i, j + k]"))  # another one at each step


def test_tiles_of_some_members_keep_what_is_coincident():
    root = isl.Schedule.from_domain(isl.UnionSet("[n] -> { S[i, j, k] : 0 <= i, j, k < n }")).get_root()
    band = root.child(0).insert_partial_schedule(isl.MultiUnionPwAff(BAND.format("i", "j", "k")))
    band = band.band_set_permutable(1).band_member_set_coincident(2, 1)
    tiles = insert_tiles(band, [(2, 8), (0, 4)])
    assert [tiles.band_member_get_coincident(at) for at in range(2)] == [True, False]
    assert tiles.get_schedule_depth() == 0
    assert tiles.child(0).get_schedule_depth() == 2
    expected = isl.UnionMap("[n] -> { S[i, j, k] -> [floor(k / 8), floor(i / 4)] }")
    assert tiles.child(0).get_prefix_schedule_union_map().is_equal(expected)
