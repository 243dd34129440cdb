"""Rows that the lanes of a loop read again and again, each its own: packed with the lanes side by side.

``for i: for k: for f: ... x[i][f] ...`` in lanes over ``i`` gathers elements that are a row distant, in each
iteration of ``k``. A buffer with the rows transposed is filled once for all of them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import islpy as isl

from polybuild.machine.model import Machine
from polybuild.poly.relations import largest
from polybuild.poly.trees import prefix_schedule
from polybuild.scop.model import AccessKind, Scop
from polybuild.targets.cpu.strides import Reference, references
from polybuild.targets.model import LaneOperand, PackedRows

_in, _out, _set, _param = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set, isl.dim_type.param


def find_packed_rows(
    node: isl.ScheduleNode,
    scop: Scop,
    operands: Mapping[int, LaneOperand],
    row_bytes: int,
    machine: Machine,
    *,
    guarded: Collection[int],
) -> tuple[PackedRows, ...] | None:
    """The rows to pack for the loop of the band ``node``, an element of each lane taking ``row_bytes``.

    None if lanes would gather distant elements again and again, which takes longer than it saves. What is
    ``guarded`` (by the identities of nodes) may not exist for each lane: a buffer has it if others fill it.
    """
    time = time_of(node)
    # A buffer lives on the stack of a thread, and stays in its second-level cache while it is used.
    maximum = min(machine.threads.stack, machine.l2.bytes // 4) // row_bytes
    distant: dict[str, list[Reference]] = {}
    written = set()
    for each in references(scop, node):
        operand = operands.get(id(each.access.node))
        if each.access.kind is not AccessKind.READ:
            written.add(each.access.array.name)
        elif operand is not None and operand.is_distant:
            distant.setdefault(each.access.array.name, []).append(each)
    packed = []
    for name, reads in distant.items():
        certain = [each for each in reads if id(each.access.node) not in guarded]
        rows = None if name in written or not certain else _packed(time, scop, reads, certain, maximum)
        if rows is not None:
            packed.append(rows)
        elif any(_is_gathered_again(time, scop, each) for each in reads):
            return None
    return tuple(packed)


def _packed(
    time: isl.UnionMap, scop: Scop, reads: list[Reference], certain: list[Reference], maximum: int
) -> PackedRows | None:
    """The rows of one array, None unless lanes move one subscript and the other is the same for all.

    A buffer has at most ``maximum`` places. Those of the ``reads`` that are ``certain`` tell what is in it.
    """
    array, subscripts = reads[0].access.array, 2  # which row, and the place in it
    if len(array.extents) != subscripts:
        return None
    moved = {tuple(step[0] for step in each.matrix) for each in reads}
    if len(moved) != 1:
        return None
    steps = moved.pop()
    rows = [place for place, step in enumerate(steps) if step != 0]
    if len(rows) != 1 or None in steps:
        return None
    lane, place = rows[0], 1 - rows[0]
    touched = [_touched(time, scop, each) for each in reads]
    row = touched[0].project_out(_out, place, 1)
    if not all(each.project_out(_out, place, 1).is_equal(row) for each in touched[1:]):
        return None
    if not row.is_single_valued() or not any(_is_reused(time, scop, each) for each in reads):
        return None
    parts = dict(zip(map(id, reads), touched, strict=True))
    whole = parts[id(certain[0])]
    for each in certain[1:]:
        whole = whole.union(parts[id(each)])
    if not all(each.is_subset(whole) for each in touched):
        return None
    needed = whole.domain().params()
    stamps = isl.Set.from_union_set(time.range()).intersect_params(needed).intersect_params(scop.context)
    places = whole.range().project_out(_set, lane, 1).reset_tuple_id()
    if not _fills_rows(stamps, row, places, whole, lane_first=lane == 0):
        return None
    low, high = (each.gist(needed) for each in (places.dim_min(0), places.dim_max(0)))
    extent = largest(high.sub(low).add_constant_val(isl.Val(1)).intersect_params(scop.context))
    enough = bool(extent.is_int()) and extent.to_python() <= maximum
    nodes = frozenset(id(each.access.node) for each in reads)
    size = extent.to_python() if enough else maximum
    return PackedRows(
        array, nodes, (lane, place), (low, high), needed.gist(scop.context), size, enough=enough
    )


def time_of(node: isl.ScheduleNode) -> isl.UnionMap:
    """``{ instance -> time stamp }`` down to the band ``node``."""
    partial = isl.UnionMap.from_multi_union_pw_aff(node.band_get_partial_schedule())
    time = prefix_schedule(node).flat_range_product(partial)
    return time.intersect_domain(node.get_domain())


def _fills_rows(
    stamps: isl.Set, row: isl.Map, places: isl.Set, touched: isl.Map, *, lane_first: bool
) -> bool:
    """Whether an iteration at each of ``stamps`` reads all ``places``, which lie side by side, of its row."""
    if not places.dim_has_any_lower_bound(_set, 0) or not places.dim_has_any_upper_bound(_set, 0):
        return False
    first, last = isl.Set.from_pw_aff(places.dim_min(0)), isl.Set.from_pw_aff(places.dim_max(0))
    upwards = isl.Map.lex_le(places.get_space())
    between = first.apply(upwards).intersect(last.apply(upwards.reverse()))
    if not between.is_subset(places) or not stamps.is_subset(row.domain()):
        return False
    rows = row.intersect_domain(stamps).reset_tuple_id(_out)
    columns = isl.Map.from_domain_and_range(stamps, places)
    both = rows.flat_range_product(columns) if lane_first else columns.flat_range_product(rows)
    return bool(both.is_subset(touched.reset_tuple_id(_out)))


def _touched(time: isl.UnionMap, scop: Scop, reference: Reference) -> isl.Map:
    """Which elements are accessed at each time stamp of the loop."""
    relation = reference.access.relation.intersect_domain(reference.statement.domain)
    relation = relation.intersect_params(scop.context)
    return isl.Map.from_union_map(time.reverse().apply_range(isl.UnionMap.from_map(relation)))


def _is_gathered_again(time: isl.UnionMap, scop: Scop, reference: Reference) -> bool:
    """Whether an iteration of the loop accesses several elements, some of them several times."""
    return not _touched(time, scop, reference).is_single_valued() and _is_reused(time, scop, reference)


def _is_reused(time: isl.UnionMap, scop: Scop, reference: Reference) -> bool:
    """Whether an iteration of the loop accesses an element several times."""
    relation = reference.access.relation.intersect_domain(reference.statement.domain)
    relation = relation.intersect_params(scop.context)
    both = time.range_product(isl.UnionMap.from_map(relation))
    return not both.is_injective()
