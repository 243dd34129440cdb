"""Private variables taken out of the way of a better order, where one comes of it.

Values that end up in elements of arrays are kept there, the others in buffers of the threads; what was
there before is the plain model, which stays the choice where nothing is gained.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from functools import partial

from polybuild.analysis.dependences import Dependences, compute_dependences, may_be_private
from polybuild.analysis.reductions import find_reductions
from polybuild.context import CompileContext
from polybuild.effort import PRIVATE_EXPANSION_OPERATIONS, PRIVATE_MODEL_OPERATIONS
from polybuild.poly.budget import found_within
from polybuild.poly.spaces import dimensionality
from polybuild.rerolling.reroll import reroll
from polybuild.scop.determined_counters import project_determined_counters
from polybuild.scop.model import AccessKind, Scop
from polybuild.scop.strides import count_steps
from polybuild.source.model import Region
from polybuild.storage.coalescing import coalesce_private, private_obstacles
from polybuild.storage.description import describe_moves
from polybuild.storage.forwarding import forward_definitions
from polybuild.storage.ordered_sums import SeparateSums, separate_sums
from polybuild.storage.passed_values import pass_values, sequential_statements
from polybuild.storage.scalar_expansion import PrivateNest, expand_private, private_nests
from polybuild.storage.strips import limit_rows
from polybuild.storage.temporaries import temporaries
from polybuild.targets.cpu.expanded_tiles import NestOrder, map_expanded
from polybuild.targets.cpu.expansion import Mapped
from polybuild.targets.cpu.reduction_parallelisation import choose_with_reductions
from polybuild.targets.cpu.strides import Reference, Stride, references
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class WithoutPrivate:
    """A region without private variables in the way, ``mapped``; None if they may as well stay.

    ``remarks`` are about variables that stay in the way.
    """

    mapped: Mapped | None
    remarks: tuple[str, ...] = ()


_EXPANDED = "private variables expanded"

NOTHING_FREED = WithoutPrivate(None)
"""Private variables that stay where they are."""


def choose_without_private(
    region: Region,
    forms: tuple[Scop, Scop],
    dependences: Dependences,
    *,
    live_out: frozenset[str],
    context: CompileContext,
    named: Collection[str],
) -> WithoutPrivate:
    """The best order of a region without its private variables, if one comes of it.

    ``forms`` are its model as written, and without the counters of blocks, whose ``dependences`` are given.
    ``live_out`` names what is read after ``region``, ``named`` its temporaries.
    """
    options = context.options
    if not (options.tile and options.simd and context.compiler.optimises):
        return NOTHING_FREED
    if not any(may_be_private(each, live_out) for each in forms[1].arrays):
        return NOTHING_FREED
    find = partial(_without_private, region, live_out=live_out, context=context, named=named)
    scop = found_within(PRIVATE_MODEL_OPERATIONS, partial(count_steps, forms[1])) or forms[1]
    own = dependences
    if scop is not forms[1]:
        own = (
            found_within(PRIVATE_EXPANSION_OPERATIONS, partial(compute_dependences, scop, live_out))
            or dependences
        )
    if own is not dependences:
        in_steps = find((scop, scop), own)
        if in_steps.mapped is not None:
            return in_steps
    return find(forms, dependences)


def _without_private(
    region: Region,
    forms: tuple[Scop, Scop],
    dependences: Dependences,
    *,
    live_out: frozenset[str],
    context: CompileContext,
    named: Collection[str],
) -> WithoutPrivate:
    """What ``choose_without_private`` finds, with loops counted as the model says."""
    blocked, scop = forms
    changed = found_within(PRIVATE_MODEL_OPERATIONS, partial(with_values_in_elements, scop, live_out)) or scop
    if changed is scop and blocked is not scop:  # a value may be private to the blocks that it is computed in
        changed = found_within(PRIVATE_MODEL_OPERATIONS, partial(_without_blocks, blocked, live_out)) or scop
    expanded = found_within(
        PRIVATE_EXPANSION_OPERATIONS, partial(_expanded, changed, dependences, live_out, context)
    )
    if expanded is None:
        expanded = WithoutPrivate(None, tuple(_too_dear(changed, live_out)))
    if expanded.mapped is not None:
        return replace(expanded, mapped=_told(expanded.mapped, scop))
    if changed is scop:
        return expanded
    mapped = found_within(
        PRIVATE_MODEL_OPERATIONS, partial(_in_elements, region, changed, live_out, context, named)
    )
    if mapped is None or not _gains(scop, mapped, reassociated=context.may_reassociate):
        return expanded
    return replace(expanded, mapped=_told(mapped, scop))


def _in_elements(
    region: Region,
    scop: Scop,
    live_out: frozenset[str],
    context: CompileContext,
    named: Collection[str],
) -> Mapped:
    """The region whose values are in elements, mapped as any other one."""
    own = compute_dependences(scop, live_out)
    dead = temporaries(scop, own, live_out, named) if context.options.contract_arrays != "off" else []
    reductions = find_reductions(scop, region, context.reordering)
    mapping, respected = choose_with_reductions(scop, own, reductions, context, dead)
    return Mapped(scop, respected, mapping)


def map_sequential_parts(scop: Scop, live_out: frozenset[str], context: CompileContext) -> Mapped | None:
    """The region with what alone keeps loops in order apart from the rest of these; None if nothing does.

    Such are sums, and statements on which no others depend.
    """
    unchanged: Dependences | None = None
    for depth in range(max(len(each.iterators) for each in scop.statements)):
        found = separate_sums(scop, depth) or SeparateSums(scop, frozenset())
        if len(found.scop.statements) < 2:
            continue  # it would have to be apart from itself
        if found.scop is scop:
            own = unchanged = unchanged or compute_dependences(scop, live_out)
        else:
            own = compute_dependences(found.scop, live_out)
        in_order = found.sums | sequential_statements(found.scop, own, depth)
        if in_order:
            passing = pass_values(found.scop, in_order, depth, live_out)
            if passing is not found.scop:
                own = compute_dependences(passing, live_out)
            expanded = _expanded(passing, own, live_out, context, in_order=in_order)
            if expanded.mapped is not None:
                return _told(expanded.mapped, scop)
    return None


def with_values_in_elements(scop: Scop, live_out: frozenset[str], *, dynamic: bool = False) -> Scop:
    """``scop`` with private values in the elements they end up in, or where they are used.

    Copies of statements that updated variables of their own may update elements of one array then, and those
    that used variables of their own elements: they are joined.
    With ``dynamic`` values may be used in loops whose bounds are data, too.
    """
    changed = coalesce_private(scop, live_out, dynamic=dynamic)
    if changed is not scop:
        changed = reroll(changed, live_out)
    forwarded = forward_definitions(changed, live_out)
    return changed if forwarded is changed else reroll(forwarded, live_out)


def _told(mapped: Mapped, before: Scop) -> Mapped:
    """``mapped`` with remarks on what became of the variables of ``before``."""
    remarks, name = (*describe_moves(before, mapped.scop), *mapped.mapping.remarks), mapped.mapping.name
    return replace(mapped, mapping=replace(mapped.mapping, remarks=remarks, name=name or _EXPANDED))


def _too_dear(scop: Scop, live_out: frozenset[str]) -> list[str]:
    return [
        f"line {each.location.line}: '{each.source_name}' stays in the way of a better order:"
        " what its values depend on takes too long to find out; split the region into smaller ones"
        for each in private_obstacles(scop, live_out)
    ]


def _unbounded(nest: PrivateNest) -> list[str]:
    return [
        f"line {each.array.location.line}: '{each.array.source_name}' keeps the loops around it as they are:"
        " its values for a tile of them take too much memory; give it the same subscripts in all loops,"
        " or write it as an array with a subscript for each loop"
        for each in nest.webs
    ]


def _without_blocks(blocked: Scop, live_out: frozenset[str]) -> Scop:
    """The region with values in elements, and then without the counters of blocks."""
    changed = with_values_in_elements(blocked, live_out)
    return project_determined_counters(changed)


def _expanded(
    scop: Scop,
    dependences: Dependences,
    live_out: frozenset[str],
    context: CompileContext,
    in_order: frozenset[str] = frozenset(),
) -> WithoutPrivate:
    """The region with its other private variables in buffers, if something comes of it in any nest.

    Statements may run ``in_order`` in nests whose other ones do not.
    """
    if not context.options.registers or context.options.contract_arrays == "off":
        return NOTHING_FREED
    remarks: list[str] = []
    nests = private_nests(scop, dependences, live_out, in_order, in_order)
    known: dict[PrivateNest, NestOrder] = {}
    while nests:
        expansion = expand_private(scop, nests)
        if expansion is None:
            break
        forwarded = replace(expansion, scop=forward_definitions(expansion.scop, live_out, in_order))
        forwarded = limit_rows(forwarded, context.machine)
        own = compute_dependences(forwarded.scop, live_out)
        found = map_expanded(forwarded, own, context, known)
        if not found.refused:
            return WithoutPrivate(Mapped(forwarded.scop, own, found.mapping), tuple(remarks))
        remarks += [each for nest in found.unbounded for each in _unbounded(nest)]
        nests = tuple(each for each in nests if not any(each is other for other in found.refused))
    return WithoutPrivate(None, tuple(remarks))


def _jumps(reference: Reference) -> bool:
    """Whether a vector of what ``reference`` touches along a loop is no vector in memory."""
    if reference.access.kind is AccessKind.READ:
        return reference.stride(0) is Stride.FAR
    return not reference.is_adjacent(0)


def _gains(scop: Scop, mapped: Mapped, *, reassociated: bool) -> bool:
    """Whether each update that moved, but for those of borders, is in a register tile, vector loop or lanes.

    Elements of that loop lie side by side, those that are read, too: else vectors of variables are better, or
    rows. Where sums may be ``reassociated`` a variable is as good as a vector loop.
    """
    changed, mapping = mapped.scop, mapped.mapping
    tiled = {each.update.name for each in mapping.registers}
    vectors = mapping.vector_statements() - {
        each.statement.name
        for node in mapping.vector_loops()
        for each in references(changed, node)
        if _jumps(each)
    }
    before = {each.name: each.accesses for each in scop.statements}  # without blocks, others may be joined
    moved = [
        each for each in changed.statements if each.accesses != before.get(each.name) and not each.border
    ]
    deepest = max((dimensionality(each.domain) for each in moved), default=0)
    updates = {each.name for each in moved if dimensionality(each.domain) == deepest}
    return updates <= (tiled if reassociated else tiled | vectors | mapping.lane_statements())
