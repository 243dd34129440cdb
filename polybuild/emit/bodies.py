"""Statement bodies as C text: the user's expression, its accesses and iterators replaced."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pycparser import c_ast
from pycparser.c_generator import CGenerator

from polybuild.scop.model import Array


class BodyPrinter(CGenerator):  # type: ignore[misc]
    """Prints a statement body.

    ``accesses`` maps the identity of an access's node to its text; ``iterator``
    gives the text of a loop counter by name, None if the name is not one.
    """

    def __init__(self, accesses: Mapping[int, str], iterator: Callable[[str], str | None]) -> None:
        super().__init__()
        self._accesses = accesses
        self._iterator = iterator

    def visit(self, node: c_ast.Node) -> str:
        """The text of ``node``, which an access replaces whole."""
        replaced = self._accesses.get(id(node))
        return replaced if replaced is not None else str(super().visit(node))

    def visit_BinaryOp(self, node: c_ast.BinaryOp) -> str:  # noqa: N802 - pycparser's naming
        """An operation; only arithmetic goes without parentheses that compilers would ask for."""
        self.reduce_parentheses: bool
        saved = self.reduce_parentheses
        self.reduce_parentheses = node.op in {"+", "-", "*", "/"}
        try:
            return str(super().visit_BinaryOp(node))
        finally:
            self.reduce_parentheses = saved

    def visit_ID(self, node: c_ast.ID) -> str:  # noqa: N802 - pycparser's naming
        """A name, or the expression that stands for a loop counter."""
        text = self._iterator(node.name)
        return node.name if text is None else text

    def visit_StructRef(self, node: c_ast.StructRef) -> str:  # noqa: N802
        """A member access; the member's name is never a loop counter."""
        return f"{self._parenthesize_unless_simple(node.name)}{node.type}{node.field.name}"


def c_text(node: c_ast.Node) -> str:
    """A tree as C text, nothing replaced."""
    return BodyPrinter({}, lambda _name: None).visit(node)


def element(array: Array, subscripts: Sequence[str]) -> str:
    """The C expression of one element of ``array``.

    A variable of the region is declared anew under the array's own name.
    """
    text = array.name if array.local else c_text(array.expression)
    suffixes = array.suffixes or ("",) * len(subscripts)
    return text + "".join(
        f"[{subscript}]{suffix}" for subscript, suffix in zip(subscripts, suffixes, strict=True)
    )
