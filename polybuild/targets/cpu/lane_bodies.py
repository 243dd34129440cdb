"""Bodies of statements that the lanes of vectors compute side by side, each as scalar code would.

A lane goes through the very operations of its iteration, in their order. What a condition chooses is
computed in all lanes, and kept in those where it holds: so nothing may stand under one that could fail
or be seen elsewhere, as a load of an element that exists in other lanes only.

So it is with loops that end when a condition on variables of the iteration holds: they go on while any lane
has not left, and what the others compute meanwhile is not kept.
"""

from __future__ import annotations

import dataclasses
import math
import struct
from collections.abc import Mapping, Sequence
from dataclasses import field

from pycparser import c_ast

from polybuild.c.basic_types import INT, DataModel, basic_type
from polybuild.c.literals import integer_value, number_type
from polybuild.c.mathematics import MAGNITUDES, ROOTS
from polybuild.c.syntax_tree import COMPARISONS, always_evaluates, key, names_in, single_statement, walk
from polybuild.c.types import FloatingType, IntegerType, Type
from polybuild.machine.model import DOUBLE
from polybuild.targets.model import LaneBodies, LaneKind, LaneOperand

_ARITHMETIC = {"+", "-", "*", "/"}
# of integers, too: what a lane that has left computes with must not fail
_BITS = {"&", "|", "^"}
_STEPS = {"p++": "+=", "++": "+=", "p--": "-=", "--": "-="}
_UPDATES = {"&=", "|=", "^=", "/=", "%="}
LOOPS = (c_ast.For, c_ast.While, c_ast.DoWhile)


def parts_of(node: c_ast.Node) -> Sequence[c_ast.Node]:
    """What a block, a list of declarations, or one of expressions has in it."""
    if isinstance(node, c_ast.Compound):
        return tuple(node.block_items or ())
    return tuple(node.decls if isinstance(node, c_ast.DeclList) else node.exprs)


def separate_tests(node: c_ast.Node) -> list[c_ast.Node]:
    """The conditions that have to hold for ``node`` to do so, in the order in which they are asked for.

    It is one alone unless one of them counts.
    """
    if isinstance(node, c_ast.BinaryOp) and node.op == "&&" and step_in(node) is not None:
        return [*separate_tests(node.left), *separate_tests(node.right)]
    return [node]


def step_in(node: c_ast.Node) -> c_ast.UnaryOp | None:
    """The first ``++`` or ``--`` that evaluating ``node`` does."""
    return next((each for each in walk(node) if isinstance(each, c_ast.UnaryOp) and each.op in _STEPS), None)


def counts_before(step: c_ast.UnaryOp) -> bool:
    """Whether ``step`` has the value that its variable gets."""
    return step.op in {"++", "--"}


def declared_type(declarator: c_ast.Node, type_names: Mapping[str, Type]) -> Type | None:
    """The type of a plain variable, or of a conversion; None if it is another one."""
    named = declarator.type if isinstance(declarator, c_ast.TypeDecl) else None
    if not isinstance(named, c_ast.IdentifierType):
        return None
    return type_names.get(" ".join(named.names)) or basic_type(named.names, DataModel())


@dataclasses.dataclass(slots=True)
class _Noted:
    """The nodes of expressions, by identity, that become something else in lanes (``LaneBodies``)."""

    converted: set[int] = field(default_factory=set)
    truths: set[int] = field(default_factory=set)
    flags: set[int] = field(default_factory=set)
    guarded: set[int] = field(default_factory=set)


class LaneTyping:
    """What the parts of statements are in lanes of ``element``: ``kinds`` by the identities of their nodes.

    ``operands`` says what the nodes of accesses, and those of names of counters and parameters, are; uses of
    variables that a statement declares itself are added to them. ``type_names`` has the types that names of
    the file stand for. Where loops inside may ``diverge``, numbers are conditions, too, and the other way
    round. The first part that lanes cannot compute is an ``obstacle``.
    """

    def __init__(
        self,
        element: FloatingType,
        operands: Mapping[int, LaneOperand],
        type_names: Mapping[str, Type],
        *,
        diverge: bool = False,
    ) -> None:
        self._element = element
        self._type_names = type_names
        self._diverge = diverge
        self._loops = 0
        self.obstacle: c_ast.Node | None = None
        self._own: dict[str, Type] = {}
        self._operands = dict(operands)
        self._kinds: dict[int, LaneKind] = {}
        self._noted = _Noted()
        self._real_choices: dict[int, Type | None] = {}
        self._steps: dict[int, c_ast.Node] = {}

    @property
    def bodies(self) -> LaneBodies:
        """What was found of the statements that were asked for."""
        return LaneBodies(
            self._kinds,
            self._operands,
            frozenset(self._noted.converted),
            frozenset(self._noted.truths),
            frozenset(self._noted.flags),
            frozenset(self._noted.guarded),
            self._steps,
        )

    def has_lanes(self, kind: Type) -> bool:
        """Whether each lane may have a number of type ``kind``."""
        return self._varying(kind) is not LaneKind.UNIFORM

    def statement(self, node: c_ast.Node, *, chosen: bool = False) -> bool:
        """Whether all lanes may run ``node`` at once; ``chosen`` if some of them must not see it."""
        possible = self._statement(node, chosen=chosen)
        if not possible and self.obstacle is None:
            self.obstacle = node
        return possible

    def _statement(self, node: c_ast.Node, *, chosen: bool) -> bool:
        if isinstance(node, c_ast.Compound | c_ast.DeclList | c_ast.ExprList):
            around = dict(self._own)
            possible = all(self.statement(each, chosen=chosen) for each in parts_of(node))
            if not isinstance(node, c_ast.DeclList):
                self._own = around
            return possible
        if isinstance(node, c_ast.Decl):
            return self._declaration(node, chosen=chosen)
        joined = self._joined(node) if isinstance(node, c_ast.If) else None
        if joined is not None:
            self._steps[id(node)] = joined
            return self._assignment(joined, chosen=chosen)
        if isinstance(node, c_ast.If):
            branches = [each for each in (node.iftrue, node.iffalse) if each is not None]
            certain = self._test(node.cond, chosen=chosen)
            return certain and all(self.statement(each, chosen=True) for each in branches)
        if isinstance(node, LOOPS):
            return self._diverge and self._loop(node, chosen=chosen)
        if isinstance(node, c_ast.Break | c_ast.Continue):
            return self._loops > 0
        if isinstance(node, c_ast.EmptyStatement):
            return self._diverge
        if isinstance(node, c_ast.UnaryOp) and node.op in _STEPS:
            one = c_ast.Constant("int", "1")
            self._steps[id(node)] = c_ast.Assignment(_STEPS[node.op], node.expr, one, node.coord)
            node = self._steps[id(node)]
        if isinstance(node, c_ast.Assignment) and self._diverge and node.op in _UPDATES:
            value = c_ast.BinaryOp(node.op[:-1], node.lvalue, node.rvalue, node.coord)
            self._steps[id(node)] = c_ast.Assignment("=", node.lvalue, value, node.coord)
            node = self._steps[id(node)]
        return isinstance(node, c_ast.Assignment) and self._assignment(node, chosen=chosen)

    def _joined(self, node: c_ast.If) -> c_ast.Assignment | None:
        """``node`` as one assignment of a choice, where all branches set one element."""
        first = single_statement(node)
        while isinstance(first, c_ast.If):
            first = single_statement(first.iftrue)
        target = self._operand(first.lvalue) if isinstance(first, c_ast.Assignment) else None
        if target is None or not target.element:
            return None
        value = _value_set(node, first.lvalue)
        return None if value is None else c_ast.Assignment("=", first.lvalue, value, node.coord)

    def _loop(self, node: c_ast.Node, *, chosen: bool) -> bool:
        """Whether all lanes may go through a loop until none is left in it."""
        around = dict(self._own)
        counted = isinstance(node, c_ast.For)
        possible = not counted or node.init is None or self.statement(node.init, chosen=chosen)
        tests = () if node.cond is None else separate_tests(node.cond)
        possible = possible and all(self._test(each, chosen=True) for each in tests)
        self._loops += 1
        possible = possible and self.statement(node.stmt, chosen=True)
        self._loops -= 1
        possible = possible and (not counted or node.next is None or self.statement(node.next, chosen=True))
        self._own = around
        return possible

    def _test(self, node: c_ast.Node, *, chosen: bool) -> bool:
        """Whether lanes may decide by ``node``, which may count in a variable that it names nowhere else."""
        step = step_in(node) if self._diverge else None
        if step is not None:
            alone = isinstance(step.expr, c_ast.ID) and list(names_in(node)).count(step.expr.name) == 1
            if not alone or not always_evaluates(node, step) or not self.statement(step, chosen=chosen):
                return False
            self._operands[id(step)] = self._operands[id(step.expr)]
        return self._condition(node, chosen=chosen)

    def _condition(self, node: c_ast.Node, *, chosen: bool) -> bool:
        """Whether lanes may decide by ``node``; a number that they decide by is noted."""
        kind = self._kind(node, chosen=chosen)
        if kind is None or kind is LaneKind.MASK or not self._diverge:
            return kind is LaneKind.MASK
        self._noted.truths.add(id(node))
        return True

    def _declaration(self, node: c_ast.Decl, *, chosen: bool) -> bool:
        """Whether each lane may have a variable of its own that is declared here."""
        kind = self._declared(node.type)
        if kind is None or node.storage or "volatile" in node.quals:
            return False
        varying = self._varying(kind)
        if varying is LaneKind.UNIFORM:
            return False
        if isinstance(kind, IntegerType) and kind.width < INT.width and not _is_truth(kind):
            return False  # it would have to wrap as scalar code does
        if node.init is not None:
            self._expect(node.init, varying)
            value = self._kind(node.init, chosen=chosen)
            if value is None or not self._becomes(node.init, value, varying):
                return False
            if value is LaneKind.INTEGER and not self._fits(node.init, kind):
                return False
            if _is_truth(kind) and value is LaneKind.REAL:
                return False
        self._kinds[id(node)] = varying
        self._own[node.name] = kind
        return True

    def _becomes(self, node: c_ast.Node, value: LaneKind, kind: LaneKind) -> bool:
        """Whether ``node``, which is a ``value`` in lanes, may be assigned to a variable of ``kind``."""
        if value is LaneKind.MASK:
            self._noted.flags.add(id(node))
            return self._diverge and kind is LaneKind.INTEGER
        return value in {kind, LaneKind.UNIFORM} or (kind is LaneKind.REAL and self._is_number(node))

    def _expect(self, node: c_ast.Node, kind: LaneKind) -> None:
        """Note that the value of ``node`` is converted to a number if ``kind`` is one."""
        if kind is LaneKind.REAL and isinstance(node, c_ast.TernaryOp):
            self._real_choices[id(node)] = None

    def _is_number(self, node: c_ast.Node) -> bool:
        """Whether lanes of integers or numbers become numbers, which is noted for integers."""
        if self._kinds[id(node)] is LaneKind.INTEGER:
            self._noted.converted.add(id(node))
        return self._kinds[id(node)] in {LaneKind.INTEGER, LaneKind.REAL}

    def _operand(self, node: c_ast.Node) -> LaneOperand | None:
        """What ``node`` is: an access, a counter, a parameter, or a variable of the statement itself."""
        if id(node) not in self._operands and isinstance(node, c_ast.ID) and node.name in self._own:
            self._operands[id(node)] = LaneOperand(self._own[node.name], varies=True, variable=True)
        return self._operands.get(id(node))

    def _assignment(self, node: c_ast.Assignment, *, chosen: bool) -> bool:
        target = self._operand(node.lvalue)
        if target is None or not target.varies:
            return False
        self._expect(node.rvalue, self._varying(target.type))
        value = self._kind(node.rvalue, chosen=chosen)
        if value is None:
            return False
        if chosen:
            if not (target.variable or target.element):
                return False
            self._noted.guarded.add(id(node.lvalue))
        self._kinds[id(node.lvalue)] = kind = self._varying(target.type)
        if kind is LaneKind.UNIFORM:
            return False
        if kind is LaneKind.INTEGER and not (target.variable or node.op == "="):
            return False
        whole = kind is LaneKind.INTEGER and value is LaneKind.INTEGER
        if whole and not self._fits(node.rvalue, target.type):
            return False
        if _is_truth(target.type) and node.op != "=":
            return False
        if value is LaneKind.UNIFORM and node.op != "=":
            return self._converts(node.rvalue, kind)
        operators = {"=", "+=", "-=", "*="} | ({"/="} if kind is LaneKind.REAL else set())
        return node.op in operators and self._becomes(node.rvalue, value, kind)

    def _converts(self, node: c_ast.Node, kind: LaneKind) -> bool:
        """Whether a value that is the same for all lanes may be an operand beside vectors of ``kind``."""
        own = self._type(node)
        if kind is LaneKind.REAL:
            narrower = self._diverge and isinstance(own, FloatingType) and own.size < self._element.size
            return own == self._element or narrower or isinstance(own, IntegerType)
        return isinstance(own, IntegerType) and own.signed and own.width <= self._bits

    @property
    def _bits(self) -> int:
        """How wide integers are in lanes."""
        return 8 * self._element.size

    def _width(self, node: c_ast.Node) -> int:
        """How many bits the integer ``node`` has in C, as many as lanes have in doubt."""
        operand = self._operand(node)
        if operand is not None:
            return max(operand.type.width, INT.width) if isinstance(operand.type, IntegerType) else self._bits
        kind = self._kinds.get(id(node))
        if kind is LaneKind.MASK:
            return INT.width
        if kind is LaneKind.UNIFORM:
            own = self._type(node)
            return own.width if isinstance(own, IntegerType) else self._bits
        if isinstance(node, c_ast.Cast):
            own = self._declared(node.to_type.type)
            return own.width if isinstance(own, IntegerType) else self._bits
        sides = {
            c_ast.UnaryOp: ("expr",),
            c_ast.BinaryOp: ("left", "right"),
            c_ast.TernaryOp: ("iftrue", "iffalse"),
        }.get(type(node))
        return self._bits if sides is None else max(self._width(getattr(node, each)) for each in sides)

    def _fits(self, node: c_ast.Node, kind: Type) -> bool:
        """Whether C converts the integer ``node``, which differs between lanes, to ``kind`` as it is."""
        if _is_truth(kind):
            return False
        wide = isinstance(kind, IntegerType) and kind.width >= min(self._width(node), self._bits)
        return wide or not isinstance(kind, IntegerType) or kind.width < INT.width

    def _varying(self, kind: Type) -> LaneKind:
        if kind == self._element:
            return LaneKind.REAL
        if isinstance(kind, IntegerType) and kind.signed and 1 < kind.width <= 8 * self._element.size:
            return LaneKind.INTEGER
        if self._diverge and _is_truth(kind):
            return LaneKind.INTEGER
        return LaneKind.UNIFORM

    def _kind(self, node: c_ast.Node, *, chosen: bool) -> LaneKind | None:
        """What ``node`` is in lanes, None if it cannot be there."""
        found = self._find(node, chosen=chosen)
        if found is not None:
            self._kinds[id(node)] = found
        elif self.obstacle is None:
            self.obstacle = node
        return found

    def _find(self, node: c_ast.Node, *, chosen: bool) -> LaneKind | None:
        operand = self._operand(node)
        if operand is not None and operand.varies:
            if chosen and not (operand.variable or operand.counter or operand.loaded):
                if not (self._diverge or operand.adjacent):
                    return None
                self._noted.guarded.add(id(node))
            found = self._varying(operand.type)
            return None if found is LaneKind.UNIFORM else found
        if not any(each.varies for each in self._inside(node)):
            absent = any(each.element and not each.loaded for each in self._inside(node))
            if not self._is_plain(node):
                return None
            if chosen and (absent or self._may_fail(node)):
                self._noted.guarded.add(id(node))
            return LaneKind.UNIFORM
        if isinstance(node, c_ast.BinaryOp):
            return self._binary(node, chosen=chosen)
        if isinstance(node, c_ast.UnaryOp) and node.op == "!":
            return LaneKind.MASK if self._condition(node.expr, chosen=chosen) else None
        if isinstance(node, c_ast.UnaryOp):
            inner = self._kind(node.expr, chosen=chosen)
            numbers = {LaneKind.REAL, LaneKind.INTEGER}
            allowed = {"-": numbers, "+": numbers, "~": {LaneKind.INTEGER} if self._diverge else set()}
            return inner if inner in allowed.get(node.op, set()) else None
        if isinstance(node, c_ast.Cast):
            return self._cast(node, chosen=chosen)
        if isinstance(node, c_ast.TernaryOp):
            return self._choice(node)
        if isinstance(node, c_ast.FuncCall):
            return self._call(node, chosen=chosen)
        return None

    def _inside(self, node: c_ast.Node) -> list[LaneOperand]:
        """The operands in ``node``."""
        own = self._operand(node)
        if own is not None:
            return [own]
        return [each for _, child in node.children() for each in self._inside(child)]

    def _binary(self, node: c_ast.BinaryOp, *, chosen: bool) -> LaneKind | None:
        if node.op in {"&&", "||"}:
            decided = self._condition(node.left, chosen=chosen) and self._condition(node.right, chosen=True)
            return LaneKind.MASK if decided else None
        sides = [self._kind(node.left, chosen=chosen), self._kind(node.right, chosen=chosen)]
        kinds = set(sides) - {LaneKind.UNIFORM}
        if None in sides or not kinds:
            return None
        if set(sides) == {LaneKind.MASK} and node.op in {"==", "!="}:
            return LaneKind.MASK
        kind = self._common_kind(node.left, node.right)
        masks = [each for each in (node.left, node.right) if self._kinds[id(each)] is LaneKind.MASK]
        if masks and (kind is LaneKind.REAL or not self._diverge):
            return None
        self._noted.flags.update(map(id, masks))
        compares = node.op in COMPARISONS
        operands = [node.left, node.right]
        if compares and kind is LaneKind.REAL and self._diverge:
            operands = [each for each in operands if not self._is_limit(each, node)]
        if not self._may_be(kind, *operands):
            return None
        if compares:
            return LaneKind.MASK
        if kind is LaneKind.REAL:
            return kind if node.op in _ARITHMETIC else None
        whole = self._diverge and (node.op in _BITS or _divides(node))
        return kind if node.op in {"+", "-", "*"} or whole else None

    def _common_kind(self, *operands: c_ast.Node) -> LaneKind:
        """What numbers beside each other become: those of the lanes' own type if one of them is."""
        floating = any(
            self._type(each) == self._element
            if self._uniform(each)
            else self._kinds[id(each)] is LaneKind.REAL
            for each in operands
        )
        return LaneKind.REAL if floating else LaneKind.INTEGER

    def _is_limit(self, node: c_ast.Node, comparison: c_ast.BinaryOp) -> bool:
        """Whether ``node`` is a constant of a wider type, beside which one of the lanes' own can stand."""
        if not self._uniform(node) or self._element.size >= DOUBLE:
            return False
        up = {">": False, "<=": False, "<": True, ">=": True}.get(comparison.op)
        if up is not None and node is comparison.left:
            up = not up
        found = _single(node, up=up)
        if found is not None:
            self._steps[id(node)] = found
        return found is not None

    def _may_be(self, kind: LaneKind, *operands: c_ast.Node) -> bool:
        """Whether numbers are exact as operands of ``kind``; integers that are converted are noted."""
        for each in operands:
            if self._uniform(each):
                if not self._converts(each, kind):
                    return False
            elif kind is LaneKind.REAL:
                self._is_number(each)
        return True

    def _cast(self, node: c_ast.Cast, *, chosen: bool) -> LaneKind | None:
        """A conversion to the lanes' own type."""
        inner, kind = self._kind(node.expr, chosen=chosen), self._declared(node.to_type.type)
        if kind == self._element and inner in {LaneKind.REAL, LaneKind.INTEGER}:
            self._is_number(node.expr)
            return LaneKind.REAL
        if isinstance(kind, IntegerType) and self._varying(kind) is LaneKind.INTEGER and self._diverge:
            fits = inner is LaneKind.INTEGER and self._width(node.expr) <= kind.width
            return LaneKind.INTEGER if fits else None
        return None

    def _choice(self, node: c_ast.TernaryOp) -> LaneKind | None:
        """A value that each lane chooses."""
        if not self._condition(node.cond, chosen=True):
            return None
        converted = id(node) in self._real_choices
        for each in (node.iftrue, node.iffalse) if converted else ():
            self._expect(each, LaneKind.REAL)
        sides = {self._kind(each, chosen=True) for each in (node.iftrue, node.iffalse)}
        truths = [each for each in (node.iftrue, node.iffalse) if self._kinds.get(id(each)) is LaneKind.MASK]
        if None in sides or (truths and not self._diverge):
            return None
        self._noted.flags.update(map(id, truths))
        kinds = sides - {LaneKind.UNIFORM}
        types = [
            INT if each in truths else self._real_choices.get(id(each)) or self._type(each)
            for each in (node.iftrue, node.iffalse)
        ]
        alike = types[0] == types[1] and isinstance(types[0], IntegerType)
        if converted and alike:  # a choice of integers, each of which may become a number first
            self._real_choices[id(node)] = types[0]
        elif any(self._real_choices.get(id(each)) for each in (node.iftrue, node.iffalse)):
            return None
        numbers = converted and alike
        whole = self._diverge and not numbers and all(isinstance(each, IntegerType) for each in types)
        kind = LaneKind.INTEGER if whole else LaneKind.REAL
        kind = self._common_kind(node.iftrue, node.iffalse) if kinds else kind
        exact = self._may_be(kind, node.iftrue, node.iffalse)
        known = numbers or all(each == self._element for each in types)
        typed = sides != {LaneKind.UNIFORM} or whole or known
        return kind if exact and typed else None

    def _uniform(self, node: c_ast.Node) -> bool:
        return self._kinds[id(node)] is LaneKind.UNIFORM

    def _call(self, node: c_ast.FuncCall, *, chosen: bool) -> LaneKind | None:
        names = {ROOTS[self._element.name], MAGNITUDES[self._element.name]}
        if not isinstance(node.name, c_ast.ID) or node.name.name not in names:
            return None
        (argument,) = node.args.exprs
        return LaneKind.REAL if self._kind(argument, chosen=chosen) is LaneKind.REAL else None

    def _is_plain(self, node: c_ast.Node) -> bool:
        """Whether an expression that is the same for all lanes has a value, and no other effect."""
        if self._operand(node) is not None or isinstance(node, c_ast.Constant):
            return True
        if isinstance(node, c_ast.Cast):
            return self._is_plain(node.expr)
        if isinstance(node, c_ast.UnaryOp) and node.op not in {"-", "+", "~", "!"}:
            return False
        known = isinstance(node, c_ast.UnaryOp | c_ast.BinaryOp | c_ast.TernaryOp)
        return known and all(self._is_plain(child) for _, child in node.children())

    def _may_fail(self, node: c_ast.Node) -> bool:
        """Whether a plain expression might divide integers by zero."""
        divides = isinstance(node, c_ast.BinaryOp) and node.op in {"/", "%"}
        if divides and not (isinstance(self._type(node), FloatingType) or _divides(node)):
            return True
        return self._operand(node) is None and any(self._may_fail(child) for _, child in node.children())

    def _declared(self, declarator: c_ast.Node) -> Type | None:
        return declared_type(declarator, self._type_names)

    def _type(self, node: c_ast.Node) -> Type | None:
        """The type of a plain expression; None in doubt."""
        operand = self._operand(node)
        if operand is not None:
            return operand.type
        if isinstance(node, c_ast.Constant):
            return number_type(node, DataModel())
        if isinstance(node, c_ast.Cast):
            return self._declared(node.to_type.type)
        if isinstance(node, c_ast.UnaryOp) and node.op in {"-", "+", "~"}:
            return self._type(node.expr)
        if isinstance(node, c_ast.BinaryOp) and node.op in _ARITHMETIC | _BITS | {"%"}:
            return _common(self._type(node.left), self._type(node.right))
        return None


def _value_set(node: c_ast.Node | None, element: c_ast.Node) -> c_ast.Node | None:
    """What ``node``, a statement, sets ``element`` to, and nothing else; None if it may leave it as it is."""
    if node is None:
        return None
    node = single_statement(node)
    if isinstance(node, c_ast.Assignment) and key(node.lvalue) == key(element):
        if node.op == "=":
            return node.rvalue
        return c_ast.BinaryOp(node.op[:-1], node.lvalue, node.rvalue, node.coord)
    if not isinstance(node, c_ast.If):
        return None
    sides = [_value_set(each, element) for each in (node.iftrue, node.iffalse)]
    return None if None in sides else c_ast.TernaryOp(node.cond, *sides, node.coord)


def _common(left: Type | None, right: Type | None) -> Type | None:
    """The type of an operation; None where promotions would have to be looked up."""
    if left is None or right is None:
        return None
    floating = [each for each in (left, right) if isinstance(each, FloatingType)]
    if floating:
        return max(floating, key=lambda each: each.size)
    return left if left == right and left == INT else None


def _is_truth(kind: Type) -> bool:
    """Whether ``kind`` is ``_Bool``."""
    return isinstance(kind, IntegerType) and kind.width == 1


def _divides(node: c_ast.BinaryOp) -> bool:
    """Whether ``node`` divides an integer by a constant with which that cannot fail."""
    divides = node.op in {"/", "%"} and isinstance(node.right, c_ast.Constant)
    return divides and bool(integer_value(node.right.value))


def _single(node: c_ast.Node, *, up: bool | None) -> c_ast.Node | None:
    """The constant of type ``float`` that stands for ``node``, one of type ``double``; None without one.

    Numbers of type ``float`` are on the same side of both if it is the next one ``up``, or down, as
    comparisons ask for it; where that is None both have to be equal.
    """
    negative = isinstance(node, c_ast.UnaryOp) and node.op == "-"
    constant = node.expr if negative else node
    if not isinstance(constant, c_ast.Constant) or constant.type != "double":
        return None
    try:
        value = -float(constant.value) if negative else float(constant.value)
        (bits,) = struct.unpack("i", struct.pack("f", value))
    except (ValueError, OverflowError):
        return None
    single = _of_bits(bits)
    if single != value:
        if up is None or single == 0:
            return None
        if (single < value) == up:
            single = _of_bits(bits + (1 if (single > 0) == up else -1))
    return c_ast.Constant("float", f"{single:.9e}f", constant.coord) if math.isfinite(single) else None


def _of_bits(bits: int) -> float:
    (value,) = struct.unpack("f", struct.pack("i", bits))
    return float(value)
