"""The kernels that are written in all styles."""

from __future__ import annotations

from benchmarks.styles.styles import Kernel, Sum

_SQUARE = ("n", "n")

KERNELS = (
    Kernel(
        "product",
        "double",
        {"a": _SQUARE, "b": _SQUARE, "c": _SQUARE},
        (("i", "0", "n"), ("j", "0", "n")),
        (("k", "0", "n"),),
        (Sum("s", "a[i][k] * b[k][j]", "c[i][j] = @"),),
        size=500,
    ),
    Kernel(
        "rank-k",
        "double",
        {"a": _SQUARE, "c": _SQUARE},
        (("i", "0", "n"), ("j", "0", "i + 1")),
        (("k", "0", "n"),),
        (Sum("s", "a[i][k] * a[j][k]", "c[i][j] = 1.5 * @"),),
        size=500,
    ),
    Kernel(
        "convolution",
        "float",
        {"p": ("n + 8", "n + 8"), "w": ("7", "7"), "q": _SQUARE},
        (("y", "0", "n"), ("x", "0", "n")),
        (("i", "0", "7"), ("j", "0", "7")),
        (Sum("s", "w[i][j] * p[y + i][x + j]", "q[y][x] = @"),),
        size=800,
    ),
    Kernel(
        "layer",
        "float",
        {"w": ("16", "16", "3", "3"), "p": ("16", "n + 8", "n + 8"), "q": ("16", "n", "n")},
        (("o", "0", "16"), ("y", "0", "n"), ("x", "0", "n")),
        (("c", "0", "16"), ("i", "0", "3"), ("j", "0", "3")),
        (Sum("s", "w[o][c][i][j] * p[c][y + i][x + j]", "q[o][y][x] = @"),),
        size=64,
        factor=16,
    ),
    Kernel(
        "bodies",
        "double",
        {"m": ("n",), "x": ("n",), "y": ("n",), "u": ("n",), "v": ("n",)},
        (("i", "0", "n"),),
        (("j", "0", "n"),),
        (Sum("fx", "f * dx", "u[i] = @"), Sum("fy", "f * dy", "v[i] = @")),
        size=1500,
        power=1,
        definitions=(
            ("dx", "x[j] - x[i]"),
            ("dy", "y[j] - y[i]"),
            ("f", "m[j] / (dx * dx + dy * dy + 0.01)"),
        ),
    ),
    Kernel(
        "distances",
        "double",
        {"x": ("n", "64"), "d": _SQUARE},
        (("i", "0", "n"), ("j", "0", "n")),
        (("k", "0", "64"),),
        (Sum("s", "(x[i][k] - x[j][k]) * (x[i][k] - x[j][k])", "d[i][j] = 1 + @"),),
        size=600,
        factor=64,
    ),
    Kernel(
        "signal",
        "float",
        {"h": ("32",), "x": ("n + 32",), "y": ("n",)},
        (("i", "0", "n"),),
        (("t", "0", "32"),),
        (Sum("s", "h[t] * x[i + t]", "y[i] = @"),),
        size=100_000,
        power=1,
    ),
)
