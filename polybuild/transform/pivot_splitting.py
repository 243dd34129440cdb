"""Pivots: what a step of a loop changes of what the same step reads gets statements of its own.

All shortest paths go through one more node in each step, all rows of a matrix take from one::

    for k:
      for i:
        for j:
          d[i][j] = min(d[i][j], d[i][k] + d[k][j]);

In step ``k``, instances depend on those of row ``i = k`` and of column ``j = k`` alone. Where these have
statements of their own the others depend on nothing in their step. The statement is split into the instances
before, on and after each pivot, that is, by the sign of ``i - k`` and of ``j - k``. (M. Griebl, P. Feautrier,
C. Lengauer, "Index Set Splitting", International Journal of Parallel Programming 28(6), 2000, find such
places by the ends of dependences, too.)
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import islpy as isl

from polybuild.analysis.dependences import Dependences
from polybuild.effort import PIVOTED_STATEMENTS, PIVOTS
from polybuild.poly.relations import equal_outer, maps_of
from polybuild.scop.duplicates import copied, order_of_copies, unused_names
from polybuild.scop.model import Iterator as Loop
from polybuild.scop.model import Scop, Statement

_in, _out, _set = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set

_Sign = Callable[[isl.PwAff, isl.PwAff], isl.Set]
_SIGNS: tuple[_Sign, ...] = (isl.PwAff.lt_set, isl.PwAff.eq_set, isl.PwAff.gt_set)


def split_at_pivots(scop: Scop, dependences: Dependences) -> Scop:
    """``scop`` with the nests that have pivots in parts; ``scop`` itself if none has.

    ``dependences`` are those of ``scop``.
    """
    nests = {each.iterators: _pivots(scop, each.iterators, dependences) for each in scop.statements}
    new: list[Statement] = []
    originals: dict[str, str] = {}
    for statement in scop.statements:
        pivots = nests[statement.iterators]
        domain = statement.domain.intersect_params(scop.context)
        parts = [_part(domain, pivots, signs) for signs in itertools.product(_SIGNS, repeat=len(pivots))]
        parts = [each for each in parts if not each.is_empty()]
        names = unused_names(replace(scop, statements=(*scop.statements, *new)), len(parts))
        copies = (
            [copied(statement, *each) for each in zip(names, parts, strict=True)] if pivots else [statement]
        )
        new += copies
        originals |= {each.name: statement.name for each in copies}
    if not len(scop.statements) < len(new) <= PIVOTED_STATEMENTS:
        return scop
    return replace(scop, statements=tuple(new), schedule=order_of_copies(scop, new, originals))


def _pivots(scop: Scop, loops: Sequence[Loop], dependences: Dependences) -> list[isl.MultiAff]:
    """What is zero at one end of each dependence within a step of the outermost one of ``loops``.

    They are functions of the counters; none of them if there are other such dependences, or too many pivots.
    """
    found: list[isl.MultiAff] = []
    nest = {each.name: each for each in scop.statements if each.iterators == loops}
    if len(loops) < 2 or any(each.dynamic for each in nest.values()):
        return found
    for pairs in maps_of(dependences.carried):
        source, sink = (nest.get(pairs.get_tuple_name(end)) for end in (_in, _out))
        if source is None or sink is None:
            continue
        step = equal_outer(pairs, 1)
        for pair in step.subtract(equal_outer(step, len(loops))).coalesce().get_basic_maps():
            both = isl.Map.from_basic_map(pair)
            own = [*_zeros(both.domain(), source.domain), *_zeros(both.range(), sink.domain)]
            if not own:
                return []
            if not any(each.plain_is_equal(other) for each in own for other in found):
                found.append(own[0])
    return found if len(found) <= PIVOTS else []


def _zeros(end: isl.Set, instances: isl.Set) -> Iterator[isl.MultiAff]:
    """Functions of one counter and others that are zero at ``end``, and not for all ``instances``."""
    for constraint in end.affine_hull().get_constraints():
        for position in range(1, instances.dim(_set)) if constraint.is_equality() else ():
            coefficient = constraint.get_coefficient_val(_set, position)
            if coefficient.is_one() or coefficient.is_negone():
                aff = constraint.get_aff()
                zero = isl.Set.from_basic_set(aff.zero_basic_set()).align_params(instances.get_space())
                if not instances.is_subset(zero):
                    yield _unnamed(aff if coefficient.is_one() else aff.neg())
                break


def _unnamed(aff: isl.Aff) -> isl.MultiAff:
    """``aff`` as a function of the counters of any statement."""
    return isl.MultiAff.from_aff(aff).reset_tuple_id(_in)


def _part(domain: isl.Set, pivots: Sequence[isl.MultiAff], signs: Sequence[_Sign]) -> isl.Set:
    """The part of ``domain`` where the values of ``pivots`` have these ``signs``."""
    for each, sign in zip(pivots, signs, strict=True):
        value = isl.PwAff.from_aff(each.set_tuple_name(_in, domain.get_tuple_name()).get_at(0))
        zero = isl.PwAff.val_on_domain(isl.Set.universe(domain.get_space()), isl.Val(0))
        domain = domain.intersect(sign(value, zero))
    return domain.coalesce()
