"""What stencils ask of a GPU's memory: ``python -m benchmarks.gpu.stencils``, under emulation, without a GPU.

The seven stencils of the thesis (table 3), in single precision, with a kernel for each step and in tiles
over time of about the sizes of its section 5.3, by the steps of its table 4 (``--device-tiles``), with all
phases in one launch (``--device-launches together``), and in rectangles that overlap. A table has, for each
point and step, how many sectors of 32 bytes go to and from memory and how often shared memory is accessed,
and how many kernels are launched and how often the threads of a block meet for each step. Sectors are counted
request by request: what caches hold counts, too. Where there is nvcc, it also has registers of a thread,
bytes of shared memory of a block, and the part of its threads that a multiprocessor holds. The exit code is
0 if all results are those of the program as it was written, at four sizes, each in an order of its own, odd
numbers of steps too.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.cpu.processes import run
from benchmarks.gpu.programs import FLAGS, LIBRARIES, build_runtime, variables
from polybuild.driver.file import compile_source
from polybuild.machine.model import Machine
from polybuild.options import OVERLAPPED, Options
from polybuild.targets.gpu.nvcc import build_image, find_nvcc
from polybuild.targets.gpu.occupancy import occupancy
from tests.emulator.stand_ins import ORDERS, StandIns, build

LIMIT = 3600.0
"""Seconds for each run: the emulator looks at each access, and a busy machine is slow."""
_HEAD = re.compile(r"__launch_bounds__\((\d+)[^)]*\) (\w+)\(")
_SHARED = "shared-memory"
_INTERLEAVED = f"{_SHARED},interleaved-copy-out"
_ALIGNED = f"{_INTERLEAVED},aligned-loads"
_STATIC = f"{_ALIGNED},static-reuse"
FORMS: Mapping[str, tuple[str | None, str]] = {
    "kernel a step": (None, "each"),
    "(a) no shared memory": ("", "each"),
    "(b) shared memory": (_SHARED, "each"),
    "(c) interleave copy-out": (_INTERLEAVED, "each"),
    "(d) align loads": (_ALIGNED, "each"),
    "(e) reuse (static)": (_STATIC, "each"),
    "(f) reuse (dynamic)": (f"{_ALIGNED},dynamic-reuse", "each"),
    "(e) and full tiles": (f"{_STATIC},full-tiles", "each"),
    "(e) in one launch": (_STATIC, "together"),
    OVERLAPPED: ("", "each"),
}
"""The values of ``device_tiles``, None for none over time, and of ``device_launches``."""
TILES = {2: ("6,16,32", "10,32"), 3: ("6,12,8,32", "1,8,32")}
"""Tiles, time first, and threads, by the dimensions of space (the thesis: h = 2, w = 7, 10, 32).

In space they are so small that shared memory of 48 KiB holds the boxes of a tile.
"""
RECTANGLES = {2: "4,32,64", 3: "2,8,8,32"}
"""Those of tiles that overlap: the largest that shared memory holds."""


@dataclass(frozen=True, slots=True)
class Stencil:
    """``dims`` dimensions of space; ``value`` is the new value of a point of ``u``, empty for ``fdtd``."""

    dims: int
    value: str = ""

    @property
    def step(self) -> str:
        """The loops of one step."""
        if not self.value:
            return _FDTD
        names = "ijk"[: self.dims]
        loops = "".join(f"for (int {name} = 1; {name} < n - 1; {name}++) " for name in names)
        place = "".join(f"[{name}]" for name in names)
        return f"{loops}u[(t + 1) % 2]{place} = {self.value};"


def _at(*offsets: int) -> str:
    """The point so far from that of the loops."""
    return "u[t % 2]" + "".join(f"[{name} + {each}]" for name, each in zip("ijk", offsets, strict=False))


def _neighbours(dims: int) -> list[str]:
    places = [tuple(sign * (dim == at) for dim in range(dims)) for at in range(dims) for sign in (-1, 1)]
    return [_at(*each) for each in places]


def _gradient(dims: int) -> str:
    centre = _at(*[0] * dims)
    squares = " + ".join(f"({centre} - {each}) * ({centre} - {each})" for each in _neighbours(dims))
    return f"{centre} + 1.0f / (0.0001f + {squares})"


def _heat(dims: int) -> str:
    places = [(a, b, c) for a in (-1, 0, 1) for b in (-1, 0, 1) for c in ((-1, 0, 1) if dims == 3 else (0,))]
    return f"0.03f * ({' + '.join(_at(*each[:dims]) for each in places)})"


def _laplacian(dims: int) -> str:
    return f"0.5f * {_at(*[0] * dims)} + 0.1f * ({' + '.join(_neighbours(dims))})"


_FDTD = """\
for (int j = 0; j < n; j++) u[0][0][j] = t;
for (int i = 1; i < n; i++) for (int j = 0; j < n; j++) u[0][i][j] -= 0.5f * (h[i][j] - h[i - 1][j]);
for (int i = 0; i < n; i++) for (int j = 1; j < n; j++) u[1][i][j] -= 0.5f * (h[i][j] - h[i][j - 1]);
for (int i = 0; i < n - 1; i++) for (int j = 0; j < n - 1; j++)
  h[i][j] -= 0.7f * (u[1][i][j + 1] - u[1][i][j] + u[0][i + 1][j] - u[0][i][j]);"""
STENCILS = {
    "laplacian-2d": Stencil(2, _laplacian(2)),
    "heat-2d": Stencil(2, _heat(2)),
    "gradient-2d": Stencil(2, _gradient(2)),
    "fdtd-2d": Stencil(2),
    "laplacian-3d": Stencil(3, _laplacian(3)),
    "heat-3d": Stencil(3, _heat(3)),
    "gradient-3d": Stencil(3, _gradient(3)),
}
_PROGRAM = """\
#include <stdio.h>
#include <stdlib.h>
static void run(int n, int steps, float u[restrict 2]SPACE, float h[restrict n][n])
{
  (void)h;
#pragma scop
  for (int t = 0; t < steps; t++) {
STEP
  }
#pragma endscop
}
int main(int argc, char **argv)
{
  int n = atoi(argv[1]), steps = atoi(argv[2]);
  size_t size = 2, all;
  for (int dim = 0; dim < DIMS; dim++) size *= n;
  all = size + (size_t)n * n;
  float *data = malloc(all * sizeof *data);
  for (size_t k = 0; k < all; k++) data[k] = (float)(k * 2654435761u % 1000) / 700;
  run(n, steps, (void *)data, (void *)(data + size));
  unsigned long long hash = 14695981039346656037ull;
  for (size_t k = 0; k < all * sizeof *data; k++)
    hash = (hash ^ ((unsigned char *)data)[k]) * 1099511628211ull;
  printf("%llx\\n", hash);
  free(data);
  return argc - 3;
}
"""


def program(stencil: Stencil) -> str:
    """A program that takes the size of the grid and the number of steps, and prints a hash of the grid."""
    text = _PROGRAM.replace("SPACE", "[n]" * stencil.dims).replace("DIMS", str(stencil.dims))
    return text.replace("STEP", stencil.step)


@dataclass(frozen=True, slots=True)
class Counts:
    """What the kernels of a run did, for each step and, but for launches and barriers, each point."""

    launches: float
    barriers: float
    sectors: float
    shared: float
    usage: tuple[int, int, float] | None = None

    @property
    def row(self) -> str:
        """The columns of the table."""
        counted = f"{self.launches:9.2f} {self.barriers:9.1f} {self.sectors:9.3f} {self.shared:9.3f}"
        if self.usage is None:
            return counted
        registers, shared, held = self.usage
        return f"{counted} {registers:9} {shared:9} {held:9.2f}"

    @classmethod
    def of(cls, report: Mapping[str, Any], points: int, steps: int) -> Counts:
        """From the emulator's ``report``."""
        kernels = report["kernels"].values()

        def total(kind: str, what: str) -> float:
            return float(sum(each[f"{kind}_{way}"][what] for each in kernels for way in ("reads", "writes")))

        return cls(
            sum(each["launches"] for each in kernels) / steps,
            sum(each["barriers"] for each in kernels) / steps,
            total("global", "sectors") / points / steps,
            total("shared", "accesses") / points / steps,
        )


def usage_on(kernels: Path, nvcc: str | None, launched: Sequence[str]) -> tuple[int, int, float] | None:
    """Registers, shared bytes and occupancy of the ``launched`` ones of ``kernels``: the worst of each."""
    if nvcc is None:
        return None
    text = kernels.read_text(encoding="utf-8")
    threads = {name: int(count) for count, name in _HEAD.findall(text)}
    image = build_image(text, nvcc, (90,), contract=False)
    own = [each for each in image.usage if each.kernel in launched]
    held = (occupancy(Machine(), threads[each.kernel], each.registers, each.shared) for each in own)
    return max(each.registers for each in own), max(each.shared for each in own), min(held)


@dataclass(frozen=True, slots=True)
class Workshop:
    """Where programs are made and run: ``sizes`` are of the grid, by its dimensions."""

    folder: Path
    stand_ins: StandIns
    runtime: Path
    sizes: Mapping[int, int]
    steps: int
    nvcc: str | None

    def counts(self, name: str, form: str) -> Counts | None:
        """What one form of a stencil does; None if its results are wrong or it is no kernel."""
        stencil = STENCILS[name]
        source = self.folder / f"{name}.c"
        source.write_text(program(stencil), encoding="utf-8")
        tiles, blocks = TILES[stencil.dims]
        steps, launches = FORMS[form]
        settings = {"backend": "cuda", "min_work": "0", "block_sizes": blocks}
        settings |= (
            {"tile_shape": "rectangular", "tile_sizes": blocks}
            if steps is None
            else {"tile_shape": "hybrid", "tile_sizes": tiles, "device_tiles": steps}
        )
        if form == OVERLAPPED:
            settings |= {"tile_shape": OVERLAPPED, "tile_sizes": RECTANGLES[stencil.dims]}
        settings["device_launches"] = launches
        kept = self.folder / f"{name}.cu"
        with variables(NVCC=self.stand_ins.nvcc, POLYBUILD_EMULATOR_KEEP=str(kept)):
            result = compile_source(str(source), Options().with_settings(settings), ["gcc"], FLAGS)
        made = self.folder / f"{name}-transformed.c"
        made.write_text(result.text, encoding="utf-8")
        size = self.sizes[stencil.dims]
        program_, original = str(self._built(made, str(self.runtime))), str(self._built(source))
        for order, sizes in self._runs(size):
            expected = run([original, *sizes], limit=LIMIT).stdout
            environment = self.stand_ins.environment(order=order)
            if run([program_, *sizes], limit=LIMIT, environment=environment).stdout != expected:
                return None
        report = self.stand_ins.report([program_, str(size), str(self.steps)], limit=LIMIT)
        if not report["kernels"]:
            return None
        launched = [each for each, counts in report["kernels"].items() if counts["launches"]]
        usage = usage_on(kept, self.nvcc, launched)
        return replace(Counts.of(report, size**stencil.dims, self.steps), usage=usage)

    def _runs(self, size: int) -> list[tuple[str, list[str]]]:
        """Orders of blocks and threads, and the size of the grid and the number of steps for each."""
        sizes = ((size, self.steps), (size // 2 + 1, 13), (size // 3, 7), (5, 3))
        return [(order, list(map(str, each))) for order, each in zip(ORDERS, sizes, strict=True)]

    def _built(self, source: Path, *more: str) -> Path:
        made = source.with_suffix("")
        run(["gcc", *FLAGS, str(source), *more, *LIBRARIES, "-o", str(made)], limit=LIMIT)
        return made


def main() -> int:
    """Print the table; the exit code."""
    parser = argparse.ArgumentParser(
        "python -m benchmarks.gpu.stencils", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("stencils", nargs="*", choices=[[], *STENCILS], metavar="STENCIL", help="only these")
    parser.add_argument(
        "--form",
        dest="forms",
        action="append",
        choices=FORMS,
        metavar="FORM",
        help="only this, and others so named",
    )
    parser.add_argument("--plane", type=int, default=96, metavar="N", help="N by N points (96)")
    parser.add_argument("--space", type=int, default=48, metavar="N", help="N by N by N points (48)")
    parser.add_argument("--steps", type=int, default=24, metavar="N", help="steps over time (24)")
    request = parser.parse_args()
    wrong = 0
    nvcc = find_nvcc()
    heads = ("launches", "barriers", "sectors", "shared", "registers", "shared", "threads")
    units = ("a step", "a step", "a point", "a point", "", "bytes", "held")
    for words in (heads, units):
        print(f"{'':14} {'':23} {' '.join(f'{each:>9}' for each in words)}")
    with tempfile.TemporaryDirectory(prefix="polybuild-stencils-") as name:
        folder = Path(name)
        workshop = Workshop(
            folder,
            build(folder / "stand-ins"),
            build_runtime(folder),
            {2: request.plane, 3: request.space},
            request.steps,
            nvcc,
        )
        for stencil in request.stencils or STENCILS:
            for form in request.forms or FORMS:
                found = workshop.counts(stencil, form)
                wrong += found is None
                figures = "no right results" if found is None else found.row
                print(f"{stencil:14} {form:23} {figures}", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
