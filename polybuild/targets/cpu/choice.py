"""Choosing among the orders that different strategies give."""

from __future__ import annotations

import islpy as isl

from polybuild.analysis.dependences import Dependences
from polybuild.options import Options
from polybuild.schedule.scheduler import Fusion, compute_schedule
from polybuild.scop.model import Scop
from polybuild.targets.cpu.mapping import CpuMapping, map_to_cpu


def choose_mapping(scop: Scop, dependences: Dependences, options: Options) -> CpuMapping:
    """The mapping of the best order for the CPU."""
    if options.schedule == "original":
        return map_to_cpu(scop, dependences, scop.schedule, options)
    fusion = Fusion.MIN if options.fusion == "auto" else Fusion(options.fusion)
    return map_to_cpu(scop, dependences, _schedule(scop, dependences, fusion), options)


def _schedule(scop: Scop, dependences: Dependences, fusion: Fusion) -> isl.Schedule:
    """The schedule for ``fusion``; isl fails on a few small problems, then another one.

    Once isl's budget is spent all that follows fails, too.
    """
    for strategy in dict.fromkeys((fusion, Fusion.MIN)):
        try:
            return compute_schedule(scop, dependences, strategy)
        except isl.Error:
            continue
    return scop.schedule
