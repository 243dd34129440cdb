"""Strong scaling on paper beside measured: what `explain --ranks` predicts of programs, and what they take.

usage: python -m benchmarks.ranks [--ranks 1,2] [--rounds 10] [--programs NAMES] [--prefix COMMAND]
                                  [--library NAME] [--json FILE]

Ranks have one thread each and no place of their own (--bind-to none). The network is measured first, and
the machine (`polybuild machine --measure`); then the programs run with each number of ranks in turn, and the
fastest run of all rounds counts: what else the machine does only ever adds. Exits with 1 if results differ.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.cpu.machine import describe
from tests.mpi_libraries import ENVIRONMENT, LIBRARIES, Mpi

PROGRAMS = Path(__file__).parent / "programs"
FLAGS = ("-O3", "-march=native", "-w")
SIZES: Mapping[str, Mapping[str, int]] = {"stencil": {"n": 350, "steps": 500}, "product": {"n": 1000}}
"""The parameters of each program's region, in the order of its arguments."""
REPEATED = 5  # runs of the region in one start of a program
LIMIT = 300  # seconds


@dataclass(frozen=True, slots=True)
class Row:
    """Milliseconds of one program on so many ranks, and how they compare with those of one."""

    program: str
    ranks: int
    predicted_ms: float
    measured_ms: float
    predicted_speed_up: float
    measured_speed_up: float

    @property
    def off(self) -> float:
        """How much more is predicted than measured, relatively."""
        return self.predicted_ms / self.measured_ms - 1


class Bench:
    """Programs of a ``folder`` that are built with ``mpi`` and started behind ``prefix``."""

    def __init__(self, folder: Path, mpi: Mpi, prefix: Sequence[str]) -> None:
        self._folder, self._mpi, self._prefix = folder, mpi, prefix
        self._environment = os.environ | ENVIRONMENT | {"POLYBUILD_CACHE_DIR": str(folder / "cache")}

    def build(self, name: str) -> None:
        """Build a program; one without regions is built as it is."""
        own = [sys.executable, "-m", "polybuild", "cc", "--distribute", "mpi", "--parallel", "off", "--"]
        source = str(PROGRAMS / f"{name}.c")
        self._run([*own, self._mpi.compiler, *FLAGS, source, "-o", str(self._folder / name)])

    def start(self, name: str, ranks: int, *arguments: object) -> str:
        """What ``ranks`` of a program print."""
        launched = [self._mpi.launcher, "--bind-to", "none", "-n", str(ranks), str(self._folder / name)]
        return self._run([*self._prefix, *launched, *map(str, arguments)])

    def network(self) -> str:
        """The latency and the bandwidth between two ranks, as ``explain`` takes them."""
        latency, bandwidth = self.start("network", 2).split()
        return f"{latency}ns,{bandwidth}GB/s"

    def machine(self) -> Path:
        """A file with the figures of this machine."""
        text = self._run([*self._prefix, sys.executable, "-m", "polybuild", "machine", "--measure"])
        path = self._folder / "machine.toml"
        path.write_text(text, encoding="utf-8")
        return path

    def predicted(self, name: str, ranks: Sequence[int], network: str, machine: Path) -> list[float]:
        """Milliseconds of a program's region, as ``explain`` tells."""
        sizes = ",".join(f"{key}={value}" for key, value in SIZES[name].items())
        words = [
            "--json",
            "--parallel",
            "off",
            "--on-unsupported",
            "error",
            "--ranks",
            ",".join(map(str, ranks)),
            "--sizes",
            sizes,
        ]
        words += ["--network", network, "--machine", str(machine), "--", "gcc", *FLAGS]
        told = self._run([sys.executable, "-m", "polybuild", "explain", str(PROGRAMS / f"{name}.c"), *words])
        (region,) = json.loads(told)["regions"]
        return [row["time_ns"] / 1e6 for row in region["ranks"]["rows"]]

    def _run(self, command: Sequence[str]) -> str:
        done = subprocess.run(
            command, check=False, capture_output=True, text=True, timeout=LIMIT, env=self._environment
        )
        if done.returncode:
            raise SystemExit(f"{shlex.join(command)}\n{done.stdout}{done.stderr}")
        return done.stdout


def measured(bench: Bench, name: str, ranks: Sequence[int], rounds: int) -> list[float]:
    """The fewest milliseconds of a program with each number of ranks, all of which have to agree."""
    best, sums = dict.fromkeys(ranks, float("inf")), set[str]()
    for _ in range(rounds):
        for each in ranks:
            printed = bench.start(name, each, *SIZES[name].values(), REPEATED)
            runs = [float(seconds) for seconds in re.findall(r"seconds ([\d.]+)", printed)]
            best[each] = min(best[each], *runs)  # ranks begin and end a run together
            sums |= set(re.findall(r"sum (\S+)", printed))
    if len(sums) != 1:
        raise SystemExit(f"{name}: ranks give different results: {', '.join(sorted(sums))}")
    return [best[each] * 1e3 for each in ranks]


def table(rows: Sequence[Row]) -> str:
    """The rows as text."""
    heads = ("program", "ranks", "predicted ms", "measured ms", "off", "speed-up predicted", "measured")
    cells = [heads]
    for each in rows:
        times = (f"{each.predicted_ms:.1f}", f"{each.measured_ms:.1f}", f"{each.off:+.0%}")
        gains = (f"{each.predicted_speed_up:.2f}", f"{each.measured_speed_up:.2f}")
        cells.append((each.program, str(each.ranks), *times, *gains))
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join(
        "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in cells
    )


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ranks", description=__doc__)
    parser.add_argument("--ranks", default="1,2", help="numbers of ranks, the first of them one")
    parser.add_argument("--rounds", type=int, default=10, help="starts of each program with each number")
    parser.add_argument("--programs", default=",".join(SIZES))
    parser.add_argument("--prefix", default="", help="what stands before each command that is timed")
    parser.add_argument("--library", default=LIBRARIES[0].name, choices=[each.name for each in LIBRARIES])
    parser.add_argument("--json", default="", help="a file for the figures")
    given = parser.parse_args()
    ranks = [int(each) for each in given.ranks.split(",")]
    mpi = next(each for each in LIBRARIES if each.name == given.library)
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), mpi, shlex.split(given.prefix))
        bench.build("network")
        network, machine = bench.network(), bench.machine()
        for name in given.programs.split(","):
            bench.build(name)
            predictions = bench.predicted(name, ranks, network, machine)
            times = measured(bench, name, ranks, given.rounds)
            for number, predicted, taken in zip(ranks, predictions, times, strict=True):
                gains = predictions[0] / predicted, times[0] / taken
                rows.append(Row(name, number, predicted, taken, *gains))
    print(f"network {network} ({mpi.name}); sizes {json.dumps(SIZES)}\n{table(rows)}")
    if given.json:
        record = {"machine": describe("gcc"), "network": network, "rows": [asdict(each) for each in rows]}
        Path(given.json).write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
