"""Calls by pointers to functions, as calls of the functions that these may be.

::

    for (i = 0; i < n; i++)             for (i = 0; i < n; i++) {
      y[i] = f(x[i]);             ->      y[i] = f == half ? half(x[i]) : third(x[i]);
                                        }    and before it: never(f != half && f != third)

A pointer may lead to the functions of its type whose address the file takes (``source.taken_functions``).
That it is one of these is looked at before the region runs, and the original loops run where it is not
(U. Hölzle, D. Ungar, "Optimizing dynamically-dispatched calls with run-time type feedback", 1994, do so at
each call). A constant pointer is the function that it is declared with, and an element of a constant table
is chosen by its subscript. Functions that get pointers to functions as arguments are made for each of these
(``specialised_functions``).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence

from pycparser import c_ast

from polybuild.c import types
from polybuild.c.conversions import is_same_function
from polybuild.c.symbols import Symbol
from polybuild.c.syntax_tree import (
    always_evaluates,
    duplicate,
    has_side_effect,
    key,
    mapped,
    names_in,
    names_set_in,
    walk,
    with_parts,
)
from polybuild.c.synthetic import never, number
from polybuild.c.typing import type_of, with_declared
from polybuild.effort import POINTED_FUNCTIONS
from polybuild.normalise.inlining import inline_calls
from polybuild.normalise.specialised_functions import SpecialisedFunctions
from polybuild.source.model import Callee, Region
from polybuild.values import dataclass

_REASON = '"the pointers to functions that are called lead to functions of this file"'
_BRANCHES = ("stmt", "iftrue", "iffalse")


def inline_calls_by_pointers(region: Region, *, loops: bool) -> Region:
    """``region`` with calls by pointers as calls by names, and those inlined; ``loops`` as of inlining."""
    inlined = _inlined(region, SpecialisedFunctions(region), loops=loops)
    if inlined is None:  # a function that was made would have to be called
        inlined = _inlined(region, SpecialisedFunctions(region, makes=False), loops=loops)
    return region if inlined is None else inlined


def _inlined(region: Region, functions: SpecialisedFunctions, *, loops: bool) -> Region | None:
    """``region`` with calls by names, which are inlined; None if functions that were made are left."""
    named = _with_functions_for_pointers(region, functions)
    bodies: dict[str, Callee] = {}
    while len(bodies) < len(functions.callees):
        for name in functions.callees.keys() - bodies.keys():
            bodies[name] = _with_named_calls(functions.callees[name], functions)
    called = inline_calls(functions.visible_in(named, bodies), loops=loops)
    if functions.are_called(called.statements):
        return None
    visible = dataclasses.replace(called.visible, functions=region.visible.functions)
    return dataclasses.replace(called, visible=visible, callees=region.callees)


def _with_named_calls(callee: Callee, functions: SpecialisedFunctions) -> Callee:
    """``callee`` with calls by names for those by pointers in it."""
    if callee.body is None or callee.stays or not functions.makes:
        return callee
    body = functions.visible_in(callee.body, functions.callees)
    return dataclasses.replace(callee, body=_with_functions_for_pointers(body, functions, inner=True))


def _with_functions_for_pointers(
    region: Region, functions: SpecialisedFunctions, *, inner: bool = False
) -> Region:
    """``region`` with calls of functions by their names for those by pointers; itself if there are none.

    Functions that get pointers to functions are made for what these lead to, and added to ``functions``. An
    ``inner`` region is the body of a function that is to be inlined.
    """
    nodes = [each for one in region.statements for each in walk(one)]
    if not any(isinstance(each, c_ast.FuncCall) and _may_be_pointer(each, functions) for each in nodes):
        return region
    declared = [each for each in nodes if isinstance(each, c_ast.Decl) and each.name]
    symbols = with_declared(region.visible.symbols, declared, region.visible)
    rewriter = _CallResolver(region, symbols, {str(each.name) for each in declared}, functions, inner=inner)
    statements = rewriter.sequence(region.statements)
    return dataclasses.replace(region, statements=tuple(statements)) if rewriter.found else region


def _may_be_pointer(call: c_ast.FuncCall, functions: SpecialisedFunctions) -> bool:
    """Whether ``call`` may be by a pointer, or of a function that gets one."""
    named = isinstance(call.name, c_ast.ID) and call.name.name in functions.types
    return not named or functions.place(call.name.name) is not None


@dataclass(frozen=True, slots=True)
class _PointedFunctions:
    """The functions that a call may be of, a condition for each but the last, and the test before all.

    If a ``place`` is given, these are what the argument there may lead to.
    """

    functions: tuple[str, ...]
    conditions: tuple[c_ast.Node, ...]
    test: c_ast.Node | None = None
    place: int | None = None

    def of(self, made: Sequence[c_ast.Node]) -> c_ast.Node:
        """That one of ``made``, an expression for each function, which holds."""
        *others, chosen = made
        for condition, each in zip(reversed(self.conditions), reversed(others), strict=True):
            chosen = c_ast.TernaryOp(duplicate(condition), each, chosen, each.coord)
        return chosen


class _CallResolver:
    """One pass over a region; ``found`` is true once a call was rewritten."""

    def __init__(
        self,
        region: Region,
        symbols: Mapping[str, types.Type | Symbol],
        declared: set[str],
        functions: SpecialisedFunctions,
        *,
        inner: bool,
    ) -> None:
        self._region = region
        self._inner = inner
        self._functions = functions
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
        before, branches = self._branches(node)
        if branches is not None:
            new = branches
        else:
            new = mapped(node, lambda each: each if any(each is one for one in bodies) else self._visit(each))
        tests, self._tests = self._tests, outer
        yield from before
        yield from (never(each, _REASON) for each in tests.values())
        if bodies:
            found = {id(each): self._block(each) for each in bodies}
            new = mapped(new, lambda each: found.get(id(each), each))
        yield new

    def _block(self, node: c_ast.Node) -> c_ast.Node:
        found = list(self._statement(node))
        return found[0] if len(found) == 1 else c_ast.Compound(found, node.coord)

    def _branches(self, node: c_ast.Node) -> tuple[list[c_ast.Node], c_ast.Node | None]:
        """The statement ``node`` as conditions with a call of each function that a call in it may be of.

        What comes before is the declaration of the variable that it is of. None of other statements.
        """
        alone = node.expr if isinstance(node, c_ast.Cast) else node
        if isinstance(alone, c_ast.FuncCall):
            choice = self._choice(alone)
            return [], None if choice is None else self._chosen(alone, alone, choice)
        before: list[c_ast.Node] = []
        declared = (
            isinstance(node, c_ast.Decl) and node.init is not None and isinstance(node.type, c_ast.TypeDecl)
        )
        if declared and "const" not in (*node.quals, *node.type.quals):
            before = [mapped(node, lambda each: each)]
            before[0].init = None
            node = c_ast.Assignment("=", c_ast.ID(node.name, node.coord), node.init, node.coord)
        value = node.rvalue if isinstance(node, c_ast.Assignment) else None
        for call in () if value is None else walk(value):
            choice = self._choice(call) if isinstance(call, c_ast.FuncCall) else None
            several = choice is not None and self._is_split(choice)
            if choice is not None and several and always_evaluates(value, call):
                return before, self._chosen(node, call, choice)
        return [], None

    def _is_split(self, choice: _PointedFunctions) -> bool:
        """Whether only a statement can call each of several functions: some do more than return a value."""
        if len(choice.functions) < 2 or not (choice.place is not None or self._inner):
            return False
        bodies = (self._functions.callees[each].body for each in choice.functions)
        firsts = [each.statements[0] for each in bodies if each is not None and each.statements]
        return not all(isinstance(each, c_ast.Return) for each in firsts)

    def _chosen(self, node: c_ast.Node, call: c_ast.FuncCall, choice: _PointedFunctions) -> c_ast.Node:
        """``node`` as conditions with a call of each of the functions for ``call`` in it."""
        made = [duplicate(with_parts(node, {id(call): each})) for each in self._calls(call, choice)]
        *others, chosen = (self._block(each) for each in made)
        for condition, each in zip(reversed(choice.conditions), reversed(others), strict=True):
            chosen = c_ast.If(duplicate(condition), each, chosen, call.coord)
        return chosen

    def _calls(self, call: c_ast.FuncCall, choice: _PointedFunctions) -> list[c_ast.Node]:
        self.found = True
        if choice.test is not None:
            self._tests[key(choice.test)] = choice.test
        arguments = call.args and mapped(call.args, self._visit)
        if choice.place is not None:
            rest = [each for place, each in enumerate(arguments.exprs) if place != choice.place]
            arguments = c_ast.ExprList(rest, arguments.coord) if rest else None
        return [
            c_ast.FuncCall(c_ast.ID(name, call.coord), arguments and duplicate(arguments), call.coord)
            for name in choice.functions
        ]

    def _visit(self, node: c_ast.Node) -> c_ast.Node:
        choice = self._choice(node) if isinstance(node, c_ast.FuncCall) else None
        if choice is not None:
            calls = self._calls(node, choice)
            return choice.of(calls if choice.place is None else [self._visit(each) for each in calls])
        return mapped(node, self._visit)

    def _choice(self, call: c_ast.FuncCall) -> _PointedFunctions | None:
        """The functions that ``call`` may be of; None if it is by no pointer, or these are too many."""
        if not isinstance(call.name, c_ast.ID) or not self._is_visible(call.name.name):
            return self._led_to(call.name)
        place = self._functions.place(call.name.name)
        arguments = call.args.exprs if call.args is not None else ()
        found = None if place is None or place >= len(arguments) else self._led_to(arguments[place])
        if place is None or found is None:
            return None
        made = [self._functions.of(call.name.name, place, each) for each in found.functions]
        functions = tuple(each for each in made if each is not None)
        return (
            None
            if len(functions) < len(made)
            else dataclasses.replace(found, functions=functions, place=place)
        )

    def _led_to(self, pointer: c_ast.Node) -> _PointedFunctions | None:
        """The functions that ``pointer`` may lead to; None if these are not known, or too many."""
        while isinstance(pointer, c_ast.UnaryOp) and pointer.op in {"*", "&"}:
            pointer = pointer.expr
        if isinstance(pointer, c_ast.ID) and self._function(pointer) is not None:
            return _PointedFunctions((str(pointer.name),), ())
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
            for name, each in sorted(self._functions.callees.items())
            if each.taken and not each.problem and self._is_visible(name) and self._is_of(kind, name)
        ]
        if not names or len(names) > POINTED_FUNCTIONS:
            return None
        others = [c_ast.BinaryOp("!=", duplicate(pointer), c_ast.ID(name), pointer.coord) for name in names]
        test = others[0]
        for each in others[1:]:
            test = c_ast.BinaryOp("&&", test, each, pointer.coord)
        conditions = (
            c_ast.BinaryOp("==", duplicate(pointer), c_ast.ID(name), pointer.coord) for name in names[:-1]
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
        return str(value.name) if named and value.name in self._functions.callees else None

    def _is_of(self, kind: types.FunctionType, name: str) -> bool:
        return is_same_function(self._functions.types[name], kind)

    def _is_visible(self, name: str) -> bool:
        return name in self._functions.types and name not in self._symbols
