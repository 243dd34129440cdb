"""Scalar replacement: elements that unrolled statements access again and again, in variables while they do.

Statements that run one after the other access elements whose subscripts are expressions of the loops
around all of them. Where these expressions tell which elements are the same and which are distinct, one that
is written and accessed again can be a variable from the first access to the last (Callahan, Carr and
Kennedy, "Improving Register Allocation for Subscripted Variables", PLDI 1990).

A compiler does this by itself where it knows that arrays share no memory. That is lost where
OpenMP puts a loop's body into a function of its own.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import islpy as isl

from polybuild.c.types import FloatingType, IntegerType
from polybuild.scop.model import Access, AccessKind, Array
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class OrderedAccess:
    """One of the accesses of statements that run one after the other.

    ``element`` is what it accesses, over the counters of the loops around the statements; None if
    that is not known, or if the array's elements are kept elsewhere. ``certain`` says that the access
    happens whatever the data are.
    """

    access: Access
    element: isl.AstExpr | None
    certain: bool


@dataclass(frozen=True, slots=True)
class ReplacedElement:
    """An ``element`` of ``array`` that becomes a variable; ``loaded`` if its old value is read."""

    array: Array
    element: isl.AstExpr
    loaded: bool

    @property
    def type(self) -> str:
        """The C type of the variable."""
        assert isinstance(self.array.element, IntegerType | FloatingType)  # noqa: S101 - as _is_suited says
        return self.array.element.name


def replaced_elements(accesses: Sequence[OrderedAccess]) -> list[ReplacedElement]:
    """The elements that are best kept in variables during ``accesses``, which are in execution order.

    Those are elements that are written and accessed again, of arrays all of whose accessed
    elements are provably the same or provably distinct. Of variables of the region compilers know as much
    where they are told which elements these are.
    """
    by_array: dict[str, list[OrderedAccess]] = {}
    for each in accesses:
        by_array.setdefault(each.access.array.name, []).append(each)
    return [
        ReplacedElement(first.access.array, element, loaded=first.access.kind is AccessKind.READ)
        for own in by_array.values()
        if not all(map(_is_plain_to_compilers, own))
        for element, (first, *others) in _by_element(own)
        if first.certain and others and any(each.access.kind is AccessKind.WRITE for each in (first, *others))
    ]


def _is_plain_to_compilers(access: OrderedAccess) -> bool:
    """Whether ``access`` is plainly of one element of a variable that is none outside the new loops."""
    array, element = access.access.array, access.element
    own = array.local and not array.provenance.allocated
    return own and element is not None and None not in _constants(element)


def _by_element(accesses: Sequence[OrderedAccess]) -> list[tuple[isl.AstExpr, list[OrderedAccess]]]:
    """The elements of one array and the accesses of each; none if two of them may be the same."""
    found: list[tuple[isl.AstExpr, list[OrderedAccess]]] = []
    for each in accesses:
        if each.element is None or not _is_suited(each.access):
            return []
        same = next((own for element, own in found if is_same_element(element, each.element)), None)
        if same is None:
            found.append((each.element, [each]))
        else:
            same.append(each)
    pairs = itertools.combinations((element for element, _ in found), 2)
    return found if all(itertools.starmap(_are_distinct, pairs)) else []


def is_same_element(one: isl.AstExpr, other: isl.AstExpr) -> bool:
    """Whether two accesses are provably of one element: of one array, with equal subscripts."""
    return bool(one.is_equal(other))


def _are_distinct(one: isl.AstExpr, other: isl.AstExpr) -> bool:
    """Whether two elements of an array are provably distinct: one of their subscripts is another number."""
    return any(
        first is not None and second is not None and first != second
        for first, second in zip(_constants(one), _constants(other), strict=True)
    )


def _constants(element: isl.AstExpr) -> list[int | None]:
    """The subscripts of an access that are numbers, None for the others."""
    subscripts = [element.op_get_arg(position) for position in range(1, element.op_get_n_arg())]
    kinds = [isl.ast_expr_type(each.get_type()) for each in subscripts]
    return [
        each.int_get_val().to_python() if kind == isl.ast_expr_type.int else None
        for each, kind in zip(subscripts, kinds, strict=True)
    ]


def _is_suited(access: Access) -> bool:
    """Whether an access is of exactly one number in an array."""
    array = access.array
    return (
        access.exact
        and access.kind is not AccessKind.MAY_WRITE
        and bool(array.extents)
        and not any(array.suffixes)
        and isinstance(array.element, IntegerType | FloatingType)
    )
