"""Temporary arrays in buffers of the threads, where an order keeps few of their values alive."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import islpy as isl

from polybuild.analysis.dependences import written_and_flow
from polybuild.options import Options
from polybuild.polyhedral import mark_name
from polybuild.scop.model import Array, Scop
from polybuild.storage.buffers import Buffer, contract_at
from polybuild.storage.liveness import LiveValues
from polybuild.targets.cpu.mapping import CpuMapping
from polybuild.transform.bands import is_band


def contract_arrays(
    scop: Scop, mapping: CpuMapping, temporaries: Sequence[Array], options: Options
) -> CpuMapping:
    """``mapping`` with as many of ``temporaries`` in buffers as half of the first-level cache holds.

    A buffer is declared as deep in the tree as the values of its array allow, but not
    around a loop that is shared among threads.
    """
    if mapping.registers:  # what stays in registers or packed buffers is accessed there
        return mapping
    buffers: list[Buffer] = []
    free = options.l1_size // 2
    root = _split(mapping.schedule.get_root())
    accumulated = {each.array.name for each in mapping.accumulators}  # these have a variable already
    for array in (each for each in temporaries if each.name not in accumulated):
        values = LiveValues(*written_and_flow(scop, array))
        for node in sorted(_scopes(root), key=lambda each: -each.get_tree_depth()):
            buffer = contract_at(node, array, values, scop.context, f"buffer{len(buffers)}")
            if buffer is None:
                continue
            if buffer.size <= free:
                free -= buffer.size
                buffers.append(buffer)
                root = node.insert_mark(isl.Id(buffer.name)).root()
            break
    if not buffers:
        return mapping
    remarks = tuple(f"'{each.array.spelling}' is kept in {_size(each)}" for each in buffers)
    held = {each.array.name for each in buffers}
    lines = {
        mark: replace(line, private=tuple(each for each in line.private if each.name not in held))
        for mark, line in mapping.loop_lines.items()
    }
    return replace(
        mapping,
        schedule=root.get_schedule(),
        loop_lines=lines,
        buffers=tuple(buffers),
        remarks=mapping.remarks + remarks,
    )


def _size(buffer: Buffer) -> str:
    """How large a buffer is, in words."""
    if not buffer.extents:
        return "a variable"
    return f"a buffer of {' x '.join(map(str, buffer.extents))} elements"


def _split(node: isl.ScheduleNode) -> isl.ScheduleNode:
    """The tree with one member in each band."""
    if is_band(node) and node.band_n_member() > 1:
        node = node.band_split(1)
    for index in range(node.n_children()):
        node = _split(node.child(index)).parent()
    return node


def _scopes(node: isl.ScheduleNode) -> Iterator[isl.ScheduleNode]:
    """Places for a declaration: the whole region and each loop's body, but around no loop of the threads."""
    for index in range(node.n_children()):
        below = node.child(index)
        yield from _scopes(below)
        if (is_band(node) or not node.has_parent()) and not _has_threads(below):
            yield below


def _has_threads(node: isl.ScheduleNode) -> bool:
    """Whether a loop of the threads is below."""
    return not node.every_descendant(lambda each: not mark_name(each).startswith("parallel"))
