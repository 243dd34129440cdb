"""Work arrays that live on, which each iteration of a loop sets anew: private ones, and the last one's.

``static double c[N]`` of a solver for one row, or the workspace that its caller passes, is set and used in
each iteration over rows. Nothing but its name keeps these in order: what it holds after the loop, others may
read. So all iterations but the last one get an array of the region, which is private, and the last one uses
the array itself::

    for j in 0 .. m - 1:                 for j in 0 .. m - 2:      for j = m - 1:
      for i: c[i] = f(a[j][i])    ->       for i: own[i] = ...       for i: c[i] = ...
      for i: b[j][i] = g(c[i])             for i: b[j][i] = g(own[i])  for i: b[j][i] = g(c[i])

The last iteration must set all that any of them sets. Small arrays of constant size are on the stacks of
threads, others in memory that the region allocates for all of them. (P. Feautrier, "Array Expansion", ICS
1988, on private arrays; what is kept of them is OpenMP's ``lastprivate``.)
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial, reduce
from math import prod

import islpy as isl
from pycparser import c_ast

from polybuild.analysis.dependences import accesses_of, flow_dependences, may_be_private
from polybuild.c.symbols import StorageClass
from polybuild.c.synthetic import declarator, number
from polybuild.c.types import FloatingType, IntegerType
from polybuild.effort import WORK_ARRAY_ELEMENTS, WORK_ARRAY_OPERATIONS
from polybuild.poly.budget import found_within
from polybuild.poly.relations import depends_on, equal_outer, maps_of
from polybuild.poly.spaces import outer_loops
from polybuild.scop.duplicates import copied, order_of_copies, unused_name, unused_names, with_arrays
from polybuild.scop.model import AccessKind, Array, Iterator, Provenance, Scop, Statement
from polybuild.storage.own_memory import array_of_threads, extents_for, names_for_threads
from polybuild.values import dataclass

_in, _out, _set = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set


@dataclass(frozen=True, slots=True, eq=False)
class _WorkArray:
    """An ``array`` that ``users`` set anew in each iteration of the ``depth`` loops around them.

    It has the values of the iterations ``last``, ``{ [i0, ...] }``, behind the loops, in its ``elements``.
    """

    array: Array
    users: tuple[Statement, ...]
    depth: int
    last: isl.Set
    elements: isl.Set


def keep_last_work_arrays(scop: Scop, live_out: frozenset[str], taken: frozenset[str]) -> Scop:
    """``scop`` with arrays of its own for all iterations but the last of loops that set an array anew.

    ``live_out`` names what is read after the region; new arrays get none of the names ``taken``. Loops that
    carry anything else, as steps over time do, stay as they are: threads would gain nothing.
    """
    chosen = [each for each in scop.arrays if _is_plain(each) and not may_be_private(each, live_out)]
    while chosen:
        changed, kept, stack = scop, [], WORK_ARRAY_ELEMENTS
        names = {*taken, *(each.name for each in scop.arrays)}
        free = {each.name for each in chosen}
        for array in chosen:
            found = found_within(WORK_ARRAY_OPERATIONS, partial(_find, changed, array, free, live_out))
            own = None if found is None else _own_array(found, names, stack)
            if found is not None and own is not None:
                stack -= 0 if own.provenance.allocated else prod(own.sizes or ())
                changed = _with_own(changed, found, own)
                kept.append(array)
        if len(kept) == len(chosen):
            return changed
        chosen = kept
    return scop


def _is_plain(array: Array) -> bool:
    """Whether ``array`` has numbers, and lies in one piece."""
    provenance = array.provenance
    return (
        bool(array.extents)
        and isinstance(array.element, IntegerType | FloatingType)
        and not (array.local or any(array.suffixes) or array.row_subscripts)
        and provenance.interleaving is None
    )


def _find(scop: Scop, array: Array, free: Collection[str], live_out: frozenset[str]) -> _WorkArray | None:
    """``array`` as one that iterations set anew; None if it is none.

    None, too, if the loops carry more than what is in the arrays ``free``.
    """
    users = [each for each in scop.statements if each.accesses_to(array)]
    depth = _private_depth(scop, array, users)
    first = depth and _first_free_loop(scop, users[0].iterators[:depth], free, live_out)
    if not first:
        return None
    outer = [isl.Map.from_multi_aff(outer_loops(each.domain.get_space(), depth)) for each in users]
    domains = [each.domain.apply(around) for each, around in zip(users, outer, strict=True)]
    everywhere = reduce(isl.Set.union, domains).intersect_params(scop.context).coalesce()
    by_outer = isl.Map.from_range(everywhere).move_dims(_in, 0, _out, 0, first - 1)
    last = by_outer.lexmax().move_dims(_out, 0, _in, 0, first - 1).range().coalesce()
    if everywhere.is_subset(last) or not _sets_all(scop, array, users, last):
        return None
    _, written, _ = accesses_of(scop, array)
    elements = isl.Set.from_union_set(written.range()).intersect_params(scop.context).coalesce()
    if not elements.is_subset(isl.Set.nat_universe(elements.get_space())):
        return None
    return _WorkArray(array, tuple(users), depth, last.gist_params(scop.context), elements)


def _own_array(found: _WorkArray, names: set[str], stack: int) -> Array | None:
    """An array for each thread like that which was ``found``; its names are among ``names`` then.

    Arrays of constant size are on stacks, as far as these have ``stack`` elements left for them. None if
    nobody knows how large it is.
    """
    array = found.array
    name = unused_name(f"{array.name}_own", names)
    while not names.isdisjoint(names_for_threads(name)):
        name += "_"
    extents = extents_for(found.elements, array)
    if extents is None:
        return None
    names.update({name, *names_for_threads(name)})
    declared = tuple(each for each in array.extents if each is not None)
    for each in (extents, declared) if array.sizes else (extents,):
        own = array_of_threads(name, each, array)
        if own.sizes and prod(own.sizes) <= stack:
            return _on_stack(own)
    return array_of_threads(name, extents, array)


def _on_stack(array: Array) -> Array:
    """``array``, of constant size, as a variable of the region."""
    assert isinstance(array.element, IntegerType | FloatingType)  # noqa: S101 - as _is_plain says
    kind: c_ast.Node = declarator(array.name, array.element)
    for each in reversed(array.sizes or ()):
        kind = c_ast.ArrayDecl(kind, number(each), [])
    declared = c_ast.Decl(array.name, [], [], [], [], kind, None, None)
    return replace(array, provenance=Provenance(StorageClass.LOCAL), declared=declared, flat=1, copied="")


def _with_own(scop: Scop, found: _WorkArray, own: Array) -> Scop:
    """``scop`` with ``own`` in place of the array that was ``found`` in all but the last iterations.

    These are statements of their own, all of them: what others leave to those on the array would pass from
    one to the other, and the last ones could run behind the loops.
    """
    loops = found.users[0].iterators[: found.depth]
    inside = [each for each in scop.statements if each.iterators[: found.depth] == loops]
    names = iter(unused_names(scop, 2 * len(inside)))
    new = [each for each in scop.statements if all(each is not one for one in inside)]
    originals: dict[str, str] = {}
    for each in inside:
        around = isl.Map.from_multi_aff(outer_loops(each.domain.get_space(), found.depth))
        here = around.intersect_range(found.last).domain()
        for domain, kept in (
            (each.domain.subtract(here), own),
            (each.domain.intersect(here), found.array),
        ):
            if not domain.is_empty():
                part = copied(each, next(names), domain.coalesce())
                new.append(with_arrays(part, {found.array.name: kept}))
                originals[part.name] = each.name
    schedule = order_of_copies(scop, new, originals)
    return replace(scop, statements=tuple(new), arrays=(*scop.arrays, own), schedule=schedule)


def _first_free_loop(
    scop: Scop, loops: tuple[Iterator, ...], free: Collection[str], live_out: frozenset[str]
) -> int:
    """The outermost of ``loops`` that carries nothing but what is in the arrays ``free``, from 1; 0: none."""
    around = [each for each in scop.statements if each.iterators[:1] == loops[:1]]
    carried = [
        each
        for array in scop.arrays
        if array.name not in free
        for each in _dependent(scop, array, around, private=may_be_private(array, live_out))
    ]
    for depth in range(1, len(loops) + 1):
        inside = {each.name for each in around if each.iterators[:depth] == loops[:depth]}
        outer = [equal_outer(each, depth - 1) for each in carried if _related(each) <= inside]
        if all(each.is_subset(equal_outer(each, depth)) for each in outer):
            return depth
    return 0


def _dependent(scop: Scop, array: Array, statements: Sequence[Statement], *, private: bool) -> list[isl.Map]:
    """The pairs of instances of ``statements`` that access one element of ``array``, the first writing it.

    Of a ``private`` array those between which a value passes. What a single statement updates may be a sum.
    """
    users = [each for each in statements if each.accesses_to(array)]
    if private:
        names = {each.name for each in users}
        reads, must, may = accesses_of(scop, array)
        flow, _ = flow_dependences(scop, reads, must, may, isl.UnionMap.empty(reads.get_space()))
        return [each for each in maps_of(flow) if _related(each) <= names]
    if len(users) < 2 and not array.extents:
        return []
    accesses = [
        (access.relation.intersect_domain(each.domain).intersect_params(scop.context), access.kind)
        for each in users
        for access in each.accesses_to(array)
    ]
    return [
        one.apply_range(other.reverse())
        for one, kind in accesses
        if kind is not AccessKind.READ
        for other, _ in accesses
    ]


def _related(pairs: isl.Map) -> set[str]:
    """The names of the statements that ``pairs`` relate."""
    return {pairs.get_tuple_name(_in), pairs.get_tuple_name(_out)}


def _private_depth(scop: Scop, array: Array, users: list[Statement]) -> int:
    """How many loops around all ``users`` the values of ``array`` stay within; 0 if there are none."""
    if len(users) < 2 or any(each.dynamic for each in users):
        return 0
    accesses = [access for each in users for access in each.accesses_to(array)]
    if not all(each.exact and each.kind is not AccessKind.MAY_WRITE for each in accesses):
        return 0
    written = [each.relation for each in accesses if each.kind is AccessKind.WRITE]
    depth = min(len(each.iterators) for each in users)
    while depth and len({each.iterators[:depth] for each in users}) > 1:
        depth -= 1
    while depth and any(depends_on(each, depth - 1) for each in written):
        depth -= 1
    if not depth or not written:
        return 0
    reads, must, may = accesses_of(scop, array)
    flow, old = flow_dependences(scop, reads, must, may, isl.UnionMap.empty(reads.get_space()))
    if flow.is_empty() or not old.is_empty():
        return 0
    pairs = maps_of(flow)
    while depth and not all(each.is_subset(equal_outer(each, depth)) for each in pairs):
        depth -= 1
    return depth


def _sets_all(scop: Scop, array: Array, users: list[Statement], last: isl.Set) -> bool:
    """Whether each of the iterations ``last`` sets all elements of ``array`` that are set at all."""
    depth = int(last.dim(_set))
    written = [
        (each, access.relation)
        for each in users
        for access in each.accesses_to(array)
        if access.kind is AccessKind.WRITE
    ]
    everything = reduce(isl.Set.union, (relation.range() for _, relation in written))
    by_iteration = reduce(
        isl.Map.union,
        (
            isl.Map.from_multi_aff(outer_loops(each.domain.get_space(), depth))
            .reverse()
            .apply_range(relation)
            for each, relation in written
        ),
    )
    wanted = isl.Map.from_domain_and_range(last, everything).intersect_params(scop.context)
    return bool(wanted.is_subset(by_iteration))
