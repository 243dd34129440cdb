"""The model of a region in which updates whose elements data choose are made in parts.

Where a device has no atomic operation for an update, or where the order of updates of one element would
show in the result, as in sums of floating-point numbers, each part has elements of its own. A part is of
fixed terms, which it accumulates in their order, and parts are combined in a fixed order::

    for i: h[a[i]] += w[i];       ->    for e, p < P: part[e][p] = 0;
                                        for p < P: for i = p, P + p, ...: part[a[i]][p] += w[i];
                                        ...            P / 32 parts of 32 parts, and so on
                                        for e: for q: h[e] += last[e][q];

So results are the same in every run and on every device. The more elements there are, the fewer are the
parts.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import replace

import islpy as isl
from pycparser import c_ast

from polybuild.analysis.inspectors import Inspector, Inspectors
from polybuild.analysis.reductions import Reduction
from polybuild.c.basic_types import LONG_LONG
from polybuild.c.symbols import StorageClass
from polybuild.c.syntax_tree import duplicate, with_parts
from polybuild.c.synthetic import number
from polybuild.c.types import FloatingType, IntegerType
from polybuild.diagnostics import Unsupported
from polybuild.scop.model import Access, AccessKind, Array, Provenance, Scop, Statement
from polybuild.scop.model import Iterator as Counter
from polybuild.targets.base import ReductionParts
from polybuild.targets.device import InspectedRange
from polybuild.targets.gpu.reduction_sessions import Session, chosen_counters, may_count_otherwise
from polybuild.targets.gpu.split_reductions import Splitter, written
from polybuild.targets.gpu.transfers import corners, variables_read

_set, _param = isl.dim_type.set, isl.dim_type.param


def elements_of(scop: Scop, reduction: Reduction) -> tuple[isl.Set, tuple[InspectedRange, ...]] | None:
    """The box of all elements that may be accumulators of ``reduction``; None if it is not known before.

    Subscripts in it are not negative. If a look at the data tells the last one, that is a parameter of its
    own.
    """
    array, domain = reduction.array, reduction.statement.domain
    measured: tuple[InspectedRange, ...] = ()
    touched = reduction.relation.intersect_domain(domain).intersect_params(scop.context).range()
    try:
        low, high = corners(array, touched)
    except Unsupported:
        return None
    box = isl.Set.universe(touched.get_space()).intersect_params(touched.params())
    space = isl.LocalSpace.from_space(box.get_space())
    if low and low[0] is None:
        inspector = _inspector(scop, reduction)
        if inspector is None:
            return None
        lowest, highest = (f"pb_{end}_of_{reduction.statement.name}" for end in ("lowest", "highest"))
        measured = (InspectedRange(inspector, lowest, highest, counts=True),)
        universe = isl.Set.universe(box.params().get_space())
        low = (isl.PwAff.val_on_domain(universe, isl.Val(0)), *low[1:])
        high = (isl.PwAff(f"[{highest}] -> {{ [({highest})] }}"), *high[1:])
    for dim, (first, last) in enumerate(zip(low, high, strict=True)):
        if first is None or last is None or not _is_counted(first):
            return None
        value = isl.PwAff.var_on_domain(space, _set, dim)
        box = box.intersect(value.le_set(last.insert_domain(box.get_space())))
        box = box.intersect(value.ge_set(first.insert_domain(box.get_space())))
    return box.coalesce(), measured


def _inspector(scop: Scop, reduction: Reduction) -> Inspector | None:
    """What looks at the first subscript of the accumulators, if that may be done before the region."""
    (write,) = (each for each in reduction.statement.accesses if each.kind is not AccessKind.READ)
    found = Inspectors(scop).of(reduction.statement, write)
    written = {
        access.array.name
        for statement in scop.statements
        for access in statement.accesses
        if access.kind is not AccessKind.READ
    }
    return found if found is not None and written.isdisjoint(variables_read(found)) else None


def _is_counted(first: isl.PwAff) -> bool:
    lowest = first.min_val()
    return bool(lowest.is_int() and not lowest.is_neg())


def parts_for(elements: isl.Set, parts: ReductionParts) -> int | None:
    """How many parts suit so many ``elements``; None if there are too many of these."""
    many, few = parts.of_scattered
    count = 1
    for dim in range(elements.dim(_set)):
        high = elements.dim_max_val(dim)
        if not high.is_int():
            return few
        count *= high.to_python() + 1
    if count * few > parts.kept:
        return None
    while many > few and many * count > parts.usual:
        many //= 2
    return many


class ScatteredSplitter(Splitter):
    """Makes the model in which terms go to ``elements`` of parts."""

    def __init__(self, scop: Scop, session: Session, combined: int, elements: isl.Set) -> None:
        super().__init__(scop, session, combined)
        self._elements = elements
        self._levels = len(session.reduction.array.extents)
        self._depth = self._levels + 2

    # The parts

    def _parts(self, name: str, count: int, kind: IntegerType | FloatingType) -> Array:
        """The array of so many numbers for each element: those of threads side by side are neighbours."""
        array = self._session.reduction.array
        space = self._scop.context.get_space().set_from_params()
        one = isl.Val(1)
        sizes = [
            self._elements.dim_max(dim).add_constant_val(one).coalesce().insert_domain(space)
            for dim in range(self._levels)
        ]
        last = isl.PwAff.val_on_domain(isl.Set.universe(space), isl.Val(count))
        name = f"{name}_{self._old.name}"
        return Array(
            name,
            c_ast.ID(name),
            kind,
            (*sizes, last),
            Provenance(StorageClass.LOCAL),
            array.location,
            local=True,
            suffixes=("",) * (1 + self._levels),
            expanded=array.name,
        )

    def _count(self, parts: Array) -> int:
        size = parts.extents[-1]
        assert size is not None  # noqa: S101 - parts are counted
        return int(size.max_val().to_python())

    def _terms(self, parts: Sequence[Array]) -> Statement:
        """The terms, each to its part."""
        old, lanes = self._old, self._session.lanes
        domain, to_old = self._terms_domain()
        names = self._lane_names(old.body)
        every, place = self._lane_dims(), self._lane_place()
        subscripts, name = self._subscripts(), parts[0].name
        array = self._session.reduction.array.name
        touched = isl.Map(f"{{ {array}[{subscripts}] -> {name}[{subscripts}, q] }}")
        own = isl.Map(f"{{ {old.name}[{every}] -> {name}[{subscripts}, {place}] }}").intersect_domain(domain)
        own = own.intersect_range(self._elements.apply(touched))
        counters = self._counters(old, names)
        part = _part(lanes, names)
        new = {
            id(each.node): self._in_part(each.node, name, part, counters)
            for each in old.accesses
            if id(each.node) in self._session.reduction.own
        }
        accesses = tuple(
            replace(each, array=parts[0], relation=own, node=new[id(each.node)])
            if id(each.node) in new
            else replace(
                each, relation=each.relation.preimage_domain_multi_aff(to_old).intersect_domain(domain)
            )
            for each in old.accesses
        )
        lane_counters = (Counter(each, LONG_LONG, old.location) for each in names)
        return replace(
            old,
            domain=domain,
            iterators=(*lane_counters, *old.iterators),
            body=with_parts(old.body, counters | new),
            accesses=accesses,
        )

    def _in_part(
        self, node: c_ast.Node, name: str, part: c_ast.Node, counters: Mapping[int, c_ast.Node]
    ) -> c_ast.Node:
        """The element of a part that stands for that at ``node``, with new ``counters`` in it."""
        subscripts = subscripts_of(node, self._levels)
        assert subscripts is not None  # noqa: S101 - others are left as they are
        own = [with_parts(each, counters) for each in subscripts]
        return functools.reduce(c_ast.ArrayRef, [*own, part], c_ast.ID(name, node.coord))

    # What begins the parts, and what is made of them

    def _instances(self, counts: Sequence[int]) -> tuple[str, isl.Set, tuple[Counter, ...]]:
        """A name, instances for each value, element and counters from 0 to ``counts``, and all counters."""
        name, kept, levels = next(self._names), len(self._session.kept), self._levels
        kept_dims = [f"d{each}" for each in self._session.kept]
        elements = [f"e{dim}" for dim in range(levels)]
        more = [f"q{position}" for position in range(len(counts))]
        bounds = " and ".join(f"0 <= {counter} < {size}" for counter, size in zip(more, counts, strict=True))
        place = ", ".join([*kept_dims, *elements, *more])
        values = chosen_counters(self._old, self._session.kept, "value").intersect_domain(self._old.domain)
        pairs = isl.Map.from_domain_and_range(values.range(), self._elements).wrap()
        array = self._session.reduction.array.name
        pair = f"[value[{', '.join(kept_dims)}] -> {array}[{', '.join(elements)}]]"
        made = isl.Map(f"{{ {pair} -> {name}[{place}] : {bounds} }}")
        counters = [self._old.iterators[position] for position in self._session.kept]
        counters += [Counter(f"{each}_", LONG_LONG, self._old.location) for each in [*elements, *more]]
        assert len(counters) == kept + levels + len(counts)  # noqa: S101
        return name, pairs.apply(made).coalesce(), tuple(counters)

    def _part_at(self, instances: isl.Set, parts: Array, part: str) -> Access:
        """A read of the part that ``part`` says, in terms of ``q0`` and ``q1``."""
        relation = isl.Map(f"{{ {self._head(instances)} -> {parts.name}[{self._subscripts()}, {part}] }}")
        return Access(parts, relation.intersect_domain(instances), AccessKind.READ, c_ast.ID(parts.name))

    def _old_at(self, instances: isl.Set) -> Access:
        """A read of the accumulator."""
        array = self._session.reduction.array
        relation = isl.Map(f"{{ {self._head(instances)} -> {array.name}[{self._subscripts()}] }}")
        own = next(each for each in self._old.accesses if id(each.node) in self._session.reduction.own)
        return Access(array, relation.intersect_domain(instances), AccessKind.READ, duplicate(own.node))

    def _head(self, instances: isl.Set) -> str:
        kept = [f"d{position}" for position in self._session.kept]
        count = instances.dim(_set) - len(kept) - self._levels
        dims = ", ".join([*kept, self._subscripts(), *(f"q{position}" for position in range(count))])
        return f"{instances.get_tuple_name()}[{dims}]"

    def _subscripts(self) -> str:
        return ", ".join(f"e{dim}" for dim in range(self._levels))

    def _begin(self, parts: Sequence[Array]) -> Statement:
        """What each part begins with: what changes nothing, or the old value."""
        name, domain, counters = self._instances([self._count(parts[0])])
        old = self._old_at(domain)
        value, target = self._identity(parts[0].element), self._part_at(domain, parts[0], "q0")
        body = c_ast.Assignment("=", target.node, value or old.node)
        return self._statement(name, domain, counters, body, [*([] if value else [old]), written(target)])

    def _combination(self, source: Sequence[Array], target: Sequence[Array]) -> Statement:
        """Parts of parts."""
        count = self._count(target[0])
        name, domain, counters = self._instances([count, self._count(source[0]) // count])
        one = self._part_at(domain, target[0], "q0")
        other = self._part_at(domain, source[0], f"q0 + {count} * q1")
        return self._combined(name, domain, counters, one, other)

    def _result(self, source: Sequence[Array]) -> Statement:
        """The accumulators, with the last parts."""
        name, domain, counters = self._instances([self._counts[-1]])
        one, other = self._old_at(domain), self._part_at(domain, source[0], "q0")
        return self._combined(name, domain, counters, one, other)


def _part(lanes: Sequence[tuple[int, int]], names: Sequence[str]) -> c_ast.Node:
    """The number of the part that a term in these ``lanes`` goes to."""
    part: c_ast.Node = c_ast.ID(names[0])
    for (_, count), name in zip(lanes[1:], names[1:], strict=True):
        part = c_ast.BinaryOp("+", c_ast.BinaryOp("*", number(count), part), c_ast.ID(name))
    return part


def may_count_scattered(reduction: Reduction, position: int) -> bool:
    """As may_count_otherwise; accumulators are written anew."""
    statement = reduction.statement
    others = [each for each in statement.accesses if id(each.node) not in reduction.own]
    return may_count_otherwise(replace(statement, accesses=tuple(others)), position)


def subscripts_of(node: c_ast.Node, count: int) -> list[c_ast.Node] | None:
    """The ``count`` subscripts of the element at ``node``, outermost first; None if it has others."""
    found: list[c_ast.Node] = []
    while len(found) < count and isinstance(node, c_ast.ArrayRef):
        found.insert(0, node.subscript)
        node = node.name
    return found if len(found) == count and not isinstance(node, c_ast.ArrayRef) else None
