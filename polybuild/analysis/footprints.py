"""Which elements of an array a region touches, as boxes with corners that can be computed before it."""

from __future__ import annotations

import functools
from dataclasses import replace

import islpy as isl

from polybuild.analysis.inspectors import Inspector, Inspectors, is_dynamic
from polybuild.diagnostics import Unsupported
from polybuild.scop.model import Array, Scop
from polybuild.values import dataclass

_set = isl.dim_type.set


@dataclass(frozen=True, slots=True)
class Footprint:
    """The box of elements of ``array`` that a region touches.

    One piecewise expression of the parameters per dimension; meaningless where
    the region touches nothing. Where ``inspector`` is given, the values it finds are the
    outermost subscripts, and there are expressions for the other dimensions only. ``rows_of`` is the array
    that ``array`` has the pointers to rows of, if it has any: it is touched wherever that is.
    """

    array: Array
    lowest: tuple[isl.PwAff, ...]
    highest: tuple[isl.PwAff, ...]
    written: bool
    inspector: Inspector | None = None
    rows_of: Array | None = None

    def joined(self, other: Footprint) -> Footprint:
        """The box around this one and an ``other`` of the same array and inspector."""
        lowest = zip(self.lowest, other.lowest, strict=True)
        highest = zip(self.highest, other.highest, strict=True)
        return replace(
            self,
            lowest=tuple(one.union_min(another).coalesce() for one, another in lowest),
            highest=tuple(one.union_max(another).coalesce() for one, another in highest),
        )


def boxes_of(
    scop: Scop, footprint: Footprint, other: Footprint, inspectors: Inspectors | None
) -> list[Footprint]:
    """Boxes with corners that hold ``footprint``, to be compared with ``other``.

    One for all accesses with elements that the parameters tell, one for each that
    needs one of ``inspectors``. Raises Unsupported if there are others.
    """
    array = footprint.array
    source = footprint.rows_of or array
    static: list[isl.Set] = []
    boxes: list[Footprint] = []
    for statement in scop.statements:
        for access in statement.accesses:
            if access.array is not source:
                continue
            elements = access.relation.intersect_params(scop.context).range()
            kept = len(array.extents)
            elements = elements.project_out(_set, kept, elements.dim(_set) - kept).coalesce()
            if not array.extents or not is_dynamic(access, scop):
                static.append(elements)
                continue
            found = None if inspectors is None else inspectors.of(statement, access)
            if found is None or not has_corners(elements, 1):
                raise unknown_footprint(array, other.array)
            lowest, highest = corners(elements, 1)
            boxes.append(replace(footprint, lowest=lowest, highest=highest, inspector=found))
    if not static and not boxes:
        return [footprint]
    if static:
        elements = functools.reduce(isl.Set.union, static).coalesce()
        if not has_corners(elements, 0):
            raise unknown_footprint(array, other.array)
        lowest, highest = corners(elements, 0)
        boxes.insert(0, replace(footprint, lowest=lowest, highest=highest))
    return boxes


def has_corners(elements: isl.Set, first: int) -> bool:
    """Whether there are bounds of the subscripts in all dimensions from ``first`` on."""
    elements = elements.remove_divs()  # isl takes even numbers to have bounds
    return all(
        elements.dim_has_upper_bound(_set, dim) and elements.dim_has_lower_bound(_set, dim)
        for dim in range(first, elements.dim(_set))
    )


def corners(elements: isl.Set, first: int) -> tuple[tuple[isl.PwAff, ...], tuple[isl.PwAff, ...]]:
    """The minimum and the maximum subscript in each dimension from ``first`` on."""
    dims = range(first, elements.dim(_set))
    return (
        tuple(elements.dim_min(dim).coalesce() for dim in dims),
        tuple(elements.dim_max(dim).coalesce() for dim in dims),
    )


def unknown_footprint(array: Array, other: Array) -> Unsupported:
    """The refusal where ``array`` cannot be compared with ``other``."""
    return Unsupported(
        "unknown-footprint",
        f"which elements of '{array.name}' are touched depends on data, so it cannot be checked"
        f" that '{other.name}' is other memory",
        array.location,
        "declare the pointers restrict",
    )
