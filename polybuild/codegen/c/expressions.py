"""isl's AST expressions as C text, with no more parentheses than C needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import islpy as isl

from polybuild.codegen.c.names_in_use import NamesInUse
from polybuild.poly.integers import value_of
from polybuild.values import dataclass

_Op = isl.ast_expr_op_type
_AND: isl.ast_expr_op_type = getattr(_Op, "and_")  # noqa: B009 - islpy's stubs lack the name
_OR: isl.ast_expr_op_type = getattr(_Op, "or_")  # noqa: B009 - likewise

# C's precedence: higher binds tighter.
ATOM, POSTFIX, UNARY, MULTIPLICATIVE, ADDITIVE, RELATIONAL, EQUALITY, AND, OR, TERNARY = (
    100,
    90,
    80,
    70,
    60,
    50,
    45,
    40,
    30,
    20,
)

# isl operation -> (C operator, precedence, does the right operand need tighter binding)
_BINARY: Mapping[isl.ast_expr_op_type, tuple[str, int]] = {
    _Op.add: ("+", ADDITIVE),
    _Op.sub: ("-", ADDITIVE),
    _Op.mul: ("*", MULTIPLICATIVE),
    _Op.div: ("/", MULTIPLICATIVE),
    _Op.pdiv_q: ("/", MULTIPLICATIVE),
    _Op.pdiv_r: ("%", MULTIPLICATIVE),
    _Op.zdiv_r: ("%", MULTIPLICATIVE),
    _Op.le: ("<=", RELATIONAL),
    _Op.lt: ("<", RELATIONAL),
    _Op.ge: (">=", RELATIONAL),
    _Op.gt: (">", RELATIONAL),
    _Op.eq: ("==", EQUALITY),
    _AND: ("&&", AND),
    _Op.and_then: ("&&", AND),
    _OR: ("||", OR),
    _Op.or_else: ("||", OR),
}

# isl operation -> helper function of the prologue
_HELPERS: Mapping[isl.ast_expr_op_type, str] = {
    _Op.min: "polybuild_min",
    _Op.max: "polybuild_max",
    _Op.fdiv_q: "polybuild_floordiv",
}

CHOICES = frozenset({_Op.cond, _Op.select})


@dataclass(frozen=True, slots=True)
class Operand:
    """C text with the precedence of its outermost operator."""

    text: str
    precedence: int
    is_zero: bool = False

    def bound(self, binding: int) -> str:
        """The text, parenthesised if it binds less tightly than ``binding``."""
        return f"({self.text})" if self.precedence < binding else self.text


ZERO = Operand("0", ATOM, is_zero=True)


Chosen = Sequence[tuple[isl.AstExpr, str]]
"""Expressions, such as choices ``x ? y : z``, and the constants that they are in."""


class ExpressionPrinter:
    """Prints isl expressions; identifiers go through ``names``, and are recorded in ``in_use``.

    The constants of ``chosen`` stand for what they are, and are recorded, too.
    """

    def __init__(self, names: Callable[[str], str], in_use: NamesInUse, chosen: Chosen = ()) -> None:
        self._names = names
        self._in_use = in_use
        self._chosen = chosen

    def text(self, expression: isl.AstExpr, binding: int = 0) -> str:
        """C text of ``expression``, parenthesised if it binds less tightly than ``binding``."""
        return self.operand(expression).bound(binding)

    def operand(self, expression: isl.AstExpr) -> Operand:
        """``expression`` as part of another one."""
        return Operand(*self._print(expression), is_zero=is_number(expression, 0))

    def maximum(self, *texts: str) -> str:
        """The largest of the values of ``texts``, which are C."""
        self._in_use.helpers.add("polybuild_max")
        return f"polybuild_max({', '.join(texts)})"

    def minimum(self, *texts: str) -> str:
        """The smallest of the values of ``texts``, which are C."""
        self._in_use.helpers.add("polybuild_min")
        return f"polybuild_min({', '.join(texts)})"

    def subscripts(self, access: isl.AstExpr) -> list[Operand]:
        """The subscripts of an access expression, outermost first; none for a scalar."""
        return [self.operand(access.op_get_arg(i)) for i in range(1, access.op_get_n_arg())]

    def _print(self, expression: isl.AstExpr) -> tuple[str, int]:
        kind = isl.ast_expr_type(expression.get_type())
        if kind == isl.ast_expr_type.id:
            name = self._names(expression.id_get_id().get_name())
            self._in_use.variables.add(name)
            return name, ATOM
        if kind == isl.ast_expr_type.int:
            return _number(expression.int_get_val().to_python())
        return self._operation(expression)

    def _operation(self, expression: isl.AstExpr) -> tuple[str, int]:
        for chosen, name in self._chosen:
            if chosen.is_equal(expression):
                self._in_use.variables.add(name)
                return name, ATOM
        op = _Op(expression.op_get_type())
        arguments = [expression.op_get_arg(i) for i in range(expression.op_get_n_arg())]
        if op == _Op.add and _is_negated(arguments[0]) and not _is_negated(arguments[1]):
            # a + b, where a is -2 * i, is written b - 2 * i
            left, right = self.text(arguments[1], ADDITIVE), self._negated(arguments[0])
            return f"{left} - {right}", ADDITIVE
        if op in _BINARY:
            operator, precedence = _BINARY[op]
            left = self.text(arguments[0], precedence)
            if op in {_OR, _Op.or_else}:
                # gcc suggests parentheses around && within ||
                left, right = self.text(arguments[0], AND + 1), self.text(arguments[1], AND + 1)
            else:
                right = self.text(arguments[1], precedence + 1)
            return f"{left} {operator} {right}", precedence
        if op in _HELPERS:
            return self._helper(_HELPERS[op], arguments), POSTFIX
        if op == _Op.minus:
            return f"-{self.text(arguments[0], UNARY + 1)}", UNARY
        if op in CHOICES:
            test, yes, no = (self.text(each, TERNARY + 1) for each in arguments)
            return f"{test} ? {yes} : {no}", TERNARY
        raise NotImplementedError(f"isl AST operation {op}")

    def _negated(self, product: isl.AstExpr) -> str:
        """What is subtracted where ``product``, of a negative number, is added."""
        factor = -product.op_get_arg(0).int_get_val().to_python()
        other = product.op_get_arg(1)
        if factor == 1:
            return self.text(other, ADDITIVE + 1)
        return f"{factor} * {self.text(other, MULTIPLICATIVE + 1)}"

    def _helper(self, name: str, arguments: list[isl.AstExpr]) -> str:
        self._in_use.helpers.add(name)
        text = self.text(arguments[0])
        for argument in arguments[1:]:
            text = f"{name}({text}, {self.text(argument)})"
        return text


def _number(value: int) -> tuple[str, int]:
    """``value`` as C has it."""
    # beyond int, C gives a literal the type it needs; a negative one is a unary expression
    if value == -1 << 63:
        return f"{value + 1} - 1", ADDITIVE
    return str(value), ATOM if value >= 0 else UNARY


def _is_negated(expression: isl.AstExpr) -> bool:
    """Whether ``expression`` is a product of a negative number."""
    if isl.ast_expr_type(expression.get_type()) != isl.ast_expr_type.op:
        return False
    if _Op(expression.op_get_type()) != _Op.mul:
        return False
    factor = expression.op_get_arg(0)
    return isl.ast_expr_type(factor.get_type()) == isl.ast_expr_type.int and factor.int_get_val().is_neg()


def is_number(expression: isl.AstExpr, number: int) -> bool:
    """Whether ``expression`` is the literal ``number``."""
    literal = isl.ast_expr_type(expression.get_type()) == isl.ast_expr_type.int
    return literal and bool(expression.int_get_val() == value_of(number))


def is_atom(expression: isl.AstExpr) -> bool:
    """Whether ``expression`` is a name or a number."""
    return isl.ast_expr_type(expression.get_type()) != isl.ast_expr_type.op


def identifiers_in(expression: isl.AstExpr) -> frozenset[str]:
    """What isl calls the variables that ``expression`` mentions."""
    kind = isl.ast_expr_type(expression.get_type())
    if kind == isl.ast_expr_type.id:
        return frozenset({expression.id_get_id().get_name()})
    if kind == isl.ast_expr_type.int:
        return frozenset()
    arguments = (expression.op_get_arg(position) for position in range(expression.op_get_n_arg()))
    return frozenset[str]().union(*map(identifiers_in, arguments))


def split_constant(expression: isl.AstExpr) -> tuple[isl.AstExpr, int]:
    """What numbers are added to in ``expression``, and their sum."""
    constant = 0
    while isl.ast_expr_type(expression.get_type()) == isl.ast_expr_type.op:
        op = _Op(expression.op_get_type())
        if op not in {_Op.add, _Op.sub}:
            break
        number = expression.op_get_arg(1)
        if isl.ast_expr_type(number.get_type()) != isl.ast_expr_type.int:
            break
        value = int(number.int_get_val().to_python())
        constant += value if op == _Op.add else -value
        expression = expression.op_get_arg(0)
    return expression, constant


def is_identifier(expression: isl.AstExpr, name: str) -> bool:
    """Whether ``expression`` is just what isl calls ``name``."""
    return bool(
        isl.ast_expr_type(expression.get_type()) == isl.ast_expr_type.id
        and expression.id_get_id().get_name() == name
    )
