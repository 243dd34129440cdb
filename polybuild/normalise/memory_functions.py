"""``memset`` to zero and ``memcpy`` of numbers, as the loops that they stand for.

::

    memset(a + i * n, 0, n * sizeof(double));     ->     for (long k = 0; k < n; k++) (a + i * n)[k] = 0;
    memcpy(row, b[i], sizeof row);                ->     for (long k = 0; k < 8; k++) row[k] = b[i][k];
    memcpy(&bits, &x[i], sizeof bits);            ->     { union { unsigned to; float source; } k;
                                                           k.source = x[i]; bits = k.to; }
    memcpy(u, v, sizeof(double[n][m]));           ->     for (long k = 0; k < n; k++)
                                                             for (long l = 0; l < m; l++) u[k][l] = v[k][l];
    memcpy(&v, p + i, sizeof v);                  ->     v = ((union { char pb_bytes[2]; short pb_number; })
                                                             {{p[i], p[i + 1]}}).pb_number;

Compilers make those functions of such loops again, where nothing better is made of them.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence
from functools import reduce

from pycparser import c_ast

from polybuild.c import types
from polybuild.c.conversions import decayed
from polybuild.c.declarations import evaluate, size_of
from polybuild.c.literals import integer_value
from polybuild.c.numbers_in_bytes import NumberAndBytes
from polybuild.c.syntax_tree import duplicate, factors_of, has_side_effect, key, mapped, walk
from polybuild.c.synthetic import counted, declarator, number, plus
from polybuild.c.typing import type_of
from polybuild.diagnostics import Unsupported
from polybuild.normalise.names import Names, resolve
from polybuild.source.model import Callee, Region
from polybuild.values import dataclass

_MEMSET = frozenset({"memset", "__builtin_memset", "__builtin___memset_chk"})
_MEMCPY = frozenset({"memcpy", "__builtin_memcpy", "__builtin___memcpy_chk"})
_BODIES = ("stmt", "iftrue", "iffalse")


def with_memory_loops(region: Region) -> Region:
    """``region`` with loops for calls of functions that set and copy memory; itself if it has none.

    Those of the functions that it calls are replaced, too.
    """
    callees = {name: _with_loops_inside(each) for name, each in region.callees.items()}
    if any(each is not region.callees[name] for name, each in callees.items()):
        region = dataclasses.replace(region, callees=callees)
    return _with_own_loops(region)


def _with_loops_inside(callee: Callee) -> Callee:
    body = None if callee.body is None else with_memory_loops(callee.body)
    return callee if body is callee.body else dataclasses.replace(callee, body=body)


def _with_own_loops(region: Region) -> Region:
    if not any(_function(each) for statement in region.statements for each in walk(statement)):
        return region
    try:
        loops = _Loops(region, resolve(region))
    except Unsupported:
        return region  # the model says what is wrong
    return dataclasses.replace(region, statements=tuple(map(loops.statement, region.statements)))


def sets_memory(name: str) -> bool:
    """Whether calls of the function ``name`` may become loops."""
    return name in _MEMSET or name in _MEMCPY


def _function(node: c_ast.Node) -> str:
    """The function that sets or copies memory and that ``node`` calls."""
    name = node.name.name if isinstance(node, c_ast.FuncCall) and isinstance(node.name, c_ast.ID) else ""
    return name if sets_memory(name) else ""


class _Loops:
    """The rewriting of one region."""

    def __init__(self, region: Region, names: Names) -> None:
        self._region = region
        self._names = names
        self._taken = region.visible.may_mean_something() | {each.name for each in names.variables.values()}

    def statement(self, node: c_ast.Node) -> c_ast.Node:
        """``node``, a statement, with its calls."""
        if not any(map(_function, walk(node))):
            return node
        if _function(node):
            return self._loop(node) or node
        if isinstance(node, c_ast.Compound):
            return c_ast.Compound([self.statement(each) for each in node.block_items or ()], node.coord)
        bodies = [getattr(node, name, None) for name in _BODIES]
        return mapped(
            node, lambda each: self.statement(each) if any(each is body for body in bodies) else each
        )

    def _loop(self, call: c_ast.FuncCall) -> c_ast.Node | None:
        """The loops that ``call`` stands for; None if that is not plain."""
        target, value, size = call.args.exprs[:3]
        if any(map(has_side_effect, (target, value, size))) or call.name in self._names.variables:
            return None
        shape = self._shape(target)
        source = self._shape(value) if _function(call) in _MEMCPY else shape
        if shape is not None and not shape.same(source):
            return self._of_other_type(call, shape) or self._of_bytes(call, shape, source)
        counts = self._counts(size, shape) if shape is not None else None
        if shape is None or counts is None:
            return None
        if _function(call) in _MEMSET and not (
            isinstance(value, c_ast.Constant) and integer_value(value.value) == 0
        ):
            return None
        names = [self._free_name() for _ in counts]
        stored = number(0) if _function(call) in _MEMSET else _below(value, names)
        body: c_ast.Node = c_ast.Assignment("=", _below(target, names), stored, call.coord)
        for name, count in zip(reversed(names), reversed(counts), strict=True):
            body = counted(name, count, body)
        return body

    def _of_other_type(self, call: c_ast.FuncCall, shape: _Elements) -> c_ast.Node | None:
        """The number that ``call`` copies, as one of another type; None if that is not what it does."""
        target, value, size = call.args.exprs[:3]
        source, scope = self._shape(value), self._region.visible.scope
        whole = size_of(shape.element, scope)
        if source is None or shape.extents or source.extents or size_of(source.element, scope) != whole:
            return None
        measured = self._measured(size)
        copied = evaluate(size, scope) if measured is None else size_of(measured.element, scope)
        if copied != whole or (measured is not None and measured.extents):
            return None
        name = self._free_name()
        members = [_member("to", shape.element), _member("source", source.element)]
        kind = c_ast.TypeDecl(name, [], None, c_ast.Union(None, members))
        declared = c_ast.Decl(name, [], [], [], [], kind, None, None, coord=call.coord)
        taken, given = (
            c_ast.StructRef(c_ast.ID(name, call.coord), ".", c_ast.ID(each), call.coord)
            for each in ("source", "to")
        )
        moves = [
            c_ast.Assignment("=", taken, _object(value), call.coord),
            c_ast.Assignment("=", _object(target), given, call.coord),
        ]
        return c_ast.Compound([declared, *moves], call.coord)

    def _of_bytes(
        self, call: c_ast.FuncCall, shape: _Elements, source: _Elements | None
    ) -> c_ast.Node | None:
        """The numbers that ``call`` puts together from bytes, or takes to bytes; None of anything else."""
        target, value, size = call.args.exprs[:3]
        if source is None or source.extents or shape.extents:
            return None
        scope = self._region.visible.scope
        widths = [size_of(each.element, scope) for each in (shape, source)]
        number_of, bytes_of = (shape, source) if widths[1] == 1 else (source, shape)
        width = max(each or 0 for each in widths)
        if 1 not in widths or width <= 1 or "long double" in number_of.element.name:  # not each byte counts
            return None
        union = NumberAndBytes(number_of.element, bytes_of.element, width)
        numbers, places = (target, value) if number_of is shape else (value, target)
        measured = self._measured(size)
        whole = evaluate(size, scope) if measured is None else size_of(measured.element, scope)
        if whole == width and (measured is None or not measured.extents):
            each_number, first, count = _object(numbers), places, None
        else:
            counts = self._counts(size, number_of)
            if counts is None:
                return None
            name, count = self._free_name(), counts[0]
            each_number = _below(numbers, [name])
            past = c_ast.BinaryOp("*", c_ast.ID(name, call.coord), number(width), call.coord)
            first = c_ast.BinaryOp("+", places, past, call.coord)
        elements = [self._byte(duplicate(first), place) for place in range(width)]
        body: c_ast.Node
        if number_of is shape:
            body = c_ast.Assignment("=", each_number, union.number(elements), call.coord)
        else:
            body = union.stored(each_number, elements)
        return body if count is None else counted(name, count, body)

    def _byte(self, first: c_ast.Node, place: int) -> c_ast.Node:
        """The element ``place`` after that which ``first`` leads to."""
        if isinstance(first, c_ast.UnaryOp) and first.op == "&" and isinstance(first.expr, c_ast.ArrayRef):
            row, at = first.expr.name, first.expr.subscript
        elif isinstance(first, c_ast.BinaryOp) and first.op == "+" and self._shape(first.left) is not None:
            row, at = first.left, first.right
        else:
            row, at = first, number(0)
        while isinstance(row, c_ast.BinaryOp) and row.op == "+" and self._shape(row.left) is not None:
            row, at = row.left, c_ast.BinaryOp("+", row.right, at, row.coord)
        return c_ast.ArrayRef(row, plus(at, place), first.coord)

    def _free_name(self) -> str:
        name = next(each for each in map("k_{}".format, itertools.count()) if each not in self._taken)
        self._taken = self._taken | {name}
        return name

    def _type(self, node: c_ast.Node) -> types.Type:
        symbols = {each.name: each.type for each in self._names.variables_in(node)}
        return type_of(node, symbols, self._region.visible)

    def _shape(self, pointer: c_ast.Node) -> _Elements | None:
        """What ``pointer`` leads to, if these are numbers, or rows of numbers."""
        if isinstance(pointer, c_ast.Cast):
            return None
        kind = decayed(self._type(pointer))
        return _shape(kind.target) if isinstance(kind, types.PointerType) and not kind.volatile else None

    def _counts(self, size: c_ast.Node, shape: _Elements) -> list[c_ast.Node] | None:
        """How many elements of ``shape`` ``size`` bytes are, in each dimension; None if that is not plain.

        The factors of ``size`` are searched for the extents of the inner dimensions.
        """
        factors: list[c_ast.Node] = []
        sizes = []
        for each in factors_of(size):
            measured = self._measured(each)
            if measured is None:
                factors.append(each)
            else:
                sizes.append(measured)
                factors += measured.extents
        if [each.element for each in sizes] != [shape.element]:
            if size_of(shape.element, self._region.visible.scope) != 1:
                return None
            factors = list(factors_of(size))
        for extent in shape.extents:
            place = next((at for at, each in enumerate(factors) if key(each) == key(extent)), None)
            if place is None:
                return None
            factors.pop(place)
        counts = [*([_product(factors)] if factors else [number(1)]), *shape.extents]
        return [duplicate(each) for each in counts]

    def _measured(self, node: c_ast.Node) -> _Elements | None:
        """What ``node`` is the size of, if it is that of numbers, or of rows of them."""
        if not isinstance(node, c_ast.UnaryOp) or node.op != "sizeof":
            return None
        if isinstance(node.expr, c_ast.Typename):
            return _shape(self._region.visible.scope.resolve(node.expr))
        return _shape(self._type(node.expr))


@dataclass(frozen=True, slots=True)
class _Elements:
    """Numbers, or rows of so many of them."""

    element: types.IntegerType | types.FloatingType
    extents: tuple[c_ast.Node, ...]

    def same(self, other: _Elements | None) -> bool:
        """Whether ``other`` is the same, wherever it is said."""
        return (
            other is not None
            and self.element == other.element
            and list(map(key, self.extents)) == list(map(key, other.extents))
        )


def _shape(kind: types.Type) -> _Elements | None:
    extents = []
    while isinstance(kind, types.ArrayType):
        if kind.extent is None:
            return None
        extents.append(kind.extent)
        kind = kind.element
    if not isinstance(kind, types.IntegerType | types.FloatingType):
        return None
    return _Elements(kind, tuple(extents))


def _product(factors: Sequence[c_ast.Node]) -> c_ast.Node:
    return reduce(lambda one, other: c_ast.BinaryOp("*", one, other, one.coord), factors)


def _member(name: str, kind: types.IntegerType | types.FloatingType) -> c_ast.Decl:
    """The declaration of a member."""
    return c_ast.Decl(name, [], [], [], [], declarator(name, kind), None, None)


def _object(pointer: c_ast.Node) -> c_ast.Node:
    """What ``pointer`` leads to."""
    if isinstance(pointer, c_ast.UnaryOp) and pointer.op == "&":
        return pointer.expr
    return c_ast.UnaryOp("*", pointer, pointer.coord)


def _below(pointer: c_ast.Node, names: Sequence[str]) -> c_ast.Node:
    """The element of ``pointer`` at the subscripts ``names``."""
    first, *others = (c_ast.ID(each, pointer.coord) for each in names)
    if isinstance(pointer, c_ast.ID | c_ast.ArrayRef | c_ast.StructRef):
        found: c_ast.Node = c_ast.ArrayRef(pointer, first, pointer.coord)
    else:
        found = c_ast.UnaryOp("*", c_ast.BinaryOp("+", pointer, first, pointer.coord), pointer.coord)
    for each in others:
        found = c_ast.ArrayRef(found, each, pointer.coord)
    return found
