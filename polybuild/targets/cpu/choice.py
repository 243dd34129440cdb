"""Choosing among the orders that different strategies give."""

from __future__ import annotations

import islpy as isl

from polybuild.analysis.dependences import Dependences
from polybuild.options import Options
from polybuild.schedule.pluto.fusion import Cut
from polybuild.schedule.pluto.scheduler import PlutoScheduler
from polybuild.schedule.pluto.search import NoHyperplane, Strategy
from polybuild.schedule.scheduler import Fusion, compute_schedule
from polybuild.scop.model import Scop
from polybuild.targets.cpu.mapping import CpuMapping, map_to_cpu
from polybuild.targets.cpu.stencils import has_stencil

_CUTS = {"auto": Cut.SMART, "min": Cut.ALL, "max": Cut.NEEDED, "depth": Cut.NEEDED}


def choose_mapping(scop: Scop, dependences: Dependences, options: Options) -> CpuMapping:
    """The mapping of the best order for the CPU.

    The tile shapes of stencils are made from the original order.
    """
    if options.schedule == "original" or (
        options.schedule == "auto" and has_stencil(scop, dependences, options)
    ):
        return map_to_cpu(scop, dependences, scop.schedule, options)
    if options.schedule == "pluto":
        return map_to_cpu(scop, dependences, _pluto(scop, dependences, options), options)
    fusion = Fusion.MIN if options.fusion == "auto" else Fusion(options.fusion)
    return map_to_cpu(scop, dependences, _isl(scop, dependences, fusion), options)


def _pluto(scop: Scop, dependences: Dependences, options: Options) -> isl.Schedule:
    """The schedule of our own scheduler; isl's where that finds none."""
    scheduler = PlutoScheduler.of(scop, dependences)
    for cut in dict.fromkeys((_CUTS[options.fusion], Cut.ALL)):
        try:
            return scheduler.schedule(Strategy(cut))
        except NoHyperplane:
            continue
    return _isl(scop, dependences, Fusion.MIN)


def _isl(scop: Scop, dependences: Dependences, fusion: Fusion) -> isl.Schedule:
    """The schedule for ``fusion``; isl fails on a few small problems, then another one.

    Once isl's budget is spent all that follows fails, too.
    """
    for strategy in dict.fromkeys((fusion, Fusion.MIN)):
        try:
            return compute_schedule(scop, dependences, strategy)
        except isl.Error:
            continue
    return scop.schedule
