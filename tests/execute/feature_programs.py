"""Small programs without a warning that together ask for everything that a generator of C has."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

VECTORS = ("-O3", "-mavx2", "-mfma")


@dataclass(frozen=True, slots=True)
class Feature:
    """The text of a file with a region, the compiler's flags, options, and a sign that it has the feature."""

    text: str
    sign: str
    flags: tuple[str, ...] = ("-O2",)
    options: dict[str, Any] = field(default_factory=dict)


def _function(parameters: str, body: str, name: str = "f") -> str:
    """A file with a function that has ``body`` as its region."""
    lines = "\n".join(f"  {line}" for line in body.strip().splitlines())
    head = f"void {name}({parameters})"
    return f"{head};\n{head}\n{{\n#pragma scop\n{lines}\n#pragma endscop\n}}\n"


def _product(kind: str, matrix: str, total: str = "") -> str:
    arrays = f"{kind} C[restrict 300][300], {matrix} A[restrict 300][300], {matrix} B[restrict 300][300]"
    update = f"""
for (int i = 0; i < 300; i++)
  for (int j = 0; j < 300; j++) {{
    {total or "C[i][j] = 0"};
    for (int k = 0; k < 300; k++)
      {"total" if total else "C[i][j]"} += A[i][k] * B[k][j];
    {"C[i][j] = total;" if total else ""}
  }}
"""
    return _function(arrays, update)


FEATURES = {
    "register tiles": Feature(_product("double", "double"), "in registers", VECTORS),
    "register tiles of int": Feature(_product("int", "int"), "in registers", VECTORS),
    "register tiles of float": Feature(_product("float", "float"), "in registers", VECTORS),
    "register tiles that widen": Feature(
        _product("double", "float", "double total = 0"), "in registers", VECTORS
    ),
    "sums of short": Feature(_product("int", "short"), "for ("),
    "vectors of AVX-512": Feature(
        _product("double", "double"), "polybuild_double8", ("-O3", "-mavx512f", "-mfma")
    ),
    "time tiles": Feature(
        _function(
            "int n, double *restrict a, double *restrict b",
            """
for (int t = 0; t < 50; t++) {
  for (int i = 1; i < n - 1; i++)
    b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3;
  for (int i = 1; i < n - 1; i++)
    a[i] = (b[i - 1] + b[i] + b[i + 1]) / 3;
}
""",
        ),
        "polybuild_floordiv",
    ),
    "a wavefront": Feature(
        _function(
            "double a[2000][2000]",
            """
for (int i = 1; i < 2000; i++)
  for (int j = 1; j < 2000; j++)
    a[i][j] = 1 / (1 + 1 / (a[i - 1][j] + a[i][j - 1]));
""",
        ),
        "for (long long c0",
        options={"schedule": "isl"},
    ),
    "lanes": Feature(
        "double sqrt(double);\n"
        + _function(
            "int n, double (*restrict A)[8], double (*restrict B)[8], double *restrict d, int *restrict at",
            """
for (int i = 0; i < n; i++) {
  int k = 0;
  double least = 9;
  for (int j = 0; j < n; j++) {
    double s = 0;
    for (int q = 0; q < 8; q++) {
      double t = A[i][q] - B[j][q];
      s += t * t;
    }
    if (s < least) {
      least = s;
      k = j;
    }
  }
  at[i] = k;
  d[i] = sqrt(least);
}
""",
        ),
        "polybuild_select",
        ("-O3", "-mavx2", "-mfma", "-fno-math-errno"),
    ),
    "an inspector": Feature(
        _function(
            "int n, const int *at, const int *column, const double *x, double *y",
            """
for (int i = 0; i < n; i++) {
  y[i] = 0;
  for (int k = at[i]; k < at[i + 1]; k++)
    y[i] += x[column[k]];
}
""",
        ),
        "which elements are touched",
    ),
    "reductions": Feature(
        "extern double total, largest;\nextern int count;\nextern long long sum;\n"
        + _function(
            "int n, const double *restrict a, const int *restrict b",
            """
for (int i = 0; i < n; i++)
  total += a[i];
for (int i = 0; i < n; i++)
  largest = a[i] > largest ? a[i] : largest;
for (int i = 0; i < n; i++)
  count += b[i] * b[i];
for (int i = 0; i < n; i++)
  sum += b[i];
for (int i = 0; i < n; i++)
  if (b[i] > 3)
    count = count + b[i] - 1;
""",
        ),
        "reduction(",
        options={"allow_reassociation": True},
    ),
    "copies": Feature(
        _function(
            "float image[200][200], float blurred[200][200]",
            """
float rows[200][200];
for (int i = 0; i < 200; i++)
  for (int j = 1; j < 199; j++)
    rows[i][j] = (image[i][j - 1] + image[i][j] + image[i][j + 1]) / 3;
for (int i = 1; i < 199; i++)
  for (int j = 1; j < 199; j++)
    blurred[i][j] = (rows[i - 1][j] + rows[i][j] + rows[i + 1][j]) / 3;
""",
        ),
        "rows_buffer",
    ),
    "counters of the user's": Feature(
        "extern int i, used;\n"
        + _function(
            "unsigned n, int m, double *restrict a, float *restrict b, short *restrict c, int at[restrict]",
            """
int j, k;
for (unsigned k1 = 0; k1 < n; k1++)
  a[k1] = k1;
for (j = 0; j < m; j++)
  at[j] = j;
for (k = m - 1; k >= 0; k--)
  c[k] = (short)k;
for (int l = 3; l < m; l += 2)
  b[l] = (float)(l * l) + (float)j;
used = j + k;
""",
        ),
        "(int)",
    ),
    "blocks of statements": Feature(
        _function(
            "int n, int m, double *a, const double *b, int *c",
            """
for (int i = 0; i < n; i++) {
  double x = b[i];
  if (c[i] > 2) {
    a[i] = x * 2;
    c[i] = 3;
  } else if (i < m) {
    int y = c[i] + 1;
    c[i] = y * y;
  }
}
""",
        ),
        "must not overlap",
    ),
    "a checked region": Feature(
        _function(
            "int n, double (*restrict a)[90]",
            """
for (int i = 0; i < n; i++)
  for (int j = 1; j < 90; j++)
    a[i][j] = a[i][j - 1] + 1;
""",
        ),
        "polybuild_verify_begin",
        options={"verify": True},
    ),
    "kernels of OpenCL": Feature(
        _product("float", "float"), "polybuild_launch", options={"backend": "opencl"}
    ),
}
