"""Private variables taken out of the way of a better order, where one comes of it.

Values that end up in elements of arrays are kept there, the others in buffers of the threads; what was
there before is the plain model, which stays the choice where nothing is gained.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import partial

from polybuild.analysis.dependences import compute_dependences, may_be_private
from polybuild.analysis.reductions import find_reductions
from polybuild.context import CompileContext
from polybuild.poly.budget import found_within
from polybuild.poly.relations import sets_of, tuple_name
from polybuild.scop.determined_counters import project_determined_counters
from polybuild.scop.model import AccessKind, Scop
from polybuild.source.model import Region
from polybuild.storage.coalescing import coalesce_private
from polybuild.storage.forwarding import forward_definitions
from polybuild.storage.scalar_expansion import expand_private
from polybuild.storage.temporaries import temporaries
from polybuild.targets.cpu.expanded_tiles import map_expanded
from polybuild.targets.cpu.expansion import Mapped
from polybuild.targets.cpu.mapping import CpuMapping
from polybuild.targets.cpu.reduction_parallelisation import choose_with_reductions
from polybuild.targets.cpu.strides import references

# isl's operations for finding out what values end up where, and for an order of what is expanded
_MODEL_OPERATIONS = 4_000_000
_EXPANSION_OPERATIONS = 3_000_000


def choose_without_private(
    region: Region,
    forms: tuple[Scop, Scop],
    *,
    live_out: frozenset[str],
    context: CompileContext,
    named: Collection[str],
) -> Mapped | None:
    """A region without private variables in the way, mapped; None if its variables may as well stay.

    ``forms`` are its model as written, and without the counters of blocks. ``live_out`` names what is read
    after ``region``, ``named`` its temporaries.
    """
    blocked, scop = forms
    options = context.options
    if not (options.tile and options.simd and context.compiler.optimises):
        return None
    if not any(may_be_private(each, live_out) for each in scop.arrays):
        return None
    changed = found_within(_MODEL_OPERATIONS, partial(_without_variables, scop, live_out)) or scop
    if changed is scop and blocked is not scop:  # a value may be private to the blocks that it is computed in
        changed = found_within(_MODEL_OPERATIONS, partial(_without_blocks, blocked, live_out)) or scop
    expanded = found_within(_EXPANSION_OPERATIONS, partial(_expanded, changed, live_out, context))
    if expanded is not None or changed is scop:
        return expanded
    dependences = found_within(_EXPANSION_OPERATIONS, partial(compute_dependences, changed, live_out))
    if dependences is None:
        return None
    dead = temporaries(changed, dependences, live_out, named) if options.contract_arrays != "off" else []
    reductions = find_reductions(changed, region, reassociate=context.may_reassociate)
    mapping, respected = choose_with_reductions(changed, dependences, reductions, context, dead)
    if not _gains(scop, changed, mapping, reassociated=context.may_reassociate):
        return None
    return Mapped(changed, respected, mapping)


def _without_variables(scop: Scop, live_out: frozenset[str]) -> Scop:
    return forward_definitions(coalesce_private(scop, live_out), live_out)


def _without_blocks(blocked: Scop, live_out: frozenset[str]) -> Scop:
    """The region with values in elements, and then without the counters of blocks."""
    changed = _without_variables(blocked, live_out)
    return project_determined_counters(changed)


def _expanded(scop: Scop, live_out: frozenset[str], context: CompileContext) -> Mapped | None:
    """The region with its other private variables in buffers, None if no register tiles come of it."""
    if not context.options.registers or context.options.contract_arrays == "off":
        return None
    expansion = expand_private(scop, live_out)
    if expansion is None:
        return None
    own = compute_dependences(expansion.scop, live_out)
    mapping = map_expanded(expansion, own, context)
    return None if mapping is None else Mapped(expansion.scop, own, mapping)


def _gains(scop: Scop, changed: Scop, mapping: CpuMapping, *, reassociated: bool) -> bool:
    """Whether each update that has its value in an element now is in a register tile or in a vector loop.

    Elements of that loop lie side by side: else vectors of variables are better. Where sums may be
    ``reassociated`` a variable is as good as a vector loop.
    """
    tiled = {each.update.name for each in mapping.registers}
    vectors = {tuple_name(each) for node in mapping.vector_loops() for each in sets_of(node.get_domain())} - {
        each.statement.name
        for node in mapping.vector_loops()
        for each in references(changed, node)
        if each.access.kind is not AccessKind.READ and not each.is_adjacent(0)
    }
    before = {each.name: each for each in scop.statements}
    moved = [each for each in changed.statements if each.accesses != before[each.name].accesses]
    deepest = max((len(each.iterators) for each in moved), default=0)
    updates = {each.name for each in moved if len(each.iterators) == deepest}
    return updates <= (tiled if reassociated else tiled | vectors)
