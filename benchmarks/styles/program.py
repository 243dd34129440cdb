"""A C program with a kernel in all its styles, which runs, times and sums up some of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from benchmarks.styles.addressing import ADDRESSING
from benchmarks.styles.styles import STYLES
from benchmarks.styles.tree import Kernel

_TOP = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <stddef.h>
"""

_MAIN = """\
static double now(void)
{{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}}
int main(int count, char **words)
{{
  int first = atoi(words[1]), last = atoi(words[2]), n = atoi(words[3]);
  double seconds = count > 4 ? atof(words[4]) : 0, start, least, spent;
  long elements = {elements};
{allocations}
  for (int style = first; style <= last; style++) {{
{fills}
    least = 1e30;
    spent = 0;
    do {{
{restored}
      start = now();
      switch (style) {{
{cases}
      }}
      start = now() - start;
      spent += start;
      least = start < least ? start : least;
    }} while (spent < seconds);
    unsigned long long sum = 0;
    unsigned bits;
{sums}
    printf("%g %llu\\n", least, sum);
  }}
  return 0;
}}
"""


@dataclass(frozen=True, slots=True)
class Programs:
    """A kernel's program as it is and transformed, its styles by number, and what was not transformed."""

    original: str
    transformed: str
    styles: tuple[str, ...]
    kept: tuple[str, ...]


def program(kernel: Kernel, styles: Mapping[str, tuple[Kernel, str]]) -> str:
    """The C text for ``kernel``.

    The arguments of the program are the numbers of the first and the last style to run, ``n``, and seconds
    for each. It prints seconds of the shortest run and a sum over all results for each style.
    """
    declared = [f"{kernel.type_of(each)} *{each}" for each in kernel.arrays]
    parts = [_TOP, f"struct matrix {{ int rows, cols; {kernel.type} *v; }};"]
    parts += [each.top for each in ADDRESSING.values() if each.top]
    parts += [f"static {kernel.type_of(each)} *g_{each};" for each in kernel.arrays]
    parts += [text for _, text in styles.values()]
    scratch = max((len(each.scratch) for each, _ in styles.values()), default=0)
    declared += [f"{kernel.type} *scratch{number}" for number in range(scratch)]
    cases = []
    for number, (name, (changed, _)) in enumerate(styles.items()):
        own = dict(zip(changed.scratch, (f"scratch{each}" for each in range(scratch)), strict=False))
        addressing = ADDRESSING[STYLES[name].addressing]
        passed = [addressing.passed(own.get(each, each), extents) for each, extents in changed.arrays.items()]
        function = f"run_{name.replace('-', '_')}"
        cases.append(f"        case {number}: {function}({', '.join(('n', *passed))}); break;")
    main = _MAIN.format(
        elements=f"{kernel.factor}L * (n + 8)" + " * (n + 8)" * (kernel.power - 1) + " + 4096",
        allocations="\n".join(f"  {each} = malloc((unsigned long)elements * 8);" for each in declared),
        fills="\n".join(_filled(kernel, each, "    ") for each in kernel.arrays),
        restored="\n".join(_filled(kernel, each, "      ") for each in kernel.restored),
        cases="\n".join(cases),
        sums="\n".join(
            f"    for (long i = 0; i < elements; i++)\n"
            f"      for (unsigned part = 0; part < sizeof *{each} / 4; part++)\n"
            f"        memcpy(&bits, (char *)({each} + i) + 4 * part, 4), sum = sum * 31 + bits;"
            for each in kernel.arrays
        ),
    )
    return "\n".join((*parts, main))


def _filled(kernel: Kernel, array: str, indent: str) -> str:
    """The C text that gives an array its first values."""
    loop = f"{indent}for (long i = 0; i < elements; i++)\n{indent}  "
    if array in kernel.fills:
        return f"{loop}{array}[i] = {kernel.fills[array]};"
    value = f"({kernel.type_of(array)})((seed >> 8) / 16777259.1 - 0.5)"
    seed = f"{indent}{{ unsigned seed = {list(kernel.arrays).index(array) + 1};\n"
    return f"{seed}{loop}seed = seed * 1664525u + 1013904223u, {array}[i] = {value}; }}"
