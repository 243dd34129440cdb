"""Statement bodies in the lanes of vectors: each variable is a vector, each operation one on vectors.

They are written with the vector extension of gcc and clang. A choice is computed on both sides, and a
mask says which lanes keep what.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

import islpy as isl
from pycparser import c_ast

from polybuild.c.mathematics import ROOTS
from polybuild.c.types import IntegerType
from polybuild.codegen.c.expressions import (
    ADDITIVE,
    ATOM,
    MULTIPLICATIVE,
    POSTFIX,
    RELATIONAL,
    UNARY,
    Operand,
)
from polybuild.codegen.c.lane_scope import LaneScope
from polybuild.codegen.file.interleaved_loads import InterleavedLoad
from polybuild.codegen.file.lane_functions import LaneFunction, LaneFunctionKind
from polybuild.codegen.file.vector_types import VectorType
from polybuild.targets.model import Interleaved, LaneKind

if TYPE_CHECKING:
    from polybuild.codegen.c.ast import Instance
    from polybuild.codegen.c.row_buffers import RowBufferPrinter
    from polybuild.scop.model import Access

_OPERATORS = {"&&": "&", "||": "|"}
_PRECEDENCES = {"+": ADDITIVE, "-": ADDITIVE, "*": MULTIPLICATIVE, "/": MULTIPLICATIVE}


class LaneBodyPrinter:
    """Prints the statements of a loop in lanes; ``buffers`` has rows that are packed."""

    def __init__(self, scope: LaneScope, buffers: RowBufferPrinter) -> None:
        self._scope = scope
        self._lanes = scope.lanes
        self._names = scope.names
        self._real = VectorType(scope.lanes.type.name, scope.lanes.lanes)
        self._integer = self._real.mask
        self._variables = {
            each.name: scope.names.declare_stem(f"{each.name}_lanes") for each in scope.lanes.variables
        }
        self._buffers = buffers
        self._places: Mapping[int, tuple[Access, isl.AstExpr]] = {}
        self._own: Mapping[str, str] = {}  # the vectors that variables of the statement itself are
        self._mask = ""  # the lanes that compute what is being printed, all of them if it is empty
        self._printed: Instance | None = None
        self._copy = 0

    def declarations(self) -> list[str]:
        """The declarations of the vectors that variables are."""
        lines = []
        for each in self._lanes.variables:
            kind = self._integer if isinstance(each.element, IntegerType) else self._real
            stem = self._variables[each.name]
            names = ", ".join(f"{stem}_{copy}" for copy in range(self._lanes.copies))
            lines.append(f"{self._type(kind)} {names};")
        return lines

    def statement(self, instance: Instance) -> list[str]:
        """The code of ``instance`` for all lanes."""
        self._printed = instance
        self._places = {id(access.node): (access, at) for access, at in instance.accesses}
        lines: list[str] = []
        for copy in range(self._lanes.copies):
            self._copy = copy
            lines += self._lines(instance.statement.body)
        return lines

    def _lines(self, node: c_ast.Node) -> Iterator[str]:
        if isinstance(node, c_ast.Compound):
            around = self._own
            for each in node.block_items or ():
                yield from self._lines(each)
            self._own = around
        elif isinstance(node, c_ast.Decl):
            yield self._declaration(node)
        elif isinstance(node, c_ast.If):
            yield from self._choice(node)
        else:
            yield from self._assignment(self._lanes.steps.get(id(node), node))

    def _declaration(self, node: c_ast.Decl) -> str:
        kind, name = self._lanes.kinds[id(node)], self._names.declare(f"{node.name}_lanes")
        if node.init is None:
            value = self._call(LaneFunctionKind.ALL, self._kind(kind), "0").text
        else:
            value = self._assigned(node.init, kind, " ".join(node.type.type.names)).text
        self._own = {**self._own, node.name: name}
        return f"{self._type(self._kind(kind))} {name} = {value};"

    def _choice(self, node: c_ast.If) -> Iterator[str]:
        name, kind = self._names.declare("mask"), self._type(self._integer)
        yield f"const {kind} {name} = {self._also(self._value(node.cond).text)};"
        other = ""
        if node.iffalse is not None:
            other = self._names.declare("mask")
            yield f"const {kind} {other} = {self._also(f'~{name}')};"
        around = self._mask
        self._mask = name
        yield from self._lines(node.iftrue)
        if node.iffalse is not None:
            self._mask = other
            yield from self._lines(node.iffalse)
        self._mask = around

    def _also(self, condition: str) -> str:
        """The mask of the lanes at work where ``condition`` holds."""
        return f"{self._mask} & {condition}" if self._mask else condition

    def _where(self, condition: str, node: c_ast.Node, print_: Callable[[c_ast.Node], Operand]) -> Operand:
        """What ``print_`` makes of ``node``, which only the lanes compute where ``condition`` holds."""
        around = self._mask
        self._mask = f"({self._also(condition)})"
        printed = print_(node)
        self._mask = around
        return printed

    def _assignment(self, node: c_ast.Assignment) -> Iterator[str]:
        operand, kind = self._lanes.operands[id(node.lvalue)], self._lanes.kinds[id(node.lvalue)]
        plain = node.op == "="
        if operand.variable:
            variable = self._variable(node.lvalue)
            name = operand.type.name if isinstance(operand.type, IntegerType) else ""
            if not self._mask:
                value = self._assigned(node.rvalue, kind, name) if plain else self._operand(node.rvalue, kind)
                yield f"{variable} {node.op} {value.text};"
            else:
                value = self._assigned(node.rvalue, kind, name) if plain else self._operation(node, kind)
                yield f"{variable} = {self._select(kind, self._mask, value.text, variable).text};"
            return
        stored = self._real if kind is LaneKind.REAL else self._converted(operand.type)
        if operand.adjacent and stored is not None:
            value = self._vector(node.rvalue, kind) if plain else self._operand(node.rvalue, kind)
            text = value.text
            if stored != self._kind(kind):
                text = f"__builtin_convertvector({text}, {self._type(stored)})"
            self._scope.in_use.helpers.add(stored)
            yield f"{stored.at(self._element(node.lvalue, 0))} {node.op} {text};"
            return
        name = self._names.declare("value")
        yield f"const {self._type(self._kind(kind))} {name} = {self._vector(node.rvalue, kind).text};"
        cast = f"({operand.type.name})" if isinstance(operand.type, IntegerType) else ""
        for lane in range(self._lanes.lanes):
            yield f"{self._element(node.lvalue, lane)} {node.op} {cast}{name}[{lane}];"

    def _operation(self, node: c_ast.Assignment, kind: LaneKind) -> Operand:
        """The value that an assignment such as ``x += y`` gives to the variable ``x``."""
        operator, precedence = node.op[:-1], _PRECEDENCES[node.op[:-1]]
        value = self._operand(node.rvalue, kind).bound(precedence + 1)
        return Operand(f"{self._variable(node.lvalue)} {operator} {value}", precedence)

    def _assigned(self, node: c_ast.Node, kind: LaneKind, declared: str) -> Operand:
        """``node`` as a vector of ``kind`` for a variable, converted to the type ``declared``."""
        if self._lanes.kinds[id(node)] is LaneKind.UNIFORM and kind is LaneKind.INTEGER:
            return self._call(LaneFunctionKind.ALL, self._kind(kind), f"({declared})({self._scalar(node)})")
        return self._vector(node, kind)

    def _vector(self, node: c_ast.Node, kind: LaneKind) -> Operand:
        """``node`` as a vector of ``kind``, whether the lanes differ or not."""
        if self._lanes.kinds[id(node)] is not LaneKind.UNIFORM:
            return self._value(node)
        return self._call(LaneFunctionKind.ALL, self._kind(kind), self._scalar(node))

    def _operand(self, node: c_ast.Node, kind: LaneKind) -> Operand:
        """``node`` as an operand beside vectors of ``kind``: a scalar if it is the same for all lanes."""
        if self._lanes.kinds[id(node)] is not LaneKind.UNIFORM:
            return self._value(node)
        known, element = self._lanes.operands.get(id(node)), self._kind(kind).element
        if known is not None and known.type == self._lanes.type and kind is LaneKind.REAL:
            return Operand(self._scalar(node), POSTFIX)
        return Operand(f"({element})({self._scalar(node)})", UNARY)

    def _scalar(self, node: c_ast.Node) -> str:
        assert self._printed is not None  # noqa: S101 - a statement is being printed
        return self._scope.instances.printer(self._printed, {}).visit(node)

    def _kind_of(self, node: c_ast.Node) -> LaneKind:
        """What ``node`` is where its value is used."""
        return LaneKind.REAL if id(node) in self._lanes.converted else self._lanes.kinds[id(node)]

    def _value(self, node: c_ast.Node) -> Operand:
        """``node``, which differs between the lanes, as a vector or mask where it is used."""
        value = self._own_value(node)
        if id(node) not in self._lanes.converted:
            return value
        return Operand(f"__builtin_convertvector({value.text}, {self._type(self._real)})", POSTFIX)

    def _own_value(self, node: c_ast.Node) -> Operand:
        """The same before an integer becomes a number."""
        if id(node) in self._lanes.operands:
            return self._read(node)
        if isinstance(node, c_ast.Cast):
            return self._value(node.expr)
        if isinstance(node, c_ast.UnaryOp):
            operator = "~" if node.op == "!" else node.op
            return Operand(f"{operator}{self._value(node.expr).bound(UNARY + 1)}", UNARY)
        if isinstance(node, c_ast.TernaryOp):
            kind = self._lanes.kinds[id(node)]
            condition = self._value(node.cond).bound(UNARY)
            vector = partial(self._vector, kind=kind)
            sides = [
                self._where(chosen, each, vector).text
                for chosen, each in ((condition, node.iftrue), (f"~{condition}", node.iffalse))
            ]
            return self._select(kind, condition, *sides)
        if isinstance(node, c_ast.FuncCall):
            argument = self._value(node.args.exprs[0]).text
            if node.name.name not in ROOTS.values():
                return self._call(LaneFunctionKind.MAGNITUDE, self._real, argument)
            if self._mask:  # that of a negative number is told by errno, and others compute none
                zero = self._call(LaneFunctionKind.ALL, self._real, "0").text
                argument = self._select(LaneKind.REAL, self._mask, argument, zero).text
            return self._call(LaneFunctionKind.ROOT, self._real, argument)
        if node.op in _OPERATORS:
            left = self._value(node.left).bound(POSTFIX)
            decided = left if node.op == "&&" else f"~{left}"
            right = self._where(decided, node.right, self._value).bound(POSTFIX)
            return Operand(f"({left} {_OPERATORS[node.op]} {right})", ATOM)
        kinds = {self._kind_of(each) for each in (node.left, node.right)}
        kind = LaneKind.REAL if LaneKind.REAL in kinds else LaneKind.INTEGER
        precedence = _PRECEDENCES.get(node.op, RELATIONAL)
        left = self._operand(node.left, kind).bound(precedence)
        text = f"{left} {node.op} {self._operand(node.right, kind).bound(precedence + 1)}"
        if self._lanes.kinds[id(node)] is LaneKind.MASK:
            return Operand(f"(({self._type(self._integer)})({text}))", ATOM)
        return Operand(text, precedence)

    def _read(self, node: c_ast.Node) -> Operand:
        operand, kind = self._lanes.operands[id(node)], self._lanes.kinds[id(node)]
        if operand.variable:
            return Operand(self._variable(node), ATOM)
        if operand.counter:
            counters = ", ".join(self._counter(node, lane) for lane in range(self._lanes.lanes))
            return Operand(f"({self._type(self._kind(kind))}){{{counters}}}", POSTFIX)
        place = self._element(node, 0) if operand.adjacent else self._packed(node)
        if place is not None and kind is LaneKind.REAL:
            return Operand(f"*(const {self._type(self._real)} *)&{place}", UNARY)
        if operand.interleaved is not None and kind is LaneKind.REAL:
            return self._interleaved(node, operand.interleaved)
        elements = ", ".join(self._element(node, lane) for lane in range(self._lanes.lanes))
        return Operand(f"({self._type(self._kind(kind))}){{{elements}}}", POSTFIX)

    def _interleaved(self, node: c_ast.Node, interleaved: Interleaved) -> Operand:
        """A vector of elements that whole vectors are loaded for."""
        load = InterleavedLoad(self._real, interleaved.step, interleaved.place)
        self._scope.in_use.helpers.update({load, self._real, self._real.mask})
        lanes = (0,) if interleaved.place is None else (0, 1)
        addresses = ", ".join(f"&{self._element(node, lane)}" for lane in lanes)
        return Operand(f"{load.name}({addresses})", POSTFIX)

    def _packed(self, node: c_ast.Node) -> str | None:
        """The first element of the vector at hand in the buffer that ``node`` reads, None without one."""
        return self._buffers.element(node, self._places[id(node)][1], self._copy * self._lanes.lanes)

    def _select(self, kind: LaneKind, mask: str, chosen: str, other: str) -> Operand:
        return self._call(LaneFunctionKind.SELECT, self._kind(kind), mask, chosen, other)

    def _call(self, kind: LaneFunctionKind, vector: VectorType, *arguments: str) -> Operand:
        function = LaneFunction(kind, vector)
        self._scope.in_use.helpers.update({function, vector, vector.mask})
        return Operand(f"{function.name}({', '.join(arguments)})", POSTFIX)

    def _variable(self, node: c_ast.Node) -> str:
        assert self._printed is not None  # noqa: S101 - a statement is being printed
        accesses = self._printed.statement.accesses
        name = next((each.array.name for each in accesses if each.node is node), None)
        return self._own[node.name] if name is None else f"{self._variables[name]}_{self._copy}"

    def _counter(self, node: c_ast.Node, lane: int) -> str:
        """The counter ``node`` in ``lane`` of the vector at hand."""
        return self._scope.in_lane(lane + self._copy * self._lanes.lanes, lambda: self._scalar(node))

    def _element(self, node: c_ast.Node, lane: int) -> str:
        """The element that ``node`` accesses in ``lane`` of the vector at hand."""
        access, at = self._places[id(node)]
        expressions, instances = self._scope.expressions, self._scope.instances
        return self._scope.in_lane(
            lane + self._copy * self._lanes.lanes,
            lambda: instances.element(access.array, expressions.subscripts(at)),
        )

    def _converted(self, element: object) -> VectorType | None:
        """The vector in memory that integers of type ``element`` are converted to, None if they are not."""
        if isinstance(element, IntegerType) and element.name in {"int", "long long"}:
            return VectorType(element.name, self._lanes.lanes)
        return None

    def _kind(self, kind: LaneKind) -> VectorType:
        return self._real if kind is LaneKind.REAL else self._integer

    def _type(self, kind: VectorType) -> str:
        self._scope.in_use.helpers.add(kind)
        return kind.name
