"""Which objects of a region might be the same memory, and what must be checked before it runs.

Distinct named arrays never overlap, nor does what pointers of the function lead to that it
gave memory of their own, and ``restrict`` is believed. Another pointer may
point into any other pointer's target and into any object of static storage or
whose address is taken; where one of the two is written, their footprints must
be disjoint for the model to be right.

C's effective types (C17 6.5) say that an object that was declared with one type
is not written as another. Memory from ``malloc`` may be, once its old value is
no longer read, so pairs of pointers are checked whatever their types; only
where a footprint is not known are their types relied on, as compilers do.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace

import islpy as isl
from pycparser import c_ast

from polybuild.analysis.footprints import Footprint, boxes_of, unknown_footprint
from polybuild.analysis.fresh_memory import fresh_pointers
from polybuild.analysis.inspectors import Inspector, Inspectors
from polybuild.analysis.pointer_tables import tables_of
from polybuild.analysis.pointers_in_memory import is_reachable, pointers_in_memory
from polybuild.c import types
from polybuild.c.symbols import StorageClass
from polybuild.c.syntax_tree import exposed_operand, location, structure_of, walk
from polybuild.diagnostics import Location, Unsupported
from polybuild.poly.memory import Itself, remembered
from polybuild.scop.model import AccessKind, Array, Parameter, Provenance, Scop
from polybuild.source.model import Region
from polybuild.values import dataclass

_set = isl.dim_type.set


@dataclass(frozen=True, slots=True)
class Overlap:
    """Two footprints that must turn out disjoint at run time; ``location`` is an access to one of them.

    Where both are the same, its rows must be.
    """

    first: Footprint
    second: Footprint
    location: Location

    @property
    def inspectors(self) -> frozenset[Inspector]:
        """What must be looked at before the two can be compared."""
        both = (self.first.inspector, self.second.inspector)
        return frozenset(each for each in both if each is not None)


@dataclass(frozen=True, slots=True)
class _Pointers:
    """Parameters that keep the value of their call, and variables that lead to memory of their own.

    All calls give parameters other arrays than those that are ``distinct`` from them.
    """

    fixed: frozenset[str]
    fresh: frozenset[str]
    distinct: Mapping[str, frozenset[str]]


def find_overlaps(
    scop: Scop, region: Region, *, strict: bool = True, untouched: Collection[str] = ()
) -> tuple[Overlap, ...]:
    """The pairs to check; empty where the types and qualifiers settle the question.

    The new loops leave the arrays called ``untouched`` alone.
    ``strict`` says that accesses follow C's rules of effective types. Raises
    Unsupported if a check needs a footprint that is not known.
    """
    arrays = [
        _touched(scop, array)
        for array in scop.arrays
        if not array.local and array.name not in untouched and _is_touched(scop, array)
    ]
    values = _values(scop, region)
    pointers = _pointers_of(Itself(region))
    inspector = Inspectors(scop, bounds=True)
    overlaps: list[Overlap] = []
    tables = [table for each in arrays for table in tables_of(each, scop)]
    for first, second in itertools.combinations(arrays + values + tables, 2):
        if not (first.written or second.written) or not _may_alias(first.array, second.array, pointers):
            continue
        typed = strict and not _same_type(first.array.element, second.array.element)
        both = first.array.provenance.by_pointer and second.array.provenance.by_pointer
        if typed and (second in values or not both):
            continue
        try:
            boxes = [
                boxes_of(scop, one, other, None if typed else inspector)
                for one, other in ((first, second), (second, first))
            ]
        except Unsupported:
            if not typed:
                raise
            continue
        place = _first_access(scop, first.array)
        overlaps += [Overlap(one, other, place) for one, other in itertools.product(*boxes)]
    overlaps += [each for footprint in arrays for each in _disjoint_rows(scop, footprint, inspector)]
    _check_order(overlaps)
    return tuple(overlaps)


def _values(scop: Scop, region: Region) -> list[Footprint]:
    """What the model takes as fixed, but is in memory: parameters, and pointers to arrays."""
    parameters = [each for each in scop.parameters if is_reachable(each.expression, region.visible.symbols)]
    objects = [Footprint(_read_object(each, scop), (), (), written=False) for each in parameters]
    return objects + pointers_in_memory(scop, region)


def clobbering_arrays(scop: Scop, region: Region, *, strict: bool) -> frozenset[str]:
    """The arrays whose writes may change bounds and base pointers of loops, as far as compilers can tell."""
    alias = aliases_of(region, strict=strict)
    values = [each.array for each in _values(scop, region)]
    rows = [
        replace(each, element=types.PointerType(each.element)) for each in scop.arrays if each.row_subscripts
    ]
    return frozenset(
        array.name
        for array in scop.arrays
        if any(alias(array, each) for each in (*values, *rows))
        or (array.row_subscripts and _same_type(array.element, types.PointerType(array.element)))
    )


def _disjoint_rows(scop: Scop, footprint: Footprint, inspectors: Inspectors) -> list[Overlap]:
    """That no two rows of an array overlap, where it is written and pointers lead to the rows."""
    if not (footprint.written and footprint.array.row_subscripts):
        return []
    boxes = boxes_of(scop, footprint, footprint, inspectors)
    if len({each.inspector for each in boxes}) > 1:
        raise Unsupported(
            "unknown-footprint",
            f"which rows of '{footprint.array.name}' are touched depends on data in some places",
            footprint.array.location,
            "use one array with all dimensions",
        )
    box = functools.reduce(Footprint.joined, boxes)
    return [Overlap(box, box, _first_access(scop, footprint.array))]


def aliases_of(region: Region, *, strict: bool) -> Callable[[Array, Array], bool]:
    """Whether two different arrays of ``region`` may be the same memory, as far as a compiler can tell.

    ``strict`` says that accesses follow C's rules of effective types.
    """
    return _alias_test(Itself(region), strict)


@remembered  # what is found of loops with it is remembered by it
def _alias_test(of: Itself[Region], strict: bool) -> Callable[[Array, Array], bool]:
    pointers = _pointers_of(of)

    def alias(first: Array, second: Array) -> bool:
        typed = strict and not _same_type(first.element, second.element)
        return not (first.local or second.local or typed) and _may_alias(first, second, pointers)

    return alias


def settled_by_restrict(overlaps: Sequence[Overlap], region: Region) -> dict[str, list[Overlap]]:
    """Parameters that would each settle some of ``overlaps`` if they were ``restrict``, with these.

    The one that settles most comes first, of several the one that is written; no overlap is told twice.
    """
    pointers = _pointers_of(Itself(region))
    overlaps = [each for each in overlaps if each.first is not each.second]
    both = [each for overlap in overlaps for each in (overlap.first, overlap.second)]
    parameters = {
        each.array.name: each.array
        for each in sorted(both, key=lambda each: not each.written)
        if isinstance(each.array.expression, c_ast.ID)
        and each.array.expression.name == each.array.provenance.target
        and each.array.provenance.target in pointers.fixed
    }
    found: dict[str, list[Overlap]] = {}
    left = list(overlaps)
    while True:
        settled = {
            name: [each for each in left if not _may_alias(*_promising(each, array), pointers)]
            for name, array in parameters.items()
        }
        best = max(settled, key=lambda name: len(settled[name]), default="")
        if not best or not settled[best]:
            return found
        found[parameters[best].source_name] = settled[best]
        left = [each for each in left if each not in settled[best]]


def _promising(overlap: Overlap, restrict: Array) -> tuple[Array, Array]:
    """The two arrays of ``overlap``, the one that is ``restrict`` being declared so."""
    first, second = (
        replace(each.array, provenance=replace(each.array.provenance, restrict=True))
        if each.array.name == restrict.name
        else each.array
        for each in (overlap.first, overlap.second)
    )
    return first, second


def in_stages(overlaps: Sequence[Overlap]) -> Iterator[tuple[list[Inspector], list[Overlap]]]:
    """What to inspect, and what can be compared then, in turns; the first has nothing to inspect.

    What an inspector needs is compared before it. What would wait for itself is left out.
    """
    finished: set[Inspector] = set()
    waiting = list(overlaps)
    while True:
        wanted = dict.fromkeys(
            each for overlap in waiting for each in (overlap.first.inspector, overlap.second.inspector)
        )
        compared_later = {each.array.name for overlap in waiting for each in (overlap.first, overlap.second)}
        plain = [each for each in waiting if each.inspectors <= finished]
        if plain:
            waiting = [each for each in waiting if each not in plain]
            yield [], plain
            continue
        ready = [each for each in wanted if each is not None and not each.needs & compared_later]
        if not ready:
            return
        finished.update(ready)
        now = [each for each in waiting if each.inspectors <= finished]
        waiting = [each for each in waiting if each not in now]
        yield ready, now


def _check_order(overlaps: Sequence[Overlap]) -> None:
    """Refuse if inspectors need what can only be compared after them."""
    done = {id(each) for _, compared in in_stages(overlaps) for each in compared}
    for each in overlaps:
        if id(each) not in done:
            raise unknown_footprint(each.first.array, each.second.array)


def _first_access(scop: Scop, array: Array) -> Location:
    places = [
        location(access.node)
        for statement in scop.statements
        for access in statement.accesses
        if access.array is array
    ]
    return min(places, default=scop.location)


def _may_alias(first: Array, second: Array, pointers: _Pointers) -> bool:
    """Whether they may be the same memory, types aside."""
    one, other = first.provenance, second.provenance
    if one.target and one.target == other.target:
        return False  # two members of the structures that one pointer leads to
    if _by_allocation(one, other, pointers) or _by_allocation(other, one, pointers):
        return False
    if _at_calls(first, second, pointers):
        return False
    if one.by_pointer and other.by_pointer:
        return not _promised(one, other, pointers) and not _promised(other, one, pointers)
    if not one.by_pointer and not other.by_pointer:
        return False
    named, pointed = (other, one) if one.by_pointer else (one, other)
    return not pointed.restrict and named.is_reachable


def _by_allocation(own: Provenance, other: Provenance, pointers: _Pointers) -> bool:
    """Whether ``own`` is memory that its pointer was given, and ``other`` was there before or has its own."""
    if not own.by_pointer or own.target not in pointers.fresh:
        return False
    return not other.by_pointer or other.target in pointers.fresh or other.target in pointers.fixed


def _at_calls(first: Array, second: Array, pointers: _Pointers) -> bool:
    """Whether both are what parameters lead to that all calls give different arrays."""
    one, other = first.provenance.target, second.provenance.target
    if not {one, other} <= pointers.fixed or other not in pointers.distinct.get(one, ()):
        return False
    return all(
        isinstance(each.expression, c_ast.ID)
        and each.expression.name == each.provenance.target
        and not each.provenance.followed
        and not each.row_subscripts
        for each in (first, second)
    )


def _promised(own: Provenance, other: Provenance, pointers: _Pointers) -> bool:
    """Whether ``restrict`` of ``own`` tells it from ``other``, which must not be derived from it."""
    return own.restrict and (other.restrict or other.target in pointers.fixed)


@remembered
def _pointers_of(of: Itself[Region]) -> _Pointers:
    region = of.value
    distinct = {name: symbol.distinct for name, symbol in region.visible.symbols.items() if symbol.distinct}
    return _Pointers(_fixed_parameters(region), fresh_pointers(region), distinct)


def _fixed_parameters(region: Region) -> frozenset[str]:
    """The parameters of the function that keep the value of their call."""
    targets = map(exposed_operand, walk(region.function.body))
    changed = {each.name for each in targets if isinstance(each, c_ast.ID)}
    return frozenset(
        symbol.name
        for symbol in region.visible.symbols.values()
        if symbol.storage is StorageClass.PARAMETER
        and not symbol.address_taken
        and symbol.name not in changed
    )


def _same_type(first: types.Type, second: types.Type) -> bool:
    """Whether C lets one object be accessed as both: types that differ in sign only, and characters."""
    for kind in (first, second):
        if isinstance(kind, types.IntegerType) and kind.width <= 8:
            return True
    pointers = [isinstance(kind, types.PointerType) for kind in (first, second)]
    if any(pointers):
        return all(pointers)
    if isinstance(first, types.IntegerType) and isinstance(second, types.IntegerType):
        return first.width == second.width
    if isinstance(first, types.FloatingType) and isinstance(second, types.FloatingType):
        sizes = {each.size // 2 if each.complex else each.size for each in (first, second)}
        return len(sizes) == 1
    arithmetic = (types.IntegerType, types.FloatingType)
    return not (isinstance(first, arithmetic) and isinstance(second, arithmetic))


def _read_object(parameter: Parameter, scop: Scop) -> Array:
    """The object whose value on entry ``parameter`` is."""
    root = structure_of(parameter.expression)
    pointer = getattr(root.name, "name", "") if isinstance(root, c_ast.StructRef) else ""
    return Array(
        name=parameter.name,
        expression=parameter.expression,
        element=parameter.type,
        extents=(),
        provenance=Provenance(
            StorageClass.GLOBAL,
            by_pointer=not isinstance(root, c_ast.ID),
            target=pointer if isinstance(pointer, str) else "",
        ),
        location=scop.location,
    )


def _is_touched(scop: Scop, array: Array) -> bool:
    """Whether any access to ``array`` can run at all."""
    return any(
        not access.relation.intersect_params(scop.context).is_empty()
        for statement in scop.statements
        for access in statement.accesses
        if access.array is array
    )


def _touched(scop: Scop, array: Array) -> Footprint:
    """The footprint of ``array`` without its corners."""
    kinds = {
        access.kind for statement in scop.statements for access in statement.accesses if access.array is array
    }
    return Footprint(array, (), (), written=bool(kinds - {AccessKind.READ}))
