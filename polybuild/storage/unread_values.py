"""Values of variables that nothing reads, and the statements that compute nothing else.

A residual of each step, of which the program looks at the last one::

    for t:                                             for t:
      step of b from a                                   step of b from a
      r = 0;                                     ->      if (t == steps - 1) {
      for i: r += (b[i] - a[i]) * (b[i] - a[i]);            r = 0;
      a = b                                                 for i: r += (b[i] - a[i]) * (b[i] - a[i]);
                                                         }
                                                         a = b

This is the elimination of dead code (Kennedy, "A Survey of Data Flow Analysis Techniques", 1981) of the
iterations but one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import reduce

import islpy as isl

from polybuild.analysis.dependences import may_be_private
from polybuild.scop.model import AccessKind, Array, Scop, Statement
from polybuild.storage.last_iteration import LastIteration, is_plain_scalar


def of_loops(scop: Scop, live_out: frozenset[str]) -> list[Array]:
    """The scalars that nothing looks at after the region, nor reaches but by their names."""
    return [each for each in scop.arrays if is_plain_scalar(each) and may_be_private(each, live_out)]


def unread_statements(statements: Sequence[Statement], scalars: Iterable[Array]) -> frozenset[str]:
    """The names of those of ``statements`` that set none but ``scalars``, for no others than themselves.

    What a scalar is set to has to be known for all of its statements, or for none.
    """
    known = {each.name for each in scalars}
    found = {each.name: each for each in statements if _writes(each) and _writes(each) <= known}
    while True:
        kept = [each for each in statements if each.name not in found]
        touched = {access.array.name for each in kept for access in each.accesses}
        mentioned = {array.name for each in kept for _, array in each.locals}
        more = [name for name, each in found.items() if not _writes(each).isdisjoint(touched | mentioned)]
        if not more:
            return frozenset(found)
        for name in more:
            del found[name]


def _writers(scop: Scop, array: Array) -> list[str]:
    return [each.name for each in scop.statements if array.name in _writes(each)]


def _writes(statement: Statement) -> set[str]:
    return {each.array.name for each in statement.accesses if each.kind is not AccessKind.READ}


def names_few_elements(scop: Scop, array: Array) -> bool:
    """Whether each access of ``array`` names one element, the same in all iterations: ``*sum``, ``a[2]``."""
    accesses = [access for each in scop.statements for access in each.accesses_to(array)]
    return bool(accesses) and all(
        each.exact and each.relation.intersect_params(scop.context).range().is_singleton()
        for each in accesses
    )


def last_alone(
    scop: Scop, found: Sequence[LastIteration], live_out: frozenset[str]
) -> tuple[Scop, tuple[Array, ...]]:
    """``scop`` with what ``found`` computes computed there alone, and the arrays of which that is so.

    As far as statements do nothing else, and nothing else reads the values of other iterations.
    """
    unread = unread_statements(scop.statements, [*(each.array for each in found), *of_loops(scop, live_out)])
    # of what is read elsewhere no statement is among them
    alone = [each for each in found if unread.issuperset(_writers(scop, each.array))]
    if not alone:
        return scop, ()
    computed = {each.name for one in alone for each in one.scalars}
    statements = []
    for each in scop.statements:
        if each.name not in unread or computed.isdisjoint(_writes(each)):
            statements.append(each)
            continue
        here = [one.domains[each.name] for one in alone if each.name in one.domains]
        if here:
            statements.append(_restricted(each, reduce(isl.Set.union, here).coalesce()))
    changed = replace(scop, statements=tuple(statements))
    if changed.domain.is_empty():  # a region has something to run
        return scop, ()
    loops = scop.schedule.intersect_domain(changed.domain)
    return replace(changed, schedule=loops), tuple(each.array for each in alone)


def _restricted(statement: Statement, domain: isl.Set) -> Statement:
    accesses = (
        replace(each, relation=each.relation.intersect_domain(domain).coalesce())
        for each in statement.accesses
    )
    return replace(statement, domain=domain, accesses=tuple(accesses))
