"""Last values of private variables that live on after a region, computed apart from its loops.

A variable that is read after the region keeps the loops that set it in their order, though nothing needs
any value of it but the last::

    for i: for j:                              for i: for j:
      s = 0;                                     s_each = 0;
      for k: s += a[i][k] * b[k][j];     ->      for k: s_each += a[i][k] * b[k][j];
      c[i][j] = s;                               c[i][j] = s_each;
                                               s = 0;
                                               for k: s += a[n-1][k] * b[k][n-1];

Computing that one again (rematerialisation, Briggs, Cooper and Torczon, PLDI 1992, for the last iteration
of a loop) takes as long as one iteration, and the variable of the loops is private.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial, reduce

import islpy as isl
from pycparser import c_ast

from polybuild.analysis.dependences import may_be_private
from polybuild.c.syntax_tree import walk
from polybuild.effort import REMATERIALISATION_OPERATIONS
from polybuild.poly.budget import found_within
from polybuild.scop.duplicates import copied, unused_names, variable_for, with_arrays
from polybuild.scop.model import Access, AccessKind, Array, Scop, Statement
from polybuild.storage.coalescing import Reaching, Sources, without_unused
from polybuild.storage.last_iteration import LastIteration, find_last_iteration, is_plain_scalar, touches
from polybuild.storage.unread_values import last_alone, names_few_elements, of_loops, unread_statements
from polybuild.values import dataclass

_in, _out = isl.dim_type.in_, isl.dim_type.out

_WRITES = AccessKind.WRITE, AccessKind.MAY_WRITE


@dataclass(frozen=True, slots=True)
class LastValues:
    """The ``scalars`` of a model whose last values are computed apart, by the ``statements`` named.

    Those ``alone`` are computed in the loops, in the last iteration of these.
    """

    scalars: tuple[Array, ...]
    statements: frozenset[str]
    alone: tuple[Array, ...] = ()


NO_LAST_VALUES = LastValues((), frozenset())


def recompute_last_values(
    scop: Scop, live_out: frozenset[str], taken: Collection[str]
) -> tuple[Scop, LastValues]:
    """``scop`` with private variables in place of scalars that are ``live_out``.

    Statements after all others, or before them, give these their last values, where they are certainly the
    same there. New variables get none of the names ``taken``. Where nothing else reads the values of other
    iterations, only the last one is computed.
    """
    scalars: list[Array] = []
    before = {each.name for each in scop.statements}
    for array in scop.arrays:
        if array not in scalars and _may_be_recomputed(scop, array, live_out):
            changed = found_within(
                REMATERIALISATION_OPERATIONS, partial(_recomputed, scop, array, live_out, taken)
            )
            if changed is not None:
                scop, together = changed
                scalars += together
    added = {each.name for each in scop.statements} - before
    alone: tuple[Array, ...] = ()
    if scop.exits is None:
        left = found_within(REMATERIALISATION_OPERATIONS, partial(_alone, scop, scalars, live_out))
        scop, alone = left or (scop, ())
    return scop, LastValues(tuple(scalars), frozenset(added), alone)


def _alone(scop: Scop, others: Collection[Array], live_out: frozenset[str]) -> tuple[Scop, tuple[Array, ...]]:
    """``scop`` with the last values alone of what has few elements, but for ``others``; and what that is."""
    found = [
        find_last_iteration(scop, each)
        for each in scop.arrays
        if each not in others
        and not may_be_private(each, live_out)
        and names_few_elements(scop, each)
        and _is_set_by_loops(scop, each)
    ]
    known = [each for each in found if each is not None]
    return last_alone(scop, known, live_out) if known else (scop, ())


def _may_be_recomputed(scop: Scop, array: Array, live_out: frozenset[str]) -> bool:
    """Whether ``array`` is a scalar that loops set, that lives on and that nothing else can reach."""
    if not is_plain_scalar(array) or array.local or array.source_name not in live_out:
        return False
    return _is_set_by_loops(scop, array)


def _is_set_by_loops(scop: Scop, array: Array) -> bool:
    writers = [each for each in scop.statements if touches(each, array, *_WRITES)]
    return bool(writers) and all(each.iterators and not each.dynamic for each in writers)


def _recomputed(
    scop: Scop, array: Array, live_out: frozenset[str], taken: Collection[str]
) -> tuple[Scop, tuple[Array, ...]] | None:
    """``scop`` with the last value of ``array`` computed apart, and those that are computed with it.

    None if that is not possible.
    """
    found = find_last_iteration(scop, array)
    if found is None:
        return None
    together = (array, *(each for each in found.inner if _is_set_with(scop, each, found, live_out)))
    inner = [each for each in found.inner if each not in together]
    names = {*taken, *(each.name for each in scop.arrays)}
    inside = {each.name: variable_for(each, "each", names) for each in together}
    copies = {each.name: variable_for(each, "last", names) for each in inner}
    again, order = _again(scop, found, copies)
    before = [with_arrays(each, inside) for each in scop.statements]
    unread = unread_statements(before, [*inside.values(), *of_loops(scop, live_out)])
    before = [each for each in before if each.name not in unread]
    if not _are_read(again, copies.values()):
        return None
    own = [each for each in inside.values() if _are_read(before, [each])]
    unused = {each.name for each in inside.values() if each not in own}
    if any(access.array.name in unused for each in before for access in each.accesses):
        return None  # what sets a variable that nothing reads does something else, too
    if not all(_says_all(each, (*own, *copies.values())) for each in (*before, *again)):
        return None
    kept = replace(scop, statements=tuple(before))
    loops = scop.schedule.intersect_domain(kept.domain)
    changed = replace(
        scop,
        arrays=(*scop.arrays, *own, *copies.values()),
        statements=(*before, *again),
    )
    for schedule in (loops.sequence(order), order.sequence(loops)) if before else (order,):
        placed = replace(changed, schedule=schedule)
        if _reads_the_same(scop, placed, found, again):
            return without_unused(placed, scop), together
    return None


def _is_set_with(scop: Scop, array: Array, found: LastIteration, live_out: frozenset[str]) -> bool:
    """Whether what ``found`` computes is all that gives ``array`` its last value, too."""
    if not _may_be_recomputed(scop, array, live_out):
        return False
    own = find_last_iteration(scop, array)
    return (
        own is not None
        and own.domains.keys() == found.domains.keys()
        and all(each.is_equal(found.domains[name]) for name, each in own.domains.items())
    )


def _are_read(statements: Sequence[Statement], scalars: Collection[Array]) -> bool:
    """Whether ``statements`` read all of ``scalars``: compilers warn of variables that are only set."""
    read = {
        access.array.name for each in statements for access in each.accesses if access.kind is AccessKind.READ
    }
    return all(each.name in read for each in scalars)


def _says_all(statement: Statement, scalars: Sequence[Array]) -> bool:
    """Whether each mention of ``scalars`` in ``statement`` is one of its accesses, or local names."""
    known = {id(each.node) for each in statement.accesses} | {id(node) for node, _ in statement.locals}
    names = {each.source_name for each in scalars if touches(statement, each, *AccessKind)}
    return all(
        id(part) in known
        for part in walk(statement.body)
        if isinstance(part, c_ast.ID) and part.name in names
    )


def _again(
    scop: Scop, found: LastIteration, variables: dict[str, Array]
) -> tuple[list[Statement], isl.Schedule]:
    """The statements of ``found`` a second time, with ``variables`` of their own, and their order."""
    statements = [each for each in scop.statements if each.name in found.domains]
    names = unused_names(scop, len(statements))
    again = [
        with_arrays(copied(each, name, found.domains[each.name]), variables)
        for each, name in zip(statements, names, strict=True)
    ]
    instances = reduce(isl.UnionSet.union, map(isl.UnionSet.from_set, found.domains.values()))
    order = scop.schedule.intersect_domain(instances)
    to_old = isl.UnionPwMultiAff.from_union_map(_renaming(statements, again))
    return again, order.pullback_union_pw_multi_aff(to_old)


def _renaming(old: Sequence[Statement], new: Sequence[Statement]) -> isl.UnionMap:
    """``{ new[i] -> old[i] }``."""
    pairs = (
        isl.UnionMap.from_map(one.domain.identity().set_tuple_name(_out, other.name))
        for one, other in zip(new, old, strict=True)
    )
    return reduce(isl.UnionMap.union, pairs)


def _reads_the_same(scop: Scop, changed: Scop, found: LastIteration, again: Sequence[Statement]) -> bool:
    """Whether the statements ``again`` read from memory, in ``changed``, what those of ``found`` read."""
    statements = [each for each in scop.statements if each.name in found.domains]
    to_old = _renaming(statements, again)
    instances = to_old.range()
    for one, other in zip(statements, again, strict=True):
        for before, after in zip(
            _read_memory(scop, one, found), _read_memory(scop, other, found), strict=True
        ):
            old = Reaching(scop, [before.array]).sources(before)
            new = Reaching(changed, [after.array]).sources(after)
            renamed: Sources = new[0].apply_range(to_old), new[1].apply(to_old)
            if not old[0].intersect_range(instances).is_equal(renamed[0]):
                return False
            if not old[1].intersect(instances).is_equal(renamed[1]):
                return False
    return True


def _read_memory(scop: Scop, statement: Statement, found: LastIteration) -> Iterator[Access]:
    """The reads of ``statement`` of what the region changes, but for scalars that ``found`` sets."""
    inner = {each.name for each in found.scalars}
    for access in statement.accesses:
        array = access.array
        if (
            access.kind is AccessKind.READ
            and array.extents
            and array.name not in inner
            and any(touches(each, array, *_WRITES) for each in scop.statements)
        ):
            yield access
