"""Buffers for what a register tile reads: parts of the statement that one copy serves many times.

What M and K move is the same for every panel, what K and N move is the same for every block of rows in
a panel. Copied in the order of
use, it is read without strides whatever its layout is, and what it is computed from
(``alpha * A[i][k]``) is computed once. Instances in no whole block run along the lanes, too: where these
are far from each other in memory they read the copy as well.
"""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl

from polybuild.poly.marks import Mark, MarkKind
from polybuild.poly.relations import maps_of
from polybuild.poly.trees import prefix_schedule
from polybuild.scop.model import Access, AccessKind, Scop
from polybuild.targets.cpu.blocked_nest import BlockedNest, K, M, N, chunk, dimensions, offsets
from polybuild.targets.cpu.lanes import PackablePart, packable_parts
from polybuild.targets.cpu.strides import Stride
from polybuild.targets.model import Packed
from polybuild.transform.copy_statements import copy_instances
from polybuild.values import dataclass

_in = isl.dim_type.in_


@dataclass(frozen=True, slots=True)
class PackedOperand:
    """A buffer, and the instances of its copy statement by the time stamps that they serve.

    It is filled below the first ``scope`` schedule dimensions.
    """

    packed: Packed
    instances: isl.Map
    scope: int


@dataclass(frozen=True, slots=True)
class _Layout:
    """How a buffer is laid out.

    ``kept`` are the dimensions of the time stamps that tell its elements apart, after the first
    ``scope``. Its subscripts in the register tile are ``values``, in the copy statement the
    dimensions kept, each as far as it is from the start of its tile, of size ``extents``.
    """

    scope: int
    kept: tuple[int, ...]
    extents: tuple[int, ...]
    values: tuple[isl.PwAff, ...]


def find_packed_operands(
    scop: Scop, nest: BlockedNest, numbers: Iterator[int], begun: Mark | None
) -> list[PackedOperand]:
    """What to pack for the register tiles at ``nest``; ``numbers`` makes the buffers' names unique.

    What of other blocks is begun as partial tiles stands below the mark ``begun``, if anything is.
    """
    found = []
    everything = (
        nest.schedule.prefix.range() if nest.begun is None else nest.full.union(nest.begun).coalesce()
    )
    for part in packable_parts(nest.kernel.update, *nest.kernel.members):
        layout = _along_n(nest) if part.vector else _along_m(nest)
        wanted = [everything, nest.full] if _is_strided(nest, part) else [nest.full]
        constant = (each for each in wanted if _is_constant(scop, nest, each, part, layout.scope))
        stamps = next(constant, None)
        if stamps is not None:
            shared = stamps is everything
            buffer = _packed_operand(nest, part, layout, stamps, next(numbers), shared=shared, within=begun)
            if buffer is not None:
                found.append(buffer)
    return found


def _along_n(nest: BlockedNest) -> _Layout:
    """A panel, KC x NR: ``[k][n]``."""
    inner, sizes = nest.depths.inner, nest.sizes
    return _Layout(
        nest.depths.panel + 1,
        kept=(inner + K, inner + N),
        extents=(sizes.kc, sizes.block.nr),
        values=(nest.schedule.step, nest.schedule.lane),
    )


def _along_m(nest: BlockedNest) -> _Layout:
    """All blocks of rows, each KC x MR: ``[block][k][m]``."""
    inner, sizes, mr = nest.depths.inner, nest.sizes, nest.sizes.block.mr
    return _Layout(
        nest.depths.panel,
        kept=(nest.depths.row_block, inner + K, inner + M),
        extents=(sizes.mc // mr, sizes.kc, mr),
        values=(chunk(nest.schedule.row, mr), nest.schedule.step, nest.schedule.row),
    )


def _is_strided(nest: BlockedNest, part: PackablePart) -> bool:
    """Whether ``part`` is an element of an array, whose neighbours are those of other lanes."""
    (first, *others) = part.references
    alone = not others and part.expression is first.access.node
    return part.vector and alone and first.stride(nest.kernel.n) is not Stride.UNIT


def _packed_operand(
    nest: BlockedNest,
    part: PackablePart,
    layout: _Layout,
    stamps: isl.Set,
    number: int,
    *,
    shared: bool,
    within: Mark | None,
) -> PackedOperand | None:
    """The buffer for ``part`` at the time ``stamps``.

    If it is ``shared``, loops beside register tiles read it, too: those below the mark ``within`` alone, if
    one is given. None if the copies are not told apart by the time stamps that are kept.
    """
    mark = Mark(MarkKind.PACKED, number)
    instances = copy_instances(mark.name, stamps, [*range(layout.scope), *layout.kept])
    elements = []
    for each in part.references:
        touched = instances.reverse().apply_range(nest.schedule.touched(each.access.relation)).coalesce()
        if not touched.is_single_valued():
            return None
        elements.append((each.access, isl.PwMultiAff.from_map(touched)))
    packed = Packed(
        mark,
        nest.kernel.update.statement,
        part.expression,
        nest.kernel.update.types[id(part.expression)],
        tuple(elements),
        layout.extents,
        stored=offsets(dimensions(instances, layout.scope), layout.extents),
        used=offsets(layout.values, layout.extents),
        vector=part.vector,
        shared=shared,
        needs=nest.schedule.prefix.apply_range(instances),
        within=within,
    )
    return PackedOperand(packed, instances, layout.scope)


def _is_constant(scop: Scop, nest: BlockedNest, stamps: isl.Set, part: PackablePart, scope: int) -> bool:
    """Whether nothing below the first ``scope`` loops writes what ``part`` reads there at the ``stamps``."""
    accesses = [each.access for each in part.references]
    return all(_is_unwritten(scop, nest, stamps, each, scope) for each in accesses)


def _is_unwritten(scop: Scop, nest: BlockedNest, stamps: isl.Set, access: Access, scope: int) -> bool:
    read = nest.schedule.touched(access.relation).intersect_domain(stamps)
    read = read.project_out(_in, scope, read.dim(_in) - scope)
    prefixes = maps_of(prefix_schedule(nest.band))
    by_statement = {each.get_tuple_name(_in): each for each in prefixes}
    for statement in scop.statements:
        prefix = by_statement.get(statement.name)
        for each in statement.accesses:
            if prefix is None or each.array is not access.array or each.kind is AccessKind.READ:
                continue
            written = prefix.reverse().apply_range(each.relation)
            written = written.project_out(_in, scope, written.dim(_in) - scope)
            if not written.intersect(read).is_empty():
                return False
    return True
