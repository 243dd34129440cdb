"""Constants and tables that are static in a region, or in functions that it calls, before these.

::

    for (i = 0; i < n; i++) {
      static const double half = 0.5;                static const double w_table[3] = {0.25, 1, 0.25};
      static const double w[3] = {0.25, 1, 0.25};    for (i = 0; i < n; i++)
      for (k = 0; k < 3; k++)                ->        for (k = 0; k < 3; k++)
        y[i] += half * w[k] * x[i + k];                  y[i] += 0.5 * w_table[k] * x[i + k];
    }

They have the values of their declarations for ever: nothing in their blocks changes them, or keeps their
address. The new loops get declarations of their own; the original ones have theirs.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field

from pycparser import c_ast

from polybuild.c.declarations import Scope, evaluate
from polybuild.c.symbols import StorageClass, Symbol
from polybuild.c.syntax_tree import changed_operand, duplicate, mapped, walk
from polybuild.c.synthetic import declarator, number, type_name
from polybuild.c.types import ArrayType, FloatingType, IntegerType, RecordType, Type
from polybuild.c.typing import type_of
from polybuild.normalise.names import unused_name
from polybuild.normalise.rewritten_functions import with_rewritten_functions
from polybuild.source.model import Callee, Region

_QUALIFIERS = frozenset({"volatile", "_Atomic"})
_SIGNS = frozenset({"+", "-", "~", "!"})


def hoist_tables(region: Region) -> Region:
    """``region``, and what it calls, with symbols for tables and values for constants; itself without any."""
    bodies = [region, *(each.body for each in region.callees.values() if each.body is not None)]
    if not any(map(_is_static, _nodes(bodies))):
        return region
    hoisting = _Hoisting(region, set(_names(bodies)))
    hoisted = with_rewritten_functions(region, hoisting.rewritten)
    return hoisted if hoisted is region else _with_symbols(hoisted, hoisting.symbols)


def with_own_tables(body: Region) -> Region:
    """The ``body`` of a function that stays a call with tables that were taken out of it; itself without."""
    used = {each.name for each in _nodes([body]) if isinstance(each, c_ast.ID)}
    declarations: list[c_ast.Node] = []
    for symbol in body.visible.symbols.values():
        if symbol.storage is StorageClass.HOISTED and symbol.name in used:
            declarations.append(duplicate(symbol.declaration))
            declarations[-1].storage = []
    return dataclasses.replace(body, statements=(*declarations, *body.statements)) if declarations else body


def _nodes(bodies: Sequence[Region]) -> Iterator[c_ast.Node]:
    return (each for body in bodies for statement in body.statements for each in walk(statement))


def _names(bodies: Sequence[Region]) -> Iterator[str]:
    """All that means something in ``bodies``."""
    for body in bodies:
        yield from body.visible.may_mean_something()
    yield from (each.name for each in _nodes(bodies) if isinstance(each, c_ast.ID | c_ast.Decl) and each.name)


def _is_static(node: c_ast.Node) -> bool:
    return isinstance(node, c_ast.Decl) and node.storage == ["static"] and node.init is not None


def _with_symbols(region: Region, symbols: Mapping[str, Symbol]) -> Region:
    """``region``, and what it calls, where ``symbols`` are visible."""

    def with_visible(body: Region) -> Region:
        visible = dataclasses.replace(body.visible, symbols={**body.visible.symbols, **symbols})
        return dataclasses.replace(body, visible=visible)

    def with_body(callee: Callee) -> Callee:
        return callee if callee.body is None else dataclasses.replace(callee, body=with_visible(callee.body))

    callees = {name: with_body(each) for name, each in region.callees.items()}
    return dataclasses.replace(with_visible(region), callees=callees)


@dataclasses.dataclass(slots=True)
class _Hoisting:
    """Takes declarations out of ``region`` and what it calls; ``taken`` are the names in use.

    ``symbols`` are those of the tables so far.
    """

    region: Region
    taken: set[str]
    symbols: dict[str, Symbol] = field(default_factory=dict)

    def rewritten(self, body: Region) -> c_ast.FuncDef:
        """The function of ``body`` without them, the very same where it has none."""
        inside = frozenset(id(each) for each in _nodes([body]) if _is_static(each))
        if not inside:
            return body.function
        blocks = _StaticDeclarations(self, body, inside)
        function = mapped(body.function, lambda each: each)
        function.body = blocks.visit(body.function.body, {})
        return function if blocks.found else body.function

    def table(self, body: Region, node: c_ast.Decl, init: c_ast.Node) -> c_ast.Node | None:
        """The name of the table that ``node`` of ``body`` declares with ``init``; None if it is no table."""
        scope = body.visible.scope
        extents, element = _shape(scope.resolve(node.type), init, scope)
        inner = node.type
        while isinstance(inner, c_ast.ArrayDecl):
            inner = inner.type
        if (
            not extents
            or not isinstance(inner, c_ast.TypeDecl)
            or not self._is_visible_type(element, inner, scope)
        ):
            return None
        name = unused_name(f"{node.name}_table", self.taken)
        self.taken.add(name)
        level = duplicate(inner)
        if isinstance(element, IntegerType | FloatingType):
            level = declarator(name, element)
        level.declname, level.quals = name, ["const"]
        kind = element
        for extent in reversed(extents):
            level, kind = c_ast.ArrayDecl(level, number(extent), []), ArrayType(kind, number(extent))
        declaration = c_ast.Decl(name, ["const"], [], ["static"], [], level, init, None, node.coord)
        self.symbols[name] = Symbol(name, kind, StorageClass.HOISTED, declaration, table=True)
        return c_ast.ID(name, node.coord)

    def _is_visible_type(self, element: Type, inner: c_ast.TypeDecl, scope: Scope) -> bool:
        """Whether ``inner`` names ``element``, of numbers in the end, at the region as in ``scope``."""
        if not isinstance(element, RecordType):
            return isinstance(element, IntegerType | FloatingType)
        fields = element.fields or ()  # none of a structure that is declared further inside
        if element.kind != "struct" or not fields or not all(_is_of_numbers(each.type) for each in fields):
            return False
        here = self.region.visible.scope
        if isinstance(inner.type, c_ast.Struct) and inner.type.decls is not None and inner.type.name is None:
            words = {
                word
                for each in walk(inner.type)
                if isinstance(each, c_ast.IdentifierType)
                for word in each.names
                if word in scope.typedefs
            }
            return all(here.typedefs.get(word) == scope.typedefs[word] for word in words)
        defined = isinstance(inner.type, c_ast.Struct) and inner.type.decls is not None
        return not defined and here.resolve(inner) is element


@dataclasses.dataclass(slots=True)
class _StaticDeclarations:
    """Walks through the blocks of the function of ``body``, whose declarations ``inside`` may be taken out.

    ``found`` tells whether any was.
    """

    hoisting: _Hoisting
    body: Region
    inside: Collection[int]
    found: bool = False

    def visit(self, node: c_ast.Node, values: Mapping[str, c_ast.Node]) -> c_ast.Node:
        """``node`` with ``values`` for the names of what was taken out."""
        if isinstance(node, c_ast.Compound):
            return c_ast.Compound(self._items(node.block_items or (), values), node.coord)
        if not values and not any(id(each) in self.inside for each in walk(node)):
            return node
        if isinstance(node, c_ast.ID):
            return duplicate(values[node.name], node.coord) if node.name in values else node
        if isinstance(node, c_ast.StructRef):
            return c_ast.StructRef(self.visit(node.name, values), node.type, node.field, node.coord)
        if isinstance(node, c_ast.NamedInitializer):
            return c_ast.NamedInitializer(node.name, self.visit(node.expr, values), node.coord)
        if isinstance(node, c_ast.For) and isinstance(node.init, c_ast.DeclList):
            hidden = {each.name for each in node.init.decls}
            values = {name: each for name, each in values.items() if name not in hidden}
        return mapped(node, lambda each: self.visit(each, values))

    def _items(self, items: Sequence[c_ast.Node], values: Mapping[str, c_ast.Node]) -> list[c_ast.Node]:
        known = dict(values)
        new: list[c_ast.Node] = []
        for position, item in enumerate(items):
            value = self._value(item, items[position + 1 :], known) if id(item) in self.inside else None
            if value is not None:
                self.found = True
                known[item.name] = value
                continue
            if isinstance(item, c_ast.Decl) and item.name:
                known.pop(item.name, None)
            new.append(self.visit(item, known))
        return new

    def _value(
        self, node: c_ast.Decl, behind: Sequence[c_ast.Node], values: Mapping[str, c_ast.Node]
    ) -> c_ast.Node | None:
        """What stands for the name that ``node`` declares in what is ``behind``; None if it has to stay."""
        scope = self.body.visible.scope
        kind = scope.resolve(node.type)
        if any(_QUALIFIERS & {*(getattr(each, "quals", None) or ())} for each in walk(node)):
            return None
        init = self._constant(self.visit(node.init, values))
        if init is None or not _keeps(node, kind, behind):
            return None
        if isinstance(kind, ArrayType):
            return self.hoisting.table(self.body, node, init) if isinstance(init, c_ast.InitList) else None
        if not isinstance(kind, IntegerType | FloatingType) or isinstance(init, c_ast.InitList):
            return None
        own = type_of(init, self.body.visible.symbols, self.body.visible)
        return init if own == kind else c_ast.Cast(type_name(kind), init, node.coord)

    def _constant(self, node: c_ast.Node) -> c_ast.Node | None:
        """``node`` in terms that mean the same everywhere; None if it is more than numbers."""
        scope = self.body.visible.scope
        match node:
            case c_ast.Constant():
                return None if node.type == "string" else node
            case c_ast.ID():
                value = scope.enumerators.get(node.name)
                return None if value is None else number(value)
            case c_ast.Cast():
                kind, inner = scope.resolve(node.to_type), self._constant(node.expr)
                if inner is None or not isinstance(kind, IntegerType | FloatingType):
                    return None
                return c_ast.Cast(type_name(kind), inner, node.coord)
            case c_ast.NamedInitializer():
                places = [self._place(each) for each in node.name]
                inner = self._constant(node.expr)
                known = inner is not None and None not in places
                return c_ast.NamedInitializer(places, inner, node.coord) if known else None
            case c_ast.UnaryOp() if node.op not in _SIGNS:
                return None
            case c_ast.InitList() | c_ast.UnaryOp() | c_ast.BinaryOp() | c_ast.TernaryOp():
                parts = {id(each): self._constant(each) for each in node}
                known = all(each is not None for each in parts.values())
                return mapped(node, lambda each: parts[id(each)]) if known else None
        return None

    def _place(self, node: c_ast.Node) -> c_ast.Node | None:
        """``node``, a member or the designator of an element; None where it is not known which."""
        if isinstance(node, c_ast.ID):
            return node
        value = (
            evaluate(node.expr, self.body.visible.scope) if isinstance(node, c_ast.ArrayDesignator) else None
        )
        return None if value is None else c_ast.ArrayDesignator(number(value), node.coord)


def _shape(kind: Type, init: c_ast.Node, scope: Scope) -> tuple[list[int], Type]:
    """The extents of an array of type ``kind``, and the type of its elements; none if they are not known."""
    extents: list[int] = []
    while isinstance(kind, ArrayType):
        extent = None if kind.extent is None else evaluate(kind.extent, scope)
        if kind.extent is None and not extents:
            named = any(isinstance(each, c_ast.NamedInitializer) for each in init.exprs)
            inner = isinstance(kind.element, ArrayType | RecordType)
            braced = not inner or all(isinstance(each, c_ast.InitList) for each in init.exprs)
            extent = len(init.exprs) if braced and not named else None
        if extent is None or extent < 1:
            return [], kind
        extents.append(extent)
        kind = kind.element
    return extents, kind


def _is_of_numbers(kind: Type) -> bool:
    while isinstance(kind, ArrayType):
        kind = kind.element
    return isinstance(kind, IntegerType | FloatingType)


def _keeps(node: c_ast.Decl, kind: Type, behind: Sequence[c_ast.Node]) -> bool:
    """Whether what ``node`` declares is never changed ``behind`` it, nor can be where its address is known.

    Other variables of that name count as this one.
    """
    constant = "const" in node.quals
    if constant and isinstance(kind, ArrayType):
        return True
    dimensions = 0
    while isinstance(kind, ArrayType):
        kind, dimensions = kind.element, dimensions + 1
    nodes = [each for item in behind for each in walk(item)]
    addressed = (each.expr for each in nodes if isinstance(each, c_ast.UnaryOp) and each.op == "&")
    changed = [*filter(None, map(changed_operand, nodes)), *addressed]
    if any(_root(each)[0] == node.name for each in changed) or isinstance(kind, RecordType):
        return False
    uses = sum(isinstance(each, c_ast.ID) and each.name == node.name for each in nodes)
    elements = [each for each in nodes if isinstance(each, c_ast.ArrayRef)]
    return not dimensions or uses == sum(_root(each) == (node.name, dimensions) for each in elements)


def _root(node: c_ast.Node) -> tuple[str | None, int]:
    """The name that an element belongs to, and the number of its subscripts."""
    count = 0
    while isinstance(node, c_ast.ArrayRef | c_ast.StructRef):
        node, count = node.name, count + 1
    return (str(node.name) if isinstance(node, c_ast.ID) else None), count
