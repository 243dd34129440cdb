"""Temporary arrays in buffers of the threads, where an order keeps few of their values alive."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import islpy as isl

from polybuild.context import CompileContext
from polybuild.poly.marks import Mark, MarkKind
from polybuild.poly.trees import descendants, insert_mark, is_mark
from polybuild.scop.model import Array, Scop
from polybuild.storage.allocation_scope import first_buffer, scopes_below, single_members
from polybuild.storage.buffers import Buffer
from polybuild.storage.description import describe
from polybuild.targets.cpu.mapping import CpuMapping
from polybuild.targets.cpu.strides import references
from polybuild.targets.model import LoopDirective


def contract_arrays(
    scop: Scop, mapping: CpuMapping, temporaries: Sequence[Array], context: CompileContext
) -> CpuMapping:
    """``mapping`` with as many of ``temporaries`` in buffers as half of the first-level cache holds.

    A buffer is declared as deep in the tree as the values of its array allow, but not
    around a loop that is shared among threads.
    """
    if mapping.registers:  # what stays in registers or packed buffers is accessed there
        return mapping
    buffers: list[Buffer] = []
    free = context.machine.l1.bytes // 2
    root = single_members(mapping.schedule.get_root())
    # these have variables already
    placed = {each.array.name for each in mapping.accumulators} | {
        array.name
        for each in mapping.directives.values()
        if each.lanes is not None
        for array in each.lanes.variables
    }
    for array in (each for each in temporaries if each.name not in placed):
        found = first_buffer(scopes_of(root), array, scop, Mark(MarkKind.BUFFER, len(buffers)))
        if found is not None and found[1].size <= free:
            node, buffer = found
            free -= buffer.size
            buffers.append(buffer)
            root = insert_mark(node, buffer.mark).root()
    return with_buffers(mapping, root, buffers) if buffers else mapping


def with_buffers(mapping: CpuMapping, root: isl.ScheduleNode, buffers: Sequence[Buffer]) -> CpuMapping:
    """``mapping`` with ``buffers``, whose marks are in the tree of ``root``."""
    return replace(
        mapping,
        schedule=root.get_schedule(),
        directives=_without_private(mapping.directives, buffers),
        buffers=tuple(buffers),
        remarks=(*mapping.remarks, *map(describe, buffers)),
    )


def _without_private(
    directives: Mapping[Mark, LoopDirective], buffers: Sequence[Buffer]
) -> dict[Mark, LoopDirective]:
    """``directives`` of loops in which ``buffers`` stand for arrays that were private."""
    buffered = {each.array.name for each in buffers}
    return {
        mark: replace(
            directive, private=tuple(each for each in directive.private if each.name not in buffered)
        )
        for mark, directive in directives.items()
    }


def is_cheap(scop: Scop, mapping: CpuMapping) -> bool:
    """Whether no loop for the vector unit has to compute remainders to find its way in a buffer."""
    by_array = {each.array.name: each for each in mapping.buffers}
    for band in mapping.vector_loops():
        for reference in references(scop, band):
            buffer = by_array.get(reference.access.array.name)
            rows = buffer.mapping.rows if buffer else ()
            for position, row in enumerate(rows):
                assert buffer is not None  # noqa: S101 - it has rows
                steps = [each[-1] for each in reference.matrix]
                moves = any(factor and step != 0 for factor, step in zip(row, steps, strict=True))
                if moves and buffer.layout.get_aff(position).dim(isl.dim_type.div):
                    return False
    return True


def scopes_of(root: isl.ScheduleNode) -> list[isl.ScheduleNode]:
    """Places for a declaration, deepest first: the region, loops' bodies; around no loop of the threads."""
    return scopes_below(root, lambda each: not _has_threads(each))


def _has_threads(node: isl.ScheduleNode) -> bool:
    """Whether a loop of the threads is below."""
    return any(is_mark(each, MarkKind.PARALLEL) for each in descendants(node))
