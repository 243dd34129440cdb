"""Memory for the arrays that a region has of its own: allocated when all else holds, freed behind loops."""

from __future__ import annotations

from collections.abc import Sequence

from polybuild.c.types import FloatingType, IntegerType
from polybuild.codegen.c.conditions import Condition, ConditionPrinter
from polybuild.scop.model import Array, Scop
from polybuild.storage.buffers import element_size


def allocated_arrays(scop: Scop) -> tuple[Array, ...]:
    """The arrays of ``scop`` that it has of its own."""
    return tuple(each for each in scop.arrays if each.provenance.allocated)


def pointer_declarations(arrays: Sequence[Array]) -> list[str]:
    """The declarations of pointers to ``arrays``, which lead nowhere yet."""
    return [f"{_type(each)} *{each.name} = 0;" for each in arrays]


def allocation(arrays: Sequence[Array], conditions: ConditionPrinter) -> Condition:
    """That there is memory for all of ``arrays``, which they have then; the last condition of a region."""
    *before, last = (_has_memory(each, conditions) for each in arrays)
    text = last
    for each, condition in zip(reversed(arrays[:-1]), reversed(before), strict=True):
        rest = text if text is last else f"({text})"
        text = f"{condition} && ({rest} || (__builtin_free({each.name}), 0))"
    needed = dict.fromkeys(map(_told, arrays))
    reason = f"there must be memory for {' and '.join(needed)}"
    return Condition(
        text, reason, reason, arrays[0].location.line, "too little memory", compares_addresses=True
    )


def _has_memory(array: Array, conditions: ConditionPrinter) -> str:
    """That ``array`` gets memory, as an expression of C."""
    size = conditions.bytes_of(array.extents, element_size(array))
    return f"({array.name} = ({_type(array)} *)__builtin_malloc({size})) != 0"


def _told(array: Array) -> str:
    return f"a second '{array.copied}'" if array.copied else f"values of '{array.expanded}'"


def releases(arrays: Sequence[Array]) -> list[str]:
    """What frees the memory of ``arrays``."""
    return [f"__builtin_free({each.name});" for each in arrays]


def _type(array: Array) -> str:
    assert isinstance(array.element, IntegerType | FloatingType)  # noqa: S101 - arrays of others are not allocated
    return array.element.name
