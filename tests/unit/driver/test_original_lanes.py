"""The original loops in lanes, where private variables that are expanded would take longer."""

from __future__ import annotations

import pytest

from polybuild.driver.file import compile_source
from polybuild.options import Options

PARAMETERS = "int n, int m, const double *restrict x, const double *restrict a, double *restrict y"
# sums over a window, along which elements of its own are loaded for each result
WINDOWS = {
    "inside": "for (int i = 0; i < n - m; i++) { double s = 0;"
    " for (int j = 0; j < m; j++) s += x[i + j]; y[i] = s / m; }",
    "outside": "double s; for (int i = 0; i < n - m; i++) { s = 0.0;"
    " for (int j = 0; j < m; j++) s = s + x[i + j]; y[i] = s / m; }",
    "from the end": "for (int i = m; i < n; i++) { double s = 0;"
    " for (int j = 0; j < m; j++) s += x[i - j]; y[i] = s / m; }",
    "weighted": "for (int i = 0; i < n - m; i++) { double s = 0;"
    " for (int j = 0; j < m; j++) s += a[j] * x[i + j]; y[i] = s; }",
    "by pointer": "for (int i = 0; i < n - m; i++) { const double *p = x + i; double s = 0;"
    " for (int j = 0; j < m; j++) s += p[j]; y[i] = s / m; }",
    # two sums in each row, of which lanes load rows together
    "paths": "for (int i = 0; i < n; i++) { double p = 100, s = 0;"
    " for (int j = 0; j < m; j++) { p *= 1 + 0.01 * x[i * m + j]; s += p; } y[i] = s / m; }",
}
PRODUCT = (
    "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) { double s = 0;"
    " for (int k = 0; k < m; k++) s += x[i * m + k] * a[k * m + j]; y[i * m + j] = s; }"
)


def transformed(tmp_path, body):
    """The text that ``body`` becomes, as a region of a function."""
    path = tmp_path / "in.c"
    path.write_text(f"void f({PARAMETERS})\n{{\n#pragma scop\n{body}\n#pragma endscop\n}}\n")
    flags = ["-O3", "-march=sapphirerapids", "-ffp-contract=off", "-fopenmp"]
    return compile_source(str(path), Options(), ["gcc"], flags).text


@pytest.mark.parametrize("form", WINDOWS)
def test_sums_over_windows_are_in_lanes(form, tmp_path):
    text = transformed(tmp_path, WINDOWS[form])
    assert "lanes_0" in text
    assert "in registers" not in text


def test_products_keep_their_register_tiles(tmp_path):
    assert "in registers" in transformed(tmp_path, PRODUCT)
