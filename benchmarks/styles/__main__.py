"""Kernels in many styles: how far each style is from the best one.

usage: python -m benchmarks.styles [--compiler gcc] [--threads 1,2] [--runs N] [--kernels NAME,...]
                                   [--styles NAME,...] [--jobs N] [--output FILE]
                                   [--folder FOLDER] [--build] [--memory FACTOR]

For each kernel, style and number of threads: milliseconds of the compiler alone on one thread and of the
transformed loops, and the time of the best style of the same order of operations over that of this one;
the shortest of some runs of all styles, one after the other, of the compiler alone one run. In all programs
loops start at multiples of 64 bytes, so that the same instructions take the same time. Every result has
to be that of the compiler, to the bit. Geometric means and the worst of kernels, styles, and all follow.
All programs are built before the first one is timed, several at once. With --folder they are kept, and those
that are there are not built again; --build builds only, so that a machine is needed for itself no longer than
programs are timed. --memory tells instead how much memory each takes, for sizes that are so many times those
that are timed: the peak of the compiler alone, what the transformed loops take beside that on one thread, and
what each further thread takes.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.cpu.machine import describe
from benchmarks.ordinary.measure import PLACED
from benchmarks.styles.kernels import KERNELS
from benchmarks.styles.memory import compare_memory
from benchmarks.styles.program import Programs, program
from benchmarks.styles.styles import STYLES, styled
from benchmarks.styles.tree import Kernel
from polybuild.driver.file import compile_source
from polybuild.options import Options

_FLAGS = ("-O3", "-march=native", "-ffp-contract=off", PLACED, "-fopenmp", "-w")
_SECONDS = "0.05"


@dataclass(frozen=True, slots=True)
class Row:
    """A measured style; ``before`` and ``after`` in seconds, ``share`` the best style's time over its own."""

    kernel: str
    style: str
    threads: int
    before: float
    after: float
    right: bool
    share: float = 1.0


def main() -> int:
    """Run the command line and return the exit code."""
    arguments = _arguments()
    with _folder(arguments) as folder:
        built = _built(folder, arguments)
        return 0 if arguments.build else _table(built, arguments)


def _folder(arguments: argparse.Namespace) -> contextlib.AbstractContextManager[str]:
    """Where programs are built: the folder that is asked for, or one that goes afterwards."""
    if not arguments.folder:
        return tempfile.TemporaryDirectory()
    Path(arguments.folder).mkdir(parents=True, exist_ok=True)
    return contextlib.nullcontext(arguments.folder)


def _table(built: dict[str, Programs], arguments: argparse.Namespace) -> int:
    """Say the table of all programs; 1 if a result is wrong."""
    lines: list[str] = []

    def say(text: str) -> None:
        lines.append(text)
        print(text, flush=True)

    machine = describe(arguments.compiler)
    say(f"{machine['processor']}, {machine['cores']} cores; {machine['compiler']}; {machine['date']}")
    if arguments.memory:
        threads = max(map(int, arguments.threads.split(",")))
        compare_memory(
            built, arguments.memory, threads, say, styles=set(filter(None, arguments.styles.split(",")))
        )
        _write(lines, arguments)
        return 0
    say(f"{'kernel':12} {'style':22} {'thr.':>4} {'alone':>9} {'ms':>9} {'gain':>6} {'of best':>8}")
    rows: list[Row] = []
    for kernel in (each for each in KERNELS if each.name in built):
        rows += _measured(kernel, built[kernel.name], arguments, say)
    _summary(rows, say)
    _write(lines, arguments)
    return 0 if all(row.right for row in rows) else 1


def _write(lines: list[str], arguments: argparse.Namespace) -> None:
    """Write ``lines`` to the file that is asked for."""
    if arguments.output:
        Path(arguments.output).write_text("\n".join(lines) + "\n", encoding="utf-8")


def build(
    directory: Path, kernel: Kernel, compiler: str, wanted: Iterable[str] = STYLES, level: str = "-O3"
) -> Programs:
    """The program of ``kernel`` in the ``wanted`` styles, by the compiler alone and transformed.

    Loops are transformed as for ``-O3``, and compiled at another ``level`` if only their results matter.
    """
    wanted = set(wanted)
    styles = {name: each for name, each in styled(kernel).items() if name in wanted}
    source = directory / f"{kernel.name}.c"
    source.write_text(program(kernel, styles))
    result = compile_source(str(source), Options(), [compiler], _FLAGS)
    kept = tuple(f"{each.line}: {each.message}" for each in result.regions if each.status != "transformed")
    new = directory / f"{kernel.name}.new.c"
    new.write_text(result.text)
    programs = source.with_suffix(""), new.with_suffix("")
    for text, output in zip((source, new), programs, strict=True):
        subprocess.run([compiler, *_FLAGS, level, str(text), "-o", str(output), "-lm"], check=True)
    return Programs(*map(str, programs), tuple(styles), kept)


def run(
    executable: str, styles: tuple[int, int], size: int, threads: int = 1, seconds: str = "0"
) -> list[tuple[float, str]]:
    """The shortest time and the sum of all results, for the styles from the first to the last number."""
    done = subprocess.run(
        [executable, *map(str, styles), str(size), seconds],
        env={**os.environ, "OMP_NUM_THREADS": str(threads)},
        check=True,
        capture_output=True,
        text=True,
        timeout=600,
    )
    pairs = [line.split() for line in done.stdout.splitlines()]
    return [(float(time), total) for time, total in pairs]


def _kept(directory: Path, kernel: Kernel, compiler: str, styles: list[str]) -> Programs:
    """The programs of ``kernel``, which are built unless they are in the directory already."""
    note = directory / f"{kernel.name}.json"
    if note.exists():
        found = json.loads(note.read_text())
        return Programs(**{each: tuple(v) if isinstance(v, list) else v for each, v in found.items()})
    programs = build(directory, kernel, compiler, styles)
    note.write_text(json.dumps(asdict(programs)))
    return programs


def _built(folder: str, arguments: argparse.Namespace) -> dict[str, Programs]:
    """The programs of the kernels that are asked for, by their names."""
    chosen = set(arguments.kernels.split(",")) if arguments.kernels else {each.name for each in KERNELS}
    styles = arguments.styles.split(",") if arguments.styles else [*STYLES]
    start = time.monotonic()
    with ProcessPoolExecutor(arguments.jobs) as pool:
        running = {
            each.name: pool.submit(_kept, Path(folder), each, arguments.compiler, styles)
            for each in KERNELS
            if each.name in chosen
        }
        built = {name: each.result() for name, each in running.items()}
    print(f"built in {time.monotonic() - start:.0f} s", flush=True)
    return built


def _measured(
    kernel: Kernel, programs: Programs, arguments: argparse.Namespace, say: Callable[[str], None]
) -> list[Row]:
    """The rows of a kernel, said as well."""
    for kept in programs.kept:
        say(f"{kernel.name}: stays as it is: {kept}")
    rows: list[Row] = []
    if programs.styles:
        alone = _timed(programs.original, programs, kernel, 1)
        for threads in map(int, arguments.threads.split(",")):
            times = [_timed(programs.transformed, programs, kernel, threads) for _ in range(arguments.runs)]
            rows += _rows(kernel, programs, threads, alone, times)
    for row in rows:
        say(
            f"{row.kernel:12} {row.style:22} {row.threads:4} {row.before * 1e3:9.3f} {row.after * 1e3:9.3f}"
            f" {row.before / row.after:6.2f} {row.share:8.2f}{'' if row.right else '  WRONG'}"
        )
    return rows


def _timed(executable: str, programs: Programs, kernel: Kernel, threads: int) -> list[tuple[float, str]]:
    """Seconds and results of all styles."""
    return run(executable, (0, len(programs.styles) - 1), kernel.size, threads, _SECONDS)


def _rows(
    kernel: Kernel,
    programs: Programs,
    threads: int,
    alone: list[tuple[float, str]],
    times: list[list[tuple[float, str]]],
) -> list[Row]:
    """The rows of all styles, given what is found of the original and in each run of what it became."""
    found = []
    for number, style in enumerate(programs.styles):
        before, result = alone[number]
        after = min(each[number][0] for each in times)  # other work only makes runs longer
        right = all(each[number][1] == result for each in times)
        found.append(Row(kernel.name, style, threads, before, after, right))
    return [_with_share(row, found) for row in found]


def _with_share(row: Row, rows: list[Row]) -> Row:
    order = STYLES[row.style].order
    best = min(each.after for each in rows if STYLES[each.style].order == order)
    return Row(row.kernel, row.style, row.threads, row.before, row.after, row.right, best / row.after)


def _summary(rows: list[Row], say: Callable[[str], None]) -> None:
    """Mean and worst share of each kernel, of each style and of all, for each number of threads."""
    for threads in dict.fromkeys(row.threads for row in rows):
        chosen = [row for row in rows if row.threads == threads]
        say(f"\n{threads} threads, best style's time over a style's: mean, worst, below 0.75")
        for part in ("kernel", "style"):
            for name in dict.fromkeys(getattr(row, part) for row in chosen):
                shares = [row.share for row in chosen if getattr(row, part) == name]
                say(f"{name:24} {_figures(shares)}")
            say("")
        say(f"{'all':24} {_figures([row.share for row in chosen])} of {len(chosen)}")


def _figures(shares: list[float]) -> str:
    mean = math.exp(statistics.fmean(map(math.log, shares)))
    return f"{mean:6.3f} {min(shares):6.2f} {sum(each < 0.75 for each in shares):4}"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.styles")
    parser.add_argument("--compiler", default="gcc")
    parser.add_argument("--threads", default="1")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--kernels", default="", help="names, all by default")
    parser.add_argument("--styles", default="", help="names, all by default")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="programs to build at once")
    parser.add_argument("--output", default="", help="a file for the table")
    parser.add_argument("--folder", default="", help="where programs of one compiler are kept")
    parser.add_argument("--memory", type=int, default=0, metavar="FACTOR", help="peaks of memory instead")
    parser.add_argument("--build", action="store_true", help="build the programs in --folder, and no more")
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
