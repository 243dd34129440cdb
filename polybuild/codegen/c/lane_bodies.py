"""Statement bodies in the lanes of vectors: each variable is a vector, each operation one on vectors.

They are written with the vector extension of gcc and clang. A choice is computed on both sides, and a
mask says which lanes keep what.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import islpy as isl
from pycparser import c_ast

from polybuild.c.types import IntegerType
from polybuild.codegen.c.expressions import ExpressionPrinter
from polybuild.codegen.c.instances import InstancePrinter
from polybuild.codegen.c.names_in_scope import NamesInScope
from polybuild.codegen.c.names_in_use import NamesInUse
from polybuild.codegen.file.prologue import LaneFunction, LaneFunctionKind, VectorType
from polybuild.targets.model import LaneKind, LaneLoop

if TYPE_CHECKING:
    from polybuild.codegen.c.ast import Instance
    from polybuild.codegen.c.row_buffers import RowBufferPrinter
    from polybuild.scop.model import Access

_OPERATORS = {"&&": "&", "||": "|"}
_ROOTS = {"sqrt", "sqrtf"}


class LaneBodyPrinter:
    """Prints statements below a loop in ``lanes``, whose counter isl calls ``identifier``.

    The first lane of the first vector computes the iteration that ``counter`` says, the next one that after
    it, and so on. ``names`` are those in scope, ``buffers`` has rows that are packed, and ``in_use`` records
    what the text mentions.
    """

    def __init__(
        self,
        lanes: LaneLoop,
        counter: tuple[str, str],
        names: NamesInScope,
        instances: InstancePrinter,
        buffers: RowBufferPrinter,
        in_use: NamesInUse,
    ) -> None:
        self._lanes = lanes
        self._identifier, self._counter = counter
        self._names = names
        self._instances = instances
        self._expressions = ExpressionPrinter(names.text, in_use)
        self._in_use = in_use
        self._real = VectorType(lanes.type.name, lanes.lanes)
        self._integer = self._real.mask
        self._variables = {each.name: names.declare_stem(f"{each.name}_lanes") for each in lanes.variables}
        self._buffers = buffers
        self._places: Mapping[int, tuple[Access, isl.AstExpr]] = {}
        self._printed: Instance | None = None
        self._copy = 0

    @property
    def step(self) -> int:
        """How many iterations run at once."""
        return self._lanes.lanes * self._lanes.copies

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
        for self._copy in range(self._lanes.copies):
            lines += self._lines(instance.statement.body, None)
        return lines

    def _lines(self, node: c_ast.Node, mask: str | None) -> Iterator[str]:
        if isinstance(node, c_ast.Compound):
            for each in node.block_items or ():
                yield from self._lines(each, mask)
        elif isinstance(node, c_ast.If):
            yield from self._choice(node, mask)
        else:
            yield from self._assignment(node, mask)

    def _choice(self, node: c_ast.If, mask: str | None) -> Iterator[str]:
        name, around = self._names.declare("mask"), "" if mask is None else f"{mask} & "
        kind = self._type(self._integer)
        yield f"const {kind} {name} = {around}{self._value(node.cond)};"
        yield from self._lines(node.iftrue, name)
        if node.iffalse is not None:
            other = self._names.declare("mask")
            yield f"const {kind} {other} = {around}~{name};"
            yield from self._lines(node.iffalse, other)

    def _assignment(self, node: c_ast.Assignment, mask: str | None) -> Iterator[str]:
        operand, kind = self._lanes.operands[id(node.lvalue)], self._lanes.kinds[id(node.lvalue)]
        value = self._vector(node.rvalue, kind) if node.op == "=" else self._operand(node.rvalue, kind)
        if operand.variable:
            variable = self._variable(node.lvalue)
            if mask is not None:
                new = value if node.op == "=" else f"{variable} {node.op[:-1]} {value}"
                yield f"{variable} = {self._select(kind, mask, new, variable)};"
            else:
                yield f"{variable} {node.op} {value};"
            return
        if operand.adjacent and (kind is LaneKind.REAL or self._converted(operand.type) is not None):
            stored = self._converted(operand.type) if kind is LaneKind.INTEGER else None
            if stored is not None:
                value = f"__builtin_convertvector({value}, {self._type(stored)})"
            yield f"{self._in_memory(stored or self._real, self._element(node.lvalue, 0))} {node.op} {value};"
            return
        name = self._names.declare("value")
        yield f"const {self._type(self._kind(kind))} {name} = {self._vector(node.rvalue, kind)};"
        assert isinstance(operand.type, IntegerType) or kind is LaneKind.REAL  # noqa: S101 - typing says so
        cast = f"({operand.type.name})" if isinstance(operand.type, IntegerType) else ""
        for lane in range(self._lanes.lanes):
            yield f"{self._element(node.lvalue, lane)} {node.op} {cast}{name}[{lane}];"

    def _vector(self, node: c_ast.Node, kind: LaneKind) -> str:
        """``node`` as a vector of ``kind``, whether the lanes differ or not."""
        text = self._operand(node, kind)
        if self._lanes.kinds[id(node)] is not LaneKind.UNIFORM:
            return text
        return self._call(LaneFunctionKind.ALL, self._kind(kind), text)

    def _operand(self, node: c_ast.Node, kind: LaneKind) -> str:
        """``node`` as an operand beside vectors of ``kind``: a scalar if it is the same for all lanes."""
        if self._lanes.kinds[id(node)] is not LaneKind.UNIFORM:
            return self._value(node)
        assert self._printed is not None  # noqa: S101 - a statement is being printed
        text = self._instances.printer(self._printed, {}).visit(node)
        return f"({self._kind(kind).element})({text})"

    def _value(self, node: c_ast.Node) -> str:
        """``node``, which differs between the lanes, as a vector or mask."""
        if id(node) in self._lanes.operands:
            return self._read(node)
        if isinstance(node, c_ast.UnaryOp):
            return f"({'~' if node.op == '!' else node.op}{self._value(node.expr)})"
        if isinstance(node, c_ast.TernaryOp):
            kind = self._lanes.kinds[id(node)]
            sides = [self._vector(each, kind) for each in (node.iftrue, node.iffalse)]
            return self._select(kind, self._value(node.cond), *sides)
        if isinstance(node, c_ast.FuncCall):
            root = node.name.name in _ROOTS
            kind_of_call = LaneFunctionKind.ROOT if root else LaneFunctionKind.MAGNITUDE
            return self._call(kind_of_call, self._real, self._value(node.args.exprs[0]))
        if node.op in _OPERATORS:
            return f"({self._value(node.left)} {_OPERATORS[node.op]} {self._value(node.right)})"
        kinds = {self._lanes.kinds[id(each)] for each in (node.left, node.right)}
        kind = LaneKind.REAL if LaneKind.REAL in kinds else LaneKind.INTEGER
        text = f"({self._operand(node.left, kind)} {node.op} {self._operand(node.right, kind)})"
        compares = self._lanes.kinds[id(node)] is LaneKind.MASK
        return f"(({self._type(self._integer)}){text})" if compares else text

    def _read(self, node: c_ast.Node) -> str:
        operand, kind = self._lanes.operands[id(node)], self._lanes.kinds[id(node)]
        if operand.variable:
            return self._variable(node)
        place = self._element(node, 0) if operand.adjacent else self._packed(node)
        if place is not None and kind is LaneKind.REAL:
            return f"*(const {self._type(self._real)} *)&{place}"
        elements = ", ".join(self._element(node, lane) for lane in range(self._lanes.lanes))
        return f"({self._type(self._kind(kind))}){{{elements}}}"

    def _packed(self, node: c_ast.Node) -> str | None:
        """The first element of the vector at hand in the buffer that ``node`` reads, None if it reads none."""
        return self._buffers.element(node, self._places[id(node)][1], self._copy * self._lanes.lanes)

    def _select(self, kind: LaneKind, mask: str, chosen: str, other: str) -> str:
        return self._call(LaneFunctionKind.SELECT, self._kind(kind), mask, chosen, other)

    def _call(self, kind: LaneFunctionKind, vector: VectorType, *arguments: str) -> str:
        function = LaneFunction(kind, vector)
        self._in_use.helpers.update({function, vector, vector.mask})
        return f"{function.name}({', '.join(arguments)})"

    def _variable(self, node: c_ast.Node) -> str:
        assert self._printed is not None  # noqa: S101 - a statement is being printed
        name = next(each.array.name for each in self._printed.statement.accesses if each.node is node)
        return f"{self._variables[name]}_{self._copy}"

    def _element(self, node: c_ast.Node, lane: int) -> str:
        """The element that ``node`` accesses in ``lane`` of the vector at hand."""
        access, at = self._places[id(node)]
        offset = lane + self._copy * self._lanes.lanes
        before = self._names[self._identifier]
        self._names[self._identifier] = f"({self._counter} + {offset})" if offset else self._counter
        text = self._instances.element(access.array, self._expressions.subscripts(at))
        self._names[self._identifier] = before
        return text

    def _converted(self, element: object) -> VectorType | None:
        """The vector in memory that integers of type ``element`` are converted to, None if they are not."""
        if isinstance(element, IntegerType) and element.name in {"int", "long long"}:
            return VectorType(element.name, self._lanes.lanes)
        return None

    def _in_memory(self, kind: VectorType, place: str) -> str:
        self._type(kind)
        return kind.at(place)

    def _kind(self, kind: LaneKind) -> VectorType:
        return self._real if kind is LaneKind.REAL else self._integer

    def _type(self, kind: VectorType) -> str:
        self._in_use.helpers.add(kind)
        return kind.name
