"""Which arrays hold nothing that is needed before or after the region."""

from __future__ import annotations

from collections.abc import Collection

from polybuild.analysis.dependences import Dependences, may_be_private
from polybuild.polyhedral import sets_of
from polybuild.scop.model import AccessKind, Array, Scop
from polybuild.source.types import Floating, Integer


def temporaries(
    scop: Scop, dependences: Dependences, live_out: frozenset[str], named: Collection[str]
) -> list[Array]:
    """The arrays of ``scop`` that may live in buffers.

    They are dead outside of the region: variables that ``live_out`` does not name and whose
    address nobody has, or those that the user ``named``. Nothing reads an element of theirs that
    the region has not written, and every access is known exactly.
    """
    read_first = {each.get_tuple_name() for each in sets_of(dependences.live_in.range())}
    return [
        array
        for array in scop.arrays
        if array.extents
        and isinstance(array.element, Integer | Floating)
        and not any(array.suffixes)
        and array.name not in read_first
        and (array.spelling in named or may_be_private(array, live_out))
        and all(_is_plain(scop, array))
    ]


def _is_plain(scop: Scop, array: Array) -> list[bool]:
    """For each access of ``array``, whether it certainly touches exactly one element."""
    return [
        access.exact and access.kind is not AccessKind.MAY_WRITE and bool(access.relation.is_single_valued())
        for statement in scop.statements
        for access in statement.accesses
        if access.array.name == array.name
    ]
