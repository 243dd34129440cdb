"""What goes to the device and back: a box of each array that the kernels touch (PPCG 7.1).

Elements that are read before the region writes them go in, elements that the
rest of the program may read come out. An array that comes out whole but is not
written whole, whatever the data, goes in as well: its other elements must
survive. Of an array of unknown extent whose elements data choose, a look at the data
before the kernels run tells the box (CC 2018).
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence

import islpy as isl

from polybuild.analysis.dependences import Dependences, may_be_private
from polybuild.analysis.inspectors import Inspector, Inspectors, is_dynamic
from polybuild.diagnostics import Unsupported
from polybuild.poly.relations import sets_of
from polybuild.scop.model import Access, AccessKind, Array, Scop
from polybuild.targets.device import InspectedRange, Transfer

_set = isl.dim_type.set


def find_transfers(
    scop: Scop,
    dependences: Dependences,
    arrays: tuple[Array, ...],
    live_out: frozenset[str] | None,
    temporary: frozenset[str] = frozenset(),
) -> tuple[Transfer, ...]:
    """The boxes of ``arrays``; raises Unsupported if the elements that are touched depend on data.

    ``live_out`` names variables that are read after the region; None: all are. The arrays called
    ``temporary`` are not, whatever they are.
    """
    live_in = {each.get_tuple_name() for each in sets_of(dependences.live_in.range())}
    dead = {each.array.name for each in dependences.private} | {each.name for each in arrays if each.local}
    dead |= temporary
    if live_out is not None:
        dead |= {each.name for each in arrays if may_be_private(each, live_out)}
    ranges = _Ranges(scop)
    found = tuple(
        _transfer(scop, array, ranges, live_in=array.name in live_in, live_out=array.name not in dead)
        for array in arrays
    )
    return tuple(_in_order(scop, found))


class _Ranges:
    """The ranges of subscripts that inspectors find before the kernels run, each inspector once."""

    def __init__(self, scop: Scop) -> None:
        self._scop = scop
        self._inspectors = Inspectors(scop)
        self._found: dict[Inspector, InspectedRange] = {}

    def at(self, array: Array) -> tuple[InspectedRange, ...]:
        """The ranges of the subscripts that choose elements of ``array``."""
        found: dict[InspectedRange, None] = {}
        for statement in self._scop.statements:
            dynamic = [each for each in statement.accesses_to(array) if is_dynamic(each, self._scop)]
            told: list[isl.Map] = []
            unknown: list[Access] = []
            guarded: list[tuple[Access, Inspector]] = []
            for access in dynamic:
                inspector = self._inspectors.of(statement, access)
                if inspector is None:
                    unknown.append(access)
                elif inspector.conditions:
                    guarded.append((access, inspector))
                else:
                    found[self._range(inspector)] = None
                    told += [access.relation] if access.exact else []
            for access, inspector in guarded:
                if not _is_told(access, told):
                    found[self._range(inspector)] = None
            if not all(_is_told(each, told) for each in unknown):
                raise _unknown(array)
        return tuple(found)

    def _range(self, inspector: Inspector) -> InspectedRange:
        number = len(self._found)
        new = InspectedRange(inspector, f"pb_lowest{number}", f"pb_highest{number}")
        return self._found.setdefault(inspector, new)


def _is_told(access: Access, told: Sequence[isl.Map]) -> bool:
    """Whether ``access`` touches what one of the relations ``told`` does, at most."""
    return access.exact and any(map(access.relation.is_subset, told))


def _in_order(scop: Scop, transfers: Sequence[Transfer]) -> Iterator[Transfer]:
    """``transfers``, those of arrays that are looked at before those that this is for.

    Raises Unsupported for what the region changes, and for arrays that tell of themselves.
    """
    written = {
        access.array.name
        for statement in scop.statements
        for access in statement.accesses
        if access.kind is not AccessKind.READ
    }
    left = list(transfers)
    while left:
        unknown = written.union(each.array.name for each in left if each.inspected)
        ready = [
            each
            for each in left
            if all(unknown.isdisjoint(variables_read(found.inspector)) for found in each.inspected)
        ]
        if not ready:
            raise _unknown(left[0].array)
        yield from sorted(ready, key=lambda each: bool(each.inspected))
        left = [each for each in left if each not in ready]


def _transfer(scop: Scop, array: Array, ranges: _Ranges, *, live_in: bool, live_out: bool) -> Transfer:
    elements = scop.without_limits(_elements(scop, array, *AccessKind))
    written = _elements(scop, array, AccessKind.WRITE)
    changes = not _elements(scop, array, AccessKind.WRITE, AccessKind.MAY_WRITE).is_empty()
    lowest, highest = corners(array, elements)
    touched = elements.params()
    inspected: tuple[InspectedRange, ...] = ()
    if lowest and lowest[0] is None:
        inspected = ranges.at(array)
        touched, minimum, maximum = _seen(scop, array, inspected)
        lowest, highest = (minimum, *lowest[1:]), (maximum, *highest[1:])
    low, high = _bounds_of_data(lowest), _bounds_of_data(highest)
    box = _box(elements, touched, low, high)
    comes_out = changes and live_out
    return Transfer(
        array,
        low,
        high,
        touched,
        goes_in=live_in or (comes_out and not box.is_subset(written)),
        comes_out=comes_out,
        inspected=inspected,
    )


def _bounds_of_data(corner: Sequence[isl.PwAff | None]) -> tuple[isl.PwAff, ...]:
    return tuple(each for each in corner if each is not None)


def _seen(
    scop: Scop, array: Array, inspected: Sequence[InspectedRange]
) -> tuple[isl.Set, isl.PwAff, isl.PwAff]:
    """Where any element is touched, and the lowest and the highest first subscript there."""
    universe = isl.Set.universe(scop.context.get_space())
    bounds = [
        tuple(isl.PwAff.param_on_domain_id(universe, isl.Id(name)) for name in (each.minimum, each.maximum))
        for each in inspected
    ]
    touched = functools.reduce(
        isl.Set.union, (minimum.le_set(maximum).params() for minimum, maximum in bounds)
    )
    lowest = functools.reduce(isl.PwAff.union_min, (minimum for minimum, _ in bounds))
    highest = functools.reduce(isl.PwAff.union_max, (maximum for _, maximum in bounds))
    known = [
        access.relation.intersect_domain(statement.domain).intersect_params(scop.context).range()
        for statement in scop.statements
        for access in statement.accesses_to(array)
        if not is_dynamic(access, scop)
    ]
    for each in known:
        touched = touched.union(each.params())
        lowest = lowest.union_min(each.dim_min(0))
        highest = highest.union_max(each.dim_max(0))
    return touched.coalesce(), lowest.coalesce(), highest.coalesce()


def variables_read(inspector: Inspector) -> frozenset[str]:
    """The names of the variables that ``inspector`` reads."""
    return inspector.needs.union(each.array.name for each in inspector.reads)


def _unknown(array: Array) -> Unsupported:
    return Unsupported(
        "device-footprint",
        f"which elements of '{array.name}' are touched depends on data, so they cannot be copied",
        array.location,
        "declare it as an array of known extents",
    )


def _elements(scop: Scop, array: Array, *kinds: AccessKind) -> isl.Set:
    """The elements of ``array`` that accesses of ``kinds`` touch."""
    space = scop.context.get_space().add_named_tuple_id_ui(isl.Id(array.name), len(array.extents))
    relations = [
        access.relation.intersect_domain(statement.domain).intersect_params(scop.context).range()
        for statement in scop.statements
        for access in statement.accesses
        if access.array.name == array.name and access.kind in kinds
    ]
    if not relations:
        return isl.Set.empty(space)
    return functools.reduce(isl.Set.union, relations).coalesce()


def corners(
    array: Array, elements: isl.Set
) -> tuple[tuple[isl.PwAff | None, ...], tuple[isl.PwAff | None, ...]]:
    """The corners of the box around ``elements``; the first subscript is None where data choose it.

    Raises Unsupported where they choose another one, of unknown extent.
    """
    if elements.is_empty():  # all accesses are on sides of choices that are impossible
        nowhere = isl.PwAff.val_on_domain(isl.Set.universe(elements.params().get_space()), isl.Val(0))
        return (nowhere,) * len(array.extents), (nowhere,) * len(array.extents)
    lowest: list[isl.PwAff | None] = []
    highest: list[isl.PwAff | None] = []
    for dim, extent in enumerate(array.extents):
        bounded = elements.dim_has_lower_bound(_set, dim) and elements.dim_has_upper_bound(_set, dim)
        if bounded:
            lowest.append(elements.dim_min(dim).coalesce())
            highest.append(elements.dim_max(dim).coalesce())
        elif extent is not None and not (dim == 0 and array.provenance.by_pointer):
            reached = elements.params()
            last = extent.project_domain_on_params().add_constant_val(isl.Val(-1))
            lowest.append(isl.PwAff.val_on_domain(reached, isl.Val(0)))
            highest.append(last.intersect_params(reached))
        elif dim:
            raise _unknown(array)
        else:
            lowest.append(None)
            highest.append(None)
    return tuple(lowest), tuple(highest)


def _box(
    elements: isl.Set, touched: isl.Set, lowest: tuple[isl.PwAff, ...], highest: tuple[isl.PwAff, ...]
) -> isl.Set:
    """All elements between the corners, where any is touched."""
    box = isl.Set.universe(elements.get_space()).intersect_params(touched)
    for dim, (low, high) in enumerate(zip(lowest, highest, strict=True)):
        space = isl.LocalSpace.from_space(box.get_space())
        value = isl.PwAff.var_on_domain(space, _set, dim)
        box = box.intersect(value.ge_set(_spread(low, box))).intersect(value.le_set(_spread(high, box)))
    return box


def _spread(corner: isl.PwAff, box: isl.Set) -> isl.PwAff:
    """A function of the parameters as one on the space of ``box``."""
    return corner.project_domain_on_params().insert_domain(box.get_space())
