"""Buffers for what a register tile reads: parts of the statement that one copy serves many times.

What changes with the rows and the steps is the same for every panel, what changes with the
steps and the lanes is the same for every block of rows in a panel. Copied in the order of
use, it is read without strides whatever its layout is, and what it is computed from
(``alpha * A[i][k]``) is computed once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import islpy as isl

from polybuild.poly.marks import Mark, MarkKind
from polybuild.poly.relations import maps_of
from polybuild.scop.model import Access, AccessKind, Scop
from polybuild.targets.cpu.lanes import Part, kept_parts
from polybuild.targets.cpu.site import LANES, ROWS, STEPS, Site, chunk, dimensions, offsets
from polybuild.targets.model import Packed
from polybuild.transform.copy_statements import copy_instances

_in = isl.dim_type.in_


@dataclass(frozen=True, slots=True)
class Buffer:
    """A buffer, and the instances of its copy statement by the dates that they serve.

    It is filled below the first ``scope`` schedule dimensions.
    """

    packed: Packed
    instances: isl.Map
    scope: int


@dataclass(frozen=True, slots=True)
class _Layout:
    """How a buffer is laid out.

    ``kept`` are the dimensions of the dates that tell its elements apart, after the first
    ``scope``. Its subscripts in the register tile are ``values``, in the copy statement the
    dimensions kept, each as far as it is from the start of its tile, of size ``extents``.
    """

    scope: int
    kept: tuple[int, ...]
    extents: tuple[int, ...]
    values: tuple[isl.PwAff, ...]


def find_buffers(scop: Scop, site: Site, numbers: Iterator[int]) -> list[Buffer]:
    """What to pack for the register tiles at ``site``; ``numbers`` makes the buffers' names unique."""
    roles = site.roles
    found = []
    for part in kept_parts(roles.update, roles.rows, roles.steps, roles.lanes):
        layout = _along_lanes(site) if part.vector else _along_rows(site)
        if all(_is_constant(scop, site, each.access, layout.scope) for each in part.references):
            buffer = _buffer(site, part, layout, next(numbers))
            if buffer is not None:
                found.append(buffer)
    return found


def _along_lanes(site: Site) -> _Layout:
    """A panel: ``[step][lane]``."""
    inner, sizes = site.frame.inner, site.sizes
    return _Layout(
        site.frame.panel + 1,
        kept=(inner + STEPS, inner + LANES),
        extents=(sizes.steps, sizes.block.columns),
        values=(site.schedule.step, site.schedule.lane),
    )


def _along_rows(site: Site) -> _Layout:
    """All blocks of rows: ``[block][step][row]``."""
    inner, sizes, rows = site.frame.inner, site.sizes, site.sizes.block.rows
    return _Layout(
        site.frame.panel,
        kept=(site.frame.row_block, inner + STEPS, inner + ROWS),
        extents=(sizes.rows // rows, sizes.steps, rows),
        values=(chunk(site.schedule.row, rows), site.schedule.step, site.schedule.row),
    )


def _buffer(site: Site, part: Part, layout: _Layout, number: int) -> Buffer | None:
    """The buffer for ``part``, None if the copies are not told apart by the dates that are kept."""
    mark = Mark(MarkKind.PACKED, number)
    instances = copy_instances(mark.name, site.full, [*range(layout.scope), *layout.kept])
    elements = []
    for each in part.references:
        touched = instances.reverse().apply_range(site.schedule.touched(each.access.relation)).coalesce()
        if not touched.is_single_valued():
            return None
        elements.append((each.access, isl.PwMultiAff.from_map(touched)))
    packed = Packed(
        mark,
        site.roles.update.statement,
        part.expression,
        site.roles.update.type,
        tuple(elements),
        layout.extents,
        stored=offsets(dimensions(instances, layout.scope), layout.extents),
        used=offsets(layout.values, layout.extents),
        vector=part.vector,
        needs=site.schedule.prefix.apply_range(instances),
    )
    return Buffer(packed, instances, layout.scope)


def _is_constant(scop: Scop, site: Site, access: Access, scope: int) -> bool:
    """Whether nothing below the first ``scope`` loops writes what register tiles read there by ``access``."""
    read = site.schedule.touched(access.relation).intersect_domain(site.full)
    read = read.project_out(_in, scope, read.dim(_in) - scope)
    prefixes = maps_of(site.band.get_prefix_schedule_union_map())
    dates = {each.get_tuple_name(_in): each for each in prefixes}
    for statement in scop.statements:
        date = dates.get(statement.name)
        for each in statement.accesses:
            if date is None or each.array is not access.array or each.kind is AccessKind.READ:
                continue
            written = date.reverse().apply_range(each.relation)
            written = written.project_out(_in, scope, written.dim(_in) - scope)
            if not written.intersect(read).is_empty():
                return False
    return True
