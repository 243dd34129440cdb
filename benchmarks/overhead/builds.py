"""What polybuild costs a whole build: ``python -m benchmarks.overhead.builds``.

A project of some files with two regions each is built by make and by ninja, two commands side by side: by the
bare compiler, through ``polybuild cc`` with an empty cache, again with a full one after all objects were
removed, and after an edit of one region. Processor time (of all processes) and wall time, medians.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.cpu import machine
from benchmarks.overhead.timing import POLYBUILD, Times, environment_of, timed

_REGIONS = """
void smooth(int n, double a[restrict n][n], double b[restrict n][n]) {
#pragma scop
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      b[i][j] = SCALE * (a[i][j] + a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]);
#pragma endscop
}

void combine(int n, double c[restrict n][n], double a[restrict n][n], double x[restrict n]) {
#pragma scop
  for (int i = 0; i < n; i++) {
    x[i] = 0;
    for (int j = 0; j < n; j++)
      x[i] += SCALE * a[i][j] * c[j][i];
  }
#pragma endscop
}
"""


@dataclass(frozen=True, slots=True)
class Row:
    """Medians of one build, named by tool and state: seconds of processor time and of wall time."""

    name: str
    processor: float
    wall: float


def main() -> int:
    """Measure, print and store."""
    parser = argparse.ArgumentParser("python -m benchmarks.overhead.builds", description=__doc__)
    parser.add_argument("--files", type=int, default=40, metavar="N", help="files of the project (40)")
    parser.add_argument("--runs", type=int, default=3, metavar="N", help="rounds; the medians count (3)")
    parser.add_argument("--cc", default="gcc", help="the compiler (gcc)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures and the machine here")
    arguments = parser.parse_args()
    print("| build | processor | wall |\n|---|---|---|")
    rows = []
    for tool in ("make", "ninja"):
        if shutil.which(tool) is None:
            print(f"{tool} is not there", file=sys.stderr)
            continue
        for row in measured(tool, arguments.files, arguments.runs, arguments.cc):
            rows.append(row)
            print(f"| {row.name} | {row.processor:.2f} s | {row.wall:.2f} s |", flush=True)
    if arguments.json:
        record = {
            "machine": machine.describe(arguments.cc),
            "files": arguments.files,
            "rows": [asdict(each) for each in rows],
        }
        arguments.json.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return 0


def measured(tool: str, files: int, runs: int, compiler: str) -> list[Row]:
    """The rows of one ``tool``."""
    with tempfile.TemporaryDirectory(prefix="polybuild-builds-") as name:
        rounds = [_round(tool, files, compiler, Path(name) / str(number)) for number in range(runs)]
    return [
        Row(
            f"{tool}, {build}",
            statistics.median(each[build].processor for each in rounds),
            statistics.median(each[build].wall for each in rounds),
        )
        for build in rounds[0]
    ]


def _round(tool: str, files: int, compiler: str, folder: Path) -> Mapping[str, Times]:
    """One build of each kind, in ``folder``."""
    for number in range(files):
        _write(folder, number, f"{number}.125")
    environment = environment_of(folder / "cache")
    plain = _command(tool, folder, files, [compiler])
    wrapped = _command(tool, folder, files, [*POLYBUILD, "cc", "--", compiler])
    found = {}
    for build, command in (("bare", plain), ("cold", wrapped), ("warm", wrapped), ("one edit", wrapped)):
        if build == "one edit":
            _write(folder, 0, f"{files}.125")
        else:
            for each in folder.glob("*.o"):
                each.unlink()
        found[build] = timed(command, environment)
    return found


def _write(folder: Path, number: int, scale: str) -> None:
    folder.mkdir(exist_ok=True)
    text = f"/* file {number} */\n{_REGIONS.replace('SCALE', scale)}"
    (folder / f"file{number}.c").write_text(text, encoding="ascii")


def _command(tool: str, folder: Path, files: int, compiler: Sequence[str]) -> list[str]:
    """The command that builds all objects with ``compiler``; writes what ``tool`` reads."""
    compile_one = " ".join([*compiler, "-O2", "-c", "-o"])
    objects = " ".join(f"file{number}.o" for number in range(files))
    name = f"{tool}-{len(compiler)}"
    if tool == "make":
        text = f"all: {objects}\n%.o: %.c\n\t+{compile_one} $@ $<\n"
        command = ["make", "-j2", "-s"]
    else:
        rules = "".join(f"build file{number}.o: cc file{number}.c\n" for number in range(files))
        text = f"rule cc\n  command = {compile_one} $out $in\n{rules}"
        command = ["ninja", "-j2", "--quiet"]
    (folder / name).write_text(text, encoding="ascii")
    return [*command, "-C", str(folder), "-f", name]


if __name__ == "__main__":
    sys.exit(main())
