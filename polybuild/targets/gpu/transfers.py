"""What goes to the device and back: a box of each array that the kernels touch (PPCG 7.1).

Elements that are read before the region writes them go in, elements that the
rest of the program may read come out. An array that comes out whole but is not
written whole, whatever the data, goes in as well: its other elements must
survive.
"""

from __future__ import annotations

import functools

import islpy as isl

from polybuild.analysis.dependences import Dependences, may_be_private
from polybuild.diagnostics import Unsupported
from polybuild.poly.relations import sets_of
from polybuild.scop.model import AccessKind, Array, Scop
from polybuild.targets.device import Transfer

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
    return tuple(
        _transfer(scop, array, live_in=array.name in live_in, live_out=array.name not in dead)
        for array in arrays
    )


def _transfer(scop: Scop, array: Array, *, live_in: bool, live_out: bool) -> Transfer:
    elements = _elements(scop, array, *AccessKind)
    written = _elements(scop, array, AccessKind.WRITE)
    changes = not _elements(scop, array, AccessKind.WRITE, AccessKind.MAY_WRITE).is_empty()
    lowest, highest = _corners(array, elements)
    box = _box(elements, lowest, highest)
    comes_out = changes and live_out
    return Transfer(
        array,
        lowest,
        highest,
        elements.params(),
        goes_in=live_in or (comes_out and not box.is_subset(written)),
        comes_out=comes_out,
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


def _corners(array: Array, elements: isl.Set) -> tuple[tuple[isl.PwAff, ...], tuple[isl.PwAff, ...]]:
    if elements.is_empty():  # all accesses are on sides of choices that are impossible
        nowhere = isl.PwAff.val_on_domain(isl.Set.universe(elements.params().get_space()), isl.Val(0))
        return (nowhere,) * len(array.extents), (nowhere,) * len(array.extents)
    lowest: list[isl.PwAff] = []
    highest: list[isl.PwAff] = []
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
        else:
            raise Unsupported(
                "device-footprint",
                f"which elements of '{array.name}' are touched depends on data, so they cannot be copied",
                array.location,
                "declare it as an array of known extents",
            )
    return tuple(lowest), tuple(highest)


def _box(elements: isl.Set, lowest: tuple[isl.PwAff, ...], highest: tuple[isl.PwAff, ...]) -> isl.Set:
    """All elements between the corners, where any is touched."""
    box = isl.Set.universe(elements.get_space()).intersect_params(elements.params())
    for dim, (low, high) in enumerate(zip(lowest, highest, strict=True)):
        space = isl.LocalSpace.from_space(box.get_space())
        value = isl.PwAff.var_on_domain(space, _set, dim)
        box = box.intersect(value.ge_set(_spread(low, box))).intersect(value.le_set(_spread(high, box)))
    return box


def _spread(corner: isl.PwAff, box: isl.Set) -> isl.PwAff:
    """A function of the parameters as one on the space of ``box``."""
    return corner.project_domain_on_params().insert_domain(box.get_space())
