"""The model of a region in which one reduction is accumulated in parts (see ``partial_results``)."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace

import islpy as isl
from pycparser import c_ast

from polybuild.analysis.reductions import Reduction
from polybuild.c.basic_types import LONG_LONG
from polybuild.c.symbols import StorageClass
from polybuild.c.syntax_tree import duplicate, names_in, walk, with_parts
from polybuild.c.synthetic import number, type_name
from polybuild.c.types import FloatingType, IntegerType, Type
from polybuild.scop.determined_counters import mentions
from polybuild.scop.duplicates import unused_name, unused_names
from polybuild.scop.model import Access, AccessKind, Array, Provenance, Scop, Statement
from polybuild.scop.model import Iterator as Counter
from polybuild.targets.gpu.reduction_sessions import Session, are_neighbours, chosen_counters, stamps_of

_in, _out, _set = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set

_REPEATED = frozenset({"min", "max", "fmin", "fmax", "&", "|"})
"""Operators for which the old value may be combined with more than once."""


class Splitter:
    """Makes the model in which the values of ``session`` are accumulated in parts, ``combined`` to one."""

    def __init__(self, scop: Scop, session: Session, combined: int, *, left: int | None = None) -> None:
        """Of the parts so many are ``left`` for the last statement, ``combined`` if nothing else is said."""
        self._scop = scop
        self._session = session
        self._old = session.reduction.statement
        self._stamps, _ = stamps_of(scop)
        self._counts = [session.parts]
        while self._counts[-1] > (combined if left is None else left):
            self._counts.append(max(1, self._counts[-1] // combined))
        self._adjacent = bool(session.rows) and are_neighbours(session)
        self._names = iter(unused_names(scop, 2 * len(self._counts)))
        self._added: list[Statement] = []
        self._order: list[isl.Map] = []
        self._depth = 2  # of the counters that new statements have besides those that are kept

    def split(self) -> tuple[Scop, list[Statement]]:
        """The model, and the statements that it has more."""
        bundles = [self._bundle(level, count) for level, count in enumerate(self._counts)]
        begin = self._begin(bundles[0])
        terms = self._terms(bundles[0])
        self._add(begin, -1, first=True)
        for level, (source, target) in enumerate(itertools.pairwise(bundles)):
            self._add(self._begin(target), 2 * level + 1)
            self._add(self._combination(source, target), 2 * level + 2)
        self._add(self._result(bundles[-1]), 2 * len(bundles))
        others = [each for each in self._scop.statements if each is not self._old]
        for each in others:
            self._order.append(self._at(self._stamps[each.name], each, 0))
        to_old = isl.Map.from_multi_aff(self._to_old())
        self._order.append(self._at(to_old.apply_range(self._stamps[self._old.name]), terms, 0))
        statements = (*(terms if each is self._old else each for each in self._scop.statements), *self._added)
        arrays = (*self._scop.arrays, *itertools.chain.from_iterable(bundles))
        changed = replace(self._scop, statements=statements, arrays=arrays)
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
        last = (dims[len(self._session.kept) :] if phase else []) + ["0"] * self._depth
        place = ", ".join(last[: self._depth])
        after = isl.Map(f"{{ {statement.name}[{', '.join(dims)}] -> [{phase}, {place}] }}")
        return stamps.intersect_domain(statement.domain).flat_range_product(after)

    # The parts

    def _bundle(self, level: int, count: int) -> tuple[Array, ...]:
        """What so many parts consist of: an array for each number that a part keeps."""
        reduction = self._session.reduction
        return (self._parts(f"{reduction.array.name}_parts{level}", count, reduction.type),)

    def _parts(self, name: str, count: int, kind: IntegerType | FloatingType) -> Array:
        """The array of so many numbers for each row: those that threads side by side touch are neighbours."""
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
        size = isl.PwAff.val_on_domain(isl.Set.universe(space), isl.Val(count))
        name = f"{name}_{old.name}"
        return Array(
            name,
            c_ast.ID(name),
            kind,
            (*columns, size) if self._adjacent else (size, *columns),
            Provenance(StorageClass.LOCAL),
            array.location,
            local=True,
            suffixes=("",) * (1 + len(columns)),
            expanded=array.name,
        )

    def _place(self, part: str) -> str:
        """The subscripts of ``part`` for the row of the counters ``d0, ...``."""
        rows = [f"d{row}" for row in self._session.rows]
        return ", ".join([*rows, part] if self._adjacent else [part, *rows])

    def _count(self, parts: Array) -> int:
        """The number of ``parts``."""
        size = parts.extents[len(self._session.rows) if self._adjacent else 0]
        assert size is not None  # noqa: S101 - parts are counted
        return int(size.max_val().to_python())

    def _to_old(self) -> isl.MultiAff:
        """``{ S[p..., d0, ..., k, ...] -> S[d0, ..., count * k + p, ...] }``."""
        dims = [f"d{position}" for position in range(len(self._old.iterators))]
        lanes = [f"p{position}" for position, _ in self._session.lanes]
        values = list(dims)
        for position, count in self._session.lanes:
            values[position] = f"{count} * d{position} + p{position}"
        name = self._old.name
        return isl.MultiAff(f"{{ {name}[{', '.join(lanes + dims)}] -> {name}[{', '.join(values)}] }}")

    def _terms(self, parts: Sequence[Array]) -> Statement:
        """The terms, each to its part."""
        old, lanes = self._old, self._session.lanes
        domain, to_old = self._terms_domain()
        every, place = self._lane_dims(), self._place(self._lane_place())

        def own(array: Array) -> isl.Map:
            return isl.Map(f"{{ {old.name}[{every}] -> {array.name}[{place}] }}").intersect_domain(domain)

        body, elements = self._accumulation(parts)
        inside = {id(each) for each in walk(body)}
        accesses = [
            replace(each, array=elements[id(each.node)], relation=own(elements[id(each.node)]))
            if id(each.node) in elements
            else replace(
                each, relation=each.relation.preimage_domain_multi_aff(to_old).intersect_domain(domain)
            )
            for each in old.accesses
            if id(each.node) in inside
        ]
        known = {id(each.node) for each in accesses}
        accesses += [
            Access(elements[id(each)], own(elements[id(each)]), AccessKind.MAY_WRITE, each)
            for each in walk(body)
            if id(each) in elements and id(each) not in known
        ]
        changed = replace(old, body=body, accesses=tuple(accesses))
        names = self._lane_names(body)
        counters = [
            replace(old.iterators[position], name=name, type=LONG_LONG)
            for (position, _), name in zip(lanes, names, strict=True)
        ]
        return replace(
            changed,
            domain=domain,
            iterators=(*counters, *old.iterators),
            body=with_parts(body, self._counters(changed, names)),
        )

    def _terms_domain(self) -> tuple[isl.Set, isl.MultiAff]:
        """The instances of the terms with counters of lanes, and the old ones that they are."""
        to_old = self._to_old()
        bounds = " and ".join(f"0 <= p{position} < {count}" for position, count in self._session.lanes)
        lanes = isl.Set(f"{{ {self._old.name}[{self._lane_dims()}] : {bounds} }}")
        return self._old.domain.preimage_multi_aff(to_old).intersect(lanes).coalesce(), to_old

    def _lane_dims(self) -> str:
        """All counters of a term."""
        lanes = [f"p{position}" for position, _ in self._session.lanes]
        return ", ".join([*lanes, *(f"d{position}" for position in range(len(self._old.iterators)))])

    def _lane_place(self) -> str:
        """The number of the part that a term goes to."""
        lanes = self._session.lanes
        return f"{lanes[-1][1]} * p{lanes[0][0]} + p{lanes[-1][0]}" if len(lanes) > 1 else f"p{lanes[0][0]}"

    def _accumulation(self, parts: Sequence[Array]) -> tuple[c_ast.Node, Mapping[int, Array]]:
        """The body of a term, and the array of parts of each node that is one, by identity."""
        return self._old.body, dict.fromkeys(self._session.reduction.own, parts[0])

    def _lane_names(self, body: c_ast.Node) -> list[str]:
        """What counts the parts; ``body`` has other names."""
        taken = {*names_in(body), *(each.name for each in self._old.iterators)}
        return [unused_name(f"p{position}", taken) for position, _ in self._session.lanes]

    def _counters(self, statement: Statement, names: Sequence[str]) -> dict[int, c_ast.Node]:
        """The old counters where the body of ``statement`` mentions them, by the identity of the mention."""
        found: dict[int, c_ast.Node] = {}
        for (position, count), name in zip(self._session.lanes, names, strict=True):
            counter = statement.iterators[position]
            assert isinstance(counter.type, IntegerType)  # noqa: S101 - it counts
            for each in mentions(statement, position):
                scaled = c_ast.BinaryOp("*", number(count), c_ast.ID(counter.name))
                value = c_ast.BinaryOp("+", scaled, c_ast.ID(name))
                found[id(each)] = c_ast.Cast(type_name(counter.type), value, each.coord)
        return found

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

    def _element(self, name: str, domain: isl.Set, parts: Array, part: str) -> Access:
        """A read of the part that ``part`` says, in terms of ``q0`` and ``q1``."""
        kept = self._session.kept
        more = domain.dim(_set) - len(kept)
        dims = ", ".join(
            [*(f"d{position}" for position in kept), *(f"q{position}" for position in range(more))]
        )
        place = self._place(part)
        relation = isl.Map(f"{{ {name}[{dims}] -> {parts.name}[{place}] }}").intersect_domain(domain)
        return Access(parts, relation, AccessKind.READ, c_ast.ID(parts.name))

    def _accumulator(self, domain: isl.Set, reduction: Reduction) -> Access:
        """A read of the accumulator of ``reduction``."""
        own = next(each for each in self._old.accesses if id(each.node) in reduction.own)
        values = chosen_counters(self._old, self._session.kept, "value").intersect_domain(self._old.domain)
        more = domain.dim(_set) - len(self._session.kept)
        here = (
            domain.identity().project_out(_out, len(self._session.kept), more).set_tuple_name(_out, "value")
        )
        relation = here.apply_range(values.reverse()).apply_range(reduction.relation)
        return Access(reduction.array, relation.coalesce(), AccessKind.READ, duplicate(own.node))

    def _begin(self, parts: Sequence[Array]) -> Statement:
        """What each part begins with: what changes nothing, or the old value."""
        name, domain, counters = self._new([self._count(parts[0])])
        target = self._element(name, domain, parts[0], "q0")
        value = self._identity(parts[0].element)
        reads = [] if value else [self._accumulator(domain, self._session.reduction)]
        body = c_ast.Assignment("=", target.node, value or reads[0].node)
        return self._statement(name, domain, counters, body, [*reads, written(target)])

    def _identity(self, kind: Type) -> c_ast.Node | None:
        """What changes no value of ``kind``; None where the old value may be combined with more than once."""
        operator = self._session.reduction.operator
        if operator in _REPEATED:
            return None
        if isinstance(kind, FloatingType) and operator == "+":
            return c_ast.UnaryOp("-", c_ast.Constant("double", "0.0"))  # the sum of 0 and -0 is 0
        return c_ast.Constant("int", "1" if operator in {"*", "&&"} else "0")

    def _combination(self, source: Sequence[Array], target: Sequence[Array]) -> Statement:
        """Parts of parts."""
        count = self._count(target[0])
        name, domain, counters = self._new([count, self._count(source[0]) // count])
        one = self._element(name, domain, target[0], "q0")
        other = self._element(name, domain, source[0], f"q0 + {count} * q1")
        return self._combined(name, domain, counters, one, other)

    def _result(self, source: Sequence[Array]) -> Statement:
        """The accumulator, with the last parts."""
        name, domain, counters = self._new([self._counts[-1]])
        one = self._accumulator(domain, self._session.reduction)
        other = self._element(name, domain, source[0], "q0")
        return self._combined(name, domain, counters, one, other)

    def _combined(
        self, name: str, domain: isl.Set, counters: tuple[Counter, ...], one: Access, other: Access
    ) -> Statement:
        """The statement that combines ``one`` with ``other``."""
        operator = self._session.reduction.operator
        if operator in {"&&", "||"}:
            target = replace(one, node=duplicate(one.node))
            body = c_ast.Assignment("=", target.node, c_ast.BinaryOp(operator, one.node, other.node))
            return self._statement(name, domain, counters, body, [one, other, written(target)])
        if operator not in {"min", "max", "fmin", "fmax"}:
            body = c_ast.Assignment(f"{operator}=", one.node, other.node)
            return self._statement(name, domain, counters, body, [one, other, written(one)])
        if operator in {"min", "max"}:
            again, read = (replace(each, node=duplicate(each.node)) for each in (one, other))
            condition = c_ast.BinaryOp("<" if operator == "min" else ">", other.node, one.node)
            target = replace(one, node=duplicate(one.node))
            body = c_ast.Assignment("=", target.node, c_ast.TernaryOp(condition, read.node, again.node))
            return self._statement(name, domain, counters, body, [one, other, again, read, written(target)])
        suffix = "f" if getattr(self._session.reduction.type, "name", "") == "float" else ""
        call = c_ast.FuncCall(c_ast.ID(operator + suffix), c_ast.ExprList([one.node, other.node]))
        target = replace(one, node=duplicate(one.node))
        body = c_ast.Assignment("=", target.node, call)
        return self._statement(name, domain, counters, body, [one, other, written(target)])

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


def written(access: Access) -> Access:
    """The element of ``access``, written."""
    return replace(access, kind=AccessKind.WRITE)
