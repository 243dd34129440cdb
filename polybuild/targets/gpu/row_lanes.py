"""Rows that the threads of a warp take together: each has every 32nd term, and they combine what they have.

Where the loop of the terms is the only one around but that of the rows, a thread for each row leaves most of
a device idle, and neighbouring threads read elements that are a row apart. A counter more, the lane, says
which thread a term belongs to::

    for i: for j: y[i] += a[i][j] * x[j];   ->   for i: for lane < 32:
                                                   for k: y[i] += a[i][32 * k + lane] * x[32 * k + lane];

Neighbouring lanes touch neighbours in memory, from a multiple of 32 on, wherever the row begins: so it may be
one whose bounds are data, as well. The instances are the same; those of different lanes may run at the same
time, and be combined in any order, by leave to reorder the reduction. How that is done (``placement``, the
accumulator of each thread; ``copy_statements``, the combination) depends on nothing, so results are the same
on every device and in every run.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

import islpy as isl
from pycparser import c_ast

from polybuild.analysis.dependences import Dependences
from polybuild.analysis.reduction_dependences import separate_reduction_dependences
from polybuild.analysis.reductions import LaneCounter, Reduction
from polybuild.c.basic_types import LONG_LONG
from polybuild.c.syntax_tree import names_in, node_count, with_parts
from polybuild.c.synthetic import number, type_name
from polybuild.c.types import IntegerType
from polybuild.poly.relations import maps_of
from polybuild.schedule.scheduler import Fusion, compute_schedule
from polybuild.scop.determined_counters import mentions
from polybuild.scop.duplicates import unused_name
from polybuild.scop.model import DynamicLoop, Scop, Statement
from polybuild.scop.model import Iterator as Counter
from polybuild.targets.base import ReductionParts
from polybuild.targets.gpu.reduction_sessions import (
    Session,
    are_neighbours,
    find_session,
)

_set = isl.dim_type.set
_OPERATORS = frozenset("+*&|^")
"""Those that have a value which changes nothing."""


def share_rows(
    scop: Scop, dependences: Dependences, reductions: Sequence[Reduction], parts: ReductionParts
) -> tuple[Scop, tuple[Reduction, ...]]:
    """``scop`` with those of ``reductions`` in lanes whose rows a warp takes, and what these are now.

    ``reductions`` may be taken out of their order. What else is in the loop of their terms is in lanes, too,
    if one of the two depends on the other.
    ``scop`` itself where no warp gains by it.
    """
    suited = [each for each in reductions if each.operator in _OPERATORS and each.selection is None]
    relaxed = separate_reduction_dependences(scop, dependences, suited)
    if relaxed is dependences:
        return scop, ()
    try:
        schedule = compute_schedule(scop, relaxed, Fusion.MIN, outer_coincidence=True)
    except isl.Error:
        return scop, ()
    rows: dict[tuple[Counter, ...], dict[str, Session]] = {}
    for group in relaxed.reductions:
        for reduction in group.reductions:
            session = find_session(scop, reduction, group.pairs, schedule, parts)
            if session is None or not session.rows:
                continue
            loops = reduction.statement.iterators[: session.lanes[-1][0] + 1]
            inside = [each for each in scop.statements if each.iterators[: len(loops)] == loops]
            if are_neighbours(session, (each for each in inside if each is not reduction.statement)):
                rows.setdefault(loops, {})[reduction.statement.name] = session
    found: list[Reduction] = []
    for loops, sessions in rows.items():
        lanes = _Lanes(scop, loops, parts.of_row, _together(scop, dependences, loops, sessions))
        shared = lanes.shared()
        if shared is not None:
            scop = shared
            found += [lanes.reduction(scop, each.reduction) for each in sessions.values()]
    return scop, tuple(found)


def _together(
    scop: Scop, dependences: Dependences, loops: tuple[Counter, ...], names: Collection[str]
) -> Sequence[Statement]:
    """The statements ``names`` and those in ``loops`` that depend on each other with them.

    All that are there where bounds are data, which are written for all of them.
    """
    inside = [each for each in scop.statements if each.iterators[: len(loops)] == loops]
    if any(each.dynamic for each in inside):
        return inside
    found: set[str] = set()
    pairs = [
        {each.get_tuple_name(isl.dim_type.in_), each.get_tuple_name(isl.dim_type.out)}
        for each in maps_of(dependences.validity)
    ]
    more = set(names)
    while more:
        found |= more
        more = {name for pair in pairs if pair & more for name in pair}.difference(found)
        more &= {each.name for each in inside}
    return [each for each in inside if each.name in found]


class _Lanes:
    """Puts statements ``inside`` of ``loops`` in so many lanes, counted right outside of the last loop."""

    def __init__(
        self, scop: Scop, loops: tuple[Counter, ...], count: int, inside: Sequence[Statement]
    ) -> None:
        self._scop = scop
        self._loops = loops
        self._position = len(loops) - 1
        self._count = count
        self._inside = {each.name: each for each in inside}
        taken = {name for each in inside for name in names_in(each.body)}
        taken |= {counter.name for each in inside for counter in each.iterators}
        self._lane = unused_name("lane", taken)
        self._dynamic: dict[DynamicLoop, DynamicLoop] = {}

    def shared(self) -> Scop | None:
        """The model with lanes; None if a body or the bounds of a loop cannot be written so."""
        position = self._position
        for each in self._inside.values():
            plain = all(abs(loop.step) == 1 and loop.stride is None for loop in each.dynamic)
            inner = any(loop.position > position for loop in each.dynamic)
            if inner or not plain or not isinstance(each.iterators[position].type, IntegerType):
                return None
        to_old = isl.UnionPwMultiAff.empty(self._scop.context.get_space())
        statements = []
        for each in self._scop.statements:
            inside = each.name in self._inside
            function = self._to_old(each) if inside else _identity(each.domain)
            to_old = to_old.union_add(isl.UnionPwMultiAff.from_multi_aff(function))
            statements.append(self._statement(each) if inside else each)
        schedule = self._scop.schedule.pullback_union_pw_multi_aff(to_old)
        return replace(self._scop, statements=tuple(statements), schedule=schedule)

    def reduction(self, scop: Scop, reduction: Reduction) -> Reduction:
        """What ``reduction`` is in the model ``scop`` with lanes."""
        old = reduction.statement
        statement = next(each for each in scop.statements if each.name == old.name)
        relation = reduction.relation.preimage_domain_multi_aff(self._to_old(old))
        return replace(
            reduction,
            statement=statement,
            relation=relation.intersect_domain(statement.domain).coalesce(),
            lanes=LaneCounter(self._position, self._count, tuple(self._inside.values())),
        )

    def _to_old(self, statement: Statement) -> isl.MultiAff:
        """``{ S[d0, ..., p, dk, ...] -> S[d0, ..., count * dk + p, ...] }``."""
        dims = [f"d{position}" for position in range(len(statement.iterators))]
        every = [*dims[: self._position], "p", *dims[self._position :]]
        dims[self._position] = f"{self._count} * d{self._position} + p"
        name = statement.name
        return isl.MultiAff(f"{{ {name}[{', '.join(every)}] -> {name}[{', '.join(dims)}] }}")

    def _statement(self, old: Statement) -> Statement:
        """The statement ``old`` with a lane."""
        position, to_old = self._position, self._to_old(old)
        counter = old.iterators[position]
        assert isinstance(counter.type, IntegerType)  # noqa: S101 - it counts, and who asks has looked
        bounds = isl.Set.universe(to_old.get_space().domain()).lower_bound_val(_set, position, isl.Val(0))
        bounds = bounds.upper_bound_val(_set, position, isl.Val(self._count - 1))
        domain = old.domain.preimage_multi_aff(to_old).intersect(bounds).coalesce()
        scaled = c_ast.BinaryOp("*", number(self._count), c_ast.ID(counter.name))
        value = c_ast.BinaryOp("+", scaled, c_ast.ID(self._lane))
        term = c_ast.Cast(type_name(counter.type), value)
        new: dict[int, c_ast.Node] = {id(each): term for each in mentions(old, position)}
        for each in sorted(old.accesses, key=lambda access: node_count(access.node)):  # inner ones first
            node = with_parts(each.node, new)
            if node is not each.node:  # it has no affine form, and is kept as it is written
                new[id(each.node)] = node
        accesses = []
        for each in old.accesses:
            relation = each.relation.preimage_domain_multi_aff(to_old).intersect_domain(domain)
            within = each.within
            if within is not None and within > position:
                within += 1
            node = new.get(id(each.node), each.node)
            accesses.append(replace(each, relation=relation, within=within, node=node))
        body = with_parts(old.body, new)
        iterators = (
            *old.iterators[:position],
            Counter(self._lane, LONG_LONG, counter.location),
            replace(counter, type=LONG_LONG) if old.dynamic else counter,
            *old.iterators[position + 1 :],
        )
        return replace(
            old,
            domain=domain,
            iterators=iterators,
            body=body,
            accesses=tuple(accesses),
            dynamic=tuple(self._loops_around(old, body)),
        )

    def _loops_around(self, old: Statement, body: c_ast.Node) -> Iterator[DynamicLoop]:
        """The loops around ``body`` whose bounds are data: the one of the terms steps through a lane's."""
        for each in old.dynamic:
            predicate, body = body.cond, body.iftrue
            if each.position < self._position:
                yield each
                continue
            if each not in self._dynamic:
                self._dynamic[each] = self._of_lane(each, predicate)
            yield self._dynamic[each]

    def _of_lane(self, loop: DynamicLoop, predicate: c_ast.Node) -> DynamicLoop:
        """The steps of a lane through ``loop``."""
        upwards, condition = loop.step > 0, loop.header.cond
        strict = condition.op in {"<", ">"}
        operator = ("<" if upwards else ">") + "=" * (not strict)
        end = self._step_of(loop.limit, upwards=upwards is strict)
        test = c_ast.BinaryOp(operator, c_ast.ID(self._loops[-1].name), end)
        return replace(
            loop,
            header=c_ast.For(None, test, None, None, loop.header.coord),
            position=self._position + 1,
            start=self._step_of(loop.start, upwards=upwards),
            limit=end,
            predicate=predicate,
            domain=self._range(loop.domain),
        )

    def _step_of(self, value: c_ast.Node, *, upwards: bool) -> c_ast.Node:
        """The first step of a lane from ``value`` on, upwards or downwards."""
        wide = c_ast.Cast(type_name(LONG_LONG), value)
        distance = c_ast.BinaryOp("-", wide, c_ast.ID(self._lane))
        if upwards:
            distance = c_ast.BinaryOp("+", distance, number(self._count - 1))
        # rounded down, for negative numbers, too, in the languages of devices
        return c_ast.BinaryOp(">>", distance, number(self._count.bit_length() - 1))

    def _range(self, domain: isl.Set) -> isl.Set:
        """The static range of the loop of the terms, with the lane before it."""
        position = self._position
        to_old = isl.MultiAff.identity(domain.get_space().map_from_set())
        space = domain.insert_dims(_set, position, 1).get_space().reset_tuple_id(_set)
        local = isl.LocalSpace.from_space(space)
        values = isl.AffList.alloc(domain.get_ctx(), position + 1)
        for each in range(position):
            values = values.add(isl.Aff.var_on_domain(local, _set, each))
        lane = isl.Aff.var_on_domain(local, _set, position)
        step = isl.Aff.var_on_domain(local, _set, position + 1)
        values = values.add(step.scale_val(isl.Val(self._count)).add(lane))
        target = space.map_from_domain_and_range(to_old.get_space().range())
        bounds = isl.Set.universe(space).lower_bound_val(_set, position, isl.Val(0))
        bounds = bounds.upper_bound_val(_set, position, isl.Val(self._count - 1))
        moved = isl.MultiAff.from_aff_list(target, values)
        return domain.preimage_multi_aff(moved).intersect(bounds).coalesce()


def _identity(domain: isl.Set) -> isl.MultiAff:
    return isl.MultiAff.identity(domain.get_space().map_from_set())
