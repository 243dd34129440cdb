"""The passes of a region, in the order in which they run. Reading this file is reading the design.

The analyses fill a ``RegionModel``, once. The transformations fill a ``Transformation`` of it, anew for
each strategy that is tried. A pass is a function of this file, described by the first line of its
docstring; ``polybuild compile --list-passes`` prints them, ``--print-after NAME`` what one of them made.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Collection, Sequence
from dataclasses import field, replace
from enum import Enum
from functools import partial
from typing import Generic, TypeVar

import islpy as isl

from polybuild import effort
from polybuild.analysis.aliasing import Overlap, aliases_of, clobbering_arrays, find_overlaps
from polybuild.analysis.bounded import arrays_of_many_cases, bounded_dependences
from polybuild.analysis.dependences import Dependences, compute_dependences
from polybuild.analysis.exits import with_reads_of_exits, with_resolved_exits
from polybuild.analysis.histograms import find_histograms
from polybuild.analysis.inspectors import Inspector, is_dynamic
from polybuild.analysis.liveness import live_after
from polybuild.analysis.placed_reductions import find_placed_reductions
from polybuild.analysis.reductions import Reductions
from polybuild.analysis.reductions import find_reductions as reductions_of
from polybuild.analysis.scans import find_scans
from polybuild.analysis.trip_counts import trip_counts
from polybuild.codegen.device.model import DeviceRequest
from polybuild.codegen.file.names import identifiers
from polybuild.codegen.file.region import HostPlan, RegionText, RunTimeChecks, write_region
from polybuild.context import CompileContext
from polybuild.diagnostics import Unsupported
from polybuild.driver import pass_texts
from polybuild.driver.domain_shares import domain_shares
from polybuild.driver.private_variables import (
    NOTHING_FREED,
    WithoutPrivate,
    choose_without_private,
    map_sequential_parts,
)
from polybuild.driver.statement_blocks import blocks_gain, loops_around_blocks
from polybuild.normalise.hoisted_tables import hoist_tables
from polybuild.poly.budget import effort_part, found_within, operation_budget, settled_within, was_spent
from polybuild.poly.marks import MarkKind
from polybuild.poly.memory import Itself, remembered
from polybuild.poly.relations import maps_of
from polybuild.poly.trees import descendants, is_band
from polybuild.rerolling.reroll import reroll
from polybuild.schedule.legality import IllegalSchedule, check_schedule, prove
from polybuild.scop.determined_counters import project_determined_counters
from polybuild.scop.extract import (
    NormalForm,
    extract_scop,
    extract_with_exits,
    extract_with_row_capacities,
    extract_with_row_starts,
    normal_form,
)
from polybuild.scop.model import AccessKind, Array, Scop, Statement
from polybuild.scop.narrow_variables import narrow_variables, with_types_as_written
from polybuild.source.model import Region
from polybuild.storage.buffers import Buffer, IllegalStorage
from polybuild.storage.copy_elimination import fold_copies
from polybuild.storage.element_promotion import promote_elements
from polybuild.storage.guarded_values import set_guarded_values
from polybuild.storage.rematerialisation import NO_LAST_VALUES, LastValues, recompute_last_values
from polybuild.storage.step_sums import expand_step_sums
from polybuild.storage.step_values import expand_step_values
from polybuild.storage.temporaries import refusals, temporaries
from polybuild.storage.work_arrays import keep_last_work_arrays
from polybuild.targets.cpu.cost.compare import cost_of_versions
from polybuild.targets.cpu.cost.compiled import as_compiled
from polybuild.targets.cpu.cost.compilers_lanes import Aliases
from polybuild.targets.cpu.cost.crossover import enough_for_threads, enough_to_gain, threads_gain
from polybuild.targets.cpu.cost.inspectors import with_inspectors
from polybuild.targets.cpu.cost.versions import NOT_COMPARED, Comparison, VersionCosts
from polybuild.targets.cpu.expansion import Mapped, choose_with_copies
from polybuild.targets.cpu.mapping import CpuMapping
from polybuild.targets.cpu.original_order import original_in_lanes, original_on_threads
from polybuild.targets.cpu.overlapped_tiles import map_overlapped, not_in_vectors
from polybuild.targets.cpu.reduction_parallelisation import choose_with_reductions
from polybuild.targets.cpu.schedule_choice import Order, orders
from polybuild.targets.cpu.thread_limits import limit_threads
from polybuild.targets.device import STEP_BY_STEP
from polybuild.targets.lookup import TARGETS
from polybuild.targets.model import Enough
from polybuild.transform.colours import split_colours
from polybuild.transform.divided_counters import split_divided_counters
from polybuild.transform.followed_rows import assume_followed_rows
from polybuild.transform.grid_sizes import assume_grids
from polybuild.transform.index_set_splitting import split_index_sets
from polybuild.transform.pivot_splitting import split_at_pivots
from polybuild.transform.plain_order import in_plain_order
from polybuild.transform.residue_classes import split_residue_classes
from polybuild.values import dataclass


class ModelPurpose(Enum):
    """What a model is for: kernels, loops of the host, these with other storage, or with memory of theirs.

    That is memory for values of variables, or for whole grids.
    """

    DEVICE = "device"
    HOST = "host"
    STORAGE = "storage"
    VALUES = "values"
    MEMORY = "memory"


@dataclasses.dataclass(slots=True)
class RegionModel:
    """What is known of a region; each analysis sets what is called after it.

    ``operations`` is the budget of each analysis. Dependences are over-approximated unless ``exact``
    ones are asked for, and for the arrays ``approximated`` in any case; ``in_blocks`` says that
    statements that follow each other are one. ``blocked`` has the counters that ``scop`` is without,
    ``recomputed`` are last values that are computed apart from the loops.
    A model ``for_device`` keeps calls of functions with loops: kernels call them.
    """

    region: Region
    operations: int
    exact: bool = True
    purpose: ModelPurpose = ModelPurpose.HOST
    form: NormalForm = field(init=False)
    scop: Scop = field(init=False)
    blocked: Scop = field(init=False)
    in_blocks: bool = field(init=False)
    live: frozenset[str] = field(init=False)
    dependences: Dependences = field(init=False)
    approximated: tuple[Array, ...] = field(init=False)
    recomputed: LastValues = NO_LAST_VALUES

    @property
    def for_device(self) -> bool:
        """Whether kernels are made of it."""
        return self.purpose is ModelPurpose.DEVICE

    @property
    def is_huge(self) -> bool:
        """Whether there are more dependences than schedulers are made for."""
        pieces = sum(each.n_basic_map() for each in maps_of(self.dependences.validity))
        return pieces > effort.DEPENDENCE_PIECES

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a user should know of it."""
        found = []
        if self.in_blocks:
            found.append(
                "statements that follow each other stay together, as there are many, or steps over time"
            )
        found += [
            f"line {each.location.line}: '{each.source_name}' is read after the region: its last value is"
            " computed again, apart from the loops"
            for each in self.recomputed.scalars
        ]
        found += [
            f"line {each.location.line}: of '{each.spelling}' only the last value is computed: nothing reads"
            " those before"
            for each in self.recomputed.alone
        ]
        found += [
            f"line {each.location.line}: '{each.copied}' takes turns with a grid that the region allocates,"
            " as its steps would copy it: what they copy last is restored"
            for each in self.scop.arrays
            if each.provenance.allocated and each.copied and not each.provenance.each_thread
        ]
        of_steps = (
            f"line {each.location.line}: '{each.expanded}' is {_expansion(self.scop, each)}"
            for each in self.scop.arrays
            if each.provenance.allocated and each.expanded
        )
        found += dict.fromkeys(of_steps)
        if self.approximated:
            names = ", ".join(each.spelling for each in self.approximated)
            found.append(f"the exact dependences of {names} were not found in time; more of them are assumed")
        return tuple(found)


def _expansion(scop: Scop, values: Array) -> str:
    """What is said of the variable that each step has a value of among ``values``."""
    added = any(
        {AccessKind.READ, AccessKind.WRITE} <= {access.kind for access in each.accesses_to(values)}
        for each in scop.statements
    )
    if added:
        return "summed up in an element of its own for each step: sums of several steps go on at a time"
    return "computed for all steps before these: each has a value of its own"


@dataclasses.dataclass(slots=True)
class Transformation:
    """A new order of a region, and what comes of it; each transformation sets what is called after it.

    It follows a strategy, which is the context with simpler options than those ``requested``. Kernels have an
    order of their own, made as requested. Where freeing private variables gains, what was found
    ``without_private`` is the mapping. ``comparison`` is that with the original.
    """

    model: RegionModel
    context: CompileContext
    requested: CompileContext
    temporaries: list[Array] = field(init=False)
    reductions: Reductions = field(init=False)
    orders: tuple[Order, ...] = field(init=False)
    mapped: Mapped = field(init=False)
    checks: RunTimeChecks = field(init=False)
    text: RegionText = field(init=False)
    remarks: tuple[str, ...] = ()
    without_private: WithoutPrivate = NOTHING_FREED
    comparison: Comparison = NOT_COMPARED

    @property
    def stays(self) -> bool:
        """Whether the region stays as it is: no later pass has anything to do then."""
        return self.comparison.is_original

    @property
    def named_temporaries(self) -> tuple[str, ...]:
        """The arrays that the user says are temporary."""
        return (*self.context.options.temporary, *self.model.region.temporaries)

    @property
    def bands(self) -> list[isl.ScheduleNode]:
        """The bands of all orders that were compared."""
        roots = [each.schedule.get_root() for each in self.orders]
        return [node for root in roots for node in descendants(root) if is_band(node)]

    @property
    def plan(self) -> HostPlan:
        """What is generated for the CPU."""
        mapping = self.mapped.mapping
        return HostPlan(
            mapping.schedule,
            mapping.directives,
            mapping.buffers,
            mapping.registers,
            mapping.accumulators,
            unoptimised=not self.context.compiler.optimises,
            tile_sizes=mapping.tile_sizes,
            gains_alone=self.comparison.gains_alone,
            sharing=self.mapped.sharing,
            line=self.context.machine.memory.line,
        )

    def overlaps(self, untouched: Collection[str]) -> tuple[Overlap, ...]:
        """What must be disjoint at run time where the new loops leave the arrays ``untouched`` alone."""
        strict = self.context.compiler.strict_aliasing
        return _overlaps(Itself(self.model.scop), Itself(self.model.region), strict, frozenset(untouched))


@remembered  # who compares versions asks what each of them looks at before it runs
def _overlaps(
    scop: Itself[Scop], region: Itself[Region], strict: bool, untouched: frozenset[str]
) -> tuple[Overlap, ...]:
    resolved = with_reads_of_exits(scop.value)
    return find_overlaps(resolved, region.value, strict=strict, untouched=untouched)


_AT_PIVOTS = "pivots by themselves"

_T = TypeVar("_T", RegionModel, Transformation)


@dataclass(frozen=True, slots=True)
class Pass(Generic[_T]):
    """One pass: what it does to a value, and what there is to print of the value after it."""

    name: str
    run: Callable[[_T], None]
    show: Callable[[_T], str]

    @property
    def summary(self) -> str:
        """What it does, in one line."""
        return (self.run.__doc__ or "").partition("\n")[0]


def normalise(model: RegionModel) -> None:
    """Inline calls; rewrite counters, walking pointers and while loops as for loops over subscripts."""
    model.region = hoist_tables(model.region)
    with operation_budget(model.operations):
        model.form = normal_form(model.region, loops=not model.for_device, bounds=model.for_device)


def model_scop(model: RegionModel) -> None:
    """Model the region: iteration domains, access relations, the original order, assumptions.

    In blocks, statements that follow each other being one, where there are very many.
    """
    with operation_budget(model.operations):
        for found in (
            extract_with_row_starts(model.form, bounds=model.for_device),
            extract_with_row_capacities(model.form),
        ):
            resolved = None if found is None else _resolved(found[1])
            if found is not None and resolved is not None:
                model.form, model.scop, model.in_blocks = found[0], resolved, False
                return
        try:
            model.scop, model.in_blocks = extract_scop(model.region, form=model.form), False
        except Unsupported:
            found = extract_with_exits(model.region, loops=not model.for_device)
            if found is None:
                raise
            model.form, model.scop, model.in_blocks = found[0], with_resolved_exits(found[1]), False
        _model_blocks(model, over_time=False)


def _model_blocks(model: RegionModel, *, over_time: bool) -> None:
    """Model statements that follow each other as one where there are many, or many in steps ``over_time``."""
    start = loops_around_blocks(model.scop, over_time=over_time)
    if start is not None:
        with contextlib.suppress(Unsupported):
            blocks = with_resolved_exits(extract_scop(model.region, form=model.form, blocks_from=start))
            if blocks_gain(blocks, model.scop):
                model.scop, model.in_blocks = blocks, True


def _resolved(scop: Scop) -> Scop | None:
    """``scop`` with tests of exits that read what it does not write; None if some do."""
    with contextlib.suppress(Unsupported):
        return with_resolved_exits(scop)
    return None


def find_live_variables(model: RegionModel) -> None:
    """Find the variables that are live after the region."""
    model.live = live_after(model.form.inlined)


def reroll_loops(model: RegionModel) -> None:
    """Join copies of statements: loops unrolled, split or peeled by hand become plain ones."""
    with operation_budget(model.operations):
        model.scop = reroll(model.scop, model.live)


def model_steps_in_blocks(model: RegionModel) -> None:
    """Model statements at a point of a grid as one where steps over time have many, without copies."""
    if not (model.for_device or model.in_blocks):
        with operation_budget(model.operations):
            _model_blocks(model, over_time=True)
            if model.in_blocks:
                model.scop = reroll(model.scop, model.live)


def set_guarded_variables(model: RegionModel) -> None:
    """Set variables that are set and used under one condition in any case: they are private then."""
    if not model.for_device:
        with operation_budget(model.operations):
            model.scop = set_guarded_values(model.scop, model.live)


def promote_conditional_updates(model: RegionModel) -> None:
    """Promote elements that iterations update under conditions to variables."""
    if not model.for_device:
        with operation_budget(model.operations):
            model.scop = promote_elements(model.scop, model.region.visible.symbols)


def recompute_last_values_of_scalars(model: RegionModel) -> None:
    """Compute the last values of scalars that live on apart from the loops, or alone of all."""
    if model.for_device:
        return
    with operation_budget(model.operations):
        found = recompute_last_values(model.scop, model.live, model.region.visible.symbols)
        model.scop, model.recomputed = found


def privatise_work_arrays(model: RegionModel) -> None:
    """Give iterations that set an array anew one of their own; the last one leaves its values."""
    if not model.for_device:
        taken = model.region.visible.may_mean_something().union(identifiers(model.region.statements))
        with operation_budget(model.operations):
            model.scop = keep_last_work_arrays(model.scop, model.live, taken)


def narrow_integers(model: RegionModel) -> None:
    """Give variables of the region of type ``int`` the type ``short`` where all their values fit."""
    model.scop = narrow_variables(model.scop)


def compute_step_values(model: RegionModel) -> None:
    """Compute variables that steps over grids set before them, each in an array for all steps."""
    if model.purpose in {ModelPurpose.VALUES, ModelPurpose.MEMORY}:
        taken = model.region.visible.may_mean_something().union(identifiers(model.region.statements))
        with operation_budget(model.operations):
            expanded = expand_step_values(model.scop, taken)
            if expanded is model.scop:
                colours = split_colours(expanded, variables=True)
                expanded = expand_step_values(colours, taken)
                expanded = model.scop if expanded is colours else expanded
            model.scop = expanded


def expand_sums_of_steps(model: RegionModel) -> None:
    """Give each step over a grid an element of its own for what it sums up over all points."""
    if model.purpose in {ModelPurpose.VALUES, ModelPurpose.MEMORY}:
        taken = model.region.visible.may_mean_something().union(identifiers(model.region.statements))
        with operation_budget(model.operations):
            model.scop = expand_step_sums(model.scop, model.live, taken)


def alternate_copied_grids(model: RegionModel) -> None:
    """Fold copies between two grids in each step over time: grids alternate, the last copy is restored."""
    may_fold = model.purpose in {ModelPurpose.STORAGE, ModelPurpose.VALUES, ModelPurpose.MEMORY}
    if may_fold and model.scop.exits is None:
        visible = model.region.visible.may_mean_something()
        taken = visible.union(identifiers(model.region.statements))
        with operation_budget(model.operations):
            allocates = model.purpose is ModelPurpose.MEMORY
            model.scop = fold_copies(model.scop, model.live, taken, allocates=allocates)


def split_steps(model: RegionModel) -> None:
    """Split loops whose storage alternates, as ``u[t % 2]``: each step of a period has its own statements.

    So has each colour of loops over colours, as of red and black points, and each place of a period in rows
    whose subscripts divide.
    """
    if not model.for_device:
        model.scop = split_divided_counters(split_colours(split_residue_classes(model.scop)))


def split_statements(model: RegionModel) -> None:
    """Split statements whose subscripts are chosen near borders: the interior has plain ones."""
    if not model.for_device:
        model.scop = split_index_sets(model.scop, model.live, model.region.visible.symbols)


def assume_grids_run(model: RegionModel) -> None:
    """Assume that nests over grids run: beside borders in steps over time, or over tables of pointers."""
    if not model.for_device:
        model.scop = assume_grids(model.scop)
    model.scop = assume_followed_rows(model.scop)


def project_counters(model: RegionModel) -> None:
    """Project out counters that others determine: loops blocked by hand become plain ones, in plain order."""
    model.blocked = model.scop
    with operation_budget(model.operations):
        model.scop = found_within(effort.PROJECTION_OPERATIONS, partial(_without_blocks, model)) or model.scop


def _without_blocks(model: RegionModel) -> Scop:
    projected = project_determined_counters(model.scop)
    if projected is model.scop:
        return projected
    plain = in_plain_order(projected, model.live)
    return reroll(plain, model.live)


def find_dependences(model: RegionModel) -> None:
    """Find flow, anti and output dependences (Feautrier 1991), and privatisable arrays.

    They are over-approximated where the exact ones take too long, unless nobody asked for the region. The
    original order must respect them.
    """
    if model.region.detected and (arrays := arrays_of_many_cases(model.scop)):
        raise Unsupported(
            "too-complex",
            f"the subscripts of '{arrays[0].spelling}' have too many cases to look for another order unasked",
            model.region.begin,
            "mark the loops, as worth the time",
        )
    model.dependences, model.approximated = bounded_dependences(
        model.scop, model.live, model.operations, exact=model.exact
    )
    with operation_budget(model.operations):
        check_schedule(model.scop.schedule, model.dependences, model.scop.domain)


def free_private_variables(work: Transformation) -> None:
    """Keep private variables in the elements they end up in, or expand them and contract what is left."""
    model, context = work.model, work.context
    distributed = context.options.distribute != "off"
    if context == work.requested and not (TARGETS[context.options.backend].has_kernels or distributed):
        with effort_part(effort.PRIVATE_SHARE):
            work.without_private = choose_without_private(
                model.region,
                (model.blocked, model.scop),
                model.dependences,
                live_out=model.live,
                context=context,
                named=work.named_temporaries,
            )


def find_temporaries(work: Transformation) -> None:
    """Find temporary arrays, of which nothing is needed before or after the region."""
    model, named = work.model, work.named_temporaries
    wanted = work.context.options.contract_arrays != "off"
    work.temporaries = temporaries(model.scop, model.dependences, model.live, named) if wanted else []
    work.remarks += refusals(model.scop, model.dependences, named) if wanted else ()


def find_reductions(work: Transformation) -> None:
    """Find reductions: sums, products, minima and maxima that any order of their terms gives."""
    model = work.model
    found = reductions_of(model.scop, model.region, work.context.reordering)
    known = {each.statement.name for each in found.found}
    placed = find_placed_reductions(model.scop, model.region)
    in_order = tuple(each for each in placed if each.statement.name not in known)
    histograms = find_histograms(model.scop, model.region)
    scans = find_scans(model.scop, model.dependences, found.found)
    work.reductions = replace(found, in_order=in_order, histograms=histograms, scans=scans)


def schedule(work: Transformation) -> None:
    """Find the orders that are compared: isl's scheduler's, Pluto's, the original."""
    if work.without_private.mapped is not None:
        mapping = work.without_private.mapped.mapping
        work.orders = (Order(mapping.name, mapping.schedule),)
        return
    work.orders = orders(work.model.scop, work.model.dependences, work.context)


def map_to_threads(work: Transformation) -> None:
    """Tile, parallelise and vectorise for the CPU; contract arrays; run reductions in parallel."""
    if work.context.options.distribute != "off" and (shared := _shared_among_ranks(work)):
        work.mapped = shared
        return
    if work.without_private.mapped is not None:
        work.mapped = work.without_private.mapped
        return
    scop, dependences = work.model.scop, work.model.dependences
    mapping, respected = choose_with_reductions(
        scop,
        dependences,
        work.reductions,
        work.context,
        work.temporaries,
        among=work.orders,
        aliases=_aliases(work),
    )
    work.mapped = Mapped(scop, respected, mapping)


def _shared_among_ranks(work: Transformation) -> Mapped | None:
    """The block of one rank of those that share the outermost parallel loops; None if they cannot."""
    model = work.model
    from polybuild.driver.shared_regions import share_region  # noqa: PLC0415 -- only where it is asked for

    found = share_region(
        model.scop,
        model.dependences,
        work.reductions.found,
        model.live,
        work.context,
        among=work.orders,
    )
    if found is None:
        work.remarks += ("all ranks run the whole region: no loop was found that they could share",)
    else:
        work.remarks += (found.sharing.summary,) if found.sharing else ()
        if found.sharing and found.sharing.steps < work.context.options.rank_steps:
            work.remarks += ("ranks meet in each step: what they share is not all in one loop over time",)
    return found


def tile_stages(work: Transformation) -> None:
    """Compute stages that follow each other in tiles that overlap, temporary arrays in buffers of a tile."""
    if work.mapped.sharing is not None:
        return
    left = not_in_vectors(work.mapped, work.temporaries, work.context)
    # kernels are made of the region as it is
    on_host = not TARGETS[work.context.options.backend].has_kernels
    if left and on_host and not work.context.in_variables and work.context.options.tile:
        plain, live, context = work.mapped, work.model.live, work.context
        find = partial(map_overlapped, plain, work.temporaries, live, context)
        work.mapped = found_within(effort.OVERLAP_OPERATIONS, lambda: find() or plain) or plain


def expand_arrays(work: Transformation) -> None:
    """Expand arrays that the program sees, with copy-in and copy-out, to keep their elements in variables."""
    if work.context.contraction == "copies" and not TARGETS[work.context.options.backend].has_kernels:
        work.mapped = choose_with_copies(work.mapped, work.model.live, work.named_temporaries, work.context)


def compare_with_original(work: Transformation) -> None:
    """Predict what the new loops take on one thread, and what the original ones do."""
    options = work.context.options
    if options.min_work and not TARGETS[options.backend].has_kernels and work.mapped.sharing is None:
        work.comparison = _compared(work, work.mapped)


def _aliases(work: Transformation) -> Aliases:
    """Which arrays may be the same memory for all that the compiler knows."""
    return aliases_of(work.model.region, strict=work.context.compiler.strict_aliasing)


def _compared(work: Transformation, mapped: Mapped) -> Comparison:
    """What is predicted for the region as it was ``mapped``, beside its original loops."""
    model = work.model
    original = with_types_as_written(model.scop), model.dependences, work.reductions.found
    new = mapped.scop, mapped.dependences, mapped.mapping
    aliases = _aliases(work)
    clobbering = clobbering_arrays(model.scop, model.region, strict=work.context.compiler.strict_aliasing)
    inspectors = _inspectors(work, mapped)

    def compared() -> Comparison:
        costs = cost_of_versions(original, new, work.context, aliases=aliases, clobbering=clobbering)
        return with_inspectors(costs, model.scop, inspectors, work.context).compared()

    return settled_within(effort.COMPARISON_OPERATIONS, compared) or NOT_COMPARED


def _inspectors(work: Transformation, mapped: Mapped) -> frozenset[Inspector]:
    """What looks at data before the region runs as it was ``mapped``."""
    scop = work.model.scop
    accesses = (each for statement in scop.statements for each in statement.accesses)
    if not any(each.array.extents and is_dynamic(each, scop) for each in accesses):
        return frozenset()
    try:
        overlaps = work.overlaps(_names_of(mapped.mapping.buffers))
    except Unsupported:
        return frozenset()  # which is told where these are asked for
    return frozenset().union(*(each.inspectors for each in overlaps))


def compare_with_lanes(work: Transformation) -> None:
    """Leave private variables in the original loops, in lanes, where those that expand them are no faster."""
    before, options = work.comparison.costs, work.context.options
    if before is None or work.without_private.mapped is None or work.mapped.sharing is not None:
        return
    if options.wants_order or not options.simd or TARGETS[options.backend].has_kernels:
        return
    mapped = _in_original_order(work, original_in_lanes, before)
    if mapped is None:
        return
    compared = _compared(work, mapped)
    if compared.costs is not None and compared.gains_alone and compared.costs.matches(before):
        work.mapped, work.comparison = mapped, compared


def _in_original_order(
    work: Transformation,
    map_order: Callable[[Scop, Dependences, Sequence[Array], CompileContext], CpuMapping | None],
    before: VersionCosts,
) -> Mapped | None:
    """The region as ``map_order`` maps it, with what was compared ``before``; None if it does not."""
    scop, dependences = work.model.scop, work.model.dependences
    find = partial(map_order, scop, dependences, work.temporaries, work.context)
    mapping = found_within(effort.CANDIDATE_OPERATIONS, find)
    if mapping is None:
        return None
    return Mapped(scop, dependences, replace(mapping, rejected=before.candidates))


def separate_pivots(work: Transformation) -> None:
    """Give what a step changes of what it reads statements of its own, where that makes loops parallel."""
    options, before = work.context.options, work.comparison.costs
    if before is None or before.is_nothing or work.mapped.mapping.parallel_loops:
        return
    if options.wants_order or not options.simd or not work.context.compiler.optimises:
        return
    if TARGETS[options.backend].has_kernels or work.mapped.sharing is not None:
        return
    mapped = found_within(effort.PIVOT_OPERATIONS, partial(_map_at_pivots, work, before))
    if mapped is None or not mapped.mapping.parallel_loops:
        return
    compared = _compared(work, mapped)
    if compared.costs is None:
        return
    gains_alone = compared.gains_alone and compared.costs.beats_alone(before)
    if gains_alone or (compared.costs.matches(before) and compared.costs.beats_on_threads(before)):
        work.mapped, work.comparison = mapped, compared


def _map_at_pivots(work: Transformation, before: VersionCosts) -> Mapped | None:
    model = work.model
    split = split_at_pivots(model.scop, model.dependences)
    if split is model.scop:
        return None
    own = compute_dependences(split, model.live)
    reductions = reductions_of(split, model.region, work.context.reordering)
    mapping, respected = choose_with_reductions(split, own, reductions, work.context, aliases=_aliases(work))
    return Mapped(split, respected, replace(mapping, name=_AT_PIVOTS, rejected=before.candidates))


def separate_sequential_parts(work: Transformation) -> None:
    """Run what has to stay in order behind strips of what need not, where nothing else gains as much."""
    options, before = work.context.options, work.comparison.costs
    gains = work.comparison.gains_alone
    if before is None or before.is_nothing or (gains and work.mapped.mapping.parallel_loops):
        return
    wanted = (
        options.tile and options.simd and work.context.compiler.optimises and work.context == work.requested
    )
    if not wanted or options.wants_order or work.context.may_reassociate or work.mapped.sharing is not None:
        return
    if TARGETS[options.backend].has_kernels or work.without_private.mapped is not None:
        return
    find = partial(map_sequential_parts, work.model.scop, work.model.live, work.context)
    mapped = found_within(effort.PRIVATE_EXPANSION_OPERATIONS, find)
    if mapped is None:
        return
    mapped = replace(mapped, mapping=replace(mapped.mapping, rejected=before.candidates))
    compared = _compared(work, mapped)
    if compared.costs is None or not _is_checkable(work, mapped):
        return
    if (compared.gains_alone and not gains) or compared.costs.beats_on_threads(before):
        work.mapped, work.comparison = mapped, compared


def _is_checkable(work: Transformation, mapped: Mapped) -> bool:
    """Whether it can be found out when the program runs that nothing overlaps that ``mapped`` keeps apart."""
    try:
        work.overlaps(_names_of(mapped.mapping.buffers))
    except Unsupported:
        return False
    return True


def share_original_order(work: Transformation) -> None:
    """Give threads the original loops where new ones gain nothing on one, and not far more on all.

    What compilers that optimise make of the original loops is known to be as fast; of others it is predicted.
    """
    before, plan = work.comparison.costs, work.mapped.mapping
    if before is None or work.comparison.gains_alone or not plan.parallel_loops:
        return
    if work.requested.options.wants_order or not work.context.options.min_work:
        return
    if not work.context.compiler.optimises:
        return
    mapped = _in_original_order(work, original_on_threads, before)
    if mapped is None:
        return
    # compilers accumulate in lanes what they may, without being told
    _, respected = as_compiled(mapped.scop, mapped.dependences, work.reductions.found, work.context)
    compared = _compared(work, replace(mapped, dependences=respected))
    if compared.costs is not None and not compared.gains_alone and compared.costs.matches_on_threads(before):
        work.mapped, work.comparison = mapped, compared


def find_thread_limits(work: Transformation) -> None:
    """Find how many threads pay for each parallel loop, as a function of the parameters."""
    if work.context.options.min_work and work.mapped.sharing is None:
        mapped, machine = work.mapped, work.context.machine
        costs = work.comparison.costs
        limit = partial(limit_threads, mapped.scop, mapped.mapping, machine, costs)
        limited = settled_within(effort.COMPARISON_OPERATIONS, limit) or mapped.mapping
        work.mapped = replace(mapped, mapping=limited)


def keep_original(work: Transformation) -> None:
    """Leave the region as it is where one thread gains nothing, and several have no work, or too little.

    What the user asks for by hand is done all the same. Loops that nobody marked, and that others repeat,
    have to gain at usual sizes: what is checked each time keeps compilers from joining them with these.
    """
    if work.comparison.gains_alone or work.requested.options.wants_order:
        return
    scop, costs = work.model.scop, work.comparison.costs
    fast = partial(threads_gain, scop.statements, scop.context)
    if costs is not None and work.model.region.detected and work.context.repeated:
        fast = partial(VersionCosts.gains_on_threads_at, values=costs.usual)
    if not work.plan.shared_loops or not (costs is None or fast(costs)):
        work.comparison = work.comparison.of_original()


def prove_legality(work: Transformation) -> None:
    """Prove that the new order respects the dependences, and all accesses to the same memory.

    Accesses tell more than dependences, but where they take isl too long, these stand alone. With
    ``paranoid``, both orders are run for small sizes, too. Raises IllegalSchedule.
    """
    scop, order = work.mapped.scop, work.mapped.mapping.schedule
    if work.mapped.sharing is not None:
        order = order.intersect_domain(scop.domain)  # exchanges are no statements of the region

    def check(dependences: Dependences) -> None:
        check_schedule(order, dependences, scop.domain)

    prove(check, scop, work.mapped.dependences, effort.PROOF_OPERATIONS)
    if work.context.options.paranoid:
        parallel = [mark for mark in work.mapped.mapping.directives if mark.kind is MarkKind.PARALLEL]
        from polybuild.schedule.paranoid import check_by_running  # noqa: PLC0415 -- only where it is asked for

        check_by_running(scop, order, work.mapped.dependences, parallel)


def find_aliases(work: Transformation) -> None:
    """Find the accesses that must not overlap in memory; the generated code checks them when it runs."""
    options, scop = work.context.options, work.model.scop
    if options.runtime_report and scop.exits is not None:
        raise Unsupported(
            "early-exit",
            "runs of loops that may be left early are not counted",
            scop.exits.statements[0].location,
            "leave out --runtime-report",
        )
    written = tuple(each for each in scop.statements if each.name not in work.model.recomputed.statements)
    trips = trip_counts(replace(scop, statements=written))
    predicted = not options.min_work or work.comparison.costs is not None
    work.checks = RunTimeChecks(
        work.overlaps(_names_of(work.mapped.mapping.buffers)),
        trips,
        options.min_work if predicted else max(options.min_work, effort.UNPREDICTED_WORK),
        *_enough(work, written, trips),
        work.mapped.dependences if options.verify else None,
        options.runtime_report,
        options.adapt and _may_adapt(work),
    )


def _enough(
    work: Transformation, statements: Sequence[Statement], trips: Sequence[Sequence[isl.PwAff]]
) -> tuple[tuple[Enough, ...], tuple[Enough, ...]]:
    """From what sizes on one thread gains, and several do, where that is predicted."""
    costs, context = work.comparison.costs, work.model.scop.context
    if costs is None:
        return (), ()
    untold = not all(each.work for each in work.plan.shared_loops)
    shared = partial(enough_for_threads, statements, trips, context, costs, untold=untold)
    on_threads = settled_within(effort.COMPARISON_OPERATIONS, shared) or ()
    if not work.comparison.gains_alone:
        return (), on_threads
    find = partial(enough_to_gain, statements, trips, context, costs, work.context.options.min_work)
    return settled_within(effort.COMPARISON_OPERATIONS, find) or (), on_threads


def _may_adapt(work: Transformation) -> bool:
    """Whether all versions of the region compute the same to the bit, and are all that may run."""
    options, leaves = work.context.options, work.model.scop.exits is not None
    if options.verify or TARGETS[work.requested.options.backend].has_kernels or leaves:
        return False
    for group in work.mapped.dependences.reductions:
        for each in group.reductions:
            if not each.exact:
                work.remarks += (
                    f"its versions are not timed: they add up '{each.array.spelling}' in different orders",
                )
                return False
    return True


def generate_code(work: Transformation) -> None:
    """Generate C for the CPU: run-time checks, the new loops, else the original ones."""
    work.text = write_region(work.mapped.scop, work.model.region, work.plan, work.checks)


def generate_kernels(work: Transformation) -> None:
    """Map the region to a device, where one is asked for, and generate kernels and what launches them."""
    options = work.requested.options
    target = TARGETS[options.backend]
    if target.language is None or target.limits is None:
        return
    sharing = work.mapped.sharing
    if sharing is not None and not sharing.blocks:
        work.remarks += ("runs on the host: between what ranks share, hosts look at arrays again and again",)
        return
    try:
        if not _write_kernels(work, work.requested):
            _write_kernels(work, replace(work.requested, options=replace(options, tile_shape="rectangular")))
            work.remarks += (f"on the device {STEP_BY_STEP}: tiles over time take too long to write",)
    except Unsupported as refusal:
        hint = refusal.diagnostic.hint
        work.remarks += (f"runs on the host: {refusal}{f' ({hint})' * bool(hint)}",)
    except (IllegalSchedule, IllegalStorage) as refusal:
        work.remarks += (f"runs on the host: {refusal}",)
    except isl.Error as error:
        if not was_spent(error):
            raise
        work.remarks += ("runs on the host: its kernels take too long to analyse",)


def _write_kernels(work: Transformation, context: CompileContext) -> bool:
    """Whether the kernels are written; if not, those of tiles over time are too intricate."""
    target = TARGETS[context.options.backend]
    assert target.language is not None and target.limits is not None  # noqa: S101, PT018 - asked before
    model, checks = work.model, work.checks
    if work.mapped.sharing is not None:
        _write_block_kernels(work, context)
        return True
    known = (model.scop, model.dependences, model.live)
    from polybuild.driver.device_plans import plan_for_device  # noqa: PLC0415 -- only where it is asked for

    with operation_budget(effort.REGION_OPERATIONS):
        scop, plan = plan_for_device(target, model.region, known, context, work.temporaries)
    on_host, on_device = _names_of(work.plan.buffers), _names_of(plan.buffers)
    if not on_host <= on_device:  # the kernels use more memory than the host does
        checks = replace(checks, overlaps=work.overlaps(on_host & on_device))
    minimum = context.machine.device.work if context.options.min_work else 0
    launches = context.options.device_launches
    shares = found_within(effort.PREDICTION_OPERATIONS, partial(domain_shares, scop)) or {}
    request = DeviceRequest(
        scop, plan, target.language, trip_counts(scop), minimum, launches=launches, shares=shares
    )
    try:
        more = 3 if any(each.in_steps for each in plan.kernels) else min(3, 1 + len(scop.statements) // 3)
        with operation_budget(effort.REGION_OPERATIONS * more):
            work.text = write_region(work.mapped.scop, model.region, work.plan, checks, request)
    except isl.Error as error:
        if was_spent(error) and any(each.in_steps for each in plan.kernels):
            return False
        raise
    work.remarks += plan.remarks
    return True


def _write_block_kernels(work: Transformation, context: CompileContext) -> None:
    """Write the kernels of what a rank runs between messages."""
    target, region = TARGETS[context.options.backend], work.model.region
    minimum = context.machine.device.work if context.options.min_work else 0
    from polybuild.driver.rank_kernels import plan_blocks  # noqa: PLC0415 -- only where it is asked for

    with operation_budget(effort.REGION_OPERATIONS):
        blocks, remarks = plan_blocks(target, region, work.mapped, context, minimum)
    with operation_budget(effort.REGION_OPERATIONS * (1 + len(blocks.blocks))):
        work.text = write_region(work.mapped.scop, region, work.plan, work.checks, blocks)
    work.remarks += remarks


def _names_of(buffers: Collection[Buffer]) -> set[str]:
    """The names of the arrays that ``buffers`` stand for."""
    return {each.array.expanded or each.array.name for each in buffers}


ANALYSES: tuple[Pass[RegionModel], ...] = (
    Pass("normalise", normalise, lambda model: pass_texts.syntax(model.form.normal)),
    Pass("scop", model_scop, lambda model: pass_texts.scop(model.scop)),
    Pass("liveness", find_live_variables, lambda model: pass_texts.names(model.live)),
    Pass("rerolling", reroll_loops, lambda model: pass_texts.scop(model.scop)),
    Pass("statement-blocks", model_steps_in_blocks, lambda model: pass_texts.scop(model.scop)),
    Pass("guarded-values", set_guarded_variables, lambda model: pass_texts.scop(model.scop)),
    Pass("element-promotion", promote_conditional_updates, lambda model: pass_texts.scop(model.scop)),
    Pass("last-values", recompute_last_values_of_scalars, lambda model: pass_texts.scop(model.scop)),
    Pass("work-arrays", privatise_work_arrays, lambda model: pass_texts.scop(model.scop)),
    Pass("narrow-variables", narrow_integers, lambda model: pass_texts.scop(model.scop)),
    Pass("step-values", compute_step_values, lambda model: pass_texts.scop(model.scop)),
    Pass("step-sums", expand_sums_of_steps, lambda model: pass_texts.scop(model.scop)),
    Pass("copies", alternate_copied_grids, lambda model: pass_texts.scop(model.scop)),
    Pass("residue-classes", split_steps, lambda model: pass_texts.scop(model.scop)),
    Pass("index-sets", split_statements, lambda model: pass_texts.scop(model.scop)),
    Pass("grid-sizes", assume_grids_run, lambda model: pass_texts.scop(model.scop)),
    Pass("counters", project_counters, lambda model: pass_texts.scop(model.scop)),
    Pass("dependences", find_dependences, lambda model: pass_texts.dependences(model.dependences)),
)
TRANSFORMATIONS: tuple[Pass[Transformation], ...] = (
    Pass(
        "private-variables",
        free_private_variables,
        lambda work: pass_texts.scop((work.without_private.mapped or work.model).scop),
    ),
    Pass(
        "temporaries",
        find_temporaries,
        lambda work: pass_texts.names(each.spelling for each in work.temporaries),
    ),
    Pass("reductions", find_reductions, lambda work: pass_texts.reductions(work.reductions)),
    Pass("schedule", schedule, lambda work: pass_texts.orders(work.orders)),
    Pass("mapping", map_to_threads, lambda work: pass_texts.mapping(work.mapped.mapping)),
    Pass("stages", tile_stages, lambda work: pass_texts.mapping(work.mapped.mapping)),
    Pass("expansion", expand_arrays, lambda work: pass_texts.mapping(work.mapped.mapping)),
    Pass("one-thread", compare_with_original, lambda work: f"gains: {work.comparison.gains_alone}"),
    Pass("lanes", compare_with_lanes, lambda work: pass_texts.mapping(work.mapped.mapping)),
    Pass("pivots", separate_pivots, lambda work: pass_texts.mapping(work.mapped.mapping)),
    Pass("sequential-parts", separate_sequential_parts, lambda work: pass_texts.mapping(work.mapped.mapping)),
    Pass("original-order", share_original_order, lambda work: pass_texts.mapping(work.mapped.mapping)),
    Pass("threads", find_thread_limits, lambda work: pass_texts.mapping(work.mapped.mapping)),
    Pass("verdict", keep_original, lambda work: f"stays as it is: {work.stays}"),
    Pass("legality", prove_legality, lambda work: pass_texts.dependences(work.mapped.dependences)),
    Pass("aliasing", find_aliases, lambda work: pass_texts.overlaps(work.checks.overlaps)),
    Pass("codegen", generate_code, lambda work: pass_texts.code(work.text)),
    Pass("kernels", generate_kernels, lambda work: pass_texts.code(work.text)),
)


def pass_summaries() -> dict[str, str]:
    """The names of all passes in their order, with what each does."""
    analyses = {each.name: each.summary for each in ANALYSES}
    return analyses | {each.name: each.summary for each in TRANSFORMATIONS}
