"""Tiles that bound the size of contracted arrays (Sadler, Alias and Thievenaz 2021, Algorithm 2).

Where the modulus of a contracted array grows with a parameter, too many of its cells live at once
along that dimension. Tiles across the loops that move along it bound their number: everything else
keeps its order inside of each tile.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import islpy as isl

from polybuild.poly.relations import maps_of
from polybuild.scop.model import Scop, Statement
from polybuild.storage.contraction import StorageMapping

_in = isl.dim_type.in_

_Rows = list[list[int]]


def crossing_members(
    scop: Scop, hyperplanes: isl.MultiUnionPwAff, mappings: Mapping[str, StorageMapping]
) -> list[int]:
    """The members of a permutable band that move along parametric dimensions of contracted arrays.

    ``mappings`` has the contraction of each array, by name. A step ``d`` of a statement's counters moves an
    access ``a[u(i)]`` along dimension ``k`` of the contracted array if ``A u(d)`` is the unit vector ``k``;
    a hyperplane ``h`` crosses that dimension if ``h . d`` is not zero for one of these steps.
    """
    found: set[int] = set()
    for statement in scop.statements:
        if statement.domain.intersect_params(scop.context).is_empty():
            continue
        rows = _rows_of(hyperplanes, statement) or []
        for step in _steps(statement, mappings):
            found.update(
                member for member, row in enumerate(rows) if not step.is_subset(_zero(row, step.get_space()))
            )
    return sorted(found)


def _steps(statement: Statement, mappings: Mapping[str, StorageMapping]) -> list[isl.Set]:
    """The steps of a statement's counters that move one of its accesses along a parametric dimension."""
    found: list[isl.Set] = []
    for access in statement.accesses:
        mapping = mappings.get(access.array.name)
        if mapping is None:
            continue
        matrix = _linear(isl.PwMultiAff.from_map(access.relation))
        if matrix is None:
            continue
        moved = [
            [sum(row[d] * matrix[d][n] for d in range(len(row))) for n in range(len(statement.iterators))]
            for row in mapping.rows
        ]
        for dimension, size in enumerate(mapping.sizes):
            if size is None:
                wanted = [int(each == dimension) for each in range(len(moved))]
                found.append(_solutions(moved, wanted, len(statement.iterators)))
    return found


def _linear(function: isl.PwMultiAff) -> _Rows | None:
    """The coefficients of the inputs in each output of a function, of its first piece; None for fractions."""
    pieces: list[isl.MultiAff] = []
    function.foreach_piece(lambda _, piece: pieces.append(piece))
    outputs = [pieces[0].get_aff(each) for each in range(pieces[0].dim(isl.dim_type.out))]
    rows = [[each.get_coefficient_val(_in, place) for place in range(each.dim(_in))] for each in outputs]
    if not all(each.is_int() for row in rows for each in row):
        return None
    return [[int(each.to_python()) for each in row] for row in rows]


def _rows_of(hyperplanes: isl.MultiUnionPwAff, statement: Statement) -> _Rows | None:
    """The coefficients of the statement's counters in each member of a band."""
    here = hyperplanes.intersect_domain(isl.UnionSet.from_set(statement.domain))
    (schedule,) = maps_of(isl.UnionMap.from_multi_union_pw_aff(here))
    return _linear(isl.PwMultiAff.from_map(schedule))


def _solutions(rows: Sequence[Sequence[int]], values: Sequence[int], count: int) -> isl.Set:
    """The integer vectors ``d`` of ``count`` elements with ``rows d = values``."""
    names = [f"d{each}" for each in range(count)]
    equations = [
        f"{' + '.join(f'{factor}{name}' for factor, name in zip(row, names, strict=True)) or 0} = {value}"
        for row, value in zip(rows, values, strict=True)
    ]
    return isl.Set(f"{{ [{', '.join(names)}] : {' and '.join(equations)} }}")


def _zero(row: Sequence[int], space: isl.Space) -> isl.Set:
    """The vectors ``d`` with ``row . d = 0``."""
    return _solutions([row], [0], len(row)).align_params(space)
