"""Syntax tree nodes that normalisation adds to C's, and how to copy trees.

Each new node is a subclass of the C node that it prints as, so passes that do
not know it treat it as that.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator

from pycparser import c_ast

from polybuild.c.types import IntegerType


class EntryValue(c_ast.ID):  # type: ignore[misc] # pycparser has no types
    """The value that a variable declared before the region had when the region was entered."""

    __slots__ = ()


class Exact(c_ast.Cast):  # type: ignore[misc]
    """A conversion that never changes the value: the operand is known to fit the type."""

    __slots__ = ()


class PointerDifference(c_ast.BinaryOp):  # type: ignore[misc]
    """``p - q`` of two pointers that do not change in the region: a number known on entry."""

    __slots__ = ()


class Counted(c_ast.For):  # type: ignore[misc]
    """A loop that was written otherwise, now with a counter of its own; ``variable`` counted it before."""

    __slots__ = ("variable",)


class Anything(c_ast.Constant):  # type: ignore[misc]
    """A subscript that may have any value."""

    __slots__ = ()

    @staticmethod
    def below(address: c_ast.Node) -> c_ast.Node:
        """``*(address + anything)``."""
        return c_ast.ArrayRef(address, Anything("anything", "anything", address.coord), address.coord)


class LastValue(c_ast.Assignment):  # type: ignore[misc]
    """``v = e`` where nothing in the region reads what it stores: only the last one matters.

    ``v`` is declared before the region. ``e`` has no side effects and mentions
    counters of the loops around, variables that the region does not change and
    values on entry; for a pointer it is ``base + offset``.
    """

    __slots__ = ()


def mapped(node: c_ast.Node, change: Callable[[c_ast.Node], c_ast.Node]) -> c_ast.Node:
    """A copy of ``node`` whose children are what ``change`` makes of the original ones."""
    new = copy.copy(node)
    for name in _slots(node):
        value = getattr(node, name, None)
        if isinstance(value, c_ast.Node):
            setattr(new, name, change(value))
        elif isinstance(value, list):
            items = [change(each) if isinstance(each, c_ast.Node) else each for each in value]
            setattr(new, name, items)
    return new


def _slots(node: c_ast.Node) -> Iterator[str]:
    for each in type(node).__mro__:
        yield from (name for name in getattr(each, "__slots__", ()) if name not in {"coord", "__weakref__"})


def duplicate(node: c_ast.Node, coord: object = None) -> c_ast.Node:
    """A deep copy of ``node``; every part is said to stand at ``coord`` if that is given."""

    def visit(each: c_ast.Node) -> c_ast.Node:
        new = mapped(each, visit)
        new.coord = coord or each.coord
        return new

    return visit(node)


def key(node: c_ast.Node) -> object:
    """Equal for trees that say the same, whatever their places."""
    attributes = tuple(str(getattr(node, name)) for name in node.attr_names)
    return (type(node).__name__, attributes, tuple((name, key(child)) for name, child in node.children()))


def replaced(node: c_ast.Node, wanted: object, new: c_ast.Node) -> c_ast.Node:
    """``node`` with ``new`` in place of each part whose ``key`` is ``wanted``."""
    return new if key(node) == wanted else mapped(node, lambda each: replaced(each, wanted, new))


def size(node: c_ast.Node) -> int:
    """The number of nodes of a tree."""
    return 1 + sum(size(child) for child in node)


def uses(node: c_ast.Node, kind: type[c_ast.Node]) -> bool:
    """Whether a part of ``node`` is a ``kind``."""
    return isinstance(node, kind) or any(uses(child, kind) for child in node)


def names_in(node: c_ast.Node) -> Iterator[str]:
    """The names that the identifiers of ``node`` mention now (values on entry are no mention)."""
    if isinstance(node, c_ast.ID) and not isinstance(node, EntryValue):
        yield str(node.name)
    elif isinstance(node, c_ast.StructRef):
        yield from names_in(node.name)
    else:
        for child in node:
            yield from names_in(child)


def type_name(kind: IntegerType) -> c_ast.Typename:
    """The type name of ``kind``, as in a cast."""
    return c_ast.Typename(None, [], None, declarator(None, kind))


def declarator(name: str | None, kind: IntegerType) -> c_ast.TypeDecl:
    """The declarator of an object ``name`` of type ``kind``."""
    return c_ast.TypeDecl(name, [], None, c_ast.IdentifierType(kind.name.split()))


def number(value: int) -> c_ast.Node:
    """``value`` as C text has it."""
    literal = c_ast.Constant("int" if abs(value) < 1 << 31 else "long long int", str(abs(value)))
    return c_ast.UnaryOp("-", literal) if value < 0 else literal
