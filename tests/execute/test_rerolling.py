"""Loops unrolled, split and peeled by hand: results equal, to the bit, those of the loops as written."""

from __future__ import annotations

import pytest
from compiling import SANITIZED, output, write

from polybuild.driver.file import compile_source
from polybuild.options import Options
from polybuild.rerolling import reroll

PROGRAM = """\
#include <stdio.h>
#include <string.h>
enum {{ MOST = 104 }};
static double A[MOST][MOST], B[MOST][MOST], C[MOST][MOST], x[3 * MOST], y[3 * MOST], z[3 * MOST];
static int last;
static double dot(int n, const double *p, const double *q)
{{
  double s = 0;
  int k;
  for (k = 0; k < n - 3; k += 4) {{
    s += p[k] * q[k];
    s += p[k + 1] * q[k + 1];
    s += p[k + 2] * q[k + 2];
    s += p[k + 3] * q[k + 3];
  }}
  for (; k < n; k++)
    s += p[k] * q[k];
  return s;
}}
static void run(int n)
{{
  int k = 0;
  (void)k;
#pragma scop
{body}
#pragma endscop
  {after}
}}
static double next(void)
{{
  static unsigned seed = 1;
  seed = seed * 1664525u + 1013904223u;
  return (seed >> 8) / 3e7 - 0.3;
}}
static unsigned long long sum;
static void add(const void *data, size_t bytes)
{{
  for (size_t i = 0; i < bytes / 4; i++) {{
    unsigned bits;
    memcpy(&bits, (const char *)data + 4 * i, 4);
    sum = sum * 31 + bits;
  }}
}}
int main(void)
{{
  static const int sizes[] = {{0, 1, 2, 3, 4, 5, 7, 8, 33, 100}};
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {{
    for (int i = 0; i < MOST; i++)
      for (int j = 0; j < MOST; j++)
        A[i][j] = next(), B[i][j] = next(), C[i][j] = next();
    for (int i = 0; i < 3 * MOST; i++)
      x[i] = next(), y[i] = next(), z[i] = next();
    sum = 0;
    run(sizes[s]);
    add(A, sizeof A), add(C, sizeof C), add(&last, sizeof last);
    add(x, sizeof x), add(y, sizeof y), add(z, sizeof z);
    printf("%d %llu\\n", sizes[s], sum);
  }}
  (void)dot;
  return 0;
}}
"""
LOOPS = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)"


def over_k(head: str, copies: str, rest: str) -> str:
    """A product with its innermost loop as given."""
    return f"{LOOPS} {{ double s = 0; {head} {{ {copies} }} {rest} C[i][j] = s; }}"


def left_first(point: str) -> str:
    """Points of a row by four, after those that are left, which are chosen by cases."""
    left = "".join(f"case {k}: {point.replace('j', 'k')} k++; /* fallthrough */\n" for k in (3, 2, 1))
    copies = "\n".join(point.replace("j", f"(k + {k})") for k in range(4))
    return f"k = 1; switch ((n - 2) % 4) {{ {left} default:; }} for (; k + 1 < n; k += 4) {{ {copies} }}"


def terms(count: int) -> str:
    """So many steps of a sum."""
    return " ".join(f"s += A[i][k + {each}] * B[k + {each}][j];" for each in range(count))


REST = "for (; k < n; k++) s += A[i][k] * B[k][j];"
JAM = """for (int i = 0; i < n; i++) { int j; for (j = 0; j + 3 < n; j += 4) {
    double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    for (int k = 0; k < n; k++) { s0 += A[i][k] * B[k][j]; s1 += A[i][k] * B[k][j + 1];
      s2 += A[i][k] * B[k][j + 2]; s3 += A[i][k] * B[k][j + 3]; }
    C[i][j] = s0; C[i][j + 1] = s1; C[i][j + 2] = s2; C[i][j + 3] = s3; }
  for (; j < n; j++) { double s = 0; for (int k = 0; k < n; k++) s += A[i][k] * B[k][j]; C[i][j] = s; } }"""

# what is put together, and how many statements are left
REROLLED = {
    "by two": (over_k("for (k = 0; k + 1 < n; k += 2)", terms(2), REST), 3),
    "by four": (over_k("for (k = 0; k + 3 < n; k += 4)", terms(4), REST), 3),
    "by eight": (over_k("for (k = 0; k < n - 7; k += 8)", terms(8), REST), 3),
    "up to": (over_k("for (k = 0; k + 4 <= n; k += 4)", terms(4), REST), 3),
    "multiple": (over_k("for (k = 0; k < (n / 4) * 4; k += 4)", terms(4), REST), 3),
    "masked": (over_k("for (k = 0; k < (n & ~3); k += 4)", terms(4), REST), 3),
    "less the rest": (over_k("for (k = 0; k < n - n % 4; k += 4)", terms(4), REST), 3),
    "rest anew": (
        over_k(
            "for (int l = 0; l < n / 4 * 4; l += 4)",
            terms(4).replace("k", "l"),
            "for (int m = n / 4 * 4; m < n; m++) s += A[i][m] * B[m][j];",
        ),
        3,
    ),
    "rest first": (
        over_k("for (k = 0; k < n % 4; k++)", terms(1), f"for (; k < n; k += 4) {{ {terms(4)} }}"),
        3,
    ),
    "no rest": (over_k("for (k = 0; k + 3 < n; k += 4)", terms(4), ""), 3),
    "names in each copy": (
        over_k(
            "for (k = 0; k + 1 < n; k += 2)",
            "double t = A[i][k] - B[j][k]; s += t * t; double u = A[i][k + 1] - B[j][k + 1]; s += u * u;",
            "for (; k < n; k++) { double v = A[i][k] - B[j][k]; s += v * v; }",
        ),
        4,
    ),
    "one name for all copies": (
        over_k(
            "double t; for (k = 0; k + 1 < n; k += 2)",
            "t = A[i][k] - B[j][k]; s += t * t; t = A[i][k + 1] - B[j][k + 1]; s += t * t;",
            "for (; k < n; k++) { t = A[i][k] - B[j][k]; s += t * t; }",
        ),
        4,
    ),
    "names before": (
        over_k(
            "for (k = 0; k + 1 < n; k += 2)",
            "double t = A[i][k] - B[j][k], u = A[i][k + 1] - B[j][k + 1]; s += t * t; s += u * u;",
            "for (; k < n; k++) { double v = A[i][k] - B[j][k]; s += v * v; }",
        ),
        4,
    ),
    "downwards": (
        over_k(
            "for (k = n - 1; k >= 3; k -= 4)",
            " ".join(f"s += A[i][k - {each}] * B[k - {each}][j];" for each in range(4)),
            "for (; k >= 0; k--) s += A[i][k] * B[k][j];",
        ),
        3,
    ),
    "while": (
        f"""{LOOPS} {{ double s = 0; k = 0; while (k + 1 < n) {{ {terms(2)} k += 2; }}
        while (k < n) {{ s += A[i][k] * B[k][j]; k++; }} C[i][j] = s; }}""",
        3,
    ),
    "jammed": (JAM, 3),
    "not jammed": (
        """for (int i = 0; i < n; i++) { int j; for (j = 0; j + 1 < n; j += 2) {
        double s = 0; for (int k = 0; k < n; k++) s += A[i][k] * B[k][j]; C[i][j] = s;
        s = 0; for (int k = 0; k < n; k++) s += A[i][k] * B[k][j + 1]; C[i][j + 1] = s; }
        for (; j < n; j++) { double s = 0; for (int k = 0; k < n; k++) s += A[i][k] * B[k][j];
        C[i][j] = s; } }""",
        3,
    ),
    "jammed twice": (
        """int i, j; for (i = 0; i + 1 < n; i += 2) { for (j = 0; j + 1 < n; j += 2) {
        double s00 = 0, s01 = 0, s10 = 0, s11 = 0;
        for (int k = 0; k < n; k++) { s00 += A[i][k] * B[k][j]; s01 += A[i][k] * B[k][j + 1];
        s10 += A[i + 1][k] * B[k][j]; s11 += A[i + 1][k] * B[k][j + 1]; }
        C[i][j] = s00; C[i][j + 1] = s01; C[i + 1][j] = s10; C[i + 1][j + 1] = s11; }
        for (; j < n; j++) { double s0 = 0, s1 = 0;
        for (int k = 0; k < n; k++) { s0 += A[i][k] * B[k][j]; s1 += A[i + 1][k] * B[k][j]; }
        C[i][j] = s0; C[i + 1][j] = s1; } }
        for (; i < n; i++) for (j = 0; j < n; j++) { double s = 0;
        for (int k = 0; k < n; k++) s += A[i][k] * B[k][j]; C[i][j] = s; }""",
        3,
    ),
    "halves in another order": (
        """for (int i = 0; i < n; i++) { for (int j = 0; j < i; j++) for (int k = 0; k < n; k++)
        C[i][j] += A[i][k] * B[k][j];
        for (int k = 0; k < n; k++) for (int j = i; j < n; j++) C[i][j] += A[i][k] * B[k][j]; }""",
        1,
    ),
    "accumulators in an array": (
        """for (int i = 0; i < n; i++) { int j; for (j = 0; j + 1 < n; j += 2) { double s[2];
        s[0] = 0; s[1] = 0; for (int k = 0; k < n; k++) {
        s[0] += A[i][k] * B[k][j]; s[1] += A[i][k] * B[k][j + 1]; } C[i][j] = s[0]; C[i][j + 1] = s[1]; }
        for (; j < n; j++) { double s = 0; for (int k = 0; k < n; k++) s += A[i][k] * B[k][j];
        C[i][j] = s; } }""",
        3,
    ),
    "in elements": (
        """for (int i = 0; i < n; i++) for (int l = 0; l < n; l++) { int j; for (j = 0; j + 1 < n; j += 2) {
        C[i][j] += A[i][l] * B[l][j]; C[i][j + 1] += A[i][l] * B[l][j + 1]; }
        for (; j < n; j++) C[i][j] += A[i][l] * B[l][j]; }""",
        1,
    ),
    "filter": (
        """for (int i = 0; i < n; i++) { double s = 0; for (k = 0; k < n - 3; k += 4) {
        s += x[k] * y[i + k]; s += x[k + 1] * y[i + k + 1]; s += x[k + 2] * y[i + k + 2];
        s += x[k + 3] * y[i + k + 3]; } for (; k < n; k++) s += x[k] * y[i + k]; z[i] = s; }""",
        3,
    ),
    "filter, jammed": (
        """int i; for (i = 0; i + 1 < n; i += 2) { double s = 0, t = 0;
        for (int l = 0; l < n; l++) { s += x[l] * y[i + l]; t += x[l] * y[i + l + 1]; }
        z[i] = s; z[i + 1] = t; }
        for (; i < n; i++) { double s = 0; for (int l = 0; l < n; l++) s += x[l] * y[i + l];
        z[i] = s; }""",
        3,
    ),
    "function": (f"{LOOPS} C[i][j] = dot(n, A[i], B[j]);", 3),
    "recurrence": (
        """for (k = 1; k + 1 < n; k += 2) { x[k] = x[k - 1] * y[k]; x[k + 1] = x[k] * y[k + 1]; }
        for (; k < n; k++) x[k] = x[k - 1] * y[k];""",
        1,
    ),
    "with its counter": (
        """for (k = 0; k + 1 < n; k += 2) { x[k] += k * y[k]; x[k + 1] += (k + 1) * y[k + 1]; }
        for (; k < n; k++) x[k] += k * y[k];""",
        1,
    ),
    "on a condition": (
        """double m = -9; for (k = 0; k + 1 < n; k += 2) { if (x[k] > m) m = x[k];
        if (x[k + 1] > m) m = x[k + 1]; } for (; k < n; k++) if (x[k] > m) m = x[k]; z[0] = m;""",
        3,
    ),
    "gathered": (
        """for (k = 0; k + 1 < n; k += 2) { x[k] = y[(int)(z[k] * z[k])];
        x[k + 1] = y[(int)(z[k + 1] * z[k + 1])]; }
        for (; k < n; k++) x[k] = y[(int)(z[k] * z[k])];""",
        1,
    ),
    "steps of blocks": (
        """for (int l = 0; l < n / 3; l++) { x[3 * l] += y[3 * l]; x[3 * l + 1] += y[3 * l + 1];
        x[3 * l + 2] += y[3 * l + 2]; } for (int l = n / 3 * 3; l < n; l++) x[l] += y[l];""",
        1,
    ),
    "counter used afterwards": (
        """for (k = 0; k + 1 < n; k += 2) { x[k] += y[k]; x[k + 1] += y[k + 1]; }
        for (; k < n; k++) x[k] += y[k]; last = k;""",
        2,
    ),
    "halves": (
        f"""{LOOPS} {{ double s = 0; for (k = 0; k < n / 2; k++) s += A[i][k] * B[k][j];
        for (k = n / 2; k < n; k++) s += A[i][k] * B[k][j]; C[i][j] = s; }}""",
        3,
    ),
    "first outside": (
        """for (int i = 0; i < n; i++) { z[i] += x[0] * y[i];
        for (int l = 1; l < n; l++) z[i] += x[l] * y[i + l]; }""",
        1,
    ),
    "last outside": (
        """for (int i = 0; i < n; i++) { double s = 0; for (int l = 0; l < n - 1; l++) s += A[i][l] * B[i][l];
        s += A[i][n - 1] * B[i][n - 1]; z[i] = s; }""",
        3,
    ),
    "first term": (
        f"""{LOOPS} {{ double s = A[i][0] * B[0][j];
        for (int l = 1; l < n; l++) s += A[i][l] * B[l][j]; C[i][j] = s; }}""",
        3,
    ),
    "first term, a zero with a sign": (
        """for (int l = 0; l < n; l++) x[l] = -0.0;
        for (int i = 0; i < n; i++) { float s = x[0]; for (int l = 1; l < n; l++) s += x[l]; z[i] = s; }""",
        4,
    ),
    "first term, a whole number": (
        """for (int i = 0; i < n; i++) { int s = y[i] * 9;
        for (int l = 1; l < n; l++) s += y[i + l] * 9; z[i] = s; }""",
        3,
    ),
    "steps over a plane, what is left first": (
        f"""for (int t = 0; t < 3; t++) {{ for (int i = 1; i + 1 < n; i++) {{
        {left_first("C[i][j] = .2 * (A[i][j] + A[i - 1][j] + A[i + 1][j] + A[i][j - 1] + A[i][j + 1]);")} }}
        for (int i = 1; i + 1 < n; i++) {{ {left_first("A[i][j] = C[i][j];")} }} }}""",
        2,
    ),
    "a window unrolled, of points in blocks": (
        """for (int ii = 0; ii < n; ii += 32) for (int jj = 0; jj < n; jj += 32)
        for (int i = ii; i < (ii + 32 < n ? ii + 32 : n); i++)
        for (int j = jj; j < (jj + 32 < n ? jj + 32 : n); j++) { double s = 0;
        for (int l = 0; l < 3; l++) { for (k = 0; k + 1 < 3; k += 2) {
          s += B[l][k] * A[i + l][j + k]; s += B[l][k + 1] * A[i + l][j + k + 1]; }
          for (k = 3 - 3 % 2; k < 3; k++) s += B[l][k] * A[i + l][j + k]; }
        C[i][j] = s; }""",
        3,
    ),
    "row outside": (
        """if (n > 0) for (int j = 0; j < n; j++) C[0][j] = A[0][j] + B[0][j];
        for (int i = 1; i < n; i++) for (int j = 0; j < n; j++) C[i][j] = A[i][j] + B[i][j];""",
        1,
    ),
}
# what looks alike but is something else: values would be others if it were put together
OTHERS = {
    "another copy": over_k(
        "for (k = 0; k + 1 < n; k += 2)",
        "s += A[i][k] * B[k][j]; s -= A[i][k + 1] * B[k + 1][j];",
        REST,
    ),
    "another element": over_k(
        "for (k = 0; k + 1 < n; k += 2)",
        "s += A[i][k] * B[k][j]; s += A[i][k + 1] * B[k][j];",
        REST,
    ),
    "another order": over_k(
        "for (k = 0; k + 1 < n; k += 2)",
        "s += A[i][k + 1] * B[k + 1][j]; s += A[i][k] * B[k][j];",
        REST,
    ),
    "another rest": over_k(
        "for (k = 0; k + 1 < n; k += 2)", terms(2), "for (; k < n; k++) s += 2 * A[i][k] * B[k][j];"
    ),
    "gap": over_k("for (k = 0; k + 2 < n; k += 3)", terms(2), REST),
    "overlap": over_k("for (k = 0; k + 2 < n; k += 2)", terms(3), REST),
    "rest from elsewhere": over_k(
        "for (k = 0; k + 1 < n; k += 2)",
        terms(2),
        "for (int l = (n > 5 ? 5 : 0); l < n; l++) s += A[i][l] * B[l][j];",
    ),
    "rest twice": over_k(
        "for (k = 0; k + 1 < n; k += 2)", terms(2), REST + REST.replace("; k < n", "k = 1; k < n")
    ),
    "two sums": over_k(
        "double t = 0; for (k = 0; k + 1 < n; k += 2)",
        "s += A[i][k] * B[k][j]; t += A[i][k + 1] * B[k + 1][j];",
        f"{REST} s += t;",
    ),
    "four sums": over_k(
        "double t = 0, u = 0, v = 0; for (k = 0; k + 3 < n; k += 4)",
        """s += A[i][k] * B[k][j]; t += A[i][k + 1] * B[k + 1][j];
        u += A[i][k + 2] * B[k + 2][j]; v += A[i][k + 3] * B[k + 3][j];""",
        f"{REST} s = (s + t) + (u + v);",
    ),
    "one sum": over_k(
        "for (k = 0; k + 1 < n; k += 2)", "s += A[i][k] * B[k][j] + A[i][k + 1] * B[k + 1][j];", REST
    ),
    "exchanged": JAM.replace("C[i][j] = s0; C[i][j + 1] = s1;", "C[i][j] = s1; C[i][j + 1] = s0;"),
    "begun by another": JAM.replace("double s0 = 0, s1 = 0, s2", "double s0 = 0, s1 = s0, s2"),
    "begun otherwise": JAM.replace("s1 = 0", "s1 = 1"),
    "carried": JAM.replace("double s0 = 0, s1 = 0, s2 = 0, s3 = 0;", "s0 = 0; s1 = 0; s2 = 0; ").replace(
        "for (int i", "double s0 = 0, s1 = 0, s2 = 0, s3 = 0; for (int i", 1
    ),
    "read meanwhile": JAM.replace("s1 += A[i][k] *", "s1 += s0 * A[i][k] *"),
    "in place": JAM.replace("C[i]", "A[i]"),
    "in place below": """int j; for (j = 1; j + 1 < n; j += 2) for (int i = 1; i < n; i++) {
        C[i][j] += C[i - 1][j + 1]; C[i][j + 1] += C[i - 1][j + 2]; }
        for (; j < n; j++) for (int i = 1; i < n; i++) C[i][j] += C[i - 1][j + 1];""",
    "recurrence": """for (k = 2; k + 1 < n; k += 2) { x[k + 1] = x[k] * y[k + 1]; x[k] = x[k - 1] * y[k]; }
        for (; k < n; k++) x[k] = x[k - 1] * y[k];""",
    "kept afterwards": """double t = 0, u = 0; for (k = 0; k + 1 < n; k += 2) { t = x[k]; z[k] = t * t;
        u = x[k + 1]; z[k + 1] = u * u; } for (; k < n; k++) { t = x[k]; z[k] = t * t; }
        y[0] = t; y[1] = u;""",
    "in between": f"""{LOOPS} {{ double s = 0; for (k = 0; k < n / 2; k++) s += A[i][k] * B[k][j];
        C[i][j] = s; for (k = n / 2; k < n; k++) s += A[i][k] * B[k][j]; C[j][i] += s; }}""",
    "first term of another": f"""{LOOPS} {{ double s = A[i][1] * B[0][j];
        for (int l = 1; l < n; l++) s += A[i][l] * B[l][j]; C[i][j] = s; }}""",
    "first of another": """for (int i = 0; i < n; i++) { z[i] += x[1] * y[i];
        for (int l = 1; l < n; l++) z[i] += x[l] * y[i + l]; }""",
}
# those of them that differ if nobody asks whether values are the same
CAUGHT = (
    "another order", "exchanged", "two sums", "in place", "in place below", "recurrence",
    "kept afterwards", "in between",
)  # fmt: skip
AFTER = {"counter used afterwards": "last = k;"}
EVERY = {
    **{name: body for name, (body, _) in REROLLED.items()},
    **{f"not {name}": body for name, body in OTHERS.items()},
}


def transformed(directory, name, **options):
    source = directory / "one.c"
    source.write_text(PROGRAM.format(body=EVERY[name], after=AFTER.get(name, "")))
    result = compile_source(str(source), Options(min_work=0, **options), ["gcc"], ["-O3", "-mavx2"])
    (report,) = result.regions
    assert report.status == "transformed", report.remarks
    return source, write(directory / "new.c", result.text), report


def run(source, *flags):
    quiet = (
        "-Wno-misleading-indentation",
        "-Wno-array-bounds",
        "-Wno-aggressive-loop-optimizations",
        "-Wno-maybe-uninitialized",
    )
    return output(source, *quiet, "-O2", "-mavx2", *flags)


@pytest.mark.parametrize("name", [*EVERY])
def test_results(tmp_path, name):
    source, new, report = transformed(tmp_path, name)
    if name in REROLLED:
        assert report.statements == REROLLED[name][1]
    expected = run(source)
    assert run(new, "-fopenmp") == expected
    assert run(new, *SANITIZED) == expected


@pytest.mark.parametrize("name", ["by four", "jammed", "names before"])
def test_original_order(tmp_path, name):
    source, new, _ = transformed(tmp_path, name, schedule="original", tile=False)
    assert run(new, "-fopenmp") == run(source)


def test_sums_of_their_own_are_kept_and_in_registers(tmp_path):
    _, new, report = transformed(tmp_path, "not two sums")
    loops = new.read_text().partition("the new order")[2].partition("the original loops")[0]
    assert "acc_0_0" in loops
    assert report.statements > 3


@pytest.mark.parametrize("name", CAUGHT)
def test_results_tell_wrong_rerolling(tmp_path, monkeypatch, name):
    monkeypatch.setattr(reroll, "computes_the_same", lambda *_: True)
    source, new, _ = transformed(tmp_path, f"not {name}")
    assert run(new) != run(source)
