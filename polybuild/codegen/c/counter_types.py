"""The types of the counters of generated loops, where they are those of the user's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import islpy as isl

from polybuild.c.types import IntegerType
from polybuild.codegen.c.counters import computes_with
from polybuild.codegen.c.expressions import is_identifier, is_number
from polybuild.codegen.c.nodes import identifier_of

if TYPE_CHECKING:
    from polybuild.codegen.c.ast import Instance


def own_type(loop: isl.AstNode, instances: Sequence[Instance]) -> IntegerType | None:
    """The type of the user's counter for ``loop``, around ``instances``; None for that of all counters."""
    identifier = identifier_of(loop)
    if not is_number(loop.for_get_inc(), 1):
        return None
    counters = [(each, _counter_of(each, identifier)) for each in instances]
    kinds = {_fitting_type(each, position) for each, position in counters}
    if len(kinds) > 1 or None in kinds:
        return None
    used = any(position in computes_with(each.statement) for each, position in counters)
    return kinds.pop() if used else None


def _counter_of(instance: Instance, identifier: str) -> int | None:
    """The position of the counter of ``instance`` with the values of the generated one, None if none has."""
    found = (each for each, value in enumerate(instance.iterators) if is_identifier(value, identifier))
    return next(found, None)


def _fitting_type(instance: Instance, position: int | None) -> IntegerType | None:
    if position is None or position not in instance.fitting:
        return None
    kind = instance.statement.iterators[position].type
    return kind if isinstance(kind, IntegerType) else None
