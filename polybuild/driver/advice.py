"""What the owner of a region may do for it, from what stood in the way of more.

Everything that is said is tried on the model first, so that it helps whoever follows it.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import islpy as isl
from pycparser import c_ast

from polybuild import effort
from polybuild.analysis.aliasing import settled_by_restrict
from polybuild.analysis.dependences import compute_dependences
from polybuild.analysis.promised_orders import promised_updates
from polybuild.c.symbols import StorageClass
from polybuild.c.syntax_tree import location
from polybuild.codegen.c.bodies import c_text
from polybuild.driver.passes import Transformation
from polybuild.driver.step_advice import advise_on_steps
from polybuild.poly.budget import found_within
from polybuild.report.record.model import Advice
from polybuild.scop.model import Access, AccessKind, Array, Scop
from polybuild.targets.model import Enough


def advice(work: Transformation) -> tuple[Advice, ...]:
    """All that there is to advise about a region after its transformation."""
    found: list[Advice] = []
    of_conditions = () if work.stays else (_restrict, _work)
    for kind in (*of_conditions, _reassociation, _live_after, _conditional, advise_on_steps):
        with contextlib.suppress(isl.Error):  # no advice is better than no region
            operations = (
                effort.STEP_ADVICE_OPERATIONS if kind is advise_on_steps else effort.ADVICE_OPERATIONS
            )
            found += found_within(operations, partial(_all_of, kind, work)) or ()
    return tuple(found)


def _all_of(kind: Callable[[Transformation], Iterator[Advice]], work: Transformation) -> list[Advice]:
    return list(kind(work))


def _restrict(work: Transformation) -> Iterator[Advice]:
    """Pointers that need no checks when the program runs if they are declared ``restrict``."""
    region = work.model.region
    for name, settled in settled_by_restrict(work.checks.overlaps, region).items():
        others = {each.array.source_name for overlap in settled for each in (overlap.first, overlap.second)}
        checks = "this check goes" if len(settled) == 1 else f"these {len(settled)} checks go"
        told = " and ".join(f"'{each}'" for each in sorted(others - {name}))
        declaration = region.visible.symbols[name].declaration
        array = isinstance(getattr(declaration, "type", None), c_ast.ArrayDecl)
        written = f"{name}[restrict ...]" if array else f"*restrict {name}"
        message = f"if '{name}' never overlaps {told}, declare it '{written}': {checks}"
        line = location(declaration).line
        yield Advice("restrict", line or region.begin.line, message)


def _reassociation(work: Transformation) -> Iterator[Advice]:
    """Sums that threads would share if their order did not matter."""
    promised = {line for (_, line, _), _ in promised_updates(work.model.region.statements)}
    for line in work.mapped.mapping.reassociable:
        message = "only the order of floating-point operations keeps the loop serial;"
        option = "--openmp use" if line in promised else "--allow-reassociation on"
        yield Advice("reassociation", line, f"{message} with {option} threads would share it")


def _live_after(work: Transformation) -> Iterator[Advice]:
    """Variables that keep a region's loops in their order because their last value is needed."""
    model = work.model
    if work.mapped.mapping.parallel_loops or not work.context.options.parallel:
        return
    needed = {each.name: each for each in model.scop.arrays if _may_be_own(each) and each.name in model.live}
    if not needed:
        return
    freed = compute_dependences(model.scop, model.live - set(needed))
    private = {each.array.name for each in freed.private}
    for name, array in needed.items():
        if name in private:
            message = (
                f"'{array.source_name}' is used after the region, so each iteration must leave its value"
            )
            line = _first_write(work, array)
            yield Advice("live-after", line, f"{message}; with one declared in the loop it would be parallel")


def _conditional(work: Transformation) -> Iterator[Advice]:
    """Variables that keep a region's loops in their order because they are not set in each iteration."""
    model = work.model
    if work.mapped.mapping.parallel_loops or not work.context.options.parallel:
        return
    own = {each.array.name for each in model.dependences.private}
    for array in model.scop.arrays:
        if _may_be_own(array) and array.name not in own | model.live and _is_set_perhaps(model.scop, array):
            certain = compute_dependences(_set_for_certain(model.scop, array), model.live)
            if array.name in {each.array.name for each in certain.private}:
                yield Advice(
                    "conditional",
                    _first_write(work, array),
                    f"'{array.source_name}' is set under a condition, and may have the value of an earlier"
                    " iteration where it is used; set in each of them, it would not keep their order",
                )


def _is_set_perhaps(scop: Scop, array: Array) -> bool:
    return any(
        access.array is array and access.kind is AccessKind.MAY_WRITE
        for statement in scop.statements
        for access in statement.accesses
    )


def _set_for_certain(scop: Scop, array: Array) -> Scop:
    """``scop`` as if each write of ``array`` happened for certain."""

    def certain(access: Access) -> Access:
        if access.array is array and access.kind is AccessKind.MAY_WRITE:
            return replace(access, kind=AccessKind.WRITE)
        return access

    return replace(
        scop,
        statements=tuple(
            replace(each, accesses=tuple(map(certain, each.accesses))) for each in scop.statements
        ),
    )


def _first_write(work: Transformation, array: Array) -> int:
    """The first line in which the region writes ``array``."""
    lines = (
        location(access.node).line
        for statement in work.model.scop.statements
        for access in statement.accesses
        if access.array is array and access.kind is not AccessKind.READ
    )
    return min(filter(None, lines), default=work.model.region.begin.line)


def _may_be_own(array: Array) -> bool:
    """Whether a variable could be one of each iteration's own."""
    return array.is_scalar and array.provenance.storage in {StorageClass.LOCAL, StorageClass.PARAMETER}


def _work(work: Transformation) -> Iterator[Advice]:
    """The size below which the original loops run."""
    checks, mapping = work.checks, work.mapped.mapping
    if not (mapping.parallel_loops or mapping.tile_sizes) or len(checks.work) > effort.ADVICE_STATEMENTS:
        return
    asked = [each for each in checks.alone or (Enough(checks.work, checks.min_work),) if each.minimum]
    shared = [Enough(each.work, each.minimum) for each in work.plan.shared_loops if each.work]
    for_threads = min(shared, key=lambda each: each.minimum, default=Enough((), 0))
    threads_only = for_threads.minimum > checks.min_work > 0 and not work.comparison.gains_alone
    if threads_only:
        asked = [*checks.shared, for_threads]
    predicted = len(asked) > 1 or any(each.minimum > checks.min_work for each in asked)
    counts = [each for one in asked for each in one.counts if each]
    names = {
        str(count.get_dim_name(isl.dim_type.param, position))
        for count in itertools.chain.from_iterable(counts)
        for position in range(count.dim(isl.dim_type.param))
        if count.involves_dims(isl.dim_type.param, position, 1)
    }
    if not asked or not names:
        return

    def enough(value: int) -> bool:
        return all(_instances(one.counts, names, value) >= one.minimum for one in asked)

    low, high = 0, 1
    while not enough(high):
        low, high = high, 2 * high
        if high > effort.ADVICE_SIZE:
            return
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    own = [c_text(each.expression) for each in work.model.scop.parameters if each.name in names]
    below = f"below {' = '.join(own)} = {high}"
    message = f"{below} the original loops run (--min-work {checks.min_work})"
    if threads_only:
        message = f"{below} the original loops run: less work is not worth threads"
    elif predicted:
        message = f"{below} the original loops run on one thread: they are predicted to be as fast there"
    yield Advice("min-work", work.model.region.begin.line, message)


def _instances(counts: Sequence[Sequence[isl.PwAff]], names: set[str], value: int) -> float:
    """How many instances run at most where each of the parameters ``names`` is ``value``."""
    total = 0.0
    for trips in counts:
        product = 1.0
        for each in trips:
            fixed = each
            for position in range(each.dim(isl.dim_type.param)):
                if each.get_dim_name(isl.dim_type.param, position) in names:
                    there = isl.Set.universe(each.get_domain_space().params())
                    fixed = fixed.intersect_params(
                        there.fix_val(isl.dim_type.param, position, isl.Val(value))
                    )
            count = fixed.max_val()
            product *= max(0, count.to_python()) if count.is_int() else 0
        total += product
    return total
