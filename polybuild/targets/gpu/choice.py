"""From dependences to what runs on the device: an order, its kernels, and what they need."""

from __future__ import annotations

from dataclasses import dataclass

import islpy as isl

from polybuild.analysis.dependences import Dependences
from polybuild.analysis.work import dimension_counts
from polybuild.diagnostics import Unsupported
from polybuild.options import Options
from polybuild.schedule.legality import IllegalSchedule
from polybuild.schedule.scheduler import Fusion, compute_schedule
from polybuild.scop.model import AccessKind, Array, Scop
from polybuild.scop.nodes import location
from polybuild.source.types import Floating, Integer
from polybuild.targets.gpu.barriers import check_barriers
from polybuild.targets.gpu.check import check_mapping, without_private
from polybuild.targets.gpu.lower import LoweredTree, lower
from polybuild.targets.gpu.mapping import map_to_gpu
from polybuild.targets.gpu.model import GpuMapping, Kernel
from polybuild.targets.gpu.private import find_private
from polybuild.targets.gpu.ranges import index_limit
from polybuild.targets.gpu.transfers import Transfer, find_transfers
from polybuild.targets.gpu.tree import dates_of, find_mark


@dataclass(frozen=True, slots=True)
class GpuPlan:
    """What runs on the device for a region.

    ``tree`` is ready for code generation; ``private`` are the arrays that each
    thread has a copy of; ``transfers`` are the boxes of the others, except for
    scalars that are only read. All indices fit ``int`` while no parameter is
    beyond ``limit``, in either direction; 0: never. ``launches`` has, per kernel,
    bounds on the trip counts of the host's loops around it.
    """

    tree: LoweredTree
    kernels: tuple[Kernel, ...]
    private: tuple[Array, ...]
    transfers: tuple[Transfer, ...]
    limit: int
    launches: tuple[tuple[isl.PwAff, ...], ...]


def plan_for_gpu(
    scop: Scop, dependences: Dependences, options: Options, live_out: frozenset[str] | None = None
) -> GpuPlan:
    """The plan for ``scop``; raises Unsupported if it cannot run on a device.

    ``live_out`` names variables that are read after it; None: all may be.
    """
    _require_plain_arrays(scop)
    _require_static_bounds(scop)
    mapping, private = _mapping(scop, dependences, options)
    if all(kernel.is_serial for kernel in mapping.kernels):
        raise Unsupported("device", "no loop of this region is parallel", scop.location, "")
    own = {array.name for array in private}
    written = {
        access.array.name
        for statement in scop.statements
        for access in statement.accesses
        if access.kind is not AccessKind.READ
    }
    buffers = tuple(
        array
        for array in scop.arrays
        if array.name not in own and not (array.is_scalar and array.name not in written)
    )
    transfers = find_transfers(scop, dependences, buffers, live_out)
    tree = lower(scop, mapping, transfers)
    check_barriers(tree, mapping.kernels)
    return GpuPlan(
        tree,
        mapping.kernels,
        private,
        transfers,
        index_limit(scop, mapping.schedule),
        tuple(_launches(scop, mapping, kernel) for kernel in mapping.kernels),
    )


def _require_static_bounds(scop: Scop) -> None:
    """Refuse loops with dynamic bounds: the grid and the copies need bounds that are known before."""
    loops = [loop.header for statement in scop.statements for loop in statement.dynamic]
    if loops:
        raise Unsupported("device", "the bounds of a loop depend on data", location(loops[0]), "")


def _launches(scop: Scop, mapping: GpuMapping, kernel: Kernel) -> tuple[isl.PwAff, ...]:
    mark = find_mark(mapping.schedule.get_root(), kernel.name)
    return dimension_counts(dates_of(mark), scop.context) if mark.get_schedule_depth() else ()


def _mapping(scop: Scop, dependences: Dependences, options: Options) -> tuple[GpuMapping, tuple[Array, ...]]:
    """Kernels that are proved legal, and the arrays of which each thread has a copy.

    A private array that cannot be one of these lies in the device's memory, and
    its live ranges keep their order.
    """
    while True:
        mapping = map_to_gpu(scop, _schedule(scop, dependences, options), options)
        private = find_private(mapping, dependences)
        try:
            check_mapping(scop, mapping, dependences, private)
        except IllegalSchedule:
            if len(private) == len(dependences.private):
                raise
            dependences = without_private(dependences, tuple(array.name for array in private))
        else:
            return mapping, private


def _schedule(scop: Scop, dependences: Dependences, options: Options) -> isl.Schedule:
    if options.schedule == "original":
        return scop.schedule
    fusion = Fusion.MIN if options.fusion == "auto" else Fusion(options.fusion)
    for strategy in dict.fromkeys((fusion, Fusion.MIN)):
        try:
            return compute_schedule(scop, dependences, strategy, outer_coincidence=True)
        except isl.Error:
            continue
    return scop.schedule


def levels(array: Array) -> int:
    """How many loops a copy of a box of ``array`` takes, the run of bytes among them."""
    return len(array.extents) + bool(array.suffixes and array.suffixes[-1])


def _require_plain_arrays(scop: Scop) -> None:
    for array in scop.arrays:
        kind = array.element
        plain = isinstance(kind, Integer) and kind.width in {8, 16, 32, 64}
        plain = plain or (isinstance(kind, Floating) and kind.name in {"float", "double"})
        # copies are of runs, rows and planes
        plain = plain and (not any(array.suffixes) or (not array.local and levels(array) <= 3))
        if not plain:
            raise Unsupported(
                "device", f"elements like those of '{array.name}' stay on the host", array.location, ""
            )
