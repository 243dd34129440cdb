"""Pointers to the rows along which a loop in vectors stores bytes.

::

    const char *a_row = a[y];
    char *b_row = b[y];
    for (x = 0; x < n; x++)
      b_row[x] = a_row[x] != 0;

Bytes may be part of anything, for all that compilers know: also of the pointers ``b[y]`` and ``a[y]``, which
they load again in each iteration then, and find no vectors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from polybuild.c.types import IntegerType
from polybuild.codegen.c.nodes import FOR, IF, identifier_of, kind_of, mentions, nodes_below, users_below
from polybuild.scop.model import AccessKind, Array
from polybuild.values import dataclass

if TYPE_CHECKING:
    import islpy as isl

    from polybuild.codegen.c.ast import PrintedAst
    from polybuild.codegen.c.instances import InstancePrinter

_BYTE = 8


@dataclass(frozen=True, slots=True)
class Row:
    """The row of ``array`` with ``element``, which a loop only reads or not."""

    array: Array
    element: isl.AstExpr
    is_read: bool

    @property
    def type(self) -> str:
        """The C type of what a pointer to the row leads to."""
        assert isinstance(self.array.element, IntegerType)  # noqa: S101 - as rows_of_bytes says
        return f"const {self.array.element.name}" if self.is_read else self.array.element.name


def rows_of_bytes(loop: isl.AstNode, ast: PrintedAst, instances: InstancePrinter) -> list[Row]:
    """A row for each certain access of an iteration of ``loop`` to integers, if it stores bytes along rows.

    None if iterations take several ways.
    """
    if any(kind_of(each) in {FOR, IF} for each in nodes_below(loop.for_get_body())):
        return []
    names = [each.get_annotation().get_name() for each in users_below(loop)]
    accesses = [
        each for name in names if name in ast.instances for each in instances.ordered(ast.instances[name])
    ]
    written = [each.access.array for each in accesses if each.access.kind is not AccessKind.READ]
    if not any(each.row_subscripts and _is_byte(each) for each in written):
        return []
    counter, changed = identifier_of(loop), {each.name for each in written}
    return [
        Row(each.access.array, each.element, each.access.array.name not in changed)
        for each in accesses
        if each.element is not None and each.certain and isinstance(each.access.array.element, IntegerType)
        if each.access.array.row_subscripts and not any(each.access.array.suffixes)
        if not any(
            mentions(each.element.op_get_arg(1 + place), counter)
            for place in range(each.access.array.row_subscripts)
        )
    ]


def _is_byte(array: Array) -> bool:
    return isinstance(array.element, IntegerType) and array.element.width == _BYTE
