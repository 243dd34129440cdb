"""Which objects of a region might be the same memory, and what must be checked before it runs.

Distinct named arrays never overlap and ``restrict`` is believed. A pointer may
point into any other pointer's target and into any object of static storage or
whose address is taken; where one of the two is written, their footprints must
be disjoint for the model to be right.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import islpy as isl
from pycparser import c_ast

from polybuild.scop.model import AccessKind, Array, Parameter, Scop
from polybuild.source.model import Storage, Symbol


@dataclass(frozen=True, slots=True)
class Footprint:
    """The box of elements of ``array`` that a region touches.

    One piecewise expression of the parameters per dimension; meaningless where
    the region touches nothing.
    """

    array: Array
    lowest: tuple[isl.PwAff, ...]
    highest: tuple[isl.PwAff, ...]
    written: bool


@dataclass(frozen=True, slots=True)
class Overlap:
    """Two footprints that must turn out disjoint at run time."""

    first: Footprint
    second: Footprint


def find_overlaps(scop: Scop, symbols: Mapping[str, Symbol]) -> tuple[Overlap, ...]:
    """The pairs to check; empty where the types and qualifiers settle the question."""
    footprints = [_footprint(scop, array) for array in scop.arrays if not array.local]
    footprints += [
        _parameter_footprint(parameter, scop)
        for parameter in scop.parameters
        if _in_reachable_memory(parameter, symbols)
    ]
    return tuple(
        Overlap(first, second)
        for index, first in enumerate(footprints)
        for second in footprints[index + 1 :]
        if (first.written or second.written) and _may_alias(first.array, second.array)
    )


def _may_alias(first: Array, second: Array) -> bool:
    if first.restrict or second.restrict:
        return False
    if first.by_pointer and second.by_pointer:
        return True
    return (first.by_pointer and _reachable(second)) or (second.by_pointer and _reachable(first))


def _reachable(array: Array) -> bool:
    """Whether a pointer from elsewhere can point into this object."""
    return array.address_taken or array.storage in {Storage.GLOBAL, Storage.STATIC}


def _in_reachable_memory(parameter: Parameter, symbols: Mapping[str, Symbol]) -> bool:
    expression = parameter.expression
    if isinstance(expression, c_ast.ID):
        symbol = symbols.get(expression.name)
        return symbol is not None and (
            symbol.address_taken or symbol.storage in {Storage.GLOBAL, Storage.STATIC}
        )
    return isinstance(expression, (c_ast.StructRef, c_ast.ArrayRef, c_ast.UnaryOp))


def _parameter_footprint(parameter: Parameter, scop: Scop) -> Footprint:
    array = Array(
        name=parameter.name,
        expression=parameter.expression,
        element=parameter.type,
        extents=(),
        storage=Storage.GLOBAL,
        location=scop.location,
    )
    return Footprint(array, (), (), written=False)


def _footprint(scop: Scop, array: Array) -> Footprint:
    elements: isl.Set | None = None
    written = False
    for statement in scop.statements:
        for access in statement.accesses:
            if access.array is array:
                touched = access.relation.intersect_params(scop.context).range()
                elements = touched if elements is None else elements.union(touched)
                written = written or access.kind is not AccessKind.READ
    if elements is None:
        return Footprint(array, (), (), written=False)
    elements = elements.coalesce()
    dims = range(elements.dim(isl.dim_type.set))
    return Footprint(
        array,
        tuple(elements.dim_min(dim).coalesce() for dim in dims),
        tuple(elements.dim_max(dim).coalesce() for dim in dims),
        written,
    )
