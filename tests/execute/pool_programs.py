"""Functions on pointers into one pool of memory, run as they stand and transformed.

Each function is called with whole numbers and with three pointers into the pool;
what it leaves in the whole pool is compared, so a stray write anywhere shows.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from polybuild.driver.file import compile_source
from polybuild.options import Options
from polybuild.report.record.model import RegionReport

NUMBERS = ("n", "m", "p", "o", "q")
POINTERS = ("A", "B", "C")
_FALLBACK = "} else { /* the original loops */"
_FLAGS = ("-std=c99", "-O2", "-ffp-contract=off", "-Wall", "-Wextra", "-Wno-unknown-pragmas")
_UNUSED = ("-Wno-unused-parameter",)
_HEAD = """
#include <stddef.h>
#include <stdio.h>
int fallbacks;
"""
_MAIN = """
#define POOL 120000
static double pool[POOL];
static void call(const char *name, function *f, long n, long m, long p, long o, long q, int a, int b, int c)
{
  unsigned long long h = 14695981039346656037ull;
  unsigned state = 1;
  for (int k = 0; k < POOL; k++) {
    state = state * 1103515245u + 12345u;
    pool[k] = (state >> 16) % 1000 / 8.0;
  }
  fallbacks = 0;
  f(n, m, p, o, q, pool + a, pool + b, pool + c);
  for (int k = 0; k < POOL; k++)
    h = (h ^ (unsigned long long)(pool[k] * 8)) * 1099511628211ull;
  printf("%s %d %016llx\\n", name, fallbacks, h);
}
"""

# Far from each other and from the ends of the pool.
APART = (10000, 50000, 90000)


@dataclass(frozen=True)
class Call:
    """Values for ``NUMBERS`` in order (0 if left out), and the places of the pointers in the pool."""

    numbers: tuple[int, ...]
    places: tuple[int, int, int] = APART


@dataclass(frozen=True)
class Outcome:
    """Whether the transformed function ran its original loops, and a hash of the pool after each."""

    fell_back: bool
    original: str
    transformed: str


@dataclass(frozen=True)
class Comparison:
    """By name of the function: its calls in order, and what became of its region."""

    calls: Mapping[str, list[Outcome]]
    regions: Mapping[str, RegionReport]


def compare(
    folder: Path,
    functions: Mapping[str, str],
    calls: Mapping[str, Sequence[Call]],
    *,
    number: str = "int",
    restrict: bool = True,
) -> Comparison:
    """Compile ``functions`` (bodies by name) with and without polybuild, and make ``calls`` of both."""
    qualifier = "restrict " if restrict else ""
    parameters = ", ".join(
        [*(f"{number} {each}" for each in NUMBERS), *(f"double *{qualifier}{each}" for each in POINTERS)]
    )
    heads = {name: f"void {name}({parameters})" for name in functions}
    source = _HEAD + "".join(f"{heads[name]}\n{{\n{body}\n}}\n" for name, body in functions.items())
    source += f"typedef void function({parameters});" + _MAIN + "int main(void)\n{\n"
    for name, made in calls.items():
        for each in made:
            numbers = (*each.numbers, *[0] * (len(NUMBERS) - len(each.numbers)))
            source += f'  call("{name}", {name}, {", ".join(map(str, (*numbers, *each.places)))});\n'
    path = folder / "pool.c"
    path.write_text(source + "}\n")
    result = compile_source(str(path), Options(min_work=0), ["gcc"], [*_FLAGS, "-fopenmp"])
    out = folder / "pool-transformed.c"
    out.write_text(result.text.replace(_FALLBACK, f"{_FALLBACK} fallbacks = 1;"))
    lines = path.read_text().splitlines()
    regions = {
        name: next(each for each in result.regions if each.line > lines.index(head) + 1)
        for name, head in heads.items()
    }
    before, after = _run(path, ()), _run(out, ("-fopenmp", "-Werror"))
    outcomes: dict[str, list[Outcome]] = {}
    for (name, _, expected), (_, fell_back, found) in zip(before, after, strict=True):
        outcomes.setdefault(name, []).append(Outcome(fell_back == "1", expected, found))
    return Comparison(outcomes, regions)


def function(name: str) -> str:
    """What the function of the region called ``name`` is called in C."""
    return f"with_{name.replace(' ', '_')}"


def compare_around(
    folder: Path, cases: Mapping[str, tuple[str, str, str]], sizes: Sequence[tuple[int, ...]]
) -> Comparison:
    """Compare regions that have declarations before them and uses of last values after them."""
    functions = {
        function(name): f"{before}\n#pragma scop\n{body}\n#pragma endscop\n{after}"
        for name, (before, body, after) in cases.items()
    }
    return compare(folder, functions, {name: [Call(each) for each in sizes] for name in functions})


def _run(source: Path, flags: Sequence[str]) -> list[list[str]]:
    program = source.with_suffix("")
    subprocess.run(
        ["gcc", *_FLAGS, *_UNUSED, *flags, str(source), "-o", str(program), "-lm"], check=True, timeout=120
    )
    environment = {"OMP_NUM_THREADS": "3", "OMP_WAIT_POLICY": "passive", "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [str(program)], check=True, capture_output=True, text=True, timeout=120, env=environment
    )
    return [line.split() for line in done.stdout.splitlines()]
