"""Temporary arrays in buffers of the threads, where an order keeps few of their values alive."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import islpy as isl

from polybuild.analysis.dependences import written_and_flow
from polybuild.budget import budget_within, was_spent
from polybuild.options import Options
from polybuild.polyhedral import descendants, mark_name
from polybuild.scop.model import Array, Scop
from polybuild.storage.buffers import Buffer, contract_at
from polybuild.storage.liveness import LiveValues
from polybuild.targets.cpu.mapping import CpuMapping
from polybuild.targets.cpu.strides import references
from polybuild.targets.model import LoopLine
from polybuild.transform.bands import is_band

# isl's operations that the search for a buffer may take at one place
_OPERATIONS = 400_000


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
    root = single_members(mapping.schedule.get_root())
    accumulated = {each.array.name for each in mapping.accumulators}  # these have a variable already
    for array in (each for each in temporaries if each.name not in accumulated):
        values = LiveValues(*written_and_flow(scop, array))
        for node in scopes_of(root):
            buffer = buffer_at(node, array, values, scop.context, f"buffer{len(buffers)}")
            if buffer is None:
                continue
            if buffer.size <= free:
                free -= buffer.size
                buffers.append(buffer)
                root = node.insert_mark(isl.Id(buffer.name)).root()
            break
    return with_buffers(mapping, root, buffers) if buffers else mapping


def with_buffers(mapping: CpuMapping, root: isl.ScheduleNode, buffers: Sequence[Buffer]) -> CpuMapping:
    """``mapping`` with ``buffers``, whose marks are in the tree of ``root``."""
    return replace(
        mapping,
        schedule=root.get_schedule(),
        loop_lines=_without_private(mapping.loop_lines, buffers),
        buffers=tuple(buffers),
        remarks=(*mapping.remarks, *map(_remark, buffers)),
    )


def _without_private(lines: Mapping[str, LoopLine], buffers: Sequence[Buffer]) -> dict[str, LoopLine]:
    """``lines`` for loops in which ``buffers`` stand for arrays that were private."""
    held = {each.array.name for each in buffers}
    return {
        mark: replace(line, private=tuple(each for each in line.private if each.name not in held))
        for mark, line in lines.items()
    }


def _remark(buffer: Buffer) -> str:
    """What an array is kept in, how its elements are mapped to that, and what it took before."""
    many = "a variable" if buffer.cells == 1 else f"{buffer.cells} variables"
    if not buffer.scalars and buffer.extents:
        many = f"a buffer of {' x '.join(map(str, buffer.extents))} elements"
    terms = ", ".join(
        f"{_text(row)} mod {size}"
        for row, size in zip(buffer.mapping.rows, buffer.mapping.sizes, strict=True)
        if buffer.scalars
    )
    subscripts = "".join(f"[{name}]" for name in _names(len(buffer.array.extents)))
    where = f": {subscripts} in ({terms})" if terms else ""
    box = _box(buffer)
    before = f" instead of {box} elements" if box else ""
    return f"'{buffer.array.spelling}' is kept in {many}{before}{where}"


def _box(buffer: Buffer) -> str:
    """The extents of the array's part that was written; empty if there are no simple ones."""
    written = buffer.written
    build = isl.AstBuild.from_context(written.params())
    texts = []
    for dimension in range(written.dim(isl.dim_type.set)):
        length = written.dim_max(dimension).sub(written.dim_min(dimension)).add_constant_val(isl.Val(1))
        length = length.coalesce().gist_params(written.params())
        if length.n_piece() != 1:
            return ""
        text = build.expr_from_pw_aff(length).to_C_str()
        texts.append(text)
    return " x ".join(each if each.isalnum() or len(texts) == 1 else f"({each})" for each in texts)


def _names(count: int) -> list[str]:
    return list("ijklmnop"[:count])


def _text(row: Sequence[int]) -> str:
    terms = [
        name if factor == 1 else f"{factor}*{name}"
        for factor, name in zip(row, _names(len(row)), strict=True)
        if factor
    ]
    text = " + ".join(terms)
    return text if len(terms) == 1 else f"({text})"


def buffer_at(
    node: isl.ScheduleNode,
    array: Array,
    values: LiveValues,
    context: isl.Set,
    name: str,
    *,
    scalars: bool = False,
) -> Buffer | None:
    """What ``contract_at`` finds; None if that takes isl too long."""
    try:
        with budget_within(_OPERATIONS):
            return contract_at(node, array, values, context, name, scalars=scalars)
    except isl.Error as error:
        if not was_spent(error):
            raise
        return None


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
                if moves and buffer.place.get_aff(position).dim(isl.dim_type.div):
                    return False
    return True


def single_members(node: isl.ScheduleNode) -> isl.ScheduleNode:
    """The tree with one member in each band."""
    if is_band(node) and node.band_n_member() > 1:
        node = node.band_split(1)
    for index in range(node.n_children()):
        node = single_members(node.child(index)).parent()
    return node


def scopes_of(root: isl.ScheduleNode) -> list[isl.ScheduleNode]:
    """Places for a declaration, deepest first: the region, loops' bodies; around no loop of the threads."""
    return sorted(_scopes(root), key=lambda each: -each.get_tree_depth())


def _scopes(node: isl.ScheduleNode) -> Iterator[isl.ScheduleNode]:
    for index in range(node.n_children()):
        below = node.child(index)
        yield from _scopes(below)
        if (is_band(node) or not node.has_parent()) and not _has_threads(below):
            yield below


def _has_threads(node: isl.ScheduleNode) -> bool:
    """Whether a loop of the threads is below."""
    return any(mark_name(each).startswith("parallel") for each in descendants(node))
