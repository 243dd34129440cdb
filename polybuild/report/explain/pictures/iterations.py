"""The iteration space of a loop nest over two of its loops, with the dependences between iterations."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import islpy as isl

from polybuild.analysis.dependences import Dependences
from polybuild.poly.relations import maps_of
from polybuild.poly.sampling import Point, points, small_parameters, without_parameters
from polybuild.report.explain.pictures.svg import Drawing
from polybuild.scop.model import Scop, Statement
from polybuild.values import dataclass

_in, _out, _set = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set

_SIDE = 6  # iterations shown along each loop
_STEP = 56.0
_MARGIN = 44.0
_MAXIMUM_ARROWS = 600
_BEND = 12.0  # how far arrows go around each iteration that is in their way
_MAXIMUM_STATEMENTS = 4


@dataclass(frozen=True, slots=True)
class _Slice:
    """Two loops of a nest (one if it has no more), and the part of their iterations that is drawn.

    ``window`` is a set over these loops without parameters; ``parameters`` is the one
    point of them that the picture shows.
    """

    dims: tuple[int, ...]
    names: tuple[str, ...]
    parameters: isl.Set
    window: isl.Set

    def of(self, domain: isl.Set) -> isl.Set:
        """``domain`` seen along the two loops."""
        kept = without_parameters(domain, self.parameters)
        for dim in reversed(range(kept.dim(_set))):
            if dim not in self.dims:
                kept = kept.project_out(_set, dim, 1)
        return kept.reset_tuple_id().intersect(self.window)


def nests(scop: Scop) -> list[tuple[Statement, ...]]:
    """The statements with loops, by their outermost loop, in the order of the text."""
    found: dict[object, list[Statement]] = {}
    for each in scop.statements:
        if each.iterators:
            outermost = each.iterators[0]
            found.setdefault((outermost.name, outermost.location), []).append(each)
    return [tuple(each) for each in found.values()]


def iteration_space(scop: Scop, dependences: Dependences, nest: Sequence[Statement]) -> str:
    """An SVG picture of ``nest``: a dot for each iteration, an arrow for each dependence.

    Of a deeper nest it shows the two outermost loops that carry dependences, with
    the others projected out. Empty if nothing of it runs.
    """
    dims = _chosen(dependences, nest)
    shown = [each for each in nest if len(each.iterators) > dims[-1]][:_MAXIMUM_STATEMENTS]
    view = _slice(scop, shown, dims)
    if view is None:
        return ""
    dots = {each.name: points(view.of(each.domain), _SIDE**2) for each in shown}
    everywhere = [point for each in dots.values() for point in each]
    if not everywhere:
        return ""
    return _Picture(view, shown, everywhere).draw(dots, list(_arrows(dependences, shown, view)))


def _chosen(dependences: Dependences, nest: Sequence[Statement]) -> tuple[int, ...]:
    """The two loops to show: the outermost of those along which dependences reach."""
    depth = max(len(each.iterators) for each in nest)
    names = {each.name for each in nest}
    moving: set[int] = set()
    for relation in maps_of(dependences.validity):
        if relation.get_tuple_name(_in) in names and relation.get_tuple_name(_out) in names:
            common = min(relation.dim(_in), relation.dim(_out))
            moving |= {
                dim
                for dim in range(common)
                if dim not in moving and not relation.is_subset(relation.equate(_in, dim, _out, dim))
            }
    order = sorted(range(depth), key=lambda dim: (dim not in moving, dim))
    return tuple(sorted(order[:2]))


def _slice(scop: Scop, nest: Sequence[Statement], dims: tuple[int, ...]) -> _Slice | None:
    runs = scop.context
    ran = isl.Set.empty(scop.context.get_space())
    for each in nest:
        ran = ran.union(each.domain.params())
    runs = runs.intersect(ran)
    if runs.is_empty():
        return None
    parameters = small_parameters(runs, _SIDE + 2)
    names = tuple(nest[0].iterators[dim].name for dim in dims)
    everything = isl.Set.universe(isl.Space.set_alloc(scop.context.get_ctx(), 0, len(dims)))
    view = _Slice(dims, names, parameters, everything)
    reached = [view.of(each.domain) for each in nest]
    window = everything
    for dim in range(len(dims)):
        minima = [each.dim_min_val(dim) for each in reached if not each.is_empty()]
        starts = [int(each.to_python()) for each in minima if each.is_int()]
        start = min(starts, default=0)
        window = window.lower_bound_val(_set, dim, isl.Val(start))
        window = window.upper_bound_val(_set, dim, isl.Val(start + _SIDE - 1))
    return _Slice(dims, names, parameters, window)


@dataclass(frozen=True, slots=True)
class _Arrow:
    kind: str
    source: tuple[str, Point]
    target: tuple[str, Point]

    @property
    def steps(self) -> int:
        """One more than the iterations of the same statement that a straight arrow would pass over."""
        if self.source[0] != self.target[0]:
            return 1
        return math.gcd(*(to - at for at, to in zip(self.source[1], self.target[1], strict=True)))


def _arrows(dependences: Dependences, nest: Sequence[Statement], view: _Slice) -> Iterator[_Arrow]:
    names = {each.name for each in nest}
    drawn: set[tuple[object, ...]] = set()
    for relation, kind in ((dependences.flow, "flow"), (dependences.false, "anti")):
        for each in maps_of(relation):
            ends = each.get_tuple_name(_in), each.get_tuple_name(_out)
            if not names.issuperset(ends):
                continue
            for pair in _pairs(each, view):
                source, target = pair[: len(view.dims)], pair[len(view.dims) :]
                key = (*ends, pair)
                if key not in drawn and (source != target or ends[0] != ends[1]):
                    drawn.add(key)
                    yield _Arrow(kind, (ends[0], source), (ends[1], target))


def _pairs(relation: isl.Map, view: _Slice) -> list[Point]:
    """The pairs of shown iterations that ``relation`` relates, each as one point."""
    relation = relation.intersect_params(view.parameters).project_out_all_params()
    for kind in (_in, _out):
        for dim in reversed(range(relation.dim(kind))):
            if dim not in view.dims:
                relation = relation.project_out(kind, dim, 1)
        relation = relation.reset_tuple_id(kind)
    relation = relation.intersect_domain(view.window).intersect_range(view.window)
    return points(relation.wrap().flatten(), _MAXIMUM_ARROWS)


class _Picture:
    """Where things are: the last of the two loops goes to the right, the first one up."""

    def __init__(self, view: _Slice, shown: Sequence[Statement], everywhere: Sequence[Point]) -> None:
        self._view = view
        self._shown = shown
        flat = len(view.dims) == 1
        rows = [0] if flat else [point[0] for point in everywhere]
        columns = [point[-1] for point in everywhere]
        self._rows, self._columns = range(min(rows), max(rows) + 1), range(min(columns), max(columns) + 1)
        self._offsets = {
            each.name: 0.62 * _STEP * position / max(1, len(shown)) for position, each in enumerate(shown)
        }
        self.width = max(330.0, 2 * _MARGIN + len(self._columns) * _STEP)
        self._floor = 24 + len(self._rows) * _STEP

    def draw(self, dots: dict[str, list[Point]], arrows: list[_Arrow]) -> str:
        legend = [*self._statements(), *self._kinds(arrows)]
        picture = Drawing(self.width, self._floor + 44 + 18 * len(legend), "iterations and dependences")
        self._axes(picture)
        for arrow in sorted(arrows, key=lambda each: each.kind == "flow"):  # on top of the others
            ends = self._place(*arrow.source), self._place(*arrow.target)
            picture.arrow(*ends, arrow.kind, bend=_BEND * (arrow.steps - 1))
        for position, (name, found) in enumerate(dots.items()):
            for point in found:
                picture.circle(self._place(name, point), 4, "other" if position % 2 else "point")
        for row, (kind, text) in enumerate(legend):
            height = self._floor + 54 + 18 * row
            if kind in {"point", "other"}:
                picture.circle((_MARGIN, height - 4), 4, kind)
            else:
                picture.arrow((_MARGIN - 12, height - 4), (_MARGIN + 14, height - 4), kind, gap=0)
            picture.text((_MARGIN + 22, height), text)
        return picture.svg()

    def _place(self, name: str, point: Point) -> tuple[float, float]:
        row = 0 if len(point) == 1 else point[0] - self._rows.start
        along, up = (point[-1] - self._columns.start) * _STEP, row * _STEP
        offset = self._offsets[name]
        return _MARGIN + 14 + along + offset, self._floor - 14 - up - offset

    def _axes(self, picture: Drawing) -> None:
        right = _MARGIN + len(self._columns) * _STEP
        picture.line((_MARGIN - 8, self._floor + 4), (right, self._floor + 4), "axis")
        picture.text((right + 4, self._floor + 8), self._view.names[-1], "code")
        for position, value in enumerate(self._columns):
            picture.text((_MARGIN + 14 + position * _STEP, self._floor + 20), str(value), "faint middle")
        if len(self._view.dims) > 1:
            picture.line((_MARGIN - 8, 14), (_MARGIN - 8, self._floor + 4), "axis")
            picture.text((_MARGIN - 12, 12), self._view.names[0], "code")
            for position, value in enumerate(self._rows):
                height = self._floor - 10 - position * _STEP
                picture.text((_MARGIN - 14, height), str(value), "faint right")

    def _statements(self) -> Iterator[tuple[str, str]]:
        for position, each in enumerate(self._shown):
            yield "other" if position % 2 else "point", f"iteration of line {each.location.line}"

    @staticmethod
    def _kinds(arrows: list[_Arrow]) -> Iterator[tuple[str, str]]:
        kinds = {arrow.kind for arrow in arrows}
        if "flow" in kinds:
            yield "flow", "flow: the value is needed there"
        if "anti" in kinds:
            yield "anti", "anti or output: the memory is used again"
