"""Random programs under the oracle: the model's instances in the transformed order see the same values.

usage: python -m tests.fuzz.interpret SEED FIRST COUNT

Prints a line for each program whose transformed order differs.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import islpy as isl

from polybuild import effort
from polybuild.analysis.dependences import Dependences
from polybuild.diagnostics import Location
from polybuild.driver import file as pipeline
from polybuild.driver import passes
from polybuild.driver.isolation import UNWATCHED, Watch, WorkerCrashError, run_isolated
from polybuild.options import Options
from polybuild.poly.marks import MarkKind
from polybuild.poly.sampling import points
from polybuild.schedule.oracle import Difference, first_difference, fixed
from polybuild.scop.model import Scop
from polybuild.targets.cpu.mapping import CpuMapping

from .generate import generate
from .program import Program
from .text import batch_text

MOST = 500  # instances of a region; the interpreter is slow
LONGEST = 40  # seconds of processor time for a region, and for its interpretation
# copies into registers and buffers are no instances of the region: the interpreter does not know them
OPTIONS = Options(min_work=0, tile_sizes=(2, 3), registers=False)

Mapped = tuple[Scop, Dependences, CpuMapping]


def mapped(source: Path, options: Options = OPTIONS, watch: Watch = UNWATCHED) -> list[Mapped]:
    """The model, the dependences and the new order of each region of ``source``.

    Orders that the proof refused count no more than those that were never tried.
    """
    found: dict[Location, Mapped] = {}
    choose = passes.choose_with_reductions

    def remember(scop: Scop, *rest: object, **order: object) -> tuple[CpuMapping, Dependences]:
        mapping, respected = choose(scop, *rest, **order)
        found[scop.location] = scop, respected, mapping
        return mapping, respected

    passes.choose_with_reductions = remember
    try:
        flags = [f"-I{Path(__file__).resolve().parent}"]
        pipeline.compile_source(str(source), options, ["gcc"], flags, watch)
    finally:
        passes.choose_with_reductions = choose
    return list(found.values())


def differences(
    program: Program, folder: Path, options: Options = OPTIONS, watch: Watch = UNWATCHED
) -> Iterator[Difference]:
    """What the oracle finds in the regions of ``program``, at those of its sizes that are small enough.

    Regions are left out whose interpretation ``watch`` knows to end the process.
    """
    source = folder / f"{program.name}.c"
    source.write_text(batch_text([program]), encoding="utf-8")
    for number, (scop, dependences, mapping) in enumerate(mapped(source, options, watch)):
        place = -1 - number  # beside the positions of the regions, which are transformed before
        if place in watch.crashes:
            continue
        watch.begins(place)
        backwards = [mark for mark in mapping.directives if mark.kind is MarkKind.PARALLEL]
        for run in program.runs:
            values = dict(zip((each.name for each in program.sizes), run, strict=True))
            parameters = _parameters(scop, values)
            if parameters is None or _count(scop, parameters) > MOST:
                continue
            for marks in ((), backwards):
                found = first_difference(scop, mapping.schedule, dependences, parameters, marks)
                if found is not None:
                    yield found


def differences_apart(program: Program, folder: Path) -> list[Difference]:
    """The same whatever isl does: what ends the process, or takes too long, has no differences."""
    try:
        return run_isolated(lambda watch: list(differences(program, folder, watch=watch)), LONGEST)
    except WorkerCrashError:
        return []


def _parameters(scop: Scop, values: Mapping[str, int]) -> dict[str, int] | None:
    """Values for the parameters of ``scop``; None if unknown or outside its context."""
    found = {each.name: values.get(each.name.removeprefix("s_")) for each in scop.parameters}
    parameters = {name: value for name, value in found.items() if value is not None}
    if len(parameters) < len(found) or fixed(scop.context, parameters).is_empty():
        return None
    return parameters


def _count(scop: Scop, parameters: Mapping[str, int]) -> int:
    return sum(len(points(fixed(each.domain, parameters))) for each in scop.statements)


def main() -> None:
    seed, first, count = map(int, sys.argv[1:])
    effort.REGION_OPERATIONS = 400_000
    isl.DEFAULT_CONTEXT.set_max_operations(0)
    with tempfile.TemporaryDirectory() as folder:
        for index in range(first, first + count):
            for each in differences_apart(generate(seed, index), Path(folder)):
                print(index, each, flush=True)  # noqa: T201 -- this is what it is for


if __name__ == "__main__":
    main()
