"""The facts of an explanation as text, the same on the terminal and in the page."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from polybuild.poly.marks import MarkKind
from polybuild.report.record.model import KEPT, RegionReport

if TYPE_CHECKING:
    from polybuild.driver.details import Details
    from polybuild.report.explain.obstacles import Obstacle, SourceLoop

FEW = 3  # dependences named for one loop on the terminal

KINDS = {
    "flow": "flow dependence",
    "anti": "anti dependence",
    "output": "output dependence",
}
# what each kind means for somebody who wants to be rid of it
ADVICE = {
    "flow": "the later iteration needs the value of the earlier one",
    "anti": "the later iteration overwrites what the earlier one still reads;"
    " with a second array there would be no such dependence",
    "output": "both write one element, and the later value must win;"
    " with an array instead of one element there would be no such dependence",
}


def summary(region: RegionReport) -> str:
    """What became of a region that is not kept, in one line."""
    if not region.gains:
        return region.reason
    parts = [count(region.statements, "statement")] if region.statements else []
    if region.kernels:
        parts.append(count(region.kernels, "kernel"))
    parts.append(count(region.parallel_loops, "parallel loop"))
    if region.vector_loops:
        parts.append(f"{count(region.vector_loops, 'loop')} in vectors")
    if region.tile_sizes:
        tiles = " and ".join("x".join(map(str, sizes)) for sizes in region.tile_sizes)
        parts.append(f"tiles of {tiles}")
    return ", ".join(parts)


def expected(region: RegionReport) -> str:
    """What the model of costs expects of a region, empty where it says nothing.

    Beside the gains stands the part of the original's cost that limits it, before and after.
    """
    found = region.prediction
    if found is None or not min(found.original_ns, found.one_thread_ns, found.all_threads_ns):
        return ""
    sizes = ", ".join(f"{name} = {value}" for name, value in found.parameters.items())
    before, after = found.parts["original"], found.parts["one_thread"]
    part = max(_PARTS, key=lambda name: before[name])
    gains = f"{_times(found.original_ns / found.one_thread_ns)} the original on one thread"
    if found.all_threads_ns != found.one_thread_ns:
        gains += f", {_times(found.original_ns / found.all_threads_ns)} on all"
    limit = f"{_PARTS[part]} {_milliseconds(before[part])} -> {_milliseconds(after[part])} ms"
    others = [
        f"'{each.name}' {_times(found.original_ns / each.one_thread_ns)}"
        for each in found.candidates
        if each.one_thread_ns and each.one_thread_ns != found.one_thread_ns
    ]
    rejected = f"; not chosen: {', '.join(others)}" if others else ""
    return f"expected{f' for {sizes}' if sizes else ''}: {gains}; {limit}{rejected}"


def expected_on_device(region: RegionReport) -> str:
    """What a run on the device is predicted to take, empty where nothing is said."""
    found = region.device
    if found is None:
        return ""
    sizes = ", ".join(f"{name} = {value}" for name, value in found.parameters.items())
    parts = [f"{count(found.launches, 'launch', 'launches')} {_milliseconds(found.parts['launches'])}"]
    parts += [
        f"{words} {_milliseconds(found.parts[name])}"
        for name, words in (("statements", "statements"), ("one_thread", "those of one thread"))
        if found.parts[name]
    ]
    moved = (
        f"transfers {_milliseconds(found.transfers_ns)} ms ({_brief(found.bytes_in / 2**20)} MiB in,"
        f" {_brief(found.bytes_out / 2**20)} out)"
    )
    return (
        f"expected on the device{f' for {sizes}' if sizes else ''}: {_milliseconds(found.device_ns)} ms"
        f" ({', '.join(parts)}), {moved}; the host is taken to need {_milliseconds(found.host_ns)}"
    )


_PARTS = {
    "arithmetic": "operations",
    "accesses": "loads and stores",
    "waiting": "waiting for results",
    "caches": "traffic of caches",
    "memory": "traffic of memory",
    "pages": "translating addresses",
    "conflicts": "lines that drive each other out",
}


def _times(ratio: float) -> str:
    return f"{ratio:.2g} times"


def _milliseconds(nanoseconds: float) -> str:
    return _brief(nanoseconds / 1e6)


def _brief(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.2g}"


def outcome(region: RegionReport) -> str:
    """What became of a region and how, or why not, in one line."""
    return f"{region.fate}: {region.message if region.status == KEPT else summary(region)}"


def count(number: int, noun: str, several: str = "") -> str:
    """``number`` things; ``several`` of them, if that is not the noun with an s."""
    return f"{number or 'no'} {noun if number == 1 else several or f'{noun}s'}"


def verdict(loop: SourceLoop) -> str:
    """What can be said of a loop of the source in a few words."""
    if loop.obstacles:
        count = len(loop.obstacles)
        return f"carries {count} dependence{'s' if count > 1 else ''}"
    if loop.private:
        return f"is parallel with copies of {', '.join(loop.private)} for each thread"
    return "is parallel: it carries no dependence"


def dependence(obstacle: Obstacle, loop: SourceLoop) -> str:
    """One dependence: its kind, the two accesses with their lines, its distance."""
    source, target = obstacle.source, obstacle.target
    around = f" over ({', '.join(loop.names)})" if obstacle.components == len(loop.names) else ""
    return (
        f"{KINDS[obstacle.kind]}, distance {obstacle.distance}{around}:"
        f" {source.access} (line {source.line}) {obstacle.meaning} {target.access} (line {target.line})"
    )


def example(obstacle: Obstacle) -> str:
    """The example of a dependence."""
    first, second = _VERBS[obstacle.kind]
    return (
        f"{obstacle.element} is {first} at {obstacle.source.instance}, {second} at {obstacle.target.instance}"
    )


_VERBS = {"flow": ("written", "read"), "anti": ("read", "overwritten"), "output": ("written", "overwritten")}


def outline(details: Details) -> list[tuple[int, str, str]]:
    """The new loops and their statements: depth, text, and who runs a loop.

    Statements of one line in a row, as unrolling makes them, are told once, and so are copies.
    """
    lines = {each.name: each.location.line for each in details.ordered.statements}
    rows = []
    for (depth, line, packed), together in itertools.groupby(
        details.text.outline, lambda each: (each.depth, lines.get(each.statement), each.packed)
    ):
        parts = list(together)
        if line is not None:
            if packed:
                rows.append((depth, f"copy of {' and '.join(packed)} into a packed buffer", ""))
                continue
            times = f", {len(parts)} times" if len(parts) > 1 else ""
            rows.append((depth, f"line {line}{times}", ""))
            continue
        for each in parts:
            run_by = _RUN_BY.get(each.mark.kind, "") if each.mark is not None else ""
            rows.append((depth, f"for {each.counter}", run_by))
    return rows


_RUN_BY = {MarkKind.PARALLEL: "run by threads", MarkKind.SIMD: "run by the vector unit"}
