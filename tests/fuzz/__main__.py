"""Compare random programs with themselves transformed.

usage: python -m tests.fuzz [--count N] [--seed S] [--first I] [--ways W] [--jobs J] [--log FILE]
       [--found FOLDER] [--programs generate|chains|privates|pieces|steps|stencils|rows|updates]
       [--ranks] [--device cuda|opencl]

Program I of seed S is always the same one. With --log, finished batches are written to
FILE and not run again; failing programs are reduced and written to FOLDER.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import functools
import json
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from . import devices
from .chains import chain
from .generate import generate
from .harness import (
    BACKWARDS,
    DEVICES,
    DISTRIBUTED,
    ORIGINAL,
    OTHERS,
    PRIVATE,
    PRIVATES,
    RACES,
    RANKS,
    ROOT,
    SETTINGS,
    SHARED,
    THREADS,
    UNOPTIMISED,
    UNOPTIMISED_BACKWARDS,
    UPDATES,
    Build,
    Failure,
    Harness,
    Outcome,
    limited,
    links,
    optimised,
    with_device,
)
from .pieces import pieces
from .privates import private_values
from .program import Program
from .reduce import reduce
from .rows import rows
from .steps import stencils, steps
from .text import batch_text
from .updates import updates

STREAMS: dict[str, Callable[[int, int], Program]] = {
    "generate": generate,
    "chains": chain,
    "privates": private_values,
    "pieces": pieces,
    "steps": steps,
    "stencils": stencils,
    "rows": rows,
    "updates": updates,
}
"""Program number I of seed S, of each kind."""

BATCH = 48  # programs in a file: the tools' starts and the driver are shared


def main() -> int:
    arguments = _arguments()
    log = Path(arguments.log) if arguments.log else None
    known = _read_log(log, arguments.seed)
    last = arguments.first + arguments.count
    firsts = range(arguments.first, last, BATCH)
    total = Outcome()
    started = time.monotonic()
    with (
        tempfile.TemporaryDirectory() as folder,
        concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool,
    ):
        waiting = {}
        for first in firsts:
            if first in known:
                total.add(known[first])
            else:
                size = min(BATCH, last - first)
                batch = Path(folder) / str(first)
                run = functools.partial(run_batch, stream=arguments.programs)
                if arguments.ranks:
                    run = functools.partial(run_batch_on_ranks, device=arguments.device)
                elif arguments.device:
                    run = functools.partial(
                        run_device_batch, device=arguments.device, stream=arguments.programs
                    )
                job = pool.submit(run, batch, arguments.seed, first, size, ways=arguments.ways)
                waiting[job] = first
        for done in concurrent.futures.as_completed(waiting):
            outcome = done.result()
            _write_log(log, arguments.seed, waiting[done], outcome)
            for each in {each.program.name: each for each in reversed(outcome.failures)}.values():
                _report(each, Path(arguments.found), Path(folder), reducing=not arguments.no_reduce)
            total.add(outcome)
            if sys.stderr.isatty():
                print(f"\r{total.programs} programs, {len(total.failures)} failures", end="", file=sys.stderr)
    print(summary(total, time.monotonic() - started))
    return 1 if total.failures else 0


def run_batch_on_ranks(
    folder: Path, seed: int, first: int, size: int, *, ways: int, device: str | None = None
) -> Outcome:
    """The same on ranks that share the regions, with a ``device`` for each of them if it is given."""
    programs = [generate(seed, first + index) for index in range(size)]
    rng = random.Random(f"{seed}:{first}:ranks")  # noqa: S311 -- wants to be repeatable
    settings, build = rng.sample(SHARED, ways), rng.choice((RANKS, DISTRIBUTED))
    if device:
        settings = [{"backend": device, **each} for each in settings]
        build = with_device(build, device)
    outcome = Harness(folder, run_seconds=120, tool_seconds=120).check(programs, settings, [build])
    shutil.rmtree(folder)
    return outcome


def run_device_batch(
    folder: Path,
    seed: int,
    first: int,
    size: int,
    *,
    ways: int,
    device: str,
    stream: str = "generate",
) -> Outcome:
    """The same on a device of this machine, or the emulated one of CUDA."""
    programs = [STREAMS[stream](seed, first + index) for index in range(size)]
    rng = random.Random(f"{seed}:{first}:{device}")  # noqa: S311 -- wants to be repeatable
    choices = devices.OVER_TIME if stream == "stencils" else devices.SETTINGS
    settings = [{"backend": device, **each} for each in rng.sample(choices, ways)]
    outcome = Harness(folder, run_seconds=120, tool_seconds=120).check(
        programs, settings, [rng.choice(DEVICES[device])]
    )
    shutil.rmtree(folder)
    return outcome


def run_batch(
    folder: Path,
    seed: int,
    first: int,
    size: int,
    *,
    ways: int = 2,
    fault: str = "",
    stream: str = "generate",
) -> Outcome:
    """Check programs ``first`` to ``first + size`` of a stream under ``ways`` sets of options.

    Which sets, and which builds, depends on ``first`` and the compilers that are here.
    """
    programs = [STREAMS[stream](seed, first + index) for index in range(size)]
    rng = random.Random(f"{seed}:{first}")  # noqa: S311 -- wants to be repeatable
    harness = Harness(folder, fault=fault)
    builds: list[Build] = [THREADS, BACKWARDS] if rng.random() < 0.3 else [UNOPTIMISED, UNOPTIMISED_BACKWARDS]
    if rng.random() < 0.2 and links(other := rng.choice(OTHERS)):
        builds.append(other)
    settings = rng.sample({"privates": PRIVATES, "updates": UPDATES}.get(stream, SETTINGS), ways)
    if PRIVATE in settings and RACES not in builds and links(RACES):
        builds.append(RACES)
    if stream != "privates":
        settings = [optimised(each, rng) for each in settings]
    if any(each.header for each in programs):
        settings = [{**each, "headers": "on"} for each in settings]
    outcome = harness.check(programs, settings, builds)
    if rng.random() < 0.1 and not fault and stream == "generate":
        outcome.failures += _interpreted(programs, seed, first)
    if rng.random() < 0.1:
        outcome.failures += harness.invalid(programs)
    shutil.rmtree(folder)
    return outcome


def _interpreted(programs: list[Program], seed: int, first: int) -> list[Failure]:
    """What the oracle says of a batch."""
    command = [sys.executable, "-m", "tests.fuzz.interpret", str(seed), str(first), str(len(programs))]
    done = limited(command, 40 * len(programs), cwd=ROOT)
    if done is None:
        return []  # the model is too large for it; the tool's own time is looked at elsewhere
    found = [(int(line.split(" ", 1)[0]), line) for line in done.stdout.splitlines()]
    failures = [Failure("oracle", programs[index - first], {}, ORIGINAL, line) for index, line in found]
    if done.returncode and len(programs) > 1:  # one of them ended it
        return [
            each for index, one in enumerate(programs) for each in _interpreted([one], seed, first + index)
        ]
    if done.returncode:
        message = done.stderr[-500:] or f"ended with {done.returncode}"
        failures.append(Failure("oracle", programs[0], {}, ORIGINAL, message))
    return failures


def summary(total: Outcome, seconds: float) -> str:
    """The counts as text."""
    kinds: dict[str, int] = {}
    for each in total.failures:
        kinds[each.kind] = kinds.get(each.kind, 0) + 1
    kept = ", ".join(
        f"{count} {code}" for code, count in sorted(total.kept.items(), key=lambda item: -item[1])
    )
    lines = [
        f"programs     {total.programs}",
        f"regions      {total.regions} ({total.transformed} transformed, {sum(total.kept.values())} kept)",
        f"kept         {kept or 'none'}",
        f"runs         {total.runs} ({total.originals} regions took their original loops)",
        *([f"kernels      {total.kernels} regions, {total.launched} runs"] if total.kernels else []),
        f"failures     {', '.join(f'{count} {kind}' for kind, count in sorted(kinds.items())) or 'none'}",
        f"time         {seconds:.0f} s ({total.seconds:.0f} s in polybuild, slowest {total.slowest:.1f} s)",
    ]
    return "\n".join(lines)


def _report(failure: Failure, found: Path, folder: Path, *, reducing: bool) -> None:
    """Reduce a failing program and write it where it can be looked at."""
    harness = Harness(folder / "reduce")
    program = failure.program

    def fails(smaller) -> bool:
        outcome = harness.check([smaller], [failure.settings], [failure.build])
        same = any(each.kind == failure.kind and _same(each, failure) for each in outcome.failures)
        return same and not (failure.kind in {"wrong", "crash"} and harness.invalid([smaller]))

    if reducing and failure.kind not in {"invalid", "oracle"}:
        program = reduce(program, fails)
    found.mkdir(parents=True, exist_ok=True)
    file = found / f"{failure.kind}-{program.name}-{failure.build.name}.c"
    options = " ".join(f"--{name} {value}" for name, value in failure.settings.items())
    comment = (
        f"/* {failure.kind}: {options} ({failure.build.name})\n{failure.message.replace('*/', '* /')} */\n"
    )
    file.write_text(comment + batch_text([program]), encoding="utf-8")
    print(f"\n{failure.kind}: {file}: {options}: {failure.message[-200:]}", flush=True)


def _same(one: Failure, other: Failure) -> bool:
    """Whether two failures of a kind are the same fault, as far as the first words tell."""
    return (
        one.kind not in {"tool", "build"}
        or one.message.strip()[-60:] == other.message.strip()[-60:]
        or one.kind == "build"
    )


def _read_log(log: Path | None, seed: int) -> dict[int, Outcome]:
    known: dict[int, Outcome] = {}
    if log is not None and log.is_file():
        for line in log.read_text(encoding="utf-8").splitlines():
            entry = json.loads(line)
            if entry["seed"] == seed and not entry["failures"]:
                counts = {name: entry.get(name, 0) for name in _COUNTS}
                known[entry["first"]] = Outcome(**counts)
    return known


_COUNTS = (
    "programs",
    "regions",
    "transformed",
    "kept",
    "runs",
    "originals",
    "kernels",
    "launched",
    "seconds",
    "slowest",
)


def _write_log(log: Path | None, seed: int, first: int, outcome: Outcome) -> None:
    if log is not None:
        entry = {"seed": seed, "first": first, "failures": len(outcome.failures)}
        entry |= {name: getattr(outcome, name) for name in _COUNTS}
        with log.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=240, help="programs to try")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first program")
    parser.add_argument("--ways", type=int, default=2, help="sets of options to try each program with")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--log", default="", help="file of finished batches, to go on with a run")
    parser.add_argument("--found", default="found", help="folder for failing programs")
    parser.add_argument("--programs", choices=STREAMS, default="generate", help="what kind of programs")
    parser.add_argument("--device", choices=DEVICES, default="", help="backend of a device to run on")
    parser.add_argument("--ranks", action="store_true", help="run on ranks that share the regions")
    parser.add_argument("--no-reduce", action="store_true", help="write failing programs as they are")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
