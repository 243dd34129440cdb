"""Where generated loops come from: the counter that a loop steps through, and the loop of the user's."""

from __future__ import annotations

from collections.abc import Mapping

import islpy as isl

from polybuild.poly.relations import depends_on, maps_of
from polybuild.scop.model import Statement
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class LoopOrigin:
    """What a generated loop stems from.

    ``counter`` is the original name of the counter that it steps through, ``tile_i`` for a loop over
    tiles of ``i``; empty if there is no such. ``line`` is the one of the outermost of the user's loops
    whose iterations it orders, 0 for a loop over nothing but copies. It is ``exact`` if each of its
    iterations is one of that loop, none a tile.
    """

    counter: str = ""
    line: int = 0
    exact: bool = False


UNKNOWN = LoopOrigin()
"""The origin of a loop of which nothing is known."""


def loop_origin(schedule: isl.UnionMap, statements: Mapping[str, Statement]) -> LoopOrigin:
    """Where the last loop of ``schedule`` comes from; ``statements`` are the user's, by their names."""
    names: set[str] = set()
    lines: set[int] = set()
    single = True
    for each in maps_of(schedule):
        depth = each.dim(isl.dim_type.out)
        statement = statements.get(each.get_tuple_name(isl.dim_type.in_))
        if statement is None:  # a copy statement
            continue
        outer = each.project_out(isl.dim_type.out, 0, depth - 1)
        formula = _formula(outer)
        used = [position for position in range(each.dim(isl.dim_type.in_)) if depends_on(formula, position)]
        lines.update(statement.iterators[position].location.line for position in used[:1])
        if len(used) == 1:
            exact = outer.is_injective() if len(statement.iterators) == 1 else _is_exact(outer, used[0])
            single = single and exact
            names.add(("" if exact else "tile_") + statement.iterators[used[0]].name)
        else:
            single = False
            names.add("")
    exact = single and bool(names)
    return LoopOrigin(names.pop() if len(names) == 1 else "", min(lines, default=0), exact)


def _formula(schedule: isl.Map) -> isl.Map:
    """``schedule`` wherever it could be, if one expression says it: what is left is not about its domain."""
    value = isl.MultiPwAff.from_pw_multi_aff(isl.PwMultiAff.from_map(schedule)).get_at(0)
    first, *others = (piece for _, piece in value.get_pieces())
    return schedule if any(not each.plain_is_equal(first) for each in others) else isl.Map.from_aff(first)


def _is_exact(schedule: isl.Map, position: int) -> bool:
    count = schedule.dim(isl.dim_type.in_)
    lone = schedule.project_out(isl.dim_type.in_, position + 1, count - position - 1)
    return bool(lone.project_out(isl.dim_type.in_, 0, position).is_injective())
