"""Numbers that are put together from bytes, and taken to bytes, as expressions with a union.

::

    v = ((union { unsigned char pb_bytes[2]; short pb_number; }){{p[i], p[i + 1]}}).pb_number;
    { p[i] = ((union { short pb_number; unsigned char pb_bytes[2]; }){v}).pb_bytes[0];
      p[i + 1] = ((union { short pb_number; unsigned char pb_bytes[2]; }){v}).pb_bytes[1]; }

Each byte is an element as any other. Where all of them stay in memory, one access does, for which compilers
have vectors.
"""

from __future__ import annotations

from collections.abc import Sequence

from pycparser import c_ast

from polybuild.c.syntax_tree import duplicate
from polybuild.c.synthetic import declarator, number
from polybuild.c.types import FloatingType, IntegerType
from polybuild.values import dataclass

_NUMBER, _BYTES = "pb_number", "pb_bytes"  # as no variable is called


@dataclass(frozen=True, slots=True)
class NumberAndBytes:
    """The union of a number of ``width`` bytes with these."""

    number_type: IntegerType | FloatingType
    byte_type: IntegerType | FloatingType
    width: int

    def number(self, elements: Sequence[c_ast.Node]) -> c_ast.Node:
        """The number of which ``elements`` are the bytes."""
        literal = self._literal(c_ast.InitList(list(elements)), self._bytes, self._number)
        return c_ast.StructRef(literal, ".", c_ast.ID(_NUMBER), elements[0].coord)

    def stored(self, value: c_ast.Node, elements: Sequence[c_ast.Node]) -> c_ast.Node:
        """Assignments of the bytes of ``value`` to ``elements``."""
        moves = []
        for place, element in enumerate(elements):
            literal = self._literal(duplicate(value), self._number, self._bytes)
            byte = c_ast.ArrayRef(c_ast.StructRef(literal, ".", c_ast.ID(_BYTES)), number(place))
            moves.append(c_ast.Assignment("=", element, byte, element.coord))
        return c_ast.Compound(moves, elements[0].coord)

    @property
    def _number(self) -> c_ast.Decl:
        kind = declarator(_NUMBER, self.number_type)
        return c_ast.Decl(_NUMBER, [], [], [], [], kind, None, None)

    @property
    def _bytes(self) -> c_ast.Decl:
        kind = c_ast.ArrayDecl(declarator(_BYTES, self.byte_type), number(self.width), [])
        return c_ast.Decl(_BYTES, [], [], [], [], kind, None, None)

    @staticmethod
    def _literal(value: c_ast.Node, *members: c_ast.Decl) -> c_ast.CompoundLiteral:
        """A union of ``members`` of which the first one has a ``value``."""
        kind = c_ast.TypeDecl(None, [], None, c_ast.Union(None, list(members)))
        return c_ast.CompoundLiteral(c_ast.Typename(None, [], None, kind), c_ast.InitList([value]), None)


@dataclass(frozen=True, slots=True)
class NumberInBytes:
    """A number, of the type that the ``member`` of a union is declared with, and the ``elements`` it is in.

    ``value`` is the number that is taken to them, if it is.
    """

    member: c_ast.Decl
    elements: Sequence[c_ast.Node]
    value: c_ast.Node | None = None


def number_of_bytes(node: c_ast.Node) -> NumberInBytes | None:
    """The number that the expression ``node`` puts together; None if it is any other."""
    if not (isinstance(node, c_ast.StructRef) and node.field.name == _NUMBER):
        return None
    literal = node.name
    return NumberInBytes(_members(literal)[-1], literal.init.exprs[0].exprs)


def number_into_bytes(node: c_ast.Node) -> NumberInBytes | None:
    """The number that the block ``node`` takes to bytes; None if it is any other."""
    items = node.block_items or () if isinstance(node, c_ast.Compound) else ()
    literals = [_taken(each, place) for place, each in enumerate(items)]
    if not literals or literals[0] is None or None in literals:
        return None
    member, row = _members(literals[0])
    whole = str(len(literals)) == row.type.dim.value
    value = literals[0].init.exprs[0]
    return NumberInBytes(member, [each.lvalue for each in items], value) if whole else None


def _members(literal: c_ast.CompoundLiteral) -> list[c_ast.Decl]:
    members: list[c_ast.Decl] = literal.type.type.type.decls
    return members


def _taken(node: c_ast.Node, place: int) -> c_ast.CompoundLiteral | None:
    """The union whose byte at ``place`` the statement ``node`` stores."""
    byte = node.rvalue if isinstance(node, c_ast.Assignment) and node.op == "=" else None
    if not isinstance(byte, c_ast.ArrayRef) or not isinstance(byte.name, c_ast.StructRef):
        return None
    taken = byte.name.field.name == _BYTES and byte.subscript.value == str(place)
    return byte.name.name if taken else None
