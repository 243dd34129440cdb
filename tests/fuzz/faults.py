"""Bugs to plant in polybuild, each in one room; the fuzzer or the legality proof must find them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import islpy as isl

from polybuild.analysis import dependences
from polybuild.codegen.c.directives import DirectivePrinter
from polybuild.codegen.c.lane_bodies import LaneBodyPrinter
from polybuild.codegen.file import boundary, prologue
from polybuild.driver import passes
from polybuild.scop import loops as scop_loops
from polybuild.scop import order, wide_numbers
from polybuild.scop.program_point import ProgramPoint
from polybuild.storage import coalescing, last_iteration, scalar_expansion, webs
from polybuild.targets.cpu import mapping, schedule_choice

NOT_PLANTED = 99
"""Exit code of a process in which there is no place for a fault any more."""

NOTHING = "nothing"
"""A fault that is none: what is found with it is not due to a fault."""

FAULTS: dict[str, Callable[[], None]] = {}
OF_PRIVATES: set[str] = set()
"""Those that programs with private variables show."""


def _fault(plant: Callable[[], None]) -> Callable[[], None]:
    FAULTS[plant.__name__] = plant
    return plant


def _fault_of_privates(plant: Callable[[], None]) -> Callable[[], None]:
    OF_PRIVATES.add(plant.__name__)
    return _fault(plant)


def _replace(owner: object, name: str, value: object) -> None:
    """Replace what is there; an AttributeError if it is not there any more."""
    getattr(owner, name)
    setattr(owner, name, value)


def _function(name: str, body: str) -> None:
    """Replace a function that generated code calls."""
    if name not in prologue._FUNCTIONS:
        raise AttributeError(name)
    prologue._FUNCTIONS[name] = body


@_fault
def drop_flow_dependences() -> None:
    """Values may be read before they are written."""
    compute = dependences.flow_dependences

    def nothing(*arguments: object) -> tuple[isl.UnionMap, isl.UnionMap]:
        flow, live_in = compute(*arguments)
        return isl.UnionMap.empty(flow.get_space()), live_in

    _replace(dependences, "flow_dependences", nothing)


@_fault
def drop_false_dependences() -> None:
    """Values may be overwritten before they are read."""
    compute = dependences.false_dependences
    _replace(
        dependences,
        "false_dependences",
        lambda *arguments: isl.UnionMap.empty(compute(*arguments).get_space()),
    )


@_fault
def scheduler_forgets() -> None:
    """isl's scheduler does not get the anti and output dependences; the proof, which does, has to refuse."""
    compute = schedule_choice.compute_schedule

    def forgetful(scop: object, dependences: dependences.Dependences, *rest: object) -> isl.Schedule:
        nothing = isl.UnionMap.empty(dependences.false.get_space())
        return compute(scop, dataclasses.replace(dependences, false=nothing), *rest)

    _replace(schedule_choice, "compute_schedule", forgetful)


@_fault
def all_members_coincident() -> None:
    """Threads get loops that carry dependences."""
    _replace(mapping, "coincident_members", lambda node: list(range(node.band_n_member())))


@_fault
def missing_private() -> None:
    """Threads share the scalars that each should have."""
    text = DirectivePrinter._text
    _replace(
        DirectivePrinter,
        "_text",
        lambda self, directive, *rest: text(self, dataclasses.replace(directive, private=()), *rest),
    )


@_fault
def wrong_final_value() -> None:
    """A counter is off by one after the region."""
    last = boundary.BoundaryPrinter._last

    def off_by_one(self: object, value: object) -> tuple[str, str]:
        if value.value is not None:
            one = isl.PwAff.val_on_domain(value.value.domain(), isl.Val(1))
            value = dataclasses.replace(value, value=value.value.add(one))
        return last(self, value)

    _replace(boundary.BoundaryPrinter, "_last", off_by_one)


@_fault
def no_overlap_check() -> None:
    """Pointers are taken to point to different things."""
    _replace(passes, "find_overlaps", lambda *_arguments, **_more: ())


@_fault
def tile_bound_off() -> None:
    """The last iteration of a partial tile is lost."""
    _function("polybuild_min", "{ return (a < b ? a : b) - (a != b); }")


@_fault
def floor_rounds_to_zero() -> None:
    """Divisions of negative numbers are rounded as C does it."""
    _function("polybuild_floordiv", "{ return a / b; }")


@_fault
def stride_forgotten() -> None:
    """Loops that step by more than one run all iterations."""
    candidates = scop_loops._candidates
    _replace(
        scop_loops,
        "_candidates",
        lambda place, start, step: candidates(place, start, 1 if step > 0 else -1),
    )


@_fault
def else_runs_always() -> None:
    """An else branch runs whatever the condition is."""
    _replace(ProgramPoint, "without", lambda self, _condition: self)


@_fault
def strict_comparison() -> None:
    """``<=`` is read as ``<``."""
    _replace(wide_numbers, "COMPARISONS", dict(wide_numbers.COMPARISONS) | {"<=": isl.PwAff.lt_set})


@_fault
def block_reversed() -> None:
    """The statements of a block are taken to run from the last to the first."""
    block = order.block
    _replace(order, "block", lambda parts: block(list(parts)[::-1]))


@_fault_of_privates
def values_kept_unchecked() -> None:
    """Private values go to elements that others still need."""
    _replace(coalescing, "_same_values", lambda *_arguments: True)


@_fault_of_privates
def values_of_other_iterations() -> None:
    """Each iteration of all loops around a use is taken to have a value of its own."""
    _replace(webs, "_equal_outer", lambda _pairs, maximum: maximum)
    _replace(coalescing, "_same_values", lambda *_arguments: True)
    _replace(scalar_expansion, "same_reads", lambda *_arguments: True)


@_fault_of_privates
def last_value_of_another_iteration() -> None:
    """What a variable holds after the loops is what the last iteration but one set."""
    find = last_iteration._prefix

    def one_before(scop: object, instances: object, depth: int) -> isl.Set | None:
        found = find(scop, instances, depth)
        others = "".join(f", x{each}" for each in range(1, depth))
        return found and found.apply(isl.Map(f"{{ [x{others}] -> [x - 1{others}] }}"))

    _replace(last_iteration, "_prefix", one_before)


@_fault_of_privates
def lanes_share_variables() -> None:
    """Lanes see the variables of those beside them."""
    read = LaneBodyPrinter._read

    def of_next_vector(self: LaneBodyPrinter, node: object) -> object:
        found = read(self, node)
        if not self._lanes.operands[id(node)].variable:
            return found
        stem, copy = found.text.rsplit("_", 1)
        return dataclasses.replace(found, text=f"{stem}_{(int(copy) + 1) % self._lanes.copies}")

    _replace(LaneBodyPrinter, "_read", of_next_vector)


def plant(name: str) -> None:
    """Plant one of ``FAULTS``, or ``NOTHING``."""
    if name != NOTHING:
        FAULTS[name]()
