"""Tiles that run in phases: the tree that split, hexagonal and hybrid tiling share (thesis, section 11.4).

The instances are parted into phases; within one tile of time the phases run one after the other,
and within a phase all its tiles may run at once::

    mark "tile-wave"          which tile of time: sequential
      band [T]
        sequence
          filter              one phase
            mark "parallel-tiles"
              band [S_0, ...]     all coincident: threads, or blocks of a GPU
                mark "tile-strips"
                  band [S_1, ...]     strips of a tile, one after the other; left out where there are none
                    mark "tile-points"
                      ...             the instances of one tile, as they were ordered before
          filter ...

Where all tiles are of one phase there is no sequence.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import islpy as isl

from polybuild.poly.marks import Mark, MarkKind
from polybuild.poly.trees import insert_mark
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class Phase:
    """Tiles of one colour: functions of the ``instances`` in them.

    ``wave`` is the tile of time, ``tiles`` which of the parallel tiles, ``strips`` which strip of
    that tile. ``points`` are places within a tile, time first, each counted from zero or close to
    it, for targets that map points on lanes of their own; empty for diamonds.
    ``lean`` is by how many tiles the first one of a wave lies beyond that of the wave before.
    """

    instances: isl.UnionSet
    wave: isl.UnionPwAff
    tiles: tuple[isl.UnionPwAff, ...]
    strips: tuple[isl.UnionPwAff, ...]
    points: tuple[isl.UnionPwAff, ...]
    lean: Fraction = Fraction(0)


def insert_phases(node: isl.ScheduleNode, phases: Sequence[Phase]) -> isl.ScheduleNode:
    """Run the subtree at ``node`` phase by phase; returns the node that took its place."""
    place = node.get_tree_depth()
    if len(phases) == 1:
        node = _insert_tiles(node, phases[0])
    else:
        node = part(node, phases)
        for index, each in enumerate(phases):
            below = _insert_tiles(node.child(index).child(0), each)
            node = below.ancestor(below.get_tree_depth() - node.get_tree_depth())
    node = insert_band(node, (wave_of(phases),), MarkKind.TILE_WAVE)
    return node.ancestor(node.get_tree_depth() - place)


def wave_of(phases: Sequence[Phase]) -> isl.UnionPwAff:
    """Which tile of time each instance of ``phases`` is in."""
    wave = phases[0].wave
    if all(each.wave.plain_is_equal(wave) for each in phases[1:]):
        return wave
    wave = wave.intersect_domain(phases[0].instances)
    for each in phases[1:]:
        wave = wave.union_add(each.wave.intersect_domain(each.instances))
    return wave


def part(node: isl.ScheduleNode, phases: Sequence[Phase]) -> isl.ScheduleNode:
    """The sequence of ``phases`` above ``node``, a filter for each."""
    here = node.get_domain()
    filters = isl.UnionSetList.alloc(node.get_ctx(), len(phases))
    for each in phases:
        filters = filters.add(each.instances.intersect(here))
    return node.insert_sequence(filters)


def _insert_tiles(node: isl.ScheduleNode, phase: Phase) -> isl.ScheduleNode:
    below = insert_band(insert_mark(node, Mark(MarkKind.TILE_POINTS)), phase.strips, MarkKind.TILE_STRIPS)
    return insert_band(below, phase.tiles, MarkKind.PARALLEL_TILES, coincident=True)


def insert_band(
    node: isl.ScheduleNode, members: Sequence[isl.UnionPwAff], mark: MarkKind, *, coincident: bool = False
) -> isl.ScheduleNode:
    """Put a band under a mark above ``node``; returns the mark, or ``node`` if there are no members.

    Each of its loops is written once, however many pieces of a grid its tiles are in.
    """
    if not members:
        return node
    partial = isl.MultiUnionPwAff.from_union_pw_aff(members[0])
    for each in members[1:]:
        partial = partial.flat_range_product(isl.MultiUnionPwAff.from_union_pw_aff(each))
    node = each_once(node.insert_partial_schedule(partial))
    if coincident:
        node = node.band_set_permutable(1)
        for position in range(len(members)):
            node = node.band_member_set_coincident(position, 1)
    return insert_mark(node, Mark(mark))


def each_once(band: isl.ScheduleNode) -> isl.ScheduleNode:
    """``band`` with each of its loops written once, whatever it runs."""
    for position in range(band.band_n_member()):
        band = band.band_member_set_ast_loop_type(position, isl.ast_loop_type.atomic)
    return band


def plus(function: isl.UnionPwAff, constant: int) -> isl.UnionPwAff:
    """``function + constant``."""
    return function.add(isl.UnionPwAff.val_on_domain(function.domain(), isl.Val(constant)))


def times(function: isl.UnionPwAff, factor: int) -> isl.UnionPwAff:
    """``factor * function``."""
    return function.scale_val(isl.Val(factor))


def divided(function: isl.UnionPwAff, divisor: int) -> isl.UnionPwAff:
    """``floor(function / divisor)``."""
    return function.scale_down_val(isl.Val(divisor)).floor()


def lower_bounded(function: isl.UnionPwAff, minimum: int) -> isl.UnionSet:
    """The instances where ``function >= minimum``."""
    moved = plus(function, -minimum)
    found = isl.UnionSet.empty(function.get_space())
    parts = moved.get_pw_aff_list()
    for position in range(parts.n_pw_aff()):
        found = found.union(isl.UnionSet.from_set(parts.get_at(position).nonneg_set()))
    return found


def upper_bounded(function: isl.UnionPwAff, maximum: int) -> isl.UnionSet:
    """The instances where ``function <= maximum``."""
    return lower_bounded(function.neg(), -maximum)


def skewed(skew: Fraction, time: isl.UnionPwAff, place: isl.UnionPwAff) -> isl.UnionPwAff:
    """``skew * time + place``, times the denominator of ``skew``: a hyperplane with whole coefficients."""
    return times(time, skew.numerator).add(times(place, skew.denominator))
