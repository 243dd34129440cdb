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
from polybuild.targets.ranks.exchange_points import Alone, subtrees_alone
from polybuild.targets.ranks.model import AROUND, END, FIRST, DeviceBlock, HostWork
from polybuild.targets.ranks.phases import SharedLoop
from polybuild.targets.ranks.reductions import SharedAccumulators
from polybuild.values import dataclass

_PARAM = isl.dim_type.param


@dataclass(frozen=True, slots=True)
class DeviceWork:
    """The ``blocks`` of a rank's device, the subtrees that are ``alone``, and what these do ``on_host``."""

    blocks: tuple[DeviceBlock, ...] = ()
    alone: tuple[Alone, ...] = ()
    on_host: tuple[HostWork, ...] = ()


def device_work(
    scop: Scop,
    dependences: Dependences,
    tree: tuple[isl.Schedule, Sequence[SharedLoop]] | None,
    mine: isl.UnionSet,
    live: frozenset[str],
    *,
    parts: SharedAccumulators,
) -> DeviceWork:
    """The blocks of the phases of a tree, if there is one, of which a rank runs the instances ``mine``.

    ``live`` names what is read after the region. There are none where hosts look at arrays again and again in
    between, for what all ranks run alike or for the ``parts`` that they put together: these would be copied
    each time. Nor are there where a variable that loops of the host declare has values that leave a block.
    """
    if tree is None:
        return DeviceWork()
    schedule, phases = tree
    alone = subtrees_alone(schedule, "alone")
    on_host = [HostWork(each.name, _seen_by(scop, each.instances)) for each in alone]
    looks = [
        (each.around.dim(isl.dim_type.set), one.arrays) for each, one in zip(alone, on_host, strict=True)
    ]
    looks += [(one.depth, tuple(each.array for each in one.accumulations)) for _, one in parts.reductions]
    if any(depth and not array.is_scalar for depth, arrays in looks for array in arrays):
        return DeviceWork()
    blocks = _blocks(scop, dependences, phases, mine, live)
    return DeviceWork(blocks, tuple(alone), tuple(on_host)) if blocks else DeviceWork()


def _seen_by(scop: Scop, instances: isl.UnionSet) -> tuple[Array, ...]:
    """The arrays that ``instances`` access, but for those that nobody else can see."""
    names = {
        access.array.name
        for each in scop.statements
        if not instances.extract_set(each.domain.get_space()).is_empty()
        for access in each.accesses
    }
    return tuple(each for each in scop.arrays if each.name in names and not each.local)


def _blocks(
    scop: Scop,
    dependences: Dependences,
    phases: Sequence[SharedLoop],
    mine: isl.UnionSet,
    live: frozenset[str],
) -> tuple[DeviceBlock, ...]:
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
