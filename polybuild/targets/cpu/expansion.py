"""Arrays that the program sees in variables, as copies (Sadler, Alias and Thievenaz 2021, section IV-A)."""

from __future__ import annotations

import contextlib
from collections.abc import Collection

import islpy as isl

from polybuild.analysis.dependences import Dependences, compute_dependences
from polybuild.context import CompileContext
from polybuild.effort import EXPANDED_ARRAYS, EXPANSION_OPERATIONS
from polybuild.machine.model import Machine
from polybuild.poly.budget import budget_within
from polybuild.poly.relations import sets_of
from polybuild.poly.trees import descendants, is_band
from polybuild.schedule.legality import check_schedule
from polybuild.scop.model import Array, Scop
from polybuild.storage.expansion import expand, worth_expanding
from polybuild.storage.temporaries import temporaries
from polybuild.targets.cpu.carried import is_chain
from polybuild.targets.cpu.mapping import CpuMapping
from polybuild.targets.cpu.scalars import promote
from polybuild.targets.cpu.schedule_choice import fused
from polybuild.targets.cpu.strides import Stride, references
from polybuild.targets.ranks.model import Sharing
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class Mapped:
    """A region, the dependences that its order respects, and its mapping; of a rank's block if shared."""

    scop: Scop
    dependences: Dependences
    mapping: CpuMapping
    sharing: Sharing | None = None


def choose_with_copies(
    plain: Mapped, live_out: frozenset[str], named: Collection[str], context: CompileContext
) -> Mapped:
    """``plain`` with as many arrays as possible in variables, through copies; itself if there are none.

    ``live_out`` and ``named`` are as for temporary arrays. An array is taken if its copy, and those
    of the ones before it, can be kept in variables and the loops stay as good as they are. What
    is in registers as it is needs no copies.
    """
    if plain.mapping.registers or plain.mapping.accumulators:
        return plain
    best = plain
    taken: tuple[Array, ...] = ()
    dead = temporaries(plain.scop, plain.dependences, live_out, named)
    for array in worth_expanding(plain.scop, dead)[:EXPANDED_ARRAYS]:
        with contextlib.suppress(isl.Error), budget_within(EXPANSION_OPERATIONS):
            found = _on_copies(plain, (*taken, array), live_out, named, context)
            if found is not None:
                best, taken = found, (*taken, array)
    return best


def _on_copies(
    plain: Mapped,
    arrays: tuple[Array, ...],
    live_out: frozenset[str],
    named: Collection[str],
    context: CompileContext,
) -> Mapped | None:
    """The region with copies of ``arrays``, which are variables; None if they cannot be, or do not pay."""
    scop, copies = expand(plain.scop, plain.dependences, arrays)
    dependences = compute_dependences(scop, live_out)
    check_schedule(scop.schedule, dependences, scop.domain)
    contractible = temporaries(scop, dependences, live_out, named)
    kept = {each.array.name for each in plain.mapping.buffers}
    wanted = [each for each in contractible if each in copies or each.name in kept]
    schedule = fused(scop, dependences)
    if schedule is None or len(wanted) < len(copies) + len(kept):
        return None
    mapping = promote(scop, dependences, [schedule], wanted, context, tiles=False)
    if mapping is None or (plain.mapping.parallel_loops and not mapping.parallel_loops):
        return None
    before = _innermost_loops(plain.scop, plain.scop.schedule, plain.dependences, context.machine)
    after = _innermost_loops(scop, mapping.schedule, dependences, context.machine)
    slower = any(
        far > before[name][0] or chain > before[name][1]
        for name, (far, chain) in after.items()
        if name in before
    )
    return None if slower else Mapped(scop, dependences, mapping)


def _innermost_loops(
    scop: Scop, schedule: isl.Schedule, dependences: Dependences, machine: Machine
) -> dict[str, tuple[int, bool]]:
    """What each statement waits for in its innermost loop.

    That is how many of its references go from row to row there, and whether each of its iterations
    needs the result of one shortly before.
    """
    found: dict[str, tuple[int, bool]] = {}
    for band in descendants(schedule.get_root()):
        if not is_band(band) or any(map(is_band, descendants(band.child(0)))):
            continue
        strides = references(scop, band)
        for domain in sets_of(band.get_domain()):
            name, own = domain.get_tuple_name(), isl.UnionSet.from_set(domain)
            flow = dependences.flow.intersect_domain(own).intersect_range(own)
            far = sum(
                each.statement.name == name and each.stride(band.band_n_member() - 1) is Stride.FAR
                for each in strides
            )
            found[name] = (far, is_chain(band, flow, machine))
    return found
