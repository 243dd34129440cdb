"""Products of polybuild's beside some by hand, by nvcc's code: ``python -m benchmarks.gpu.products``.

No GPU is needed. For each: the fused multiply-adds and the loads from shared memory in the text for the
assembler (PTX, in which loops are unrolled), how wide these are, multiply-adds for each 128 bits that are
loaded, and for sm_90 registers, bytes of shared memory and bytes spilled. Of matrix instructions each
thread has its share of the multiply-adds, and the loads are those beside them. Polybuild's own products
also run under emulation: how often their reads of shared memory pass over its banks, over the least that
could be. The exit code is 0 if polybuild's products of floats, and of doubles in another order, have 16
multiply-adds for each 128 bits, those of floats in loads of that width, if none of its products spills or
has conflicts in the banks, and if their results are those of the loops.

A product of doubles in its own order cannot have 16: with a by b results a thread loads (a + b) / 2 times
128 bits for a * b multiply-adds, so 16 by 16 results, twice the registers that a thread may have.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.cpu.processes import run
from benchmarks.gpu.programs import FLAGS, LIBRARIES, build_runtime
from polybuild.driver.file import compile_source
from polybuild.options import Options
from polybuild.targets.gpu.nvcc import KernelUsage, find_nvcc, usage_of
from tests.emulator.stand_ins import StandIns, build

LIMIT = 300.0

VARIANTS = {
    "4x4 apart, 16 steps": {"PER": 4, "RUN": 1, "DEPTH": 16, "STAGES": 1, "WHOLE": 0},
    "the same, whole tiles": {"PER": 4, "RUN": 1, "DEPTH": 16, "STAGES": 1, "WHOLE": 1},
    "4x4 in runs": {"PER": 4, "RUN": 4, "DEPTH": 16, "STAGES": 1, "WHOLE": 1},
    "8x8 in runs": {"PER": 8, "RUN": 4, "DEPTH": 8, "STAGES": 1, "WHOLE": 1},
    "8x8 in runs, two stages": {"PER": 8, "RUN": 4, "DEPTH": 8, "STAGES": 2, "WHOLE": 1},
}
"""By hand: the macros of ``products.cu``; doubles have runs of two, and 4 results along each loop, not 8."""
PROGRAM = """\
#include <stdio.h>
#include <stdlib.h>
static void product(int n, int m, int p, REAL A[restrict n][p], REAL B[restrict p][m], REAL C[restrict n][m])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int k = 0; k < p; k++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
int main(int argc, char **argv)
{
  int n = argc > 1 ? atoi(argv[1]) : 0;
  size_t all = (size_t)n * n;
  REAL *a = malloc(3 * all * sizeof *a), *b = a + all, *c = b + all, sum = 0;
  for (size_t k = 0; k < 3 * all; k++)
    a[k] = (REAL)(k * 37 % 11) - 5;
  product(n, n, n, (void *)a, (void *)b, (void *)c);
  for (size_t k = 0; k < all; k++)
    sum += c[k] * (REAL)(k % 7);
  printf("%a\\n", (double)sum);
  free(a);
  return 0;
}
"""
SIZE = 128
"""Rows and columns of the matrices under emulation, of whole numbers: their sums have one value."""
WANTED = 16.0
OWN = {
    "float, polybuild's": ("float", False),
    "double, polybuild's": ("double", False),
    "double, polybuild's, in another order": ("double", True),
}
"""The numbers of polybuild's products, and whether their sums may be reordered."""
_SHARES = {"m8n8k4": 8, "m16n8k4": 16}
"""The multiply-adds of a thread for a matrix instruction."""


@dataclass(frozen=True, slots=True)
class Counted:
    """What nvcc makes of a kernel: ``loads`` counts those from shared memory by their bits."""

    products: int
    loads: Counter[int]
    registers: int
    shared: int
    spills: int

    @property
    def ratio(self) -> float:
        """Multiply-adds for each 128 bits."""
        return 128 * self.products / max(1, sum(bits * count for bits, count in self.loads.items()))


def counted(source: Path, nvcc: str, macros: list[str]) -> Counted:
    """Compile the one kernel of ``source`` for sm_90."""
    common = [nvcc, "-O3", "-arch=sm_90", *macros, str(source)]
    text, image = source.with_suffix(".ptx"), source.with_suffix(".cubin")
    subprocess.run([*common, "-ptx", "-o", str(text)], check=True, capture_output=True, timeout=300)
    done = subprocess.run(
        [*common, "-cubin", "-Xptxas", "-v", "-o", str(image)],
        check=True,
        capture_output=True,
        text=True,
        timeout=300,
    )
    (usage,) = usage_of(done.stderr)
    code = text.read_text(encoding="utf-8")
    blocks = [each for each in re.split(r"^\$L\w+:", code, flags=re.MULTILINE) if "mma.sync" in each]
    return _in_text("".join(blocks) or code, usage)


def _in_text(text: str, usage: KernelUsage) -> Counted:
    found = re.findall(r"ld\.shared\.(?:v(\d)\.)?[a-z](\d+)", text)
    loads = Counter(int(count or 1) * int(bits) for count, bits in found)
    shares = sum(_SHARES[shape] for shape in re.findall(r"mma\.sync\.aligned\.(\w+)\.", text))
    products = shares or len(re.findall(r"fma\.rn\.f(?:32|64)", text))
    return Counted(products, loads, usage.registers, usage.shared, usage.spills)


@dataclass(frozen=True, slots=True)
class Workshop:
    """Where polybuild's products are made and run."""

    folder: Path
    stand_ins: StandIns
    runtime: Path

    def kernels(self, real: str, reordered: bool, nvcc: str) -> Path:
        """The kernel that polybuild makes of the product, in CUDA C."""
        kept, script = self.folder / f"{real}-{reordered}.cu", self.folder / "nvcc"
        script.write_text(
            f'#!/bin/sh\nfor each; do last="$each"; done\ncp "$last" {kept}\nexec {nvcc} "$@"\n'
        )
        script.chmod(0o755)
        self._transformed(real, reordered, str(script))
        return kept

    def conflicts(self, real: str, reordered: bool) -> float | None:
        """Passes over the banks for all reads of shared memory, over the fewest; None: wrong results."""
        made = self.folder / "transformed.c"
        made.write_text(self._transformed(real, reordered, self.stand_ins.nvcc), encoding="utf-8")
        original = self._built(self.folder / f"{real}.c")
        transformed = self._built(made, str(self.runtime))
        environment = self.stand_ins.environment()
        printed = [
            run([program, str(SIZE)], limit=LIMIT, environment=environment).stdout
            for program in (original, transformed)
        ]
        uses = [each["shared_reads"] for each in self._counted(transformed)]
        if printed[0] != printed[1] or not uses:
            return None
        return float(sum(each["wavefronts"] for each in uses) / sum(each["ideal"] for each in uses))

    def _counted(self, program: str) -> list[dict[str, Any]]:
        return list(self.stand_ins.report([program, str(SIZE)])["kernels"].values())

    def _transformed(self, real: str, reordered: bool, nvcc: str) -> str:
        source = self.folder / f"{real}.c"
        source.write_text(PROGRAM.replace("REAL", real), encoding="utf-8")
        options = Options(backend="cuda", nvcc=nvcc, min_work=0, allow_reassociation=reordered)
        return compile_source(str(source), options, ["gcc"], []).text

    def _built(self, source: Path, *more: str) -> str:
        made = str(source.with_suffix(""))
        run(["gcc", *FLAGS, str(source), *more, *LIBRARIES, "-o", made], limit=LIMIT)
        return made


def main() -> int:
    """Print the table; the exit code."""
    nvcc = find_nvcc()
    if nvcc is None:
        print("there is no nvcc")
        return 1
    print(
        f"{'product':42} multiply-adds  loads (bits)      each 128 bits  registers  shared  spilled  passes"
    )
    right = True
    with tempfile.TemporaryDirectory(prefix="polybuild-products-") as name:
        folder = Path(name)
        hand = folder / "hand.cu"
        hand.write_text(Path(__file__).with_suffix(".cu").read_text(encoding="utf-8"), encoding="utf-8")
        workshop = Workshop(folder, build(folder / "stand-ins"), build_runtime(folder))
        for real in ("float", "double"):
            _by_hand(hand, real, nvcc)
            for title, (number, reordered) in OWN.items():
                if number == real:
                    made = counted(workshop.kernels(real, reordered, nvcc), nvcc, [])
                    passes = workshop.conflicts(real, reordered)
                    _print(title, made, "wrong" if passes is None else f"{passes:.2f}")
                    right = right and not made.spills and passes == 1.0
                    right = right and (made.ratio >= WANTED or (real, reordered) == ("double", False))
                    right = right and (real == "double" or set(made.loads) == {128})
    print("right" if right else "wrong")
    return 0 if right else 1


def _by_hand(hand: Path, real: str, nvcc: str) -> None:
    """Print the variants by hand."""
    for title, macros in VARIANTS.items():
        own = dict(macros)
        if real == "double":
            own.update(RUN=min(2, own["RUN"]), PER=4)
            if macros["PER"] > 4 and macros["STAGES"] == 1:
                continue  # the same as with 4 by 4
        flags = [f"-D{key}={value}" for key, value in own.items()]
        _print(f"{real}, by hand: {title}", counted(hand, nvcc, [f"-DREAL={real}", *flags]), "-")


def _print(title: str, found: Counted, passes: str) -> None:
    loads = " + ".join(f"{count} ({bits})" for bits, count in sorted(found.loads.items()))
    print(
        f"{title:42} {found.products:13}  {loads:16}  {found.ratio:13.1f}  "
        f"{found.registers:9}  {found.shared:6}  {found.spills:7}  {passes:>6}",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
