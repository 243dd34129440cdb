"""Calls by pointers to functions, as calls of the functions that these may be.

::

    for (i = 0; i < n; i++)             for (i = 0; i < n; i++) {
      y[i] = f(x[i]);             ->      y[i] = f == half ? half(x[i]) : third(x[i]);
                                        }    and before it: never(f != half && f != third)

A pointer may lead to the functions of its type whose address the file takes (``source.taken_functions``).
That it is one of these is looked at before the region runs, and the original loops run where it is not
(U. Hölzle, D. Ungar, "Optimizing dynamically-dispatched calls with run-time type feedback", 1994, do so at
each call). A constant pointer is the function that it is declared with, and an element of a constant table
is chosen by its subscript.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence

from pycparser import c_ast

from polybuild.c import types
from polybuild.c.conversions import is_same_function
from polybuild.c.symbols import Symbol
from polybuild.c.syntax_tree import duplicate, has_side_effect, key, mapped, names_in, names_set_in, walk
from polybuild.c.synthetic import never, number
from polybuild.c.typing import type_of, with_declared
from polybuild.effort import POINTED_FUNCTIONS
from polybuild.source.model import Region
from polybuild.values import dataclass

_REASON = '"the pointers to functions that are called lead to functions of this file"'
_BRANCHES = ("stmt", "iftrue", "iffalse")


def with_functions_for_pointers(region: Region) -> Region:
    """``region`` with calls of functions by their names for those by pointers; itself if there are none."""
    nodes = [each for one in region.statements for each in walk(one)]
    if not any(isinstance(each, c_ast.FuncCall) and _may_be_pointer(each, region) for each in nodes):
        return region
    declared = [each for each in nodes if isinstance(each, c_ast.Decl) and each.name]
    symbols = with_declared(region.visible.symbols, declared, region.visible)
    rewriter = _CallResolver(region, symbols, {str(each.name) for each in declared})
    statements = rewriter.sequence(region.statements)
    return dataclasses.replace(region, statements=tuple(statements)) if rewriter.found else region


def _may_be_pointer(call: c_ast.FuncCall, region: Region) -> bool:
    return not isinstance(call.name, c_ast.ID) or call.name.name not in region.visible.functions


@dataclass(frozen=True, slots=True)
class _PointedFunctions:
    """The functions that a call may be of, a condition for each but the last, and the test before all."""

    functions: tuple[str, ...]
    conditions: tuple[c_ast.Node, ...]
    test: c_ast.Node | None = None

    def of(self, made: Sequence[c_ast.Node]) -> c_ast.Node:
        """That one of ``made``, an expression for each function, which holds."""
        *others, chosen = made
        for condition, each in zip(reversed(self.conditions), reversed(others), strict=True):
            chosen = c_ast.TernaryOp(duplicate(condition), each, chosen, each.coord)
        return chosen


class _CallResolver:
    """One pass over a region; ``found`` is true once a call was rewritten."""

    def __init__(
        self, region: Region, symbols: Mapping[str, types.Type | Symbol], declared: set[str]
    ) -> None:
        self._region = region
        self._symbols = symbols
        self._declared = declared
        self._changed = names_set_in([each for one in region.statements for each in walk(one)])
        self._tests: dict[object, c_ast.Node] = {}
        self.found = False

    def sequence(self, nodes: Sequence[c_ast.Node]) -> list[c_ast.Node]:
        """``nodes``, statements of a block, with the tests of pointers before those that call by them."""
        return [each for node in nodes for each in self._statement(node)]

    def _statement(self, node: c_ast.Node) -> Iterator[c_ast.Node]:
        if isinstance(node, c_ast.Compound):
            yield c_ast.Compound(self.sequence(node.block_items or ()), node.coord)
            return
        bodies = [each for name in _BRANCHES if (each := getattr(node, name, None)) is not None]
        outer, self._tests = self._tests, {}
        alone = node.expr if isinstance(node, c_ast.Cast) else node
        choice = self._choice(alone) if isinstance(alone, c_ast.FuncCall) else None
        if choice is not None and isinstance(alone, c_ast.FuncCall):
            new = self._branches(alone, choice)
        else:
            new = mapped(node, lambda each: each if any(each is one for one in bodies) else self._visit(each))
        tests, self._tests = self._tests, outer
        yield from (never(each, _REASON) for each in tests.values())
        if bodies:
            branches = {id(each): self._block(each) for each in bodies}
            new = mapped(new, lambda each: branches.get(id(each), each))
        yield new

    def _block(self, node: c_ast.Node) -> c_ast.Node:
        found = list(self._statement(node))
        return found[0] if len(found) == 1 else c_ast.Compound(found, node.coord)

    def _branches(self, call: c_ast.FuncCall, choice: _PointedFunctions) -> c_ast.Node:
        """The statement ``call`` as conditions with a call of each function."""
        *others, chosen = self._calls(call, choice)
        for condition, each in zip(reversed(choice.conditions), reversed(others), strict=True):
            chosen = c_ast.If(duplicate(condition), each, chosen, call.coord)
        return chosen

    def _calls(self, call: c_ast.FuncCall, choice: _PointedFunctions) -> list[c_ast.Node]:
        self.found = True
        if choice.test is not None:
            self._tests[key(choice.test)] = choice.test
        arguments = call.args and mapped(call.args, self._visit)
        return [
            c_ast.FuncCall(c_ast.ID(name, call.coord), arguments and duplicate(arguments), call.coord)
            for name in choice.functions
        ]

    def _visit(self, node: c_ast.Node) -> c_ast.Node:
        choice = self._choice(node) if isinstance(node, c_ast.FuncCall) else None
        if choice is not None:
            return choice.of(self._calls(node, choice))
        return mapped(node, self._visit)

    def _choice(self, call: c_ast.FuncCall) -> _PointedFunctions | None:
        """The functions that ``call`` may be of; None if it is by no pointer, or these are too many."""
        pointer = call.name
        while isinstance(pointer, c_ast.UnaryOp) and pointer.op in {"*", "&"}:
            pointer = pointer.expr
        if has_side_effect(pointer) or (isinstance(pointer, c_ast.ID) and pointer.name not in self._symbols):
            return None
        if isinstance(pointer, c_ast.ArrayRef):
            return self._of_table(pointer)
        kind = type_of(pointer, self._symbols, self._region.visible)
        kind = kind.target if isinstance(kind, types.PointerType) else kind
        if not isinstance(kind, types.FunctionType):
            return None
        constant = self._constant(pointer)
        if constant is not None:
            return _PointedFunctions((constant,), ())
        if not self._changed.isdisjoint(names_in(pointer)):
            return None
        names = [
            name
            for name, each in sorted(self._region.callees.items())
            if each.taken and not each.problem and self._is_visible(name) and self._is_of(kind, name)
        ]
        if not names or len(names) > POINTED_FUNCTIONS:
            return None
        others = [c_ast.BinaryOp("!=", duplicate(pointer), c_ast.ID(name), call.coord) for name in names]
        test = others[0]
        for each in others[1:]:
            test = c_ast.BinaryOp("&&", test, each, call.coord)
        conditions = (
            c_ast.BinaryOp("==", duplicate(pointer), c_ast.ID(name), call.coord) for name in names[:-1]
        )
        return _PointedFunctions(tuple(names), tuple(conditions), test)

    def _constant(self, pointer: c_ast.Node) -> str | None:
        """The function that a ``pointer`` is declared with that never leads elsewhere."""
        declaration = self._declaration(pointer)
        if declaration is None or "const" not in getattr(declaration.type, "quals", ()):
            return None
        return self._function(declaration.init)

    def _of_table(self, element: c_ast.ArrayRef) -> _PointedFunctions | None:
        """The functions that an ``element`` of a constant table may be."""
        declaration = self._declaration(element.name)
        if declaration is None or not isinstance(declaration.type, c_ast.ArrayDecl):
            return None
        values = declaration.init.exprs if isinstance(declaration.init, c_ast.InitList) else ()
        names = [self._function(each) for each in values]
        functions = tuple(each for each in names if each is not None)
        constant = "const" in getattr(declaration.type.type, "quals", ())
        if not constant or len(functions) != len(names) or not 0 < len(functions) <= POINTED_FUNCTIONS:
            return None
        conditions = (
            c_ast.BinaryOp("==", duplicate(element.subscript), number(place), element.coord)
            for place in range(len(functions) - 1)
        )
        return _PointedFunctions(functions, tuple(conditions))

    def _declaration(self, pointer: c_ast.Node) -> c_ast.Decl | None:
        """The declaration with which the variable ``pointer`` gets its value before the region."""
        if not isinstance(pointer, c_ast.ID) or pointer.name in self._declared:
            return None
        symbol = self._region.visible.symbols.get(pointer.name)
        found = symbol.declaration if symbol is not None else None
        return found if isinstance(found, c_ast.Decl) and found.init is not None else None

    def _function(self, value: c_ast.Node) -> str | None:
        """The name of the function that ``value`` is the address of."""
        while isinstance(value, c_ast.UnaryOp) and value.op == "&":
            value = value.expr
        named = isinstance(value, c_ast.ID) and self._is_visible(value.name)
        return str(value.name) if named and value.name in self._region.callees else None

    def _is_of(self, kind: types.FunctionType, name: str) -> bool:
        return is_same_function(self._region.visible.functions[name], kind)

    def _is_visible(self, name: str) -> bool:
        return name in self._region.visible.functions and name not in self._symbols
