"""What the tool takes for random programs: transformed alone, nothing compiled and nothing run.

usage: python -m tests.fuzz.cost [--count N] [--seed S] [--first I] [--programs STREAM,...] [--log FILE]

Each program is transformed with the usual options in a process of its own, a copy of this one, as a build
does it. With --log, what is found is written to FILE, a line of JSON a program, and not asked for again.
Ends with 1 if a program took longer or more memory than any may, or a region was kept by a fault of ours.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import traceback
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from polybuild.driver import file as pipeline
from polybuild.driver.isolation import Watch, run_isolated
from polybuild.options import Options
from polybuild.poly.start import import_islpy

from .__main__ import STREAMS
from .harness import FAULTS, HERE
from .text import HEADER, batch_text, header_text

MAY_TAKE = 20.0  # seconds of processor time for a program,
MAY_USE = 2048  # and MiB
_LONGEST = 10
_FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Cost:
    """What one program took: seconds of processor time and MiB at most, and why its regions were kept."""

    stream: str
    seed: int
    number: int
    seconds: float
    mebibytes: int
    kept: tuple[str, ...]

    @property
    def is_too_much(self) -> bool:
        """Whether a user would wait for it, or it failed."""
        faults = FAULTS.union([_FAILED]).intersection(self.kept)
        return self.seconds > MAY_TAKE or self.mebibytes > MAY_USE or bool(faults)

    def line(self) -> str:
        """The row of the table."""
        kept = ", ".join(sorted(set(self.kept)))
        return (
            f"{self.stream:9} {self.seed:5} {self.number:6}  {self.seconds:7.2f}  {self.mebibytes:4}  {kept}"
        )


def cost_of(stream: str, seed: int, number: int, folder: Path) -> Cost:
    """What the tool takes for one program, whose files are written to ``folder``."""
    program = STREAMS[stream](seed, number)
    source, answer = folder / "program.c", folder / "answer.json"
    source.write_text(batch_text([program]), encoding="utf-8")
    (folder / HEADER).write_text(header_text([program]), encoding="utf-8")
    answer.write_text(json.dumps([_FAILED]), encoding="utf-8")
    child = os.fork()
    if not child:
        _transform(str(source), answer)
    _, _, used = os.wait4(child, 0)
    kept = tuple(json.loads(answer.read_text(encoding="utf-8")))
    return Cost(stream, seed, number, used.ru_utime + used.ru_stime, used.ru_maxrss >> 10, kept)


def _transform(source: str, answer: Path) -> None:
    """Transform ``source``, write the codes of kept regions to ``answer``, and end this process."""
    code = 1
    try:
        answer.write_text(json.dumps(run_isolated(lambda watch: _kept(source, watch))), encoding="utf-8")
        code = 0
    except BaseException:  # noqa: BLE001 - a copy of this process must not go on with what it is for
        traceback.print_exc()
    finally:
        os._exit(code)


def _kept(source: str, watch: Watch) -> list[str]:
    flags = ["-O3", "-march=native", f"-I{HERE}"]
    regions = pipeline.compile_source(source, Options(), ["gcc"], flags, watch).regions
    return [each.code for each in regions if each.code]


def summary(costs: list[Cost]) -> Iterator[str]:
    """What all programs took, and the longest of them."""
    if not costs:
        return
    seconds = [each.seconds for each in costs]
    yield f"programs     {len(costs)}"
    yield f"seconds      {statistics.median(seconds):.2f} (median), {statistics.fmean(seconds):.2f} (mean)"
    yield f"memory       {max(each.mebibytes for each in costs)} MiB at most"
    yield f"too much     {sum(each.is_too_much for each in costs)}"
    yield "\nstream     seed number  seconds   MiB  kept"
    longest = sorted(costs, key=lambda each: each.seconds, reverse=True)[:_LONGEST]
    bad = [each for each in costs if each.is_too_much and each not in longest]
    yield from (each.line() for each in (*longest, *bad))


def main() -> int:
    """Look at the programs, and print the summary; 1 if any took too much."""
    arguments = _arguments()
    log = Path(arguments.log or os.devnull)
    known: dict[tuple[str, int, int], Cost] = {}
    for line in log.read_text(encoding="utf-8").splitlines() if log.is_file() else ():
        entry = json.loads(line)
        entry["kept"] = tuple(entry["kept"])
        known[entry["stream"], entry["seed"], entry["number"]] = Cost(**entry)
    import_islpy()
    costs = []
    with tempfile.TemporaryDirectory() as folder, log.open("a", buffering=1, encoding="utf-8") as lines:
        for number in range(arguments.first, arguments.first + arguments.count):
            for stream in arguments.programs.split(","):
                cost = known.get((stream, arguments.seed, number))
                if cost is None:
                    cost = cost_of(stream, arguments.seed, number, Path(folder))
                    lines.write(json.dumps(asdict(cost)) + "\n")
                costs.append(cost)
    print("\n".join(summary(costs)))
    return int(any(each.is_too_much for each in costs))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.fuzz.cost", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--count", type=int, default=100, help="programs of each stream")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first program")
    parser.add_argument("--programs", default=",".join(STREAMS), help="streams of programs (all)")
    parser.add_argument("--log", default="", help="file of what was found, to go on with a run")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
