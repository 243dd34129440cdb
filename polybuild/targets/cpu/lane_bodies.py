"""Bodies of statements that the lanes of vectors compute side by side, each as scalar code would.

A lane goes through the very operations of its iteration, in their order. What a condition chooses is
computed in all lanes, and kept in those where it holds: so nothing may stand under one that could fail
or be seen elsewhere, as a load of an element that exists in other lanes only.
"""

from __future__ import annotations

from collections.abc import Mapping

from pycparser import c_ast

from polybuild.c.basic_types import INT, DataModel, basic_type
from polybuild.c.literals import number_type
from polybuild.c.mathematics import MAGNITUDES, ROOTS
from polybuild.c.types import FloatingType, IntegerType, Type
from polybuild.targets.model import LaneKind, LaneOperand

_ARITHMETIC = {"+", "-", "*", "/"}
_STEPS = {"p++": "+=", "++": "+=", "p--": "-=", "--": "-="}
_COMPARISONS = {"<", "<=", ">", ">=", "==", "!="}


class LaneTyping:
    """What the parts of statements are in lanes of ``element``: ``kinds`` by the identities of their nodes.

    ``operands`` says what the nodes of accesses, and those of names of counters and parameters, are; uses of
    variables that a statement declares itself are added to them. Integers that become numbers of the lanes'
    own type are ``converted``. Statements such as ``k++`` are read as the assignments in ``steps``.
    ``type_names`` has the types that names of the file stand for.
    """

    def __init__(
        self, element: FloatingType, operands: Mapping[int, LaneOperand], type_names: Mapping[str, Type]
    ) -> None:
        self._element = element
        self._type_names = type_names
        self._own: dict[str, Type] = {}
        self.operands = dict(operands)
        self.kinds: dict[int, LaneKind] = {}
        self.converted: set[int] = set()
        self.steps: dict[int, c_ast.Assignment] = {}

    def statement(self, node: c_ast.Node, *, chosen: bool = False) -> bool:
        """Whether all lanes may run ``node`` at once; ``chosen`` if some of them must not see it."""
        if isinstance(node, c_ast.Compound):
            around = dict(self._own)
            possible = all(self.statement(each, chosen=chosen) for each in node.block_items or ())
            self._own = around
            return possible
        if isinstance(node, c_ast.Decl):
            return self._declaration(node, chosen=chosen)
        if isinstance(node, c_ast.If):
            branches = [each for each in (node.iftrue, node.iffalse) if each is not None]
            certain = self._kind(node.cond, chosen=chosen) is LaneKind.MASK
            return certain and all(self.statement(each, chosen=True) for each in branches)
        if isinstance(node, c_ast.UnaryOp) and node.op in _STEPS:
            one = c_ast.Constant("int", "1")
            self.steps[id(node)] = c_ast.Assignment(_STEPS[node.op], node.expr, one, node.coord)
            node = self.steps[id(node)]
        return isinstance(node, c_ast.Assignment) and self._assignment(node, chosen=chosen)

    def _declaration(self, node: c_ast.Decl, *, chosen: bool) -> bool:
        """Whether each lane may have a variable of its own that is declared here."""
        kind = self._declared(node.type)
        if kind is None or node.storage or "volatile" in node.quals:
            return False
        varying = self._varying(kind)
        if varying is LaneKind.UNIFORM:
            return False
        if isinstance(kind, IntegerType) and kind.width < INT.width:
            return False  # it would have to wrap as scalar code does
        if node.init is not None:
            value = self._kind(node.init, chosen=chosen)
            if value is None or not self._becomes(node.init, value, varying):
                return False
        self.kinds[id(node)] = varying
        self._own[node.name] = kind
        return True

    def _becomes(self, node: c_ast.Node, value: LaneKind, kind: LaneKind) -> bool:
        """Whether ``node``, which is a ``value`` in lanes, may be assigned to a variable of ``kind``."""
        return value in {kind, LaneKind.UNIFORM} or (kind is LaneKind.REAL and self._is_number(node))

    def _is_number(self, node: c_ast.Node) -> bool:
        """Whether lanes of integers or numbers become numbers, which is noted for integers."""
        if self.kinds[id(node)] is LaneKind.INTEGER:
            self.converted.add(id(node))
        return self.kinds[id(node)] in {LaneKind.INTEGER, LaneKind.REAL}

    def _operand(self, node: c_ast.Node) -> LaneOperand | None:
        """What ``node`` is: an access, a counter, a parameter, or a variable of the statement itself."""
        if id(node) not in self.operands and isinstance(node, c_ast.ID) and node.name in self._own:
            self.operands[id(node)] = LaneOperand(self._own[node.name], varies=True, variable=True)
        return self.operands.get(id(node))

    def _assignment(self, node: c_ast.Assignment, *, chosen: bool) -> bool:
        target, value = self._operand(node.lvalue), self._kind(node.rvalue, chosen=chosen)
        if target is None or value is None or value is LaneKind.MASK or not target.varies:
            return False
        if chosen and not target.variable:
            return False
        self.kinds[id(node.lvalue)] = kind = self._varying(target.type)
        if kind is LaneKind.UNIFORM:
            return False
        if kind is LaneKind.INTEGER and not (target.variable or node.op == "="):
            return False
        if value is LaneKind.UNIFORM and node.op != "=":
            return self._converts(node.rvalue, kind)
        operators = {"=", "+=", "-=", "*="} | ({"/="} if kind is LaneKind.REAL else set())
        return node.op in operators and self._becomes(node.rvalue, value, kind)

    def _converts(self, node: c_ast.Node, kind: LaneKind) -> bool:
        """Whether a value that is the same for all lanes may be an operand beside vectors of ``kind``."""
        own = self._type(node)
        if kind is LaneKind.REAL:
            return own == self._element or isinstance(own, IntegerType)
        return isinstance(own, IntegerType) and own.signed

    def _varying(self, kind: Type) -> LaneKind:
        if kind == self._element:
            return LaneKind.REAL
        if isinstance(kind, IntegerType) and kind.signed and 1 < kind.width <= 8 * self._element.size:
            return LaneKind.INTEGER
        return LaneKind.UNIFORM

    def _kind(self, node: c_ast.Node, *, chosen: bool) -> LaneKind | None:
        """What ``node`` is in lanes, None if it cannot be there."""
        found = self._find(node, chosen=chosen)
        if found is not None:
            self.kinds[id(node)] = found
        return found

    def _find(self, node: c_ast.Node, *, chosen: bool) -> LaneKind | None:
        operand = self._operand(node)
        if operand is not None and operand.varies:
            if chosen and not (operand.variable or operand.counter or operand.loaded):
                return None
            found = self._varying(operand.type)
            return None if found is LaneKind.UNIFORM else found
        if not any(each.varies for each in self._inside(node)):
            absent = any(each.element and not each.loaded for each in self._inside(node))
            if not self._is_plain(node) or (chosen and absent):
                return None
            return LaneKind.UNIFORM
        if isinstance(node, c_ast.BinaryOp):
            return self._binary(node, chosen=chosen)
        if isinstance(node, c_ast.UnaryOp):
            inner = self._kind(node.expr, chosen=chosen)
            numbers = {LaneKind.REAL, LaneKind.INTEGER}
            allowed = {"-": numbers, "+": numbers, "!": {LaneKind.MASK}}
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
        shortens = node.op in {"&&", "||"}
        sides = [self._kind(node.left, chosen=chosen), self._kind(node.right, chosen=chosen or shortens)]
        if None in sides:
            return None
        if shortens:
            return LaneKind.MASK if set(sides) == {LaneKind.MASK} else None
        kinds = set(sides) - {LaneKind.UNIFORM}
        if not kinds or LaneKind.MASK in kinds:
            return None
        kind = self._common_kind(node.left, node.right)
        if not self._may_be(kind, node.left, node.right):
            return None
        if node.op in _COMPARISONS:
            return LaneKind.MASK
        return kind if node.op in ({"+", "-", "*"} if kind is LaneKind.INTEGER else _ARITHMETIC) else None

    def _common_kind(self, *operands: c_ast.Node) -> LaneKind:
        """What numbers beside each other become: those of the lanes' own type if one of them is."""
        floating = any(
            self._type(each) == self._element
            if self._uniform(each)
            else self.kinds[id(each)] is LaneKind.REAL
            for each in operands
        )
        return LaneKind.REAL if floating else LaneKind.INTEGER

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
        return None

    def _choice(self, node: c_ast.TernaryOp) -> LaneKind | None:
        """A value that each lane chooses."""
        if self._kind(node.cond, chosen=True) is not LaneKind.MASK:
            return None
        sides = {self._kind(each, chosen=True) for each in (node.iftrue, node.iffalse)}
        kinds = sides - {LaneKind.UNIFORM}
        if None in sides or LaneKind.MASK in kinds:
            return None
        kind = self._common_kind(node.iftrue, node.iffalse) if kinds else LaneKind.REAL
        exact = self._may_be(kind, node.iftrue, node.iffalse)
        typed = sides != {LaneKind.UNIFORM} or all(
            self._type(each) == self._element for each in (node.iftrue, node.iffalse)
        )
        return kind if exact and typed else None

    def _uniform(self, node: c_ast.Node) -> bool:
        return self.kinds[id(node)] is LaneKind.UNIFORM

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

    def _declared(self, declarator: c_ast.Node) -> Type | None:
        """The type of a plain variable, or of a conversion; None if it is another one."""
        named = declarator.type if isinstance(declarator, c_ast.TypeDecl) else None
        if not isinstance(named, c_ast.IdentifierType):
            return None
        names = named.names
        return self._type_names.get(" ".join(names)) or basic_type(names, DataModel())

    def _type(self, node: c_ast.Node) -> Type | None:
        """The type of a plain expression; None in doubt."""
        operand = self._operand(node)
        if operand is not None:
            return operand.type
        if isinstance(node, c_ast.Constant):
            return number_type(node, DataModel())
        if isinstance(node, c_ast.Cast):
            return self._declared(node.to_type.type)
        if isinstance(node, c_ast.UnaryOp) and node.op in {"-", "+"}:
            return self._type(node.expr)
        if isinstance(node, c_ast.BinaryOp) and node.op in _ARITHMETIC:
            return _common(self._type(node.left), self._type(node.right))
        return None


def _common(left: Type | None, right: Type | None) -> Type | None:
    """The type of an operation; None where promotions would have to be looked up."""
    if left is None or right is None:
        return None
    floating = [each for each in (left, right) if isinstance(each, FloatingType)]
    if floating:
        return max(floating, key=lambda each: each.size)
    return left if left == right and left == INT else None
