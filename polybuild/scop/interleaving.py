"""Structures that have numbers of one type alone: how their members lie among each other in an array."""

from __future__ import annotations

from polybuild.c import types
from polybuild.c.typing import field_of
from polybuild.scop.model import Interleaving
from polybuild.scop.references import LvalueReference


def interleaving_of(reference: LvalueReference) -> Interleaving | None:
    """How the member that ``reference`` ends in stands in an array of structures.

    None if it ends in none, or if the structures have anything but floating-point numbers of its type.
    """
    if not reference.suffixes or reference.suffixes[-1].count(".") != 1:
        return None
    kind, record = reference.variable.type, None
    for name in reference.members:
        while isinstance(kind, types.ArrayType | types.PointerType):
            kind = kind.element if isinstance(kind, types.ArrayType) else kind.target
        member = field_of(kind, name) if isinstance(kind, types.RecordType) else None
        if member is None:
            return None
        record, kind = kind, member.type
    fields = record.fields or () if isinstance(record, types.RecordType) else ()
    if not isinstance(kind, types.FloatingType) or any(each.type != kind for each in fields):
        return None
    return Interleaving(len(fields), [each.name for each in fields].index(reference.members[-1]))
