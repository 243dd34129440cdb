"""The tiles of a region's new order, along two of its loops: which iterations run together, and when."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import islpy as isl

from polybuild.poly.marks import MarkKind
from polybuild.poly.relations import maps_of, sets_of, tuple_name
from polybuild.poly.sampling import small_parameters
from polybuild.poly.trees import children, is_mark, node_kind
from polybuild.report.explain.pictures.tiles import Point, Tile, tile_picture
from polybuild.scop.model import Scop, Statement
from polybuild.values import dataclass

_in, _out, _set, _param = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set, isl.dim_type.param

_SQUARES = 36  # along each loop
_TILES = 3  # along each loop, at least


@dataclass(frozen=True, slots=True)
class _Tiled:
    """Where the tiles of a statement begin: ``numbers`` relates its instances to their tiles.

    The first ``ordered`` numbers say when a tile runs, the others which of those at that time it is;
    None if no tiles run at the same time.
    """

    statement: Statement
    numbers: isl.Map
    ordered: int | None = None


def tiling(scop: Scop, schedule: isl.Schedule, nest: Sequence[Statement]) -> tuple[str, str]:
    """An SVG picture of the tiles of ``nest`` and what to say of it; both empty if it has none.

    It shows the first statement with tiles across two or more loops, along the outermost two of them.
    """
    for statement in nest:
        nowhere = isl.Map.from_domain(statement.domain)
        found = list(_tiled(schedule.get_root(), _Tiled(statement, nowhere)))
        # in phases there is no plane in common
        if found and all(each.numbers.is_equal(found[0].numbers) for each in found):
            lengths = _lengths(found[0].numbers)
            if len(lengths) > 1:
                return _drawn(scop, found[0], lengths)
    return "", ""


def _tiled(node: isl.ScheduleNode, so_far: _Tiled, *, tiles: bool = False) -> Iterator[_Tiled]:
    """The tiles of a statement whose points are in bands below ``node``; ``so_far`` are the loops above."""
    statement, kind = so_far.statement, node_kind(node)
    if kind == isl.schedule_node_type.filter and statement.name not in _names(node.filter_get_filter()):
        return
    if is_mark(node, MarkKind.PARALLEL) and so_far.ordered is None:
        so_far = replace(so_far, ordered=so_far.numbers.dim(_out))
    if kind == isl.schedule_node_type.band:
        here = _of(isl.UnionMap.from_multi_union_pw_aff(node.band_get_partial_schedule()), statement)
        cut, before = _lengths(here), _lengths(so_far.numbers)
        if (tiles and not cut) or (len(before) > 1 and cut.keys() - before.keys()):
            yield so_far  # two loops are enough for a picture
            return
        so_far = replace(so_far, numbers=so_far.numbers.flat_range_product(here))
        tiles = bool(cut)
    for each in children(node):
        yield from _tiled(each, so_far, tiles=tiles)


def _names(union: isl.UnionSet) -> set[str]:
    return {tuple_name(each) for each in sets_of(union)}


def _of(union: isl.UnionMap, statement: Statement) -> isl.Map:
    (found,) = (each for each in maps_of(union) if each.get_tuple_name(_in) == statement.name)
    return found.intersect_domain(statement.domain).gist_domain(statement.domain)


def _floors(relation: isl.Map) -> list[isl.Aff]:
    """What is rounded down in the values of a function."""
    pieces: list[isl.MultiAff] = []
    isl.PwMultiAff.from_map(relation).foreach_piece(lambda _where, value: pieces.append(value))
    values = [each.get_aff(position) for each in pieces for position in range(each.dim(_out))]
    return [each.get_div(position) for each in values for position in range(each.dim(isl.dim_type.div))]


def _lengths(numbers: isl.Map) -> dict[int, int]:
    """How many iterations the tiles are long along each loop that they cut."""
    found: dict[int, float] = {}
    for value in _floors(numbers):
        for dim in range(value.dim(_in)):
            factor = value.get_coefficient_val(_in, dim).abs()
            if not factor.is_zero():
                found[dim] = min(found.get(dim, math.inf), int(factor.inv().ceil().to_python()))
    return {dim: int(found[dim]) for dim in sorted(found)}


def _drawn(scop: Scop, tiled: _Tiled, lengths: dict[int, int]) -> tuple[str, str]:
    shown = tuple(lengths)[:2]
    names = [tiled.statement.iterators[dim].name for dim in shown]
    steps = [math.ceil(_TILES * lengths[dim] / _SQUARES) for dim in shown]
    tiles = _sampled(scop, tiled, lengths, dict(zip(shown, steps, strict=True)))
    if len(set(tiles.values())) < 2:
        return "", ""
    axes = (names[0], names[1])
    at_once = tiled.ordered is not None
    ordered = tiled.numbers.dim(_out) if tiled.ordered is None else tiled.ordered
    title = f"tiles along {names[0]} and {names[1]}"
    picture = tile_picture(tiles, title, axes, ordered=ordered, dots=False)
    square = " and ".join(f"{step} of {name}" for name, step in zip(names, steps, strict=True))
    colours = "Tiles of one colour run at the same time. " if at_once else "Tiles run one after the other. "
    line = tiled.statement.location.line
    return picture, f"{colours}The statement is on line {line}; a square stands for {square}."


def _sampled(scop: Scop, tiled: _Tiled, lengths: dict[int, int], steps: dict[int, int]) -> dict[Point, Tile]:
    """The tile of one iteration of every so many, in a corner of the iteration space."""
    runs = scop.context.intersect(tiled.statement.domain.params())
    values = small_parameters(runs, max(_SQUARES * step for step in steps.values()) + max(lengths.values()))
    domain = tiled.statement.domain.intersect_params(values).project_out_all_params()
    if domain.is_empty():
        return {}
    places, letters = [], iter("ab")
    for dim in range(domain.dim(_set)):
        start = int(domain.dim_min_val(dim).to_python())
        places.append(f"{start} + {steps[dim]}*{next(letters)}" if dim in steps else str(start))
        if dim not in steps:
            domain = domain.fix_val(_set, dim, isl.Val(start))
    bounds = " and ".join(f"0 <= {letter} < {_SQUARES}" for letter in "ab")
    chosen = isl.Map(f"{{ [a, b] -> {tiled.statement.name}[{', '.join(places)}] : {bounds} }}")
    numbers = tiled.numbers.intersect_params(values).project_out_all_params().intersect_domain(domain)
    points: list[isl.Point] = []
    chosen.apply_range(numbers).wrap().foreach_point(points.append)
    depth = tiled.numbers.dim(_out)
    found: dict[Point, Tile] = {}
    for each in points:
        at = [int(each.get_coordinate_val(_set, position).to_python()) for position in range(2 + depth)]
        found[at[0], at[1]] = tuple(at[2:])
    return dict(sorted(found.items()))
