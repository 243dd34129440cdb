"""Tiles that threads share, as strips whose width is found when the loop runs.

Tiles of one size are few or short wherever rows are, and leave each row after a part of it; the number of
threads is not known before. So each thread gets as many columns as the others, side by side::

    const long long strip_j = polybuild_strip(n, polybuild_team(), 64, 65536);
    #pragma omp parallel for
    for (long long first_j = 0; first_j <= n - 1; first_j += strip_j) {
      const long long last_j = first_j + strip_j - 1;
      for (long long i = ...)
        for (long long j = first_j; j <= polybuild_min(n - 1, last_j); j++)

The code is that for tiles of the size T: tile t begins at ``T * t`` and ends at ``T * t + T - 1``. These
stand in it as bounds of loops alone, one as the first and the other as the last value of a loop. As the
loops along the tiles carry nothing, what runs is the same, in an order that is as good, with any other pairs
of bounds that cover the values of all tiles. A condition that isl left out as it follows from ``T * t <= j
<= T * t + T - 1`` follows from the other conditions for ``j`` as well: what is left of the former without
``t`` is ``0 <= T - 1``. Where ``j`` ends inside of the last tile, that stands in the bounds of its loops.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import islpy as isl

from polybuild.codegen.c.expressions import (
    MULTIPLICATIVE,
    ExpressionPrinter,
    is_atom,
    is_identifier,
    is_number,
    split_constant,
)
from polybuild.codegen.c.instances import COUNTER_TYPE
from polybuild.codegen.c.layout import CodeLine, loop
from polybuild.codegen.c.names_in_scope import NamesInScope
from polybuild.codegen.c.nodes import FOR, IF, identifier_of, kind_of, mentions, nodes_below, users_below
from polybuild.codegen.c.parts import counts_up
from polybuild.codegen.file.strips import STRIP
from polybuild.codegen.file.team import TEAM
from polybuild.targets.model import ThreadSharing
from polybuild.values import dataclass

if TYPE_CHECKING:
    from polybuild.codegen.c.ast import PrintedAst

_Op = isl.ast_expr_op_type


@dataclass(frozen=True, slots=True)
class Strips:
    """Tiles of a size, the number ``first`` to ``last``; ``begin`` and ``end`` are those of one.

    The loop ``points`` goes along them. The last tile ends at the value ``cut``, None if it is whole.
    """

    tile: int
    points: isl.AstNode
    first: isl.AstExpr
    last: isl.AstExpr
    cut: isl.AstExpr | None
    begin: isl.AstExpr
    end: isl.AstExpr


def strips_of(node: isl.AstNode, tile: int) -> Strips | None:
    """The tiles of the size ``tile`` that the loop ``node`` counts; None if they must have this width."""
    counter, condition = identifier_of(node), node.for_get_cond()
    steps = counts_up(node) and is_number(node.for_get_inc(), 1)
    if not steps or _Op(condition.op_get_type()) != _Op.le:
        return None
    inside = [*nodes_below(node.for_get_body())]
    if any(mentions(each.if_get_cond(), counter) for each in inside if kind_of(each) == IF):
        return None
    loops = [each for each in inside if kind_of(each) == FOR]
    moved = [each for each in loops if any(mentions(one, counter) for one in _expressions(each))]
    bounds = [found for each in moved if (found := _bounds_in(each, counter, tile)) is not None]
    if len(bounds) < len(moved):
        return None
    along = [
        (each, begin, end)
        for each, (begin, end) in zip(moved, bounds, strict=True)
        if begin is not None and end is not None
    ]
    if not along:
        return None
    last, (points, begin, end) = condition.op_get_arg(1), along[0]
    cut = _last_value(last, tile, [each for each, _, _ in along])
    return Strips(tile, points, node.for_get_init(), last, cut, begin, end)


def asks_for_counter(node: isl.AstNode, ast: PrintedAst) -> bool:
    """Whether a statement in the loop ``node`` asks for the counter of this loop, or may do so."""
    names = [each.get_annotation().get_name() for each in users_below(node)]
    if not all(name in ast.instances for name in names):
        return True
    instances = [ast.instances[name] for name in names]
    asked = [at for each in instances for at in (*each.iterators, *(at for _, at in each.accesses))]
    return any(mentions(at, identifier_of(node)) for at in asked)


def _last_value(last: isl.AstExpr, tile: int, loops: Sequence[isl.AstNode]) -> isl.AstExpr | None:
    """The value that is in the ``last`` tile if all ``loops`` end there, None if that is not plain to see."""
    if is_atom(last) or _Op(last.op_get_type()) not in {_Op.fdiv_q, _Op.pdiv_q}:
        return None
    value, divisor = last.op_get_arg(0), last.op_get_arg(1)
    ends = [[*_among(each.for_get_cond().op_get_arg(1), _Op.min)] for each in loops]
    known = is_number(divisor, tile) and all(any(one.is_equal(value) for one in each) for each in ends)
    return value if known else None


def _expressions(node: isl.AstNode) -> Iterator[isl.AstExpr]:
    """The expressions of the head of a loop."""
    yield node.for_get_init()
    if not node.for_is_degenerate():
        yield node.for_get_cond()
        yield node.for_get_inc()


def _bounds_in(
    node: isl.AstNode, counter: str, tile: int
) -> tuple[isl.AstExpr | None, isl.AstExpr | None] | None:
    """The begin and the end of a tile where the loop ``node`` has them as its own; None if it has others."""
    if node.for_is_degenerate() or not counts_up(node) or not is_number(node.for_get_inc(), 1):
        return None
    condition = node.for_get_cond()
    begins = [each for each in _among(node.for_get_init(), _Op.max) if mentions(each, counter)]
    ends = [each for each in _among(condition.op_get_arg(1), _Op.min) if mentions(each, counter)]
    if (
        not all(_is_begin(each, counter, tile) for each in begins)
        or not all(_is_end(each, counter, tile) for each in ends)
        or (ends and _Op(condition.op_get_type()) != _Op.le)
    ):
        return None
    return next(iter(begins), None), next(iter(ends), None)


def _among(bound: isl.AstExpr, choice: isl.ast_expr_op_type) -> Iterator[isl.AstExpr]:
    """The values that ``bound`` is the ``choice`` among."""
    if is_atom(bound) or _Op(bound.op_get_type()) != choice:
        yield bound
        return
    for position in range(bound.op_get_n_arg()):
        yield from _among(bound.op_get_arg(position), choice)


def _is_begin(expression: isl.AstExpr, counter: str, tile: int) -> bool:
    """Whether ``expression`` is ``tile * counter``."""
    return (
        not is_atom(expression)
        and _Op(expression.op_get_type()) == _Op.mul
        and is_number(expression.op_get_arg(0), tile)
        and is_identifier(expression.op_get_arg(1), counter)
    )


def _is_end(expression: isl.AstExpr, counter: str, tile: int) -> bool:
    """Whether ``expression`` is ``tile * counter + tile - 1``."""
    begin, more = split_constant(expression)
    return more == tile - 1 and _is_begin(begin, counter, tile)


class StripPrinter:
    """Prints the head of a loop over ``strips``; ``counter`` is the one that goes along them.

    Its ``names`` are known as long as the loop is printed, ``expressions`` knows of them.
    """

    def __init__(
        self, strips: Strips, counter: str, names: NamesInScope, expressions: ExpressionPrinter
    ) -> None:
        self._strips = strips
        self._expressions = expressions
        self._width = names.declare(f"strip_{counter}")
        self.first = names.declare(f"first_{counter}")
        self.last = names.declare(f"last_{counter}")

    @property
    def chosen(self) -> list[tuple[isl.AstExpr, str]]:
        """What stands for the begin and the end of a tile."""
        return [(self._strips.begin, self.first), (self._strips.end, self.last)]

    def width(self, sharing: ThreadSharing) -> str:
        """The declaration of the width of a strip."""
        width = f"{STRIP}({self._count()}, {TEAM}(), {sharing.line}, {sharing.longest})"
        return f"const {COUNTER_TYPE} {self._width} = {width};"

    def head(self, indent: str) -> CodeLine:
        """The head of the loop over the strips."""
        kept = f"{self.first} <= {self._last()}; {self.first} += {self._width}"
        return loop(f"{indent}for ({COUNTER_TYPE} {self.first} = {self._first()}; {kept})")

    def end(self) -> str:
        """The declaration of the last value of a strip."""
        last = f"{self.first} + {self._width} - 1"
        if self._strips.cut is None:
            last = self._expressions.minimum(self._last(), last)
        return f"const {COUNTER_TYPE} {self.last} = {last};"

    def _first(self) -> str:
        """The first value of all strips."""
        first = self._strips.first
        if is_number(first, 0):
            return "0"
        return f"{self._strips.tile} * {self._expressions.text(first, MULTIPLICATIVE + 1)}"

    def _last(self) -> str:
        """The last value of all strips."""
        tile, cut = self._strips.tile, self._strips.cut
        if cut is not None:
            return self._expressions.text(cut)
        return f"{tile} * {self._expressions.text(self._strips.last, MULTIPLICATIVE + 1)} + {tile - 1}"

    def _count(self) -> str:
        """How many values the strips cover."""
        cut = self._strips.cut
        if cut is not None and is_number(self._strips.first, 0):
            base, more = split_constant(cut)
            if more == -1:
                return self._expressions.text(base)
        return f"{self._last()} - {self._first()} + 1"
