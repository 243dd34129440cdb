"""Pointers to the rows along which a loop in vectors stores bytes.

::

    const char *a_row = a[y];
    char *data_row = image->data;
    for (x = 0; x < n; x++)
      data_row[y * n + x] = a_row[x] != 0;

Bytes may be part of anything, for all that compilers know: also of the pointers ``a[y]`` and ``image->data``,
which they load again in each iteration then, and find no vectors.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from pycparser import c_ast

from polybuild.c.symbols import StorageClass
from polybuild.c.syntax_tree import always_evaluates
from polybuild.c.types import IntegerType
from polybuild.codegen.c.nodes import FOR, IF, identifier_of, kind_of, mentions, nodes_below, users_below
from polybuild.scop.model import AccessKind, Array
from polybuild.values import dataclass

if TYPE_CHECKING:
    import islpy as isl

    from polybuild.codegen.c.ast import PrintedAst
    from polybuild.codegen.c.instances import InstancePrinter
    from polybuild.scop.model import Access

_BYTE = 8


@dataclass(frozen=True, slots=True)
class ByteRow:
    """The row of ``array`` with ``element``, which a loop only reads or not."""

    array: Array
    element: isl.AstExpr
    is_read: bool

    @property
    def type(self) -> str:
        """The C type of what a pointer to the row leads to."""
        assert isinstance(self.array.element, IntegerType)  # noqa: S101 - as _has_pointer says
        return f"const {self.array.element.name}" if self.is_read else self.array.element.name


def rows_of_bytes(loop: isl.AstNode, ast: PrintedAst, instances: InstancePrinter) -> list[ByteRow]:
    """Rows that each iteration of ``loop`` touches, by pointers in memory, if it stores bytes.

    Only rows of integers; none if iterations take several ways.
    """
    if any(kind_of(each) in {FOR, IF} for each in nodes_below(loop.for_get_body())):
        return []
    names = [each.get_annotation().get_name() for each in users_below(loop)]
    below = [ast.instances[each] for each in names if each in ast.instances]
    accesses = [access for each in below for access in each.statement.accesses]
    written = [each.array for each in accesses if each.kind is not AccessKind.READ]
    if not any(_is_byte(each) and not each.local for each in written):
        return []
    counter, changed = identifier_of(loop), {each.name for each in written}
    found: list[ByteRow] = []
    for instance in below:
        rows: dict[object, list[tuple[Access, isl.AstExpr]]] = defaultdict(list)
        for each in instances.ordered(instance):
            array = each.access.array
            if each.element is not None and _has_pointer(array):
                around = [each.element.op_get_arg(1 + place) for place in range(array.row_subscripts)]
                if not any(mentions(subscript, counter) for subscript in around):
                    key = array.name, *(subscript.to_C_str() for subscript in around)
                    rows[key].append((each.access, each.element))
        for row in rows.values():
            ((first, element), *_), nodes = row, (access.node for access, _ in row)
            if not instance.statement.dynamic and always_evaluates(instance.statement.body, *nodes):
                found.append(ByteRow(first.array, element, first.array.name not in changed))
    return found


def _has_pointer(array: Array) -> bool:
    """Whether elements of ``array``, integers, are found by a pointer in memory and one subscript."""
    subscripts = len(array.extents) - max(0, array.flat - 1) - array.row_subscripts
    named = isinstance(array.expression, c_ast.ID) and array.provenance.storage is not StorageClass.GLOBAL
    by_pointer = array.row_subscripts > 0 or (array.provenance.by_pointer and not named)
    plain = subscripts == 1 and not any(array.suffixes) and not array.local
    return plain and by_pointer and isinstance(array.element, IntegerType)


def _is_byte(array: Array) -> bool:
    return isinstance(array.element, IntegerType) and array.element.width == _BYTE
