"""Which loops keep the type of the user's counter.

Counters are wide, as those of tiles run past what a user's counter may hold. Where statements compute with
a counter that is narrower each of them converts it; a compiler that has to carry such a value through the
lanes of vectors then works with two widths, or gives up. So these loops get a counter of the user's type,
where no value that it takes is too large for that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import islpy as isl
from pycparser import c_ast

from polybuild.c.syntax_tree import walk
from polybuild.c.types import IntegerType
from polybuild.poly.integers import value_of

if TYPE_CHECKING:
    from polybuild.scop.model import Parameter, Statement

_WIDEST = 64


def computes_with(statement: Statement) -> frozenset[int]:
    """The positions of the counters of ``statement`` that its body computes with, not just in subscripts.

    Subscripts of elements that data choose are computed as the user wrote them.
    """
    known = (each.node for each in statement.accesses if each.exact and not isinstance(each.node, c_ast.If))
    elements = {id(part) for node in known for part in walk(node)}
    parts = (each for each in walk(statement.body) if id(each) not in elements)
    named = {each.name for each in parts if isinstance(getattr(each, "name", None), str)}
    return frozenset(
        position for position, iterator in enumerate(statement.iterators) if iterator.name in named
    )


def fitting_counters(statement: Statement, parameters: Sequence[Parameter]) -> frozenset[int]:
    """The positions of the counters of ``statement`` whose type may count a loop over their values.

    That is a narrow signed one that holds the one after the last, too, whatever the parameters are.
    """
    domain = _within_types(statement.domain, parameters)
    found = set()
    for position, iterator in enumerate(statement.iterators):
        kind = iterator.type
        if not isinstance(kind, IntegerType) or not kind.signed or kind.width >= _WIDEST:
            continue
        low, high = domain.dim_min_val(position), domain.dim_max_val(position)
        limit = 1 << (kind.width - 1)
        if low.is_int() and high.is_int() and -limit <= low.to_python() and high.to_python() < limit - 1:
            found.add(position)
    return frozenset(found)


def _within_types(domain: isl.Set, parameters: Sequence[Parameter]) -> isl.Set:
    """``domain`` where the parameters have values of their types."""
    for each in parameters:
        position = domain.find_dim_by_name(isl.dim_type.param, each.name)
        if position < 0 or not isinstance(each.type, IntegerType) or each.reached is not None:
            continue
        first = -(1 << (each.type.width - 1)) if each.type.signed else 0
        last = first + (1 << each.type.width) - 1
        domain = domain.lower_bound_val(isl.dim_type.param, position, value_of(first))
        domain = domain.upper_bound_val(isl.dim_type.param, position, value_of(last))
    return domain
