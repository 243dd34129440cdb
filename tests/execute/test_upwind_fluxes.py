"""Fluxes from the side that data choose, and fields that are updated by them: equal to the bit in each form.

What is read is chosen by data, so lanes may read nothing before they know that they do.
"""

from __future__ import annotations

import pytest
from lane_programs import AVX2, check_results, transformed

PROGRAM = """\
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define D(j, k) d[(hi_x + 4) * ((k) - (lo_y - 2)) + (j) - (lo_x - 2)]
#define E(j, k) e[(hi_x + 4) * ((k) - (lo_y - 2)) + (j) - (lo_x - 2)]
#define V(j, k) v[(hi_x + 4) * ((k) - (lo_y - 2)) + (j) - (lo_x - 2)]
#define F(j, k) f[(hi_x + 5) * ((k) - (lo_y - 2)) + (j) - (lo_x - 2)]
#define G(j, k) g[(hi_x + 5) * ((k) - (lo_y - 2)) + (j) - (lo_x - 2)]
typedef {type} real;
static inline real limited(real a, real b)
{{
  return a * b > 0 ? MIN({size}(a), {size}(b)) : 0;
}}
static void run(int lo_x, int hi_x, int lo_y, int hi_y, real *restrict v, real *restrict d, real *restrict e,
                real *restrict f, real *restrict g)
{{
  int j, k, up, donor, down;
#pragma scop
  for (k = lo_y; k <= hi_y; k++)
    for (j = lo_x; j <= hi_x + 2; j++) {{
      {body}
    }}
  for (k = lo_y; k <= hi_y; k++)
    for (j = lo_x; j <= hi_x; j++) {{
      D(j, k) += F(j, k) - F(j + 1, k);
      E(j, k) = (E(j, k) + G(j, k) - G(j + 1, k)) / (2 + D(j, k) * D(j, k));
      V(j, k) = V(j, k) / 2 + E(j, k) * D(j, k);
    }}
#pragma endscop
  (void)up, (void)donor, (void)down;
}}
{sum}int main(void)
{{
  static const int sizes[] = {{0, 1, 2, 7, 33, 70}};
  for (int s = 0; s < 6; s++) {{
    int n = sizes[s], rows = n + 2, hi = n + 1;
    real *field[5];
    unsigned seed = 1;
    for (int a = 0; a < 5; a++) {{
      int wide = hi + 4 + (a > 2);
      long before = 2L * wide + (a < 3); /* what nothing reads is not there */
      long count = (long)rows * wide - before;
      field[a] = calloc(count > 0 ? count : 1, sizeof(real));
      for (long i = 0; i < count; i++) {{
        seed = seed * 1664525u + 1013904223u;
        field[a][i] = (real)((seed >> 8) / 8388608.0 - 1);
      }}
      if (a == 0 && n) field[a][1] = (real)-0.5; /* the first flux is from the right */
    }}
    if (n) {{
      int wide = hi + 4;
      run(2, hi, 2, hi, field[0] - (2 * wide + 1), field[1] - (2 * wide + 1), field[2] - (2 * wide + 1),
          field[3] - 2 * (wide + 1), field[4] - 2 * (wide + 1));
    }}
    for (int a = 0; a < 5; a++) {{
      int wide = hi + 4 + (a > 2);
      long count = (long)rows * wide - (2L * wide + (a < 3));
      printf("%d %llu\\n", n, count > 0 ? sum(field[a], count * sizeof(real)) : 0);
      free(field[a]);
    }}
  }}
  return 0;
}}
"""
VALUES = """
      F(j, k) = V(j, k) * (D(donor, k) + limited(D(donor, k) - D(up, k), D(down, k) - D(donor, k)));
      G(j, k) = F(j, k) * (E(donor, k) + limited(E(donor, k) - E(up, k), E(down, k) - E(donor, k)));"""
RIGHT = "up = MIN(j + 1, hi_x + 2); donor = j; down = j - 1;"
BODIES = {
    "branches": f"if (V(j, k) > 0) {{ up = j - 2; donor = j - 1; down = j; }} else {{ {RIGHT} }}{VALUES}",
    "the other branch first": (
        f"if (!(V(j, k) > 0)) {{ {RIGHT} }} else {{ up = j - 2; donor = j - 1; down = j; }}{VALUES}"
    ),
    "choices": (
        "up = V(j, k) > 0 ? j - 2 : MIN(j + 1, hi_x + 2); donor = V(j, k) > 0 ? j - 1 : j;"
        f" down = V(j, k) > 0 ? j : j - 1;{VALUES}"
    ),
    "overwritten": f"{RIGHT} if (V(j, k) > 0) {{ up = j - 2; donor = j - 1; down = j; }}{VALUES}",
    "numbers": (
        "int left = V(j, k) > 0; up = left ? j - 2 : (j + 1 < hi_x + 2 ? j + 1 : hi_x + 2); donor = j - left;"
        f" down = left ? j : j - 1;{VALUES}"
    ),
    "sums": f"""
      donor = j - (V(j, k) > 0); down = 2 * j - 1 - donor;
      up = MIN(3 * donor - 2 * j + 1, hi_x + 2);{VALUES}""",
}


@pytest.mark.parametrize("name", BODIES)
def test_results(tmp_path, name):
    source, text = transformed(tmp_path, PROGRAM, "double", AVX2, body=BODIES[name])
    check_results(source, text)
