"""Which regions are modelled in blocks: statements that follow each other are one, a smaller problem.

::

    for t: for i: for j:                           for t: for i: for j:
      S: s = u[t % 2][i][j - 1] + ...        ->      S: { s = u[t % 2][i][j - 1] + ...
      T: u[(t + 1) % 2][i][j] = f(s)                      u[(t + 1) % 2][i][j] = f(s) }

So basic blocks are the statements of Polly (T. Grosser, A. Groesslinger, C. Lengauer, "Polly - Performing
Polyhedral Optimizations on a Low-Level Intermediate Representation", Parallel Processing Letters 22, 2012).
Statements alone leave more orders, and their variables may be kept elsewhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import islpy as isl
from pycparser import c_ast

from polybuild import effort
from polybuild.c.syntax_tree import key
from polybuild.scop.model import AccessKind, Scop, Statement
from polybuild.transform.grid_sizes import writes_again


def loops_around_blocks(scop: Scop, *, over_time: bool) -> int | None:
    """How many loops blocks are to have around them, at least; None if ``scop`` is not to be tried in blocks.

    It is if it has very many statements, or many at the points of planes in steps ``over_time``. Only
    statements that have the same loops around them may be one.
    """
    loops = {tuple(each.location for each in statement.iterators) for statement in scop.statements}
    if len(loops) == len(scop.statements):
        return None
    if _is_large(scop):
        return 0
    return effort.STEPS_OVER_PLANES if over_time and _has_many_over_time(scop) else None


def blocks_gain(blocks: Scop, scop: Scop) -> bool:
    """Whether ``blocks`` of ``scop`` are fewer statements, and not what makes a sum sequential.

    A block that adds to a variable is no reduction. That is the smaller evil where very many are alone.
    """
    fewer = len(blocks.statements) < len(scop.statements)
    return fewer and (_is_large(scop) or not any(map(_accumulates, blocks.statements)))


def _is_large(scop: Scop) -> bool:
    return len(scop.statements) > effort.SINGLE_STATEMENTS or _pairs(scop) > effort.ACCESS_PAIRS


def _pairs(scop: Scop) -> int:
    """How many pairs of accesses to the same array may depend on each other."""
    accesses = [each for statement in scop.statements for each in statement.accesses]
    uses = Counter(each.array.name for each in accesses)
    return sum(uses[each.array.name] for each in accesses if each.kind is not AccessKind.READ)


def _has_many_over_time(scop: Scop) -> bool:
    """Whether steps over planes have many statements, or may have once these are split.

    Each step of a period gets its own, and each border of a grid (``residue_classes.py``,
    ``index_set_splitting.py``). Statements that hand on elements, not variables alone, are no such points.
    """
    in_planes = [each for each in scop.statements if len(each.iterators) >= effort.STEPS_OVER_PLANES]
    many = len(scop.statements) > effort.ALTERNATING_STATEMENTS // 2
    split = not _hand_on_elements(in_planes) and any(map(_may_be_split, in_planes))
    return (many or split) and any(map(writes_again, in_planes))


def _hand_on_elements(statements: Sequence[Statement]) -> bool:
    """Whether one of ``statements`` sets an element that another one of the same point uses, or sets, too."""
    setting: dict[object, Statement] = {}
    uses: list[tuple[object, Statement]] = []
    for each in statements:
        loops = tuple(loop.location for loop in each.iterators)
        for access in each.accesses:
            if access.array.extents:
                place = loops, key(access.node)
                uses.append((place, each))
                if access.kind is not AccessKind.READ:
                    setting.setdefault(place, each)
    return any(place in setting and _may_be_one(setting[place], user) for place, user in uses)


def _may_be_one(statement: Statement, other: Statement) -> bool:
    """Whether two statements in the same loops are different ones that run together."""
    domain, own = (each.domain.reset_tuple_id() for each in (statement, other))
    return statement is not other and bool(domain.is_equal(own))


def _may_be_split(statement: Statement) -> bool:
    """Whether a subscript has a remainder of counters, or several cases of them; strides leave none."""
    relations = [each.relation for each in statement.accesses if each.array.extents]
    for relation in (each.intersect_domain(statement.domain) for each in relations):
        if not relation.is_single_valued():
            return True
        element = isl.PwMultiAff.from_map(relation).gist(statement.domain)
        if any(_has_cases(element.get_pw_aff(at)) for at in range(element.dim(isl.dim_type.out))):
            return True
    return False


def _has_cases(subscript: isl.PwAff) -> bool:
    """Whether counters choose which function ``subscript`` is, or it divides them."""
    counters = 0, subscript.dim(isl.dim_type.in_)
    return any(
        where.involves_dims(isl.dim_type.set, *counters)
        or any(
            function.get_div(at).involves_dims(isl.dim_type.in_, *counters)
            for at in range(function.dim(isl.dim_type.div))
        )
        for where, function in subscript.get_pieces()
    )


def _accumulates(statement: Statement) -> bool:
    """Whether a block adds to a variable."""
    if not isinstance(statement.body, c_ast.Compound):
        return False
    variables = [each for each in statement.accesses if not each.array.extents]
    read = {each.array.name for each in variables if each.kind is AccessKind.READ}
    return any(each.kind is not AccessKind.READ and each.array.name in read for each in variables)
