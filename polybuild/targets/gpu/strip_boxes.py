"""What a strip of tiles over time touches: the box of each array, before there are kernels."""

from __future__ import annotations

from functools import reduce

import islpy as isl

from polybuild.poly.relations import maps_of
from polybuild.scop.model import Array, Scop
from polybuild.storage.buffers import element_size
from polybuild.targets.device import Box
from polybuild.targets.gpu.footprint import box_of
from polybuild.targets.gpu.placement import union_of
from polybuild.transform.tiling.phases import Phase

_in = isl.dim_type.in_


def strip_box(scop: Scop, array: Array, phase: Phase) -> Box | None:
    """The box of ``array`` for a strip of ``phase``."""
    members = (isl.UnionMap.from_union_pw_aff(each) for each in (phase.wave, *phase.tiles, *phase.strips))
    stamps = reduce(isl.UnionMap.flat_range_product, members).intersect_domain(phase.instances)
    by_statement = {each.get_tuple_name(_in): each for each in maps_of(stamps)}
    touched = [
        by_statement[statement.name]
        .reverse()
        .apply_range(access.relation.intersect_domain(statement.domain).intersect_params(scop.context))
        for statement in scop.statements
        for access in statement.accesses
        if access.array.name == array.name and array.extents and statement.name in by_statement
    ]
    return box_of(union_of(touched)) if touched else None


def bytes_of_boxes(scop: Scop, phase: Phase) -> int:
    """The bytes of the boxes of all arrays for a strip of ``phase``; 0: none has one of constant size."""
    boxes = ((strip_box(scop, each, phase), element_size(each)) for each in scop.arrays)
    return sum(box.elements * size for box, size in boxes if box is not None)
