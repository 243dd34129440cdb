"""Programs whose regions ranks share print what one process without polybuild prints, to the last bit.

usage: python -m benchmarks.agreement [--polybench DIR] [--programs NAMES] [--ranks 1,2,3,4,7]
                                      [--libraries NAMES] [--sanitize] [--size NAME]

Our thirty kernels, programs of this folder and the heat example, with each implementation of MPI that is
here. One line a program and library says what ranks shared and which numbers of ranks agree. Exits with 1 if
any does not.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.cpu.processes import Failure, run
from benchmarks.cpu.suites import ROOT, SIZES, Kernel, OwnKernels, PolyBench
from polybuild.driver.file import FileResult, compile_source
from polybuild.options import Options
from tests.mpi_libraries import ENVIRONMENT, LIBRARIES, Mpi

LIMIT = 300.0  # seconds: ranks that wait longer for each other hang
OPTIMISED = ("-std=gnu11", "-O2", "-ffp-contract=off", "-w")
SANITIZED = (
    *OPTIMISED,
    "-g",
    "-fsanitize=address,undefined",
    "-fno-sanitize=vla-bound",
    "-fno-sanitize-recover=all",
)
HEAT = ROOT / "examples" / "heat"
PROGRAMS = Path(__file__).parent / "programs"
ODD = ["29", "17", "13", "11"]  # extents that no number of ranks divides
SMALL = ["5", "4", "3", "2"]  # some ranks have nothing


@dataclass(frozen=True, slots=True)
class Program:
    """A kernel with its flags, and what it is told in each of its runs."""

    kernel: Kernel
    flags: Sequence[str]
    runs: Sequence[Sequence[str]]


def own_programs() -> Iterator[Program]:
    """The heat example, those of this folder, and our kernels."""
    yield Program(
        Kernel("heat", HEAT / "solver.c", PROGRAMS / "heat.c"), ["-I", str(HEAT)], [["29", "5"], ["5", "2"]]
    )
    own = OwnKernels()
    for kernel in own.kernels:
        flags = own.flags(kernel, "", timed=False)
        driver = kernel.companion
        yield Program(kernel, flags, [_as_many(kernel.source, each) for each in (ODD, SMALL)])
    for source in sorted(PROGRAMS.glob("*.c")):
        if source.stem != "heat":
            runs = [_as_many(source, each) for each in (ODD, SMALL)]
            yield Program(Kernel(source.stem, source, driver), flags, runs)


def polybench(folder: Path, size: str) -> Iterator[Program]:
    """The kernels of an unpacked PolyBench/C, which print their results when they are built so."""
    suite = PolyBench(folder)
    for kernel in suite.kernels:
        yield Program(kernel, suite.flags(kernel, size, timed=False), [[]])


def _as_many(source: Path, extents: list[str]) -> list[str]:
    """As many extents as the kernel in ``source`` has sizes."""
    record = source.read_text(encoding="utf-8").rpartition("const struct kernel kernel")[2]
    return extents[: len(record.split('"')[3].split())]


def main(words: Sequence[str] | None = None) -> int:
    """Build and compare what was asked for; the exit status."""
    arguments = _arguments(words)
    programs = [
        *own_programs(),
        *(polybench(arguments.polybench, arguments.size) if arguments.polybench else ()),
    ]
    chosen = [each for each in programs if not arguments.programs or each.kernel.name in arguments.programs]
    ranks = [int(each) for each in arguments.ranks]
    differ = 0
    with tempfile.TemporaryDirectory() as folder:
        for library in LIBRARIES:
            if arguments.libraries and library.name not in arguments.libraries:
                continue
            for program in chosen:
                differ += not _agrees(program, library, ranks, Path(folder), sanitize=arguments.sanitize)
    print(f"{differ} of the programs differ" if differ else "all agree")
    return bool(differ)


def _agrees(program: Program, library: Mpi, ranks: Sequence[int], folder: Path, *, sanitize: bool) -> bool:
    """Whether ``program`` prints on each of ``ranks``, for each rank, what it prints as it is."""
    name, kernel = program.kernel.name, program.kernel
    flags = SANITIZED if sanitize else OPTIMISED
    told, wrong = "", []
    try:
        options, given = Options(min_work=0, distribute="mpi"), [*flags, *program.flags, "-fopenmp"]
        result = compile_source(str(kernel.source), options, [library.compiler], given)
        told = _told(result)
        written = folder / f"{name}.c"
        written.write_text(result.text, encoding="utf-8")
        plain = _built("gcc", OPTIMISED, program, kernel.source, folder / "plain")
        shared = _built(library.compiler, (*flags, "-fopenmp"), program, written, folder / "shared")
        for words in program.runs:
            expected = _printed(plain, words)
            wrong += [
                f"{count} ranks{' of ' if words else ''}{' '.join(words)}: {why}"
                for count in ranks
                if (why := _difference(library, shared, count, words, expected))
            ]
    except Failure as failure:
        wrong = [str(failure)]
    counts = ",".join(map(str, ranks))
    print(
        f"{name:16} {library.name:8} {'DIFFERS ' + '; '.join(wrong) if wrong else counts:12} {told}",
        flush=True,
    )
    return not wrong


def _told(result: FileResult) -> str:
    """What became of the regions of a file."""
    alone = "all ranks run the whole region"
    kept = [each.code for each in result.regions if each.status != "transformed"]
    shared = sum(
        each.status == "transformed" and not any(one.startswith(alone) for one in each.remarks)
        for each in result.regions
    )
    return f"{shared} of {len(result.regions)} regions shared" + "".join(f", kept: {code}" for code in kept)


def _built(compiler: str, flags: Sequence[str], program: Program, source: Path, made: Path) -> Path:
    command = [compiler, *flags, *program.flags, "-I", str(program.kernel.source.parent)]
    run([*command, str(program.kernel.companion), str(source), "-lm", "-o", str(made)], limit=LIMIT)
    return made


def _printed(program: Path, words: Sequence[str]) -> list[str]:
    """What one process prints, as it comes on both streams."""
    done = subprocess.run([program, *words], check=True, capture_output=True, text=True, timeout=LIMIT)
    return _lines(done.stderr + done.stdout)


def _lines(text: str) -> list[str]:
    return [each for each in text.splitlines() if not each.startswith("seconds")]


def _difference(library: Mpi, program: Path, ranks: int, words: Sequence[str], expected: list[str]) -> str:
    """Why what ``ranks`` print is not what each of them should; empty if it is."""
    with tempfile.TemporaryDirectory() as folder:
        to_file = f'exec "$0" "$@" 2> "{folder}/$$.1" > "{folder}/$$.2"'
        command = [library.launcher, "-n", str(ranks), "sh", "-c", to_file, str(program), *words]
        try:
            run(command, limit=LIMIT, environment=ENVIRONMENT)
            why = ""
        except Failure as failure:
            said = "".join(each.read_text() for each in sorted(Path(folder).glob("*.1")))
            why = said.strip()[-300:] or str(failure)
        files = sorted(Path(folder).glob("*.1"))
        printed = [each.read_text() + each.with_suffix(".2").read_text() for each in files]
    if why:
        return why
    if len(printed) != ranks:
        return f"{len(printed)} of them printed"
    wrong = sum(_lines(each) != expected for each in printed)
    return f"{wrong} differ" if wrong else ""


def _arguments(words: Sequence[str] | None) -> argparse.Namespace:
    def names(text: str) -> list[str]:
        return text.split(",")

    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.agreement", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--polybench", type=Path, help="an unpacked PolyBench/C 4.2.1: its kernels, too")
    parser.add_argument("--size", choices=SIZES, default="mini", help="of PolyBench")
    parser.add_argument("--programs", type=names, default=[], help="only these")
    parser.add_argument("--ranks", type=names, default=["1", "2", "3", "4", "7"])
    parser.add_argument("--libraries", type=names, default=[], help="only these, as in openmpi,mpich")
    parser.add_argument("--sanitize", action="store_true", help="with the address and undefined sanitizers")
    return parser.parse_args(words)


if __name__ == "__main__":
    sys.exit(main())
