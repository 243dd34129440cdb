"""What a region is predicted to take on any number of ranks: the cost of a block, and of messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import islpy as isl

from polybuild.context import CompileContext
from polybuild.driver.details import Details
from polybuild.effort import PLAN_OPERATIONS
from polybuild.machine.model import Origin
from polybuild.poly.budget import found_within
from polybuild.poly.integers import integer_of
from polybuild.report.record.model import RankPlan, RankPrediction
from polybuild.scop.model import Scop
from polybuild.targets.cost import CostFunction
from polybuild.targets.cpu.cost.compare import cost_of_mapping
from polybuild.targets.cpu.cost.extents import about_count
from polybuild.targets.cpu.cost.parameters import parameters_at, usual_values, values_at
from polybuild.targets.cpu.expansion import Mapped
from polybuild.targets.ranks.blocks import blocks_at
from polybuild.targets.ranks.model import END, FIRST, Sharing
from polybuild.targets.ranks.sampling import summed
from polybuild.targets.ranks.volumes import Communication
from polybuild.values import dataclass

_param = isl.dim_type.param


def parameter_names(details: Details) -> list[str]:
    """The names of the parameters of a region."""
    context = details.scop.context
    return [str(context.get_dim_name(_param, place)) for place in range(context.dim(_param))]


def sizes_of(details: Details, given: Mapping[str, int]) -> Mapping[str, int]:
    """The values of all parameters of a region, those ``given`` and usual ones; none if there are no such.

    Names that it does not have are those of other regions.
    """
    own = {name: given[name] for name in parameter_names(details) if name in given}
    if not own:
        return usual_values(details.scop)
    point = parameters_at(details.scop.context, own)
    return {} if point.is_empty() else values_at(point)


def plan_ranks(
    details: Details, ranks: Sequence[int], given: Mapping[str, int], network: Mapping[str, float]
) -> RankPlan:
    """What the region takes on each number of ``ranks`` where parameters have ``given`` values.

    ``network`` has figures of the machine that differ from those it was compiled for.
    """
    if details.shared is None:
        return RankPlan({}, reason="they do not share it: all run the whole region")
    sizes = sizes_of(details, given)
    if not sizes and parameter_names(details):
        return RankPlan(dict(given), reason="parameters cannot have these values together")
    mapped, context = details.shared
    context = replace(context, machine=context.machine.with_figures(network, Origin.OPTION))
    rows = found_within(PLAN_OPERATIONS, partial(_rows, mapped, context, ranks, sizes))
    return RankPlan(dict(sizes), rows or (), "" if rows else "the prediction takes too long")


def _rows(
    mapped: Mapped, context: CompileContext, ranks: Sequence[int], sizes: Mapping[str, int]
) -> tuple[RankPrediction, ...]:
    sharing = mapped.sharing
    assert sharing is not None  # noqa: S101 - it is what ranks share
    region = _Block.of(mapped, context)
    alone, *found = [_on(each, region, sharing, context, sizes) for each in (1, *ranks)]
    rows = []
    for each in found:
        speed_up = alone.time_ns / each.time_ns if each.time_ns else 1.0
        rows.append(replace(each, speed_up=speed_up, efficiency=speed_up / each.ranks))
    return tuple(rows)


@dataclass(frozen=True, slots=True)
class _Block:
    """What a rank runs between two parameters: the instances, and what they cost."""

    scop: Scop
    schedule: isl.Schedule
    cost: CostFunction

    @classmethod
    def of(cls, mapped: Mapped, context: CompileContext) -> _Block:
        """That of a region as it was mapped; its threads run it if it has loops for them."""
        ends = mapped.scop.domain.get_space().params()
        for name in (FIRST, END):
            if ends.find_dim_by_name(_param, name) < 0:
                ends = ends.add_dims(_param, 1).set_dim_name(_param, ends.dim(_param), name)
        scop = replace(mapped.scop, context=mapped.scop.context.align_params(ends))
        order = mapped.mapping.schedule.intersect_domain(scop.domain)  # without what ranks do together
        mapping = replace(mapped.mapping, schedule=order)
        found = cost_of_mapping("block", scop, mapped.dependences, mapping, context)
        return cls(scop, mapped.mapping.schedule, found.all_threads)

    def at(self, values: Mapping[str, int]) -> tuple[float, float]:
        """How many instances it has, and the nanoseconds they take, where parameters have ``values``.

        The ends of the block are among them. Pyramids have a third of what is around them, which costs take
        for a quarter: blocks of them differ in just that.
        """
        point = parameters_at(self.scop.context, values)
        domains = [each.domain.intersect_params(point) for each in self.scop.statements]
        live = [each for each in domains if not each.is_empty()]
        counted, roughly = sum(map(_counted, live)), sum(map(about_count, live))
        return counted, self.cost.at(values).total * (counted / roughly if roughly else 1.0)


def _on(
    ranks: int, region: _Block, sharing: Sharing, context: CompileContext, sizes: Mapping[str, int]
) -> RankPrediction:
    """The prediction for one number of ranks, compared with nothing yet."""
    blocks = blocks_at(sharing, sizes, ranks)
    some = sorted({0, ranks // 2, ranks - 1})
    ends = [{**sizes, FIRST: blocks[rank], END: blocks[rank + 1]} for rank in some]
    found = [region.at(each) for each in ends]
    sent = Communication(context.machine, sizes, blocks, region.schedule.get_domain()).of(sharing)
    return RankPrediction(
        ranks=ranks,
        instances=round(max(instances for instances, _ in found)),
        messages=round(sent.messages),
        bytes=round(sent.bytes),
        communication_ns=sent.nanoseconds,
        time_ns=max(nanoseconds for _, nanoseconds in found) + sent.nanoseconds,
        speed_up=1.0,
        efficiency=1.0,
    )


def _counted(domain: isl.Set) -> float:
    """The elements of ``domain``, of which there are some: slice by slice, of which few are looked at."""
    if domain.dim(isl.dim_type.set) == 0:
        return 1.0
    low, high = (integer_of(value) for value in (domain.dim_min_val(0), domain.dim_max_val(0)))

    def slice_at(first: int) -> tuple[float]:
        inner = domain.fix_val(isl.dim_type.set, 0, isl.Val(first))
        return (0.0 if inner.is_empty() else about_count(inner),)

    (total,) = summed(slice_at, low, high)
    return total
