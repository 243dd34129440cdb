"""Statements of loops in lanes that run for one lane after the other.

Variables of the lanes are in scalar ones of the same names meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from polybuild.c.syntax_tree import changed_operand, walk
from polybuild.c.types import FloatingType, IntegerType
from polybuild.codegen.c.lane_scope import LaneScope

if TYPE_CHECKING:
    from polybuild.codegen.c.ast import Instance
    from polybuild.scop.model import Array

_INDENT = "  "


def lines_of_single(instance: Instance, scope: LaneScope, variables: Mapping[str, str]) -> Iterator[str]:
    """The code of ``instance`` in ``scope``: ``variables`` has the stems of vectors, or arrays, by name."""
    used, written = _variables(instance, variables)
    lane = scope.names.declare("lane")
    for copy in range(scope.lanes.copies):
        first = copy * scope.lanes.lanes
        yield f"for (int {lane} = 0; {lane} < {scope.lanes.lanes}; {lane}++) {{"
        for each in used:
            kind, place = name_of_type(each), f"{variables[each.name]}_{copy}[{lane}]"
            yield f"{_INDENT}{kind} {each.name} = ({kind}){place};"
        text = f"{lane} + {first}" if first else lane
        for line in scope.in_lane(text, lambda: scope.instances.lines(instance, _INDENT)):
            yield str(line)
        for each in used:
            if each.name in written:
                yield f"{_INDENT}{variables[each.name]}_{copy}[{lane}] = {each.name};"
        yield "}"


def _variables(instance: Instance, variables: Mapping[str, str]) -> tuple[list[Array], set[str]]:
    """The private variables that a statement names, and the names of those that it may change."""
    statement = instance.statement
    named = {id(access.node): access.array for access in statement.accesses}
    named |= {id(node): array for node, array in statement.locals}
    used = {each.name: each for each in named.values() if each.name in variables}
    changed = (changed_operand(each) for each in walk(statement.body))
    written = {named[id(each)].name for each in changed if each is not None and id(each) in named}
    return list(used.values()), written


def name_of_type(variable: Array) -> str:
    """The type of a private variable of a loop in lanes, as C spells it."""
    assert isinstance(variable.element, IntegerType | FloatingType)  # noqa: S101 - lanes are for no others
    return variable.element.name
