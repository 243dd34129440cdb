"""Blocks of generated code that accumulate in a variable: how it starts, and where its value goes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

import islpy as isl

from polybuild.c.types import FloatingType, IntegerType
from polybuild.codegen.c.accumulators import AccumulatorScope
from polybuild.codegen.c.dynamic import first_instance
from polybuild.codegen.c.expressions import AND, ATOM, TERNARY, ExpressionPrinter
from polybuild.codegen.c.instances import InstancePrinter
from polybuild.codegen.c.lazy_texts import LazyTexts
from polybuild.codegen.c.names_in_scope import NamesInScope
from polybuild.codegen.c.names_in_use import NamesInUse
from polybuild.codegen.c.nodes import IF, identifier_of, is_loop, kind_of, parts
from polybuild.poly.marks import Mark

if TYPE_CHECKING:
    from polybuild.codegen.c.ast import PrintedAst
    from polybuild.scop.model import Array

_Op = isl.ast_expr_op_type


class AccumulatorBlockPrinter:
    """Prints what stands around the parts of ``ast`` that accumulate in ``variables``, by their marks.

    ``in_use`` records what the text mentions.
    """

    def __init__(
        self,
        ast: PrintedAst,
        names: NamesInScope,
        in_use: NamesInUse,
        instances: InstancePrinter,
        variables: Mapping[Mark, str],
    ) -> None:
        self._ast = ast
        self._names = names
        self._in_use = in_use
        self._expressions = ExpressionPrinter(names.text, in_use)
        self._instances = instances
        self._variables = variables

    def around(self, node: isl.AstNode, scope: AccumulatorScope) -> tuple[str | None, str, str]:
        """What stands around ``node``, which accumulates in ``scope``.

        The condition for all of it, None if there is none, the declaration of the variable, and
        the statement that stores its value.
        """
        accumulator = scope.accumulator
        variable = self._variables[accumulator.mark]
        text = self._instances.element(accumulator.array, self._expressions.subscripts(scope.element))
        value, back = (
            f"({accumulator.type.name}){text}",
            f"{text} = ({_type_of(accumulator.array)}){variable};",
        )
        if accumulator.type == accumulator.array.element:
            value, back = text, f"{text} = {variable};"
        loop = self._loop_of(node, {each.statement.name for each in accumulator.reductions})
        entered = None
        if scope.time_stamps is not None and loop is not None:
            entered = self._is_entered(loop, scope)
        elif scope.time_stamps is not None:
            runs = self._expressions.text(scope.runs(self._names), TERNARY + 1)
            value, back = f"{runs} ? {value} : 0", f"if ({runs}) {back}"
        return entered, f"{accumulator.type.name} {variable} = {value};", back

    def _loop_of(self, node: isl.AstNode, names: set[str]) -> isl.AstNode | None:
        """The loop that ``node`` is, if each of its iterations runs a statement of ``names``."""
        while kind_of(node) == isl.ast_node_type.mark:
            node = node.mark_get_node()
        return node if is_loop(node) and self._always_runs(node.for_get_body(), names) else None

    def _always_runs(self, node: isl.AstNode, names: set[str]) -> bool:
        """Whether an instance of the statements called ``names`` runs whenever ``node`` does."""
        kind = kind_of(node)
        if kind == isl.ast_node_type.user:
            return self._ast.everything[node.get_annotation().get_name()].statement.name in names
        conditional = kind == IF or is_loop(node)
        return not conditional and any(self._always_runs(each, names) for each in parts(node))

    def _is_entered(self, loop: isl.AstNode, scope: AccumulatorScope) -> str | None:
        """Whether ``loop``, which accumulates in ``scope``, has an iteration; None if it certainly has."""
        hint = loop.get_annotation()
        restored = self._ast.dynamic.get(hint.get_name()) if hint is not None else None
        if restored is not None:
            counted, instance = restored.loop, self._ast.instances[first_instance(loop)]
            start = partial(self._instances.printer(instance, {}).visit, counted.start)
            iterator = instance.statement.iterators[counted.position].name
            first_counter = LazyTexts({iterator: lambda: f"({start()})"})
            entered = self._instances.printer(instance, first_counter).visit(counted.header.cond)
            return f"{self._expressions.text(scope.runs(self._names), AND)} && ({entered})"
        first, condition = loop.for_get_init(), loop.for_get_cond()
        if _holds(first, condition):
            return None
        identifier = identifier_of(loop)
        names = {**self._names, identifier: self._expressions.text(first, ATOM)}
        return ExpressionPrinter(lambda name: names.get(name, name), self._in_use).text(condition)


def _holds(start: isl.AstExpr, condition: isl.AstExpr) -> bool:
    """Whether ``condition``, an upper bound of a counter, is certain for its first value ``start``."""
    end = condition.op_get_arg(1)
    numbers = all(isl.ast_expr_type(each.get_type()) == isl.ast_expr_type.int for each in (start, end))
    upper = _Op(condition.op_get_type()) == _Op.le
    return numbers and upper and start.int_get_val().le(end.int_get_val())


def _type_of(array: Array) -> str:
    """The type of the elements of an array that something accumulates in."""
    assert isinstance(array.element, IntegerType | FloatingType)  # noqa: S101 - reductions are of numbers
    return array.element.name
