"""Calls that no form of a region does without, found by its text alone.

A loop around a call of a function that is somewhere else is refused whatever is inlined and rewritten. Most
loops of most programs are such ones, and rewriting and modelling them takes long.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pycparser import c_ast

from polybuild.c.pure_functions import is_pure_function
from polybuild.c.syntax_tree import walk
from polybuild.normalise.exits import may_be_exit, with_exit_tests
from polybuild.normalise.memory_functions import sets_memory
from polybuild.source.model import Region
from polybuild.values import dataclass

_JUMPS = (c_ast.Goto, c_ast.Label)
_CHOICES = (c_ast.If, c_ast.TernaryOp)


@dataclass(frozen=True, slots=True)
class CertainCall:
    """A ``call`` in a region by which the ``unknown`` function is reached, directly or not."""

    call: c_ast.FuncCall
    unknown: str


def unknown_call(region: Region) -> CertainCall | None:
    """A call of ``region`` that leads to a function of which nothing is known.

    None if there is none, or if it is not certain that the call is in all forms of the region: what is done
    before a loop is left is taken out of it, and what constants choose between may never run.
    """
    return _certain(region, region, ())


def _certain(region: Region, body: Region, around: tuple[str, ...]) -> CertainCall | None:
    if any(isinstance(each, _JUMPS) for statement in body.statements for each in walk(statement)):
        return None
    statements = with_exit_tests(body).statements
    calls = {str(each.name.name): each for each in _calls(statements)}
    if any(map(may_be_exit, calls)) or _has_constant_choice(statements):
        return None
    declared = {each.name for one in statements for each in walk(one) if isinstance(each, c_ast.Decl)}
    pointers = declared.union(body.visible.symbols)
    calls = {name: call for name, call in calls.items() if name not in pointers}
    for name, call in calls.items():
        if name not in region.callees:
            return CertainCall(call, name)
    for name, call in calls.items():
        called = region.callees[name].body
        if called is not None and name not in around:
            inner = _certain(region, called, (*around, name))
            if inner is not None:
                return CertainCall(call, inner.unknown)
    return None


def _calls(statements: Sequence[c_ast.Node]) -> Iterator[c_ast.FuncCall]:
    """Calls of functions by their names that do more than compute a value or set memory."""
    for statement in statements:
        for each in walk(statement):
            if isinstance(each, c_ast.FuncCall) and isinstance(each.name, c_ast.ID):
                name = str(each.name.name)
                if not (name.startswith("__") or is_pure_function(name) or sets_memory(name)):
                    yield each


def _has_constant_choice(statements: Sequence[c_ast.Node]) -> bool:
    """Whether a condition mentions no variable."""
    return any(
        isinstance(each, _CHOICES) and not any(isinstance(part, c_ast.ID) for part in walk(each.cond))
        for statement in statements
        for each in walk(statement)
    )
