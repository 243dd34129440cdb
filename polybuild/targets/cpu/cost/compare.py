"""The cost of what a mapping made of a region, beside that of the original loops as a compiler makes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice

import islpy as isl

from polybuild.analysis.dependences import Dependences
from polybuild.analysis.reductions import Reduction
from polybuild.context import CompileContext, CompilerRules
from polybuild.effort import CERTAIN_GAIN, CERTAIN_ORDER, SAME_TIME, WARM_SIZES
from polybuild.machine.model import Machine
from polybuild.poly.memory import Itself, remembered
from polybuild.scop.model import Scop
from polybuild.targets.cpu.cost.compiled import as_compiled, as_unrolled
from polybuild.targets.cpu.cost.compilers_lanes import Aliases, nowhere
from polybuild.targets.cpu.cost.function import LoopCost, Loops
from polybuild.targets.cpu.cost.grids import walk_of
from polybuild.targets.cpu.cost.nest import NestBuilder, unrolls_in_lanes
from polybuild.targets.cpu.cost.parameters import larger_sizes, smaller_sizes, usual_values
from polybuild.targets.cpu.cost.versions import CandidateCost, VersionCosts
from polybuild.targets.cpu.mapping import CpuMapping


def cost_of_versions(
    original: tuple[Scop, Dependences, Sequence[Reduction]],
    mapped: tuple[Scop, Dependences, CpuMapping],
    context: CompileContext,
    *,
    aliases: Aliases = nowhere,
    clobbering: frozenset[str] = frozenset(),
) -> VersionCosts:
    """What the ``original`` loops cost, and those of the region as it was ``mapped``.

    Compilers do not know that arrays are different memory that ``aliases`` tells of, nor that writes to those
    called ``clobbering`` leave the bounds and base pointers of the original loops alone.
    """
    scop, dependences, mapping = mapped
    name = mapping.name or "chosen"
    chosen = cost_of_mapping(name, scop, dependences, mapping, context, aliases=aliases)
    before = cost_of_original(*original, context, aliases=aliases, clobbering=clobbering)
    larger = larger_sizes(original[0]) if walk_of(original[0].statements).repeats else ()
    costs = VersionCosts(
        before,
        chosen,
        (chosen, *mapping.rejected),
        usual_values(original[0]),
        larger,
        uncertain=unrolls_in_lanes(before.loops.nest),
    )
    if costs.gaining is not None or not isinstance(chosen.one_thread, LoopCost):
        return costs
    warm = _gains_warm(before, chosen.one_thread, original[0].context, costs.usual)
    return replace(costs, gain_warm=warm)


def _gains_warm(before: LoopCost, after: LoopCost, context: isl.Set, usual: Mapping[str, int]) -> bool:
    """Whether loops are faster than those ``before`` where caches hold all data, and elsewhere as fast.

    Smaller and smaller sizes count, from the largest that caches hold on. Memory may be the limit of both
    where they come to all for the first time. Chains of operations that wait for each other are not hidden
    wholly behind caches: loops that wait less gain even where these are the limit of both. Behind other
    operations they are.
    """
    if after.at(usual).total > SAME_TIME * before.at(usual).total:
        return False
    before, after = replace(before, repeated=True), replace(after, repeated=True)
    costs = ((before.at(values), after.at(values)) for values in smaller_sizes(context, usual))
    warm = list(islice(((old, new) for old, new in costs if not old.memory and new.total), WARM_SIZES))
    gains = [old.total / new.total for old, new in warm]
    if not gains or min(gains) <= 1 / SAME_TIME:
        return False
    alone = ((old.total + old.hidden) / (new.total + new.hidden) for old, new in warm)
    waits_less = all(
        old.waiting > new.waiting and old.caches >= new.caches and SAME_TIME * old.arithmetic < old.total
        for old, new in warm
    )
    return max(gains) > CERTAIN_ORDER or (waits_less and min(alone) > CERTAIN_GAIN)


def cost_of_mapping(
    name: str,
    scop: Scop,
    dependences: Dependences,
    mapping: CpuMapping,
    context: CompileContext,
    *,
    aliases: Aliases = nowhere,
) -> CandidateCost:
    """The cost of ``mapping``, which respects ``dependences``; ``aliases`` as in ``cost_of_versions``."""
    machine, width = context.machine, context.compiled_vector_bytes
    region, known = (Itself(scop), Itself(dependences), aliases), (Itself(machine), Itself(context.compiler))
    loops = _loops_of(region, _Plan(mapping), known, context.fused)
    return CandidateCost(
        name,
        LoopCost(loops, machine, width, parallel=False, repeated=context.repeated),
        LoopCost(loops, machine, width, parallel=True, repeated=context.repeated),
        has_threads=mapping.parallel_loops > 0,
    )


class _Plan(Itself[CpuMapping]):
    """A mapping that every other equals which has the same loops, whatever both were compared with."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Plan) and other._loops == self._loops

    def __hash__(self) -> int:
        return hash(self._loops)

    @property
    def _loops(self) -> tuple[int, ...]:
        plan = self.value
        return tuple(map(id, (plan.schedule, plan.directives, plan.tile_sizes, plan.registers, plan.buffers)))


@remembered  # what was chosen of several candidates is compared with the original loops, too
def _loops_of(
    region: tuple[Itself[Scop], Itself[Dependences], Aliases],
    plan: _Plan,
    known: tuple[Itself[Machine], Itself[CompilerRules]],
    fused: int,
) -> Loops:
    """What is priced of a ``plan`` for a ``region``, of which these dependences and aliases are known."""
    scop, dependences, aliases = region[0].value, region[1].value, region[2]
    machine, compiler, mapping = known[0].value, known[1].value, plan.value
    builder = NestBuilder(scop, dependences, machine, mapping.directives, aliases, compiler)
    buffered = frozenset(each.array.name for each in mapping.buffers)
    return Loops.of(scop, builder.nest(as_unrolled(scop, mapping, compiler)), buffered, fused=fused)


def cost_of_original(
    scop: Scop,
    exact: Dependences,
    reductions: Sequence[Reduction],
    context: CompileContext,
    *,
    aliases: Aliases = nowhere,
    clobbering: frozenset[str] = frozenset(),
) -> LoopCost:
    """The cost of the original loops, of which only the ``exact`` dependences are known.

    For ``aliases``, and arrays that are ``clobbering``, see ``cost_of_versions``.
    """
    order, respected = as_compiled(scop, exact, reductions, context)
    machine = context.machine
    compiler = context.compiler
    builder = NestBuilder(scop, respected, machine, aliases=aliases, compiler=compiler, clobbering=clobbering)
    nest = builder.nest(order)
    loops = Loops.of(scop, nest, frozenset(), fused=context.fused, as_written=True)
    width = context.compiled_vector_bytes
    return LoopCost(loops, machine, width, parallel=False, repeated=context.repeated)
