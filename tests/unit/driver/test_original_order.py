"""Threads share the original loops where others are not known to be better."""

from __future__ import annotations

import re

import pytest

from polybuild.driver.file import compile_source
from polybuild.options import Options

FLAGS = ["-O3", "-march=x86-64-v4", "-fopenmp"]

DIGITS = """
void digits(const unsigned char *in, char *out, int n) {
#pragma scop
  for (int i = 0; i < n; i++) {
    int high = in[i] >> 4, low = in[i] & 15;
    out[2 * i] = high < 10 ? '0' + high : 'a' + high - 10;
    out[2 * i + 1] = low < 10 ? '0' + low : 'a' + low - 10;
  }
#pragma endscop
}
"""

DECIMATE = """
void decimate(const float *restrict in, float *restrict out, const float *restrict h, int n) {
#pragma scop
  for (int i = 0; i < n; i++) {
    out[i] = 0;
    for (int k = 0; k < 16; k++)
      out[i] += h[k] * in[4 * i + k];
  }
#pragma endscop
}
"""

HAMMING = """
void hamming(int words, int length, const unsigned char *a, const unsigned char *b, int *distance) {
#pragma scop
  for (int i = 0; i < words; i++)
    for (int j = 0; j < words; j++) {
      int d = 0;
      for (int k = 0; k < length; k++)
        d += a[i * length + k] != b[j * length + k];
      distance[i * words + j] = d;
    }
#pragma endscop
}
"""

ROWS = """
void product(double **a, const double *x, double *y, int n) {
#pragma scop
  for (int i = 0; i < n; i++) {
    y[i] = 0;
    for (int j = 0; j < n; j++)
      y[i] += a[i][j] * x[j];
  }
#pragma endscop
}
"""

PIXELS = """
struct pixel { unsigned char r, g, b; };
void recolour(int n, const struct pixel *in, struct pixel *out, const int *m) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      const struct pixel *p = &in[i * n + j];
      struct pixel *q = &out[i * n + j];
      q->r = (m[0] * p->r + m[1] * p->g + m[2] * p->b) >> 8;
      q->g = (m[3] * p->r + m[4] * p->g + m[5] * p->b) >> 8;
      q->b = (m[6] * p->r + m[7] * p->g + m[8] * p->b) >> 8;
    }
#pragma endscop
}
"""

STEPS = """
void steps(int n, int m, double A[restrict 2][n]) {
#pragma scop
  for (int t = 0; t < m; t++)
    for (int i = 1; i < n - 1; i++)
      A[(t + 1) % 2][i] = A[t % 2][i - 1] + A[t % 2][i + 1];
#pragma endscop
}
"""


def new_loops(tmp_path, text, **options):
    path = tmp_path / "in.c"
    path.write_text(text)
    result = compile_source(str(path), Options(**options), ["gcc"], FLAGS)
    return re.search(r"the new order.*?else { /\* the original", result.text, flags=re.DOTALL)[0]


@pytest.mark.parametrize("text", [DIGITS, DECIMATE, HAMMING, PIXELS])
def test_threads_share_the_loops_as_they_are(tmp_path, text):
    """Stores side by side, terms that compilers unroll and sums of whole numbers stay what they know."""
    found = new_loops(tmp_path, text)
    assert found.count("parallel for") == 1
    assert found.count("for (long long") == text.count("for (int")
    assert "tile_" not in found
    assert "reduction" not in found


def test_lanes_go_along_rows_that_pointers_lead_to(tmp_path):
    assert "a_window[" in new_loops(tmp_path, ROWS)


def test_what_is_asked_for_is_done(tmp_path):
    assert "tile_" in new_loops(tmp_path, HAMMING, tile_sizes=(32, 32))


def test_threads_are_not_started_in_each_step(tmp_path):
    """Loops over time have their tiles: what threads share stands inside of the original ones."""
    assert "tile_" in new_loops(tmp_path, STEPS)
