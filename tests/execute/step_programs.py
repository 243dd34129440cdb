"""Functions that make steps over time on grids, run as they stand and transformed, at many sizes.

Each function is called with a number of steps, a height and a width, and with three places in one pool of
memory; what it leaves in the whole pool is compared to the bit.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from compiling import QUICK, output, transform, write

from polybuild.driver.details import Details
from polybuild.poly.trees import descendants, is_band, mark_of, node_kind
from polybuild.report.record.model import RegionReport

_FUNCTION = """
static void f{number}({parameters})
{{
#pragma scop
{body}
#pragma endscop
  (void)u, (void)v, (void)p, (void)steps, (void)h;
}}
"""
_MAIN = """
typedef void solver(int, int, int, double *, double *, double *);
int main(void)
{
  static const int sizes[] = {0, 1, 2, 3, 7, 33, 100}, counts[] = {0, 1, 2, 3, 8, 9};
  solver *all[] = {FUNCTIONS};
  for (unsigned k = 0; k < sizeof all / sizeof *all; k++) {
    unsigned long long sum = 0;
    for (int s = 0; s < 49; s++)
      for (int c = 0; c < 6; c++) {
        int h = sizes[s / 7], w = sizes[s % 7], n = ELEMENTS, pool = 6 * n + 200;
        double *u = malloc(pool * sizeof *u);
        for (int i = 0; i < pool; i++)
          u[i] = (i * 7 + i / 5) % 101 / 3.0;
        all[k](counts[c], h, w, u, u + 4 * n, u + 5 * n);
        for (int i = 0; i < pool * (int)sizeof *u; i++)
          sum = sum * 31 + ((unsigned char *)u)[i];
        free(u);
      }
    printf("%llu\\n", sum);
  }
  return 0;
}
"""


@dataclass(frozen=True)
class Grids:
    """What functions of steps have in common: macros, parameters, and how many elements a plane has.

    The parameters end with the pointers ``u``, to four planes, ``v`` and ``p``, to one each.
    """

    macros: str
    parameters: str
    elements: str


def run_steps(
    folder: Path, grids: Grids, bodies: Mapping[str, str], tile_sizes: tuple[int, ...], **options: str
) -> dict[str, tuple[str, str, RegionReport]]:
    """What each of ``bodies`` computes, before and after tiling, with what was done, by their names."""
    functions = [
        _FUNCTION.format(number=number, parameters=grids.parameters, body=body)
        for number, body in enumerate(bodies.values())
    ]
    pointers = ", ".join(f"(solver *)f{number}" for number in range(len(bodies)))
    main = _MAIN.replace("FUNCTIONS", pointers).replace("ELEMENTS", grids.elements)
    includes = "".join(f"#include <{each}.h>\n" for each in ("math", "stdio", "stdlib"))
    text = includes + grids.macros + "".join(functions) + main
    source = write(folder / "in.c", text)
    result = transform(source, text, "-O2", "-ffp-contract=off", tile_sizes=tile_sizes, **options)
    transformed = write(folder / "out.c", result.text)
    flags = ("-Wno-cast-function-type", "-fopenmp", *QUICK)
    before, after = (output(each, *flags).split() for each in (source, transformed))
    found = zip(before, after, result.regions, strict=True)
    return dict(zip(bodies, found, strict=True))


def tree_of(details: Details) -> list[tuple[object, ...]]:
    """Marks, sequences and bands of a tree with their depths; of bands what carries nothing, and divisors."""
    found: list[tuple[object, ...]] = []
    for each in descendants(details.schedule.get_root()):
        mark = mark_of(each)
        says: object = mark.kind if mark is not None else ()
        if is_band(each):
            carried = [each.band_member_get_coincident(at) for at in range(each.band_n_member())]
            sizes = sorted(set(re.findall(r"/(\d+)\)", str(each.band_get_partial_schedule()))))
            says = carried, sizes
        found.append((each.get_tree_depth(), node_kind(each), says))
    return found
