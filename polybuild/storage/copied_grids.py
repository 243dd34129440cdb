"""Statements that copy a grid to another one in each step of a loop over time, as far as their looks go."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import reduce

import islpy as isl
from pycparser import c_ast

from polybuild.c.syntax_tree import always_evaluates
from polybuild.c.types import FloatingType, IntegerType
from polybuild.effort import ALTERNATING_STATEMENTS, STENCIL_STEPS, STORAGE_PERIODS
from polybuild.poly.relations import everywhere, sets_of, tuple_name
from polybuild.poly.spaces import all_parameters
from polybuild.poly.trees import is_band, parts_in_sequence
from polybuild.scop.duplicates import unused_name
from polybuild.scop.model import Access, AccessKind, Array, Scop, Statement
from polybuild.storage.own_memory import allocated_array, extents_for
from polybuild.transform.residue_classes import (
    AlternatingLoop,
    counted_by,
    counted_from,
    counters_of,
    instances_in_phases,
)
from polybuild.values import dataclass

_in, _out, _set = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set


@dataclass(frozen=True, slots=True)
class TimeLoop:
    """A loop over time and its ``statements``, in the order of the text; others run ``before`` and ``after``.

    ``counters`` says what it counts, from 0.
    """

    counters: AlternatingLoop
    statements: tuple[Statement, ...]
    before: tuple[Statement, ...]
    after: tuple[Statement, ...]

    @property
    def instances(self) -> isl.UnionSet:
        """All instances in the loop."""
        return instances_of(self.statements)

    def certain_elements(self, array: Array, *kinds: AccessKind) -> isl.Set | None:
        """The elements of ``array`` with accesses of ``kinds`` whatever the data are; None without any."""
        found = [
            access.relation.intersect_domain(each.domain).range()
            for each in self.statements
            for access in each.accesses_to(array)
            if access.kind in kinds and always_evaluates(each.body, access.node)
        ]
        return reduce(isl.Set.union, found) if found else None

    @property
    def time(self) -> isl.Set:
        """What it counts."""
        return counted_by(self.statements, self.counters.counters)

    def position(self, name: str) -> int:
        """Where the statement ``name`` stands in an iteration."""
        return next(number for number, each in enumerate(self.statements) if each.name == name)

    def last(self, statement: Statement, phase: int) -> isl.Set:
        """The instances of ``statement`` in the last iteration, if that is one of ``phase``."""
        counter = isl.Map.from_pw_aff(self.counters.counters[statement.name])
        at_last = counter.intersect_range(self.time.lexmax()).domain()
        return instances_in_phases(statement, self.counters)[phase].intersect(at_last)


@dataclass(frozen=True, slots=True)
class CopiedGrid:
    """A statement that copies between the grid ``main``, which steps read and make anew, and ``scratch``.

    It comes ``first`` in a step, or last. ``to_main`` has the element of ``main`` for each of ``scratch``;
    the ``other`` grid may take turns with ``main`` where ``bounds`` hold. That is ``scratch`` itself, with
    the subscripts of ``main``, or one that the region allocates.
    """

    copy: Statement
    main: Array
    scratch: Array
    first: bool
    to_main: isl.Map
    other: Array
    bounds: isl.Set

    @property
    def is_in_place(self) -> bool:
        """Whether the two grids that the program has take turns."""
        return self.other.name == self.scratch.name

    def has(self, access: Access) -> bool:
        """Whether ``access`` is one of the two grids that the program has."""
        return access.array.name in {self.main.name, self.scratch.name}

    def is_next(self, position: int, access: Access, loop: TimeLoop) -> bool:
        """Whether ``access`` of the statement at ``position`` is about what this step makes, by its looks."""
        writes = access.kind is not AccessKind.READ
        if not self.first:
            copied = position > loop.position(self.copy.name)
            return writes or copied or access.array.name == self.scratch.name
        if access.array.name == self.scratch.name:
            return False
        made = min(number for number, each in enumerate(loop.statements) if _writes(each, self.main))
        return writes or position > made

    def on(self, array: Array, access: Access) -> Access:
        """``access``, of one of the grids, as one of ``array``, which has the elements of ``main``."""
        relation = access.relation
        if access.array.name == self.scratch.name:
            relation = relation.apply_range(self.to_main)
        return replace(access, array=array, relation=relation.set_tuple_name(_out, array.name))

    def elements(self, statement: Statement, access: Access) -> isl.Set:
        """The elements of ``main`` that ``access`` of ``statement`` is about."""
        return self.on(self.main, access).relation.intersect_domain(statement.domain).range()


def instances_of(statements: Sequence[Statement]) -> isl.UnionSet:
    """All instances of ``statements``."""
    return reduce(isl.UnionSet.union, (isl.UnionSet.from_set(each.domain) for each in statements))


def _writes(statement: Statement, array: Array) -> bool:
    return any(each.kind is not AccessKind.READ for each in statement.accesses_to(array))


def loops_over_time(scop: Scop) -> Iterator[TimeLoop]:
    """The outermost loops of ``scop`` around loops, if no condition is around them, of enough steps."""
    parts = [
        (node, {tuple_name(each) for each in sets_of(node.get_domain())})
        for node in parts_in_sequence(scop.schedule.get_root().child(0))
    ]
    place = {each.name: at for at, each in enumerate(scop.statements)}
    for number, (node, names) in enumerate(parts):
        inside = tuple(scop.statements[at] for at in sorted(place[each] for each in names))
        if len(inside) <= 1:
            continue  # a step computes a grid, and copies it
        plain = is_band(node) and node.band_n_member() == 1 and not any(each.dynamic for each in inside)
        deep = all(len(each.iterators) > 1 for each in inside)
        if not (plain and deep) or len(inside) > ALTERNATING_STATEMENTS // STORAGE_PERIODS[0]:
            continue
        counters = _counted(node, inside)
        if counters is not None:
            around = (
                set[str]().union(*(each for _, each in some))
                for some in (parts[:number], parts[number + 1 :])
            )
            before, after = (tuple(each for each in scop.statements if each.name in some) for some in around)
            yield TimeLoop(counters, inside, before, after)


def _counted(band: isl.ScheduleNode, inside: Sequence[Statement]) -> AlternatingLoop | None:
    """The loop ``band``, counted from 0; None if it has no first iteration, or certainly few of them."""
    counters = counters_of(band)
    time = counted_by(inside, counters)
    if not time.dim_has_lower_bound(_set, 0):
        return None
    pieces = time.dim_min(0).coalesce().get_pieces()
    if len(pieces) != 1 or pieces[0][1].dim(isl.dim_type.div):
        return None
    first = isl.PwAff.from_aff(pieces[0][1])
    steps = time.dim_max_val(0).sub(time.dim_min_val(0))
    if steps.is_int() and steps.to_python() + 1 < STENCIL_STEPS:
        return None
    moved = {name: counted_from(each, first) for name, each in counters.items()}
    return AlternatingLoop(band.get_schedule_depth(), moved, STORAGE_PERIODS[0], first)


def grids_in_turn(loop: TimeLoop) -> Iterator[CopiedGrid]:
    """The copies in ``loop`` that look as if they could go, of grids that could take turns themselves."""
    used: set[str] = set()
    for statement in loop.statements:
        found = _copied_grid(statement, loop)
        if found is not None and used.isdisjoint({found.main.name, found.scratch.name}):
            subscripts = found.to_main.set_tuple_name(_out, found.scratch.name)
            alike = subscripts.dim(_in) == subscripts.dim(_out)
            if alike and subscripts.is_equal(isl.Map.identity(subscripts.get_space())):
                used |= {found.main.name, found.scratch.name}
                yield replace(found, other=found.scratch)


def copied_grids(scop: Scop, loop: TimeLoop, taken: Collection[str]) -> Iterator[CopiedGrid]:
    """The copies in ``loop`` that look as if they could go, of grids that no other of them is about.

    The region allocates the grids that would take turns with theirs, with names that are not ``taken``. They
    do where steps are enough to be worth the memory.
    """
    used: set[str] = set()
    names = {*taken, *(each.name for each in scop.arrays)}
    for statement in loop.statements:
        found = _copied_grid(statement, loop)
        if found is None or not used.isdisjoint({found.main.name, found.scratch.name}):
            continue
        name = unused_name(f"polybuild_{found.main.name}", names)
        elements = [
            found.elements(each, access)
            for each in loop.statements
            for access in each.accesses
            if found.has(access)
        ]
        touched = reduce(isl.Set.union, elements).coalesce().intersect_params(scop.context)
        inside = touched.intersect(isl.Set.nat_universe(touched.get_space()))
        steps = counted_by([statement], loop.counters.counters)
        enough = steps.lower_bound_val(_set, 0, isl.Val(STENCIL_STEPS - 1))
        bounds = touched.subtract(inside).params().complement().intersect(enough.params()).coalesce()
        extents = extents_for(inside.intersect_params(bounds), found.main)
        if extents is not None:
            names.add(name)
            used |= {found.main.name, found.scratch.name}
            yield replace(found, other=allocated_array(name, extents, found.main), bounds=bounds)


def _copied_grid(statement: Statement, loop: TimeLoop) -> CopiedGrid | None:
    """The grids that ``statement`` copies one to the other, as far as it is seen without their elements."""
    body = statement.body
    if not isinstance(body, c_ast.Assignment) or body.op != "=" or len(statement.accesses) != 2:
        return None
    read, write = statement.accesses
    if body.lvalue is not write.node or body.rvalue is not read.node or write.kind is not AccessKind.WRITE:
        return None
    source, target = read.array, write.array
    users = [each for each in loop.statements if each is not statement]
    if source.name == target.name or source.element != target.element:
        return None
    if not all(_is_plain(each, loop) for each in (source, target)):
        return None
    makers = [loop.statements.index(each) for each in users if _writes(each, source)]
    at = loop.statements.index(statement)
    if not makers or min(makers) < at < max(makers):
        return None
    first = at < min(makers)
    main, scratch = (source, target) if first else (target, source)
    if first and any(_writes(each, scratch) for each in users):
        return None
    relation = read.relation.reverse().apply_range(write.relation)
    relation = relation.reverse() if first else relation
    if not relation.is_bijective():
        return None
    function = everywhere(isl.PwMultiAff.from_map(relation.coalesce()))
    return CopiedGrid(
        statement, main, scratch, first, isl.Map.from_pw_multi_aff(function), main, all_parameters()
    )


def _is_plain(array: Array, loop: TimeLoop) -> bool:
    """Whether ``array`` has numbers, each access of one of which is known."""
    provenance = array.provenance
    return (
        bool(array.extents)
        and isinstance(array.element, IntegerType | FloatingType)
        and not array.local
        and not any(array.suffixes)
        and provenance.interleaving is None
        and all(
            each.exact and each.kind is not AccessKind.MAY_WRITE
            for one in loop.statements
            for each in one.accesses_to(array)
        )
    )
