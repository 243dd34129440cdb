"""Products of polybuild's beside some by hand, by nvcc's code: ``python -m benchmarks.gpu.products``.

No GPU is needed. For each: the fused multiply-adds and the loads from shared memory in the text for the
assembler (PTX, in which loops are unrolled), how wide these are, multiply-adds for each 128 bits that are
loaded, and for sm_90 registers, bytes of shared memory and bytes spilled. The exit code is 0 if polybuild's
product of floats has 16 multiply-adds for each 128 bits, in loads of that width, and none of its products
spills.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from polybuild.driver.file import compile_source
from polybuild.options import Options
from polybuild.targets.gpu.nvcc import find_nvcc, usage_of

VARIANTS = {
    "4x4 apart, 16 steps": {"PER": 4, "RUN": 1, "DEPTH": 16, "STAGES": 1, "WHOLE": 0},
    "the same, whole tiles": {"PER": 4, "RUN": 1, "DEPTH": 16, "STAGES": 1, "WHOLE": 1},
    "4x4 in runs": {"PER": 4, "RUN": 4, "DEPTH": 16, "STAGES": 1, "WHOLE": 1},
    "8x8 in runs": {"PER": 8, "RUN": 4, "DEPTH": 8, "STAGES": 1, "WHOLE": 1},
    "8x8 in runs, two stages": {"PER": 8, "RUN": 4, "DEPTH": 8, "STAGES": 2, "WHOLE": 1},
}
"""By hand: the macros of ``products.cu``; doubles have runs of two, and 4 results along each loop, not 8."""
PROGRAM = """\
void product(int n, int m, int p, REAL A[restrict n][p], REAL B[restrict p][m], REAL C[restrict n][m])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int k = 0; k < p; k++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
"""
WANTED = 16.0


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
    found = re.findall(r"ld\.shared\.(?:v(\d)\.)?[a-z](\d+)", text.read_text())
    loads = Counter(int(count or 1) * int(bits) for count, bits in found)
    products = len(re.findall(r"fma\.rn\.f(?:32|64)", text.read_text()))
    return Counted(products, loads, usage.registers, usage.shared, usage.spills)


def kernels_of(real: str, nvcc: str, folder: Path) -> Path:
    """The kernel that polybuild makes of the product, in CUDA C."""
    source, kept = folder / f"{real}.c", folder / f"{real}.cu"
    source.write_text(PROGRAM.replace("REAL", real), encoding="utf-8")
    script = folder / "nvcc"
    script.write_text(f'#!/bin/sh\nfor each; do last="$each"; done\ncp "$last" {kept}\nexec {nvcc} "$@"\n')
    script.chmod(0o755)
    options = Options(backend="cuda", nvcc=str(script), min_work=0)
    compile_source(str(source), options, ["gcc"], [])
    return kept


def main() -> int:
    """Print the table; the exit code."""
    nvcc = find_nvcc()
    if nvcc is None:
        print("there is no nvcc")
        return 1
    print(f"{'product':42} multiply-adds  loads (bits)      each 128 bits  registers  shared  spilled")
    right = True
    with tempfile.TemporaryDirectory(prefix="polybuild-products-") as name:
        folder = Path(name)
        hand = folder / "hand.cu"
        hand.write_text(Path(__file__).with_suffix(".cu").read_text(encoding="utf-8"), encoding="utf-8")
        for real in ("float", "double"):
            for title, macros in VARIANTS.items():
                own = dict(macros)
                if real == "double":
                    own.update(RUN=min(2, own["RUN"]), PER=4)
                    if macros["PER"] > 4 and macros["STAGES"] == 1:
                        continue  # the same as with 4 by 4
                flags = [f"-D{key}={value}" for key, value in own.items()]
                _print(f"{real}, by hand: {title}", counted(hand, nvcc, [f"-DREAL={real}", *flags]))
            made = counted(kernels_of(real, nvcc, folder), nvcc, [])
            _print(f"{real}, polybuild's", made)
            right = right and not made.spills
            right = right and (real == "double" or (made.ratio >= WANTED and set(made.loads) == {128}))
    print("right" if right else "wrong")
    return 0 if right else 1


def _print(title: str, found: Counted) -> None:
    loads = " + ".join(f"{count} ({bits})" for bits, count in sorted(found.loads.items()))
    print(
        f"{title:42} {found.products:13}  {loads:16}  {found.ratio:13.1f}  "
        f"{found.registers:9}  {found.shared:6}  {found.spills:7}",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
