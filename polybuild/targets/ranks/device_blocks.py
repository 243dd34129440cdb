"""What a rank's device may run between two messages: its block of a phase, in one run of the loops around.

Each is a model of its own, with the ends of the block and the counters of the loops around as parameters:
what kernels touch, and what goes to the device, follows from these.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import islpy as isl

from polybuild.analysis.dependences import Dependences
from polybuild.poly import spaces
from polybuild.scop.model import Array, Scop
from polybuild.targets.ranks.model import AROUND, END, FIRST, DeviceBlock
from polybuild.targets.ranks.phases import SharedLoop

_PARAM = isl.dim_type.param


def device_blocks(
    scop: Scop,
    dependences: Dependences,
    phases: Sequence[SharedLoop],
    mine: isl.UnionSet,
    live: frozenset[str],
) -> tuple[DeviceBlock, ...]:
    """The blocks of ``phases``, of which a rank runs the instances ``mine``.

    ``live`` names what is read after the region. There are none where a variable that loops of the host
    declare has values that a device would have to leave there.
    """
    crossing = {name for phase in phases for name in _crossing(dependences, phase)}
    if any(each.name in crossing for each in scop.arrays if each.local):
        return ()
    private = {each.array.name for each in dependences.private} - crossing
    seen = live.union(each.name for each in scop.arrays if each.name not in private)
    arrays = tuple(replace(each, local=each.local and each.name in private) for each in scop.arrays)
    found = [
        DeviceBlock(
            f"block{number}", phase.depth, _number(phase), _model(scop, arrays, phase, mine), seen, runs
        )
        for number, phase in enumerate(phases)
        for runs in [isl.Set.from_union_set(phase.around.range())]
    ]
    return tuple(each for each in found if each.scop.statements)


def _number(phase: SharedLoop) -> int:
    assert phase.mark.index is not None  # noqa: S101 - phases are numbered
    return phase.mark.index


def _crossing(dependences: Dependences, phase: SharedLoop) -> Iterator[str]:
    """The private arrays of which values leave a run of ``phase``."""
    together = phase.around.apply_range(phase.around.reverse())
    for each in dependences.private:
        touched = each.flow.intersect_domain(phase.domain).union(each.flow.intersect_range(phase.domain))
        if not touched.is_subset(together):
            yield each.array.name


def _model(scop: Scop, arrays: Sequence[Array], phase: SharedLoop, mine: isl.UnionSet) -> Scop:
    """The model of one run of ``phase`` on one rank."""
    here, context = spaces.universe(phase.depth), scop.context
    names = [FIRST, END, *(f"{AROUND}{position}" for position in range(phase.depth))]
    for position in range(phase.depth):
        value = spaces.dimension(phase.depth, position)
        here = here.intersect(value.eq_set(spaces.parameter(phase.depth, f"{AROUND}{position}")))
    run = phase.around.intersect_range(isl.UnionSet.from_set(here)).domain()
    run = run.intersect(phase.domain).intersect(mine)
    for name in names:
        if context.find_dim_by_name(_PARAM, name) < 0:
            context = context.add_dims(_PARAM, 1).set_dim_name(_PARAM, context.dim(_PARAM), name)
    statements = []
    for each in scop.statements:
        domain = run.extract_set(each.domain.get_space()).intersect(each.domain).coalesce()
        if domain.is_empty():
            continue
        accesses = (
            replace(access, relation=access.relation.intersect_domain(domain)) for access in each.accesses
        )
        statements.append(replace(each, domain=domain, accesses=tuple(accesses)))
    touched = {access.array.name for each in statements for access in each.accesses}
    return replace(
        scop,
        context=context,
        statements=tuple(statements),
        arrays=tuple(each for each in arrays if each.name in touched),
        schedule=scop.schedule.intersect_domain(run),
    )
