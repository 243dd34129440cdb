"""Values that statements which run in order read of those which need not: in variables of their own.

::

    for i:                                     for i:
      at = 0;                                    at = 0;
      for k: if (...) at = k;                    for k: if (...) at = k;
      count[at]++;                       ->      passed = at;
      for d: sum[at][d] += x[i][d];              count[passed]++;
                                                 for d: sum[passed][d] += x[i][d];

The variables that the values were in, which conditions may set, stay within the loops that can run in any
order; each iteration passes one value on, and those of a strip of iterations may be kept (scalar expansion
and loop distribution: Allen and Kennedy, "Optimizing Compilers for Modern Architectures", 2001, sections 5.3
and 5.7).
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Sequence
from dataclasses import replace

import islpy as isl
from pycparser import c_ast

from polybuild.analysis.dependences import Dependences, may_be_private
from polybuild.c.types import FloatingType, IntegerType
from polybuild.poly.relations import equal_outer, maps_of
from polybuild.scop.duplicates import (
    in_sequence,
    names_in_use,
    order_of_copies,
    unused_names,
    variable_for,
    with_arrays,
)
from polybuild.scop.model import Access, AccessKind, Array, Iterator, Scop, Statement
from polybuild.storage.coalescing import Reaching, read_the_same

_in, _out, _set = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set


def sequential_statements(scop: Scop, dependences: Dependences, depth: int) -> frozenset[str]:
    """The names of statements that keep a loop within ``depth`` others in order, and of what waits for them.

    Empty where that is everything.
    """
    around = {each.name: each.iterators[: depth + 1] for each in scop.statements}
    pairs: list[tuple[str, str]] = []
    names: set[str] = set()
    for each in maps_of(dependences.validity):
        ends = each.get_tuple_name(_in), each.get_tuple_name(_out)
        shared = _in_common(*(around[end] for end in ends))
        inside = equal_outer(each, min(shared, depth))
        if inside.is_empty():  # the loops around keep these in order
            continue
        pairs.append(ends)
        if shared > depth and not inside.is_subset(equal_outer(each, depth + 1)):
            names.update(ends)
    while more := {reader for writer, reader in pairs if writer in names} - names:
        names |= more
    return frozenset(names) if len(names) < len(scop.statements) else frozenset()


def _in_common(one: Sequence[Iterator], other: Sequence[Iterator]) -> int:
    """How many of the outermost loops of two statements are the same."""
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))


def pass_values(scop: Scop, in_order: Collection[str], depth: int, live_out: frozenset[str]) -> Scop:
    """``scop`` with the private values that statements ``in_order`` read of others in variables of their own.

    Those are the values that each iteration of a loop within ``depth`` others has when the first of these
    statements runs; ``scop`` itself if there are none.
    """
    for array in scop.arrays:
        if may_be_private(array, live_out) and isinstance(array.element, IntegerType | FloatingType):
            scop = _passed(scop, array, in_order, depth) or scop
    return scop


def _passed(scop: Scop, array: Array, in_order: Collection[str], depth: int) -> Scop | None:
    """``scop`` with the values of one variable passed on; None if there are none, or it is not certain."""
    users = [each for each in scop.statements if each.accesses_to(array)]
    writers = [each for each in users if any(a.kind is not AccessKind.READ for a in each.accesses_to(array))]
    readers = [each for each in users if each.name in in_order]
    if array.extents or not readers or not writers or any(each.name in in_order for each in writers):
        return None
    first = readers[0]
    if len(first.iterators) <= depth or any(each.dynamic for each in users):
        return None
    own = variable_for(array, "passed", names_in_use(scop))
    passing = _passing(first, unused_names(scop, 1)[0], array, own, depth)
    names = {each.name for each in readers}
    statements: list[Statement] = []
    for each in scop.statements:
        statements += [passing] if each is first else []
        statements.append(with_arrays(each, {array.name: own}) if each.name in names else each)
    schedule = order_of_copies(scop, statements, {passing.name: first.name})
    schedule = in_sequence(schedule, [passing, first])
    changed = replace(scop, statements=tuple(statements), arrays=(*scop.arrays, own), schedule=schedule)
    before, after = Reaching(scop, (array,)), Reaching(changed, (array, own), [passing])
    return changed if read_the_same(before, after) else None


def _passing(reader: Statement, name: str, array: Array, own: Array, depth: int) -> Statement:
    """The statement that sets ``own`` to ``array`` before the first instances of ``reader``.

    Those are one in each iteration of a loop within ``depth`` others.
    """
    inner = reader.domain.dim(_set) - depth - 1
    domain = reader.domain.reset_tuple_id()
    if inner:
        domain = isl.Map.from_range(domain).move_dims(_in, 0, _out, 0, depth + 1).lexmin().wrap().flatten()
    domain = domain.set_tuple_name(name)
    target, value = (c_ast.ID(each.name, reader.body.coord) for each in (own, array))
    read, write = (
        Access(each, isl.Map.from_domain(domain).set_tuple_name(_out, each.name), kind, node)
        for each, kind, node in ((array, AccessKind.READ, value), (own, AccessKind.WRITE, target))
    )
    body = c_ast.Assignment("=", target, value, reader.body.coord)
    named = ((value, array),) if array.local else ()
    return replace(reader, name=name, domain=domain, body=body, accesses=(read, write), locals=named)
