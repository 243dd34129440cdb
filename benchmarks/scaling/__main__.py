"""The tool's own time for regions of 10 to 300 statements, and for files of 1 to 30 regions.

usage: python -m benchmarks.scaling [--sizes 10,30,100,300] [--regions 1,10,30] [--json FILE]

Each region is transformed in a process of its own; seconds are processor time, so that a
busy machine changes little. Prints a table and writes it to FILE.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.cpu.machine import describe

_LIMIT = 600  # seconds of processor time
_ARRAYS = 8
_SHAPES = 3


@dataclass(frozen=True, slots=True)
class Row:
    """One measurement: ``seconds`` of processor time, what became of the regions, lines of C written."""

    shape: str
    statements: int
    regions: int
    seconds: float
    transformed: int
    parallel_loops: int
    reason: str
    lines: int


def nests(count: int) -> str:
    """``count`` statements, each in a nest of its own: stages of a pipeline over a few arrays."""
    lines = []
    for number in range(count):
        target, source = f"a{number % _ARRAYS}", f"a{(number * 3 + 1) % _ARRAYS}"
        if target == source:
            source = f"a{(number + 1) % _ARRAYS}"
        value = (
            f"{source}[i - 1][j] + {source}[i][j + 1]",
            f"{target}[i][j] * {number % 7 + 2} + {source}[i][j]",
            f"{source}[i][j - 1] - {target}[i][j]",
        )[number % _SHAPES]
        lines.append(
            "  for (int i = 1; i < n - 1; i++)\n"
            f"    for (int j = 1; j < n - 1; j++) {target}[i][j] = {value};"
        )
    return "\n".join(lines)


def body(count: int) -> str:
    """``count`` statements in one nest, as unrolled and generated code has them."""
    lines = ["  for (int i = 1; i < n - 1; i++)", "    for (int j = 1; j < n - 1; j++) {"]
    for number in range(count):
        target, source = f"a{number % _ARRAYS}", f"a{(number + 1) % _ARRAYS}"
        lines.append(f"      {target}[i][j] = {target}[i][j] * {number % 5 + 2} + {source}[i][j];")
    return "\n".join([*lines, "    }"])


SHAPES: dict[str, Callable[[int], str]] = {"nests": nests, "one nest": body}


def program(shape: str, statements: int, regions: int) -> str:
    """A file with ``regions`` regions of ``statements`` statements."""
    arrays = ", ".join(f"double a{number}[restrict n][n]" for number in range(_ARRAYS))
    functions = [
        f"void f{number}(int n, {arrays}) {{\n"
        f"#pragma scop\n{SHAPES[shape](statements)}\n#pragma endscop\n}}\n"
        for number in range(regions)
    ]
    return "\n".join(functions)


def measure(shape: str, statements: int, regions: int) -> Row:
    """Transform one file in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        source, out, report = (Path(folder) / name for name in ("in.c", "out.c", "report.json"))
        source.write_text(program(shape, statements, regions), encoding="ascii")
        command = [sys.executable, "-m", "polybuild", "compile", str(source), "-o", str(out)]
        command += ["--report", str(report), "--", "gcc"]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = ["prlimit", f"--cpu={_LIMIT}", *command]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        if done.returncode:
            reason = done.stderr.strip().splitlines()[-1] if done.stderr else f"ended with {done.returncode}"
            return Row(shape, statements, regions, round(seconds, 2), 0, 0, reason, 0)
        found = json.loads(report.read_text(encoding="ascii"))["regions"]
        lines = out.read_text(encoding="utf-8").count("\n")
    reasons = dict.fromkeys(each["code"] for each in found if each["code"])
    return Row(
        shape,
        statements,
        regions,
        round(seconds, 2),
        sum(each["status"] == "transformed" for each in found),
        sum(each["parallel_loops"] for each in found),
        ", ".join(reasons),
        lines,
    )


def main() -> int:
    """Measure, print and store."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scaling")
    parser.add_argument("--sizes", default="10,30,100,300", help="statements of one region")
    parser.add_argument("--regions", default="1,10,30", help="regions of one file, of 3 statements each")
    parser.add_argument("--json", default="", help="file for the table")
    arguments = parser.parse_args()
    sizes, files = (
        [int(each) for each in text.split(",") if each] for text in (arguments.sizes, arguments.regions)
    )
    cases = [(shape, size, 1) for shape in SHAPES for size in sizes] + [("nests", 3, each) for each in files]
    print("shape      statements  regions  seconds  transformed  parallel loops  lines  kept because")
    rows = []
    for case in cases:
        row = measure(*case)
        rows.append(row)
        print(
            f"{row.shape:10} {row.statements:10}  {row.regions:7}  {row.seconds:7.2f}  {row.transformed:11}"
            f"  {row.parallel_loops:14}  {row.lines:5}  {row.reason}",
            flush=True,
        )
    if arguments.json:
        record = {"machine": describe("gcc"), "rows": [asdict(row) for row in rows]}
        Path(arguments.json).write_text(json.dumps(record, indent=2) + "\n", encoding="ascii")
    return 0


if __name__ == "__main__":
    sys.exit(main())
