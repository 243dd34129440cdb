"""Private variables out of the way: what is computed equals, to the bit, what the original computes."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from compiling import SANITIZED, output, write

from polybuild.c import explicit_conversions
from polybuild.c.types import FloatingType
from polybuild.driver.file import compile_source
from polybuild.options import Options

PROGRAM = """\
#include <math.h>
#include <stdio.h>
#include <string.h>
enum {{ MOST = 150 }};
typedef {type} real;
#define min(a, b) ((a) < (b) ? (a) : (b))
static void run(int n, real f, real A[n][n], real B[n][n], real C[n][n], real D[n][n])
{{
#pragma scop
{body}
#pragma endscop
  (void)f; (void)A; (void)B; (void)D;
}}
static real storage[4][MOST * MOST];
int main(void)
{{
  static const int sizes[] = {{0, 1, 2, 7, 33, 100, 150}};
  for (int s = 0; s < 7; s++) {{
    int n = sizes[s];
    unsigned seed = 1, bits;
    unsigned long long sum = 0;
    for (int a = 0; a < 4; a++)
      for (int i = 0; i < n * n; i++)
        seed = seed * 1664525u + 1013904223u,
        storage[a][i] = (real)(((seed >> 8) / 16777216.0 - 0.5) * {scale});
    if (n > 1)
      run(n, (real)1.5, (void *)storage[0], (void *)storage[1], (void *)storage[2], (void *)storage[3]);
    for (int a = 2; a < 4; a++)
      for (int i = 0; i < (int)(sizeof(real) / 4) * n * n; i++)
        memcpy(&bits, (char *)storage[a] + 4 * i, 4), sum = sum * 31 + bits;
    printf("%d %llu\\n", n, sum);
  }}
  return 0;
}}
"""
LOOPS = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)"
SUM = "for (int k = 0; k < n; k++) s += A[i][k] * B[k][j];"

IN_ELEMENTS = {
    "inside": f"{LOOPS} {{ real s = 0; {SUM} C[i][j] = s; }}",
    "outside": f"real s; {LOOPS} {{ s = 0; {SUM} C[i][j] = s; }}",
    "begun with the element": f"{LOOPS} {{ real s = C[i][j]; {SUM} C[i][j] = s; }}",
    "scaled first": f"{LOOPS} {{ real s = f * C[i][j]; {SUM} C[i][j] = s; }}",
    "scaled last": f"{LOOPS} {{ real s = 0; {SUM} C[i][j] = f * s; }}",
    "square root": f"{LOOPS} {{ real s = 1000; {SUM} C[i][j] = (real)sqrt((double)s); }}",
    "triangle": """for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++) {
        real s = 0; for (int k = 0; k < n; k++) s += A[i][k] * A[j][k]; C[i][j] = s; }""",
    "both triangles": """for (int i = 0; i < n; i++) for (int j = i; j < n; j++) {
        real s = 0; for (int k = 0; k < n; k++) s += A[k][i] * A[k][j]; C[i][j] = s; C[j][i] = s; }""",
    "both triangles at once": """for (int i = 0; i < n; i++) for (int j = i + 1; j < n; j++) { real s = 0;
        for (int k = 0; k < n; k++) { real t = A[i][k] - A[j][k]; s += t * t; }
        C[i][j] = C[j][i] = (real)sqrt((double)s); }""",
    "both triangles by a variable": """for (int i = 0; i < n; i++) for (int j = i + 1; j < n; j++) {
        real s = 0; for (int k = 0; k < n; k++) { real t = A[i][k] - A[j][k]; s += t * t; }
        s = (real)sqrt((double)s); C[i][j] = s; C[j][i] = s; }""",
    "both triangles by another": """for (int i = 0; i < n; i++) for (int j = i + 1; j < n; j++) {
        real s = 0, r; for (int k = 0; k < n; k++) { real t = A[i][k] - A[j][k]; s += t * t; }
        r = (real)sqrt((double)s); C[j][i] = r; C[i][j] = r; }""",
    "three places": f"{LOOPS} {{ real s = 0; {SUM} C[i][j] = D[j][i] = s; }}",
    "while": """int i = 0; while (i < n) { int j = 0; while (j < n) { real s = 0; int k = 0;
        while (k < n) { s += A[i][k] * B[k][j]; k++; } C[i][j] = s; j++; } i++; }""",
    "backwards": """for (int i = n - 1; i >= 0; i--) for (int j = n - 1; j >= 0; j--) {
        real s = 0; for (int k = n - 1; k >= 0; k--) s += A[i][k] * B[k][j]; C[i][j] = s; }""",
    "row buffer": """for (int i = 0; i < n; i++) { real r[n];
        for (int j = 0; j < n; j++) r[j] = 0;
        for (int k = 0; k < n; k++) for (int j = 0; j < n; j++) r[j] += A[i][k] * B[k][j];
        for (int j = 0; j < n; j++) C[i][j] = r[j]; }""",
    "difference": """for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) { real s = 0;
        for (int k = 0; k < n; k++) { real t = A[i][k] - B[j][k]; s += t * t; } C[i][j] = s; }""",
    "factor": """for (int i = 0; i < n; i++) for (int k = 0; k < n; k++) { real t = f * A[i][k];
        for (int j = 0; j < n; j++) C[i][j] += t * B[k][j]; }""",
    "complex": """for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) { real s = 0, t = 0;
        for (int k = 0; k < n; k++) { s += A[i][k] * B[k][j] - A[k][i] * B[j][k];
        t += A[i][k] * B[j][k] + A[k][i] * B[k][j]; } C[i][j] = s; D[i][j] = t; }""",
    "factorisation": """for (int i = 0; i < n; i++) { C[i][i] += 1000;
        for (int j = 0; j < i; j++) { real w = C[i][j];
        for (int k = 0; k < j; k++) w -= C[i][k] * C[k][j]; C[i][j] = w / C[j][j]; }
        for (int j = i; j < n; j++) { real w = C[i][j];
        for (int k = 0; k < i; k++) w -= C[i][k] * C[k][j]; C[i][j] = w; } }""",
    "factorisation with a negated factor": """for (int i = 0; i < n; i++) { C[i][i] += 1000;
        for (int j = 0; j < i; j++) {
        for (int k = 0; k < j; k++) C[i][j] -= C[i][k] * C[k][j]; C[i][j] = C[i][j] / C[j][j]; }
        for (int k = 0; k < i; k++) { real w = -C[i][k]; for (int j = i; j < n; j++) C[i][j] += w * C[k][j]; }
        }""",
    "factorisation of a symmetric matrix": """for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++) {
        real w = A[i][j] + (i == j) * 1000;
        for (int k = 0; k < j; k++) w -= C[i][k] * C[j][k];
        if (i == j) C[i][i] = (real)sqrt((double)w); else C[i][j] = w / C[j][j]; }""",
    "factorisation with its diagonal apart": """for (int i = 0; i < n; i++) for (int j = i; j < n; j++) {
        real w = A[j][i] + (i == j) * 1000;
        for (int k = 0; k < i; k++) w -= C[i][k] * C[j][k];
        if (i == j) D[0][i] = (real)sqrt((double)w); else C[j][i] = w / D[0][i]; }""",
    "factorisation by columns": """for (int j = 0; j < n; j++) { real d = C[j][j] + 1000;
        for (int k = 0; k < j; k++) d -= C[j][k] * C[j][k];
        d = (real)sqrt((double)d); C[j][j] = d;
        for (int i = j + 1; i < n; i++) { real s = C[i][j];
        for (int k = 0; k < j; k++) s -= C[i][k] * C[j][k]; C[i][j] = s / d; } }""",
    "two arrays": f"{LOOPS} {{ real s = 0; {SUM} if (2 * j < n) C[i][j] = s; else D[i][j] = 2 * s; }}",
    "blocks": """for (int ii = 0; ii < n; ii += 32) for (int kk = 0; kk < n; kk += 48)
        for (int i = ii; i < min(ii + 32, n); i++) for (int j = 0; j < n; j++) { real s = C[i][j];
        for (int k = kk; k < min(kk + 48, n); k++) s += A[i][k] * B[k][j]; C[i][j] = s; }""",
    "two products": f"""{LOOPS} {{ real s = 0; {SUM} C[i][j] = s; }}
        {LOOPS} {{ real s = 0; for (int k = 0; k < n; k++) s += C[i][k] * B[j][k]; D[i][j] = s; }}""",
    "even and odd terms": f"""{LOOPS} {{ real s = 0, t = 0; for (int k = 0; k < n - 2; k++) {{
        for (int l = 0; l + 1 < 3; l += 2) {{
        s += A[i][k + l] * B[k + l][j]; t += A[i][k + l + 1] * B[k + l + 1][j]; }}
        for (int l = 3 - 3 % 2; l < 3; l++) s += A[i][k + l] * B[k + l][j]; }}
        C[i][j] = s + t; }}""",
}
IN_BUFFERS = {
    "added": f"{LOOPS} {{ real s = 0; {SUM} C[i][j] += s; }}",
    "scaled and added": f"{LOOPS} {{ real s = 0; {SUM} C[i][j] = f * s + 2 * C[i][j]; }}",
    "triangle": """for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++) { real s = 0;
        for (int k = 0; k < n; k++) s += A[i][k] * A[j][k]; C[i][j] = f * s + C[i][j]; }""",
    "two sums": """for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) { real s = 0, t = 0;
        for (int k = 0; k < n; k++) { s += A[i][k] * B[k][j]; t += A[k][i] * B[k][j]; } C[i][j] = s * t; }""",
    "two elements": f"{LOOPS} {{ real s = 0; {SUM} C[i][j] += s; D[j][i] -= s; }}",
}
OVER_ONE_LOOP = {
    "rows": """for (int i = 0; i < n; i++) { real s = 0;
        for (int j = 0; j < n; j++) s += A[i][j] * B[0][j]; C[0][i] = f * s + C[0][i]; }""",
    "columns": """for (int j = 0; j < n; j++) { real s = 0;
        for (int i = 0; i < n; i++) s += A[i][j] * B[0][i]; C[0][j] += s; }""",
    "bodies": """for (int i = 0; i < n; i++) { real u = 0, v = 0;
        for (int j = 0; j < n; j++) { real x = A[0][j] - A[0][i], y = B[0][j] - B[0][i];
        real w = D[1][j] / (x * x + y * y + 1); u += w * x; v += w * y; }
        C[0][i] += u; D[0][i] -= v; }""",
}
# each nest has what it has alone
NESTS = {
    "two of them": f"""{LOOPS} {{ real s = 0; {SUM} C[i][j] += s; }}
        {LOOPS} {{ real s = 0; for (int k = 0; k < n; k++) s += C[i][k] * B[k][j]; D[i][j] -= f * s; }}""",
    "one variable": f"""real s; {LOOPS} {{ s = 0; {SUM} C[i][j] += s; }}
        {LOOPS} {{ s = 1; {SUM} D[i][j] -= s; }}""",
    "first and last ones": f"""{LOOPS} D[i][j] = A[i][j] + 1; {LOOPS} {{ real s = 0; {SUM} C[i][j] += s; }}
        {LOOPS} D[i][j] = D[i][j] * C[i][j];""",
    "an element and a buffer": f"""{LOOPS} {{ real s = 0; {SUM} C[i][j] = s; }}
        {LOOPS} {{ real s = 0; for (int k = 0; k < n; k++) s += C[i][k] * B[k][j]; D[i][j] += s; }}""",
    "a sum that stays": f"""{LOOPS} {{ real s = 0; {SUM} C[i][j] += s; }}
        real t = 0; for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) t += C[i][j]; D[0][0] = t;""",
    "statements beside": f"""{LOOPS} {{ real s = 0; {SUM} C[i][j] += s; }} C[0][0] = 7; D[0][1] = C[0][1];
        {LOOPS} {{ real s = C[i][j]; {SUM} D[j][i] += s; }}""",
}
ROWS = {
    "added": """for (int i = 0; i < n; i++) { real r[n];
        for (int j = 0; j < n; j++) r[j] = 0;
        for (int k = 0; k < n; k++) for (int j = 0; j < n; j++) r[j] += A[i][k] * B[k][j];
        for (int j = 0; j < n; j++) C[i][j] += r[j]; }""",
    "longer": """for (int i = 0; i < n; i++) { real r[MOST];
        for (int j = 0; j < n; j++) r[j] = C[i][j];
        for (int k = 0; k < n; k++) for (int j = 0; j < n; j++) r[j] += A[i][k] * B[k][j];
        for (int j = 0; j < n; j++) D[i][j] += f * r[j]; }""",
    "around the loops": """real r[MOST]; for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) r[j] = 0;
        for (int j = 0; j < n; j++) for (int k = 0; k < n; k++) r[j] += A[i][k] * B[k][j];
        for (int j = 0; j < n; j++) C[i][j] -= r[j]; }""",
}
COPIES = {
    "transposed": f"""real T[n][n]; for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) T[j][i] = B[i][j];
        {LOOPS} {{ real s = 0; for (int k = 0; k < n; k++) s += A[i][k] * T[j][k]; C[i][j] = s; }}""",
    "row": """for (int i = 0; i < n; i++) { real r[MOST];
        for (int k = 0; k < n; k++) r[k] = A[i][k];
        for (int j = 0; j < n; j++) { real s = 0; for (int k = 0; k < n; k++) s += r[k] * B[k][j];
        C[i][j] = s; } }""",
    "scaled row": """real r[MOST]; for (int i = 0; i < n; i++) {
        for (int k = 0; k < n; k++) r[k] = f * A[i][k];
        for (int k = 0; k < n; k++) for (int j = 0; j < n; j++) C[i][j] += r[k] * B[k][j]; }""",
    "column to a buffer": """for (int j = 0; j < n; j++) { real r[n];
        for (int k = 0; k < n; k++) r[k] = B[k][j];
        for (int i = 0; i < n; i++) { real s = 0; for (int k = 0; k < n; k++) s += A[i][k] * r[k];
        C[i][j] += s; } }""",
}
# each of these is wrong if it is read where it came from
CHANGED_COPIES = {
    "of what changes": """for (int i = 0; i < n; i++) { real r[MOST];
        for (int k = 0; k < n; k++) r[k] = C[i][k];
        for (int k = 0; k < n; k++) for (int j = 0; j < n; j++) C[i][j] += r[k] * B[k][j]; }""",
    "changed itself": """for (int i = 0; i < n; i++) { real r[MOST];
        for (int k = 0; k < n; k++) r[k] = A[i][k];
        r[0] = 3; for (int k = 0; k < n; k++) for (int j = 0; j < n; j++) C[i][j] += r[k] * B[k][j]; }""",
    "of the row before": """real r[MOST]; for (int k = 0; k < n; k++) r[k] = 1;
        for (int i = 0; i < n; i++) {
        for (int k = 0; k < n; k++) for (int j = 0; j < n; j++) C[i][j] += r[k] * B[k][j];
        for (int k = 0; k < n; k++) r[k] = A[i][k]; }""",
    "of half of them": """for (int i = 0; i < n; i++) { real r[MOST];
        for (int k = 0; k < n; k++) r[k / 2] = A[i][k];
        for (int k = 0; k < n / 2; k++) for (int j = 0; j < n; j++) C[i][j] += r[k] * B[k][j]; }""",
}
CONVERTED = {
    "product": ("float", f"{LOOPS} {{ double s = 0; {SUM} C[i][j] = (real)s; }}"),
    "converted first": (
        "float",
        f"""{LOOPS} {{ double s = 0; for (int k = 0; k < n; k++) s += (double)A[i][k] * B[k][j];
        C[i][j] += (real)s; }}""",
    ),
    "converted both": (
        "float",
        f"""{LOOPS} {{ double s = C[i][j]; for (int k = 0; k < n; k++)
        s = s + (double)A[i][k] * (double)B[k][j]; C[i][j] = (real)(f * s); }}""",
    ),
    "difference": (
        "float",
        f"""{LOOPS} {{ double s = 0; for (int k = 0; k < n; k++) {{
        real t = A[i][k] - B[j][k]; s += t * t; }} C[i][j] = (real)s; }}""",
    ),
    "converted difference": (
        "float",
        f"""{LOOPS} {{ double s = 0; for (int k = 0; k < n; k++) {{
        double t = A[i][k] - B[j][k]; s += t * t; }} C[i][j] = (real)s; }}""",
    ),
    "half": (
        "float",
        f"""{LOOPS} {{ double s = 0; for (int k = 0; k < n; k++) s -= A[i][k] * 0.5f * B[k][j] + 2;
        C[i][j] = (real)s; }}""",
    ),
    "row": (
        "float",
        """for (int i = 0; i < n; i++) { double r[n]; for (int j = 0; j < n; j++) r[j] = 0;
        for (int k = 0; k < n; k++) for (int j = 0; j < n; j++) r[j] += A[i][k] * B[k][j];
        for (int j = 0; j < n; j++) C[i][j] = (real)r[j]; }""",
    ),
    "integers": ("int", f"{LOOPS} {{ long s = 0; {SUM} C[i][j] = (real)(s >> 3); }}"),
    "long products": (
        "int",
        f"""{LOOPS} {{ long s = 0; for (int k = 0; k < n; k++) s += (long)A[i][k] * B[k][j];
        C[i][j] = (real)s; }}""",
    ),
    "integers to the element": ("int", f"{LOOPS} {{ real s = 0; {SUM} C[i][j] = s; }}"),
    "integers to doubles": (
        "int",
        f"{LOOPS} {{ double s = 0.5; {SUM} C[i][j] = (real)s; }}",
    ),
    "unsigned": (
        "int",
        f"""{LOOPS} {{ unsigned s = 7; for (int k = 0; k < n; k++)
        s += (unsigned)A[i][k] * (unsigned)B[k][j]; C[i][j] = (real)(s >> 1); }}""",
    ),
}
# rows whose values go to sums over all of them: a strip of iterations has a row for each
STRIPS = {
    "attention": """for (int i = 0; i < n; i++) { real r[n];
        for (int j = 0; j < n; j++) { real s = 0; for (int k = 0; k < n; k++) s += A[i][k] * B[j][k];
        r[j] = f * s; }
        for (int g = 0; g < n; g++) { real s = 0; for (int j = 0; j < n; j++) s += r[j] * D[j][g];
        C[i][g] = s; } }""",
    "softmax": """for (int i = 0; i < n; i++) { real r[n], m = -1000, z = 0;
        for (int j = 0; j < n; j++) { real s = 0; for (int k = 0; k < n; k++) s += A[i][k] * B[j][k];
        r[j] = s; if (r[j] > m) m = r[j]; }
        for (int j = 0; j < n; j++) { r[j] = (real)exp((double)(r[j] - m)); z += r[j]; }
        for (int g = 0; g < n; g++) { real s = 0; for (int j = 0; j < n; j++) s += r[j] * D[j][g];
        C[i][g] = s / z; } }""",
    "from the second on": """for (int i = 1; i < n; i++) { real r[n];
        for (int j = 1; j < n; j++) { r[j] = 1; for (int k = 0; k < i; k++) r[j] += A[i][k] * B[k][j]; }
        for (int g = 0; g < n; g++) { real s = 0; for (int j = 1; j < n; j++) s += r[j] * B[j][g];
        C[i][g] = s; } }""",
    "two rows": """for (int i = 0; i < n; i++) { real r[n], q[n];
        for (int j = 0; j < n; j++) { r[j] = 0; q[j] = 0;
        for (int k = 0; k < n; k++) { r[j] += A[i][k] * B[k][j]; q[j] += A[k][i] * B[k][j]; } }
        for (int g = 0; g < n; g++) { real s = 0;
        for (int j = 0; j < n; j++) s += r[j] * D[j][g] + q[j]; C[i][g] = s; } }""",
}
# what must stay as it is, or go elsewhere: each of them is wrong if a value is in an element too long
OTHERS = {
    "read meanwhile": """for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) { real s = 0;
        for (int k = 0; k < n; k++) s += C[i][k] * B[k][j]; C[i][j] = s; }""",
    "sometimes": f"{LOOPS} {{ real s = 0; {SUM} if (A[i][j] > 0) C[i][j] = s; }}",
    "half of them": f"{LOOPS} {{ real s = 0; {SUM} if (j >= i) C[i][j] = s; }}",
    "both at times": f"""{LOOPS} {{ real s = 0; {SUM}
        if (j <= i) C[i][j] = s; if (j >= i) D[i][j] = s; }}""",
    "read beside": """for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) { real s = 0;
        for (int k = 0; k < n; k++) s += A[i][k] * D[k][j];
        if (j < i) C[i][j] = s; else D[i][j] = s; }""",
    "one element": f"{LOOPS} {{ real s = 0; {SUM} C[0][0] = s; D[i][j] = C[0][0]; }}",
    "shifted": f"""for (int i = 1; i < n; i++) for (int j = 1; j < n; j++) {{ real s = 0; {SUM}
        C[i - 1][j - 1] = s; D[i][j] = s + C[i][j]; }}""",
    "smallest": """for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) { real m = 9;
        for (int k = 0; k < n; k++) if (A[i][k] < m) m = A[i][k]; C[i][j] = m; }""",
    "of the next row": f"""for (int i = 0; i < n - 1; i++) for (int j = 0; j < n; j++) {{
        real s = C[i + 1][j]; {SUM} C[i][j] = s; }}""",
    "halves": """for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) { real s = 0;
        for (int k = 0; k < n / 2; k++) s += A[i][k]; C[i][j] = s;
        for (int k = n / 2; k < n; k++) s += B[k][j]; D[i][j] = s; }""",
}
EVERY = {
    **{f"in elements: {name}": body for name, body in IN_ELEMENTS.items()},
    **{f"in buffers: {name}": body for name, body in IN_BUFFERS.items()},
    **{f"over one loop: {name}": body for name, body in OVER_ONE_LOOP.items()},
    **{f"nests: {name}": body for name, body in NESTS.items()},
    **{f"rows: {name}": body for name, body in ROWS.items()},
    **{f"strips: {name}": body for name, body in STRIPS.items()},
    **{f"copies: {name}": body for name, body in COPIES.items()},
    **{f"changed copies: {name}": body for name, body in CHANGED_COPIES.items()},
    **{f"others: {name}": body for name, body in OTHERS.items()},
}


def transformed(directory, body, kind="double", **options):
    source = directory / "one.c"
    text = PROGRAM.format(type=kind, body=body, scale=200 if kind == "int" else 1)
    source.write_text(text)
    return source, new_text(text, Options(**{"min_work": 0, **options}))


@cache  # of most bodies both the results and the form are looked at
def new_text(text, options):
    with TemporaryDirectory() as folder:
        source = Path(folder, "one.c")
        source.write_text(text)
        result = compile_source(str(source), options, ["gcc"], ["-O3", "-mavx2"])
    assert [each.message for each in result.regions if each.status != "transformed"] == []
    return result.text


def run(source, *flags):
    return output(source, "-Wno-misleading-indentation", "-O2", "-mavx2", *flags)


IN_FLOATS = (
    "in elements: inside",
    "in elements: difference",
    "in buffers: scaled and added",
    "others: halves",
)
CASES = [*((name, "double") for name in EVERY), *((name, "float") for name in IN_FLOATS)]


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_results(tmp_path, name, kind):
    source, text = transformed(tmp_path, EVERY[name], kind)
    expected = run(source)
    new = write(tmp_path / "new.c", text)
    assert run(new, "-fopenmp") == expected
    assert run(new, *SANITIZED) == expected


@pytest.mark.parametrize("name", [*CONVERTED])
def test_converting_sums(tmp_path, name):
    source, text = transformed(tmp_path, CONVERTED[name][1], CONVERTED[name][0])
    assert "vectors of" in text
    expected = run(source)
    new = write(tmp_path / "new.c", text)
    assert run(new, "-fopenmp") == expected
    assert run(new, *SANITIZED) == expected


@pytest.mark.parametrize("name", [*IN_ELEMENTS])
def test_values_are_kept_in_elements(tmp_path, name):
    _, text = transformed(tmp_path, IN_ELEMENTS[name])
    loops = text[text.index("the new order") : text.index("/* the original loops */")]
    assert " private(" not in loops
    assert "polybuild_double4" in text or name == "factorisation"


@pytest.mark.parametrize("name", [*IN_BUFFERS])
def test_values_are_kept_in_buffers(tmp_path, name):
    _, text = transformed(tmp_path, IN_BUFFERS[name])
    assert "_expanded_buffer[126][256];" in text
    assert "polybuild_double4" in text


@pytest.mark.parametrize("name", [*NESTS])
def test_each_nest_has_its_own_order(tmp_path, name):
    _, text = transformed(tmp_path, NESTS[name])
    assert text.count("_expanded_buffer") > 0
    assert text.count("vectors of") == NESTS[name].count("* B[k][j]")


@pytest.mark.parametrize("name", [*COPIES])
def test_copies_are_read_where_they_came_from(tmp_path, name):
    _, text = transformed(tmp_path, COPIES[name])
    loops = text[text.index("the new order") : text.index("/* the original loops */")]
    assert "vectors of" in loops
    assert " r[" not in loops
    assert " T[" not in loops


def test_a_forgotten_rounding_is_seen(tmp_path, monkeypatch):
    """Products of floats that are computed as doubles would be other ones: the sums tell them apart."""
    kind, body = CONVERTED["product"]
    monkeypatch.setattr(explicit_conversions, "_common", lambda _left, _right: FloatingType("double", 8))
    monkeypatch.setitem(globals(), "new_text", new_text.__wrapped__)  # what is kept has no mistakes
    source, text = transformed(tmp_path, body, kind)
    assert run(write(tmp_path / "new.c", text)) != run(source)


@pytest.mark.parametrize("name", [*ROWS])
def test_rows_are_kept_in_buffers(tmp_path, name):
    _, text = transformed(tmp_path, ROWS[name])
    assert "r_expanded_buffer[126][" in text
    assert "polybuild_double4" in text


@pytest.mark.parametrize("name", [*STRIPS])
def test_strips_of_rows_are_kept_in_buffers(tmp_path, name):
    _, text = transformed(tmp_path, STRIPS[name])
    assert "r_expanded_buffer[30][" in text
    assert text.count("vectors of") >= STRIPS[name].count("* B[")
    assert "rows of 'r' must fit in a buffer" in text


@pytest.mark.parametrize("name", [*OVER_ONE_LOOP])
def test_values_are_kept_in_vectors(tmp_path, name):
    """Sums alone in strips of a buffer; those of several terms in variables of vectors."""
    _, text = transformed(tmp_path, OVER_ONE_LOOP[name])
    if name == "bodies":
        assert "u_lanes_0 += w_lanes_0 * x_lanes_0;" in text
        assert "_expanded_buffer" not in text
    else:
        assert "_expanded_buffer[256];" in text


@pytest.mark.parametrize("options", [{"tile": False}, {"schedule": "original"}, {"contract_arrays": "off"}])
def test_simpler_strategies(tmp_path, options):
    for body in (IN_ELEMENTS["inside"], IN_BUFFERS["added"]):
        source, text = transformed(tmp_path, body, **options)
        expected = run(source)
        assert run(write(tmp_path / "new.c", text), "-fopenmp") == expected


EXPLAINED = ("in elements: begun with the element", "in elements: blocks", "in buffers: added")


@pytest.mark.parametrize("name", EXPLAINED)
def test_new_orders_are_explained(tmp_path, name):
    source = tmp_path / "one.c"
    source.write_text(PROGRAM.format(type="double", body=EVERY[name], scale=1))
    page = tmp_path / "one.html"
    command = [sys.executable, "-m", "polybuild", "explain", str(source), "--html", str(page)]
    subprocess.run([*command, "--", "-O3", "-mavx2"], check=True, capture_output=True, timeout=120)
    assert "schedule tree" in page.read_text()
