"""Statement bodies in the lanes of vectors: each variable is a vector, each operation one on vectors.

They are written with the vector extension of gcc and clang. A choice is computed on both sides, and a
mask says which lanes keep what.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
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
    is_identifier,
)
from polybuild.codegen.c.lane_scope import LaneScope
from polybuild.codegen.c.lane_singles import name_of_type
from polybuild.codegen.c.lane_state import LaneState
from polybuild.codegen.c.row_pointers import RowElement
from polybuild.codegen.file.interleaved_loads import InterleavedLoad
from polybuild.codegen.file.lane_functions import LaneFunction, LaneFunctionKind
from polybuild.codegen.file.vector_types import VectorType
from polybuild.scop.model import AccessKind
from polybuild.targets.cpu.lane_bodies import counts_before, parts_of, step_in
from polybuild.targets.model import Interleaved, LaneBodies, LaneKind, LaneOperand

if TYPE_CHECKING:
    from polybuild.codegen.c.ast import Instance
    from polybuild.codegen.c.lane_elements import LaneElements
    from polybuild.codegen.c.row_buffers import RowBufferPrinter
    from polybuild.scop.model import Access

_OPERATORS = {"&&": "&", "||": "|"}
_PRECEDENCES = {"+": ADDITIVE, "-": ADDITIVE, "*": MULTIPLICATIVE, "/": MULTIPLICATIVE, "%": MULTIPLICATIVE}
_WRAPPING = {"+", "-", "*"}
_BITS = {"&", "|", "^"}


class LaneBodyPrinter:
    """Prints the statements of a loop in lanes.

    ``buffers`` has rows that are packed, ``elements`` are those in vectors.
    ``variables`` has the stems of vectors, or arrays, that private variables are, by name.
    """

    def __init__(self, scope: LaneScope, buffers: RowBufferPrinter, elements: LaneElements) -> None:
        self._scope = scope
        self._lanes = scope.lanes
        self._names = scope.names
        self._real = VectorType(scope.lanes.type.name, scope.lanes.lanes)
        self._integer = self._real.mask
        self.variables = {
            each.name: scope.names.declare_stem(f"{each.name}_lanes") for each in scope.lanes.variables
        }
        self._buffers = buffers
        self._elements = elements
        self._places: Mapping[int, tuple[Access, isl.AstExpr]] = {}
        self._states = [LaneState() for _ in range(scope.lanes.copies)]
        self._printed: Instance | None = None
        self._copy = 0

    @property
    def _bodies(self) -> LaneBodies:
        return self._lanes.bodies

    @property
    def state(self) -> LaneState:
        """What holds in the vector at hand."""
        return self._states[self._copy]

    def vectors(self) -> Iterator[LaneState]:
        """What holds in each of the vectors, which is at hand then."""
        for copy, state in enumerate(self._states):
            self._copy = copy
            yield state

    def declarations(self) -> list[str]:
        """The declarations of the vectors that variables are."""
        lines = []
        for each in self._lanes.variables:
            kind = self._integer if isinstance(each.element, IntegerType) else self._real
            # some lanes are read before they are set
            partly = self._lanes.diverges or self._lanes.singles or self._bodies.guarded
            stem, start = self.variables[each.name], " = {0}" if partly else ""
            array = "" if each.name in self._lanes.vectors else f"[{self._lanes.lanes}]"
            places = "".join(f"[{size}]" for size in each.sizes or ())
            names = ", ".join(f"{stem}_{copy}{places}{array}{start}" for copy in range(self._lanes.copies))
            lines.append(f"{name_of_type(each) if array else self._type(kind)} {names};")
        return lines

    def condition(self, node: c_ast.Node) -> Operand:
        """``node`` as a mask: of the lanes in which it holds."""
        kind = self._bodies.kinds[id(node)]
        if kind is LaneKind.UNIFORM:
            return self._call(LaneFunctionKind.ALL, self._integer, f"-!!({self._scalar(node)})")
        if id(node) not in self._bodies.truths or kind is LaneKind.MASK:
            return self._value(node)
        return Operand(f"(({self._type(self._integer)})({self._value(node).bound(RELATIONAL)} != 0))", ATOM)

    @property
    def mask_type(self) -> str:
        """What masks are called in C."""
        return self._type(self._integer)

    @property
    def all_lanes(self) -> str:
        """The mask of all lanes."""
        return self._call(LaneFunctionKind.ALL, self._integer, "-1").text

    def any_of(self, mask: str) -> str:
        """The condition that there is a lane in ``mask``."""
        return self._call(LaneFunctionKind.ANY, self._integer, mask).text

    def declare(self, wanted: str) -> str:
        """A name for the vector at hand."""
        return self._names.declare(wanted)

    def begin(self, instance: Instance) -> None:
        """Go on with the statement ``instance``."""
        self._printed = instance
        self._places = {id(access.node): (access, at) for access, at in instance.accesses}

    def rows(self) -> list[str]:
        """Declarations of pointers to the rows of which the vectors load several elements."""
        loads = []
        for _ in self.vectors():
            for node, operand in self._bodies.operands.items():
                if node in self._places and self._loads_whole(node, operand):
                    access, _ = self._places[node]
                    loads.append(
                        (self._row(access.node), self._lanes.type.name, self._element(access.node, 0))
                    )
        return self._elements.rows.declarations(loads)

    def _loads_whole(self, node: int, operand: LaneOperand) -> bool:
        """Whether what the node of that identity reads is a vector in memory, as it is."""
        access, at = self._places[node]
        return (
            operand.adjacent
            and access.kind is AccessKind.READ
            and self._bodies.kinds[node] is LaneKind.REAL
            and node not in self._bodies.guarded
            and self._elements.vector(access.node, (access, at), self._copy) is None
        )

    def _row(self, node: c_ast.Node) -> RowElement:
        """What ``node`` accesses in the first lane of the vector at hand."""
        access, at = self._places[id(node)]
        further = self._copy * self._lanes.lanes
        return self._scope.in_lane(0, lambda: self._elements.rows.element(access.array, at, further))

    def lines(self, node: c_ast.Node) -> Iterator[str]:
        """The code of ``node``, which has no loops in it, for the vector at hand."""
        if isinstance(node, c_ast.Compound):
            around = self.state.own
            for each in node.block_items or ():
                yield from self.lines(each)
            self.state.own = around
        elif isinstance(node, c_ast.DeclList | c_ast.ExprList):
            for each in parts_of(node):
                yield from self.lines(each)
        elif isinstance(node, c_ast.Break | c_ast.Continue):
            yield from self._jump(isinstance(node, c_ast.Break))
        elif isinstance(node, c_ast.EmptyStatement):
            return
        elif isinstance(node, c_ast.Decl):
            yield self._declaration(node)
        elif isinstance(node, c_ast.If) and id(node) not in self._bodies.steps:
            yield from self._choice(node)
        else:
            yield from self._assignment(self._bodies.steps.get(id(node), node))

    def _declaration(self, node: c_ast.Decl) -> str:
        kind, name = self._bodies.kinds[id(node)], self._names.declare(f"{node.name}_lanes")
        if node.init is None:
            value = self._call(LaneFunctionKind.ALL, self._kind(kind), "0").text
        else:
            value = self._assigned(node.init, kind, " ".join(node.type.type.names)).text
        self.state.own = {**self.state.own, node.name: name}
        return f"{self._type(self._kind(kind))} {name} = {value};"

    def _choice(self, node: c_ast.If) -> Iterator[str]:
        state = self.state
        around = state.mask, state.loop
        yes, no = yield from self.masks(node)
        state.within(yes)
        yield from self.lines(node.iftrue)
        state.mask, state.loop = around
        if node.iffalse is not None:
            state.within(no)
            yield from self.lines(node.iffalse)
            state.mask, state.loop = around

    def masks(self, node: c_ast.If) -> Generator[str, None, tuple[str, str]]:
        """What declares the masks of the lanes in the branches of ``node``; returns their names."""
        kind = self._type(self._integer) if self.state.loop else f"const {self._type(self._integer)}"
        name, other, step = self._names.declare("mask"), "", step_in(node.cond)
        before = step is not None and counts_before(step)
        if step is not None and before:
            yield from self.lines(step)
        yield f"{kind} {name} = {self._also(self.condition(node.cond).text)};"
        if step is not None and not before:
            yield from self.lines(step)
        if node.iffalse is not None:
            other = self._names.declare("mask")
            yield f"{kind} {other} = {self._also(f'~{name}')};"
        return name, other

    def _jump(self, leaves: bool) -> Iterator[str]:
        """Take the lanes at work out of a loop that is left, or out of the rest of its iteration."""
        state = self.state
        assert state.loop is not None  # noqa: S101 - jumps are in loops
        for each in state.loop.left if leaves else state.loop.skipped:
            if each != state.mask:
                yield f"{each} &= ~{state.mask};"
        yield f"{state.mask} = ({self._type(self._integer)}){{0}};"

    def _also(self, condition: str) -> str:
        """The mask of the lanes at work where ``condition`` holds."""
        return f"{self.state.mask} & {condition}" if self.state.mask else condition

    def _where(self, condition: str, node: c_ast.Node, print_: Callable[[c_ast.Node], Operand]) -> Operand:
        """What ``print_`` makes of ``node``, which only the lanes compute where ``condition`` holds."""
        around = self.state.mask
        self.state.mask = f"({self._also(condition)})"
        printed = print_(node)
        self.state.mask = around
        return printed

    def _assignment(self, node: c_ast.Assignment) -> Iterator[str]:
        operand, kind = self._bodies.operands[id(node.lvalue)], self._bodies.kinds[id(node.lvalue)]
        plain = node.op == "="
        if operand.variable:
            variable = self._variable(node.lvalue)
            name = operand.type.name if isinstance(operand.type, IntegerType) else ""
            if not self.state.mask or self._is_loose(node.lvalue, kind):
                value = self._assigned(node.rvalue, kind, name) if plain else self._operand(node.rvalue, kind)
                yield f"{variable} {node.op} {value.text};"
            elif kind is LaneKind.INTEGER and node.op in {"+=", "-="}:
                value = self._operand(node.rvalue, kind)
                yield f"{variable} {node.op} {self.state.mask} & {value.bound(POSTFIX)};"
            else:
                value = self._assigned(node.rvalue, kind, name) if plain else self._operation(node, kind)
                yield f"{variable} = {self._select(kind, self.state.mask, value.text, variable).text};"
            return
        vector = self._in_vector(node.lvalue)
        if vector is not None:
            value = self._vector(node.rvalue, kind) if plain else self._operand(node.rvalue, kind)
            yield f"{vector} {node.op} {value.text};"
            return
        if self.state.mask:
            yield from self._stored_in_some(node, operand, kind)
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
        yield from self._lane_by_lane(node, operand, kind)

    def _stored_in_some(self, node: c_ast.Assignment, operand: LaneOperand, kind: LaneKind) -> Iterator[str]:
        """An assignment to elements, each of which its lane may leave as it is."""
        if operand.adjacent and kind is LaneKind.REAL:
            mask, place = self.state.mask, f"&{self._element(node.lvalue, 0)}"
            value = self._vector(node.rvalue, kind)
            if node.op != "=":
                operator, precedence = node.op[:-1], _PRECEDENCES[node.op[:-1]]
                before = self._call(LaneFunctionKind.LOAD, self._real, mask, place).text
                value = Operand(f"{before} {operator} {value.bound(precedence + 1)}", precedence)
            yield f"{self._call(LaneFunctionKind.STORE, self._real, mask, value.text, place).text};"
            return
        yield from self._lane_by_lane(node, operand, kind)

    def _lane_by_lane(self, node: c_ast.Assignment, operand: LaneOperand, kind: LaneKind) -> Iterator[str]:
        """An assignment to elements that lie apart, or that their lanes may leave as they are."""
        name, mask = self._names.declare("value"), self.state.mask
        yield f"const {self._type(self._kind(kind))} {name} = {self._vector(node.rvalue, kind).text};"
        cast = f"({operand.type.name})" if isinstance(operand.type, IntegerType) else ""
        for lane in range(self._lanes.lanes):
            if mask:
                yield f"if ({mask}[{lane}])"
            indent = "  " if mask else ""
            yield f"{indent}{self._element(node.lvalue, lane)} {node.op} {cast}{name}[{lane}];"

    def _is_loose(self, node: c_ast.Node, kind: LaneKind) -> bool:
        """Whether lanes that have left the loop at hand may change the variable ``node``."""
        loop, printed = self.state.loop, self._printed
        if loop is None or printed is None or self.state.mask != loop.alive or kind is not LaneKind.REAL:
            return False
        name = self._name_of(node)
        if name is None:
            return node.name not in loop.outside
        return loop.first and (name, printed.statement.name) in self._lanes.loose

    def _operation(self, node: c_ast.Assignment, kind: LaneKind) -> Operand:
        """The value that an assignment such as ``x += y`` gives to the variable ``x``."""
        operator, precedence = node.op[:-1], _PRECEDENCES[node.op[:-1]]
        value = self._operand(node.rvalue, kind).bound(precedence + 1)
        return Operand(f"{self._variable(node.lvalue)} {operator} {value}", precedence)

    def _assigned(self, node: c_ast.Node, kind: LaneKind, declared: str) -> Operand:
        """``node`` as a vector of ``kind`` for a variable, converted to the type ``declared``."""
        if self._bodies.kinds[id(node)] is LaneKind.UNIFORM and kind is LaneKind.INTEGER:
            return self._call(LaneFunctionKind.ALL, self._kind(kind), f"({declared})({self._scalar(node)})")
        return self._vector(node, kind)

    def _vector(self, node: c_ast.Node, kind: LaneKind) -> Operand:
        """``node`` as a vector of ``kind``, whether the lanes differ or not."""
        if self._bodies.kinds[id(node)] is not LaneKind.UNIFORM:
            return self._value(node)
        return self._call(LaneFunctionKind.ALL, self._kind(kind), self._scalar(node))

    def _operand(self, node: c_ast.Node, kind: LaneKind) -> Operand:
        """``node`` as an operand beside vectors of ``kind``: a scalar if it is the same for all lanes."""
        if self._bodies.kinds[id(node)] is not LaneKind.UNIFORM:
            return self._value(node)
        known, element = self._bodies.operands.get(id(node)), self._kind(kind).element
        if known is not None and known.type == self._lanes.type and kind is LaneKind.REAL:
            return Operand(self._scalar(node), POSTFIX)
        return Operand(f"({element})({self._scalar(node)})", UNARY)

    def _text(self, node: c_ast.Node) -> str:
        """``node`` as scalar code."""
        assert self._printed is not None  # noqa: S101 - a statement is being printed
        node = self._bodies.steps.get(id(node), node)
        return self._scope.instances.printer(self._printed, {}).visit(node)

    def _scalar(self, node: c_ast.Node) -> str:
        """``node``, which is the same for all lanes."""
        text = self._text(node)
        if id(node) not in self._bodies.guarded:
            return text
        some = self._call(LaneFunctionKind.ANY, self._integer, self.state.mask).text
        return f"({some} ? {text} : 0)"

    def _kind_of(self, node: c_ast.Node) -> LaneKind:
        """What ``node`` is where its value is used."""
        return LaneKind.REAL if id(node) in self._bodies.converted else self._bodies.kinds[id(node)]

    def _value(self, node: c_ast.Node) -> Operand:
        """``node``, which differs between the lanes, as a vector or mask where it is used."""
        value = self._own_value(node)
        if id(node) in self._bodies.flags:
            return Operand(f"({value.bound(POSTFIX)} & 1)", ATOM)
        if id(node) not in self._bodies.converted:
            return value
        return Operand(f"__builtin_convertvector({value.text}, {self._type(self._real)})", POSTFIX)

    def _own_value(self, node: c_ast.Node) -> Operand:
        """The same before an integer becomes a number."""
        if id(node) in self._bodies.operands:
            return self._read(node)
        if isinstance(node, c_ast.Cast):
            return self._value(node.expr)
        if isinstance(node, c_ast.UnaryOp):
            if node.op == "!":
                return Operand(f"~{self.condition(node.expr).bound(UNARY + 1)}", UNARY)
            return Operand(f"{node.op}{self._value(node.expr).bound(UNARY + 1)}", UNARY)
        if isinstance(node, c_ast.TernaryOp):
            kind = self._bodies.kinds[id(node)]
            condition = self.condition(node.cond).bound(UNARY)
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
            if self.state.mask:  # that of a negative number is told by errno, and others compute none
                zero = self._call(LaneFunctionKind.ALL, self._real, "0").text
                argument = self._select(LaneKind.REAL, self.state.mask, argument, zero).text
            return self._call(LaneFunctionKind.ROOT, self._real, argument)
        if node.op in _OPERATORS:
            left = self.condition(node.left).bound(POSTFIX)
            decided = left if node.op == "&&" else f"~{left}"
            right = self._where(decided, node.right, self.condition).bound(POSTFIX)
            return Operand(f"({left} {_OPERATORS[node.op]} {right})", ATOM)
        kinds = {self._kind_of(each) for each in (node.left, node.right)}
        if kinds == {LaneKind.MASK} and self._bodies.kinds[id(node)] is LaneKind.MASK:
            differ = " ^ ".join(self.condition(each).bound(POSTFIX) for each in (node.left, node.right))
            return Operand(f"({differ})" if node.op == "!=" else f"(~({differ}))", ATOM)
        kind = LaneKind.REAL if LaneKind.REAL in kinds else LaneKind.INTEGER
        if node.op in _BITS:
            left, right = (self._operand(each, kind).bound(POSTFIX) for each in (node.left, node.right))
            return Operand(f"({left} {node.op} {right})", ATOM)
        precedence = _PRECEDENCES.get(node.op, RELATIONAL)
        left = self._operand(node.left, kind).bound(precedence)
        text = f"{left} {node.op} {self._operand(node.right, kind).bound(precedence + 1)}"
        if self._bodies.kinds[id(node)] is LaneKind.MASK:
            return Operand(f"(({self._type(self._integer)})({text}))", ATOM)
        if self.state.loop is not None and kind is LaneKind.INTEGER and node.op in _WRAPPING:
            return self._wrapping(node)
        return Operand(text, precedence)

    def _wrapping(self, node: c_ast.BinaryOp) -> Operand:
        """An operation on integers that may overflow in lanes which have left the loop at hand."""
        own = VectorType(f"unsigned {self._integer.element}", self._lanes.lanes)
        unsigned = self._type(own)
        sides = []
        for each in (node.left, node.right):
            kind = own.element if self._bodies.kinds[id(each)] is LaneKind.UNIFORM else unsigned
            sides.append(f"({kind}){self._operand(each, LaneKind.INTEGER).bound(UNARY + 1)}")
        return Operand(f"({self._type(self._integer)})({f' {node.op} '.join(sides)})", UNARY)

    def _read(self, node: c_ast.Node) -> Operand:
        operand, kind = self._bodies.operands[id(node)], self._bodies.kinds[id(node)]
        if operand.variable:
            return Operand(self._variable(node), ATOM)
        if operand.counter:
            return self._counters(node, self._kind(kind))
        vector = self._in_vector(node)
        if vector is not None:
            return Operand(vector, POSTFIX)
        packed = None if operand.adjacent or id(node) not in self._places else self._packed(node)
        if id(node) in self._bodies.guarded and (packed is None or kind is not LaneKind.REAL):
            return self._guarded(node, operand, kind)
        place = self._element(node, 0) if operand.adjacent else packed
        if place is not None and kind is LaneKind.REAL:
            known = operand.adjacent and id(node) in self._places
            address = (self._elements.rows.address(self._row(node)) if known else None) or f"&{place}"
            return Operand(f"*(const {self._type(self._real)} *){address}", UNARY)
        if operand.interleaved is not None and kind is LaneKind.REAL:
            return self._interleaved(node, operand.interleaved)
        stored = self._converted(operand.type) if kind is LaneKind.INTEGER and operand.adjacent else None
        if stored is not None:
            whole = f"*(const {self._type(stored)} *)&{self._element(node, 0)}"
            if stored == self._integer:
                return Operand(whole, UNARY)
            return Operand(f"__builtin_convertvector({whole}, {self._type(self._integer)})", POSTFIX)
        elements = ", ".join(self._element(node, lane) for lane in range(self._lanes.lanes))
        return Operand(f"({self._type(self._kind(kind))}){{{elements}}}", POSTFIX)

    def _in_vector(self, node: c_ast.Node) -> str | None:
        """The vector that has what ``node`` accesses while a loop runs; None without one."""
        return self._elements.vector(node, self._places.get(id(node)), self._copy)

    def _guarded(self, node: c_ast.Node, operand: LaneOperand, kind: LaneKind) -> Operand:
        """The elements that lanes at work read."""
        vector = self._kind(kind)
        if operand.adjacent and kind is LaneKind.REAL:
            return self._call(LaneFunctionKind.LOAD, vector, self.state.mask, f"&{self._element(node, 0)}")
        lanes = range(self._lanes.lanes)
        elements = ", ".join(f"{self.state.mask}[{lane}] ? {self._element(node, lane)} : 0" for lane in lanes)
        return Operand(f"({self._type(vector)}){{{elements}}}", POSTFIX)

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
        if isinstance(node, c_ast.UnaryOp):  # it counts in a variable, before or after what is being printed
            node = node.expr
        name = self._name_of(node)
        if name is None:
            return self.state.own[node.name]
        place = ""
        if isinstance(node, c_ast.ArrayRef):
            _, at = self._places[id(node)]
            place = "".join(f"[{each.text}]" for each in self._scope.expressions.subscripts(at))
        return f"{self.variables[name]}_{self._copy}{place}"

    def _name_of(self, node: c_ast.Node) -> str | None:
        """The name of a private variable, None for one that the statement declares itself."""
        assert self._printed is not None  # noqa: S101 - a statement is being printed
        named = [(each.node, each.array) for each in self._printed.statement.accesses]
        named += self._printed.statement.locals
        return next((array.name for each, array in named if each is node), None)

    def _counter(self, node: c_ast.Node, lane: int) -> str:
        """The counter ``node`` in ``lane`` of the vector at hand."""
        return self._scope.in_lane(lane + self._copy * self._lanes.lanes, lambda: self._scalar(node))

    def _counters(self, node: c_ast.Node, kind: VectorType) -> Operand:
        """The counter ``node`` in the lanes of the vector at hand."""
        lanes = range(self._lanes.lanes)
        if not self._counts_loop(node):
            counters = ", ".join(self._counter(node, lane) for lane in lanes)
            return Operand(f"({self._type(kind)}){{{counters}}}", POSTFIX)
        # gcc converts and inserts each element that is written by itself
        first = self._call(LaneFunctionKind.ALL, kind, self._counter(node, 0)).text
        return Operand(f"({first} + ({self._type(kind)}){{{', '.join(map(str, lanes))}}})", ATOM)

    def _counts_loop(self, node: c_ast.Node) -> bool:
        """Whether the counter ``node`` is that of the loop in lanes as it is."""
        assert self._printed is not None  # noqa: S101 - a statement is being printed
        counters = zip(self._printed.statement.iterators, self._printed.iterators, strict=True)
        loop = self._scope.identifier
        return isinstance(node, c_ast.ID) and any(
            iterator.name == node.name and is_identifier(value, loop) for iterator, value in counters
        )

    def _element(self, node: c_ast.Node, lane: int) -> str:
        """The element that ``node`` accesses in ``lane`` of the vector at hand."""
        lane += self._copy * self._lanes.lanes
        if id(node) not in self._places:  # it may not be read, and nothing but counters tells which it is
            return self._scope.in_lane(lane, lambda: self._text(node))
        access, at = self._places[id(node)]
        expressions, instances = self._scope.expressions, self._scope.instances
        return self._scope.in_lane(
            lane,
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
