"""Memory for the arrays that a region has of its own: allocated when all else holds, freed behind loops."""

from __future__ import annotations

from collections.abc import Container

from polybuild.c.types import FloatingType, IntegerType
from polybuild.codegen.c.conditions import Condition, ConditionPrinter
from polybuild.codegen.file.team import THREADS
from polybuild.scop.model import Array, Scop
from polybuild.storage.buffers import element_size
from polybuild.storage.own_memory import names_for_threads


class OwnMemory:
    """The arrays that ``scop`` has of its own, but those that are ``buffered``.

    Of arrays that each thread has one of the memory for all is allocated, in which they are ``line`` bytes
    from each other.
    """

    def __init__(self, scop: Scop, buffered: Container[str], conditions: ConditionPrinter, line: int) -> None:
        self._arrays = tuple(
            each for each in scop.arrays if each.provenance.allocated and each.name not in buffered
        )
        self._conditions = conditions
        self._line = line

    def pointers(self) -> list[str]:
        """The declarations of pointers to the memory, which lead nowhere yet."""
        return [f"{_type(each)} *{_memory(each)} = 0;" for each in self._arrays]

    def of_threads(self, shared: Container[str], inside: Container[str]) -> list[str]:
        """The declarations of what finds arrays that each thread has one of, as loops that are ``shared`` do.

        Those ``inside`` are declared by loops.
        """
        lines = []
        for array in self._arrays:
            if array.provenance.each_thread:
                memory, size = names_for_threads(array.name)
                if array.name in shared:
                    lines.append(f"const unsigned long long {size} = {self._elements(array)};")
                if array.name not in inside:
                    lines.append(f"{_type(array)} *{array.name} = {memory};")
        return lines

    def allocation(self) -> tuple[Condition, ...]:
        """That there is memory for all arrays, which they have then: the last condition of a region."""
        if not self._arrays:
            return ()
        *before, last = map(self._is_there, self._arrays)
        text = last
        for each, condition in zip(reversed(self._arrays[:-1]), reversed(before), strict=True):
            rest = text if text is last else f"({text})"
            text = f"{condition} && ({rest} || (__builtin_free({_memory(each)}), 0))"
        needed = dict.fromkeys(map(_told, self._arrays))
        reason = f"there must be memory for {' and '.join(needed)}"
        line = self._arrays[0].location.line
        return (Condition(text, reason, reason, line, "too little memory", compares_addresses=True),)

    def releases(self) -> list[str]:
        """What frees the memory."""
        return [f"__builtin_free({_memory(each)});" for each in self._arrays]

    def _is_there(self, array: Array) -> str:
        """That ``array`` gets memory, as an expression of C."""
        size = f"{self._elements(array)} * {element_size(array)}"
        if array.provenance.each_thread:
            self._conditions.in_use.helpers.add(THREADS)
            size = f"({self._elements(array)}) * {element_size(array)} * (unsigned long long){THREADS}()"
        return f"({_memory(array)} = ({_type(array)} *)__builtin_malloc({size})) != 0"

    def _elements(self, array: Array) -> str:
        """How many elements of ``array`` there is memory for, for each thread."""
        count = self._conditions.elements_of(array.extents)
        return f"{count} + {self._line // element_size(array)}" if array.provenance.each_thread else count


def _memory(array: Array) -> str:
    """What the pointer to the memory of ``array`` is called."""
    return names_for_threads(array.name)[0] if array.provenance.each_thread else array.name


def _told(array: Array) -> str:
    if array.provenance.each_thread:
        return f"a '{array.copied}' for each thread"
    return f"a second '{array.copied}'" if array.copied else f"values of '{array.expanded}'"


def _type(array: Array) -> str:
    assert isinstance(array.element, IntegerType | FloatingType)  # noqa: S101 - arrays of others are not allocated
    return array.element.name
