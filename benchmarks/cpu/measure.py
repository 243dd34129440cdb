"""Measuring one kernel: every way of making it in turn, round after round, and the medians."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.cpu import tools
from benchmarks.cpu.processes import Failure, run
from benchmarks.cpu.suites import Kernel, Suite
from benchmarks.cpu.tools import Job, Made, Peer

EXACT = ("-O2", "-ffp-contract=off")  # the flags under which results must agree to the bit


@dataclass(frozen=True, slots=True)
class Plan:
    """How to measure.

    ``size`` is timed, ``check_size`` compared; ``limit`` is in seconds for one run
    of one program; ``options`` are polybuild's.
    """

    suite: Suite
    size: str
    check_size: str
    compiler: str
    optimisation: Sequence[str]
    threads: int
    runs: int
    tool_runs: int
    limit: float
    options: Sequence[str]
    peers: Sequence[Peer]


@dataclass(slots=True)
class Column:
    """The times of one way of making a kernel, in seconds; ``failure`` says why there are none."""

    times: list[float] = field(default_factory=list)
    failure: str = ""

    @property
    def median(self) -> float | None:
        """The column's figure, if there is one."""
        return statistics.median(self.times) if self.times and not self.failure else None


@dataclass(slots=True)
class Row:
    """What was found of one kernel; the columns are ``original``, ``one``, ``many`` and the peers' names."""

    kernel: str
    columns: dict[str, Column]
    status: str = ""
    verdict: str = ""
    tool_seconds: float | None = None
    compiler_seconds: dict[str, float] = field(default_factory=dict)

    @property
    def sound(self) -> bool:
        """Whether the kernel was transformed, or left to the compiler, rightly."""
        return self.status in {"transformed", "unchanged"} and self.verdict == "equal"

    def ratio(self, column: str) -> float | None:
        """How many times as fast as the original a column is; polybuild's only if its results are equal."""
        if column in {"one", "many"} and self.verdict != "equal":
            return None
        own, other = self.columns["original"].median, self.columns[column].median
        return own / other if own and other else None


def measure(plan: Plan, kernel: Kernel, directory: Path) -> Row:
    """Build, compare and time one kernel; what fails is told in its place and stops nothing else."""
    row = Row(kernel.name, {name: Column() for name in _column_names(plan)})
    row.verdict = compare(plan, kernel, plan.check_size, directory).verdict
    for peer in plan.peers:
        verdict = _compare(plan, kernel, plan.check_size, directory, peer.make).verdict
        row.columns[peer.name].failure = "" if verdict == "equal" else verdict
    programs = _build(plan, kernel, row, directory)
    for _ in range(plan.runs):
        for name, (program, threads) in programs.items():
            column = row.columns[name]
            if column.failure:
                continue
            try:
                column.times.append(_time(plan, program, threads))
            except Failure as failure:
                column.failure = str(failure)
    return row


def _column_names(plan: Plan) -> list[str]:
    return ["original", "one", "many", *(peer.name for peer in plan.peers)]


def _build(plan: Plan, kernel: Kernel, row: Row, directory: Path) -> dict[str, tuple[Path, int]]:
    """The program and the thread count of every column whose program could be made."""
    flags = plan.suite.flags(kernel, plan.size, timed=True)
    job = Job(kernel, plan.compiler, plan.optimisation, flags, directory)
    makers: dict[str, Callable[[Job], Made]] = {
        "original": tools.original,
        "many": lambda job: tools.polybuild(job, plan.options, plan.tool_runs),
    } | {peer.name: peer.make for peer in plan.peers}
    programs: dict[str, tuple[Path, int]] = {}
    for name, make in makers.items():
        if row.columns[name].failure:
            continue  # a peer with wrong results is not timed
        try:
            made = make(job)
        except Failure as failure:
            row.columns[name].failure = str(failure)
            continue
        programs[name] = (made.program, plan.threads)
        row.compiler_seconds[name] = made.compiler_seconds
        if name == "many":
            row.tool_seconds, row.status = made.tool_seconds, made.status
    row.columns["one"].failure = row.columns["many"].failure
    if "many" in programs:
        programs["one"] = (programs["many"][0], 1)
    row.status = row.status or row.columns["many"].failure
    return programs


def _time(plan: Plan, program: Path, threads: int) -> float:
    environment = {"OMP_NUM_THREADS": str(threads)}
    output = run([str(program), *plan.suite.arguments(plan.size)], limit=plan.limit, environment=environment)
    return plan.suite.seconds(output)


@dataclass(frozen=True, slots=True)
class Comparison:
    """What polybuild said of a kernel's regions, and whether the results were ``equal``."""

    status: str
    verdict: str

    @property
    def sound(self) -> bool:
        """Whether the kernel was transformed, rightly."""
        return (self.status, self.verdict) == ("transformed", "equal")


def compare(plan: Plan, kernel: Kernel, size: str, directory: Path) -> Comparison:
    """Compare, to the bit, what the compiler's and polybuild's programs print.

    The transformed code runs even where there is too little work for it to pay.
    """
    return _compare(
        plan, kernel, size, directory, lambda job: tools.polybuild(job, ["--min-work", "0", *plan.options])
    )


def _compare(
    plan: Plan, kernel: Kernel, size: str, directory: Path, make: Callable[[Job], Made]
) -> Comparison:
    job = Job(kernel, plan.compiler, EXACT, plan.suite.flags(kernel, size, timed=False), directory)
    status = "failed"
    try:
        made = make(job)
        status = made.status
        wanted, found = (
            _results(plan, program, size) for program in (tools.original(job).program, made.program)
        )
    except Failure as failure:
        return Comparison(status, str(failure))
    if not wanted:
        return Comparison(status, "no results")
    return Comparison(status, "equal" if found == wanted else "DIFFERENT")


def _results(plan: Plan, program: Path, size: str) -> str:
    environment = {"OMP_NUM_THREADS": str(plan.threads)}
    output = run([str(program), *plan.suite.arguments(size)], limit=plan.limit, environment=environment)
    return plan.suite.results(output)
