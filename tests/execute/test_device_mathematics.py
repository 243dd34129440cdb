"""Functions of mathematics on devices: the bits of some are defined, those of others are near."""

from __future__ import annotations

import pytest
from device_programs import HAS_OPENCL, build, on, run, transform

from polybuild.targets.languages import APPROXIMATE, ARGUMENTS

NAMES = sorted(set(ARGUMENTS) - APPROXIMATE)


def program(kind: str) -> str:
    """Prints the bits of each function's results."""
    suffix = "f" if kind == "float" else ""
    values = {1: "x[i]", 2: "x[i], y[i]", 3: "x[i], y[i], z[i]"}
    calls = "".join(
        f"    out[{row}][i] = {name}{suffix}({values[ARGUMENTS[name]]});\n" for row, name in enumerate(NAMES)
    )
    return f"""
#include <math.h>
#include <stdio.h>
#define N 300
static {kind} x[N], y[N], z[N], out[{len(NAMES)}][N];
int main(void)
{{
  for (int i = 0; i < N; i++) {{
    x[i] = ({kind})((i * 7919 % 8009) / 200.3 - 20);
    y[i] = ({kind})((i * 4729 % 7001) / 1500.7 - 2);
    z[i] = ({kind})(i / 17.0 - 8);
  }}
#pragma scop
  for (int i = 0; i < N; i++) {{
{calls}  }}
#pragma endscop
  for (int k = 0; k < {len(NAMES)}; k++)
    for (int i = 0; i < N; i++)
      printf("%d %d %a\\n", k, i, isnan(out[k][i]) ? 0.5 : (double)out[k][i]);
  return 0;
}}
"""


@pytest.mark.skipif(not HAS_OPENCL, reason="needs an OpenCL platform")
@pytest.mark.parametrize("kind", ["double", "float"])
def test_what_is_defined_is_the_same_to_the_bit(kind, runtime, tmp_path):
    made = build(transform(program(kind), "opencl", tmp_path), "exact", runtime, tmp_path)
    done = run(made, environment={**on("opencl"), "POLYBUILD_VERBOSE": "1"})
    assert "1 runs on the device" in done.stderr
    assert done.stdout == run(made, environment=on("host")).stdout


def test_the_report_names_functions_of_the_device(tmp_path):
    text = """
#include <math.h>
static double wave(double x) { return sin(x) + sqrt(x); }
void run(int n, double *a)
{
#pragma scop
  for (int i = 0; i < n; i++)
    a[i] = wave(a[i]) + floor(a[i]) * __builtin_exp(a[i]);
#pragma endscop
}
"""
    (region,) = transform(text, "opencl", tmp_path).regions
    assert (
        "on the device '__builtin_exp', 'sin' may differ from the host's in the last bits" in region.remarks
    )
