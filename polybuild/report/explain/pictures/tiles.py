"""Tiles of an iteration space: a plane cut through it, every point in the colour of its tile."""

from __future__ import annotations

import islpy as isl

from polybuild.poly.marks import MarkKind
from polybuild.poly.trees import children, is_mark, node_kind
from polybuild.report.explain.pictures.svg import Drawing

Point = tuple[int, int]
Tile = tuple[int, ...]

_CELL = 14.0
_MARGIN = 40.0
_COLOURS = 4


def tile_numbers(schedule: isl.Schedule) -> isl.UnionMap:
    """Each instance with its tile, for a tree with marks (see ``transform.phases``).

    The tile is ``(wave, phase, number...)``: the first two say when it runs, the others which
    of those that run at once it is, and which of their strips.
    """
    found: list[isl.UnionMap] = []
    _collect(schedule.get_root(), 0, found)
    union = found[0]
    for each in found[1:]:
        union = union.union(each)
    return union


def _collect(node: isl.ScheduleNode, phase: int, found: list[isl.UnionMap]) -> None:
    if is_mark(node, MarkKind.TILE_POINTS):
        numbers = node.get_prefix_schedule_relation()
        found.append(numbers.apply_range(isl.UnionMap(_with_phase(numbers, phase))))
        return
    sequence = node_kind(node) == isl.schedule_node_type.sequence
    for index, each in enumerate(children(node)):
        _collect(each, index if sequence else phase, found)


def _with_phase(numbers: isl.UnionMap, phase: int) -> str:
    names = [f"x{each}" for each in range(isl.Set.from_union_set(numbers.range()).dim(isl.dim_type.set))]
    return f"{{ [{', '.join(names)}] -> [{', '.join([names[0], str(phase), *names[1:]])}] }}"


def plane(
    numbers: isl.UnionMap, fixed: dict[str, int], dims: tuple[int, int], window: tuple[range, range]
) -> dict[Point, Tile]:
    """The tile of each point ``(down, across)`` of a plane through the instances.

    ``fixed`` gives the parameters, and ``x<d>`` the place of the plane in dimension ``d``; ``dims``
    are the dimensions that are drawn, and ``window`` the part of them.
    """
    relation = isl.Map.from_union_map(numbers).reset_tuple_id(isl.dim_type.in_)
    for name, value in fixed.items():
        if name.startswith("x"):
            relation = relation.fix_val(isl.dim_type.in_, int(name[1:]), isl.Val(value))
        elif (position := relation.find_dim_by_name(isl.dim_type.param, name)) >= 0:
            relation = relation.fix_val(isl.dim_type.param, position, isl.Val(value))
    relation = relation.project_out(isl.dim_type.param, 0, relation.dim(isl.dim_type.param))
    for dim, shown in zip(dims, window, strict=True):
        relation = relation.lower_bound_val(isl.dim_type.in_, dim, isl.Val(shown.start))
        relation = relation.upper_bound_val(isl.dim_type.in_, dim, isl.Val(shown.stop - 1))
    depth = relation.dim(isl.dim_type.in_)
    points: list[isl.Point] = []
    relation.wrap().foreach_point(points.append)
    found: dict[Point, Tile] = {}
    for each in points:
        values = [
            each.get_coordinate_val(isl.dim_type.set, position).to_python()
            for position in range(depth + relation.dim(isl.dim_type.out))
        ]
        found[values[dims[0]], values[dims[1]]] = tuple(values[depth:])
    return dict(sorted(found.items()))


def tile_picture(
    tiles: dict[Point, Tile],
    title: str,
    axes: tuple[str, str],
    *,
    ordered: int = 2,
    upwards: bool = True,
    dots: bool = True,
) -> str:
    """An SVG picture of a plane: a square for each point, with a dot if ``dots``, lines between the tiles.

    The first ``ordered`` numbers of a tile say when it runs: all tiles with the same ones run at
    once and have one colour. The first coordinate of a point goes up, or down.
    """
    rows = sorted({row for row, _ in tiles})
    columns = sorted({column for _, column in tiles})
    times = sorted({tile[:ordered] for tile in tiles.values()})
    width = _MARGIN + _CELL * (columns[-1] - columns[0] + 1) + 20
    height = _MARGIN + _CELL * (rows[-1] - rows[0] + 1) + 20
    drawing = Drawing(width, height, title)

    def corner(row: int, column: int) -> tuple[float, float]:
        line = rows[-1] - row if upwards else row - rows[0]
        return _MARGIN + _CELL * (column - columns[0]), 10 + _CELL * line

    for row, first, last, colour in _runs({at: times.index(tile[:ordered]) for at, tile in tiles.items()}):
        size = (_CELL * (last - first + 1), _CELL)
        drawing.box(corner(row, first), size, f"tile{colour % _COLOURS}")
    for row, column in tiles if dots else ():
        left, top = corner(row, column)
        drawing.circle((left + _CELL / 2, top + _CELL / 2), 1.5, "point")
    below = -1 if upwards else 1
    beside = {(row, at) for row, at in tiles if _parted(tiles, (row, at), (row, at + 1))}
    for column, first, last, _ in _runs({(at, row): 0 for row, at in beside}):
        ends = sorted((corner(first, column)[1], corner(last, column)[1]))
        x = corner(first, column)[0] + _CELL
        drawing.line((x, ends[0]), (x, ends[1] + _CELL), "strong")
    under = {(row, at) for row, at in tiles if _parted(tiles, (row, at), (row + below, at))}
    for row, first, last, _ in _runs(dict.fromkeys(sorted(under), 0)):
        left, top = corner(row, first)
        drawing.line((left, top + _CELL), (left + _CELL * (last - first + 1), top + _CELL), "strong")
    bottom = 10 + _CELL * (rows[-1] - rows[0] + 1)
    drawing.text((_MARGIN - 24, 10 + (bottom - 10) / 2), axes[0], "code")
    drawing.text((_MARGIN + (width - _MARGIN - 20) / 2, bottom + 18), axes[1], "code")
    return drawing.svg()


def _parted(tiles: dict[Point, Tile], one: Point, other: Point) -> bool:
    return other in tiles and tiles[one] != tiles[other]


def _runs(values: dict[Point, int]) -> list[tuple[int, int, int, int]]:
    """``(row, first, last, value)`` for each run of equal values of neighbours in a row."""
    runs: list[tuple[int, int, int, int]] = []
    for (row, column), value in sorted(values.items()):
        if runs and runs[-1][0] == row and runs[-1][2] == column - 1 and runs[-1][3] == value:
            runs[-1] = (row, runs[-1][1], column, value)
        else:
            runs.append((row, column, column, value))
    return runs
