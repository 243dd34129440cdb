"""Loops over the points of a tile that are as long as the tile, for all but the last tile of a loop.

    for (k = 16 * t; k <= min(n - 1, 16 * t + 15); k++) ...

runs 16 times where ``16 * t + 15 <= n - 1``: a compiler that is told so unrolls it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

import islpy as isl

from polybuild.codegen.c.expressions import is_atom, is_number
from polybuild.values import dataclass

_Op = isl.ast_expr_op_type
_BOTH = {getattr(_Op, "and_"), _Op.and_then}  # noqa: B009 - the stub has no such name


COPIES = 8
"""How many iterations one after the other a compiler is asked for."""


@dataclass(frozen=True, slots=True)
class WholeLoop:
    """From ``first`` to ``last``, a number of iterations later, where each pair in ``holds`` is in order."""

    first: isl.AstExpr
    last: isl.AstExpr
    holds: tuple[tuple[isl.AstExpr, isl.AstExpr], ...]

    @property
    def pragma(self) -> str:
        """What asks a compiler for copies of the code: a long loop with more takes too many registers."""
        return "#pragma unroll" if any(map(self.has, range(COPIES + 1))) else f"#pragma unroll {COPIES}"

    def has(self, count: int) -> bool:
        """Whether it runs ``count`` times."""
        later = self.last if is_atom(self.last) else self.last.op_get_arg(1)
        return is_number(later, count - 1)


def last_of(node: isl.AstNode) -> isl.AstExpr | None:
    """The last value of the counter of the loop ``node``, None if it does not count by one up to one."""
    condition = node.for_get_cond()
    counts = _Op(condition.op_get_type()) == _Op.le and is_number(node.for_get_inc(), 1)
    return condition.op_get_arg(1) if counts else None


def whole_loop(node: isl.AstNode) -> WholeLoop | None:
    """How the loop ``node`` runs in whole tiles, None if its bounds do not tell of tiles."""
    condition = node.for_get_cond()
    if _Op(condition.op_get_type()) != _Op.le or not is_number(node.for_get_inc(), 1):
        return None
    lower = _arguments(node.for_get_init(), _Op.max)
    upper = _arguments(condition.op_get_arg(1), _Op.min)
    for first in lower:
        for last in upper:
            if _is_later(first, last):
                holds = [(each, first) for each in lower if not each.is_equal(first)]
                holds += [(last, each) for each in upper if not each.is_equal(last)]
                return WholeLoop(first, last, tuple(holds))
    return None


def _arguments(expression: isl.AstExpr, operator: isl.ast_expr_op_type) -> list[isl.AstExpr]:
    """What the minimum or maximum is of, else the expression itself."""
    if is_atom(expression) or _Op(expression.op_get_type()) != operator:
        return [expression]
    found = [_arguments(expression.op_get_arg(each), operator) for each in range(expression.op_get_n_arg())]
    return [each for some in found for each in some]


def tightest_bounds(
    node: isl.AstNode, holds: Callable[[isl.AstExpr], bool]
) -> tuple[isl.AstExpr, isl.AstExpr] | None:
    """The first and the last value of the counter of the loop ``node``, where conditions are known to hold.

    Of several bounds those are taken that all others ``holds`` certainly say less than. None if that is
    known of none, or if it does not count by one.
    """
    last = last_of(node)
    if last is None:
        return None
    lower = _arguments(node.for_get_init(), _Op.max)
    upper = _arguments(last, _Op.min)
    begin = (each for each in lower if all(holds(other.le(each)) for other in lower if other is not each))
    end = (each for each in upper if all(holds(each.le(other)) for other in upper if other is not each))
    found = next(begin, None), next(end, None)
    return None if found[0] is None or found[1] is None else (found[0], found[1])


def remaining(condition: isl.AstExpr, holds: Callable[[isl.AstExpr], bool]) -> isl.AstExpr | None:
    """What is left to ask of ``condition`` where parts of it are known to hold; None: nothing."""
    if is_atom(condition) or _Op(condition.op_get_type()) not in _BOTH:
        return None if holds(condition) else condition
    parts = (remaining(condition.op_get_arg(each), holds) for each in range(condition.op_get_n_arg()))
    left = [each for each in parts if each is not None]
    return reduce(isl.AstExpr.and_then, left) if left else None


def _is_later(first: isl.AstExpr, last: isl.AstExpr) -> bool:
    """Whether ``last`` is ``first`` and a number."""
    if is_atom(last):
        zero = isl.ast_expr_type(first.get_type()) == isl.ast_expr_type.int and is_number(first, 0)
        return zero and isl.ast_expr_type(last.get_type()) == isl.ast_expr_type.int
    if _Op(last.op_get_type()) != _Op.add or not last.op_get_arg(0).is_equal(first):
        return False
    return bool(isl.ast_expr_type(last.op_get_arg(1).get_type()) == isl.ast_expr_type.int)
