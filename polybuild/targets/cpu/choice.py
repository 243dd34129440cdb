"""Choosing the mapping of a region: its order, and what its temporary arrays are kept in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import islpy as isl

from polybuild.analysis.dependences import Dependences, written_and_flow
from polybuild.context import CompileContext
from polybuild.effort import CONTRACTION_OPERATIONS, STRIP_PAGES
from polybuild.poly.budget import found_within
from polybuild.schedule.scheduler import Fusion
from polybuild.scop.model import Array, Scop
from polybuild.storage.temporaries import streams, users_of
from polybuild.targets.cpu.contraction import contract_arrays, is_cheap
from polybuild.targets.cpu.cost.compilers_lanes import Aliases, nowhere
from polybuild.targets.cpu.mapping import CpuMapping, map_to_cpu
from polybuild.targets.cpu.scalars import promote
from polybuild.targets.cpu.schedule_choice import Order, isl_schedule, orders
from polybuild.targets.cpu.search import choose_schedule, search
from polybuild.values import dataclass


def choose_mapping(
    scop: Scop,
    dependences: Dependences,
    context: CompileContext,
    temporaries: Sequence[Array] = (),
    among: Sequence[Order] = (),
    *,
    aliases: Aliases = nowhere,
) -> CpuMapping:
    """The best mapping for the CPU; ``temporaries`` need not be in memory.

    ``among`` are the orders of the region, if they are known. The compiler does not know that arrays are
    different memory that ``aliases`` tells of.
    """
    among = among or orders(scop, dependences, context)
    best = search(scop, dependences, context, among, aliases=aliases)
    mapping = best.mapping
    if dependences.reductions:  # elsewhere a value may be read in another order than that it was made in
        temporaries = [
            each for each in temporaries if written_and_flow(scop, each)[1].is_subset(dependences.flow)
        ]
    if not temporaries:
        return mapping
    contraction = _Contraction(scop, dependences, best.context, mapping, temporaries)
    found = found_within(CONTRACTION_OPERATIONS, partial(contraction.best, best.order.schedule))
    return mapping if found is None else replace(found, name=mapping.name, rejected=mapping.rejected)


@dataclass(frozen=True, slots=True)
class _Contraction:
    """Arrays that need not be in memory: ``mapping`` is the one that keeps all ``temporaries`` there."""

    scop: Scop
    dependences: Dependences
    context: CompileContext
    mapping: CpuMapping
    temporaries: Sequence[Array]

    def best(self, schedule: isl.Schedule) -> CpuMapping:
        """The mapping, which is of ``schedule``, with temporaries in buffers or variables.

        Or another order, where more of them are.
        """
        users = users_of(self.scop, self.temporaries)
        vectors = users & self.mapping.vector_statements()
        in_variables, asked = self.context.in_variables, self.context.contraction
        if asked != "on" and (in_variables or not (self.mapping.registers or vectors)):
            promoted = self._in_scalars()
            if promoted is not None or in_variables:
                return promoted or self.mapping
        best = self._in_buffers(self.mapping, partial(self._map, schedule))
        if asked == "auto" and not is_cheap(self.scop, best):
            best = self.mapping
        if len(best.buffers) == len(self.temporaries):
            return best
        fused = self._fused()
        if fused is not None and len(fused.buffers) > len(best.buffers):
            return fused
        if asked == "auto" and not best.buffers and streams(self.scop, users, self.temporaries):
            best = self._in_scalars() or best
        return best

    def _fused(self) -> CpuMapping | None:
        """Temporaries in buffers of fused loops; None where these are not to be tried, or make it slower.

        A value that is used soon after it was made needs producer and consumer in one loop.
        """
        options = self.context.options
        if not options.schedule == options.fusion == "auto":
            return None
        remap = partial(self._map, isl_schedule(self.scop, self.dependences, Fusion.MAX), distribute=False)
        fused = self._in_buffers(remap(), remap)
        if self.mapping.parallel_loops and not fused.parallel_loops:
            return None
        if self.context.contraction == "on":
            return fused
        return fused if _costs_nothing(self.mapping, fused) and is_cheap(self.scop, fused) else None

    def _in_buffers(self, mapping: CpuMapping, remap: Callable[..., CpuMapping]) -> CpuMapping:
        """``mapping`` with temporaries in buffers; ``remap`` makes it anew with rows of another length.

        Strips of tiles are as long as the buffers may be: prefetchers start anew in each row of one.
        """
        best = contract_arrays(self.scop, mapping, self.temporaries, self.context)
        for pages in STRIP_PAGES:
            if not 0 < sum(each.size for each in best.buffers) * 2 <= self.context.machine.l1.bytes // 2:
                break
            found = contract_arrays(self.scop, remap(pages=pages), self.temporaries, self.context)
            if len(found.buffers) < len(best.buffers) or found.tile_sizes == best.tile_sizes:
                break
            best = found
        return best

    def _in_scalars(self) -> CpuMapping | None:
        """The best order with all temporaries in variables; None if there is none, or none for threads."""
        scop, dependences, options = self.scop, self.dependences, self.context.options
        if not options.scalars:
            return None
        if options.schedule != "auto" or options.fusion != "auto":
            schedules = [choose_schedule(scop, dependences, self.context)]
        else:
            schedules = [isl_schedule(scop, dependences, Fusion.MAX), scop.schedule]
        promoted = promote(scop, dependences, schedules, self.temporaries, self.context)
        if promoted is None or (self.mapping.parallel_loops and not promoted.parallel_loops):
            return None
        return promoted

    def _map(self, schedule: isl.Schedule, *, distribute: bool = True, pages: int = 1) -> CpuMapping:
        return map_to_cpu(
            self.scop, self.dependences, schedule, self.context, distribute=distribute, pages=pages
        )


def _costs_nothing(mapping: CpuMapping, fused: CpuMapping) -> bool:
    """Whether ``fused`` keeps what makes ``mapping`` fast: register tiles, tiles, vector loops."""
    if mapping.registers or len(fused.tile_sizes) < bool(mapping.tile_sizes):
        return False
    return mapping.vector_statements() <= fused.vector_statements()
