"""Two loops, one right inside the other, whose iterations threads share together.

OpenMP shares the iterations of both where they are a box (``collapse``). Where the inner loop begins or ends
elsewhere in other iterations of the outer one, all share the box around these, and some find nothing to do::

    const long long first_i = ..., last_i = ...;
    long long first_j = f(first_i), last_j = l(first_i);
    for (long long i = first_i + 1; i <= last_i; i++) {
      first_j = min(first_j, f(i));
      last_j = max(last_j, l(i));
    }
    #pragma omp parallel for collapse(2)
    for (long long i = first_i; i <= last_i; i++)
      for (long long j = first_j; j <= last_j; j++)
        if (j >= f(i) && j <= l(i))
          ...
"""

from __future__ import annotations

import islpy as isl

from polybuild.codegen.c.dynamic import within
from polybuild.codegen.c.expressions import AND, ExpressionPrinter, is_number
from polybuild.codegen.c.instances import COUNTER_TYPE
from polybuild.codegen.c.layout import CodeLine, closing, condition, loop
from polybuild.codegen.c.loop_heads import LoopHeadPrinter
from polybuild.codegen.c.names_in_scope import NamesInScope
from polybuild.codegen.c.nodes import IF, identifier_of, is_loop, kind_of, mentions
from polybuild.codegen.c.parts import counts_up
from polybuild.values import dataclass

_Op = isl.ast_expr_op_type
_INDENT = "  "


def inner_of_pair(outer: isl.AstNode, depth: int) -> isl.AstNode | None:
    """The loop of schedule dimension ``depth`` + 1 right inside ``outer``; None if there is none to share.

    A condition may stand between both, whose iterations have to be counted before they run.
    """
    inner, _ = _inside(outer)
    if not (is_loop(outer) and is_loop(inner)) or identifier_of(inner) != f"c{depth + 1}":
        return None
    counted = all(counts_up(each) and is_number(each.for_get_inc(), 1) for each in (outer, inner))
    return inner if counted else None


def _inside(outer: isl.AstNode) -> tuple[isl.AstNode, isl.AstExpr | None]:
    """What is right inside the loop ``outer``, and the condition between, None if there is none."""
    body = outer.for_get_body()
    if kind_of(body) == IF and not body.if_has_else_node():
        return body.if_get_then_node(), body.if_get_cond()
    return body, None


@dataclass(frozen=True, slots=True)
class PairHeads:
    """The ``heads`` of a pair of loops, and of a condition inside if there is one; what stands ``before``."""

    before: list[str]
    heads: list[CodeLine]


class PairPrinter:
    """Prints the heads of the loops ``outer`` and ``inner``, whose ``counters`` are in ``names``."""

    def __init__(
        self,
        outer: isl.AstNode,
        inner: isl.AstNode,
        counters: tuple[str, str],
        names: NamesInScope,
        expressions: ExpressionPrinter,
    ) -> None:
        self._outer = outer
        self._inner = inner
        self._counters = counters
        self._names = names
        self._expressions = expressions

    def heads(self, heads: LoopHeadPrinter, indent: str) -> PairHeads:
        """What ``heads`` prints if the iterations are a box; or else the heads of the box around them."""
        row = identifier_of(self._outer)
        if any(mentions(each, row) for each in (self._inner.for_get_init(), _bound(self._inner))):
            return self._within_box(indent)
        before, outer = heads.head(self._outer, self._counters[0], indent, plain=True)
        constants, inner = heads.head(self._inner, self._counters[1], indent, plain=True)
        return PairHeads([*before, *constants], [outer, loop(f"{_INDENT}{inner.head}"), *self._guard(indent)])

    def _within_box(self, indent: str) -> PairHeads:
        """The heads of loops over the box around all iterations, and the condition for one of them."""
        identifier, inside = identifier_of(self._outer), indent + _INDENT
        row, place = self._counters
        first, last = self._named(self._outer, row)
        first_place, last_place = self._named(self._inner, place)
        whole = self._bounds(self._outer)
        self._names[identifier] = first
        of_first = self._bounds(self._inner)
        self._names[identifier] = row
        begin, end = self._bounds(self._inner)
        before = [
            f"{indent}const {COUNTER_TYPE} {first} = {whole[0]}, {last} = {whole[1]};",
            f"{indent}{COUNTER_TYPE} {first_place} = {of_first[0]}, {last_place} = {of_first[1]};",
            _head(self._outer, row, (f"{first} + 1", last), indent),
            f"{inside}{first_place} = {self._expressions.minimum(first_place, begin)};",
            f"{inside}{last_place} = {self._expressions.maximum(last_place, end)};",
            closing(indent),
        ]
        heads = [
            _head(self._outer, row, (first, last), indent),
            _head(self._inner, place, (first_place, last_place), inside),
            *self._guard(indent, within(self._inner, place, self._expressions)),
        ]
        return PairHeads(before, heads)

    def _guard(self, indent: str, *terms: str) -> list[CodeLine]:
        """What is asked in the inner loop, if anything: the condition before it, and ``terms``."""
        between = _inside(self._outer)[1]
        asked = [] if between is None else [self._expressions.text(between, AND)]
        text = " && ".join([*asked, *terms])
        return [condition(f"{indent}{_INDENT * 2}if ({text})")] if text else []

    def _named(self, node: isl.AstNode, counter: str) -> tuple[str, str]:
        """Names for what the loop ``node`` begins and ends with."""
        end = "last" if _test(node) == "<=" else "end"
        return self._names.declare(f"first_{counter}"), self._names.declare(f"{end}_{counter}")

    def _bounds(self, node: isl.AstNode) -> tuple[str, str]:
        """What the loop ``node`` begins with, and what its counter is compared with."""
        return self._expressions.text(node.for_get_init()), self._expressions.text(_bound(node))


def _head(node: isl.AstNode, counter: str, limits: tuple[str, str], indent: str) -> CodeLine:
    """The head of the loop ``node`` between other ``limits``."""
    first, last = limits
    test = f"{counter} {_test(node)} {last}"
    return loop(f"{indent}for ({COUNTER_TYPE} {counter} = {first}; {test}; {counter}++)")


def _bound(node: isl.AstNode) -> isl.AstExpr:
    """What the counter of a loop that counts up is compared with."""
    return node.for_get_cond().op_get_arg(1)


def _test(node: isl.AstNode) -> str:
    """How the counter of a loop that counts up is compared with its bound."""
    return "<=" if _Op(node.for_get_cond().op_get_type()) == _Op.le else "<"
