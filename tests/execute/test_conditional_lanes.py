"""Loops that compilers leave to scalar code for their conditions, in lanes: equal to the bit."""

from __future__ import annotations

import pytest
from compiling import in_turn
from lane_programs import AVX2, check_results, transformed

PROGRAM = """\
#include <math.h>
#include <stdio.h>
enum {{ MOST = 101, LONG = MOST + 4 }};
typedef {type} real;
#define root {root}
#define size(x) {size}(x)
static real storage[4][LONG];
static int places[LONG];
static void run(int n, real f, const real *restrict u, const real *restrict v, real *restrict w,
                real *restrict x, int *restrict at)
{{
#pragma scop
  for (int i = 0; i < n; i++) {{
    {body}
  }}
#pragma endscop
  (void)f, (void)u, (void)v, (void)w, (void)x, (void)at;
}}
{sum}int main(void)
{{
  static const int sizes[] = {{0, 1, 2, 7, 33, 100}};
  for (int s = 0; s < 6; s++) {{
    unsigned seed = 1;
    for (int a = 0; a < 4; a++)
      for (int i = 0; i < LONG; i++) {{
        seed = seed * 1664525u + 1013904223u;
        storage[a][i] = (real)((seed >> 8) / 8388608.0 - 1);
      }}
    for (int i = 0; i < LONG; i++)
      places[i] = (int)((seed = seed * 1664525u + 1013904223u) >> 16) % 5 - 2;
    storage[0][1] = storage[0][40] = NAN;
    storage[1][5] = storage[1][32] = 0;
    storage[1][6] = storage[0][71] = -0.0;
    run(sizes[s], (real)0.01, storage[0] + 2, storage[1] + 2, storage[2] + 2, storage[3] + 2, places + 2);
    for (int a = 0; a < 4; a++)  /* which NaN an operation gives is not said */
      for (int i = 0; i < LONG; i++)
        if (storage[a][i] != storage[a][i])
          storage[a][i] = 77;
    printf("%d %llu %llu\\n", sizes[s], sum(storage, sizeof storage), sum(places, sizeof places));
  }}
  return 0;
}}
"""
BODIES = {
    "quotients": "real a = u[i] - v[i], b = v[i + 1] - u[i]; w[i] = a * b > 0 ? 2 * a * b / (a + b) : 0;",
    "upwind": "if (v[i] > 0) w[i] = v[i] * (u[i] - u[i - 1]); else w[i] = v[i] * (u[i + 1] - u[i]);",
    "elements that stay": "if (size(v[i]) > f && u[i] < (real)0.9) w[i] = u[i] / v[i];",
    "updates": "if (v[i] > 0) { w[i] += u[i] * v[i]; x[i] *= v[i]; }",
    "branches that set others": "if (v[i] > f) w[i] = u[i] * v[i]; else x[i] = u[i] - f * v[i];",
    "chosen integers": "if (v[i] > f && u[i] * 2 < v[i]) at[i] = 1; else at[i] = 0;",
    "integers that stay": "if (v[i] > f && u[i] * 2 < v[i]) at[i] = -3;",
    "integers that change": "at[i] = (v[i] > f) != (u[i] > v[i] * 2) ? !at[i] : at[i];",
    "integers decide": "if (at[i] > 0) w[i] = u[i] * v[i] + 1;",
    "branches in branches": (
        "if (v[i] > 0) { if (u[i] > f) w[i] = u[i] * v[i]; else w[i] = -v[i]; } else x[i] = v[i] * v[i];"
    ),
    "variables": (
        "real r; if (u[i] * v[i] <= 0) r = 0; else if (size(u[i]) < size(v[i])) r = u[i] * f; else r = v[i];"
        " w[i] = r;"
    ),
    "values of conditions": "at[i] = v[i] > 0 && u[i] < f;",
    "the same element both times": "if (w[i] > 0) w[i] = w[i] * v[i] + f; else w[i] = w[i] / 3 - u[i];",
    "far elements": "if (i < 50 && v[i] > 0) x[2 * i] = u[i] * v[i];",
}


CASES = in_turn(BODIES, [("float", "-msse2"), ("double", AVX2)], [("double", "-msse2"), ("float", AVX2)])


@pytest.mark.parametrize(("name", "kind", "flag"), CASES)
def test_results_equal_those_of_the_original_to_the_bit(name, kind, flag, tmp_path):
    source, text = transformed(tmp_path, PROGRAM, kind, flag, body=BODIES[name])
    check_results(source, text)


@pytest.mark.parametrize("kind", ["float", "double"])
@pytest.mark.parametrize("name", sorted(set(BODIES) - {"far elements", "integers that change"}))
def test_lanes_take_what_compilers_leave(name, kind, tmp_path):
    _, text = transformed(tmp_path, PROGRAM, kind, AVX2, body=BODIES[name])
    assert f"polybuild_{kind}" in text


def test_no_lane_touches_what_it_leaves_out(tmp_path):
    body = "if (at[i] > 0) w[i] = u[i] * v[i];"
    program = PROGRAM.replace("run(sizes[s]", "run(sizes[s] < 33 ? sizes[s] : 33").replace(
        "storage[1] + 2, storage[2] + 2", "storage[1] + 2, (real *)0"
    )
    program = program.replace("% 5 - 2;", "% 5 - 5;")  # no condition ever holds
    source, text = transformed(tmp_path, program, "double", AVX2, body=body)
    assert "polybuild_store_double" in text
    check_results(source, text)
