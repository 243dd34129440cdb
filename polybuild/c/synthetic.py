"""Syntax tree nodes that normalisation adds to C's, and how to write types and numbers as trees.

Each new node is a subclass of the C node that it prints as, so passes that do
not know it treat it as that.
"""

from __future__ import annotations

from functools import partial

from pycparser import c_ast

from polybuild.c.basic_types import LONG_LONG
from polybuild.c.literals import integer_value
from polybuild.c.types import FloatingType, IntegerType

NEVER = "__polybuild_never"
"""The function whose argument must be false: a region with calls of it runs only where all are.

A second one may say why, for people.
"""

LEFT = "polybuild_left"
"""The label that stands for an early exit in the tests of these."""


class EntryValue(c_ast.ID):  # type: ignore[misc] # pycparser has no types
    """The value that a variable declared before the region had when the region was entered."""

    __slots__ = ()


class ExactCast(c_ast.Cast):  # type: ignore[misc]
    """A conversion that never changes the value: the operand is known to fit the type."""

    __slots__ = ()


class PointerCast(c_ast.Cast):  # type: ignore[misc]
    """``(T *)p`` of a pointer that the region does not change, whose type is ``pointer`` then."""

    __slots__ = ("pointer",)


class ElementPointer(c_ast.Decl):  # type: ignore[misc]
    """The declaration of a pointer to elements that stands for the pointer ``original`` to bytes."""

    __slots__ = ("original",)


class EntryNumber(c_ast.BinaryOp):  # type: ignore[misc]
    """A number that is known where the region is entered, whatever it is computed from."""

    __slots__ = ()


class PointerDifference(EntryNumber):
    """``p - q`` of two pointers that do not change in the region."""

    __slots__ = ()


class Quotient(EntryNumber):
    """``e / n`` of a number that does not change in the region, and of which ``n`` is a divisor."""

    __slots__ = ()


class StepCount(EntryNumber):
    """``e / n`` of numbers that do not change in the region, ``n`` greater than 0: rounded towards zero."""

    __slots__ = ()


class Displaced(c_ast.BinaryOp):  # type: ignore[misc]
    """``p + d`` of an array and a number that do not change in the region: a pointer to another array."""

    __slots__ = ()


class Residue(c_ast.BinaryOp):  # type: ignore[misc]
    """``e % n`` of what is never negative: a number from 0 to ``n - 1``."""

    __slots__ = ()


class PointerTest(c_ast.BinaryOp):  # type: ignore[misc]
    """``p != 0`` of a pointer that does not change in the region: 1 or 0, known on entry."""

    __slots__ = ()


class CountedLoop(c_ast.For):  # type: ignore[misc]
    """A loop that was written otherwise, now with a counter of its own; ``variable`` counted it before."""

    __slots__ = ("variable",)


class BoundedEnd(c_ast.BinaryOp):  # type: ignore[misc]
    """``k < e`` or ``k <= e`` of a counter below the expression ``capacity`` wherever the region runs."""

    __slots__ = ("capacity",)


class BlockLoop(c_ast.For):  # type: ignore[misc]
    """A loop over the steps of a block, so many ``steps`` but for the last one, ``total`` in all blocks.

    If ``offset`` is 1 the first block has its last step alone, so that others begin with step 1.
    """

    __slots__ = ("offset", "steps", "total")


class AnySubscript(c_ast.Constant):  # type: ignore[misc]
    """A subscript that may have any value."""

    __slots__ = ()

    @staticmethod
    def below(address: c_ast.Node) -> c_ast.Node:
        """``*(address + anything)``."""
        return c_ast.ArrayRef(address, AnySubscript("anything", "anything", address.coord), address.coord)


class LastValue(c_ast.Assignment):  # type: ignore[misc]
    """``v = e`` where nothing in the region reads what it stores: only the last one matters.

    ``v`` is declared before the region. ``e`` has no side effects and mentions
    counters of the loops around, variables that the region does not change and
    values on entry; for a pointer it is ``base + offset``.
    """

    __slots__ = ()


def type_name(kind: IntegerType | FloatingType) -> c_ast.Typename:
    """The type name of ``kind``, as in a cast."""
    return c_ast.Typename(None, [], None, declarator(None, kind))


def declarator(name: str | None, kind: IntegerType | FloatingType) -> c_ast.TypeDecl:
    """The declarator of an object ``name`` of type ``kind``."""
    return c_ast.TypeDecl(name, [], None, c_ast.IdentifierType(kind.name.split()))


def never(condition: c_ast.Node, reason: str) -> c_ast.FuncCall:
    """The call by which a region does not run where ``condition`` holds, with the literal ``reason`` why."""
    told = c_ast.Constant("string", reason, condition.coord)
    arguments = c_ast.ExprList([condition, told], condition.coord)
    return c_ast.FuncCall(c_ast.ID(NEVER, condition.coord), arguments, condition.coord)


def number(value: int) -> c_ast.Node:
    """``value`` as C text has it."""
    if value >= 1 << 63:
        return c_ast.Constant("unsigned long long int", f"{value}ull")
    if value == -1 << 63:  # C has no literal of that
        return c_ast.BinaryOp("-", number(value + 1), number(1))
    literal = c_ast.Constant("int" if abs(value) < 1 << 31 else "long long int", str(abs(value)))
    return c_ast.UnaryOp("-", literal) if value < 0 else literal


def plus(node: c_ast.Node, value: int) -> c_ast.Node:
    """``node + value``, with numbers at its end added up."""
    if isinstance(node, c_ast.BinaryOp) and node.op in {"+", "-"} and isinstance(node.right, c_ast.Constant):
        own = integer_value(node.right.value)
        if node.right.type == "int" and own is not None:
            return plus(node.left, value + (own if node.op == "+" else -own))
    if not value:
        return node
    return c_ast.BinaryOp("+" if value > 0 else "-", node, number(abs(value)), node.coord)


def counted(name: str, count: c_ast.Node, body: c_ast.Node, *, first: c_ast.Node | None = None) -> c_ast.Node:
    """``body`` for the values of ``name`` from zero, or ``first``, to below ``count``."""
    counter, at = partial(c_ast.ID, name, body.coord), body.coord
    start = number(0) if first is None else first
    declared = c_ast.Decl(name, [], [], [], [], declarator(name, LONG_LONG), start, None, coord=at)
    return c_ast.For(
        c_ast.DeclList([declared], at),
        c_ast.BinaryOp("<", counter(), count, at),
        c_ast.UnaryOp("p++", counter(), at),
        body,
        at,
    )
