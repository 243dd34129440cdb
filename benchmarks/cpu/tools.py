"""Who makes the programs: the compiler alone, polybuild, and the peers that this machine has."""

from __future__ import annotations

import json
import shutil
import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.cpu.processes import Failure, run
from benchmarks.cpu.suites import ROOT, Kernel

LIMIT = 120.0  # seconds for one run of one tool or compiler


@dataclass(frozen=True, slots=True)
class Job:
    """One program to make: from which kernel, for which compiler and flags, in which directory.

    ``flags`` are those of the suite, ``optimisation`` those of the measurement.
    """

    kernel: Kernel
    compiler: str
    optimisation: Sequence[str]
    flags: Sequence[str]
    directory: Path

    def compile(self, source: Path, name: str, *extra: str, compiler: str = "") -> tuple[Path, float]:
        """Compile ``source`` with the kernel's companion; the program, and the compiler's seconds."""
        program = self.directory / name
        command = [compiler or self.compiler, *self.optimisation, *extra, *self.flags]
        command += [str(self.kernel.companion), str(source), "-lm", "-o", str(program)]
        return program, run(command, limit=LIMIT).seconds


@dataclass(frozen=True, slots=True)
class Made:
    """A program, what its making took in seconds of wall time, and, of polybuild, how it went.

    ``status`` is ``transformed`` if a region was and none was kept, ``unchanged`` if the tool found that the
    compiler makes as much of all of them; else it says what stopped the first.
    """

    program: Path
    compiler_seconds: float
    tool_seconds: float = 0.0
    status: str = ""


def original(job: Job) -> Made:
    """The compiler alone."""
    return Made(*job.compile(job.kernel.source, "original"))


def polybuild(job: Job, options: Sequence[str], runs: int = 1) -> Made:
    """Polybuild, then the compiler; the tool runs ``runs`` times and its median time counts."""
    text, report = job.directory / f"{job.kernel.name}.c", job.directory / "report.json"
    command = [sys.executable, str(ROOT / "bin" / "polybuild"), "compile", str(job.kernel.source)]
    command += ["-o", str(text), "--report", str(report), "--cc", job.compiler, *options]
    command += ["--", *job.optimisation, "-fopenmp", *job.flags]
    environment = {"PYTHONPATH": str(ROOT)}
    times = [run(command, limit=LIMIT, environment=environment).seconds for _ in range(runs)]
    program, compiler_seconds = job.compile(text, "polybuild", "-fopenmp")
    return Made(program, compiler_seconds, statistics.median(times), _status(report))


def _status(report: Path) -> str:
    regions = json.loads(report.read_text(encoding="utf-8"))["regions"]
    kept = [region for region in regions if region["status"] == "kept"]
    if kept:
        return f"kept: {kept[0]['code']}"
    if not regions:
        return "no region"
    return "transformed" if any(region["status"] == "transformed" for region in regions) else "unchanged"


# ---- Peers -------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Peer:
    """Another way to make the program; ``make`` may fail. ``command`` is what it runs, by name."""

    name: str
    command: str
    make: Callable[[Job], Made]


def peers() -> list[Peer]:
    """The peers found on PATH: clang, Polly (a clang that has it), Pluto and PPCG."""
    found = []
    if shutil.which("clang"):
        found.append(
            Peer(
                "clang", "clang", lambda job: Made(*job.compile(job.kernel.source, "clang", compiler="clang"))
            )
        )
    polly = next((name for name in _clangs() if _has_polly(name)), "")
    if polly:
        flags = ["-mllvm", "-polly", "-mllvm", "-polly-parallel", "-fopenmp"]
        found.append(
            Peer(
                "polly",
                polly,
                lambda job: Made(*job.compile(job.kernel.source, "polly", *flags, compiler=polly)),
            )
        )
    if shutil.which("polycc"):
        found.append(Peer("pluto", "polycc", lambda job: _translated(job, "pluto", _pluto_command)))
    if shutil.which("ppcg"):
        found.append(Peer("ppcg", "ppcg", lambda job: _translated(job, "ppcg", _ppcg_command)))
    return found


def _clangs() -> list[str]:
    return ["clang", *(f"clang-{version}" for version in range(25, 10, -1))]


def _has_polly(compiler: str) -> bool:
    if shutil.which(compiler) is None:
        return False
    try:
        run(
            [compiler, "-mllvm", "-polly", "-O3", "-x", "c", "-c", "/dev/null", "-o", "/dev/null"],
            limit=LIMIT,
        )
    except Failure:
        return False
    return True


def _pluto_command(job: Job, output: Path) -> list[str]:
    return ["polycc", str(job.kernel.source), "--tile", "--parallel", "-o", str(output)]


def _ppcg_command(job: Job, output: Path) -> list[str]:
    command = ["ppcg", "--target=c", "--openmp", "--tile", "-DPOLYBENCH_USE_C99_PROTO", *job.flags]
    return [*command, str(job.kernel.source), "-o", str(output)]


def _translated(job: Job, name: str, command: Callable[[Job, Path], list[str]]) -> Made:
    output = job.directory / f"{job.kernel.name}.{name}.c"
    seconds = run(command(job, output), limit=LIMIT, directory=job.directory).seconds
    return Made(*job.compile(output, name, "-fopenmp"), seconds)
