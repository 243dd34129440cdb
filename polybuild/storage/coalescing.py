"""Private values that live in the elements they end up in: ``s`` becomes ``c[i][j]``.

What people write with a variable is what benchmarks write without one::

    for i: for j:                              for i: for j:
      s = 0;                                     c[i][j] = 0;
      for k: s += a[i][k] * b[k][j];      ->     for k: c[i][j] += a[i][k] * b[k][j];
      c[i][j] = s;

The variable has one cell for each iteration of the loops that it is private to; where the value of a cell
goes to one element of an array the cell may lie in that element, if nobody needs what else is there
(Lefebvre and Feautrier 1998: two cells can share memory if their live ranges do not overlap). That is not
argued but checked: after the change every read must see the value of the same instance as before.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial

import islpy as isl
from pycparser import c_ast

from polybuild.analysis.dependences import accesses_of, flow_dependences, may_be_private
from polybuild.analysis.trip_counts import trip_counts
from polybuild.c.types import FloatingType, IntegerType
from polybuild.effort import COALESCING_OPERATIONS, SMALL_VALUES
from polybuild.poly.budget import found_within
from polybuild.poly.relations import largest
from polybuild.scop.model import Access, AccessKind, Array, Scop, Statement
from polybuild.storage.destinations import destinations, split_by_destination
from polybuild.storage.selected_values import with_selected_values
from polybuild.storage.webs import Web, may_outlast_loops, webs_of

_in, _out = isl.dim_type.in_, isl.dim_type.out

# writes and reads of their values, and instances that read a value of before the region
Sources = tuple[isl.UnionMap, isl.UnionSet]


def coalesce_private(scop: Scop, live_out: frozenset[str], *, dynamic: bool = False) -> Scop:
    """``scop`` with private values in the elements they end up in, where that is certainly the same.

    Those are values that outlast an iteration of an innermost loop; others are no obstacle where
    they are. ``live_out`` names variables that are read after the region. With ``dynamic`` values may be used
    in loops whose bounds are data, too.
    """
    changed = scop
    for array in private_obstacles(scop, live_out):
        webs = list(webs_of(scop, array, dynamic=dynamic))
        for web in webs:
            if outlasts_loops(scop, web):
                coalesced = partial(_coalesced_on, changed, web, webs, dynamic=dynamic)
                changed = found_within(COALESCING_OPERATIONS, coalesced) or changed
        selected = found_within(COALESCING_OPERATIONS, partial(_selected, changed, array))
        changed = selected or changed
    if changed is scop:
        return scop
    return without_unused(_without_dead_writes(_without_copies(changed), live_out), scop)


def private_obstacles(scop: Scop, live_out: frozenset[str], readers: Collection[str] = ()) -> list[Array]:
    """The private variables of numbers whose values may outlast loops, by the looks of these.

    Those that the statements ``readers`` read are among them.
    """
    operands = {each.array.name for one in scop.statements if one.name in readers for each in one.accesses}
    return [
        each
        for each in scop.arrays
        if may_be_private(each, live_out)
        and isinstance(each.element, IntegerType | FloatingType)
        and (each.name in operands or may_outlast_loops(scop, each))
    ]


def _selected(scop: Scop, array: Array) -> Scop | None:
    """``scop`` with the values of ``array``, which conditions set, in elements; None if there are none."""
    selecting = with_selected_values(scop, array)
    if selecting is None:
        return None
    changed = selecting
    for web in webs_of(selecting, array):
        if outlasts_loops(scop, web):
            changed = _coalesced(changed, web)
    return None if changed is selecting else changed


def outlasts_loops(scop: Scop, web: Web) -> bool:
    """Whether a value is used in many iterations of the loops in the body of those it belongs to.

    In few of them a compiler keeps it in a register, and what is around them is a loop for the vector unit.
    """
    readers = tuple(each for each in scop.statements if each.name in web.readers)
    return any(
        math.prod(map(_count, counts[web.depth :])) > SMALL_VALUES
        for counts in trip_counts(replace(scop, statements=readers))
    )


def _count(trips: isl.PwAff) -> float:
    bound = largest(trips)
    return float(bound.to_python()) if bound.is_int() else math.inf


def _coalesced_on(scop: Scop, web: Web, webs: Sequence[Web], *, dynamic: bool) -> Scop:
    """``scop`` with the values of ``web`` in elements, maybe those of another web that they are passed on to.

    ``s = sqrt(s); a[i] = s; b[i] = s;`` is taken for ``a[i] = sqrt(s); b[i] = a[i];``.
    """
    changed = _coalesced(scop, web)
    if changed is not scop:
        return changed
    for other in webs:
        if other is web or web.readers.isdisjoint(other.writers):
            continue
        passed = _coalesced(scop, other)
        if passed is scop:
            continue
        for again in webs_of(passed, web.array, dynamic=dynamic):
            if again.writers & web.writers and (changed := _coalesced(passed, again)) is not passed:
                return changed
    return scop


def _coalesced(scop: Scop, web: Web) -> Scop:
    """``scop`` with the values of ``web`` in elements of arrays; itself if there are none that suit.

    They may be there already, as values that another web was passed on to.
    """
    accesses = ((statement, each) for statement in scop.statements for each in statement.accesses)
    if not any(web.has(*each) for each in accesses):
        return scop
    return _in_one_array(scop, web) or _in_several_arrays(scop, web) or scop


def _in_one_array(scop: Scop, web: Web) -> Scop | None:
    """``scop`` with the values of ``web`` in elements of one array."""
    for array, elements in destinations(scop, web):
        changed = _in_elements(scop, web, array, elements)
        if _same_values(scop, changed, web.array, array):
            return changed
    return None


def _in_several_arrays(scop: Scop, web: Web) -> Scop | None:
    """``scop`` with the values of ``web`` in elements of the arrays that each of them ends up in."""
    changed = split_by_destination(scop, web)
    if changed is None:
        return None
    others = {(each.readers, each.writers) for each in webs_of(scop, web.array)}
    for each in webs_of(changed, web.array):
        if (each.readers, each.writers) not in others:
            moved = _in_one_array(changed, each)
            if moved is None:
                return None
            changed = moved
    return changed


def _in_elements(scop: Scop, web: Web, array: Array, elements: isl.Map) -> Scop:
    """``scop`` with what ``elements`` say of ``array`` in place of the cells of ``web``."""
    plain = elements.gist_params(scop.context)
    statements = web.kept_in(scop, array, lambda cells: cells.apply_range(plain).coalesce())
    return replace(scop, statements=statements)


def _same_values(scop: Scop, changed: Scop, *arrays: Array) -> bool:
    """Whether each read of ``arrays`` sees what the same instances wrote, and all else is left the same.

    The two have the same statements with the same accesses, of other arrays; ``changed`` is taken without its
    statements that write to an element what it holds. What the last of ``arrays`` holds after the region is
    read by a statement behind all others.
    """
    copies = [
        one
        for one, other in zip(scop.statements, changed.statements, strict=True)
        if _is_own_copy(scop, other)
    ]
    before = Reaching(scop, arrays, copies)
    after = Reaching(_without_copies(changed), arrays)
    if not read_the_same(before, after):
        return False
    written = before.written(arrays[-1])
    return after.written(arrays[-1]).is_subset(written) and _equal(
        before.last_writes(arrays[-1], written), after.last_writes(arrays[-1], written)
    )


def same_reads(scop: Scop, changed: Scop, *arrays: Array) -> bool:
    """Whether each read of ``arrays`` sees what the same instances wrote in both."""
    return read_the_same(Reaching(scop, arrays), Reaching(changed, arrays))


def read_the_same(before: Reaching, after: Reaching) -> bool:
    """Whether the reads of both, one by one, see what the same instances wrote."""
    return all(
        _equal(before.sources(one), after.sources(other))
        for one, other in zip(before.reads(), after.reads(), strict=True)
    )


def _equal(one: Sources, other: Sources) -> bool:
    return bool(one[0].is_equal(other[0])) and bool(one[1].is_equal(other[1]))


class Reaching:
    """Which instances write what the reads of some arrays see.

    Of ``copies``, statements that copy one value, nothing is said: what reads theirs reads what they read.
    """

    def __init__(self, scop: Scop, arrays: Sequence[Array], copies: Sequence[Statement] = ()) -> None:
        self._scop = scop
        self._names = {each.name for each in arrays}
        self._writes = {each.name: accesses_of(scop, each)[1:] for each in arrays}
        self._copies = copies

    def reads(self) -> list[Access]:
        """All reads of the arrays, in order, but those of copies."""
        return [
            access
            for statement in self._scop.statements
            if statement not in self._copies
            for access in statement.accesses
            if access.kind is AccessKind.READ and access.array.name in self._names
        ]

    def sources(self, read: Access) -> Sources:
        """The writes whose values ``read`` may see, and the instances that see a value from before."""
        relation = isl.UnionMap.from_map(read.relation).intersect_params(self._scop.context)
        return self._through_copies(self._sources(self._scop, relation, read.array))

    def written(self, array: Array) -> isl.Set:
        """The elements of ``array`` that may be written."""
        must, may = self._writes[array.name]
        return isl.Set.from_union_set(must.union(may).range())

    def last_writes(self, array: Array, elements: isl.Set) -> Sources:
        """The instances that may write what ``elements`` of ``array`` hold in the end, and the others."""
        end = elements.set_tuple_name("End")
        relation = isl.UnionMap.from_map(end.identity().set_tuple_name(_out, array.name))
        last = isl.Schedule.from_domain(isl.UnionSet.from_set(end))
        behind = replace(self._scop, schedule=self._scop.schedule.sequence(last))
        return self._through_copies(self._sources(behind, relation, array))

    def _sources(self, scop: Scop, reads: isl.UnionMap, array: Array) -> Sources:
        flow, old = flow_dependences(
            scop, reads, *self._writes[array.name], isl.UnionMap.empty(reads.get_space())
        )
        return flow, old.domain()

    def _through_copies(self, found: Sources) -> Sources:
        """``found`` with what copies read in place of the copies."""
        flow, old = found
        for _ in self._copies:
            for each in self._copies:
                here = flow.intersect_domain(isl.UnionSet.from_set(each.domain))
                if not here.is_empty():
                    (read,) = (access for access in each.accesses if access.kind is AccessKind.READ)
                    relation = isl.UnionMap.from_map(read.relation).intersect_params(self._scop.context)
                    sources, entry = self._sources(self._scop, relation, read.array)
                    flow = flow.subtract(here).union(sources.apply_range(here))
                    old = old.union(entry.apply(here))
        return flow, old


def _without_copies(scop: Scop) -> Scop:
    """``scop`` without statements that write to an element what it holds."""
    return _only(scop, tuple(each for each in scop.statements if not _is_own_copy(scop, each)))


def _is_own_copy(scop: Scop, statement: Statement) -> bool:
    body = statement.body
    if not isinstance(body, c_ast.Assignment) or body.op != "=" or len(statement.accesses) != 2:
        return False
    read, write = statement.accesses
    source, target = (
        each.relation.intersect_domain(statement.domain).intersect_params(scop.context)
        for each in (read, write)
    )
    return (
        body.lvalue is write.node
        and body.rvalue is read.node
        and read.exact
        and write.exact
        and read.array.name == write.array.name
        and bool(source.is_equal(target))
    )


def _without_dead_writes(scop: Scop, live_out: frozenset[str]) -> Scop:
    """``scop`` without statements that set private variables which nothing reads any more."""
    read = {
        each.array.name for one in scop.statements for each in one.accesses if each.kind is AccessKind.READ
    }

    def is_dead(statement: Statement) -> bool:
        body = statement.body
        return (
            isinstance(body, c_ast.Assignment)
            and body.op == "="
            and len(statement.accesses) == 1
            and body.lvalue is statement.accesses[0].node
            and isinstance(body.rvalue, c_ast.Constant)
            and statement.accesses[0].array.name not in read
            and may_be_private(statement.accesses[0].array, live_out)
        )

    return _only(scop, tuple(each for each in scop.statements if not is_dead(each)))


def _only(scop: Scop, kept: tuple[Statement, ...]) -> Scop:
    """``scop`` with nothing but the statements ``kept`` of its own."""
    if len(kept) == len(scop.statements):
        return scop
    left = replace(scop, statements=kept)
    return replace(left, schedule=scop.schedule.intersect_domain(left.domain))


def without_unused(scop: Scop, before: Scop) -> Scop:
    """``scop`` without the variables that only ``before`` accessed."""
    gone = _used(before) - _used(scop)
    return replace(scop, arrays=tuple(each for each in scop.arrays if each.name not in gone))


def _used(scop: Scop) -> set[str]:
    """The names of the arrays that statements access, or only mention."""
    accessed = {access.array.name for statement in scop.statements for access in statement.accesses}
    return accessed | {array.name for statement in scop.statements for _, array in statement.locals}
