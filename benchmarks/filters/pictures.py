"""Filters of pictures beside Halide: the kernels of pictures.c, their sizes, and the comparison."""

from __future__ import annotations

import importlib.util
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from polybuild.driver.file import compile_source
from polybuild.options import Options

_KERNELS = Path(__file__).with_name("pictures.c")
_FLAGS = ("-O3", "-march=native", "-fopenmp", "-w")
_WEIGHTS = 32 * 32 * 9
_SECONDS = 0.4
# As far as sums in another order may lie apart, relative to the largest result.
_TOLERANCE = 1e-5

Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Picture:
    """A kernel, the size of its result, and the shapes of what it works on."""

    name: str
    height: int
    width: int
    element: str
    image: Callable[[int, int], Shape]
    out: Callable[[int, int], Shape] = lambda h, w: (h, w)
    weights: Shape = (1,)

    def shape(self) -> tuple[Shape, Shape]:
        """What comes in and out."""
        return self.image(self.height, self.width), self.out(self.height, self.width)


PICTURES = (
    Picture("separable", 2400, 3600, "float32", lambda h, w: (h + 8, w + 8), weights=(9,)),
    Picture("sobel", 3000, 4000, "uint8", lambda h, w: (h + 2, w + 2)),
    Picture("unsharp", 3000, 4000, "uint8", lambda h, w: (h + 2, w + 2)),
    Picture("harris", 2400, 3600, "float32", lambda h, w: (h + 4, w + 4)),
    Picture(
        "layer",
        56,
        56,
        "float32",
        lambda h, w: (32, h + 2, w + 2),
        lambda h, w: (32, h, w),
        weights=(32, 32, 3, 3),
    ),
    Picture("pyramid", 375, 500, "uint8", lambda h, w: (8 * h, 8 * w)),
)


def compare(compiler: str, threads: Sequence[int], runs: int, names: Sequence[str]) -> int:
    """Print the times of the compiler alone, of the transformed loops, and of Halide; 1 if results differ."""
    found = importlib.util.find_spec("halide")
    if found is None or found.origin is None:
        raise SystemExit("Halide is not installed: pip install halide")
    libraries = Path(found.origin).parent / "lib64"
    failures = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        programs = _build(folder, compiler)
        print(
            f"{'kernel':10} {'thr.':>4} {'alone ms':>9} {'ours ms':>9} {'Halide ms':>9} {'Halide/ours':>11}"
        )
        for count in threads:
            shares = []
            for picture in (each for each in PICTURES if not names or each.name in names):
                _write_data(folder, picture)
                times = _measure(folder, picture, programs, libraries, threads=count, runs=runs)
                shares.append(times["halide"] / times["ours"])
                wrong = _differ(folder, picture)
                failures += wrong
                columns = " ".join(f"{1e3 * each:9.3f}" for each in times.values())
                row = f"{picture.name:10} {count:4} {columns} {shares[-1]:11.2f}"
                print(row, "WRONG" * wrong, flush=True)
            mean = math.exp(statistics.fmean(map(math.log, shares)))
            print(f"geometric mean, {count} threads: {mean:.2f}, lowest {min(shares):.2f}", flush=True)
    return 1 if failures else 0


def _measure(
    folder: Path,
    picture: Picture,
    programs: dict[str, Path],
    libraries: Path,
    *,
    threads: int,
    runs: int,
) -> dict[str, float]:
    """The medians of runs in turn, in seconds."""
    times: dict[str, list[float]] = {each: [] for each in ("alone", "ours", "halide")}
    for _ in range(runs):
        for name, seconds in times.items():
            command = _command(folder, picture, name, programs, threads)
            seconds.append(_run(command, threads, libraries))
    return {name: statistics.median(seconds) for name, seconds in times.items()}


def _build(folder: Path, compiler: str) -> dict[str, Path]:
    """The kernels compiled as they are, and transformed."""
    result = compile_source(str(_KERNELS), Options(), [compiler], list(_FLAGS))
    programs = {}
    for name, text in (("alone", _KERNELS.read_text()), ("ours", result.text)):
        source, programs[name] = folder / f"{name}.c", folder / f"{name}.exe"
        source.write_text(text)
        subprocess.run([compiler, *_FLAGS, str(source), "-o", str(programs[name])], check=True)
    return programs


def _write_data(folder: Path, picture: Picture) -> None:
    count = math.prod(picture.shape()[0])
    numbers = random.Random(1)  # noqa: S311 - a picture of noise
    if picture.element == "uint8":
        (folder / "in").write_bytes(numbers.randbytes(count))
    else:
        (folder / "in").write_bytes(array("f", (numbers.random() for _ in range(count))).tobytes())
    weights = array("f", (numbers.random() - 0.3 for _ in range(_WEIGHTS)))
    (folder / "weights").write_bytes(weights.tobytes())


def _command(folder: Path, picture: Picture, name: str, programs: dict[str, Path], threads: int) -> list[str]:
    image, weights, out = (str(folder / each) for each in ("in", "weights", f"{name}.out"))
    size = [picture.name, str(picture.height), str(picture.width)]
    if name == "halide":
        module = "benchmarks.filters.halide_peer"
        return [sys.executable, "-m", module, *size, image, weights, out, str(_SECONDS), str(threads)]
    element = 4 if picture.element == "float32" else 1
    before, after = (str(element * math.prod(each)) for each in picture.shape())
    return [str(programs[name]), *size, image, before, weights, out, after, str(_SECONDS)]


def _run(command: list[str], threads: int, libraries: Path) -> float:
    paths = [str(libraries), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])]
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": str(threads),
        "HL_NUM_THREADS": str(threads),
        "LD_LIBRARY_PATH": os.pathsep.join(paths),
    }
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return float(done.stdout.split()[-1])  # Halide may warn before


def _differ(folder: Path, picture: Picture) -> bool:
    """Whether results lie further apart than another order of sums explains; those of bytes must be equal."""
    alone, *others = (array("f" if picture.element == "float32" else "B") for _ in range(3))
    for each, name in zip((alone, *others), ("alone", "ours", "halide"), strict=True):
        each.frombytes((folder / f"{name}.out").read_bytes())
    limit = _TOLERANCE * max(map(abs, alone)) if picture.element == "float32" else 0
    return any(abs(a - b) > limit for other in others for a, b in zip(alone, other, strict=True))
