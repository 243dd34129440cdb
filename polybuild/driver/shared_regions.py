"""How ranks share a region: in the order that keeps all dependences, or with reductions in parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import islpy as isl

from polybuild import effort
from polybuild.analysis.dependences import Dependences
from polybuild.analysis.reduction_dependences import separate_reduction_dependences
from polybuild.analysis.reductions import Reduction
from polybuild.context import CompileContext
from polybuild.poly.budget import found_within
from polybuild.schedule.original import original_bands
from polybuild.scop.model import Scop
from polybuild.targets.cpu.cost.parameters import usual_values
from polybuild.targets.cpu.expansion import Mapped
from polybuild.targets.cpu.mapping import map_to_cpu
from polybuild.targets.cpu.schedule_choice import Order, orders
from polybuild.targets.lookup import TARGETS
from polybuild.targets.ranks.model import Share
from polybuild.targets.ranks.reductions import overflows_in_parts
from polybuild.targets.ranks.sharing import share_best
from polybuild.targets.ranks.steps import choose_steps


def share_region(
    scop: Scop,
    dependences: Dependences,
    reductions: Sequence[Reduction],
    live: frozenset[str],
    context: CompileContext,
    *,
    among: Sequence[Order],
) -> Mapped | None:
    """The block of one rank of those that share the outermost parallel loops; None if they cannot.

    ``among`` are the orders that respect the exact ``dependences``. Where ranks would run statements alike,
    or meet in loops, they accumulate ``reductions`` in parts if they meet more seldom then.
    """
    share = _share(scop, dependences, [each.schedule for each in among], live, context)
    if share is not None and not any(share.meetings):
        return _mapped(share, context)
    relaxed = separate_reduction_dependences(scop, dependences, reductions) if reductions else dependences
    if relaxed is not dependences:
        candidates = found_within(effort.REDUCTION_OPERATIONS, partial(orders, scop, relaxed, context)) or ()
        parts = _share(scop, relaxed, [each.schedule for each in candidates], live, context)
        if parts is not None and (share is None or parts.meetings < share.meetings):
            mapped = _mapped(parts, context)
            if not overflows_in_parts(parts.sharing.reductions, mapped.mapping.accumulators):
                return mapped
    return None if share is None else _mapped(share, context)


def _share(
    scop: Scop,
    dependences: Dependences,
    schedules: Sequence[isl.Schedule],
    live: frozenset[str],
    context: CompileContext,
) -> Share | None:
    """The best share of a rank in one of ``schedules`` or the original order, if isl finds it in time."""
    every = [*schedules, original_bands(scop, replace(dependences, reductions=()))]
    kernels = TARGETS[context.options.backend].has_kernels
    found_in = partial(share_best, scop, dependences, every, live, kernels=kernels)

    def in_steps(steps: int) -> Share | None:
        return found_within(effort.SHARING_OPERATIONS, partial(found_in, steps))

    share, steps = in_steps(1), context.options.rank_steps
    if share is None or not share.meets_in_a_loop:
        return share
    if steps:
        return in_steps(steps) or share
    better = partial(choose_steps, share, in_steps, context.machine, usual_values(scop))
    return found_within(effort.PREDICTION_OPERATIONS, better) or share


def _mapped(share: Share, context: CompileContext) -> Mapped:
    mapping = map_to_cpu(share.scop, share.dependences, share.schedule, context)
    return Mapped(share.scop, share.dependences, mapping, share.sharing)
