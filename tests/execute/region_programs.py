"""Programs made of many small functions with one region each, run as they stand and transformed."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from compiling import SANITIZED

from polybuild.driver.file import compile_source
from polybuild.options import Options
from polybuild.report.record.model import RegionReport

# Every function has these parameters; arrays named in the function are filled anew for each call.
PARAMETERS = (
    "int n, double X[restrict n][n], double *restrict x, double *restrict y, double *restrict z,"
    " int K[restrict n][n], int *restrict a, int *restrict b, int *restrict r, unsigned char *restrict c"
)
_MAIN = """
static unsigned state;
static unsigned next(void) { return (state = state * 1103515245u + 12345u) >> 16; }
static unsigned long long hash(const void *data, size_t size, unsigned long long h) {
  const unsigned char *bytes = data;
  for (size_t k = 0; k < size; k++) h = (h ^ bytes[k]) * 1099511628211ull;
  return h;
}
typedef void function(PARAMETERS);
static void test(const char *name, function *f, int n) {
  size_t m = (size_t)n * n;
  double *X = malloc(m * 8 + 8), *x = malloc(m * 8 + 8), *y = malloc(m * 8 + 8), *z = malloc(m * 8 + 8);
  int *K = malloc(m * 4 + 4), *a = malloc(m * 4 + 4), *b = malloc(m * 4 + 4), *r = malloc(n * 4 + 4);
  unsigned char *c = malloc(m + 1);
  state = 7 * n + 1;
  for (size_t k = 0; k < m; k++) {
    X[k] = (int)(next() % 2001) / 100.0 - 10, x[k] = next() % 1000 / 8.0, y[k] = next() % 100;
    z[k] = (int)(next() % 7) - 3;
    K[k] = next() % n, a[k] = next() % n, b[k] = (int)(next() % 9) - 4, c[k] = next();
  }
  r[0] = 0;  /* rows of n at most, some of them empty */
  for (int k = 0; k < n; k++) r[k + 1] = r[k] + (next() % 3 ? next() % (n + 1) : 0);
  f(n, (double (*)[n])X, x, y, z, (int (*)[n])K, a, b, r, c);
  unsigned long long h = 14695981039346656037ull;
  h = hash(X, m * 8, h), h = hash(x, m * 8, h), h = hash(y, m * 8, h), h = hash(z, m * 8, h);
  h = hash(K, m * 4, h), h = hash(a, m * 4, h), h = hash(b, m * 4, h);
  h = hash(r, n * 4 + 4, h), h = hash(c, m, h);
  printf("%s %d %016llx\\n", name, n, h);
  free(X), free(x), free(y), free(z), free(K), free(a), free(b), free(r), free(c);
}
"""
FLAGS = (
    "-std=gnu99",
    "-O2",
    "-ffp-contract=off",
    "-Wall",
    "-Wno-unknown-pragmas",
    "-Wno-maybe-uninitialized",
)

_CASE = re.compile(r"^//# (\w+): (\S+)\n", re.MULTILINE)


@dataclass(frozen=True)
class Case:
    """A function with one region; ``expected`` is ``parallel``, ``serial``, or the code of a refusal."""

    name: str
    expected: str
    body: str


def cases(name: str) -> dict[str, Case]:
    """The cases of ``regions/<name>.c``."""
    text = (Path(__file__).parent / "regions" / f"{name}.c").read_text()
    _, *parts = _CASE.split(text)
    found = {}
    for case, expected, body in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        marked = body if "#pragma scop" in body else f"#pragma scop\n{body.strip()}\n#pragma endscop\n"
        found[case] = Case(case, expected, marked)
    return found


@dataclass(frozen=True)
class Comparison:
    """What the functions computed, by name, as written and transformed, and what became of their regions."""

    original: Mapping[str, list[str]]
    transformed: Mapping[str, list[str]]
    sanitized: Mapping[str, list[str]]
    regions: Mapping[str, RegionReport]


def check(comparison: Comparison, case: Case) -> None:
    """That the region became what was expected, and computes what it did."""
    region = comparison.regions[case.name]
    outcome = region.code or ("parallel" if region.parallel_loops else "serial")
    assert outcome == case.expected, region.message
    assert comparison.transformed[case.name] == comparison.original[case.name]
    assert comparison.sanitized[case.name] == comparison.original[case.name]


def compare(
    folder: Path,
    chosen: Mapping[str, Case],
    sizes: Sequence[int],
    top: str = "",
    bottom: str = "",
    *,
    min_work: int = 0,
) -> Comparison:
    """Compile the functions of ``chosen`` with and without polybuild, and run both.

    ``top`` and ``bottom`` are text before and after them: functions they call.
    """
    functions = {name: case.body for name, case in chosen.items()}
    path = folder / "in.c"
    path.write_text(program(functions, sizes, top, bottom))
    result = compile_source(str(path), Options(min_work=min_work), ["gcc"], [*FLAGS, "-fopenmp"])
    (folder / "out.c").write_text(result.text)
    lines = path.read_text().splitlines()
    starts = {name: lines.index(f"void f_{name}({PARAMETERS})") + 1 for name in functions}
    regions = {
        name: next(each for each in result.regions if each.line > start) for name, start in starts.items()
    }
    return Comparison(
        _run(path, folder / "original", ()),
        _run(folder / "out.c", folder / "transformed", ("-fopenmp",)),
        _run(folder / "out.c", folder / "sanitized", SANITIZED),
        regions,
    )


def program(functions: Mapping[str, str], sizes: Sequence[int], top: str, bottom: str) -> str:
    parts = ["#include <math.h>\n#include <stdio.h>\n#include <stdlib.h>\n", top]
    parts += [f"void f_{name}({PARAMETERS})\n{{\n{body}\n}}\n" for name, body in functions.items()]
    calls = "".join(f'  test("{name}", f_{name}, {n});\n' for name in functions for n in sizes)
    return "\n".join(
        [*parts, bottom, _MAIN.replace("PARAMETERS", PARAMETERS), f"int main(void) {{\n{calls}}}\n"]
    )


def _run(source: Path, program: Path, flags: Sequence[str]) -> dict[str, list[str]]:
    command = ["gcc", *FLAGS, *flags, str(source), "-o", str(program), "-lm"]
    subprocess.run(command, check=True, timeout=300)
    environment = {"OMP_NUM_THREADS": "3", "OMP_WAIT_POLICY": "passive", "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [str(program)], check=False, capture_output=True, text=True, timeout=300, env=environment
    )
    assert done.returncode == 0, done.stderr[-2000:]
    results: dict[str, list[str]] = {}
    for line in done.stdout.splitlines():
        results.setdefault(line.split()[0], []).append(line)
    return results
