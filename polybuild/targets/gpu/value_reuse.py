"""Values that one strip leaves in shared memory for the next (thesis, section 5.3.2.1; table 4, (e) and (f)).

The boxes of two strips, one after the other, overlap. What is in both need not come from memory again:

- *static*: each element has one place in a ring of places along the strips, whichever strip uses it;
- *dynamic*: an element is at its place in the box of each strip, and is moved from one to the other.

The ring takes more memory and a remainder for each subscript, moving takes a copy and a barrier.
"""

from __future__ import annotations

from dataclasses import replace
from enum import Enum

import islpy as isl

from polybuild.options import DYNAMIC_REUSE, STATIC_REUSE
from polybuild.targets.device import SharedTile
from polybuild.values import dataclass

_set, _in = isl.dim_type.set, isl.dim_type.in_


class Reuse(Enum):
    """How values of the strip before are found."""

    STATIC = STATIC_REUSE
    DYNAMIC = DYNAMIC_REUSE


@dataclass(frozen=True, slots=True)
class BoxPart:
    """The ``places`` of a box from the first to the one after the last along each dimension.

    They are copied where their elements are in ``only``, ``{ [d0, ..., dn, x0, ...] }``.
    """

    places: tuple[tuple[int, int], ...]
    only: isl.Set


@dataclass(frozen=True, slots=True)
class Retained:
    """A ``tile`` for values of the strip before: of what is ``loaded`` one part is for strips without one."""

    tile: SharedTile
    loaded: tuple[BoxPart, BoxPart]
    moved: tuple[BoxPart, ...]


def whole_box(tile: SharedTile, only: isl.Set) -> BoxPart:
    """All places of ``tile``."""
    return BoxPart(tuple((0, size) for size in tile.box.sizes), only)


def retained(tile: SharedTile, present: isl.Set, stamps: isl.Set, reuse: Reuse) -> list[Retained]:
    """``tile`` with places for the values of the strip before, what is loaded, and what is moved.

    Elements that exist are ``present``, ``{ [d0, ..., dn, x0, ...] }``, strips are the ``stamps``. A ring
    has a multiple of the places from strip to strip, or else as many as a box. Empty if the boxes of strips
    do not lie side by side, or values cannot be moved at once.
    """
    found = _shift(tile)
    if found is None:
        return []
    dim, shift = found
    size = tile.box.sizes[dim]
    if size <= shift or (reuse is Reuse.DYNAMIC and size - shift > shift):
        return []
    dims = len(tile.box.sizes)
    begins, goes_on = _parted(stamps, tile.depth)
    first = whole_box(tile, present.intersect(begins.add_dims(_set, dims)))
    after = present.intersect(goes_on.add_dims(_set, dims))
    kept = first.places
    new = BoxPart((*kept[:dim], (size - shift, size), *kept[dim + 1 :]), after)
    if reuse is Reuse.STATIC:
        rings = dict.fromkeys((-(-size // shift) * shift, size))
        return [
            Retained(
                replace(tile, ring=(dim, ring), row=ring if dim == dims - 1 else tile.row), (first, new), ()
            )
            for ring in rings
        ]
    old = BoxPart((*kept[:dim], (0, size - shift), *kept[dim + 1 :]), after)
    return [Retained(tile, (first, new), (old,))]


def _parted(stamps: isl.Set, depth: int) -> tuple[isl.Set, isl.Set]:
    """Those of ``stamps`` without one before in the last dimension, and those with one, as far as they are.

    Strips that run along several loops may begin later in some rows than in others.
    """
    following = stamps.apply(_next(stamps, depth))
    start = stamps.dim_min_val(depth - 1)
    if start.is_int():
        others = isl.Set.universe(stamps.get_space())
        others = others.lower_bound_val(_set, depth - 1, start.add(isl.Val(1)))
        if stamps.intersect(others).is_subset(following):
            return others.complement(), others
    return stamps.subtract(following).coalesce(), stamps.intersect(following).coalesce()


def _shift(tile: SharedTile) -> tuple[int, int] | None:
    """Along which dimension, and how far, the box of the next strip lies; None if that is not one number."""
    moved = {}
    for dim, offset in enumerate(tile.box.offset):
        last = tile.depth - 1
        divs = range(offset.dim(isl.dim_type.div))
        if any(offset.get_div(each).involves_dims(_in, last, 1) for each in divs):
            return None
        step = offset.get_coefficient_val(_in, last)
        if not step.is_int() or step.to_python() < 0:
            return None
        if not step.is_zero():
            moved[dim] = step.to_python()
    return next(iter(moved.items())) if len(moved) == 1 else None


def _next(stamps: isl.Set, depth: int) -> isl.Map:
    """``{ [d0, ..., dn] -> [d0, ..., dn + 1] }``."""
    values = isl.MultiAff.identity(stamps.get_space().map_from_set())
    following = values.get_aff(depth - 1).add_constant_val(isl.Val(1))
    return isl.Map.from_multi_aff(values.set_aff(depth - 1, following))
