"""Which dependences each loop of the source carries, and so cannot run its iterations side by side.

A dependence is carried by the outermost loop in which its two instances differ
(Allen and Kennedy's level of a dependence). It is named by the two accesses that
make it, with its distance over the loops both have in common and an example.
"""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl

from polybuild.analysis.dependences import Dependences
from polybuild.c.syntax_tree import location
from polybuild.codegen.c.bodies import c_text
from polybuild.diagnostics import Location
from polybuild.poly.relations import maps_of
from polybuild.poly.sampling import Point, small_parameters, small_point, without_parameters
from polybuild.scop.model import Access, AccessKind, Scop, Statement
from polybuild.values import dataclass

_in, _out = isl.dim_type.in_, isl.dim_type.out
_MAXIMUM_LENGTH = 60
# large enough for a neighbour on each side, small enough to follow with a finger
_EXAMPLE_SIZE = 6


@dataclass(frozen=True, slots=True)
class End:
    """One end of a dependence: the access as written, its line, and its place in the example."""

    access: str
    line: int
    instance: str


@dataclass(frozen=True, slots=True)
class Obstacle:
    """A dependence from ``source`` to ``target``: ``kind`` is ``flow``, ``anti`` or ``output``.

    ``distance`` has one component per loop that both ends share, ``+`` for any
    positive number and ``*`` for any number; ``element`` is what the example touches.
    """

    kind: str
    array: str
    source: End
    target: End
    distance: str
    element: str

    @property
    def components(self) -> int:
        """How many loops the distance is over."""
        return self.distance.count(",") + 1

    @property
    def meaning(self) -> str:
        """What the two ends do to each other, in words."""
        return _MEANINGS[self.kind]


_MEANINGS = {
    "flow": "writes what is read by",
    "anti": "reads what is overwritten by",
    "output": "writes what is overwritten by",
}


@dataclass(frozen=True, slots=True)
class SourceLoop:
    """A loop of the source: ``names`` are those of the loops around it and its own.

    ``obstacles`` are the dependences it carries. ``private`` names variables of which each
    of its iterations may have a copy.
    """

    names: tuple[str, ...]
    location: Location
    obstacles: tuple[Obstacle, ...]
    private: tuple[str, ...]


_Key = tuple[tuple[str, Location], ...]


def source_loops(scop: Scop, dependences: Dependences) -> tuple[SourceLoop, ...]:
    """The loops of the source in the order of the text, each with the dependences it carries."""
    found: dict[_Key, SourceLoop] = {}
    for statement in scop.statements:
        for depth in range(len(statement.iterators)):
            key = _loop(statement, depth)
            if key not in found:
                found[key] = _source_loop(scop, dependences, key)
    return tuple(found.values())


def _loop(statement: Statement, depth: int) -> _Key:
    """What tells a loop from others: the loops around it and itself."""
    return tuple((each.name, each.location) for each in statement.iterators[: depth + 1])


def _source_loop(scop: Scop, dependences: Dependences, key: _Key) -> SourceLoop:
    depth = len(key) - 1
    inside = {each.name: each for each in scop.statements if _loop(each, depth) == key}
    obstacles: dict[tuple[object, ...], Obstacle] = {}
    for relation, is_flow in ((dependences.flow, True), (dependences.false, False)):
        for each, source, target in _carried(relation, inside, depth):
            for obstacle in _obstacles(scop, each, source, target, is_flow=is_flow):
                same = (obstacle.kind, obstacle.source.access, obstacle.source.line)
                obstacles.setdefault((*same, obstacle.target.access, obstacle.target.line), obstacle)
    private = tuple(
        each.array.spelling for each in dependences.private if any(_carried(each.order, inside, depth))
    )
    names = tuple(name for name, _ in key)
    return SourceLoop(names, key[-1][1], tuple(obstacles.values()), private)


def _carried(
    relation: isl.UnionMap, inside: dict[str, Statement], depth: int
) -> Iterator[tuple[isl.Map, Statement, Statement]]:
    """The parts of a dependence relation that the loop at ``depth`` around ``inside`` carries."""
    for each in maps_of(relation):
        source, target = (inside.get(each.get_tuple_name(kind)) for kind in (_in, _out))
        if source is None or target is None:
            continue
        for dim in range(depth):
            each = each.equate(_in, dim, _out, dim)  # noqa: PLW2901 -- made narrower
        each = each.subtract(each.equate(_in, depth, _out, depth))  # noqa: PLW2901 -- likewise
        if not each.is_empty():
            yield each, source, target


def _obstacles(
    scop: Scop, carried: isl.Map, source: Statement, target: Statement, *, is_flow: bool
) -> Iterator[Obstacle]:
    """The pairs of accesses behind a dependence between two statements."""
    for first in source.accesses:
        for second in target.accesses:
            kind = _kind(first, second, is_flow=is_flow)
            if first.array.name != second.array.name or not kind:
                continue
            pairs = first.relation.apply_range(second.relation.reverse()).intersect(carried)
            pairs = pairs.intersect_params(scop.context)
            if not pairs.is_empty():
                yield _obstacle(kind, pairs, (source, first), (target, second))


def _kind(first: Access, second: Access, *, is_flow: bool) -> str:
    """The name of a dependence between two accesses; none if they make no such dependence."""
    writes, overwrites = (each.kind is not AccessKind.READ for each in (first, second))
    if is_flow:
        return "flow" if writes and not overwrites else ""
    if not overwrites:
        return ""
    return "output" if writes else "anti"


def _obstacle(
    kind: str, pairs: isl.Map, source: tuple[Statement, Access], target: tuple[Statement, Access]
) -> Obstacle:
    example = without_parameters(pairs.wrap(), small_parameters(pairs.params(), _EXAMPLE_SIZE))
    point = small_point(example) or ()
    count = len(source[0].iterators)
    element = _element(pairs, source[1], point[:count])
    return Obstacle(
        kind,
        source[1].array.spelling,
        _end(*source, point[:count]),
        _end(*target, point[count:]),
        _distance(pairs, _shared(source[0], target[0])),
        element,
    )


def _end(statement: Statement, access: Access, point: Point) -> End:
    names = [each.name for each in statement.iterators]
    instance = ", ".join(f"{name} = {value}" for name, value in zip(names, point, strict=False))
    text = " ".join(c_text(access.node).split())
    if len(text) > _MAXIMUM_LENGTH:
        text = text[: _MAXIMUM_LENGTH - 3] + "..."
    return End(text, location(access.node).line or statement.location.line, instance)


def _element(pairs: isl.Map, access: Access, point: Point) -> str:
    """The element that the example is about, in the user's notation."""
    relation = access.relation.intersect_params(small_parameters(pairs.params(), _EXAMPLE_SIZE))
    for dim, value in enumerate(point):
        relation = relation.fix_val(_in, dim, isl.Val(value))
    subscripts = small_point(relation.range().project_out_all_params()) or ()
    return access.array.spelling + "".join(f"[{each}]" for each in subscripts)


def _shared(first: Statement, second: Statement) -> int:
    """How many loops two statements have in common."""
    pairs = zip(first.iterators, second.iterators, strict=False)
    count = 0
    for one, other in pairs:
        if (one.name, one.location) != (other.name, other.location):
            break
        count += 1
    return count


def _distance(pairs: isl.Map, shared: int) -> str:
    """The distance over the loops in common, as far as it is known."""
    for kind in (_in, _out):
        pairs = pairs.project_out(kind, shared, pairs.dim(kind) - shared).reset_tuple_id(kind)
    deltas = pairs.deltas()
    return f"({', '.join(_component(deltas, dim) for dim in range(shared))})"


def _component(deltas: isl.Set, dim: int) -> str:
    minimum, maximum = deltas.dim_min_val(dim), deltas.dim_max_val(dim)
    if minimum.is_int() and maximum.is_int():
        return str(minimum) if minimum.eq(maximum) else f"{minimum}..{maximum}"
    if minimum.is_int() and minimum.is_pos():
        return "+"
    if maximum.is_int() and maximum.is_neg():
        return "-"
    return "*"
