"""The kernels that are written in all styles."""

from __future__ import annotations

from benchmarks.styles.tree import Assign, Buffer, Define, Kernel, Sum, When, nest

_SQUARE = ("n", "n")


def _sum(name: str, loops: str, term: str, result: str, *, start: str = "0", sign: str = "+") -> Sum:
    """A sum over ``loops``, which is what ``result`` assigns."""
    target, _, value = result.partition(" = ")
    return Sum(
        ((name, start),), (nest(loops, Assign(name, f"{sign}=", term)),), (Assign(target, "=", value),)
    )


PRODUCT = Kernel(
    "product",
    "double",
    {"a": _SQUARE, "b": _SQUARE, "c": _SQUARE},
    (nest("i=0:n j=0:n", _sum("s", "k=0:n", "a[i][k] * b[k][j]", "c[i][j] = s"), parallel=True),),
    size=500,
)
RANK_K = Kernel(
    "rank-k",
    "double",
    {"a": _SQUARE, "c": _SQUARE},
    (nest("i=0:n j=0:i+1", _sum("s", "k=0:n", "a[i][k] * a[j][k]", "c[i][j] = 1.5 * s"), parallel=True),),
    size=500,
)
CONVOLUTION = Kernel(
    "convolution",
    "float",
    {"p": ("(n + 8)", "(n + 8)"), "w": ("7", "7"), "q": _SQUARE},
    (
        nest(
            "y=0:n x=0:n",
            _sum("s", "i=0:7 j=0:7", "w[i][j] * p[y + i][x + j]", "q[y][x] = s"),
            parallel=True,
        ),
    ),
    size=800,
)
LAYER = Kernel(
    "layer",
    "float",
    {"w": ("16", "16", "3", "3"), "p": ("16", "(n + 8)", "(n + 8)"), "q": ("16", "n", "n")},
    (
        nest(
            "o=0:16 y=0:n x=0:n",
            _sum("s", "c=0:16 i=0:3 j=0:3", "w[o][c][i][j] * p[c][y + i][x + j]", "q[o][y][x] = s"),
            parallel=True,
        ),
    ),
    size=64,
    factor=16,
)
BODIES = Kernel(
    "bodies",
    "double",
    {"m": ("n",), "x": ("n",), "y": ("n",), "u": ("n",), "v": ("n",)},
    (
        nest(
            "i=0:n",
            Sum(
                (("fx", "0"), ("fy", "0")),
                (
                    nest(
                        "j=0:n",
                        Define("dx", "x[j] - x[i]"),
                        Define("dy", "y[j] - y[i]"),
                        Define("f", "m[j] / (dx * dx + dy * dy + 0.01)"),
                        Assign("fx", "+=", "f * dx"),
                        Assign("fy", "+=", "f * dy"),
                    ),
                ),
                (Assign("u[i]", "=", "fx"), Assign("v[i]", "=", "fy")),
            ),
            parallel=True,
        ),
    ),
    size=1500,
    power=1,
)
K_MEANS = Kernel(
    "k-means",
    "float",
    {"x": ("n", "16"), "c": ("32", "16"), "label": ("n",)},
    (
        nest(
            "i=0:n",
            Define("best", "1e30f"),
            Define("at", "0", "int"),
            nest(
                "k=0:32",
                Sum(
                    (("d", "0"),),
                    (nest("f=0:16", Define("t", "x[i][f] - c[k][f]"), Assign("d", "+=", "t * t")),),
                    (When("d < best", (Assign("best", "=", "d"), Assign("at", "=", "k"))),),
                ),
            ),
            Assign("label[i]", "=", "at"),
            parallel=True,
        ),
    ),
    size=4000,
    power=1,
    factor=16,
    types={"label": "int"},
)
DISTANCES = Kernel(
    "distances",
    "double",
    {"x": ("n", "64"), "d": _SQUARE},
    (
        nest(
            "i=0:n j=0:n",
            _sum("s", "k=0:64", "(x[i][k] - x[j][k]) * (x[i][k] - x[j][k])", "d[i][j] = 1 + s"),
            parallel=True,
        ),
    ),
    size=600,
    factor=64,
)
ATTENTION = Kernel(
    "attention",
    "float",
    {"q": ("n", "32"), "k": ("n", "32"), "v": ("n", "32"), "o": ("n", "32")},
    (
        nest(
            "i=0:n",
            Buffer("w", ("n",)),
            nest("j=0:n", _sum("s", "f=0:32", "q[i][f] * k[j][f]", "w[j] = 0.125f * s"), parallel=True),
            nest("g=0:32", _sum("r", "l=0:n", "w[l] * v[l][g]", "o[i][g] = r"), parallel=True),
            parallel=True,
        ),
    ),
    size=600,
    power=1,
    factor=32,
)
LU = Kernel(
    "lu",
    "double",
    {"a": _SQUARE},
    (
        nest(
            "i=0:n",
            nest(
                "j=0:i",
                _sum("s", "k=0:j", "a[i][k] * a[k][j]", "a[i][j] = s / a[j][j]", start="a[i][j]", sign="-"),
            ),
            nest(
                "j=i:n",
                _sum("s", "k=0:i", "a[i][k] * a[k][j]", "a[i][j] = s", start="a[i][j]", sign="-"),
                parallel=True,
            ),
        ),
    ),
    size=400,
    restored=("a",),
)
_CROSS = "0.2 * (a[i][j] + a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1])"
JACOBI = Kernel(
    "jacobi",
    "double",
    {"a": _SQUARE, "b": _SQUARE},
    (
        nest(
            "t=0:20",
            nest("i=1:n-1 j=1:n-1", Assign("b[i][j]", "=", _CROSS), parallel=True),
            nest("i=1:n-1 j=1:n-1", Assign("a[i][j]", "=", "b[i][j]"), parallel=True),
        ),
    ),
    size=600,
    restored=("a",),
)
SIGNAL = Kernel(
    "signal",
    "float",
    {"h": ("32",), "x": ("(n + 32)",), "y": ("n",)},
    (nest("i=0:n", _sum("s", "t=0:32", "h[t] * x[i + t]", "y[i] = s"), parallel=True),),
    size=100_000,
    power=1,
)
CORRELATION = Kernel(
    "correlation",
    "double",
    {"d": _SQUARE, "m": ("n",), "c": _SQUARE},
    (
        nest("l=0:n", _sum("r", "h=0:n", "d[h][l]", "m[l] = r / n"), parallel=True),
        nest(
            "i=0:n j=0:i+1",
            Sum(
                (("s", "0"),),
                (nest("k=0:n", Assign("s", "+=", "(d[k][i] - m[i]) * (d[k][j] - m[j])")),),
                (Assign("c[i][j]", "=", "s / n"), Assign("c[j][i]", "=", "c[i][j]")),
            ),
            parallel=True,
        ),
    ),
    size=400,
)
SPARSE = Kernel(
    "sparse",
    "double",
    {"at": ("(n + 1)",), "column": ("(n * 8)",), "value": ("(n * 8)",), "x": ("n",), "y": ("n",)},
    (
        nest(
            "i=0:n",
            _sum("s", "p=at[i]:at[i+1]", "value[p] * x[column[p]]", "y[i] = s"),
            parallel=True,
        ),
    ),
    size=50_000,
    power=1,
    factor=8,
    types={"at": "int", "column": "int"},
    fills={"at": "(int)(i < n ? i : n) * 8 - (int)(i % 3 == 1)", "column": "(int)(i * 7919 % (n + !n))"},
)
TABLE = Kernel(
    "table",
    "double",
    {"p": _SQUARE, "q": ("(n + 1)", "(n + 1)")},
    (
        nest(
            "i=0:n",
            Define("r", "0"),
            nest("j=0:n", Assign("r", "+=", "p[i][j]"), Assign("q[i + 1][j + 1]", "=", "q[i][j + 1] + r")),
        ),
    ),
    size=1500,
)

KERNELS = (
    PRODUCT,
    RANK_K,
    CONVOLUTION,
    LAYER,
    BODIES,
    K_MEANS,
    DISTANCES,
    ATTENTION,
    LU,
    JACOBI,
    SIGNAL,
    CORRELATION,
    SPARSE,
    TABLE,
)
