"""Memory of private variables out of the way: the original's, and bounded buffers for each thread."""

from __future__ import annotations

import math
import os
import re
import subprocess

import pytest

from polybuild.driver.file import compile_source
from polybuild.options import Options

N = 1200
PROGRAM = """\
#include <stdio.h>
#include <sys/resource.h>
enum {{ N = {n} }};
static double A[N][N], B[N][N], C[N][N];
static int D[N];
static void run(int n, double f)
{{
#pragma scop
{body}
#pragma endscop
  (void)f;
}}
int main(void)
{{
  struct rusage used;
  double sum = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      A[i][j] = i + j, B[i][j] = i - j, C[i][j] = 1;
#pragma omp parallel reduction(+ : sum)
  sum += A[0][1];
  run(N, 2);
  getrusage(RUSAGE_SELF, &used);
  printf("%ld\\n", used.ru_maxrss);
  return C[3][4] + D[3] + sum > 1e300;
}}
"""
BODIES = {
    "buffer": """for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) {
        double s = 0; for (int k = 0; k < n; k++) s += A[i][k] * B[k][j]; C[i][j] = f * s + f * C[i][j]; }""",
    "row": """for (int i = 0; i < n; i++) { double r[N]; for (int j = 0; j < n; j++) r[j] = 0;
        for (int k = 0; k < n; k++) for (int j = 0; j < n; j++) r[j] += A[i][k] * B[k][j];
        for (int j = 0; j < n; j++) C[i][j] += f * r[j]; }""",
    "lanes": """for (int i = 0; i < n; i++) { double best = 1e300; int place = 0;
        for (int j = 0; j < 40; j++) { double s = 0;
          for (int k = 0; k < 24; k++) s += (A[i][k] - B[j][k]) * (A[i][k] - B[j][k]);
          if (s < best) { best = s; place = j; } }
        C[i][0] = best; D[i] = place; }""",
}
# for the stacks of threads, and pages that are begun
_PAGES = 200
_BUFFER = re.compile(r"^ +double \w+((?:\[\d+\])+)", re.MULTILINE)


def peak(source, threads):
    """The most memory that ``source`` has at one time, in KiB."""
    program = source.with_suffix("")
    flags = ["-O2", "-fopenmp", "-mavx2", "-mfma", "-Wno-unknown-pragmas"]
    subprocess.run(["gcc", *flags, str(source), "-o", str(program)], check=True, timeout=120)
    done = subprocess.run(
        [str(program)],
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
        env=os.environ | {"OMP_NUM_THREADS": str(threads)},
    )
    return int(done.stdout)


@pytest.mark.parametrize("name", BODIES)
def test_memory_grows_by_buffers_alone(tmp_path, name):
    source, transformed = tmp_path / "memory.c", tmp_path / "transformed.c"
    source.write_text(PROGRAM.format(n=N, body=BODIES[name]))
    result = compile_source(str(source), Options(), ["gcc"], ["-O2", "-fopenmp", "-mavx2", "-mfma"])
    assert result.regions[0].status == "transformed", result.regions
    transformed.write_text(result.text)
    new = result.text[: result.text.index("/* the original loops */")]
    buffers = [math.prod(map(int, re.findall(r"\d+", each))) * 8 / 1024 for each in _BUFFER.findall(new)]
    assert buffers or name == "lanes"
    assert sum(buffers) < 2048
    for threads in (1, 2):
        more = threads * (sum(buffers) + _PAGES)
        assert peak(transformed, threads) <= 1.01 * peak(source, threads) + more
