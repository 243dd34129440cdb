"""Which elements of its arrays a region touches, and which of them one iteration does."""

from __future__ import annotations

import islpy as isl

from polybuild.poly.sampling import Point, points, small_parameters, without_parameters
from polybuild.report.explain.pictures.svg import Drawing
from polybuild.scop.model import Access, AccessKind, Array, Scop, Statement
from polybuild.values import dataclass

_in, _set = isl.dim_type.in_, isl.dim_type.set

_SIDE = 9  # elements shown along each dimension
_CELL = 20.0
_MAXIMUM_ARRAYS = 4
_GAP = 44.0


@dataclass(frozen=True, slots=True)
class _Touched:
    """Elements of one array, by their last two subscripts: read, written, and of the example iteration."""

    array: Array
    read: frozenset[Point]
    written: frozenset[Point]
    example: frozenset[Point]

    @property
    def all(self) -> frozenset[Point]:
        return self.read | self.written


def footprints(scop: Scop) -> str:
    """An SVG picture of the arrays of a region for small parameters; empty if it has none."""
    ran = isl.Set.empty(scop.context.get_space())
    for each in scop.statements:
        ran = ran.union(each.domain.params())
    ran = ran.intersect(scop.context)
    arrays = [each for each in scop.arrays if not each.is_scalar][:_MAXIMUM_ARRAYS]
    if ran.is_empty() or not arrays:
        return ""
    values = small_parameters(ran, _SIDE - 1)
    example = _example(scop, values)
    if example is None:
        return ""
    touched = [_touched(scop, array, values, example) for array in arrays]
    touched = [each for each in touched if each.all]
    return _draw(touched, example) if touched else ""


_Instance = tuple[Statement, Point]


def _example(scop: Scop, values: isl.Set) -> _Instance | None:
    """An iteration in the middle of the statement that touches most."""
    for statement in sorted(scop.statements, key=lambda each: -len(each.accesses)):
        domain = without_parameters(statement.domain, values)
        for dim in range(domain.dim(_set)):
            minimum = domain.dim_min_val(dim)
            if minimum.is_int():  # what is drawn starts there
                domain = domain.upper_bound_val(_set, dim, minimum.add(isl.Val(_SIDE - 1)))
        point = _middle(domain)
        if point is not None:
            return statement, point
    return None


def _middle(domain: isl.Set) -> Point | None:
    """A point of ``domain`` with some room around it, as far as that is easily found."""
    for dim in range(domain.dim(_set)):
        own = sorted({each[dim] for each in points(domain, _SIDE**3)})
        if not own:
            return None
        domain = domain.fix_val(_set, dim, isl.Val(own[len(own) // 2]))
    return points(domain, 1)[0] if not domain.is_empty() else None


def _touched(scop: Scop, array: Array, values: isl.Set, example: _Instance) -> _Touched:
    read: set[Point] = set()
    written: set[Point] = set()
    own: set[Point] = set()
    for statement in scop.statements:
        for access in statement.accesses:
            if access.array.name != array.name:
                continue
            elements = _elements(access, values, None)
            if access.kind is not AccessKind.WRITE:
                read |= elements
            if access.kind is not AccessKind.READ:
                written |= elements
            if statement is example[0]:
                own |= _elements(access, values, example[1])
    return _Touched(array, frozenset(read), frozenset(written), frozenset(own))


def _elements(access: Access, values: isl.Set, instance: Point | None) -> set[Point]:
    """The last two subscripts of what ``access`` touches, near the first of them."""
    relation = access.relation
    for dim, value in enumerate(instance or ()):
        relation = relation.fix_val(_in, dim, isl.Val(value))
    elements = without_parameters(relation.range(), values).reset_tuple_id()
    elements = elements.project_out(_set, 0, max(0, elements.dim(_set) - 2))
    for dim in range(elements.dim(_set)):
        minimum = elements.dim_min_val(dim)
        if not minimum.is_int():
            elements = elements.lower_bound_val(_set, dim, isl.Val(0))
            minimum = isl.Val(0)
        elements = elements.upper_bound_val(_set, dim, minimum.add(isl.Val(_SIDE - 1)))
    return {(0, *each)[-2:] for each in points(elements, _SIDE**2)}


def _draw(touched: list[_Touched], example: _Instance) -> str:
    boxes = [_extent(each) for each in touched]
    widths = [max(90.0, len(columns) * _CELL) for _, columns in boxes]
    height = max(len(rows) for rows, _ in boxes) * _CELL
    legend = _legend(touched, example)
    width = max(360.0, sum(widths) + _GAP * (len(boxes) + 1))
    picture = Drawing(width, height + 72 + 20 * len(legend), "elements touched")
    left = _GAP
    for each, (rows, columns), taken in zip(touched, boxes, widths, strict=True):
        picture.text((left, 18), _title(each.array), "code")
        _grid(picture, each, (rows, columns), left)
        left += taken + _GAP
    for row, (kind, text) in enumerate(legend):
        top = height + 70 + 20 * row
        picture.box((_GAP, top - 11), (14, 14), kind)
        picture.text((_GAP + 22, top), text)
    return picture.svg()


def _grid(picture: Drawing, each: _Touched, extent: tuple[range, range], left: float) -> None:
    rows, columns = extent
    top = 30.0
    for row in rows:
        for column in columns:
            corner = (left + (column - columns.start) * _CELL, top + (row - rows.start) * _CELL)
            picture.box(corner, (_CELL, _CELL), _kind(each, (row, column)))
    for row, column in sorted(each.example & {(row, column) for row in rows for column in columns}):
        corner = (left + (column - columns.start) * _CELL, top + (row - rows.start) * _CELL)
        picture.box((corner[0] + 2, corner[1] + 2), (_CELL - 4, _CELL - 4), "strong")
    if each.array.extents[1:]:
        picture.text((left - 6, top + 14), str(rows.start), "faint right")
        picture.text((left - 6, top + len(rows) * _CELL - 5), str(rows[-1]), "faint right")
    below = top + len(rows) * _CELL + 15
    picture.text((left + 4, below), str(columns.start), "faint")
    picture.text((left + len(columns) * _CELL - 4, below), str(columns[-1]), "faint right")


def _kind(each: _Touched, element: Point) -> str:
    if element in each.read and element in each.written:
        return "both"
    if element in each.read:
        return "read"
    return "write" if element in each.written else "empty"


def _extent(each: _Touched) -> tuple[range, range]:
    rows, columns = ([element[dim] for element in each.all] for dim in (0, 1))
    return tuple(range(min(line), min(min(line) + _SIDE, max(line) + 1)) for line in (rows, columns))  # type: ignore[return-value]


def _title(array: Array) -> str:
    count = len(array.extents)
    return array.spelling + "[...]" * max(0, count - 2) + "[ ]" * min(2, count)


def _legend(touched: list[_Touched], example: _Instance) -> list[tuple[str, str]]:
    kinds = {_kind(each, element) for each in touched for element in each.all}
    texts = {"read": "read", "write": "written", "both": "read and written"}
    statement, point = example
    place = ", ".join(
        f"{each.name} = {value}" for each, value in zip(statement.iterators, point, strict=True)
    )
    where = f" at {place}" if place else ""
    return [
        *((kind, text) for kind, text in texts.items() if kind in kinds),
        ("strong", f"touched by line {statement.location.line}{where}"),
    ]
