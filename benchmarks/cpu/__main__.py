"""The command line: ``python -m benchmarks.cpu``."""

from __future__ import annotations

import argparse
import dataclasses
import json
import shlex
import sys
import tempfile
from pathlib import Path

from benchmarks.cpu import machine, table, tools
from benchmarks.cpu.measure import Plan, Row, compare, measure
from benchmarks.cpu.suites import SIZES, Kernel, OwnKernels, PolyBench, Suite
from polybuild.driver.progress import ProgressLine

DESCRIPTION = """\
Times polybuild's output against the compiler's own on the thirty kernels, one round after the other
(A B A B ...), and prints the medians, the speed-ups and their geometric means. In the same run the results
of both are compared to the bit, at a smaller size and without contraction of multiply-adds."""


def main() -> int:
    """Measure or check; 0 if every kernel was transformed and gave equal results."""
    arguments = _parser().parse_args()
    suite: Suite = PolyBench(arguments.polybench) if arguments.polybench else OwnKernels()
    kernels = _chosen(suite, arguments.kernels)
    plan = Plan(
        suite=suite,
        size=arguments.size,
        check_size="small",
        compiler=arguments.cc,
        optimisation=shlex.split(arguments.cflags),
        threads=arguments.threads,
        runs=arguments.runs,
        tool_runs=min(arguments.runs, 3),
        limit=arguments.timeout,
        options=shlex.split(arguments.options),
        peers=tools.peers() if arguments.peers else [],
    )
    with tempfile.TemporaryDirectory(prefix="polybuild-benchmark-") as directory:
        if arguments.check:
            return _check(plan, kernels, Path(directory))
        return _measure(plan, kernels, Path(directory), arguments.json)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m benchmarks.cpu", description=DESCRIPTION)
    parser.add_argument("--kernels", default="", metavar="A,B", help="only these")
    parser.add_argument("--runs", type=int, default=5, metavar="N", help="rounds; the median counts (5)")
    parser.add_argument("--size", choices=SIZES, default="large", help="the data that is timed (large)")
    parser.add_argument("--threads", type=int, default=2, metavar="N", help="beside one thread (2)")
    parser.add_argument(
        "--timeout", type=float, default=120.0, metavar="S", help="seconds for one run of a program (120)"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every time and the machine here")
    parser.add_argument("--polybench", type=Path, metavar="DIR", help="an unpacked PolyBench/C 4.2.1 instead")
    parser.add_argument("--check", action="store_true", help="only compare results, at mini and small")
    parser.add_argument("--cc", default="gcc", help="the compiler (gcc)")
    parser.add_argument("--cflags", default="-O3 -march=native", help="its flags (-O3 -march=native)")
    parser.add_argument("--options", default="", help="options for polybuild compile, as one word")
    parser.add_argument(
        "--peers",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="clang, Polly, Pluto, PPCG if found",
    )
    return parser


def _chosen(suite: Suite, names: str) -> list[Kernel]:
    known = {kernel.name: kernel for kernel in suite.kernels}
    wanted = names.split(",") if names else list(known)
    unknown = [name for name in wanted if name not in known]
    if unknown:
        sys.exit(f"no kernel {', '.join(unknown)}; known are {', '.join(known)}")
    return [known[name] for name in wanted]


def _measure(plan: Plan, kernels: list[Kernel], directory: Path, record: Path | None) -> int:
    peers = [peer.name for peer in plan.peers]
    about = machine.describe(plan.compiler)
    print(f"{plan.suite.name}, {plan.size}, {' '.join([plan.compiler, *plan.optimisation])}, ", end="")
    print(f"median of {plan.runs}, seconds; {about['processor']}, {about['cores']} cores")
    print(table.heading(peers, plan.threads), flush=True)
    rows: list[Row] = []
    with ProgressLine(parts=len(kernels)) as progress:
        for kernel in kernels:
            progress.at(kernel.name)
            rows.append(measure(plan, kernel, _fresh(directory, kernel.name)))
            progress.clear()
            print(table.row(rows[-1], peers), flush=True)
            if record:  # after each, so that a run cut short leaves what it found
                _write(record, plan, about, rows)
    print(table.summary(rows, peers, plan.threads))
    return 0 if all(row.sound for row in rows) else 1


def _check(plan: Plan, kernels: list[Kernel], directory: Path) -> int:
    sound = True
    for size in ("mini", "small"):
        found = {}
        with ProgressLine(parts=len(kernels)) as progress:
            for kernel in kernels:
                progress.at(f"{kernel.name}, {size}")
                found[kernel.name] = compare(plan, kernel, size, _fresh(directory, f"{kernel.name}-{size}"))
                if not found[kernel.name].sound:
                    progress.clear()
                    told = f"{found[kernel.name].status}, {found[kernel.name].verdict}"
                    print(f"  {kernel.name}: {told}", flush=True)
        transformed = sum(comparison.status == "transformed" for comparison in found.values())
        equal = sum(comparison.verdict == "equal" for comparison in found.values())
        total = len(found)
        print(f"{size}: {transformed}/{total} transformed, {equal}/{total} equal", flush=True)
        sound = sound and transformed == equal == total
    return 0 if sound else 1


def _fresh(directory: Path, name: str) -> Path:
    made = directory / name
    made.mkdir()
    return made


def _write(record: Path, plan: Plan, about: dict[str, object], rows: list[Row]) -> None:
    content = {
        "machine": about,
        "suite": plan.suite.name,
        "size": plan.size,
        "flags": list(plan.optimisation),
        "peers": {peer.name: machine.version(peer.command) for peer in plan.peers},
        "options": list(plan.options),
        "threads": plan.threads,
        "runs": plan.runs,
        "kernels": [dataclasses.asdict(row) for row in rows],
    }
    record.parent.mkdir(parents=True, exist_ok=True)
    record.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
