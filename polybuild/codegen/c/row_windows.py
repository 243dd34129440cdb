"""Loops along rows in lanes: stretches of the rows are in a buffer, lanes side by side, meanwhile.

::

    for (x = 1; x < w; x++)        for (from = 1; from < w; from += 64) {
      a[y][x] += a[y][x - 1];        load 64 elements of each row, and the one before
                                     for (x = from; x <= to; x++)
                                       window[x - from + 1] += window[x - from];
                                     store the 64 elements of each row
                                   }
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import islpy as isl

from polybuild.codegen.c.expressions import ADDITIVE, is_number
from polybuild.codegen.c.instances import COUNTER_TYPE
from polybuild.codegen.c.lane_scope import LaneScope
from polybuild.codegen.c.layout import CodeLine, Role, closing, loop
from polybuild.codegen.c.nodes import identifier_of, statements_in_a_row
from polybuild.codegen.file.row_transfers import RowTransfer
from polybuild.codegen.file.vector_types import VectorType
from polybuild.values import dataclass

if TYPE_CHECKING:
    from pycparser import c_ast

    from polybuild.codegen.c.ast import Instance
    from polybuild.targets.model import RowWindow

_Op = isl.ast_expr_op_type
_INDENT = "  "


@dataclass(frozen=True, slots=True)
class _WindowNames:
    """What is called how: the ``buffer`` of a window, its ``rows``, and the ends of its stretch."""

    buffer: str
    rows: str
    first: str
    last: str


class RowWindowPrinter:
    """Prints loops along rows inside of a loop in lanes, whose ``scope`` this is.

    ``instances`` are the statements of the region by their annotations.
    """

    def __init__(self, scope: LaneScope, instances: Mapping[str, Instance]) -> None:
        self._scope = scope
        self._instances = instances
        self._vector = VectorType(scope.lanes.type.name, scope.lanes.lanes)
        self._columns: dict[int, str] = {}

    def element(self, node: c_ast.Node, copy: int) -> str | None:
        """The vector number ``copy`` of what ``node`` accesses in a buffer; None if it is in none."""
        column = self._columns.get(id(node))
        return None if column is None else f"{column}[{copy}]"

    def windows_of(self, node: isl.AstNode) -> Sequence[RowWindow]:
        """The windows of the loop ``node``, if each of its iterations runs all of its statements."""
        if not is_number(node.for_get_inc(), 1) or _operator(node) is None:
            return ()
        below = self._inside(node)
        statements = [each.statement.name for each in below]
        arrays = {id(access.node): access.array for each in below for access, _ in each.accesses}
        for windows in self._scope.lanes.windows.loops if len(set(statements)) == len(statements) else ():
            # an array that is in another buffer by now may have its elements elsewhere
            if all(arrays.get(node) is each.array for each in windows for node in each.places):
                return windows
        return ()

    def lines(
        self,
        node: isl.AstNode,
        windows: Sequence[RowWindow],
        counter: str,
        indent: str,
        body: Callable[[str], list[str]],
    ) -> list[str]:
        """The loop ``node`` stretch by stretch in its ``windows``; ``body`` prints what is inside."""
        names, inner = self._scope.names, indent + _INDENT
        declared = names.enter()
        first, last = names.declare(f"{counter}_from"), names.declare(f"{counter}_to")
        heads = self._heads(node, first, last, indent)
        loads, stores = [], []
        for each in windows:
            buffer, rows = (names.declare(f"{each.array.name}_{part}") for part in ("window", "rows"))
            called = _WindowNames(buffer, rows, first, last)
            loads += self._declarations(node, each, called, inner)
            if each.loaded:
                loads.append(f"{inner}{self._loading(each, called)}")
            if each.written is not None:
                stores.append(f"{inner}{self._storing(each.written, called)}")
            position = f"{counter} - {first}" if each.upwards else f"{last} - {counter}"
            for access, place in each.places.items():
                column = f"{position} + {place}" if place else position
                self._columns[access] = f"{called.buffer}[{column}]"
        along = loop(f"{inner}for ({COUNTER_TYPE} {counter} = {first}; {counter} <= {last}; {counter}++)")
        lines = [*heads, *loads, along, *body(inner + _INDENT), closing(inner), *stores, closing(indent)]
        self._columns.clear()
        names.leave(declared)
        return lines

    def _heads(self, node: isl.AstNode, first: str, last: str, indent: str) -> list[str]:
        """The head of the loop over stretches of ``node``, from the counter ``first`` to ``last``."""
        expressions, stretch = self._scope.expressions, self._scope.lanes.windows.stretch
        end = expressions.operand(node.for_get_cond().op_get_arg(1))
        until = end.text if _operator(node) == "<=" else f"{end.bound(ADDITIVE)} - 1"
        start = expressions.text(node.for_get_init())
        self._scope.in_use.helpers.add("polybuild_min")
        head = f"{indent}for ({COUNTER_TYPE} {first} = {start}; {first} <= {until}; {first} += {stretch})"
        ends = f"polybuild_min({until}, {first} + {stretch - 1})"
        return [loop(head), f"{indent}{_INDENT}const {COUNTER_TYPE} {last} = {ends};"]

    def _inside(self, node: isl.AstNode) -> list[Instance]:
        """The statements of the loop ``node``, in a row; none if there are loops or conditions in it."""
        names = [each.get_annotation().get_name() for each in statements_in_a_row(node.for_get_body())]
        known = all(name in self._instances for name in names)
        return [self._instances[name] for name in names] if known else []

    def _declarations(
        self, node: isl.AstNode, window: RowWindow, called: _WindowNames, indent: str
    ) -> list[str]:
        """The buffer of ``window``, and where the stretches of rows begin that are in it."""
        scope, vector, names = self._scope, self._vector, self._scope.names
        lowest = next(
            at
            for each in self._inside(node)
            for access, at in each.accesses
            if window.places.get(id(access.node)) == 0
        )
        identifier, lane = identifier_of(node), names.declare("lane")
        outer = names.get(identifier)
        names[identifier] = called.first if window.upwards else called.last
        row = scope.in_lane(
            lane, lambda: scope.instances.element(window.array, scope.expressions.subscripts(lowest))
        )
        names.restore(identifier, outer)
        columns, constant = (
            scope.lanes.windows.stretch + window.span - 1,
            "const " if window.written is None else "",
        )
        attribute = f"__attribute__((aligned({vector.bytes})))"
        scope.in_use.helpers.add(vector)
        return [
            f"{indent}{vector.name} {called.buffer}[{columns}][{scope.lanes.copies}] {attribute};",
            f"{indent}{constant}{vector.element} *{called.rows}[{scope.step}];",
            loop(f"{indent}for (int {lane} = 0; {lane} < {scope.step}; {lane}++)"),
            CodeLine(f"{indent}{_INDENT}{called.rows}[{lane}] = &{row};", role=Role.STATEMENT),
            closing(indent),
        ]

    def _loading(self, window: RowWindow, called: _WindowNames) -> str:
        """What fills the buffer of ``window``."""
        constant = "" if window.written is None else f"(const {self._vector.element} *const *)"
        rows, after = f"{constant}{called.rows}", f"{called.last} - {called.first} + "
        if not window.carried:
            return self._transfer(rows, called, ("0", f"{after}{window.span}"), stores=False)
        if window.upwards:
            return self._transfer(rows, called, ("0", str(window.span - 1)), stores=False)
        return self._transfer(rows, called, (f"{after}1", f"{after}{window.span}"), stores=False)

    def _storing(self, place: int, called: _WindowNames) -> str:
        """What stores the elements at ``place`` of each iteration."""
        columns = str(place), f"{called.last} - {called.first} + {place + 1}"
        return self._transfer(called.rows, called, columns, stores=True)

    def _transfer(self, rows: str, called: _WindowNames, columns: tuple[str, str], *, stores: bool) -> str:
        """What moves ``columns``, from the first to before the second, between ``rows`` and a buffer."""
        function = RowTransfer(self._vector, stores, self._scope.lanes.windows.ahead)
        self._scope.in_use.helpers.update({function, self._vector.mask})
        operands = f"{called.buffer}[0], {self._scope.lanes.copies}, {rows}, {', '.join(columns)}"
        return f"{function.name}({operands});"


def _operator(node: isl.AstNode) -> str | None:
    """What compares the counter of the loop ``node``, which counts up, with its end."""
    return {_Op.le: "<=", _Op.lt: "<"}.get(_Op(node.for_get_cond().op_get_type()))
