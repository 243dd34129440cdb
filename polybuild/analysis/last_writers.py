"""Last writers by subtraction: all earlier accesses of an element, less those before a certain write.

This is what isl's ``compute_flow`` finds by parametric integer programming. Where loops have strides it
was seen to name a source that a later one overwrites (``i`` from 0 to 3 by 2, followed by a
reader, with the parameter bounded: the last of ``i`` is 2, not 0), so there the sets are
taken literally.
"""

from __future__ import annotations

import islpy as isl

from polybuild.analysis.array_flow import by_array, order_of
from polybuild.poly.memory import remembered
from polybuild.poly.relations import maps_of, union_of
from polybuild.scop.model import Scop


def has_strides(*accesses: isl.UnionMap) -> bool:
    """Whether integer divisions tell which instances access which elements."""
    return any(each.wrap().involves_locals() for union in accesses for each in maps_of(union))


def last_writers(
    scop: Scop, sinks: isl.UnionMap, kills: isl.UnionMap, sources: isl.UnionMap
) -> tuple[isl.UnionMap, isl.UnionMap]:
    """``{ source -> [sink -> element] }``, and what of ``sinks`` no earlier one of ``kills`` meets.

    All arguments map instances to elements. A source runs before its sink, accesses the same element,
    and no instance of ``kills`` does so between the two. Each array is looked at by itself, and once.
    """
    nothing = isl.UnionMap.empty(sinks.get_space())
    flow, old = [], []
    others = [by_array(each) for each in (kills, sources)]
    for array, own in by_array(sinks).items():
        accesses = own, *(each.get(array, nothing) for each in others)
        found = _last_writers(order_of(scop.schedule, accesses), *accesses)
        flow += maps_of(found[0])
        old += maps_of(found[1])
    return union_of(flow, nothing.get_space()), union_of(old, nothing.get_space())


@remembered
def _last_writers(
    order: isl.UnionMap, sinks: isl.UnionMap, kills: isl.UnionMap, sources: isl.UnionMap
) -> tuple[isl.UnionMap, isl.UnionMap]:
    """The same for accesses of one array, whose instances run in ``order``."""
    element, instance = sinks.range_map(), sinks.domain_map()

    def ordered(first: isl.UnionMap, second: isl.UnionMap) -> isl.UnionMap:
        """``{ first -> second }``: instances of the two that run in this order."""
        one, other = (order.intersect_domain(each.domain()) for each in (first, second))
        return one.lex_lt_union_map(other)

    def before(accesses: isl.UnionMap) -> isl.UnionMap:
        """``{ [sink -> element] -> access }`` for the ``accesses`` of the element before the sink."""
        same = element.apply_range(accesses.reverse())
        return same.intersect(instance.apply_range(ordered(accesses, sinks).reverse()))

    killers = before(kills)
    found = killers if _are_the_same(sources, kills) else before(sources)
    hidden = ordered(sources, kills).apply_range(killers.reverse())
    return found.reverse().subtract(hidden), sinks.subtract(killers.domain().unwrap())


def _are_the_same(accesses: isl.UnionMap, others: isl.UnionMap) -> bool:
    """Whether both are seen to be the same without a proof."""
    one, other = map(maps_of, (accesses, others))
    return len(one) == len(other) and all(map(isl.Map.plain_is_equal, one, other))
