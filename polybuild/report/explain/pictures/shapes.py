"""The pictures of each tile shape in the documentation.

``python -m polybuild.report.explain.pictures.shapes docs/pictures`` writes them.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from pathlib import Path

import islpy as isl

from polybuild.poly.marks import Mark, MarkKind
from polybuild.poly.trees import insert_mark
from polybuild.report.explain.pictures.tiles import Point, Tile, plane, tile_numbers, tile_picture
from polybuild.transform.bands import tile
from polybuild.transform.tiling.diamond import diamond, diamond_planes
from polybuild.transform.tiling.hexagonal import hexagonal
from polybuild.transform.tiling.hybrid import hybrid
from polybuild.transform.tiling.split import split
from polybuild.transform.tiling.stencil import Stencil, find_stencil
from polybuild.transform.tiling.wavefront import wavefront

FIXED = {"steps": 18, "n": 48}
LINE = (range(18), range(48))
STEPS = (range(18), range(40))


def pictures() -> dict[str, str]:
    """File names and their texts."""
    line = _tree(1)
    square = _tree(2)
    band = isl.MultiUnionPwAff("[steps, n] -> [{ S[t, i] -> [(t)] }, { S[t, i] -> [(t + i)] }]")
    skewed = line.delete().delete().insert_partial_schedule(band).band_set_permutable(1)
    points = wavefront(tile(skewed, (6, 6))).child(0).child(0)
    return {
        "tiles-wavefront.svg": _time(
            insert_mark(points, Mark(MarkKind.TILE_POINTS)), "Parallelograms in wavefronts"
        ),
        "tiles-diamond.svg": _time(_shaped(line, _diamonds), "Diamonds"),
        "tiles-hexagonal.svg": _time(_shaped(line, _hexagons), "Diamonds drawn out to hexagons"),
        "tiles-split.svg": _time(
            _shaped(line, lambda node, stencil: split(node, stencil, 4, (12,))), "Trapezoids"
        ),
        "tiles-hybrid.svg": _time(
            _shaped(line, lambda node, stencil: hybrid(node, stencil, 2, 3, ())), "Hexagons"
        ),
        "tiles-folded.svg": _time(_folded(line), "Hexagons on a ring, folded in its middle"),
        "tiles-hybrid-strips.svg": tile_picture(
            plane(
                tile_numbers(
                    _shaped(square, lambda node, stencil: hybrid(node, stencil, 2, 3, (8,))).get_schedule()
                ),
                FIXED | {"x1": 20},
                (0, 2),
                STEPS,
            ),
            "Parallelograms in the second dimension",
            ("t", "j"),
        ),
        **{
            f"tiles-split-{step}.svg": tile_picture(
                plane(
                    tile_numbers(
                        _shaped(
                            square, lambda node, stencil: split(node, stencil, 4, (10, 10))
                        ).get_schedule()
                    ),
                    FIXED | {"x0": step},
                    (1, 2),
                    (range(20), range(20)),
                ),
                f"The four colours of a plane in step {step} of a band",
                ("i", "j"),
                upwards=False,
            )
            for step in (0, 2, 3)
        },
    }


def _diamonds(node: isl.ScheduleNode, stencil: Stencil) -> isl.ScheduleNode:
    return diamond(node, stencil, diamond_planes(stencil, 1, _dependences(1)), 8)


def _hexagons(node: isl.ScheduleNode, stencil: Stencil) -> isl.ScheduleNode:
    return hexagonal(node, stencil, diamond_planes(stencil, 1, _dependences(1)), 6, stretch=4)


def _folded(node: isl.ScheduleNode) -> isl.ScheduleNode:
    """Hexagons over a line whose first and last points are neighbours."""
    stencil = find_stencil(node, _dependences(1).union(_across_the_border()), folding=True)
    return node if stencil is None else hybrid(node, stencil, 2, 3, ())


def _tree(dims: int) -> isl.ScheduleNode:
    """The loop over time of a stencil on a line or a plane."""
    places = "ij"[:dims]
    bounds = " and ".join(f"0 <= {each} < n" for each in places)
    instance = f"S[t, {', '.join(places)}]"
    bands = ", child: ".join(f'{{ schedule: "[{{ {instance} -> [({each})] }}]"' for each in "t" + places)
    domain = f"[steps, n] -> {{ {instance} : 0 <= t < steps and {bounds} }}"
    tree = isl.Schedule(f'{{ domain: "{domain}", child: {bands} {"}" * (dims + 2)}')
    return tree.get_root().child(0)


def _dependences(dims: int) -> isl.UnionMap:
    """Each point needs itself and its neighbours of the step before."""
    names = "ij"[:dims]
    moves = [move for move in itertools.product((-1, 0, 1), repeat=dims) if sum(map(abs, move)) <= 1]
    ends = [", ".join(f"{name} + {by}" for name, by in zip(names, move, strict=True)) for move in moves]
    relation = "; ".join(f"S[t, {', '.join(names)}] -> S[t + 1, {end}]" for end in ends)
    domain = _tree(dims).get_domain()
    return isl.UnionMap(f"{{ {relation} }}").intersect_domain(domain).intersect_range(domain)


def _across_the_border() -> isl.UnionMap:
    """The first point of a ring needs the last one of the step before, and the other way round."""
    domain = _tree(1).get_domain()
    relation = isl.UnionMap("[n] -> { S[t, n - 1] -> S[t + 1, 0]; S[t, 0] -> S[t + 1, n - 1] }")
    return relation.intersect_domain(domain).intersect_range(domain)


def _shaped(
    node: isl.ScheduleNode, shape: Callable[[isl.ScheduleNode, Stencil], isl.ScheduleNode]
) -> isl.ScheduleNode:
    dims = node.get_subtree_schedule_union_map().range().as_set().dim(isl.dim_type.set) - 1
    stencil = find_stencil(node, _dependences(dims))
    return node if stencil is None else shape(node, stencil)


def _time(node: isl.ScheduleNode, title: str) -> str:
    points: dict[Point, Tile] = plane(tile_numbers(node.get_schedule()), FIXED, (0, 1), LINE)
    return tile_picture(points, title, ("t", "i"))


if __name__ == "__main__":
    for name, text in pictures().items():
        (Path(sys.argv[1]) / name).write_text(text, encoding="utf-8")
