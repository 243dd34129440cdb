"""The tool's own time and memory for regions with much in them, and for files of many regions.

usage: python -m benchmarks.scaling [--sizes 10,30,100,300,1000] [--regions 1,10,30,100,300] [--only TEXT]
                                    [--json FILE]

Each file is transformed in a process of its own; seconds are processor time, so that a
busy machine changes little. Prints a table and writes it to FILE. Ends with 1 if a file took longer, or more
memory, than any file may.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.cpu.machine import describe
from benchmarks.scaling.shapes import SHAPES, program

_LIMIT = 600  # seconds of processor time until a process is ended
_MAY_TAKE = 20.0  # seconds for a region, whatever it is
_MAY_USE = 2048  # MiB
_LARGE = (
    *(("deep", depth) for depth in (10, 11, 12)),
    ("members", 1000),
    ("points", 1000),
    ("bounds", 40),
    *(("periodic", dimensions) for dimensions in (1, 2, 3)),
    *(("modulo", modulus) for modulus in (2, 7, 64)),
)


@dataclass(frozen=True, slots=True)
class Row:
    """One measurement: processor time, peak memory, what became of the regions, lines of C written."""

    shape: str
    size: int
    regions: int
    seconds: float
    mebibytes: int
    transformed: int
    parallel_loops: int
    reason: str
    lines: int

    def line(self) -> str:
        """The row of the table."""
        return (
            f"{self.shape:10} {self.size:5}  {self.regions:7}  {self.seconds:7.2f}  {self.mebibytes:4}"
            f"  {self.transformed:11}  {self.parallel_loops:14}  {self.lines:5}  {self.reason}"
        )


def measure(shape: str, size: int, regions: int) -> Row:
    """Transform one file in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        source, out, report, said = (
            Path(folder) / name for name in ("in.c", "out.c", "report.json", "messages")
        )
        source.write_text(program(shape, size, regions), encoding="ascii")
        command = ["prlimit", f"--cpu={_LIMIT}", sys.executable, "-m", "polybuild", "compile", str(source)]
        command += ["-o", str(out), "--jobs", "1", "--report", str(report), "--", "gcc"]
        with said.open("w") as messages:
            process = subprocess.Popen(
                command, stdout=messages, stderr=messages, env={**os.environ, "POLYBUILD_CACHE": "off"}
            )
            _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds, memory = round(used.ru_utime + used.ru_stime, 2), used.ru_maxrss // 1024
        if process.returncode:
            last = said.read_text(encoding="utf-8").strip().splitlines()[-1:]
            reason = last[0] if last else f"ended with {process.returncode}"
            return Row(shape, size, regions, seconds, memory, 0, 0, reason, 0)
        found = json.loads(report.read_text(encoding="ascii"))["regions"]
        lines = out.read_text(encoding="utf-8").count("\n")
    reasons = dict.fromkeys(each["code"] for each in found if each["code"])
    return Row(
        shape,
        size,
        regions,
        seconds,
        memory,
        sum(each["status"] == "transformed" for each in found),
        sum(each["parallel_loops"] for each in found),
        ", ".join(reasons),
        lines,
    )


def cases(sizes: list[int], files: list[int]) -> Iterator[tuple[str, int, int]]:
    """What is measured: a shape, its size, and the regions of the file."""
    for shape in ("nests", "one nest"):
        yield from ((shape, size, 1) for size in sizes)
    yield from (("nests", 3, each) for each in files)
    yield from ((shape, size, 1) for shape, size in _LARGE)


def main() -> int:
    """Measure, print and store."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scaling")
    parser.add_argument("--sizes", default="10,30,100,300,1000", help="statements of one region")
    parser.add_argument("--regions", default="1,10,30,100,300", help="regions of one file, of 3 statements")
    parser.add_argument("--only", choices=SHAPES, help="this shape alone")
    parser.add_argument("--json", default="", help="file for the table")
    arguments = parser.parse_args()
    sizes, files = (
        [int(each) for each in text.split(",") if each] for text in (arguments.sizes, arguments.regions)
    )
    print("shape       size  regions  seconds   MiB  transformed  parallel loops  lines  kept because")
    rows = []
    for case in cases(sizes, files):
        if arguments.only in (None, case[0]):
            rows.append(measure(*case))
            print(rows[-1].line(), flush=True)
    if arguments.json:
        record = {"machine": describe("gcc"), "rows": [asdict(row) for row in rows]}
        Path(arguments.json).write_text(json.dumps(record, indent=2) + "\n", encoding="ascii")
    return int(any(row.seconds > _MAY_TAKE * row.regions or row.mebibytes > _MAY_USE for row in rows))


if __name__ == "__main__":
    sys.exit(main())
