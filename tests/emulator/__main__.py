"""All kernels of tests/kernels on the emulator.

usage: python -m tests.emulator [--mutations] [--set NAME=VALUE]... [KERNEL]...

Each is transformed for CUDA with small tiles, run in four orders of blocks and threads with every
access checked, and compared to the bit with the original. ``--mutations`` then puts mistakes into it,
one at a time (each barrier deleted, each bound shifted, each transfer dropped), and counts those that
neither the checks nor the results show. The exit code is 0 if all is well; mistakes that do not show
are listed and do not count: a shifted bound may be one that another condition hides.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from polybuild.diagnostics import PolybuildError
from polybuild.options import Options
from polybuild.pipeline import compile_source
from polybuild.targets.gpu.nvcc import build_image
from tests.emulator.nvcc import mutated, places
from tests.emulator.stand_ins import ORDERS, RUNTIME, StandIns, build

KERNELS = Path(__file__).resolve().parents[1] / "kernels"
DRIVER = KERNELS / "driver.c"
SIZES = ("21", "13", "18", "11")
SMALL = {"backend": "cuda", "min_work": "0", "tile_sizes": "8,8,4", "block_sizes": "4,4", "grid_sizes": "3,2"}
COMPILE = ("-O1", "-ffp-contract=off", "-w", "-I", str(KERNELS), "-I", str(RUNTIME / "include"))
LIBRARIES = ("-lm", "-ldl", "-lpthread")


@dataclass(frozen=True)
class Made:
    """A kernel as two programs: for the device, and as it was written."""

    name: str
    program: Path
    source: Path
    arguments: tuple[str, ...]
    expected: str


def main() -> int:
    """Run what the command line asks for; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.emulator")
    parser.add_argument("kernels", nargs="*")
    parser.add_argument("--mutations", action="store_true")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    request = parser.parse_args()
    names = request.kernels or sorted(path.stem for path in KERNELS.glob("*.c") if path != DRIVER)
    options = Options().with_settings({**SMALL, **dict(each.split("=", 1) for each in request.set)})
    failed = 0
    with tempfile.TemporaryDirectory(prefix="polybuild-emulator-") as folder:
        stand_ins = build(Path(folder))
        runtime = _runtime(Path(folder))
        for name in names:
            try:
                made = _make(name, options, stand_ins, runtime)
            except PolybuildError as error:
                print(f"{name:16} not made: {error}", flush=True)
                failed += 1
                continue
            problems = [f"{order}: {what}" for order, what in _orders(made, stand_ins) if what]
            failed += bool(problems)
            print(f"{name:16} {'; '.join(problems) or f'right in {len(ORDERS)} orders'}", flush=True)
            if request.mutations and not problems:
                _mutations(made, stand_ins)
    print(f"{len(names) - failed} of {len(names)} kernels are right")
    return 1 if failed else 0


def _runtime(folder: Path) -> Path:
    sources = sorted(map(str, (RUNTIME / "src").glob("*.c")))
    subprocess.run(["gcc", "-O1", "-c", *COMPILE, *sources], cwd=folder, check=True, timeout=120)
    library = folder / "libruntime.a"
    subprocess.run(["ar", "rcs", library, *folder.glob("*.o")], check=True, timeout=60)
    return library


def _make(name: str, options: Options, stand_ins: StandIns, runtime: Path) -> Made:
    """Transform and build one kernel; raises PolybuildError if no region of it is for the device."""
    source = KERNELS / f"{name}.c"
    kept = stand_ins.folder / f"{name}.cu"
    os.environ |= {"NVCC": stand_ins.nvcc, "POLYBUILD_EMULATOR_KEEP": str(kept)}
    result = compile_source(str(source), options, ["gcc"], COMPILE)
    del os.environ["POLYBUILD_EMULATOR_KEEP"]
    for region in result.regions:
        if region.backend != "cuda":
            raise PolybuildError(region.message or "; ".join(map(str, region.remarks)))
    text = stand_ins.folder / f"{name}.c"
    text.write_text(result.text)
    program, original = stand_ins.folder / name, stand_ins.folder / f"{name}-original"
    subprocess.run(
        ["gcc", *COMPILE, str(DRIVER), str(text), str(runtime), *LIBRARIES, "-o", program],
        check=True,
        timeout=120,
    )
    subprocess.run(
        ["gcc", *COMPILE, str(DRIVER), str(source), "-lm", "-o", original], check=True, timeout=120
    )
    described = source.read_text().rpartition("const struct kernel kernel")[2].split('"')[3]
    arguments = SIZES[: len(described.split())]
    return Made(name, program, kept, arguments, _run(original, arguments, dict(os.environ))[1])


def _run(program: Path, arguments: tuple[str, ...], environment: dict[str, str]) -> tuple[int, str, str]:
    """Exit code, results and messages of a program."""
    command = [str(program), *arguments]
    try:
        done = subprocess.run(
            command, env=environment, check=False, capture_output=True, text=True, timeout=120
        )
    except subprocess.TimeoutExpired:
        return -1, "", "it did not end"
    lines = [line for line in done.stdout.splitlines() if not line.startswith("seconds")]
    return done.returncode, "\n".join(lines), done.stderr.strip()


def _problem(made: Made, environment: dict[str, str]) -> str:
    """What is wrong with a run; empty if nothing is."""
    code, results, messages = _run(made.program, made.arguments, {**environment, "POLYBUILD_VERBOSE": "1"})
    if code:
        return next((line for line in messages.splitlines() if "emulator:" in line), f"exit code {code}")
    if "runs on the device" not in messages:
        return "it ran on the host"
    return "" if results == made.expected else "other results than the original's"


def _orders(made: Made, stand_ins: StandIns) -> Iterator[tuple[str, str]]:
    with ThreadPoolExecutor(2) as pool:
        environments = [stand_ins.environment(order=order) for order in ORDERS]
        yield from zip(ORDERS, pool.map(lambda each: _problem(made, each), environments), strict=True)


def _mutations(made: Made, stand_ins: StandIns) -> None:
    """Print how many of the possible mistakes were seen, and which were not."""
    text = made.source.read_text()
    report = stand_ins.report([str(made.program), *made.arguments])["copies"]
    wrong = [f"{kind}:{number + 1}" for kind in ("barrier", "bound") for number in range(places(text, kind))]
    drops = [f"drop:{number + 1}" for number in range(report["in"][0] + report["out"][0])]

    def unseen(mistake: str) -> str:
        environment = stand_ins.environment(drop=int(mistake.partition(":")[2]) if mistake in drops else 0)
        if mistake not in drops:
            image = stand_ins.folder / f"{made.name}-{mistake}.image"
            image.write_bytes(build_image(mutated(text, mistake), stand_ins.nvcc, (80,), contract=False).data)
            environment["POLYBUILD_EMULATOR_IMAGE"] = str(image)
        return "" if _problem(made, environment) else mistake

    with ThreadPoolExecutor(2) as pool:
        missed = [each for each in pool.map(unseen, [*wrong, *drops]) if each]
    print(
        f"{'':16} {len(wrong) + len(drops) - len(missed)} of {len(wrong) + len(drops)} mistakes are seen",
        end="",
    )
    print(f"; not: {' '.join(missed)}" if missed else "", flush=True)


if __name__ == "__main__":
    sys.exit(main())
