"""Index-set splitting: iterations near borders become statements of their own.

Where a subscript is a choice, as ``a[x == 0 ? 0 : x - 1]`` or ``a[(x + 1) % n]``, one side of it is meant in
almost all iterations; so it is with conditions that keep a window within an image::

    for x in 0 .. n - 1:                        for x in 1 .. n - 2:
      b[x] = a[left(x)] + a[right(x)];    ->      b[x] = a[x - 1] + a[x + 1];
                                                for x = 0, x = n - 1:
                                                  b[x] = a[left(x)] + a[right(x)];

The statements are split into the *interior*, whose subscripts are plain and which runs all of them, and the
*border*, which may be any: one copy for each side. (M. Griebl, P. Feautrier, C. Lengauer, "Index Set
Splitting", International Journal of Parallel Programming 28(6), 2000.)
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial, reduce

import islpy as isl

from polybuild.analysis.dependences import accesses_of, flow_dependences, may_be_private
from polybuild.c.types import FloatingType, IntegerType
from polybuild.effort import (
    BORDER_WIDTH,
    NEST_PARTS,
    SPLIT_STATEMENTS,
    SPLIT_STATEMENTS_OVER_TIME,
    SPLITTING_OPERATIONS,
)
from polybuild.poly.budget import found_within
from polybuild.poly.relations import depends_on, equal_outer, maps_of, sets_of, tuple_name
from polybuild.poly.spaces import extent, outer_loops
from polybuild.poly.trees import descendants, is_band
from polybuild.scop.duplicates import copied, order_of_copies, unused_names, variable_for, with_arrays
from polybuild.scop.model import AccessKind, Array, Scop, Statement
from polybuild.scop.model import Iterator as Loop
from polybuild.transform.borders import NestBorders, is_own, may_have_border
from polybuild.transform.settled_choices import with_settled_choices
from polybuild.values import dataclass

_out, _set = isl.dim_type.out, isl.dim_type.set


def split_index_sets(scop: Scop, live_out: frozenset[str], taken: Collection[str]) -> Scop:
    """``scop`` with statements that differ near borders split into interior and border.

    ``live_out`` names the variables that are read after the region. New variables get none of the names
    ``taken``.
    """
    for statement in scop.statements:
        left = any(each is statement for each in scop.statements)
        if left and may_have_border(scop, statement):
            split = found_within(SPLITTING_OPERATIONS, partial(_split, scop, statement, live_out, taken))
            scop = split or scop
    return scop


@dataclass(frozen=True, slots=True)
class _Nest:
    """The statements in the same outer ``loops``, and the parts of the iterations of these.

    The first part is the interior, each other one a side of it. They are ``conditional`` if conditions of
    the source part them, or subscripts that are chosen along rows.
    """

    loops: tuple[Loop, ...]
    statements: tuple[Statement, ...]
    parts: tuple[isl.Set, ...]
    conditional: bool


def _split(scop: Scop, statement: Statement, live_out: frozenset[str], taken: Collection[str]) -> Scop | None:
    """``scop`` with the nest of ``statement`` split; None if it has no border, or nothing would be gained."""
    nest = _nest(scop, statement)
    if nest is None:
        return None
    inside = {each.name for each in nest.statements}
    limit = SPLIT_STATEMENTS_OVER_TIME if _has_others(scop, nest.statements) else SPLIT_STATEMENTS
    if len(scop.statements) + len(nest.statements) * (len(nest.parts) - 1) > limit:
        return None
    names = iter(unused_names(scop, len(nest.statements) * len(nest.parts)))
    taken = {*taken, *(each.name for each in scop.arrays)}
    private = list(_own_values(scop, nest, live_out))
    new, arrays = [each for each in scop.statements if each.name not in inside], list(scop.arrays)
    originals: dict[str, str] = {}
    for side, iterations in enumerate(nest.parts):
        parts: list[Statement] = []
        for each in nest.statements:
            outer = isl.Map.from_multi_aff(outer_loops(each.domain.get_space(), len(nest.loops)))
            here = each.domain.intersect(iterations.apply(outer.reverse())).coalesce()
            part = with_settled_choices(copied(each, next(names), here), scop.context)
            if not here.is_empty():
                conditional = each.conditional or nest.conditional
                parts.append(replace(part, conditional=conditional, border=each.border or side > 0))
                originals[part.name] = each.name
        parts = _needed(parts, {each.name for each in private})
        used = [each for each in private if _is_renamed(each, parts)]
        own = {each.name: variable_for(each, f"side{side}", taken) for each in used} if side else {}
        arrays += own.values()
        new += [with_arrays(each, own) for each in parts]
    schedule = order_of_copies(scop, new, originals)
    return replace(scop, statements=tuple(new), arrays=tuple(arrays), schedule=schedule)


def _is_renamed(array: Array, parts: Sequence[Statement]) -> bool:
    """Whether ``parts`` use ``array``, and may do so by another name.

    Statements that are kept whole name what is declared before the region as it is.
    """
    accesses = [access for part in parts for access in part.accesses_to(array)]
    return bool(accesses) and (array.local or all(each.exact for each in accesses))


def _needed(parts: Sequence[Statement], private: Collection[str]) -> list[Statement]:
    """Those of ``parts`` that do more than to set ``private`` variables that no others of them read."""
    needed = list(parts)
    while idle := {each.name for each in needed if _is_idle(each, needed, private)}:
        needed = [each for each in needed if each.name not in idle]
    return needed


def _is_idle(part: Statement, parts: Sequence[Statement], private: Collection[str]) -> bool:
    written = {access.array.name for access in part.accesses if access.kind is not AccessKind.READ}
    others = [access for each in parts if each is not part for access in each.accesses]
    read = {access.array.name for access in others if access.kind is AccessKind.READ}
    return written.issubset(private) and written.isdisjoint(read)


def _own_values(scop: Scop, nest: _Nest, live_out: frozenset[str]) -> Iterator[Array]:
    """Private variables that are set and used within an iteration of the loops of ``nest``."""
    inside = {each.name for each in nest.statements}
    for array in scop.arrays:
        if not isinstance(array.element, IntegerType | FloatingType):
            continue
        users = {each.name for each in scop.statements if each.accesses_to(array)}
        if array.is_scalar and users <= inside and may_be_private(array, live_out):
            reads, must, may = accesses_of(scop, array)
            flow, old = flow_dependences(scop, reads, must, may, isl.UnionMap.empty(reads.get_space()))
            if old.is_empty() and all(
                each.is_subset(equal_outer(each, len(nest.loops))) for each in maps_of(flow)
            ):
                yield array


def _nest(scop: Scop, statement: Statement) -> _Nest | None:
    """The nest around ``statement`` in parts, one of them with plain subscripts; None if there is none."""
    depth = len(statement.iterators)
    loops_to = (statement.domain.project_out(_set, each, depth - each) for each in range(1, depth + 1))
    lengths = [extent(domain, position) for position, domain in enumerate(loops_to)]
    long = [
        position for position, length in enumerate(lengths) if length is None or length > 2 * BORDER_WIDTH
    ]
    if not long or statement.dynamic:
        return None
    loops = statement.iterators[: long[-1] + 1]
    together = _together(scop, statement, len(loops))
    inside = tuple(
        each for each in scop.statements if each.iterators[: len(loops)] == loops and each.name in together
    )
    if any(each.dynamic for each in inside) or _chooses_among_own(inside):
        return None
    nest = NestBorders(scop, inside, len(loops), long)
    rows = replace(nest, long=long[-1:])
    within = replace(nest, long=[each for each in rows.long if each > 0])  # steps over time are all alike
    everywhere = nest.everywhere
    conditions = list((within if _is_over_time(scop, inside) else nest).of_conditions(everywhere))
    if not conditions and _has_others(scop, [statement]):
        nest = rows  # subscripts chosen further out stay the same along a row
    borders = [*nest.of_choices(), *conditions]
    if not borders:
        return None
    conditional = bool(conditions) or any(rows.of_choices())
    interior = everywhere.subtract(reduce(isl.Set.union, borders).coalesce()).coalesce()
    if interior.n_basic_set() != 1 or (conditions and nest.passes_values(interior)):
        return None
    sides = everywhere.subtract(interior).coalesce().make_disjoint()
    parts = (interior, *map(isl.Set.from_basic_set, sides.get_basic_sets()))
    return _Nest(loops, inside, parts, conditional) if len(parts) <= NEST_PARTS else None


def _has_others(scop: Scop, inside: Sequence[Statement]) -> bool:
    """Whether there are other statements in the outermost loop around the statements ``inside``."""
    around, names = inside[0].iterators[:1], {each.name for each in inside}
    return any(each.iterators[:1] == around and each.name not in names for each in scop.statements)


def _is_over_time(scop: Scop, inside: Sequence[Statement]) -> bool:
    """Whether the outermost loop around the statements ``inside`` has other nests, or writes elements again.

    All their parts depend on each other, and the sides of planes and of grids in space are many: only rows
    are split then, for vectors.
    """
    if _has_others(scop, inside):
        return True
    return len(inside) > 1 and any(
        access.kind is not AccessKind.READ and access.array.extents and not depends_on(access.relation, 0)
        for each in inside
        for access in each.accesses
    )


def _together(scop: Scop, statement: Statement, depth: int) -> set[str]:
    """The names of what runs in the same loop at ``depth`` as ``statement``: copies of loops are apart."""
    for node in filter(is_band, descendants(scop.schedule.get_root())):
        if node.get_schedule_depth() < depth <= node.get_schedule_depth() + node.band_n_member():
            names = {tuple_name(each) for each in sets_of(node.get_domain())}
            if statement.name in names:
                return names
    return {statement.name}


def _chooses_among_own(inside: Sequence[Statement]) -> bool:
    """Whether elements that the statements ``inside`` write are chosen, too: sides depend on each other."""
    return any(
        each.exact and each.relation.n_basic_map() > 1 and is_own(each, inside)
        for statement in inside
        for each in statement.accesses
        if each.array.extents
    )
