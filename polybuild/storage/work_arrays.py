"""Work arrays that live on, which each iteration of a loop sets anew: private ones, and the last one's.

``static double c[N]`` of a solver for one row is set and used in each iteration over rows. Nothing but its
name keeps these in order: what it holds after the loop, others may read. So all iterations but the last one
get an array of the region, which is private, and the last one uses the array itself::

    for j in 0 .. m - 1:                 for j in 0 .. m - 2:      for j = m - 1:
      for i: c[i] = f(a[j][i])    ->       for i: own[i] = ...       for i: c[i] = ...
      for i: b[j][i] = g(c[i])             for i: b[j][i] = g(own[i])  for i: b[j][i] = g(c[i])

The last iteration must set all that any of them sets. (P. Feautrier, "Array Expansion", ICS 1988, on private
arrays; what is kept of them is OpenMP's ``lastprivate``.)
"""

from __future__ import annotations

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
from polybuild.poly.spaces import constant_value, outer_loops
from polybuild.scop.duplicates import copied, order_of_copies, unused_names, with_arrays
from polybuild.scop.model import AccessKind, Array, Provenance, Scop, Statement

_in, _out, _set = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set


def keep_last_work_arrays(scop: Scop, live_out: frozenset[str], taken: frozenset[str]) -> Scop:
    """``scop`` with arrays of its own for all iterations but the last of loops that set an array anew.

    ``live_out`` names what is read after the region; new arrays get none of the names ``taken``.
    """
    names = {*taken, *(each.name for each in scop.arrays)}
    for array in scop.arrays:
        sizes = _sizes(array)
        if sizes and not may_be_private(array, live_out):
            name = _unused(f"{array.name}_own", names)
            own = _own_array(array, name, sizes)
            changed = found_within(WORK_ARRAY_OPERATIONS, partial(_without_sharing, scop, array, own))
            if changed is not None:
                names.add(name)
                scop = changed
    return scop


def _sizes(array: Array) -> list[int] | None:
    """The extents of a plain array of numbers of constant size, which is small; None if it is another."""
    plain = isinstance(array.expression, c_ast.ID) and not any(array.suffixes) and array.flat == 1
    reachable = array.provenance.by_pointer or array.provenance.address_taken or array.row_subscripts
    if array.local or reachable or not plain or not isinstance(array.element, IntegerType | FloatingType):
        return None
    sizes = [None if each is None else constant_value(each) for each in array.extents]
    known = [each for each in sizes if each is not None]
    return known if len(known) == len(sizes) and prod(known) <= WORK_ARRAY_ELEMENTS else None


def _unused(name: str, names: set[str]) -> str:
    while name in names:
        name += "_"
    return name


def _own_array(array: Array, name: str, sizes: list[int]) -> Array:
    """An array of the region like ``array``."""
    assert isinstance(array.element, IntegerType | FloatingType)  # noqa: S101 - as _sizes says
    kind: c_ast.Node = declarator(name, array.element)
    for each in reversed(sizes):
        kind = c_ast.ArrayDecl(kind, number(each), [])
    declared = c_ast.Decl(name, [], [], [], [], kind, None, None)
    place = Provenance(StorageClass.LOCAL)
    return replace(array, name=name, provenance=place, local=True, declared=declared)


def _without_sharing(scop: Scop, array: Array, own: Array) -> Scop | None:
    """``scop`` with ``own`` in place of ``array`` in all but the last iterations of a loop, if it may be."""
    users = [each for each in scop.statements if each.accesses_to(array)]
    depth = _private_depth(scop, array, users)
    if not depth:
        return None
    outer = [isl.Map.from_multi_aff(outer_loops(each.domain.get_space(), depth)) for each in users]
    domains = [each.domain.apply(around) for each, around in zip(users, outer, strict=True)]
    everywhere = reduce(isl.Set.union, domains).intersect_params(scop.context).coalesce()
    by_outer = isl.Map.from_range(everywhere).move_dims(_in, 0, _out, 0, depth - 1)
    last = by_outer.lexmax().move_dims(_out, 0, _in, 0, depth - 1).range().coalesce()
    if everywhere.is_subset(last) or not _sets_all(scop, array, users, last):
        return None
    names = iter(unused_names(scop, 2 * len(users)))
    new = [each for each in scop.statements if all(each is not user for user in users)]
    originals: dict[str, str] = {}
    for user, around in zip(users, outer, strict=True):
        here = around.intersect_range(last).domain()
        for domain, kept in ((user.domain.subtract(here), own), (user.domain.intersect(here), array)):
            if not domain.is_empty():
                part = copied(user, next(names), domain.coalesce())
                new.append(with_arrays(part, {array.name: kept}))
                originals[part.name] = user.name
    schedule = order_of_copies(scop, new, originals)
    return replace(scop, statements=tuple(new), arrays=(*scop.arrays, own), schedule=schedule)


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
