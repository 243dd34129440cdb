"""Products, stencils and launches in several forms on a GPU: ``python -m benchmarks.gpu.forms``.

Prepares a folder, and runs what is in it with ``time_forms.py``, which needs Python, gcc and nvcc alone. A
problem is a kernel in the manner of tests/kernels; its forms are what the compiler makes of it with options
of all kinds: the choice of the device's model, and candidates beside it. Each form is compared with the
original at small sizes, to the bit, and timed at large ones, kernels alone:

- products: plain, initialised, transposed, with a scalar, symmetric, triangular, batched, a convolution, in
  floats and doubles, beside cuBLAS and the variants by hand of ``products.cu``;
- stencils: those of ``stencils.py`` with a kernel a step, by the steps of table 4 of the thesis, in one
  launch, and with other tiles;
- launches: kernels of tests/kernels with many short launches, one by one and together.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.gpu.products import VARIANTS
from benchmarks.gpu.stencils import FORMS, STENCILS, TILES, Stencil
from polybuild.diagnostics import PolybuildError
from polybuild.driver.file import compile_source
from polybuild.options import Options
from polybuild.targets.gpu.nvcc import find_nvcc, usage_of

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
KERNELS = ROOT / "tests" / "kernels"
MODEL = "the model's"
"""The form with nothing said by hand."""
STEPS = 100
GIGAFLOPS, NANOSECONDS = "GFLOP/s", "ns a point and step"


@dataclass(frozen=True, slots=True)
class Problem:
    """A kernel: its ``text`` in the manner of tests/kernels, and what is made of it.

    ``forms`` are settings of the compiler by titles. ``checked`` are the sizes that results are compared at,
    ``timed`` those that it is timed at, with the ``work`` of each: operations, or points times steps, in the
    ``unit`` of the table. ``cublas`` is what ``cublas.cu`` calls it. ``whole`` numbers make sums exact in any
    order, the arrays of ``kept`` ones stay on the device from run to run.
    """

    name: str
    group: str
    text: str
    forms: Mapping[str, Mapping[str, str]]
    checked: Sequence[Sequence[int]]
    timed: Sequence[Sequence[int]]
    work: Sequence[float]
    unit: str
    flags: Sequence[str]
    cublas: Sequence[str] = ()
    whole: bool = False
    kept: bool = True


_PRODUCT = """\
#include "driver.h"
static void product(int n, int count, REAL ARRAYS)
{
  (void)count;
#pragma scop
LOOPS
#pragma endscop
}
static void run(const int *size)
{
  int n = size[0];
  void *A = new_REALs("A", COUNT_A), *B = new_REALs("B", COUNT_B), *C = new_REALs("C", COUNT_C);
  timer_start();
  product(n, 536870912 / n / n / n, A, B, C);
  timer_stop();
}
const struct kernel kernel = {"NAME", "n", {4096}, run};
"""
_SQUARE = "A[restrict n][n], REAL B[restrict n][n], REAL C[restrict n][n]"
_ALL = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)"


@dataclass(frozen=True, slots=True)
class _Product:
    """Loops over arrays, with the number of ``operations`` at n."""

    loops: str
    cublas: str = ""
    arrays: str = _SQUARE
    counts: tuple[str, str, str] = ("(size_t)n * n",) * 3
    operations: str = "2 * n**3"
    sizes: tuple[int, ...] = (4096,)
    checked: tuple[int, ...] = (150, 67)

    def text(self, name: str, real: str) -> str:
        """The whole program for one type."""
        text = _PRODUCT.replace("ARRAYS", self.arrays).replace("LOOPS", self.loops).replace("NAME", name)
        for letter, count in zip("ABC", self.counts, strict=True):
            text = text.replace(f"COUNT_{letter}", count)
        return text.replace("REAL", real)


_BATCH = "(size_t)(536870912 / n / n / n) * n * n"
_IMAGES = 32
_CONVOLUTION = f"""\
  for (int b = 0; b < {_IMAGES}; b++) for (int f = 0; f < 64; f++)
    for (int y = 0; y < n; y++) for (int x = 0; x < n; x++) {{
      C[b][f][y][x] = 0;
      for (int c = 0; c < 64; c++) for (int dy = 0; dy < 3; dy++) for (int dx = 0; dx < 3; dx++)
        C[b][f][y][x] += A[b][c][y + dy][x + dx] * B[f][c][dy][dx];
    }}"""
PRODUCTS = {
    "gemm": _Product(
        f"{_ALL} for (int k = 0; k < n; k++) C[i][j] += A[i][k] * B[k][j];", "gemm", sizes=(4096, 1000, 2047)
    ),
    "initialised": _Product(
        f"{_ALL} {{ C[i][j] = 0; for (int k = 0; k < n; k++) C[i][j] += A[i][k] * B[k][j]; }}", "gemm"
    ),
    "scalar": _Product(
        f"{_ALL} {{ REAL sum = 0; for (int k = 0; k < n; k++) sum += A[i][k] * B[k][j]; C[i][j] = sum; }}",
        "gemm",
    ),
    "tn": _Product(f"{_ALL} for (int k = 0; k < n; k++) C[i][j] += A[k][i] * B[k][j];", "tn"),
    "nt": _Product(f"{_ALL} for (int k = 0; k < n; k++) C[i][j] += A[i][k] * B[j][k];", "nt"),
    "syrk": _Product(
        "for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++) for (int k = 0; k < n; k++)"
        " C[i][j] += A[i][k] * A[j][k];",
        "syrk",
        operations="n**2 * (n + 1)",
    ),
    "trmm": _Product(
        f"{_ALL} for (int k = 0; k <= i; k++) C[i][j] += A[i][k] * B[k][j];",
        "trmm",
        operations="n**2 * (n + 1)",
    ),
    "batched": _Product(
        "for (int b = 0; b < count; b++) for (int i = 0; i < n; i++)"
        " for (int j = 0; j < n; j++) for (int k = 0; k < n; k++)"
        " C[b][i][j] += A[b][i][k] * B[b][k][j];",
        "batched",
        "A[restrict][n][n], REAL B[restrict][n][n], REAL C[restrict][n][n]",
        (_BATCH,) * 3,
        "2 * (2**29 // n**3) * n**3",
        (64, 100),
        (150, 290),
    ),
    "convolution": _Product(
        _CONVOLUTION,
        "",
        f"A[restrict {_IMAGES}][64][n + 2][n + 2], REAL B[restrict 64][64][3][3],"
        f" REAL C[restrict {_IMAGES}][64][n][n]",
        (f"(size_t){_IMAGES} * 64 * (n + 2) * (n + 2)", "64 * 64 * 9", f"(size_t){_IMAGES} * 64 * n * n"),
        f"2 * {_IMAGES} * 64 * 64 * 9 * n**2",
        (56,),
        (9, 5),
    ),
}
_CANDIDATES = {
    "float": (
        "128,128,16 16,16",
        "128,128,8 16,16",
        "64,128,16 8,16",
        "64,128,16 16,16",
        "128,64,16 16,16",
        "128,64,16 16,8",
        "64,64,16 16,16",
        "64,64,16 8,8",
    ),
    "double": (
        "128,128,8 16,16",
        "64,128,8 8,16",
        "128,64,8 16,8",
        "64,64,16 8,8",
        "64,64,8 8,16",
        "64,64,16 16,16",
    ),
}
"""Tiles and blocks of products."""
_FEW = {
    "float": ("128,128,16 16,16", "64,64,16 16,16"),
    "double": ("64,128,8 8,16", "64,64,8 16,16"),
}
"""Those of what is not the plain product."""
_MATRICES = (
    "128,128,8 16,16",
    "64,128,8 8,16",
    "128,64,8 16,8",
    "64,64,8 8,8",
    "128,64,8 16,16",
    "64,64,8 16,16",
    "64,64,16 16,16",
)
"""Those of products of doubles by matrix instructions."""
_STENCIL_TILES = {
    2: ("8,16,128 4,128", "16,32,256 4,128", "8,64,64 8,64"),
    3: ("4,8,8,32 2,8,32", "4,4,8,64 1,4,64"),
}
_SHORT = {
    "lu": (2000,),
    "gramschmidt": (600, 500),
    "floyd-warshall": (600,),
    "cholesky": (2000,),
    "trisolv": (4000,),
    "seidel-2d": (1000, 50),
}
"""Kernels of many launches, with sizes."""


def products() -> Iterator[Problem]:
    """All products, in both types."""
    for real in ("float", "double"):
        for name, each in PRODUCTS.items():
            candidates = _CANDIDATES[real] if name == "gemm" else _FEW[real]
            ahead = "1," if name == "batched" else ""
            forms: dict[str, dict[str, str]] = {MODEL: {}}
            for candidate in candidates if name != "convolution" else ():
                tile, block = candidate.split()
                forms[candidate] = {"tile_sizes": ahead + tile, "block_sizes": ahead + block}
            if real == "double":
                leave = {"allow_reassociation": "on"}
                forms[f"{MODEL}, reordered"] = leave
                for candidate in _MATRICES if name == "gemm" else ():
                    tile, block = candidate.split()
                    forms[f"{candidate}, reordered"] = {**leave, "tile_sizes": tile, "block_sizes": block}
            work = [float(eval(each.operations, {"n": n})) for n in each.sizes]  # noqa: S307 - ours
            title = f"{name}-{real}"
            yield Problem(
                title,
                "products",
                each.text(title, real),
                forms,
                [(n,) for n in each.checked],
                [(n,) for n in each.sizes],
                work,
                GIGAFLOPS,
                ("-O3",),
                (each.cublas, real) if each.cublas else (),
                whole=True,
            )


_STENCIL = """\
#include "driver.h"
static void stencil(int n, int steps, float u[restrict 2]SPACE, float h[restrict n][n])
{
  (void)h;
#pragma scop
  for (int t = 0; t < steps; t++) {
STEP
  }
#pragma endscop
}
static void run(const int *size)
{
  int n = size[0];
  void *h = new_floats("h", (size_t)n * n), *u = new_floats("u", 2 * COUNT);
  timer_start();
  stencil(n, size[1], u, h);
  timer_stop();
}
const struct kernel kernel = {"NAME", "n steps", {1000, 100}, run};
"""


def _stencil_text(name: str, stencil: Stencil) -> str:
    text = _STENCIL.replace("SPACE", "[n]" * stencil.dims).replace("STEP", stencil.step)
    return text.replace("COUNT", " * ".join(["(size_t)n"] * stencil.dims)).replace("NAME", name)


def stencils() -> Iterator[Problem]:
    """All stencils, by the steps of table 4 and with other tiles."""
    for name, stencil in STENCILS.items():
        tiles, blocks = TILES[stencil.dims]
        forms: dict[str, dict[str, str]] = {MODEL: {}, f"{MODEL}, together": {"device_launches": "together"}}
        forms["kernel a step, usual tiles"] = {"tile_shape": "rectangular"}
        for title, (steps, launches) in FORMS.items():
            over_time = {"tile_shape": "hybrid", "tile_sizes": tiles, "device_tiles": steps or ""}
            own = {"tile_shape": "rectangular", "tile_sizes": blocks} if steps is None else over_time
            forms[title] = {**own, "block_sizes": blocks, "device_launches": launches}
        static, _ = FORMS["(e) reuse (static)"]
        for candidate in _STENCIL_TILES[stencil.dims]:
            tile, block = candidate.split()
            forms[f"(e) {candidate}"] = {
                "tile_shape": "hybrid",
                "tile_sizes": tile,
                "block_sizes": block,
                "device_tiles": static or "",
            }
        n = 8192 if stencil.dims == 2 else 512
        yield Problem(
            name,
            "stencils",
            _stencil_text(name, stencil),
            forms,
            [(97, 13), (40, 24)] if stencil.dims == 2 else [(35, 13), (21, 8)],
            [(n, STEPS)],
            [float(n**stencil.dims * STEPS)],
            NANOSECONDS,
            ("-O3", "-ffp-contract=off"),
        )


def launches() -> Iterator[Problem]:
    """Kernels with loops of the host around short kernels."""
    forms = {"one by one": {"device_launches": "each"}, "together": {"device_launches": "together"}}
    for name, sizes in _SHORT.items():
        text = (KERNELS / f"{name}.c").read_text(encoding="utf-8")
        small = [tuple(size // 40 + 7 for size in sizes)]
        yield Problem(
            f"{name}-launches",
            "launches",
            text,
            forms,
            small,
            [sizes],
            [1e-3],
            "us",
            ("-O3", "-ffp-contract=off"),
            kept=False,
        )


def problems() -> list[Problem]:
    """All of them."""
    return [*products(), *stencils(), *launches()]


def main() -> int:
    """Prepare and run; the exit code is that of the run, or 1 if a form could not be made."""
    known = problems()
    parser = argparse.ArgumentParser("python -m benchmarks.gpu.forms", description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="where to build; what is prepared there already is kept")
    parser.add_argument("--prepare", action="store_true", help="write the folder, do not run it")
    parser.add_argument(
        "--only", default="", metavar="A,B", help="names or groups of problems: products, stencils, launches"
    )
    parser.add_argument("--forms", default="", metavar="REGEX", help="only forms whose title it is found in")
    parser.add_argument("--nvcc", default=find_nvcc() or "", metavar="PATH", help="the compiler of kernels")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="at a time")
    arguments, others = parser.parse_known_args()
    wanted = [each for each in arguments.only.split(",") if each]
    unknown = set(wanted) - {word for each in known for word in (each.name, each.group)}
    if unknown:
        parser.error(f"no such problem: {', '.join(sorted(unknown))}")
    chosen = [each for each in known if not wanted or {each.name, each.group} & set(wanted)]
    made = prepare(arguments.folder, chosen, arguments.nvcc, arguments.forms, arguments.jobs)
    if arguments.prepare:
        return 0 if made else 1
    command = [sys.executable, "time_forms.py", *others, *(each.name for each in chosen)]
    done = subprocess.run(command, check=False, cwd=arguments.folder).returncode
    return done or (0 if made else 1)


def prepare(folder: Path, chosen: Sequence[Problem], nvcc: str, pattern: str, jobs: int) -> bool:
    """Write everything that ``time_forms.py`` needs; whether all forms could be made."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("time_forms.py", "forms.c", "cublas.cu", "products.cu", "products_main.cu"):
        shutil.copy(HERE / name, folder)
    shutil.copy(KERNELS / "driver.h", folder)
    shutil.copytree(ROOT / "polybuild" / "runtime", folder / "runtime", dirs_exist_ok=True)
    (folder / "variants.json").write_text(json.dumps(VARIANTS), encoding="utf-8")
    right = True
    with ProcessPoolExecutor(jobs) as pool:
        waiting = []
        for problem in chosen:
            own = folder / problem.name
            if (own / "problem.json").exists():
                continue
            own.mkdir(exist_ok=True)
            source = own / "0.c"
            source.write_text(problem.text, encoding="utf-8")
            titles = [each for each in problem.forms if re.search(pattern, each)]
            forms = [
                pool.submit(_form, source, number, problem.forms[title], problem.flags, nvcc)
                for number, title in enumerate(titles, 1)
            ]
            waiting.append((problem, titles, forms))
        for order, (problem, titles, forms) in enumerate(waiting):
            made = {
                title: {"number": number, **form.result()}
                for number, (title, form) in enumerate(zip(titles, forms, strict=True), 1)
            }
            described = {
                name: getattr(problem, name)
                for name in ("group", "checked", "timed", "work", "unit", "flags", "cublas", "whole", "kept")
            }
            text = json.dumps({"order": order, **described, "forms": made}, indent=1)
            (folder / problem.name / "problem.json").write_text(text, encoding="utf-8")
            missing = [f"{title}: {each['missing']}" for title, each in made.items() if each["missing"]]
            right = right and not missing
            print(f"{problem.name:24} {len(made) - len(missing)} forms", *missing, sep="\n    ", flush=True)
    return right


def _form(
    source: Path, number: int, settings: Mapping[str, str], flags: Sequence[str], nvcc: str
) -> dict[str, Any]:
    """Make one form: why it is missing, and what a thread and a block of its largest kernel take."""
    target, log = source.with_name(f"{number}.c"), source.with_name(f"{number}.log")
    script = source.with_name(f"nvcc-{number}")
    script.write_text(
        f'#!/bin/sh\n{shlex.quote(nvcc)} "$@" 2>{shlex.quote(str(log.absolute()))}\ncode=$?\n'
        f"cat {shlex.quote(str(log.absolute()))} >&2\nexit $code\n",
        encoding="utf-8",
    )
    script.chmod(0o755)
    options = Options().with_settings(
        {"backend": "cuda", "min_work": "0", "cuda_arch": "90", "nvcc": str(script), **settings}
    )
    missing = ""
    try:
        result = compile_source(str(source), options, ["gcc"], [*flags, "-I", str(KERNELS)])
    except PolybuildError as error:
        return {"missing": str(error), "usage": None, "told": []}
    told = [each for region in result.regions for each in [region.message, *region.remarks] if each]
    if not any(region.backend == "cuda" for region in result.regions):
        missing = "; ".join(told) or "no kernels"
    target.write_text(result.text, encoding="utf-8")
    usage = None
    if log.exists():
        found = usage_of(log.read_text(encoding="utf-8"))
        usage = [max((getattr(each, what) for each in found), default=0) for what in _USAGE]
        log.unlink()
    script.unlink()
    return {"missing": missing, "usage": usage, "told": told}


_USAGE = ("registers", "shared", "spills")

if __name__ == "__main__":
    sys.exit(main())
