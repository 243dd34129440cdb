"""The plan of a region for a device: of its model as it stands, or of one that suits many threads better.

Values of private variables are kept in the elements that they end up in where threads hold those in registers
(``storage.coalescing``), and reductions that may be taken out of their order are in parts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

import islpy as isl
from pycparser import c_ast

from polybuild.analysis.dependences import Dependences, accesses_of, compute_dependences, may_be_private
from polybuild.analysis.placed_reductions import find_placed_reductions
from polybuild.analysis.reduction_dependences import across_lanes, separate_reduction_dependences
from polybuild.analysis.reductions import (
    Reduction,
    find_reductions,
    find_scattered_updates,
)
from polybuild.c.basic_types import BOOL
from polybuild.c.syntax_tree import walk
from polybuild.context import CompileContext
from polybuild.diagnostics import Unsupported
from polybuild.driver.private_variables import with_values_in_elements
from polybuild.effort import KERNEL_MODEL_OPERATIONS, KERNEL_TILING_OPERATIONS
from polybuild.options import OVERLAPPED
from polybuild.poly.budget import found_within
from polybuild.poly.relations import maps_of, union_of
from polybuild.schedule.legality import IllegalSchedule
from polybuild.scop.model import Array, Scop
from polybuild.source.model import Region
from polybuild.storage.buffers import IllegalStorage
from polybuild.storage.forwarding import forward_to
from polybuild.storage.scalar_expansion import expand_private, private_nests
from polybuild.storage.selected_values import with_selected_values
from polybuild.targets.base import Target
from polybuild.targets.device import (
    SERIAL,
    DevicePlan,
    InspectedRange,
    LargeTiles,
    ThreadTile,
    with_measures,
)
from polybuild.targets.languages import APPROXIMATE, mathematical
from polybuild.transform.pivot_splitting import split_at_pivots
from polybuild.values import dataclass

_in, _out = isl.dim_type.in_, isl.dim_type.out


def plan_for_device(
    target: Target,
    region: Region,
    model: tuple[Scop, Dependences, frozenset[str]],
    context: CompileContext,
    temporaries: Sequence[Array],
) -> tuple[Scop, DevicePlan]:
    """The plan, and the model that it is of.

    ``model`` is that of ``region``, its dependences, and the variables that are read after it. Raises
    Unsupported if the region cannot run on a device.
    """
    scop, dependences, live_out = model
    _check_supported(scop, target)
    planned = partial(_plan, target, region, context=context, temporaries=temporaries)
    plain: tuple[Scop, DevicePlan] | Unsupported
    try:
        plain = planned(model)
    except Unsupported as error:
        if error.diagnostic.code != SERIAL or context.options.schedule == "original":
            raise
        plain = error
    if not isinstance(plain, Unsupported) and _depth(plain[1]) <= 1:
        return plain
    split = found_within(KERNEL_MODEL_OPERATIONS, partial(split_at_pivots, scop, dependences)) or scop
    if split is not scop:
        try:
            parts = planned((split, compute_dependences(split, live_out), live_out))
        except (Unsupported, IllegalSchedule, IllegalStorage):
            pass  # the pivots are not all that keeps threads from the region
        else:
            if isinstance(plain, Unsupported) or _depth(parts[1]) < _depth(plain[1]):
                return parts
    if isinstance(plain, Unsupported):
        raise plain
    return plain


def _depth(plan: DevicePlan) -> int:
    """In how many loops of the host kernels are launched."""
    return max(map(len, plan.launches), default=0)


def _plan(
    target: Target,
    region: Region,
    model: tuple[Scop, Dependences, frozenset[str]],
    *,
    context: CompileContext,
    temporaries: Sequence[Array],
) -> tuple[Scop, DevicePlan]:
    """As plan_for_device, of ``model`` as it is or with other private variables."""
    scop, dependences, live_out = model
    # a check looks at all that was written
    live = None if context.options.verify else live_out
    if context.options.schedule == "original":
        return scop, target.plan(scop, dependences, context, live, temporaries)

    planner = _Planner(target, region, context, live_out, temporaries)
    shape = context.options.tile_shape if context.options.tile else ""
    if shape == "auto":
        return _plan_automatic(planner, model)
    if shape != OVERLAPPED:
        return _plan_forms(planner, scop, dependences)
    try:
        return _overlapped(target, model, context)
    except ValueError as error:
        why = f"tiles over time do not overlap: {error}"
        form, plan = _plan_forms(planner, scop, dependences)
        exceeded = (why,) if isinstance(error, LargeTiles) else ()
        remarks = (*plan.remarks, f"on the device {why}")
        return form, replace(plan, remarks=remarks, exceeded=(*plan.exceeded, *exceeded))


def _plan_forms(planner: _Planner, scop: Scop, dependences: Dependences) -> tuple[Scop, DevicePlan]:
    """As ``_plan``, where private variables may be others."""
    live_out = planner.live_out

    def planned(form: Scop) -> tuple[Scop, DevicePlan]:
        return planner.plan(form, dependences if form is scop else compute_dependences(form, live_out))

    if any(may_be_private(each, live_out) for each in scop.arrays):
        changed = (
            found_within(
                KERNEL_MODEL_OPERATIONS, partial(with_values_in_elements, scop, live_out, dynamic=True)
            )
            or scop
        )
        own = found_within(KERNEL_MODEL_OPERATIONS, partial(_in_arrays, changed, live_out)) or changed
        expanded: tuple[Scop, DevicePlan] | None = None
        # an array more has to be worth it: in products, in which threads have several points
        for each, points in ((own, 2), (changed, 1)):
            if each is scop or (points > 1 and own is changed):
                continue
            try:
                form, plan = planned(each)
            except Unsupported:
                continue
            if _moved(scop, each) <= _in_registers(plan, points):
                return form, plan
            if each is own:
                expanded = form, plan
        if expanded is not None:
            return _with_fewer_launches(expanded, partial(planned, scop))
    try:
        return planned(scop)
    except Unsupported as error:
        if error.diagnostic.code != SERIAL:
            raise
        selected = _with_selections(scop, live_out)
        with_arrays = found_within(KERNEL_MODEL_OPERATIONS, partial(planner.with_terms_in_arrays, selected))
        for form in (selected, with_arrays or scop):
            if form is not scop:
                with suppress(Unsupported):
                    return planned(form)
        raise


def _plan_automatic(
    planner: _Planner, model: tuple[Scop, Dependences, frozenset[str]]
) -> tuple[Scop, DevicePlan]:
    """As ``_plan``, where steps of stencils are in tiles that overlap if that takes the least time."""
    target, context = planner.target, planner.context
    found = found_within(KERNEL_MODEL_OPERATIONS, partial(target.overlaps_steps, model[0], model[1], context))
    overlaps, why = found or (False, "")
    planned = None
    if overlaps:
        with suppress(ValueError):  # else the next best form, whose instances run once
            planned = _overlapped(target, model, context)
    form, plan = planned or _plan_forms(planner, model[0], model[1])
    told = (f"on the device {why}",) if why else ()
    return form, replace(plan, remarks=(*plan.remarks, *told))


def _overlapped(
    target: Target, model: tuple[Scop, Dependences, frozenset[str]], context: CompileContext
) -> tuple[Scop, DevicePlan]:
    """The plan of steps in tiles that overlap, and the model that it is of; raises ValueError without one."""
    scop, dependences, live_out = model
    plan = partial(target.plan_overlapped, scop, dependences, context, live_out)
    try:
        found = found_within(KERNEL_TILING_OPERATIONS, plan)
    except (Unsupported, IllegalSchedule, IllegalStorage) as error:
        raise ValueError("threads of a tile would share values") from error
    if found is None:
        raise ValueError("they take too long to prove")
    return found


def _with_selections(scop: Scop, live_out: frozenset[str]) -> Scop:
    """``scop`` with private variables that conditions set (``if (v < 0) v = -v;``) set in any case."""
    for array in scop.arrays:
        if array.is_scalar and may_be_private(array, live_out):
            scop = with_selected_values(scop, array) or scop
    return scop


def _with_fewer_launches(
    expanded: tuple[Scop, DevicePlan], planned: Callable[[], tuple[Scop, DevicePlan]]
) -> tuple[Scop, DevicePlan]:
    """``expanded`` if the host launches its kernels in fewer loops, or nothing else is; else ``planned``."""
    try:
        plain = planned()
    except Unsupported:
        return expanded
    return expanded if _depth(expanded[1]) < _depth(plain[1]) else plain


def _check_supported(scop: Scop, target: Target) -> None:
    """Refuse what a device has no place for. Raises Unsupported."""
    assert target.language is not None  # noqa: S101 - every device has one
    for array in scop.arrays:
        if array.element == BOOL and target.language.types.of(BOOL) is None:
            raise Unsupported(
                "device",
                f"'{array.source_name}' has truth values, of which {target.title} keeps none in memory",
                array.location,
                "declare it with a type of integers",
            )
        if array.row_subscripts:
            raise Unsupported(
                "device-footprint",
                f"the rows of '{array.source_name}' lie apart, so they cannot be copied",
                array.location,
                "declare it as an array of known extents",
            )


@dataclass(frozen=True, slots=True)
class _Planner:
    """Plans forms of the model of ``region``; variables called ``live_out`` are read after it."""

    target: Target
    region: Region
    context: CompileContext
    live_out: frozenset[str]
    temporaries: Sequence[Array]

    def plan(self, form: Scop, own: Dependences) -> tuple[Scop, DevicePlan]:
        """The plan of ``form``, of dependences ``own``, and the form that it is of: with rows in lanes."""
        share = partial(_in_lanes, self.target, form, own, self._reductions, self.live_out)
        shared, lanes = found_within(KERNEL_MODEL_OPERATIONS, share) or (form, ())
        if lanes:
            try:
                return self._in_parts(shared, compute_dependences(shared, self.live_out), lanes)
            except (Unsupported, IllegalSchedule, IllegalStorage):
                pass  # each thread takes a row, or parts go through memory
        return self._in_parts(form, own)

    def with_terms_in_arrays(self, form: Scop) -> Scop:
        """``form`` with an array for each private variable that a term of a reduction is.

        What makes the variables can run by itself then, before the terms are put together in parts.
        """
        scattered = find_scattered_updates(form, self.region, self.context.reordering).found
        readers = frozenset(each.statement.name for each in [*self._reductions(form), *scattered])
        return _in_arrays(form, self.live_out, readers)

    def _reductions(self, form: Scop) -> Sequence[Reduction]:
        """The reductions that may be reordered, those of loops whose bounds are data among them."""
        return find_reductions(form, self.region, self.context.reordering).found

    def _in_parts(
        self, form: Scop, own: Dependences, lanes: Sequence[Reduction] = ()
    ) -> tuple[Scop, DevicePlan]:
        """The plan of ``form`` with all reductions in parts but those in ``lanes``."""
        target, region, context, live_out = self.target, self.region, self.context, self.live_out
        reductions = find_reductions(form, region, context.reordering)
        found = found_within(KERNEL_MODEL_OPERATIONS, partial(self._split, form, own, lanes))
        parts, measured = found or (form, ())
        if parts is not form:
            form, own = parts, compute_dependences(parts, live_out)
        own = separate_reduction_dependences(form, own, [*_atomic(target, form, region), *lanes])
        live = None if context.options.verify else live_out  # a check looks at all that was written
        try:
            plan = target.plan(form, across_lanes(own), context, live, self.temporaries)
        except Unsupported as error:
            scattered = find_scattered_updates(form, region, context.reordering, dynamic=True)
            raise _advised(error, (*reductions.ordered, *scattered.ordered), scattered.found) from None
        transfers = with_measures(plan.transfers, measured)
        remarks = (*plan.remarks, *_own_mathematics(region, form))
        return form, replace(plan, transfers=transfers, remarks=remarks)

    def _split(
        self, form: Scop, own: Dependences, lanes: Sequence[Reduction]
    ) -> tuple[Scop, tuple[InspectedRange, ...]]:
        """``form`` with all reductions in parts but those in ``lanes``, and in terms what these give a name.

        That is where a term is named before it is used. Then what tells how many elements parts have.
        """
        names = {each.statement.name for each in [*lanes, *_atomic(self.target, form, self.region)]}
        reordered = partial(_reordered, region=self.region, context=self.context, but=names)
        reductions = reordered(form)
        forwarded = forward_to(form, [each.statement.name for each in reductions], self.live_out)
        if forwarded is not form and all(each.statement in forwarded.statements for each in lanes):
            changed = [*reordered(forwarded), *lanes]
            parts = self.target.in_parts(forwarded, compute_dependences(forwarded, self.live_out), changed)
            if parts[0] is not forwarded:
                return parts
        return self.target.in_parts(form, own, [*reductions, *lanes])


def _in_lanes(
    target: Target,
    scop: Scop,
    dependences: Dependences,
    reordered: Callable[[Scop], Sequence[Reduction]],
    live_out: frozenset[str],
) -> tuple[Scop, tuple[Reduction, ...]]:
    """``scop`` with reductions whose rows several threads take, as ``_in_parts``; and these."""
    reductions = reordered(scop)
    forwarded = forward_to(scop, [each.statement.name for each in reductions], live_out)
    if forwarded is not scop:
        found = target.share_rows(forwarded, compute_dependences(forwarded, live_out), reordered(forwarded))
        if found[1]:
            return found
    return target.share_rows(scop, dependences, reductions)


def _reordered(scop: Scop, region: Region, context: CompileContext, but: Collection[str]) -> list[Reduction]:
    """The reductions of ``scop`` that parts may compute, but for those of the statements called ``but``."""
    found = find_reductions(scop, region, context.reordering).found
    found += find_scattered_updates(scop, region, context.reordering).found
    found = tuple(each for each in found if each.statement.name not in but)
    known = {each.statement.name for each in found}
    known |= set(but)
    placed = [each for each in find_placed_reductions(scop, region) if each.statement.name not in known]
    return [*found, *placed]


def _atomic(target: Target, scop: Scop, region: Region) -> list[Reduction]:
    """The updates of elements that data choose which are atomic operations of the device."""
    assert target.language is not None  # noqa: S101 - every device has one
    known = target.language.atomics
    found = find_scattered_updates(scop, region, dynamic=True, members=True).found
    return [each for each in found if known.has(each.operator, each.array.element)]


def _advised(error: Unsupported, ordered: Sequence[Reduction], scattered: Sequence[Reduction]) -> Unsupported:
    """``error``, with a hint where threads lack leave to share reductions: the ``ordered`` ones.

    Those of elements that data choose, in loops whose bounds are data, have no parts: ``scattered`` ones too.
    """
    told = error.diagnostic
    kept = [each for each in (*ordered, *scattered) if each.is_scattered and each.statement.dynamic]
    lacking = [each for each in ordered if each not in kept]
    if told.code != SERIAL or not (kept or lacking):
        return error
    hint = f"--allow-reassociation on lets threads share what line {_lines_of(lacking)} adds up or compares"
    if kept:
        hint = (
            f"line {_lines_of(kept)} adds to elements that data choose, in a loop whose bounds are data:"
            " only integers of 32 bits, in CUDA and HIP also of 64, have atomic operations for that"
        )
    return Unsupported(told.code, told.message, told.location, hint)


def _lines_of(reductions: Sequence[Reduction]) -> str:
    return ", ".join(dict.fromkeys(str(each.statement.location.line) for each in reductions))


def _own_mathematics(region: Region, scop: Scop) -> list[str]:
    """Which functions give other last bits on the device."""
    bodies = [each.body for each in scop.statements]
    for callee in region.callees.values():
        bodies += callee.body.statements if callee.body is not None else ()
    called = {
        str(each.name.name) for body in bodies for each in walk(body) if isinstance(each, c_ast.FuncCall)
    }
    found = {name: mathematical(name) for name in sorted(called)}
    names = [f"'{name}'" for name, each in found.items() if each is not None and each[0] in APPROXIMATE]
    return [f"on the device {', '.join(names)} may differ from the host's in the last bits"] if names else []


def _in_arrays(scop: Scop, live_out: frozenset[str], readers: Collection[str] = ()) -> Scop:
    """``scop`` with private values that outlast loops in arrays of the device; itself if there are none.

    Where a statement depends on itself along the loops that values are private to, as sums do, they may
    still be what keeps it in one loop with others. Values that ``readers`` read count, too.
    """
    dependences = compute_dependences(scop, live_out)
    nests = private_nests(scop, dependences, live_out, readers)
    nests = nests or private_nests(scop, _between_statements(dependences), live_out, readers)
    expansion = expand_private(scop, nests) if nests else None
    if expansion is None:
        return scop
    made = {each.name: each for nest in expansion.nests for each in nest.arrays}
    sized = {name: _with_extents(each, expansion.scop) for name, each in made.items()}
    statements = tuple(
        replace(
            statement,
            accesses=tuple(
                replace(each, array=sized.get(each.array.name, each.array)) for each in statement.accesses
            ),
        )
        for statement in expansion.scop.statements
    )
    arrays = tuple(sized.get(each.name, each) for each in expansion.scop.arrays)
    return replace(expansion.scop, statements=statements, arrays=arrays)


def _between_statements(dependences: Dependences) -> Dependences:
    """``dependences`` without those of statements on themselves."""

    def others(relation: isl.UnionMap) -> isl.UnionMap:
        kept = [each for each in maps_of(relation) if each.get_tuple_name(_in) != each.get_tuple_name(_out)]
        return union_of(kept, relation.get_space())

    return replace(dependences, flow=others(dependences.flow), false=others(dependences.false))


def _with_extents(array: Array, scop: Scop) -> Array:
    """``array`` with extents that hold all elements that ``scop`` accesses."""
    _, must, may = accesses_of(scop, array)
    touched = isl.Set.from_union_set(must.union(may).range()).intersect_params(scop.context)
    last = [touched.dim_max(dim) for dim in range(len(array.extents))]
    counts = (each.add_constant_val(isl.Val(1)).coalesce() for each in last)
    return replace(array, extents=tuple(counts), suffixes=())


def _moved(scop: Scop, changed: Scop) -> set[str]:
    """The statements in the innermost loops whose values have moved."""
    before = {each.name: each for each in scop.statements}
    moved = [each for each in changed.statements if each.accesses != before[each.name].accesses]
    deepest = max((len(each.iterators) for each in moved), default=0)
    return {each.name for each in moved if len(each.iterators) == deepest}


def _in_registers(plan: DevicePlan, points: int) -> set[str]:
    """The statements that find elements in registers of threads with so many ``points`` at least."""
    return {
        each.statement.name
        for tiles in plan.tree.tiles.values()
        for tile in tiles
        if isinstance(tile, ThreadTile) and math.prod(tile.sizes) >= points
        for each in tile.references
    }
