"""Which loops over tiles may be strips of another width."""

from __future__ import annotations

import islpy as isl
import pytest

from polybuild.codegen.c.strips import strips_of

TILE = 64


def loop_over_tiles(domain: str, points: str) -> isl.AstNode:
    """The loop over the tiles of S along j, in each of which points run in the order of ``points``."""
    instances = isl.UnionSet(domain)
    node = isl.Schedule.from_domain(instances).get_root().child(0)
    node = node.insert_partial_schedule(isl.MultiUnionPwAff(f"[{{ {points} }}]"))
    tiles = isl.MultiUnionPwAff(f"[{{ S[i, j] -> [floor(j / {TILE})] }}]")
    return isl.AstBuild.from_context(isl.Set("[n, m] -> { : n > 0 and m > 0 }")).node_from_schedule(
        node.insert_partial_schedule(tiles).get_schedule()
    )


BOX = "[n, m] -> { S[i, j] : 0 <= i < m and 0 <= j < n }"
ROWS = "S[i, j] -> [i]}, {S[i, j] -> [j]"


@pytest.mark.parametrize(
    ("domain", "first", "last"),
    [
        (BOX, "0", "n - 1"),
        ("[n, m] -> { S[i, j] : 0 <= i <= j < n }", "0", "n - 1"),
        ("[n, m] -> { S[i, j] : 0 <= i < m and 100 <= j - m < n }", "(m + 36) / 64 + 1", "n + m - 1"),
        # the loop along j ends elsewhere in each row
        ("[n, m] -> { S[i, j] : 0 <= j <= i < n }", "0", None),
    ],
)
def test_what_strips_cover(domain, first, last):
    loop = loop_over_tiles(domain, ROWS)
    strips = strips_of(loop, TILE)
    assert strips is not None
    assert strips.first.to_C_str() == first
    assert (strips.cut and strips.cut.to_C_str()) == last
    counter = loop.for_get_iterator().to_C_str()
    assert strips.begin.to_C_str() == f"{TILE} * {counter}"
    assert strips.end.to_C_str() == f"{TILE} * {counter} + {TILE - 1}"


@pytest.mark.parametrize(
    ("domain", "points"),
    [
        # the tile stands in bounds that are not its own
        (BOX, f"S[i, j] -> [i + floor(j / {TILE})]}}, {{S[i, j] -> [j]"),
        (BOX, "S[i, j] -> [i + j]}, {S[i, j] -> [j]"),
        # every third column
        ("[n, m] -> { S[i, j] : 0 <= i < m and 0 <= j < n and j mod 3 = 0 }", ROWS),
        # all tiles are whole
        ("[n, m] -> { S[i, j] : 0 <= i < m and 0 <= j < 64 * n }", ROWS),
        # the loops go through the tiles backwards
        (BOX, "S[i, j] -> [i]}, {S[i, j] -> [-j]"),
    ],
)
def test_tiles_that_stay(domain, points):
    assert strips_of(loop_over_tiles(domain, points), TILE) is None


def test_tiles_of_another_size():
    assert strips_of(loop_over_tiles(BOX, ROWS), TILE // 2) is None
