"""Base pointers and loop counters in memory that the region might write through a pointer.

Overlaps of arrays, and of arrays with parameters, are checked at run time from
their addresses. What is left here are the pointers that lead to arrays and the
counters: the model takes them as fixed, and refuses the region where C lets a
write through a pointer change one.
"""

from __future__ import annotations

from collections.abc import Iterable

from polybuild.c.syntax_tree import location
from polybuild.c.types import IntegerType, PointerType, Type
from polybuild.diagnostics import Unsupported
from polybuild.normalise.names import Variable
from polybuild.scop.accesses import AccessDraft
from polybuild.scop.model import AccessKind, Array
from polybuild.scop.references import LvalueReference


def check_fixed_values(counters: Iterable[Variable], accesses: Iterable[AccessDraft]) -> None:
    """Refuse if a write through a pointer may change a counter or the base pointer of an array."""
    accesses = list(accesses)
    written = {each.array.name: each for each in accesses if _may_write_elsewhere(each)}
    if not written:
        return
    fixed: dict[str, Type | None] = {}
    for counter in counters:
        if counter.is_reachable:
            fixed[counter.name] = counter.type
    for access in accesses:
        base = access.base
        if access.array.provenance.by_pointer and (
            base.variable.is_reachable
            or (_is_in_memory(base) and isinstance(base.variable.type, PointerType))
        ):
            fixed[base.variable.name] = None
    for access in written.values():
        for name, kind in fixed.items():
            if _may_change(access.array, kind):
                what = f"the loop counter '{name}'" if kind is not None else f"the pointer '{name}' itself"
                raise Unsupported(
                    "pointer-may-change",
                    f"C lets the write to '{access.array.name}' change {what}",
                    location(access.node),
                    f"copy '{name}' to a local variable before the region, or declare the target restrict",
                )


def _may_write_elsewhere(access: AccessDraft) -> bool:
    """Whether it writes through a pointer that is not known to be the only way to its target."""
    array = access.array
    return (
        access.kind is not AccessKind.READ and array.provenance.by_pointer and not array.provenance.restrict
    )


def _is_in_memory(base: LvalueReference) -> bool:
    """Whether the last pointer on the way to an array is a member (``p->a[i]``, not ``p->array[i]``)."""
    return base.target.removesuffix("[]") not in {"", base.variable.name}


def _may_change(array: Array, kind: Type | None) -> bool:
    """Whether C lets an element of ``array`` overlap an object of type ``kind`` (None for a pointer)."""
    element = array.element
    if not isinstance(element, IntegerType):
        return False
    return element.width == 8 or (isinstance(kind, IntegerType) and kind.width == element.width)
