"""Variables that each step over a grid sets anew, computed for all steps before these.

::

    for t:                                       for t: now += dt; now_each[t] = now;
      now += dt;                           ->    for t:
      for i: for j: b[i][j] = f(a, now)            for i: for j: b[i][j] = f(a, now_each[t])
      for i: for j: a[i][j] = b[i][j]              for i: for j: a[i][j] = b[i][j]

A time step that shrinks, a time that adds up, a relaxation factor that follows from the last one: one
variable for all steps would keep these apart, as all points read it. This is scalar expansion (D. Padua,
M. Wolfe, "Advanced compiler optimizations for supercomputers", 1986) along the loop over time, after
distribution of that loop: what sets such variables reads nothing else that the loop sets. There they have an
array of the region's own for each place of a step at which others read them, so that these find the same.
Loops over steps may be in others, as over blocks of steps with a norm behind each.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial, reduce

import islpy as isl
from pycparser import c_ast

from polybuild.c.symbols import StorageClass
from polybuild.c.syntax_tree import duplicate, walk
from polybuild.c.synthetic import declarator
from polybuild.c.types import FloatingType, IntegerType
from polybuild.effort import SPLITTING_OPERATIONS, STENCIL_STEPS
from polybuild.poly.budget import found_within
from polybuild.poly.relations import equal_outer, maps_of, sets_of, tuple_name
from polybuild.poly.spaces import constant_value
from polybuild.poly.trees import descendants, is_band, parts_in_sequence
from polybuild.scop.duplicates import order_of_copies, unused_name, unused_names
from polybuild.scop.model import Access, AccessKind, Array, Assumption, Provenance, Scop, Statement
from polybuild.transform.residue_classes import counted_by, counted_from, counters_of
from polybuild.values import dataclass

_in, _out, _set = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set

_Element = tuple[str, tuple[int, ...]]
"""The name of an array and the subscripts of one of its elements: a variable has none."""


def expand_step_values(scop: Scop, taken: Collection[str]) -> Scop:
    """``scop`` with the variables that steps set computed before them; itself if there are none.

    Their values are in memory that the region allocates, under names that are not ``taken``.
    """
    depths = {len(each.iterators) for each in scop.statements}
    if scop.exits is not None or len(depths - {0}) < 2:
        return scop
    return found_within(SPLITTING_OPERATIONS, partial(_expanded, scop, taken)) or scop


def _expanded(scop: Scop, taken: Collection[str]) -> Scop:
    for node in filter(is_band, descendants(scop.schedule.get_root())):
        steps = steps_of(scop, node)
        setting = frozenset[str]() if steps is None else _setting(steps)
        if steps is None or not setting:
            continue
        loops = _distributed(scop, steps, setting, {*taken, *(each.name for each in scop.arrays)})
        if loops is not None:
            return _with_loops(scop, steps, loops)
    return scop


@dataclass(frozen=True, slots=True)
class TimeStepLoop:
    """The loop ``band`` over time, with what it runs in each step, and its ``counters`` by statement.

    It and those around it tell when instances run, as ``times``; it counts from ``first`` on.
    """

    band: isl.ScheduleNode
    items: tuple[tuple[Statement, ...], ...]
    counters: dict[str, isl.PwAff]
    times: dict[str, isl.Map]
    first: isl.PwAff

    @property
    def statements(self) -> tuple[Statement, ...]:
        """All that it runs."""
        return tuple(each for item in self.items for each in item)

    @property
    def depth(self) -> int:
        """How many loops are around what a step does first: itself, too."""
        return 1 + int(self.band.get_schedule_depth())

    def has_once(self, statement: Statement) -> bool:
        """Whether a step runs ``statement`` at most once: not at points, though perhaps for one colour."""
        return bool(self.times[statement.name].intersect_domain(statement.domain).is_injective())

    @property
    def counts(self) -> isl.Set:
        """What it counts."""
        return counted_by(self.statements, self.counters)


def steps_of(scop: Scop, band: isl.ScheduleNode) -> TimeStepLoop | None:
    """The loop ``band``, if it makes enough steps, from a known one on, over points of grids."""
    if band.band_n_member() != 1:
        return None
    named = {each.name: each for each in scop.statements}
    bodies = [sets_of(each.get_domain()) for each in parts_in_sequence(band.child(0))]
    items = tuple(tuple(named[tuple_name(each)] for each in body) for body in bodies)
    inside, depth = [each for item in items for each in item], band.get_schedule_depth()
    points = [each for each in inside if len(each.iterators) > 1 + depth]
    if not points or any(each.dynamic for each in inside):
        return None
    times = band.child(0).get_prefix_schedule_union_map().intersect_domain(band.get_domain())
    own = {each.get_tuple_name(_in): each for each in maps_of(times)}
    if not any(_writes_again(each, own[each.name]) for each in points) or not _has_neighbours(points):
        return None
    counters = counters_of(band)
    counts = counted_by(inside, counters).intersect_params(scop.context)
    first = _first(counts)
    few = counts.dim_max_val(0).sub(counts.dim_min_val(0))
    if first is None or (few.is_int() and few.to_python() + 1 < STENCIL_STEPS):
        return None
    return TimeStepLoop(band, items, counters, own, first)


def _writes_again(statement: Statement, times: isl.Map) -> bool:
    """Whether ``statement``, which runs at ``times``, sets elements again in the innermost loop of these."""
    depth = times.dim(_out)
    for access in writes_of(statement):
        if access.array.extents:
            written = access.relation.intersect_domain(statement.domain).apply_domain(times)
            together = equal_outer(written.apply_range(written.reverse()), depth - 1)
            if not together.is_subset(equal_outer(together, depth)):
                return True
    return False


def _has_neighbours(points: Sequence[Statement]) -> bool:
    """Whether ``points`` use several elements each of an array that they set, as sums in one do not."""
    written = {each.array.name for one in points for each in writes_of(one) if each.array.extents}
    for point in points:
        for name in written:
            accesses = [each for each in point.accesses if each.array.name == name]
            used = [each.relation.intersect_domain(point.domain) for each in accesses]
            if not all(each.is_equal(used[0]) for each in used):
                return True
    return False


def _first(counts: isl.Set) -> isl.PwAff | None:
    """The smallest of ``counts``, a number or a value of the parameters; None if it is neither."""
    if not (counts.dim_has_upper_bound(_set, 0) and counts.dim_has_lower_bound(_set, 0)):
        return None
    smallest = counts.dim_min_val(0)
    if smallest.is_int():
        return isl.PwAff.val_on_domain(isl.Set.universe(counts.get_space().params()), smallest)
    pieces = counts.dim_min(0).coalesce().get_pieces()
    plain = len(pieces) == 1 and not pieces[0][1].dim(isl.dim_type.div)
    return isl.PwAff.from_aff(pieces[0][1]) if plain else None


def _setting(steps: TimeStepLoop) -> frozenset[str]:
    """The names of the statements that set variables alone, from these and from what no step sets."""
    found = {
        item[0].name: item[0]
        for item in steps.items
        if len(item) == 1 and steps.has_once(item[0]) and _elements(item[0])
    }
    while True:
        others = [each for each in steps.statements if each.name not in found]
        arrays = {access.array.name for each in others for access in writes_of(each)}
        mixed = [
            name for name, each in found.items() if any(one.array.name in arrays for one in each.accesses)
        ]
        if not mixed:
            break
        for name in mixed:
            del found[name]
    own = {name for each in found.values() for name, _ in _elements(each)}
    uses = [access for each in others for access in each.accesses if access.array.name in own]
    return frozenset(found) if all(_element(each) is not None for each in uses) else frozenset()


def _elements(statement: Statement) -> frozenset[_Element]:
    """What variables, or elements that have numbers, ``statement`` sets; none if it sets anything else."""
    found = {_element(each) for each in writes_of(statement)}
    known = frozenset(each for each in found if each is not None)
    return known if len(known) == len(found) else frozenset()


def _element(access: Access) -> _Element | None:
    """The place of ``access``, if that is the same in all steps."""
    if not (access.exact and isinstance(access.array.element, IntegerType | FloatingType)):
        return None
    if access.array.is_scalar:
        return access.array.name, ()
    if not access.relation.is_single_valued():
        return None
    element = isl.PwMultiAff.from_map(access.relation)
    numbers = [constant_value(element.get_pw_aff(each)) for each in range(element.dim(_out))]
    known = tuple(each for each in numbers if each is not None)
    return (access.array.name, known) if len(known) == len(numbers) else None


def writes_of(statement: Statement) -> list[Access]:
    """What ``statement`` writes, or may."""
    return [each for each in statement.accesses if each.kind is not AccessKind.READ]


@dataclass(frozen=True, slots=True)
class _ValueUse:
    """A ``read`` of ``place`` in ``statement``, where so many statements of the step have set it."""

    place: _Element
    version: int
    statement: Statement
    read: Access


def _uses(steps: TimeStepLoop, setting: frozenset[str]) -> list[_ValueUse]:
    """What other statements read of what those ``setting`` variables set, in the order of a step."""
    own = [item[0] for item in steps.items if item[0].name in setting]
    versions = dict.fromkeys(frozenset[_Element]().union(*map(_elements, own)), 0)
    arrays = {name for name, _ in versions}
    found = []
    for item in steps.items:
        if item[0].name in setting:
            versions |= {place: 1 + versions[place] for place in _elements(item[0])}
            continue
        for statement in item:
            for read in statement.accesses:
                place = _element(read) if read.array.name in arrays else None
                if place is not None and place in versions:
                    found.append(_ValueUse(place, versions[place], statement, read))
    return found


@dataclass(frozen=True, slots=True)
class _Distributed:
    """What a loop over time becomes: one that sets variables, as they follow each other, and the others.

    What keeps values runs when another statement does that sets variables: ``like`` has the names of both.
    """

    setting: tuple[Statement, ...]
    others: tuple[Statement, ...]
    arrays: tuple[Array, ...]
    like: dict[str, str]


def _distributed(
    scop: Scop, steps: TimeStepLoop, setting: frozenset[str], taken: set[str]
) -> _Distributed | None:
    """The loops of variables and of others; None if these mention a variable but for its value.

    Or if one is read in steps in which no variable is set.
    """
    kinds: dict[tuple[_Element, int], list[_ValueUse]] = {}
    for each in _uses(steps, setting):
        kinds.setdefault((each.place, each.version), []).append(each)
    setters = [each for each in steps.statements if each.name in setting]
    names = iter(unused_names(scop, len(kinds) * len(setters)))
    kept: dict[str, list[Statement]] = {}
    arrays: dict[int, Array] = {}
    like: dict[str, str] = {}
    for uses in kinds.values():
        array = array_of_steps(uses[0].read, steps, scop, taken)
        parts = _shared(_times([each.statement for each in uses], steps), setters, steps)
        if parts is None:
            return None
        for setter, domain in parts:
            name = next(names)
            keeping = _kept(uses[0], domain.set_tuple_name(name), steps, setter, array)
            kept.setdefault(uses[0].statement.name, []).append(keeping)
            like[name] = setter.name
        arrays |= {id(each.read): array for each in uses}
    others = [each for each in steps.statements if each.name not in setting]
    if any(mentions_other(each, arrays) for each in others):
        return None
    order = [one for each in steps.statements for one in (*kept.get(each.name, ()), each)]
    return _Distributed(
        tuple(each for each in order if all(each is not one for one in others)),
        tuple(with_values(each, steps, arrays) for each in others),
        tuple(dict.fromkeys(arrays.values())),
        like,
    )


def _shared(
    times: isl.Set, setters: Sequence[Statement], steps: TimeStepLoop
) -> list[tuple[Statement, isl.Set]] | None:
    """Instances of ``setters`` that run at ``times``, one at each; None if none does at some of them."""
    found = []
    for each in setters:
        part = times.intersect(_times([each], steps)).coalesce()
        if not part.is_empty():
            times = times.subtract(part)
            found.append((each, part.apply(steps.times[each.name].intersect_domain(each.domain).reverse())))
    return found if times.is_empty() else None


def _times(statements: Sequence[Statement], steps: TimeStepLoop) -> isl.Set:
    """When ``statements`` run in ``steps``, by these and the loops around them."""
    times = (steps.times[each.name].intersect_domain(each.domain).range() for each in statements)
    return reduce(isl.Set.union, times).coalesce()


def _kept(use: _ValueUse, domain: isl.Set, steps: TimeStepLoop, setter: Statement, array: Array) -> Statement:
    """The statement of ``domain`` that keeps in ``array`` what ``use`` reads; it is where ``setter`` is."""
    for position, each in enumerate(setter.iterators):
        domain = domain.set_dim_name(_set, position, each.name)
    element = isl.Set.universe(use.read.relation.get_space().range())
    for position, number in enumerate(use.place[1]):
        element = element.fix_val(_set, position, isl.Val(number))
    nodes = duplicate(array.expression), duplicate(use.read.node)
    written = _in_step(setter, steps, array).set_tuple_name(_in, domain.get_tuple_name())
    read = isl.Map.from_domain_and_range(domain, element)
    return Statement(
        domain.get_tuple_name(),
        domain,
        setter.iterators,
        c_ast.Assignment("=", *nodes),
        (
            replace(use.read, relation=read, node=nodes[1]),
            Access(array, written.intersect_domain(domain), AccessKind.WRITE, nodes[0], certain=True),
        ),
        setter.location,
        setter.end_line,
    )


def _in_step(statement: Statement, steps: TimeStepLoop, array: Array) -> isl.Map:
    """The element of ``array`` for each step that ``statement`` is in."""
    relation = isl.Map.from_pw_aff(counted_from(steps.counters[statement.name], steps.first))
    return relation.intersect_domain(statement.domain).coalesce().set_tuple_name(_out, array.name)


def array_of_steps(read: Access, steps: TimeStepLoop, scop: Scop, taken: set[str]) -> Array:
    """An array for the values of what ``read`` reads, one for each of ``steps``."""
    assert isinstance(read.array.element, IntegerType | FloatingType)  # noqa: S101 - asked before
    name = unused_name(f"{read.array.name}_each", taken)
    taken.add(name)
    counts = steps.counts.intersect_params(scop.context.intersect(_enough(steps)))
    last = counts.dim_max(0).gist_params(counts.params())
    count = last.sub(steps.first).add_constant_val(isl.Val(1)).coalesce()
    nowhere = isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, 0)
    declared = c_ast.PtrDecl([], declarator(name, read.array.element))
    return Array(
        name,
        c_ast.ID(name),
        read.array.element,
        (count.insert_domain(nowhere.align_params(count.get_space())),),
        Provenance(StorageClass.LOCAL, allocated=True),
        read.array.location,
        local=True,
        declared=c_ast.Decl(name, [], [], [], [], declared, None, None),
        suffixes=("",),
        expanded=read.array.source_name,
    )


def with_values(statement: Statement, steps: TimeStepLoop, arrays: Mapping[int, Array]) -> Statement:
    """``statement`` with reads of ``arrays``, by the identities of accesses."""
    own = {id(each): arrays[id(each)] for each in statement.accesses if id(each) in arrays}
    nodes = {id(each.node) for each in statement.accesses if id(each) in own}
    accesses = tuple(
        replace(each, array=own[id(each)], relation=_in_step(statement, steps, own[id(each)]))
        if id(each) in own
        else each
        for each in statement.accesses
    )
    named = tuple((node, array) for node, array in statement.locals if id(node) not in nodes)
    return replace(statement, accesses=accesses, locals=named)


def mentions_other(statement: Statement, arrays: Mapping[int, Array]) -> bool:
    """Whether ``statement`` mentions what it reads of ``arrays``, by accesses, elsewhere than it reads it."""
    read = [each for each in statement.accesses if id(each) in arrays]
    known = {id(part) for each in read for part in walk(each.node)}
    names = {each.array.source_name for each in read}
    return any(
        isinstance(part, c_ast.ID) and part.name in names and id(part) not in known
        for part in walk(statement.body)
    )


def _with_loops(scop: Scop, steps: TimeStepLoop, loops: _Distributed) -> Scop:
    """``scop`` with ``loops`` in place of ``steps``."""
    own = {each.name: each for each in loops.others}
    setting = {each.name for each in loops.setting}
    at = min(number for number, each in enumerate(scop.statements) if each.name in steps.counters)
    left = [own.get(each.name, each) for each in scop.statements if each.name not in setting]
    statements = (*left[:at], *loops.setting, *left[at:])
    if loops.arrays:
        scop = with_arrays(scop, steps, loops.arrays, loops.setting[0])
    return replace(
        scop,
        statements=statements,
        schedule=_order(scop, steps, loops, statements),
    )


def with_arrays(scop: Scop, steps: TimeStepLoop, arrays: Sequence[Array], first: Statement) -> Scop:
    """``scop`` with ``arrays`` for values of all ``steps``, where there are enough of these."""
    enough, assumptions = _enough(steps), scop.assumptions
    if not scop.context.is_subset(enough):
        reason = f"values of '{arrays[0].expanded}' for all steps are worth it from {STENCIL_STEPS} steps on"
        assumptions = (*assumptions, Assumption(enough, reason, first.location))
    return replace(
        scop,
        context=scop.context.intersect(enough),
        arrays=(*scop.arrays, *arrays),
        assumptions=assumptions,
    )


def _order(
    scop: Scop, steps: TimeStepLoop, loops: _Distributed, statements: Sequence[Statement]
) -> isl.Schedule:
    """The order of ``scop`` where a loop over what sets variables stands before ``steps``."""
    schedule = order_of_copies(scop, statements, loops.like)
    domains = [isl.UnionSet.from_set(each.domain) for each in loops.setting]
    own = reduce(isl.UnionSet.union, domains)
    filters = isl.UnionSetList.alloc(isl.DEFAULT_CONTEXT, len(domains))
    for each in domains:
        filters = filters.add(each)
    depth = steps.band.get_schedule_depth()
    rest = isl.UnionSet.from_set(loops.others[0].domain)
    schedule = _loop_over(rest, schedule, depth).order_before(own).get_schedule()
    setting = _loop_over(domains[0], schedule, depth)
    return setting.child(0).cut().insert_sequence(filters).get_schedule()


def _loop_over(instances: isl.UnionSet, schedule: isl.Schedule, depth: int) -> isl.ScheduleNode:
    """The loop of ``schedule`` around ``instances`` with so many, ``depth``, around it."""
    return next(
        each
        for each in descendants(schedule.get_root())
        if is_band(each)
        and each.get_schedule_depth() == depth
        and not each.get_domain().is_disjoint(instances)
    )


def _enough(steps: TimeStepLoop) -> isl.Set:
    """For which parameters there are enough steps for tiles over time."""
    counts = steps.counts
    later = steps.first.add_constant_val(isl.Val(STENCIL_STEPS - 1)).insert_domain(counts.get_space())
    number = isl.PwAff.var_on_domain(isl.LocalSpace.from_space(counts.get_space()), _set, 0)
    return counts.intersect(number.ge_set(later)).params().coalesce()
