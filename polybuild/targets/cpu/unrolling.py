"""Unrolling that makes the subscripts of contracted arrays constant (the report's Algorithms 3 and 4).

A loop whose counter moves a subscript ``f mod s`` is split by a factor that adds multiples of ``s``
to ``f``, and the inner part is unrolled: in each copy of the body the subscript is a number then, and
the cell a variable. Whole groups of iterations stand apart from the rest, which alone has conditions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import reduce

import islpy as isl

from polybuild.poly.marks import MarkKind
from polybuild.poly.relations import sets_of
from polybuild.poly.trees import descendants, is_band, is_mark, prefix_schedule
from polybuild.scop.model import Scop
from polybuild.storage.contraction import StorageMapping
from polybuild.targets.cpu.strides import references
from polybuild.transform.bands import tile

_set = isl.dim_type.set
_UNROLL = isl.ast_loop_type.unroll


class NotConstant(Exception):
    """No unrolling makes the subscripts constant."""


def unroll(
    scop: Scop, node: isl.ScheduleNode, mappings: Mapping[str, StorageMapping]
) -> tuple[isl.ScheduleNode, tuple[int, ...]]:
    """The tree at ``node``, whose bands have one member each, with loops unrolled for ``mappings``.

    ``mappings`` has the contraction of each array, by name. Returns ``node`` and the factors of all
    loops, outermost first. Raises NotConstant.
    """
    if is_band(node):
        factor = unroll_factor(scop, node, mappings)
        if factor > 1:
            if is_mark(node.parent(), MarkKind.PARALLEL):
                raise NotConstant("a loop of the threads would have to be unrolled")
            node = _split(node, factor)
            counter = isl.UnionMap.from_multi_union_pw_aff(node.child(0).band_get_partial_schedule())
            node = isolate_whole(node, counter, factor)
            below, factors = unroll(scop, node.child(0).child(0), mappings)
            return below.parent().parent(), (factor, *factors)
        if not any(map(is_band, descendants(node.child(0)))):  # no conditions where all statements run
            node = node.band_member_set_ast_loop_type(0, isl.ast_loop_type.separate)
        below, factors = unroll(scop, node.child(0), mappings)
        return below.parent(), (1, *factors)
    found: tuple[int, ...] = ()
    for index in range(node.n_children()):
        below, factors = unroll(scop, node.child(index), mappings)
        node, found = below.parent(), found + factors
    return node, found


def unroll_factor(scop: Scop, band: isl.ScheduleNode, mappings: Mapping[str, StorageMapping]) -> int:
    """The least factor for the loop of ``band`` (Algorithm 3, less what step and modulus have in common)."""
    factor = 1
    for reference in references(scop, band):
        mapping = mappings.get(reference.access.array.name)
        for row, size in zip(mapping.rows, mapping.sizes, strict=True) if mapping else ():
            steps = [each[0] for each in reference.matrix]
            if size is None or any(
                step is None and factor_ for step, factor_ in zip(steps, row, strict=True)
            ):
                raise NotConstant(f"a subscript of '{reference.access.array.spelling}' is not affine")
            moved = sum((step or 0) * factor_ for step, factor_ in zip(steps, row, strict=True))
            factor = math.lcm(factor, size // math.gcd(size, moved))
    return factor


def _split(band: isl.ScheduleNode, factor: int) -> isl.ScheduleNode:
    """A loop over groups of ``factor`` iterations, and below it that over these, unrolled."""
    groups = tile(band, (factor,))
    inner = groups.child(0).band_member_set_ast_loop_type(0, _UNROLL)
    return inner.band_member_set_isolate_ast_loop_type(0, _UNROLL).parent()


def isolate_whole(groups: isl.ScheduleNode, counter: isl.UnionMap, factor: int) -> isl.ScheduleNode:
    """Generate the groups of ``factor`` values of ``counter`` that are whole apart from the others.

    ``groups`` is the band over ``floor(counter / factor)``. A group is whole if each statement takes all of
    its values, or if there is no such group, all or none of them.
    """
    outer = prefix_schedule(groups)
    group = isl.UnionMap.from_multi_union_pw_aff(groups.band_get_partial_schedule())
    reached: list[isl.Set] = []
    partial: list[isl.Set] = []
    for statement in sets_of(groups.get_domain()):
        here = isl.UnionSet.from_set(statement)
        places, runs = (
            isl.Set.from_union_set(outer.flat_range_product(each).intersect_domain(here).range())
            for each in (group, counter)
        )
        members = _members(places.get_space(), factor)
        reached.append(places)
        partial.append(places.apply(members).subtract(runs).apply(members.reverse()))
    whole = reduce(isl.Set.intersect, reached)
    if whole.is_empty():  # some run a few times only, before or after the others
        whole = reduce(isl.Set.union, reached)
    whole = whole.subtract(reduce(isl.Set.union, partial)).coalesce()
    if whole.is_empty() or whole.n_basic_set() != 1:
        return groups
    depth = groups.get_schedule_depth()
    relation = isl.Map.from_range(whole).move_dims(isl.dim_type.in_, 0, isl.dim_type.out, 0, depth)
    isolate = relation.wrap().set_tuple_name("isolate")
    return groups.band_set_ast_build_options(isl.UnionSet.from_set(isolate))


def _members(space: isl.Space, factor: int) -> isl.Map:
    """``{ [..., k] -> [..., t] : k factor <= t < (k + 1) factor }``."""
    local = isl.LocalSpace.from_space(space)
    last = space.dim(_set) - 1
    group = isl.MultiAff.identity(space.map_from_set())
    number = isl.Aff.var_on_domain(local, _set, last).scale_down_val(isl.Val(factor)).floor()
    return isl.Map.from_multi_aff(group.set_aff(last, number)).reverse()
