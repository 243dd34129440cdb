"""Loop counters in memory that the region might write through a pointer.

Overlaps of arrays, with each other, with parameters and with the pointers that lead to them, are
checked at run time from their addresses. What is left here are the counters: the model takes them as its own,
and refuses the region where C lets a write through a pointer change one.
"""

from __future__ import annotations

from collections.abc import Iterable

from polybuild.c.syntax_tree import location
from polybuild.c.types import IntegerType, Type
from polybuild.diagnostics import Unsupported
from polybuild.normalise.names import Variable
from polybuild.scop.accesses import AccessDraft
from polybuild.scop.model import AccessKind, Array


def check_counters(counters: Iterable[Variable], accesses: Iterable[AccessDraft]) -> None:
    """Refuse if a write through a pointer may change one of the ``counters``."""
    written = {each.array.name: each for each in accesses if _may_write_elsewhere(each)}
    reachable = [each for each in counters if each.is_reachable] if written else []
    for access in written.values():
        for counter in reachable:
            if _may_change(access.array, counter.type):
                raise Unsupported(
                    "pointer-may-change",
                    f"C lets the write to '{access.array.name}' change the loop counter '{counter.name}'",
                    location(access.node),
                    f"count in a variable of the function instead of '{counter.name}'",
                )


def _may_write_elsewhere(access: AccessDraft) -> bool:
    """Whether it writes through a pointer that is not known to be the only way to its target."""
    array = access.array
    return (
        access.kind is not AccessKind.READ and array.provenance.by_pointer and not array.provenance.restrict
    )


def _may_change(array: Array, kind: Type) -> bool:
    """Whether C lets an element of ``array`` overlap an object of type ``kind``."""
    element = array.element
    if not isinstance(element, IntegerType):
        return False
    return element.width == 8 or (isinstance(kind, IntegerType) and kind.width == element.width)
