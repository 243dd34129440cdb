"""The command line: ``python -m benchmarks.stencils``."""

from __future__ import annotations

import argparse
import math
import os
import shlex
import statistics
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import islpy as isl

from benchmarks.cpu import machine
from benchmarks.cpu.processes import Failure, run
from polybuild.analysis.dependences import compute_dependences
from polybuild.analysis.liveness import live_after
from polybuild.c.types import FloatingType, IntegerType
from polybuild.context import CompileContext
from polybuild.options import Options
from polybuild.poly.relations import maps_of
from polybuild.scop.extract import extract_scop
from polybuild.scop.model import AccessKind, Scop
from polybuild.source.model import Region
from polybuild.source.reader import read_source
from polybuild.storage.copy_elimination import fold_copies
from polybuild.targets.cpu.choice import choose_mapping
from polybuild.targets.cpu.tilesizes import bytes_of_element
from polybuild.targets.cpu.wavefronts import tiles_per_wavefront
from polybuild.transform.index_set_splitting import split_index_sets
from polybuild.transform.residue_classes import split_residue_classes

KERNELS = Path(__file__).parents[2] / "tests" / "kernels"
OWN = Path(__file__).with_name("kernels")
UPDATES = 3e7  # of elements in a cache, at least, to time them
FEW_STEPS = 10  # of the original loops, each of whose steps takes as long as the one before
TRIAD = Path(__file__).with_name("triad.c")
DESCRIPTION = """\
Runs stencils of tests/kernels and of benchmarks/stencils/kernels on grids far larger than the caches. The
limit for code without tiles over time is what a time step moves if it reads and writes every array once, at
the bandwidth that the triad of STREAM has in the same run. The last columns say how much faster the
transformed code is than that, and than what the compiler makes of the original loops on one thread; what part
it reaches of what they would do on all threads if the grid were in the second-level cache, which is the
limit where arithmetic, chains or that cache bind before the memory does; and how many tiles its wavefronts
have."""


@dataclass(frozen=True, slots=True)
class Grid:
    """A kernel and its size: the driver's arguments by the names of the region's parameters.

    The grid has so many ``dimensions``.
    """

    kernel: str
    sizes: dict[str, int]
    time: str
    dimensions: int

    @property
    def source(self) -> Path:
        """The file with the kernel."""
        name = f"{self.kernel}.c"
        return OWN / name if (OWN / name).exists() else KERNELS / name


GRIDS = (
    Grid("jacobi-1d", {"n": 120_000_000, "steps": 100}, "steps", 1),
    Grid("jacobi-2d", {"n": 11_000, "steps": 100}, "steps", 2),
    Grid("copies-2d", {"n": 11_000, "steps": 100}, "steps", 2),
    Grid("heat-2d-9pt", {"n": 11_000, "steps": 100}, "steps", 2),
    Grid("masked-2d", {"n": 9_000, "steps": 100}, "steps", 2),
    Grid("life", {"n": 32_000, "steps": 100}, "steps", 2),
    Grid("heat-3d", {"n": 480, "turns": 100}, "turns", 3),
    Grid("star-3d-r2", {"n": 480, "steps": 100}, "steps", 3),
    Grid("box-3d-27pt", {"n": 480, "steps": 100}, "steps", 3),
    Grid("periodic-1d", {"n": 120_000_000, "steps": 100}, "steps", 1),
    Grid("periodic-2d", {"n": 11_000, "steps": 100}, "steps", 2),
    Grid("periodic-3d", {"n": 480, "steps": 100}, "steps", 3),
    Grid("fdtd-2d", {"m": 9_000, "n": 9_000, "steps": 100}, "steps", 2),
    Grid("seidel-2d", {"n": 11_000, "steps": 100}, "steps", 2),
)


def main() -> int:
    """Print the table; 0 if every kernel ran and was at least ``--least`` times as fast as the limit."""
    parser = argparse.ArgumentParser("python -m benchmarks.stencils", description=DESCRIPTION)
    parser.add_argument("--kernels", default="", metavar="A,B", help="only these")
    parser.add_argument("--scale", type=float, default=1.0, help="factor on the number of points (1)")
    parser.add_argument("--runs", type=int, default=3, help="runs; the median counts (3)")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), help="threads (all)")
    parser.add_argument("--cc", default="gcc", help="the compiler (gcc)")
    parser.add_argument("--cflags", default="-O3 -march=native", help="its flags (-O3 -march=native)")
    parser.add_argument("--options", default="", help="options for polybuild compile, as one word")
    parser.add_argument("--timeout", type=float, default=300.0, help="seconds for one program (300)")
    parser.add_argument("--least", type=float, default=0.0, help="fail below this ratio (0)")
    arguments = parser.parse_args()
    facts = machine.describe(arguments.cc)
    print(f"{facts['processor']}, {facts['cores']} cores, {facts['caches']}, load {facts['load']}")
    print(f"{facts['compiler']}, {arguments.cflags}, {arguments.threads} threads")
    with tempfile.TemporaryDirectory(prefix="polybuild-stencils-") as directory:
        return _table(arguments, Path(directory))


def _table(arguments: argparse.Namespace, directory: Path) -> int:
    bandwidth = _bandwidth(arguments, directory)
    print(f"triad {bandwidth / 1e9:.1f} GB/s\n")
    print(
        f"{'kernel':<13}{'sizes':<18}{'grid':>8}{'moved/step':>12}{'limit':>9}{'time':>9}"
        f"{'of limit':>10}{'of one thread':>15}{'of cache':>10}"
        "  tiles per wavefront: first, median, last of all"
    )
    worst = math.inf
    for grid in GRIDS:
        if arguments.kernels and grid.kernel not in arguments.kernels.split(","):
            continue
        try:
            worst = min(worst, _row(grid, arguments, bandwidth, directory))
        except Failure as failure:
            print(f"{grid.kernel:<13}{failure}")
            worst = 0.0
    return 0 if worst >= arguments.least else 1


def _row(grid: Grid, arguments: argparse.Namespace, bandwidth: float, directory: Path) -> float:
    sizes = _scaled(grid, arguments.scale)
    scop, fronts = _model(grid, sizes, arguments)
    moved, held = _traffic(scop, sizes)
    limit = moved * sizes[grid.time] / bandwidth
    before, cached = _times_of_original(grid, sizes, arguments, directory, scop)
    seconds = _time(grid, sizes, arguments, directory)
    text = "x".join(str(value) for value in sizes.values())
    middle = round(statistics.median(fronts)) if fronts else 0
    shown = f"{fronts[0]}, {middle}, {fronts[-1]} of {len(fronts)}" if fronts else "-"
    print(
        f"{grid.kernel:<13}{text:<18}{held / 2**30:>7.2f}G{moved / 2**20:>9.0f}MiB{limit:>8.2f}s"
        f"{seconds:>8.2f}s{limit / seconds:>10.2f}{before / seconds:>15.2f}"
        f"{cached / seconds:>10.2f}  {shown}",
        flush=True,
    )
    return limit / seconds


def _scaled(grid: Grid, factor: float) -> dict[str, int]:
    """The sizes with ``factor`` times as many points."""
    extents = [name for name in grid.sizes if name != grid.time]
    return {
        name: round(value * factor ** (1 / grid.dimensions)) if name in extents else value
        for name, value in grid.sizes.items()
    }


def _bandwidth(arguments: argparse.Namespace, directory: Path) -> float:
    program = str(directory / "triad")
    flags = shlex.split(arguments.cflags)
    run([arguments.cc, *flags, "-fopenmp", str(TRIAD), "-o", program], limit=60)
    return float(_run([program, "256"], arguments).split()[0])


def _time(grid: Grid, sizes: dict[str, int], arguments: argparse.Namespace, directory: Path) -> float:
    source, output, program = grid.source, directory / "out.c", str(directory / grid.kernel)
    flags = [*shlex.split(arguments.cflags), "-fopenmp", "-I", str(KERNELS)]
    command = [sys.executable, "-m", "polybuild", "compile", str(source), "-o", str(output)]
    run([*command, *shlex.split(arguments.options), "--", arguments.cc, *flags], limit=120)
    files = [str(output), str(KERNELS / "driver.c")]
    run([arguments.cc, *flags, *files, "-lm", "-o", program], limit=120)
    return _time_of_steps(program, sizes, arguments)


def _times_of_original(
    grid: Grid, sizes: dict[str, int], arguments: argparse.Namespace, directory: Path, scop: Scop
) -> tuple[float, float]:
    """Seconds of the loops as they are written and the compiler makes them.

    First those of one thread, then those that all threads would take for as many points of a grid in cache.
    """
    program = str(directory / f"{grid.kernel}-original")
    flags = [*shlex.split(arguments.cflags), "-fopenmp", "-I", str(KERNELS)]
    run([arguments.cc, *flags, str(grid.source), str(KERNELS / "driver.c"), "-lm", "-o", program], limit=120)
    held, steps = _traffic(scop, sizes)[1], sizes[grid.time]
    few = min(FEW_STEPS, steps)
    before = _time_of_steps(program, {**sizes, grid.time: few}, arguments) * steps / few
    small = _scaled(grid, arguments.scale * CompileContext().machine.l2.bytes / 2 / held)
    fitting = _traffic(scop, small)[1]
    many = max(few, round(UPDATES * 8 / fitting))
    cached = _time_of_steps(program, {**small, grid.time: many}, arguments) * steps / many
    return before, cached * held / fitting / arguments.threads


def _time_of_steps(program: str, sizes: dict[str, int], arguments: argparse.Namespace) -> float:
    """The median of the seconds that the program takes for ``sizes``."""
    given = [str(value) for value in sizes.values()]
    lines = _run([program, "--repeat", str(arguments.runs), *given], arguments).splitlines()
    return statistics.median(float(line.split()[1]) for line in lines if line.startswith("seconds"))


def _run(command: list[str], arguments: argparse.Namespace) -> str:
    # large pages where the C library can: tiles walk over many rows, and their addresses must be found
    environment = {
        "OMP_NUM_THREADS": str(arguments.threads),
        "OMP_PROC_BIND": "true",
        "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
    }
    return run(command, limit=arguments.timeout, environment=environment).stdout


def _model(grid: Grid, sizes: dict[str, int], arguments: argparse.Namespace) -> tuple[Scop, list[int]]:
    """The region of a kernel, and its tiles per wavefront."""
    path = grid.source
    (region,) = read_source(str(path), [arguments.cc], ["-I", str(KERNELS)]).regions
    if not isinstance(region, Region):
        raise Failure(region.diagnostic.message)
    given = iter(shlex.split(arguments.options))
    options = Options().with_settings({name.removeprefix("--"): next(given) for name in given})
    live = live_after(region)
    whole = extract_scop(region)
    allocates = options.contract_arrays == "on"
    scop = fold_copies(whole, live, region.visible.may_mean_something(), allocates=allocates)
    scop = split_index_sets(split_residue_classes(scop), live, region.visible.symbols)
    context = CompileContext().with_options(options)
    mapping = choose_mapping(scop, compute_dependences(scop, live), context)
    pairs = {mark for mark, each in mapping.directives.items() if each.shared > 1}
    return whole, tiles_per_wavefront(mapping.schedule, sizes, pairs)


def _traffic(scop: Scop, sizes: dict[str, int]) -> tuple[int, int]:
    """Bytes that a time step moves if each array it reads or writes goes by once, and bytes of all arrays."""
    moved = held = 0
    for array in scop.arrays:
        if not isinstance(array.element, FloatingType | IntegerType) or not array.extents:
            continue
        everything = 0
        for kinds in ((AccessKind.READ,), (AccessKind.WRITE, AccessKind.MAY_WRITE)):
            boxes = [0]
            for kind in kinds:
                for relation in maps_of(scop.accesses(kind)):
                    if relation.get_tuple_name(isl.dim_type.out) == array.name:
                        step = relation.fix_val(isl.dim_type.in_, 0, isl.Val(1))
                        boxes.append(_box(step.range(), sizes))
                        everything = max(everything, _box(relation.range(), sizes))
            moved += max(boxes) * bytes_of_element(array)
        held += everything * bytes_of_element(array)
    return moved, held


def _box(elements: isl.Set, sizes: dict[str, int]) -> int:
    for dim in range(elements.dim(isl.dim_type.param)):
        name = elements.get_dim_name(isl.dim_type.param, dim)
        elements = elements.fix_val(isl.dim_type.param, dim, isl.Val(sizes[name]))
    return math.prod(
        elements.dim_max_val(dim).to_python() - elements.dim_min_val(dim).to_python() + 1
        for dim in range(elements.dim(isl.dim_type.set))
    )


if __name__ == "__main__":
    sys.exit(main())
