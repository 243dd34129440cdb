"""Temporary arrays in buffers and variables, against the same order with the arrays in memory.

usage: python -m benchmarks.contraction [--kernels NAME,...] [--settings O0,O3] [--least BYTES] [--most BYTES]
       [--runs N] [--options "..."] [--check | --devices cuda,opencl | --memory]

For each kernel and size: seconds of the compiler alone, and how many times as fast the same order is
with contraction. ``same`` stands where nothing was contracted: both are one program then. Every
program has to compute what the compiler's does, to the bit; --check does nothing else, nor does --devices,
for programs that run on devices. --memory tells instead how much memory two stages over a picture of
16384 by 16384 take at most.
"""

from __future__ import annotations

import argparse
import contextlib
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.contraction.devices import SETTINGS as ON_DEVICES
from benchmarks.contraction.devices import DeviceProgram, Devices
from polybuild.driver import file as pipeline
from polybuild.driver import passes
from polybuild.options import Options
from polybuild.targets.cpu import reduction_parallelisation as relaxing

KERNELS = Path(__file__).with_name("kernels.c")
_PICTURE = Path(__file__).with_name("picture.c")
SETTINGS: Mapping[str, tuple[str, ...]] = {"O0": ("-O0",), "O3": ("-O3", "-march=native")}
_ALWAYS = ("-std=gnu99", "-ffp-contract=off", "-w", "-fopenmp")
_CHECKED = (1, 2, 3, 4, 5, 6, 7, 8, 13, 24, 67)


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel and its problem sizes; each of its three arrays has ``factor * n ** power`` elements."""

    name: str
    sizes: tuple[int, ...]
    power: int = 2
    factor: int = 1

    def arguments(self, n: int, least: float = 0) -> list[str]:
        """What a program is called with to run it for ``least`` seconds."""
        return [self.name, str(n), str(self.elements(n)), str(least)]

    def elements(self, n: int) -> int:
        """How many elements each array has."""
        return max(1, self.factor * n**self.power)


_PICTURES = (32, 150, 900, 4000, 6500)
_LINES = (1000, 20_000, 1_000_000, 45_000_000)
_PRODUCTS = (24, 120, 400)
ALL = (
    Kernel("blur", _PICTURES),
    Kernel("blur_permuted", _PICTURES),
    Kernel("blur_stages", _PICTURES),
    Kernel("fibonacci", _LINES, power=1),
    Kernel("pc_1d", _LINES, power=1),
    Kernel("pc_2d_interleaved", _PICTURES),
    Kernel("pc_2d", _PICTURES),
    Kernel("cnn", _PICTURES),
    Kernel("two_products", _PRODUCTS),
    Kernel("gemm", _PRODUCTS),
    Kernel("poly", (200, 3000, 20_000), power=1, factor=2),
)


def main() -> int:
    """Run the command line and return the exit code."""
    arguments = _arguments()
    chosen = [each for each in ALL if not arguments.kernels or each.name in arguments.kernels.split(",")]
    options = Options(parallel=False, min_work=0).with_clauses(arguments.options)
    if arguments.memory:
        with tempfile.TemporaryDirectory() as folder:
            original, contracted = memory(Path(folder), 16384)
        temporary = 16384 * 16384 * 4 // 1024
        print(f"{original} KiB, with contraction {contracted} KiB; the temporary array has {temporary} KiB")
        return 0
    failures = 0
    if arguments.devices:
        with tempfile.TemporaryDirectory() as folder:
            failures = _check_devices(Path(folder), arguments.devices.split(","), chosen)
        print(f"{failures} results differ" if failures else "all results equal")
        return 1 if failures else 0
    with tempfile.TemporaryDirectory() as folder:
        for setting in arguments.settings.split(","):
            programs = build(Path(folder) / setting, SETTINGS[setting], options)
            failures += sum(wrong(programs, each, n) for each in chosen for n in _CHECKED)
            if not arguments.check:
                print(f"gcc {' '.join(SETTINGS[setting])}, one thread")
                _table(programs, chosen, arguments)
    print(f"{failures} results differ" if failures else "all results equal")
    return 1 if failures else 0


@dataclass(frozen=True, slots=True)
class Programs:
    """The three programs, and what is said of each kernel's temporary array."""

    original: Path
    without: Path
    contracted: Path
    remarks: Mapping[str, str]


def build(folder: Path, flags: tuple[str, ...], options: Options) -> Programs:
    """Compile the kernels as they are, in the new order, and in the new order with contraction."""
    folder.mkdir()
    everything = [*_ALWAYS, *flags]
    contracted = pipeline.compile_source(str(KERNELS), options, ["gcc"], everything)
    with _no_buffers():
        without = pipeline.compile_source(str(KERNELS), options, ["gcc"], everything)
    texts = {"original": KERNELS.read_text(), "without": without.text, "contracted": contracted.text}
    for name, text in texts.items():
        source = folder / f"{name}.c"
        source.write_text(text)
        command = ["gcc", *everything, str(source), "-o", str(folder / name)]
        subprocess.run(command, check=True)
    names = _names()
    remarks = {
        name: "; ".join(each for each in region.remarks if "kept in" in each or "copied to" in each)
        for name, region in zip(names, contracted.regions, strict=True)
    }
    kept = [f"{each.line}: {each.message}" for each in contracted.regions if each.status != "transformed"]
    if kept:
        raise SystemExit("\n".join(kept))
    return Programs(folder / "original", folder / "without", folder / "contracted", remarks)


@contextlib.contextmanager
def _no_buffers() -> Iterator[None]:
    """The same orders, with the arrays in memory."""
    choose, copy = relaxing.choose_mapping, passes.choose_with_copies

    def in_memory(*arguments):  # noqa: ANN002, ANN202 - as the other one
        return replace(choose(*arguments), buffers=())

    relaxing.choose_mapping = in_memory
    passes.choose_with_copies = lambda plain, *_: plain
    try:
        yield
    finally:
        relaxing.choose_mapping, passes.choose_with_copies = choose, copy


def _names() -> list[str]:
    """The kernels in the order of the file."""
    lines = KERNELS.read_text().splitlines()
    return [
        line.split("(")[0].split()[-1] for line in lines if line.startswith("static void") and "t)" in line
    ]


def memory(folder: Path, n: int) -> tuple[int, int]:
    """The most memory, in KiB, that two stages over a picture take without polybuild and with it."""
    flags = ["-O3", "-march=native", "-fopenmp", "-std=gnu99"]
    text = pipeline.compile_source(str(_PICTURE), Options(), ["gcc"], flags).text
    found: list[tuple[str, int]] = []
    for name, source in (("original", _PICTURE.read_text()), ("contracted", text)):
        path = folder / f"{name}.c"
        path.write_text(source)
        command = ["gcc", *flags, "-Wno-unknown-pragmas", str(path), "-o", str(folder / name)]
        subprocess.run(command, check=True)
        program = [str(folder / name), str(n)]
        done = subprocess.run(program, check=True, capture_output=True, text=True)
        result, taken = done.stdout.split()
        found.append((result, int(taken)))
    (wanted, before), (result, after) = found
    if result != wanted:
        raise SystemExit("the results differ")
    return before, after


def _table(programs: Programs, kernels: list[Kernel], arguments: argparse.Namespace) -> None:
    print(f"{'kernel':18} {'n':>9} {'MiB':>7} {'gcc s':>10} {'gcc/new':>8} {'without/with':>13}")
    for kernel in kernels:
        for n in kernel.sizes:
            size = 3 * 8 * kernel.elements(n)
            if not arguments.least <= size <= arguments.most:
                continue
            ways = {"original": programs.original, "contracted": programs.contracted}
            if programs.remarks[kernel.name]:
                ways["without"] = programs.without
            times: dict[str, list[float]] = {name: [] for name in ways}
            for _ in range(arguments.runs):
                for name, program in ways.items():
                    times[name].append(_run(program, kernel, n, arguments.seconds)[0])
            medians = {name: statistics.median(each) for name, each in times.items()}
            gain = f"{medians['without'] / medians['contracted']:13.2f}" if "without" in medians else "same"
            print(
                f"{kernel.name:18} {n:9} {size / 2**20:7.1f} {medians['original']:10.3g} "
                f"{medians['original'] / medians['contracted']:8.2f} {gain:>13}",
                flush=True,
            )
        print(f"{'':18} {programs.remarks[kernel.name] or 'not contracted'}")


def wrong(programs: Programs, kernel: Kernel, n: int) -> bool:
    """Whether the programs compute different things."""
    wanted, *found = (
        _run(each, kernel, n, 0)[1] for each in (programs.original, programs.without, programs.contracted)
    )
    if found == [wanted, wanted]:
        return False
    print(f"{kernel.name} {n}: wrong")
    return True


def _run(program: Path, kernel: Kernel, n: int, least: float) -> tuple[float, str]:
    """Seconds a run, and the number made of the results."""
    command = [program, *kernel.arguments(n, least)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    seconds, number = done.stdout.split()
    return float(seconds), number


def _check_devices(folder: Path, backends: list[str], kernels: list[Kernel]) -> int:
    """How many results of programs for ``backends`` differ; says where each kernel ran."""
    original = compile_original(folder, SETTINGS["O0"])
    devices = Devices.at(folder)
    failures = 0
    for backend in backends:
        for name, settings in ON_DEVICES.items():
            program = devices.program(KERNELS, backend, settings)
            for kernel, remarks in zip(ALL, program.remarks, strict=True):
                if kernel not in kernels:
                    continue
                found = [wrong_on_device(original, program, kernel, n) for n in _CHECKED]
                failures += sum(found)
                kept = [each for each in remarks if "device" in each or "host" in each]
                print(f"{backend}, {name}: {kernel.name}: {'; '.join(kept) or 'in memory'}", flush=True)
    return failures


def wrong_on_device(original: Path, program: DeviceProgram, kernel: Kernel, n: int) -> bool:
    """Whether ``program`` computes something else than the program ``original``."""
    wanted = _run(original, kernel, n, 0)[1]
    found, _ = program.run(kernel.arguments(n))
    if found.split()[-1] == wanted:
        return False
    print(f"{kernel.name} {n}: wrong")
    return True


def without_extents(remark: str) -> str:
    """A remark of what an array is kept in, less how many elements it had."""
    return re.sub(" instead of .* elements", "", remark)


def compile_original(folder: Path, flags: tuple[str, ...]) -> Path:
    """The kernels as they are."""
    program = folder / "original"
    command = ["gcc", *_ALWAYS, *flags, str(KERNELS), "-o", str(program)]
    subprocess.run(command, check=True)
    return program


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.contraction", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--kernels", default="", help="names of kernels")
    parser.add_argument("--settings", default="O0,O3")
    parser.add_argument("--least", type=float, default=0, help="bytes of all arrays of the smallest size")
    parser.add_argument("--most", type=float, default=2**30, help="bytes of all arrays of the largest size")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.05, help="how long each program repeats a kernel")
    parser.add_argument("--options", default="", help="polybuild's, as clauses: 'contract_arrays(scalars)'")
    parser.add_argument("--check", action="store_true", help="only compare the results")
    parser.add_argument("--devices", default="", help="only compare the results of these backends")
    parser.add_argument("--memory", action="store_true", help="only tell what memory a picture takes")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
