"""Last writers by subtraction: all earlier accesses of an element, less those before a certain write.

This is what isl's ``compute_flow`` finds by parametric integer programming. Where loops have strides it
was seen to name a source that a later one overwrites (``i`` from 0 to 3 by 2, followed by a
reader, with the parameter bounded: the last of ``i`` is 2, not 0), so there the sets are
taken literally.
"""

from __future__ import annotations

import islpy as isl

from polybuild.poly.relations import lexicographically_after, maps_of
from polybuild.scop.model import Scop


def has_strides(*accesses: isl.UnionMap) -> bool:
    """Whether integer divisions tell which instances access which elements."""
    return any(each.wrap().involves_locals() for union in accesses for each in maps_of(union))


def last_writers(
    scop: Scop, sinks: isl.UnionMap, kills: isl.UnionMap, sources: isl.UnionMap
) -> tuple[isl.UnionMap, isl.UnionMap]:
    """``{ source -> [sink -> element] }``, and what of ``sinks`` no earlier one of ``kills`` meets.

    All arguments map instances to elements. A source runs before its sink, accesses the same element,
    and no instance of ``kills`` does so between the two.
    """
    order = lexicographically_after(scop.schedule.get_map())
    element, instance = sinks.range_map(), sinks.domain_map()

    def before(accesses: isl.UnionMap) -> isl.UnionMap:
        """``{ [sink -> element] -> access }`` for the ``accesses`` of the element before the sink."""
        earlier = order.intersect_domain(accesses.domain()).intersect_range(sinks.domain())
        same = element.apply_range(accesses.reverse())
        return same.intersect(instance.apply_range(earlier.reverse()))

    killers = before(kills)
    until = order.intersect_domain(sources.domain()).intersect_range(kills.domain())
    hidden = until.apply_range(killers.reverse())
    return before(sources).reverse().subtract(hidden), sinks.subtract(killers.domain().unwrap())
