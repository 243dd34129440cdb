"""From dependences to what runs on the device: an order, its kernels, and what they need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import islpy as isl

from polybuild.analysis.dependences import Dependences
from polybuild.analysis.reductions import Reduction
from polybuild.analysis.trip_counts import dimension_counts, is_small
from polybuild.c.syntax_tree import location
from polybuild.c.types import FloatingType, IntegerType
from polybuild.diagnostics import Unsupported
from polybuild.effort import (
    KERNEL_CONTRACTION_OPERATIONS,
    KERNEL_DEGREE_OPERATIONS,
    KERNEL_PROOF_OPERATIONS,
    KERNEL_TILING_OPERATIONS,
)
from polybuild.options import SHARED_MEMORY, Options
from polybuild.poly.budget import budget_within, found_within, was_spent
from polybuild.poly.marks import Mark
from polybuild.poly.relations import largest, maps_of, sets_of
from polybuild.poly.trees import is_band
from polybuild.schedule.legality import IllegalSchedule, prove
from polybuild.schedule.scheduler import Fusion, compute_schedule
from polybuild.scop.model import AccessKind, Array, Scop, Statement
from polybuild.storage.buffers import Buffer, IllegalStorage
from polybuild.storage.description import describe
from polybuild.storage.temporaries import streams, users_of
from polybuild.targets.base import DeviceLimits
from polybuild.targets.device import SERIAL, STEP_BY_STEP, DevicePlan, Kernel
from polybuild.targets.gpu.barriers import check_barriers
from polybuild.targets.gpu.epilogues import fuse_epilogues
from polybuild.targets.gpu.index_limit import index_limit
from polybuild.targets.gpu.kernel_fusion import fuse_equal_grids
from polybuild.targets.gpu.lower import in_registers_alone, lower
from polybuild.targets.gpu.mapping import map_to_gpu
from polybuild.targets.gpu.model import GpuMapping
from polybuild.targets.gpu.privatised_histograms import find_block_copies
from polybuild.targets.gpu.thread_legality import (
    check_combined,
    check_mapping,
    meeting_steps,
    without_private,
)
from polybuild.targets.gpu.thread_storage import contract_in_threads, find_private
from polybuild.targets.gpu.tile_caches import with_old_values
from polybuild.targets.gpu.transfers import find_transfers
from polybuild.targets.gpu.tree import find_mark, prefix_of, time_stamps_of
from polybuild.transform.dynamic_loops import (
    counts_dynamic_loop,
    run_dynamic_loops_in_order,
    separate_dynamic_loops,
)
from polybuild.values import dataclass


def plan_for_gpu(
    scop: Scop,
    dependences: Dependences,
    options: Options,
    limits: DeviceLimits,
    *,
    live_out: frozenset[str] | None = None,
    temporaries: Sequence[Array] = (),
) -> DevicePlan:
    """The plan for ``scop``; raises Unsupported if it cannot run on a device.

    ``live_out`` names variables that are read after it; None: all may be, even of ``temporaries``. Of these
    the threads keep what they can. The reductions that ``dependences`` has apart are made atomically.
    """
    _require_plain_arrays(scop)

    def planned(chosen: _Chosen) -> DevicePlan:
        return _plan(scop, dependences, chosen, options, limits, live_out=live_out, temporaries=temporaries)

    why: tuple[str, ...] = ()
    usual: _Chosen | None = None
    if options.tile and options.tile_shape != "rectangular" and not dependences.reductions:
        try:
            with budget_within(KERNEL_TILING_OPERATIONS):
                found = _mapped(scop, dependences, options, limits, temporaries, over_time=True)
                if found.mapping.in_steps:
                    return planned(found)
            why = found.mapping.remarks
            fused = fuse_equal_grids(scop, found.order, _at_once(dependences))
            if not _fuses(options) or fused.plain_is_equal(found.order):
                usual = found
        except (IllegalSchedule, IllegalStorage):
            why = (f"{STEP_BY_STEP}: threads of tiles over time would share values",)
        except isl.Error as error:
            if not was_spent(error):
                raise
            why = (f"{STEP_BY_STEP}: tiles over time take too long to prove",)
    usual = usual or _mapped(scop, dependences, options, limits, temporaries)
    chosen = _or_contracted(usual, scop, dependences, options, limits, temporaries=temporaries)
    chosen = replace(chosen, mapping=replace(chosen.mapping, remarks=why))
    return planned(chosen)


def plan_mapping(
    scop: Scop,
    dependences: Dependences,
    mapping: GpuMapping,
    options: Options,
    limits: DeviceLimits,
    *,
    live_out: frozenset[str] | None = None,
) -> DevicePlan:
    """The plan for the kernels of ``mapping``, which are proved legal."""
    private = find_private(mapping, dependences, limits)
    _prove(scop, mapping, dependences, private)
    chosen = _Chosen(mapping, private, (), mapping.schedule)
    return _plan(scop, dependences, chosen, options, limits, live_out=live_out, temporaries=())


def _plan(
    scop: Scop,
    dependences: Dependences,
    chosen: _Chosen,
    options: Options,
    limits: DeviceLimits,
    *,
    live_out: frozenset[str] | None,
    temporaries: Sequence[Array],
) -> DevicePlan:
    """The plan for the kernels ``chosen``; raises as ``plan_for_gpu``."""
    mapping, private = chosen.mapping, chosen.private
    alone = _alone(scop, mapping)
    _require_many_threads(scop, mapping, alone, limits)
    _require_static_launches(scop, mapping)
    own = {array.name for array in (*private, *mapping.inside)} | chosen.contracted
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
    dead = frozenset(each.name for each in temporaries) if live_out is not None else frozenset()
    reductions = [each for group in dependences.reductions for each in group.reductions]
    transfers = find_transfers(_in_rows(scop, reductions), dependences, buffers, live_out, dead)
    if mapping.in_steps and SHARED_MEMORY in options.device_tiles:
        transfers = with_old_values(transfers)
    meetings = _meetings(mapping, dependences, private)
    tree = lower(scop, mapping, transfers, limits, steps=options.device_tiles, meetings=meetings)
    kept = in_registers_alone(scop, tree)
    transfers = tuple(each for each in transfers if each.array.name not in kept)
    check_barriers(tree, mapping.kernels, meetings)
    check_combined(tree, reductions)
    atomics = tuple(each for each in reductions if each.lanes is None)
    return DevicePlan(
        tree,
        mapping.kernels,
        private,
        transfers,
        index_limit(scop, mapping.schedule),
        tuple(_launches(scop, mapping, kernel) for kernel in mapping.kernels),
        frozenset(name for name, count in chosen.axes().items() if not count),
        chosen.buffers,
        (
            *_remarks(chosen, temporaries, kept),
            *_told(alone),
            *(f"on the device {each}" for each in tree.told),
        ),
        atomics,
        find_block_copies(scop, mapping, tree, atomics, limits),
        (*mapping.exceeded, *(tree.told if options.tile_sizes else ())),
    )


def _in_rows(scop: Scop, reductions: Sequence[Reduction]) -> Scop:
    """``scop`` without lanes: the terms that are looked at before are those of rows, one after the other."""
    lanes = [each.lanes for each in reductions if each.lanes is not None]
    whole = {statement.name: statement for each in lanes for statement in each.whole}
    return replace(scop, statements=tuple(whole.get(each.name, each) for each in scop.statements))


def _remarks(chosen: _Chosen, temporaries: Sequence[Array], in_registers: frozenset[str]) -> tuple[str, ...]:
    """Where each of ``temporaries`` is on the device, and why; some are ``in_registers`` alone."""
    kept = chosen.contracted.union(in_registers, (each.name for each in chosen.private))
    why = (
        "threads that keep it would share fewer loops, or reuse less (--contract-arrays on)"
        if chosen.refused
        else "its values go from thread to thread"
    )
    stay = [f"'{each.spelling}' is in memory: {why}" for each in temporaries if each.name not in kept]
    known = [f"'{each.spelling}' is kept in registers" for each in temporaries if each.name in in_registers]
    told = (*chosen.mapping.remarks, *map(describe, chosen.buffers), *known, *stay)
    return tuple(f"on the device {each}" for each in told)


def _alone(scop: Scop, mapping: GpuMapping) -> list[Statement]:
    """The statements that one thread does in loops that may be long."""
    statements = {each.name: each for each in scop.statements}
    found = []
    for kernel in mapping.kernels:
        mark = find_mark(mapping.schedule.get_root(), kernel.mark())
        for each in maps_of(prefix_of(mark)) if kernel.is_serial else ():
            statement = statements[each.get_tuple_name(isl.dim_type.in_)]
            if not each.is_injective() and not is_small(replace(scop, statements=(statement,))):
                found.append(statement)
    return found


def _told(alone: Sequence[Statement]) -> tuple[str, ...]:
    return (f"on the device one thread runs {_lines_of(alone)} alone",) if alone else ()


def _lines_of(statements: Sequence[Statement]) -> str:
    lines = sorted({each.location.line for each in statements})
    return f"line{'s' * (len(lines) > 1)} {', '.join(map(str, lines))}"


def _require_many_threads(
    scop: Scop, mapping: GpuMapping, alone: Sequence[Statement], limits: DeviceLimits
) -> None:
    """Refuse kernels in which one thread has as much to do as all the others together, by degree."""
    if all(kernel.is_serial for kernel in mapping.kernels):
        raise Unsupported(SERIAL, "no loop of this region is parallel", scop.location)
    degree = {each.name: _degree(scop, each, limits) for each in scop.statements}
    if not any(degree.values()):  # all are short
        degree = {each.name: len(each.iterators) for each in scop.statements}
    longest = max(degree.values())
    as_long = [each for each in alone if degree[each.name] == longest]
    if as_long:
        message = f"one thread of the device would run {_lines_of(as_long)} alone"
        raise Unsupported(SERIAL, message, as_long[0].location)


def _degree(scop: Scop, statement: Statement, limits: DeviceLimits) -> int:
    """How many loops around ``statement`` may be long: all where that takes long to tell."""
    trips = found_within(
        KERNEL_DEGREE_OPERATIONS,
        lambda: [largest(each) for each in dimension_counts(statement.domain, scop.context)],
    )
    if trips is None:
        return len(statement.iterators)
    return sum(not each.is_int() or each.to_python() >= limits.long_trips for each in trips)


def _require_static_launches(scop: Scop, mapping: GpuMapping) -> None:
    """Refuse loops with dynamic bounds around kernels: the host may not know their data."""
    dynamic = {statement.name: statement.dynamic for statement in scop.statements}
    for kernel in mapping.kernels:
        node = find_mark(mapping.schedule.get_root(), kernel.mark())
        while node.has_parent():
            node = node.parent()
            for position in range(node.band_n_member() if is_band(node) else 0):
                if counts_dynamic_loop(node, position, dynamic):
                    raise _dynamic(scop)


def _dynamic(scop: Scop) -> Unsupported:
    loop = next(loop for statement in scop.statements for loop in statement.dynamic)
    return Unsupported(
        "device", "kernels would be inside a loop whose bounds are data", location(loop.header)
    )


def _launches(scop: Scop, mapping: GpuMapping, kernel: Kernel) -> tuple[isl.PwAff, ...]:
    mark = find_mark(mapping.schedule.get_root(), kernel.mark())
    return dimension_counts(time_stamps_of(mark), scop.context) if mark.get_schedule_depth() else ()


@dataclass(frozen=True, slots=True)
class _Chosen:
    """Kernels that are proved legal; of ``private`` arrays each thread has a copy, of others ``buffers``.

    They are those of ``order``, in which nothing is fused yet. ``refused`` says that threads could keep more
    in another order, which would cost too much.
    """

    mapping: GpuMapping
    private: tuple[Array, ...]
    buffers: tuple[Buffer, ...]
    order: isl.Schedule
    refused: bool = False

    @property
    def contracted(self) -> frozenset[str]:
        """The names of the arrays in ``buffers``."""
        return frozenset(each.array.name for each in self.buffers)

    def axes(self) -> dict[str, int]:
        """How many loops of each statement run on blocks and threads."""
        found: dict[str, int] = {}
        for kernel in self.mapping.kernels:
            mark = find_mark(self.mapping.schedule.get_root(), kernel.mark())
            for each in sets_of(mark.get_domain()):
                name = each.get_tuple_name()
                found[name] = min(len(kernel.blocks), found.get(name, len(kernel.blocks)))
        return found


def _or_contracted(
    usual: _Chosen,
    scop: Scop,
    dependences: Dependences,
    options: Options,
    limits: DeviceLimits,
    *,
    temporaries: Sequence[Array],
) -> _Chosen:
    """The kernels of the ``usual`` order, or of one in which the threads keep more of ``temporaries``."""
    free = options.schedule == options.fusion == "auto"
    if len(usual.buffers) == len(temporaries) or not free:
        return usual
    mapped = partial(_mapped, scop, dependences, options, limits, temporaries, together=True)
    try:
        other = found_within(KERNEL_CONTRACTION_OPERATIONS, mapped)
    except (IllegalSchedule, IllegalStorage):
        return usual
    if other is None:
        return usual
    before, after = usual.axes(), other.axes()
    if options.contract_arrays != "on":  # loops that reuse what they read are better off in tiles
        pays = all(after[name] >= count for name, count in before.items())
        pays = pays and streams(scop, users_of(scop, temporaries), temporaries)
    else:
        pays = all(after[name] for name, count in before.items() if count)
    if len(other.buffers) <= len(usual.buffers):
        return usual
    return other if pays else replace(usual, refused=True)


def _mapped(
    scop: Scop,
    dependences: Dependences,
    options: Options,
    limits: DeviceLimits,
    temporaries: Sequence[Array],
    *,
    together: bool = False,
    over_time: bool = False,
) -> _Chosen:
    """Kernels that are proved legal, of loops that are fused where ``together`` says so.

    A private array that cannot be one of a thread lies in the device's memory, and
    its live ranges keep their order. ``over_time``, stencils get tiles.
    """
    fuses = _fuses(options) and not over_time and not together
    joins = _fuses(options) and not together
    while True:
        plain = _schedule(scop, dependences, options, together=together)
        schedule = fuse_equal_grids(scop, plain, _at_once(dependences)) if fuses else plain
        validity = dependences.validity if over_time else None
        reductions = tuple(each for group in dependences.reductions for each in group.reductions)
        mapped = partial(
            map_to_gpu, scop, options=options, limits=limits, inside=together, reductions=reductions
        )
        separate = mapping = mapped(schedule=schedule, over_time=validity)
        if joins and any(each.has_sums for each in mapping.kernels):
            mapping = fuse_epilogues(scop, separate, dependences)
            if not schedule.plain_is_equal(plain):  # what is fused may belong to several sums
                other = fuse_epilogues(scop, mapped(schedule=plain), dependences)
                mapping = other if len(other.kernels) < len(mapping.kernels) else mapping
        buffers = contract_in_threads(scop, mapping, temporaries, limits)
        contracted = {each.array.name for each in buffers}
        private = tuple(
            each for each in find_private(mapping, dependences, limits) if each.name not in contracted
        )
        own = [each.array for each in dependences.private if each.array.name in contracted]
        try:
            _prove(scop, mapping, dependences, (*private, *own))
        except IllegalSchedule:
            if mapping is not separate:
                joins = False
                continue
            if fuses and not schedule.plain_is_equal(plain):
                fuses = False
                continue
            if len(private) + len(own) == len(dependences.private):
                raise
            dependences = without_private(dependences, tuple(array.name for array in (*private, *own)))
        else:
            return _Chosen(mapping, private, buffers, plain)


def _fuses(options: Options) -> bool:
    """Whether kernels of equal grids may be one."""
    return options.fusion == options.schedule == "auto"


def _prove(scop: Scop, mapping: GpuMapping, dependences: Dependences, owned: tuple[Array, ...]) -> None:
    """``check_mapping`` by memory, where that takes little, and by the dependences."""

    def check(pairs: Dependences) -> None:
        check_mapping(scop, mapping, _at_once(pairs), owned)

    prove(check, scop, dependences, KERNEL_PROOF_OPERATIONS)


def _meetings(mapping: GpuMapping, dependences: Dependences, owned: Sequence[Array]) -> dict[Mark, isl.Set]:
    """The steps that begin with a barrier, of kernels with arrays of a tile; those of others all do."""
    if not mapping.inside:
        return {}
    pairs = without_private(dependences, tuple(each.name for each in owned)).validity
    return {each.mark(): meeting_steps(mapping, each, pairs) for each in mapping.kernels if each.in_steps}


def _at_once(dependences: Dependences) -> Dependences:
    """``dependences`` where reductions may run at the same time, too: they are atomic."""
    return replace(dependences, reductions=())


def _schedule(scop: Scop, dependences: Dependences, options: Options, *, together: bool) -> isl.Schedule:
    if options.schedule == "original":
        return scop.schedule
    fusion = Fusion.MIN if options.fusion == "auto" else Fusion(options.fusion)
    for strategy in dict.fromkeys((Fusion.MAX if together else fusion, Fusion.MIN)):
        try:
            schedule = compute_schedule(scop, _at_once(dependences), strategy, outer_coincidence=True)
        except isl.Error:
            continue
        separated = separate_dynamic_loops(scop, schedule)
        if separated is not None:
            return run_dynamic_loops_in_order(scop, separated)
    return run_dynamic_loops_in_order(scop, scop.schedule)


def levels(array: Array) -> int:
    """How many loops a copy of a box of ``array`` takes, the run of bytes among them."""
    return len(array.extents) + bool(array.suffixes and array.suffixes[-1])


def _require_plain_arrays(scop: Scop) -> None:
    for array in scop.arrays:
        kind = array.element
        plain = isinstance(kind, IntegerType) and kind.width in {1, 8, 16, 32, 64}
        plain = plain or (isinstance(kind, FloatingType) and kind.name in {"float", "double"})
        # copies are of runs, rows and planes
        plain = plain and (not any(array.suffixes) or (not array.local and levels(array) <= 3))
        if not plain:
            raise Unsupported(
                "device", f"elements like those of '{array.name}' stay on the host", array.location, ""
            )
