"""The original order of a region as an isl schedule tree, built from the bottom up.

Each loop is a band with one member, the counter (negated if it counts down);
blocks are sequences.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import islpy as isl

from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class OrderLeaf:
    """A statement, by its index."""

    statement: int


@dataclass(frozen=True, slots=True)
class OrderSequence:
    """Parts that run one after the other."""

    parts: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class OrderBand:
    """A loop: dimension ``position`` of the statements below, counted up or down.

    It is counted from ``start`` if that is given, an expression of the loops around it:
    strides from remainders on are more than isl's AST generation gets right.
    """

    position: int
    descending: bool
    body: Tree
    start: isl.PwAff | None = None


Tree = OrderLeaf | OrderSequence | OrderBand


def block(parts: Sequence[Tree | None]) -> Tree | None:
    """The parts in order; None where there is nothing."""
    present = [part for part in parts if part is not None]
    if len(present) <= 1:
        return present[0] if present else None
    return OrderSequence(tuple(present))


def build_schedule(tree: Tree, domains: Sequence[isl.Set]) -> isl.Schedule:
    """The schedule of ``tree``, whose leaves index the named statement domains."""
    if isinstance(tree, OrderLeaf):
        return isl.Schedule.from_domain(isl.UnionSet.from_set(domains[tree.statement]))
    if isinstance(tree, OrderSequence):
        return _in_sequence([build_schedule(part, domains) for part in tree.parts])
    values = [_counter(domains[each], tree) for each in _statements(tree)]
    union = functools.reduce(lambda left, right: left.union_add(right), values)
    schedule = build_schedule(tree.body, domains)
    return schedule.insert_partial_schedule(isl.MultiUnionPwAff.from_union_pw_aff(union))


def _in_sequence(parts: Sequence[isl.Schedule]) -> isl.Schedule:
    """``parts`` one after the other.

    By halves: isl copies both sides, so that adding one after the other takes time as their square.
    """
    if len(parts) == 1:
        return parts[0]
    middle = (len(parts) + 1) // 2
    return _in_sequence(parts[:middle]).sequence(_in_sequence(parts[middle:]))


def _counter(domain: isl.Set, band: OrderBand) -> isl.UnionPwAff:
    """``{ S[i0, ...] -> [(i_position)] }``, less the start if there is one, negated for a descending loop."""
    space = isl.LocalSpace.from_space(domain.get_space())
    value = isl.PwAff.var_on_domain(space, isl.dim_type.set, band.position)
    if band.start is not None:
        dims = isl.MultiAff.identity_on_domain_space(domain.get_space())
        outer = dims.drop_dims(isl.dim_type.out, band.position, dims.dim(isl.dim_type.out) - band.position)
        value = value.sub(band.start.pullback_multi_aff(outer.reset_tuple_id(isl.dim_type.out)))
    return isl.UnionPwAff.from_pw_aff(value.neg() if band.descending else value)


def _statements(tree: Tree) -> list[int]:
    if isinstance(tree, OrderLeaf):
        return [tree.statement]
    if isinstance(tree, OrderBand):
        return _statements(tree.body)
    return [each for part in tree.parts for each in _statements(part)]
