"""Which accesses of a statement are at known distances from each other, so that one address does for all.

A stencil's neighbours differ by numbers: ``u[t][i - 1][j]`` is a row before ``u[t][i][j]``. Each written from
its own subscripts costs a multiplication of 64 bits for each dimension, which nvcc 13 does not join: a step
that reads seven points of three dimensions takes 150 instructions a point then, longer than memory does.

What one access is counted from must have an address wherever that access is made: of ``p ? u[i][j] : 0`` it
is known only where ``p`` holds, and its subscripts are simplified by that.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import islpy as isl

from polybuild.scop.model import Access
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class Neighbour:
    """An access, and how far its subscripts are from those of ``base`` along each dimension.

    The first distance is None where it is no number: where the steps of a grid over time take turns.
    """

    access: Access
    at: isl.AstExpr
    distance: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """Accesses to one array: ``base``, the first of ``members``, is at distance 0."""

    members: tuple[Neighbour, ...]

    @property
    def base(self) -> Neighbour:
        """What the others are counted from."""
        return self.members[0]


def neighbourhoods(accesses: Iterable[tuple[Access, isl.AstExpr]]) -> list[Neighbourhood]:
    """The neighbourhoods among ``accesses``, each with its new form, to arrays of several dimensions.

    Those of one node are the same. Subscripts of the last dimension need no multiplication: accesses that
    differ there alone make no neighbourhood.
    """
    families: list[list[Neighbour]] = []
    seen: set[int] = set()
    own = [(each, at, each.relation.domain()) for each, at in accesses]
    widest = sorted(own, key=lambda one: -sum(bool(other[2].is_subset(one[2])) for other in own))
    for access, at, _ in widest:
        if id(access.node) in seen or not access.exact or access.relation.dim(isl.dim_type.out) < 2:
            continue
        seen.add(id(access.node))
        _join(families, access, at)
    families = [_around_middle(each) for each in sorted(families, key=len, reverse=True)]
    found = []
    while families:
        group, families = _together(families)
        if len({each.distance[:-1] for each in group}) > 1:
            found.append(Neighbourhood(tuple(group)))
    return found


def _join(families: list[list[Neighbour]], access: Access, at: isl.AstExpr) -> None:
    """Add an access to the family that it is at numbers from, or to a new one."""
    for family in families:
        distance = _distance(family[0], access)
        if None not in distance:
            family.append(Neighbour(access, at, distance))
            return
    families.append([Neighbour(access, at, (0,) * access.relation.dim(isl.dim_type.out))])


def _distance(first: Neighbour, other: Access) -> tuple[int | None, ...]:
    """How far the elements of ``other`` are from those of ``first``, from the same iterations.

    Nothing is known if ``first`` is not made wherever ``other`` is.
    """
    dimensions = first.access.relation.dim(isl.dim_type.out)
    if first.access.array is not other.array or other.relation.dim(isl.dim_type.out) != dimensions:
        return (None,) * dimensions
    if not _is_made_with(first.access, other):
        return (None,) * dimensions
    deltas = first.access.relation.reverse().apply_range(other.relation).deltas()
    return tuple(_number(deltas, k) for k in range(dimensions))


def _is_made_with(access: Access, other: Access) -> bool:
    """Whether ``access`` is made by all iterations that make the ``other`` one."""
    return bool(other.relation.domain().is_subset(access.relation.domain()))


def _number(deltas: isl.Set, dimension: int) -> int | None:
    """The one value along ``dimension``; None if there are several. Bounds see through remainders."""
    low, high = deltas.dim_min_val(dimension), deltas.dim_max_val(dimension)
    return low.to_python() if low.is_int() and low.eq(high) else None


def _around_middle(family: Sequence[Neighbour]) -> list[Neighbour]:
    """``family`` counted from its member in the middle, which is the first then."""

    def far(base: Neighbour) -> int:
        return sum(abs(each or 0) for other in family for each in _from(base, other).distance)

    base = min((each for each in family if _is_made_with(each.access, family[0].access)), key=far)
    return [_from(base, each) for each in (base, *(each for each in family if each is not base))]


def _from(base: Neighbour, other: Neighbour) -> Neighbour:
    """``other`` counted from ``base``, both of one family."""
    pairs = zip(other.distance, base.distance, strict=True)
    return Neighbour(other.access, other.at, tuple((a or 0) - (b or 0) for a, b in pairs))


def _together(families: Sequence[list[Neighbour]]) -> tuple[list[Neighbour], list[list[Neighbour]]]:
    """The first family with those at known distances from it but along the first dimension; the others."""
    group, others = list(families[0]), []
    for family in families[1:]:
        distance = _distance(group[0], family[0].access)
        if None in distance[1:]:
            others.append(family)
            continue
        for each in family:
            pairs = zip(each.distance[1:], distance[1:], strict=True)
            group.append(Neighbour(each.access, each.at, (None, *((a or 0) + (b or 0) for a, b in pairs))))
    return group, others
