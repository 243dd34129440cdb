"""isl's scheduler (a variant of Pluto's) with the fusion strategies of the PPCG paper, section 6.2."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import Enum

import islpy as isl

from polybuild.analysis.dependences import Dependences
from polybuild.effort import SCHEDULE_NUMBER, SCHEDULE_SIZE
from polybuild.poly.budget import was_spent
from polybuild.poly.memory import Itself, remembered
from polybuild.poly.overapproximation import overapproximation_of
from polybuild.poly.relations import maps_of
from polybuild.schedule.fixed_parameters import with_fixed_parameters
from polybuild.schedule.large_constants import LargeConstants, largest_coefficient
from polybuild.scop.model import Scop


class Fusion(Enum):
    """How eagerly statements share loops."""

    MIN = "min"  # one band per strongly connected component
    MAX = "max"  # split only when there is no other way, keep the band computed so far
    DEPTH = "depth"  # split only when there is no other way, and start the band again


def compute_schedule(
    scop: Scop, dependences: Dependences, fusion: Fusion, *, outer_coincidence: bool = False
) -> isl.Schedule:
    """A schedule tree of permutable bands that respects ``dependences``.

    Band members that carry no dependence are marked coincident; with
    ``outer_coincidence`` each band starts with one, or else is a single loop that
    carries as many dependences as possible (Feautrier's algorithm). Raises
    ``isl.Error`` if isl gives up.
    """
    return _computed(Itself(scop), Itself(dependences), fusion, outer_coincidence)


@remembered
def _computed(
    of: Itself[Scop], respected: Itself[Dependences], fusion: Fusion, outer_coincidence: bool
) -> isl.Schedule:
    scop, dependences = of.value, respected.value
    carried = overapproximation_of(dependences.carried)
    validity = overapproximation_of(dependences.validity)
    condition, order = _live_range_constraints(dependences)
    # loops in parts (``i = 512 q + r``) run together with whole ones if these numbers may stand in the order
    largest = max(SCHEDULE_NUMBER, largest_coefficient(maps_of(validity), equalities=True))
    relations = (validity, carried, condition, order)
    everything = [each for relation in relations for each in maps_of(relation)]
    sizes = LargeConstants.of(everything, beyond=SCHEDULE_SIZE)
    if sizes.smallest:  # the numbers of strips, ``512 * d + p`` with ``p <= 511``, are none
        sizes = LargeConstants.of(everything, beyond=max(SCHEDULE_SIZE, largest_coefficient(everything)))
    with _strategy(scop.context.get_ctx(), fusion, largest, outer_coincidence=outer_coincidence):
        try:
            return _found(scop, relations, sizes)
        except isl.Error as error:
            if was_spent(error) or not sizes.smallest:
                raise
            return _found(scop, relations, LargeConstants(()))  # there may be an order for these sizes alone


def _found(scop: Scop, relations: tuple[isl.UnionMap, ...], sizes: LargeConstants) -> isl.Schedule:
    """What isl finds where ``sizes`` are parameters, and the ``relations`` those of ``compute_schedule``."""
    validity, carried, condition, order = (sizes.abstract_union(each) for each in relations)
    # what isl makes of the same set may be far from simple where there are divisions in it
    domain = sizes.abstract_union(scop.domain.identity()).domain() if sizes.smallest else scop.domain
    constraints = (
        isl.ScheduleConstraints.on_domain(domain)
        .set_context(scop.context)
        .set_validity(validity)
        .set_coincidence(carried)
        .set_proximity(carried)
        .set_conditional_validity(condition, order)
    )
    found = constraints.compute_schedule()
    return with_fixed_parameters(found, sizes.values, scop.domain) if sizes.smallest else found


@contextmanager
def _strategy(
    context: isl.Context, fusion: Fusion, largest: int, *, outer_coincidence: bool
) -> Iterator[None]:
    """Settings of isl for ``fusion``, with coefficients and shifts of ``largest`` at most."""
    settings = {
        "max_coefficient": largest,
        "max_constant_term": largest,
        "outer_coincidence": int(outer_coincidence),
        "serialize_sccs": int(fusion is Fusion.MIN),
        "whole_component": int(fusion is not Fusion.MIN),
        "maximize_band_depth": int(fusion is Fusion.DEPTH),
    }
    saved = {name: getattr(context, f"get_schedule_{name}")() for name in settings}
    _set(context, settings)
    try:
        yield
    finally:
        _set(context, saved)


def _set(context: isl.Context, settings: Mapping[str, int]) -> None:
    for name, value in settings.items():
        getattr(context, f"set_schedule_{name}")(value)


def _live_range_constraints(dependences: Dependences) -> tuple[isl.UnionMap, isl.UnionMap]:
    """Live ranges, and the order between them, with both ends tagged by the array's name.

    isl keeps an order dependence whenever an adjacent live range (same instance,
    same tag) leaves its iteration.
    """
    condition = isl.UnionMap.empty(dependences.flow.get_space())
    order = condition
    for private in dependences.private:
        condition = condition.union(_tagged(overapproximation_of(private.flow), private.array.name))
        order = order.union(_tagged(overapproximation_of(private.order), private.array.name))
    return condition, order


def _tagged(relation: isl.UnionMap, tag: str) -> isl.UnionMap:
    """``{ S[i] -> T[j] }`` as ``{ [S[i] -> tag[]] -> [T[j] -> tag[]] }``."""
    tagged = isl.UnionMap.empty(relation.get_space())
    for each in maps_of(relation):
        params = each.get_space().params()
        ends = isl.Set.universe(params.add_unnamed_tuple_ui(0).set_tuple_name(isl.dim_type.set, tag))
        both = isl.Map.from_domain_and_range(ends, ends)
        tagged = tagged.union(isl.UnionMap.from_map(each.product(both)))
    return tagged
