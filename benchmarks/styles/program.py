"""A C program with a kernel in all styles, which runs and times one of them."""

from __future__ import annotations

from benchmarks.styles.styles import STYLES, Kernel, function

_MAIN = """\
static {type} *fresh(long elements, unsigned seed)
{{
  {type} *data = malloc((unsigned long)(elements + 1) * sizeof *data);
  for (long i = 0; i < elements; i++)
    seed = seed * 1664525u + 1013904223u, data[i] = ({type})((seed >> 8) / 16777216.0 - 0.5);
  return data;
}}
static double now(void)
{{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}}
int main(int count, char **words)
{{
  int style = atoi(words[1]), n = atoi(words[2]);
  double seconds = count > 3 ? atof(words[3]) : 0, start, least = 1e30, spent = 0;
{allocations}
  if (n > 0)
    do {{
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
  return 0;
}}
"""


def program(kernel: Kernel) -> str:
    """The C text for ``kernel``; the arguments of the program are a style's number, ``n`` and seconds."""
    parts = ["#include <stdio.h>", "#include <stdlib.h>", "#include <string.h>", "#include <time.h>"]
    parts += [function(kernel, style) for style in STYLES]
    count = f"{kernel.factor}L * (n + 8)" + " * (n + 8)" * (kernel.power - 1) + " + 64"
    names = list(kernel.arrays)
    allocations = "\n".join(
        f"  {kernel.type} *{name} = fresh({count}, {seed});" for seed, name in enumerate(names, 1)
    )
    passed = ", ".join("(void *)" + name for name in names)
    cases = "\n".join(
        f"      case {number}: run_{style.replace('-', '_')}(n, {passed}); break;"
        for number, style in enumerate(STYLES)
    )
    sums = "\n".join(
        f"  for (long i = 0; i < ({count}); i++)\n"
        f"    for (unsigned part = 0; part < sizeof *{name} / 4; part++)\n"
        f"      memcpy(&bits, (char *)({name} + i) + 4 * part, 4), sum = sum * 31 + bits;"
        for name in names
    )
    main = _MAIN.format(type=kernel.type, allocations=allocations, cases=cases, sums=sums)
    return "\n".join((*parts, main))
