"""What products with vectors ask of a GPU's memory: ``python -m benchmarks.gpu.sectors``, under emulation.

For each kernel that reads or writes a matrix: its launches, the blocks of a launch, on how many of the
multiprocessors of the machine's model that is, and how many sectors of 32 bytes its warps ask for, beside the
least number of sectors that could hold the bytes of each request (what several threads read counts once).
The exit code is 1 if a kernel asks for more than 1.1 times that, or has less than four blocks for each
multiprocessor.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.cpu.processes import Failure, run
from benchmarks.gpu.programs import FLAGS, LIBRARIES, build_runtime
from polybuild.driver.file import compile_source
from polybuild.machine.model import Machine
from polybuild.options import Options
from tests.emulator.stand_ins import StandIns, build

LIMIT = 500.0
MOST_SECTORS = 1.1
FEWEST_BLOCKS = 4
PROGRAMS: Mapping[str, str] = {
    "atax": """\
  for (int j = 0; j < n; j++)
    y[j] = 0;
  for (int i = 0; i < n; i++) {
    double s = 0;
    for (int j = 0; j < n; j++)
      s += a[i][j] * x[j];
    for (int j = 0; j < n; j++)
      y[j] += a[i][j] * s;
  }""",
    "bicg": """\
  for (int i = 0; i < n; i++) {
    y[i] = 0;
    for (int j = 0; j < n; j++)
      y[i] = y[i] + a[i][j] * x[j];
  }
  for (int j = 0; j < n; j++) {
    z[j] = 0;
    for (int i = 0; i < n; i++)
      z[j] = z[j] + w[i] * a[i][j];
  }""",
    "gemver": """\
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      a[i][j] += u[i] * v[j] + w[i] * z[j];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      x[i] += 0.25 * a[j][i] * u[j];
  for (int i = 0; i < n; i++) {
    y[i] = 0;
    for (int j = 0; j < n; j++)
      y[i] += 1.5 * a[i][j] * x[j];
  }""",
    "row sums": """\
  for (int i = 0; i < n; i++) {
    y[i] = 0;
    for (int j = 0; j < n; j++)
      y[i] += a[i][j];
  }""",
    "column sums": """\
  for (int j = 0; j < n; j++) {
    y[j] = 0;
    for (int i = 0; i < n; i++)
      y[j] += a[i][j];
  }""",
}
_PROGRAM = """\
#include <stdio.h>
#include <stdlib.h>
static void run(int n, double (*restrict a)[n], double *restrict u, double *restrict v, double *restrict w,
                double *restrict x, double *restrict y, double *restrict z)
{
  (void)u, (void)v, (void)w, (void)x, (void)y, (void)z;
#pragma scop
BODY
#pragma endscop
}
int main(int argc, char **argv)
{
  int n = argc > 1 ? atoi(argv[1]) : 0;
  double *a = malloc((size_t)n * n * sizeof *a), *vectors = malloc((size_t)n * 6 * sizeof *a), sum = 0;
  for (size_t k = 0; k < (size_t)n * n; k++)
    a[k] = (int)(k * 37 % 101) - 50;
  for (size_t k = 0; k < (size_t)n * 6; k++)
    vectors[k] = (int)(k * 53 % 103) - 51;
  double *u = vectors, *v = u + n, *w = v + n, *x = w + n, *y = x + n, *z = y + n;
  run(n, (void *)a, u, v, w, x, y, z);
  for (size_t k = 0; k < (size_t)n * 6; k++)
    sum += vectors[k] * (int)(k % 7);
  printf("%a\\n", sum);
  free(a), free(vectors);
  return 0;
}
"""


@dataclass(frozen=True, slots=True)
class Use:
    """How a kernel uses memory: ``sectors`` are asked for, ``ideal`` the least that could have been."""

    launches: int
    blocks: int
    sectors: int
    ideal: int

    @classmethod
    def of(cls, kernel: Mapping[str, Any]) -> Use:
        """From what the emulator counted of ``kernel``."""
        uses = [kernel["global_reads"], kernel["global_writes"]]
        sectors, ideal = (sum(each[what] for each in uses) for what in ("sectors", "ideal"))
        return cls(kernel["launches"], kernel["blocks"] // kernel["launches"], sectors, ideal)


@dataclass(frozen=True, slots=True)
class Workshop:
    """Where programs are made and run."""

    folder: Path
    stand_ins: StandIns
    runtime: Path

    def uses(self, name: str, size: int) -> list[Use] | None:
        """What those kernels of a program do that touch its matrix; None if it is wrong or no kernel.

        Sums are of whole numbers: in any order they are the same.
        """
        source, made = self.folder / "original.c", self.folder / "transformed.c"
        source.write_text(_PROGRAM.replace("BODY", PROGRAMS[name]), encoding="utf-8")
        options = Options(backend="cuda", min_work=0, allow_reassociation="on")
        text = compile_source(str(source), options, ["gcc"], FLAGS).text
        made.write_text(text, encoding="utf-8")
        programs = {}
        for program, files in (("original", [source]), ("transformed", [made, self.runtime])):
            programs[program] = str(self.folder / program)
            run(["gcc", *FLAGS, *map(str, files), *LIBRARIES, "-o", programs[program]], limit=LIMIT)
        expected = run([programs["original"], str(size)], limit=LIMIT)
        report = self.folder / "report.json"
        report.unlink(missing_ok=True)
        found = self.stand_ins.environment(POLYBUILD_EMULATOR_REPORT=str(report))
        done = run([programs["transformed"], str(size)], limit=LIMIT, environment=found)
        if done.stdout != expected.stdout or not report.exists():
            return None
        kernels = json.loads(report.read_text(encoding="utf-8"))["kernels"].values()
        uses = [Use.of(each) for each in kernels]
        return [each for each in uses if each.ideal >= size * size // 8]


def main() -> int:
    """Print the table; the exit code."""
    parser = argparse.ArgumentParser(
        "python -m benchmarks.gpu.sectors", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("programs", nargs="*", choices=[[], *PROGRAMS], metavar="PROGRAM", help="only these")
    parser.add_argument("--size", type=int, default=4000, metavar="N", help="matrices of N by N (4000)")
    request = parser.parse_args()
    count = Machine().multiprocessor.count
    failed = False
    heads = f"{'launches':>9} {'blocks':>9} {'for each of ' + str(count):>18} {'sectors':>12} {'of ideal':>9}"
    print(f"{'':12} {heads}")
    with tempfile.TemporaryDirectory(prefix="polybuild-sectors-") as name:
        folder = Path(name)
        workshop = Workshop(folder, build(folder / "stand-ins"), build_runtime(folder))
        os.environ["NVCC"] = workshop.stand_ins.nvcc
        for program in request.programs or PROGRAMS:
            try:
                uses = workshop.uses(program, request.size)
            except Failure as failure:
                uses = None
                print(failure, file=sys.stderr)
            if not uses:
                print(f"{program:12} no kernels with right results", flush=True)
            for use in uses or ():
                ratio, each = use.sectors / use.ideal, use.blocks / count
                failed |= ratio > MOST_SECTORS or each < FEWEST_BLOCKS
                row = f"{use.launches:9} {use.blocks:9} {each:18.2f} {use.sectors:12} {ratio:9.3f}"
                print(f"{program:12} {row}", flush=True)
            failed |= not uses
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
