"""Which arrays hold nothing that is needed before or after the region."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import islpy as isl

from polybuild.analysis.dependences import Dependences, may_be_private
from polybuild.analysis.trip_counts import trip_counts
from polybuild.c.types import FloatingType, IntegerType
from polybuild.poly.relations import largest, sets_of
from polybuild.scop.model import AccessKind, Array, Scop


def temporaries(
    scop: Scop, dependences: Dependences, live_out: frozenset[str], named: Collection[str]
) -> list[Array]:
    """The arrays of ``scop`` that may live in buffers.

    They are dead outside of the region: variables that ``live_out`` does not name and whose
    address nobody has, or those that the user ``named``. Nothing reads an element of theirs that
    the region has not written, and every access is known exactly.
    """
    return [
        array
        for array in scop.arrays
        if (array.spelling in named or may_be_private(array, live_out))
        and not _obstacle(scop, dependences, array)
    ]


def refusals(scop: Scop, dependences: Dependences, named: Collection[str]) -> tuple[str, ...]:
    """Why arrays that the user ``named`` have to stay in memory nevertheless."""
    found = [(each, _obstacle(scop, dependences, each)) for each in scop.arrays if each.spelling in named]
    return tuple(f"'{array.spelling}' stays in memory: {reason}" for array, reason in found if reason)


def users_of(scop: Scop, arrays: Sequence[Array]) -> set[str]:
    """The names of the statements that touch any of ``arrays``."""
    names = {each.name for each in arrays}
    return {
        each.name for each in scop.statements if any(access.array.name in names for access in each.accesses)
    }


def streams(scop: Scop, users: Collection[str], arrays: Sequence[Array]) -> bool:
    """Whether ``users`` do so little for each element of ``arrays`` that memory decides, not arithmetic.

    Small regions run their original loops, so what the others touch is no longer in the first cache.
    """
    rank = min(len(each.extents) for each in arrays)
    return all(
        sum(not largest(count).is_int() for count in counts) <= rank
        for statement, counts in zip(scop.statements, trip_counts(scop), strict=True)
        if statement.name in users
    )


def unsuited_to_buffers(scop: Scop, array: Array) -> str:
    """What keeps the elements of ``array`` from having another place, even if they are dead elsewhere."""
    if not array.extents:
        return "it is no array"
    if not isinstance(array.element, IntegerType | FloatingType) or any(array.suffixes):
        return "its elements are no numbers"
    if not all(_is_plain(scop, array)):
        return "an access is not known exactly"
    return ""


def _obstacle(scop: Scop, dependences: Dependences, array: Array) -> str:
    """What keeps ``array`` from being a temporary one, whoever says that it is dead elsewhere."""
    if unsuited := unsuited_to_buffers(scop, array):
        return unsuited
    read_first = {each.get_tuple_name(): each for each in sets_of(dependences.live_in.range())}
    if array.name in read_first and _has_some(array, read_first[array.name]):
        return "elements may be read that the region has not written"
    return ""


def _has_some(array: Array, elements: isl.Set) -> bool:
    """Whether ``array``, as it is declared, has some of ``elements``: no program reads others."""
    local = isl.LocalSpace.from_space(elements.get_space())
    zero = isl.PwAff.from_aff(isl.Aff.zero_on_domain(local))
    for dimension, extent in enumerate(array.extents):
        if extent is None or (array.provenance.by_pointer and dimension == 0):
            continue
        subscript = isl.PwAff.var_on_domain(local, isl.dim_type.set, dimension)
        elements = elements.intersect(subscript.ge_set(zero))
        elements = elements.intersect(subscript.lt_set(_on(extent, elements.get_space())))
    return not elements.is_empty()


def _on(extent: isl.PwAff, space: isl.Space) -> isl.PwAff:
    """``extent``, an expression of the parameters, over ``space``."""
    return extent.project_domain_on_params().insert_domain(space)


def _is_plain(scop: Scop, array: Array) -> list[bool]:
    """For each access of ``array``, whether it certainly touches exactly one element."""
    return [
        access.exact and access.kind is not AccessKind.MAY_WRITE and bool(access.relation.is_single_valued())
        for statement in scop.statements
        for access in statement.accesses
        if access.array.name == array.name
    ]
