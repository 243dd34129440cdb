"""Reductions in parallel on a device: parts that threads accumulate, and their combination.

Where the only loops of an accumulation that could run in parallel are those of its terms, or one more,
threads accumulate a part of the terms each (cyclically, so neighbours touch neighbours), and the parts
are combined in the same way, until few are left::

    for i: s += a[i];       ->    for p < P: part[p] = 0;
                                  for p < P: for k: part[p] += a[P * k + p];
                                  ...               P / 32 parts of 32 parts, and so on
                                  for q < 32: s += last[q];

The number of parts and the order in which they are combined depend on nothing: results are the same on every
device and in every run. It is written as a model like any other, with dependences that are computed
anew, so kernels are found and proved as always. What is relied on is that the terms of a reduction may be
combined in any order (Doerfert et al., 2015; see ``analysis.reductions``), and that nobody looks at the
accumulator between the first term and the last: that is asked of the time stamps in the original order.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from dataclasses import replace

import islpy as isl
from pycparser import c_ast

from polybuild.analysis.dependences import Dependences
from polybuild.analysis.reduction_dependences import separate_reduction_dependences
from polybuild.analysis.reductions import Reduction
from polybuild.c.basic_types import LONG_LONG
from polybuild.c.symbols import StorageClass
from polybuild.c.syntax_tree import duplicate
from polybuild.c.types import FloatingType
from polybuild.schedule.scheduler import Fusion, compute_schedule
from polybuild.scop.duplicates import unused_names
from polybuild.scop.model import Access, AccessKind, Array, Provenance, Scop, Statement
from polybuild.scop.model import Iterator as Counter
from polybuild.targets.base import ReductionParts
from polybuild.targets.gpu.reduction_sessions import (
    Session,
    chosen_counters,
    find_session,
    is_undisturbed,
    stamps_of,
)

_in, _out, _set = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set

_REPEATED = frozenset({"min", "max", "fmin", "fmax", "&", "|"})
"""Operators for which the old value may be combined with more than once."""


def with_partial_results(
    scop: Scop, dependences: Dependences, reductions: Sequence[Reduction], parts: ReductionParts
) -> Scop:
    """``scop`` with ``reductions`` in ``parts`` where threads gain by it; ``scop`` itself where none does.

    ``reductions`` are those that may be taken out of their order.
    """
    plain = [each for each in reductions if not each.statement.dynamic]
    relaxed = separate_reduction_dependences(scop, dependences, plain)
    if relaxed is dependences:
        return scop
    try:
        schedule = compute_schedule(scop, relaxed, Fusion.MIN, outer_coincidence=True)
    except isl.Error:
        return scop
    for group in relaxed.reductions:
        own = {node for each in group.reductions for node in each.own}
        for reduction in group.reductions:
            session = find_session(scop, reduction, group.pairs, schedule, parts)
            if session is not None and is_undisturbed(scop, session, own):
                scop, added = _Splitter(scop, session, parts.combined).split()
                own |= {id(access.node) for each in added for access in each.accesses}
    return scop


class _Splitter:
    """Makes the model in which the values of ``session`` are accumulated in parts, ``combined`` to one."""

    def __init__(self, scop: Scop, session: Session, combined: int) -> None:
        self._scop = scop
        self._session = session
        self._old = session.reduction.statement
        self._stamps, _ = stamps_of(scop)
        self._combined_parts = combined
        self._counts = [session.parts]
        while self._counts[-1] > combined:
            self._counts.append(self._counts[-1] // combined)
        self._names = iter(unused_names(scop, 2 * len(self._counts)))
        self._added: list[Statement] = []
        self._order: list[isl.Map] = []

    def split(self) -> tuple[Scop, list[Statement]]:
        """The model, and the statements that it has more."""
        arrays = [self._parts(level, count) for level, count in enumerate(self._counts)]
        begin = self._begin(arrays[0])
        terms = self._terms(arrays[0])
        self._add(begin, -1, first=True)
        for level, (source, target) in enumerate(itertools.pairwise(arrays)):
            self._add(self._begin(target), 2 * level + 1)
            self._add(self._combination(source, target, level), 2 * level + 2)
        self._add(self._result(arrays[-1]), 2 * len(arrays))
        others = [each for each in self._scop.statements if each is not self._old]
        for each in others:
            self._order.append(self._at(self._stamps[each.name], each, 0))
        to_old = isl.Map.from_multi_aff(self._to_old())
        self._order.append(self._at(to_old.apply_range(self._stamps[self._old.name]), terms, 0))
        statements = (*(terms if each is self._old else each for each in self._scop.statements), *self._added)
        changed = replace(self._scop, statements=statements, arrays=(*self._scop.arrays, *arrays))
        order = functools.reduce(isl.UnionMap.union, map(isl.UnionMap.from_map, self._order))
        band = isl.MultiUnionPwAff.from_union_map(order)
        schedule = isl.Schedule.from_domain(changed.domain).insert_partial_schedule(band)
        return replace(changed, schedule=schedule), self._added

    # Their order: the time stamp of the first or the last term, and what comes then

    def _add(self, statement: Statement, phase: int, *, first: bool = False) -> None:
        kept = range(len(self._session.kept))
        values = chosen_counters(self._old, self._session.kept, "value").intersect_domain(self._old.domain)
        when = values.reverse().apply_range(self._stamps[self._old.name])
        when = when.lexmin() if first else when.lexmax()
        self._order.append(
            self._at(chosen_counters(statement, kept, "value").apply_range(when), statement, phase)
        )
        self._added.append(statement)

    def _at(self, stamps: isl.Map, statement: Statement, phase: int) -> isl.Map:
        """``stamps`` of the instances, with the phase and the last counters of new statements after them."""
        dims = [f"d{position}" for position in range(len(statement.iterators))]
        last = (dims[len(self._session.kept) :] if phase else []) + ["0", "0"]
        after = isl.Map(f"{{ {statement.name}[{', '.join(dims)}] -> [{phase}, {last[0]}, {last[1]}] }}")
        return stamps.intersect_domain(statement.domain).flat_range_product(after)

    # The parts

    def _parts(self, level: int, count: int) -> Array:
        """The array of so many parts, with a column for each row."""
        old, array = self._old, self._session.reduction.array
        space = self._scop.context.get_space().set_from_params()
        columns = [
            old.domain.intersect_params(self._scop.context)
            .dim_max(row)
            .add_constant_val(isl.Val(1))
            .coalesce()
            .insert_domain(space)
            for row in self._session.rows
        ]
        name = f"{array.name}_parts{level}_{old.name}"
        return Array(
            name,
            c_ast.ID(name),
            self._session.reduction.type,
            (isl.PwAff.val_on_domain(isl.Set.universe(space), isl.Val(count)), *columns),
            Provenance(StorageClass.LOCAL),
            array.location,
            local=True,
            suffixes=("",) * (1 + len(columns)),
            expanded=array.name,
        )

    def _to_old(self) -> isl.MultiAff:
        """``{ S[p..., d0, ..., k, ...] -> S[d0, ..., count * k + p, ...] }``."""
        dims = [f"d{position}" for position in range(len(self._old.iterators))]
        lanes = [f"p{position}" for position, _ in self._session.lanes]
        values = list(dims)
        for position, count in self._session.lanes:
            values[position] = f"{count} * d{position} + p{position}"
        name = self._old.name
        return isl.MultiAff(f"{{ {name}[{', '.join(lanes + dims)}] -> {name}[{', '.join(values)}] }}")

    def _terms(self, parts: Array) -> Statement:
        """The terms, each to its part."""
        old, lanes = self._old, self._session.lanes
        to_old = self._to_old()
        dims = [f"d{position}" for position in range(len(old.iterators))]
        every = ", ".join([f"p{position}" for position, _ in lanes] + dims)
        bounds = " and ".join(f"0 <= p{position} < {count}" for position, count in lanes)
        domain = old.domain.preimage_multi_aff(to_old)
        domain = domain.intersect(isl.Set(f"{{ {old.name}[{every}] : {bounds} }}")).coalesce()
        part = f"{lanes[-1][1]} * p{lanes[0][0]} + p{lanes[-1][0]}" if len(lanes) > 1 else f"p{lanes[0][0]}"
        place = ", ".join([part, *(f"d{row}" for row in self._session.rows)])
        own = isl.Map(f"{{ {old.name}[{every}] -> {parts.name}[{place}] }}").intersect_domain(domain)
        accesses = tuple(
            replace(each, array=parts, relation=own)
            if id(each.node) in self._session.reduction.own
            else replace(
                each, relation=each.relation.preimage_domain_multi_aff(to_old).intersect_domain(domain)
            )
            for each in old.accesses
        )
        counters = [
            replace(old.iterators[position], name=f"p{position}", type=LONG_LONG) for position, _ in lanes
        ]
        return replace(old, domain=domain, iterators=(*counters, *old.iterators), accesses=accesses)

    def _new(self, extents: Sequence[int]) -> tuple[str, isl.Set, tuple[Counter, ...]]:
        """A name, instances for each value and counters from 0 to ``extents``, and all of its counters."""
        name, kept = next(self._names), self._session.kept
        dims = [f"d{position}" for position in range(len(self._old.iterators))]
        more = [f"q{position}" for position in range(len(extents))]
        bounds = " and ".join(f"0 <= {counter} < {size}" for counter, size in zip(more, extents, strict=True))
        place = ", ".join([dims[position] for position in kept] + more)
        instances = isl.Map(f"{{ {self._old.name}[{', '.join(dims)}] -> {name}[{place}] : {bounds} }}")
        counters = [self._old.iterators[position] for position in kept]
        counters += [Counter(each, LONG_LONG, self._old.location) for each in more]
        return name, self._old.domain.apply(instances).coalesce(), tuple(counters)

    def _element(self, name: str, domain: isl.Set, parts: Array, part: str, node: c_ast.Node) -> Access:
        """A read of the part that ``part`` says, in terms of ``q0`` and ``q1``."""
        kept = self._session.kept
        more = domain.dim(_set) - len(kept)
        dims = ", ".join(
            [*(f"d{position}" for position in kept), *(f"q{position}" for position in range(more))]
        )
        place = ", ".join([part, *(f"d{row}" for row in self._session.rows)])
        relation = isl.Map(f"{{ {name}[{dims}] -> {parts.name}[{place}] }}").intersect_domain(domain)
        return Access(parts, relation, AccessKind.READ, node)

    def _accumulator(self, domain: isl.Set, node: c_ast.Node) -> Access:
        """A read of the accumulator."""
        values = chosen_counters(self._old, self._session.kept, "value").intersect_domain(self._old.domain)
        more = domain.dim(_set) - len(self._session.kept)
        here = (
            domain.identity().project_out(_out, len(self._session.kept), more).set_tuple_name(_out, "value")
        )
        relation = here.apply_range(values.reverse()).apply_range(self._session.reduction.relation)
        return Access(self._session.reduction.array, relation.coalesce(), AccessKind.READ, node)

    def _begin(self, parts: Array) -> Statement:
        """What each part begins with: what changes nothing, or the old value."""
        size = parts.extents[0]
        assert size is not None  # noqa: S101 - parts are counted
        name, domain, counters = self._new([size.max_val().to_python()])
        target = self._element(name, domain, parts, "q0", c_ast.ID(parts.name))
        operator = self._session.reduction.operator
        reads: list[Access] = []
        value: c_ast.Node
        if operator in _REPEATED:
            value = self._accumulator_node()
            reads = [self._accumulator(domain, value)]
        elif isinstance(parts.element, FloatingType) and operator == "+":
            value = c_ast.UnaryOp("-", c_ast.Constant("double", "0.0"))  # the sum of 0 and -0 is 0
        else:
            value = c_ast.Constant("int", "1" if operator == "*" else "0")
        body = c_ast.Assignment("=", target.node, value)
        return self._statement(name, domain, counters, body, [*reads, _written(target)])

    def _combination(self, source: Array, target: Array, level: int) -> Statement:
        """Parts of parts."""
        count = self._counts[level + 1]
        name, domain, counters = self._new([count, self._combined_parts])
        one = self._element(name, domain, target, "q0", c_ast.ID(target.name))
        other = self._element(name, domain, source, f"q0 + {count} * q1", c_ast.ID(source.name))
        return self._combined(name, domain, counters, one, other)

    def _result(self, source: Array) -> Statement:
        """The accumulator, with the last parts."""
        name, domain, counters = self._new([self._counts[-1]])
        one = self._accumulator(domain, self._accumulator_node())
        other = self._element(name, domain, source, "q0", c_ast.ID(source.name))
        return self._combined(name, domain, counters, one, other)

    def _accumulator_node(self) -> c_ast.Node:
        own = next(each for each in self._old.accesses if id(each.node) in self._session.reduction.own)
        return duplicate(own.node)

    def _combined(
        self, name: str, domain: isl.Set, counters: tuple[Counter, ...], one: Access, other: Access
    ) -> Statement:
        """The statement that combines ``one`` with ``other``."""
        operator = self._session.reduction.operator
        if operator not in {"min", "max", "fmin", "fmax"}:
            body: c_ast.Node = c_ast.Assignment(f"{operator}=", one.node, other.node)
            return self._statement(name, domain, counters, body, [one, other, _written(one)])
        if operator in {"min", "max"}:
            again, read = (replace(each, node=duplicate(each.node)) for each in (one, other))
            condition = c_ast.BinaryOp("<" if operator == "min" else ">", other.node, one.node)
            target = replace(one, node=duplicate(one.node))
            body = c_ast.Assignment("=", target.node, c_ast.TernaryOp(condition, read.node, again.node))
            return self._statement(name, domain, counters, body, [one, other, again, read, _written(target)])
        suffix = "f" if getattr(self._session.reduction.type, "name", "") == "float" else ""
        call = c_ast.FuncCall(c_ast.ID(operator + suffix), c_ast.ExprList([one.node, other.node]))
        target = replace(one, node=duplicate(one.node))
        body = c_ast.Assignment("=", target.node, call)
        return self._statement(name, domain, counters, body, [one, other, _written(target)])

    def _statement(
        self,
        name: str,
        domain: isl.Set,
        counters: tuple[Counter, ...],
        body: c_ast.Node,
        accesses: Sequence[Access],
    ) -> Statement:
        old = self._old
        return Statement(name, domain, counters, body, tuple(accesses), old.location, old.end_line)


def _written(access: Access) -> Access:
    return replace(access, kind=AccessKind.WRITE)
