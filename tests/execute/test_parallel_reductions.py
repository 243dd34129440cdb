"""Reductions run in parts: the same bits in integers, minima and maxima; close where sums are reordered."""

from __future__ import annotations

import os
import re
import subprocess

import pytest
from compiling import messages, output, transform, write

from polybuild.driver.file import compile_source
from polybuild.options import Options

# Each body works on its own copies of the data; what it leaves in them and in the results is printed.
BODIES = {
    "sum": "for (int i = 0; i < n; i++) s += a[i];",
    "difference": "for (int i = 0; i < n; i++) s = s - a[i] * 3 + b[i];",
    "from the right": "for (int i = 0; i < n; i++) s = a[i] + s;",
    "wide": "for (int i = 0; i < n; i++) l += (long)a[i] * b[i];",
    "narrow": "for (int i = 0; i < n; i++) c += a[i];",
    "narrow from wide": "for (int i = 0; i < n; i++) h -= l - a[i];",
    "product": "for (int i = 0; i < n; i++) u *= (unsigned)a[i] | 1u;",
    "bits": "for (int i = 0; i < n; i++) { u ^= a[i]; c |= b[i]; l &= ~(long)(a[i] & 4096); }",
    "conditional": "for (int i = 0; i < n; i++) if (a[i] & 1) s += b[i];",
    "maximum": "for (int i = 0; i < n; i++) if (a[i] > s) s = a[i];",
    "minimum": "for (int i = 0; i < n; i++) s = s < a[i] ? s : a[i];",
    "maximum of some": "for (int i = 0; i < n; i++) if ((b[i] & 1) && a[i] > s) s = a[i];",
    "minimum of some": "for (int i = 0; i < n; i++) if (a[i] < s && B[i] > 3 && b[i] != 7) s = a[i];",
    "selected of some": "for (int i = 0; i < n; i++) s = B[i] < 9 && s < a[i] ? a[i] : s;",
    "largest square of some": "for (int i = 0; i < n; i++) if (a[i] > 0 && x[i] * x[i] > f) f = x[i] * x[i];",
    "counts of rows": """for (int i = 0; i < n; i++) {
      b[i] = 0; for (int j = 0; j < n; j++) if (A[i][j] > a[j]) b[i]++; }""",
    "masks of rows": """for (int i = 0; i < n; i++) {
      b[i] = 0; for (int j = 0; j < n; j++) if (A[i][j] > a[j]) b[i] |= 1 << (j & 7); }""",
    "sums of some of rows": """for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) if (A[i][j] % 3 == 0) b[i] -= A[i][j] ^ j;""",
    "maxima of some of rows": """for (int i = 0; i < n; i++) {
      b[i] = -5; for (int j = 0; j < n; j++) if (A[i][j] > b[i] && A[i][j] < a[i]) b[i] = A[i][j]; }""",
    "byte maximum": "for (int i = 0; i < n; i++) { if (c < B[i]) { c = B[i]; } c = c >= B[i] ? c : B[i]; }",
    "two dimensions": "for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++) s += A[i][j];",
    "rows": "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) b[i] += A[i][j] * a[j];",
    "one element": "for (int i = 0; i < n; i++) for (int j = 1; j < i; j++) b[3] += A[i][j];",
    "local": """for (int i = 0; i < n; i++) {
      int t = 1; for (int j = 0; j < n; j++) t += A[i][j] ^ a[j];
      b[i] = t; }""",
    "two statements": "for (int i = 0; i < n; i++) { s += a[i]; s -= b[i]; }",
    "killed": "for (int i = 0; i < n; i++) { if (i == 5) s = 0; s += a[i]; }",
    "read in between": "for (int i = 0; i < n; i++) { s += a[i]; b[i] = s; }",
    "two operators": "for (int i = 0; i < n; i++) { u += a[i]; u *= 3; }",
    "prefix": "for (int i = 1; i < n; i++) a[i] = a[i] ^ a[i - 1];",
    "in place": "for (int i = 1; i < n; i++) a[0] += a[i];",
    "largest magnitude": "for (int i = 0; i < n; i++) if (fabs(x[i]) > f) f = fabs(x[i]);",
    "smallest square": "for (int i = 0; i < n; i++) f = x[i] * x[i] < f ? x[i] * x[i] : f;",
    "rows of any length": "for (int i = 0; i < n; i++) for (int j = 0; j < (B[i] & 7); j++) s ^= A[i][0];",
    "rows from anywhere": "for (int i = 0; i < n; i++) for (int j = B[i]; j < a[i] % 9; j++) l -= b[i] ^ j;",
    "halved": "for (int i = 0; i < n; i++) { int k = B[i]; while (k > 0) { u += a[i] ^ k; k /= 2; } }",
    "largest of rows": """for (int i = 0; i < n; i++)
      for (int j = 0; j < (B[i] & 7); j++) if (A[i][j % n] > s) s = A[i][j % n];""",
    "rows of rows": """for (int i = 0; i < n; i++)
      for (int j = 0; j < (B[i] & 7); j++) for (int k = j; k < (a[j % n] & 3); k++) u ^= b[k % n] + k;""",
    "largest number": "for (int i = 0; i < n; i++) f = f < a[i] ? a[i] : f;",
}
_SUM_OF_ROWS = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) b[i] = b[i] * 5 ^ A[i][j];"
WAVEFRONTS = {
    "alignment": """for (int i = 1; i < n; i++) for (int j = 1; j < n; j++) {
      int t = A[i - 1][j - 1] ^ a[i];
      if (A[i - 1][j] > t) t = A[i - 1][j];
      if (A[i][j - 1] > t) t = A[i][j - 1];
      A[i][j] = t >> 1;
      if (A[i][j] > s) s = A[i][j]; }""",
    "alignment by a variable": """for (int i = 1; i < n; i++) for (int j = 1; j < n; j++) {
      int t = A[i - 1][j - 1] ^ a[i];
      t = A[i - 1][j] > t ? A[i - 1][j] : t;
      t = A[i][j - 1] > t ? A[i][j - 1] : t;
      t >>= 1;
      if (t > s) s = t;
      A[i][j] = t; }""",
    "changes in place": """double e = 0; for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++) {
      int old = A[i][j];
      A[i][j] = A[i - 1][j] / 4 + A[i][j - 1] / 4 + A[i + 1][j] / 4 + A[i][j + 1] / 4;
      double d = (double)A[i][j] - old;
      if (d < 0) d = -d;
      if (d > e) e = d; }
      f = e;""",
    "sums in place": """for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++) {
      unsigned old = A[i][j];
      A[i][j] = A[i - 1][j] / 4 + A[i][j - 1] / 4 + A[i + 1][j] / 4 + A[i][j + 1] / 4;
      u += A[i][j] - old; l ^= A[i][j]; }""",
    "steps": """for (int k = 0; k < n; k++) for (int i = 1; i < n - 1; i++) {
      a[i] = a[i - 1] / 3 + a[i] / 3 + a[i + 1] / 3;
      if (a[i] > s) s = a[i]; }""",
}
INEXACT = {
    "sum": "for (int i = 0; i < n; i++) f += y[i];",
    "single": "for (int i = 0; i < n; i++) g += (float)y[i];",
    "product": "for (int i = 0; i < n; i++) f = f * (1 + y[i] / 1e4);",
    "dots": """for (int i = 0; i < n; i++) {
      double t = 0; for (int j = 0; j < n; j++) t += y[j] * A[i][j];
      x[i] = t; }""",
    "maximum": "for (int i = 0; i < n; i++) f = f > y[i] ? f : y[i];",
    "smaller of both": "for (int i = 0; i < n; i++) q = fmin(y[i], q);",
    "larger of both": "for (int i = 0; i < n; i++) f = fmax(f, x[i]);",
    "no number": "for (int i = 4; i < n; i += 9) q = fmax(q, x[i]);",
}
HEAD = """\
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
static int s; static unsigned u; static long l; static signed char c; static short h;
static double f, q; static float g;
"""
FUNCTION = """\
static void f{number}(int n, int *restrict a, int *restrict b, signed char *restrict B, int A[restrict n][n],
                      double *restrict x, const double *restrict y)
{{
#pragma scop
  {body}
#pragma endscop
  (void)a; (void)b; (void)B; (void)A; (void)x; (void)y;
}}
"""
MAIN = """\

static unsigned state;
static int next(void) {{ return (int)(state = state * 1664525u + 1013904223u); }}
static void test(int number, void (*run)(), int n)
{{
  int *a = malloc(n * sizeof *a + 1), *b = malloc(n * sizeof *b + 1), *A = malloc(n * n * sizeof *A + 1);
  signed char *B = malloc(n + 1);
  double *x = malloc(n * sizeof *x + 1), *y = malloc(n * sizeof *y + 1);
  unsigned long long sum = 0;
  state = n, s = -3, u = 7, l = -1, c = -9, h = 12, f = 0.5, q = NAN, g = 0.25f;
  for (int i = 0; i < n; i++) {{
    a[i] = next() % {range}, b[i] = next() % {range}, B[i] = (signed char)(next() >> 20);
    y[i] = (next() >> 8) / 3e6, x[i] = i % 9 == 4 ? NAN : i % 5 == 1 ? -0.0 : y[i];
  }}
  for (int i = 0; i < n * n; i++) A[i] = next() % {range};
  run(n, a, b, B, A, x, y);
  for (int i = 0; i < n; i++) sum = sum * 31 + (unsigned)a[i] + 7u * (unsigned)b[i];
  printf("%d %d %d %u %ld %d %d %.17g %g %.9g %llu", number, n, s, u, l, c, h, f, q, g, sum);
  for (int i = 0; i < n; i++) printf(" %.17g", x[i]);
  puts("");
  free(a), free(b), free(A), free(B), free(x), free(y);
}}
int main(void)
{{
  const int sizes[] = {{0, 1, 7, 33, 100}};
  for (int k = 0; k < 5; k++) {{
{calls}
  }}
  return 0;
}}
"""
FLAGS = ("-std=gnu99", "-ffp-contract=off", "-Wall", "-Wno-unknown-pragmas", "-Werror")


def program(bodies, most):
    functions = [FUNCTION.format(number=number, body=body) for number, body in enumerate(bodies.values())]
    calls = "\n".join(
        f"    test({number}, (void (*)())f{number}, sizes[k]);" for number in range(len(bodies))
    )
    main = MAIN.format(range=most, calls=calls).split("\n", 1)[1]
    return HEAD + "".join(functions) + main


def built(path, compiler, *flags):
    command = [compiler, *FLAGS, *flags, str(path), "-o", str(path.with_suffix(".exe")), "-lm"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return path.with_suffix(".exe")


def lines(program_, threads=1, arguments=()):
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "OMP_WAIT_POLICY": "passive"}
    done = subprocess.run(
        [str(program_), *arguments], check=False, capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def without_thresholds(text):
    """The generated code with threads in loops that are too short for them, too."""
    return re.sub(r" num_threads\(polybuild_team_for\([^\n]*, \d+\)\)", "", text)


@pytest.fixture(scope="module")
def exact(tmp_path_factory):
    """The program of the exact bodies, and what it became."""
    folder = tmp_path_factory.mktemp("reductions")
    # large numbers: their sums wrap around in every type
    source = write(folder / "in.c", program(BODIES, 2147483647))
    result = compile_source(str(source), Options(min_work=0, paranoid=True), ["gcc"], FLAGS)
    assert [each.message for each in result.regions if each.status != "transformed"] == []
    return source, write(folder / "out.c", without_thresholds(result.text)), result


@pytest.mark.fast(compiler=["gcc"])
@pytest.mark.links("-fopenmp")
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_the_same_bits(compiler, exact):
    source, transformed, _ = exact
    expected = lines(built(source, "gcc", "-O1", "-fwrapv"))
    threaded = built(transformed, compiler, "-O2", "-fopenmp")
    for threads in (1, 2, 5):
        assert lines(threaded, threads) == expected
    assert lines(built(transformed, compiler, "-O2")) == expected


@pytest.mark.fast(compiler=["gcc"])
@pytest.mark.links("-fopenmp")
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_the_same_bits_along_wavefronts(compiler, tmp_path):
    """Each thread accumulates what its tiles of a wavefront add."""
    bodies = {name: f"{body}\n  {_SUM_OF_ROWS}" for name, body in WAVEFRONTS.items()}
    several_tiles = program(bodies, 2147483647).replace("{0, 1, 7, 33, 100}", "{0, 1, 7, 33, 300}")
    source = write(tmp_path / "in.c", several_tiles)
    result = compile_source(str(source), Options(min_work=0, paranoid=True), ["gcc"], FLAGS)
    for name, region in zip(bodies, result.regions, strict=True):
        assert region.parallel_loops > 1, name  # one is that of the rows
        assert any("accumulated in parts" in each for each in region.remarks), name
    expected = lines(built(source, "gcc", "-O1", "-fwrapv"))
    transformed = write(tmp_path / "out.c", without_thresholds(result.text))
    threaded = built(transformed, compiler, "-O2", "-fopenmp")
    for threads in (1, 2, 5):
        assert lines(threaded, threads) == expected
    assert lines(built(transformed, compiler, "-O2")) == expected


def test_partial_sums_do_not_overflow(tmp_path):
    """What has no undefined behaviour has none in parts, whatever the order."""
    chosen = {
        name: body for name, body in BODIES.items() if name in {"sum", "from the right", "two dimensions"}
    }
    text = program(chosen, 2147483647).replace("next() % 2147483647", "(i % 2 ? 2147483647 : -2147483647)")
    source = write(tmp_path / "in.c", text)
    result = compile_source(str(source), Options(min_work=0), ["gcc"], FLAGS)
    transformed = write(tmp_path / "out.c", without_thresholds(result.text))
    flags = ("-O1", "-fopenmp", "-fsanitize=undefined,address", "-fno-sanitize-recover=all")
    assert lines(built(transformed, "gcc", *flags), 3) == lines(built(source, "gcc", "-O1"))


@pytest.mark.fast
def test_what_runs_in_parts(exact):
    _, transformed, result = exact
    outcome = dict(zip(BODIES, result.regions, strict=True))
    serial = {"halved", "killed", "two operators", "in place"}
    for name, region in outcome.items():
        if name in serial:
            assert not region.parallel_loops, name
        else:
            assert region.parallel_loops, name
            assert any("accumulated in parts" in each for each in region.remarks), name
    text = transformed.read_text()
    assert "acc_s_parts[POLYBUILD_MAX_PARTS]" in text
    assert "OMP(simd reduction(+: acc_s_part)" in text
    assert "reduction(polybuild_upper: acc_f_part)" in text


@pytest.mark.links("-fopenmp")
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_sums_in_another_order(compiler, tmp_path):
    source = write(tmp_path / "in.c", program(INEXACT, 1000))
    result = compile_source(str(source), Options(min_work=0, allow_reassociation=True), ["gcc"], FLAGS)
    assert all(each.parallel_loops for each in result.regions)
    transformed = write(tmp_path / "out.c", without_thresholds(result.text))
    expected = lines(built(source, "gcc", "-O1"))
    threaded = built(transformed, compiler, "-O2", "-fopenmp")
    for threads in (1, 3):
        for got, wanted in zip(lines(threaded, threads), expected, strict=True):
            pairs = zip(got.split(), wanted.split(), strict=True)
            assert all(
                each == other or float(each) == pytest.approx(float(other), rel=1e-6) for each, other in pairs
            )


# Sums that show in their last bits how the iterations were cut into parts.
PARTS = """\
#include <math.h>
#include <stdio.h>
static double x[1500003], y[1500003], A[1200][1200];
int main(void)
{
  volatile int size = 1500003, rows = 1200;
  double s[7] = {0}, most = 0, *restrict v = x;
  const int n = size, m = rows;
  for (int i = 0; i < n; i++) x[i] = sin(i), y[i] = cos(3 * i);
  for (int i = 0; i < m; i++) for (int j = 0; j < m; j++) A[i][j] = sin(i * j + 1);
#pragma scop
  for (int i = 0; i < n; i++) s[0] += x[i];
#pragma endscop
#pragma scop
  for (int i = 0; i < n; i++) { s[1] += x[i] * y[i]; most = fabs(x[i]) > most ? fabs(x[i]) : most; }
#pragma endscop
#pragma scop
  for (int i = n - 1; i > 4; i -= 3) s[2] += x[i] * x[i];
#pragma endscop
#pragma scop
  for (int i = 0; i < m; i++) for (int j = i; j < m; j++) s[3] += A[i][j];
#pragma endscop
#pragma scop
  for (int i = 1; i < m - 1; i++) for (int j = 1; j < m - 1; j++) s[4] += A[i][j - 1] * A[i + 1][j];
#pragma endscop
#pragma scop
  for (int i = 7; i < n - 5; i += 2) { v[i] += 1; s[5] += v[i] * y[i + 1]; }
#pragma endscop
  s[6] = 1;
#pragma scop
  for (int i = 0; i < n; i++) s[6] *= 1 + y[i] / n;
#pragma endscop
  for (int i = 0; i < 7; i++) printf("%a\\n", s[i]);
  printf("%a\\n", most);
}
"""


@pytest.mark.links("-fopenmp")
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_sums_are_the_same_whatever_runs_them(compiler, tmp_path):
    source = write(tmp_path / "in.c", PARTS)
    result = compile_source(str(source), Options(min_work=0, allow_reassociation=True), ["gcc"], FLAGS)
    assert all(each.parallel_loops for each in result.regions)
    threaded = built(write(tmp_path / "out.c", result.text), compiler, "-O2", "-fopenmp")
    sums = [lines(threaded, threads) for threads in (1, 2, 3, 7, 7, 7)]
    assert all(each == sums[0] for each in sums)
    exact = [float.fromhex(each) for each in lines(built(source, "gcc", "-O1"))]
    assert [float.fromhex(each) for each in sums[0]] == pytest.approx(exact, rel=1e-9, abs=1e-6)


def test_kept_in_order_unless_allowed(tmp_path):
    body = program({"sum": INEXACT["sum"]}, 1000)
    flags = ("-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math")
    for given, expected in (((), 0), (flags[:1], 0), (flags, 1), (("-ffast-math",), 1)):
        (region,) = transform(tmp_path / "in.c", body, *given).regions
        assert region.parallel_loops == expected
        assert any("--allow-reassociation" in each.message for each in region.advice) is not bool(expected)


def test_verification_tolerates_another_order(tmp_path):
    text = program({"sum": INEXACT["sum"]}, 1000).replace("33, 100}", "33, 1000}")
    result = transform(tmp_path / "in.c", text, verify=True, allow_reassociation=True)
    threaded = built(write(tmp_path / "out.c", without_thresholds(result.text)), "gcc", "-O3", "-fopenmp")
    for tolerance, quiet in (({}, True), ({"POLYBUILD_VERIFY_TOLERANCE": "0"}, False)):
        environment = {**os.environ, "POLYBUILD_VERIFY": "1", "OMP_NUM_THREADS": "3", **tolerance}
        done = subprocess.run([str(threaded)], check=True, capture_output=True, text=True, env=environment)
        assert ("differ" not in done.stderr) is quiet


# Where the loop over i is empty no element is accumulated in, though the loop over j is around it then.
EMPTY = """\
#include <stdio.h>
#include <stdlib.h>
static void f(int n, int m, int *restrict b, int x)
{
#pragma scop
  for (int i = n / 2; i <= (m + 5) / 3 - 1; i++)
    for (int j = i; j < n + n; j++)
      b[j] *= (unsigned)x;
#pragma endscop
}
int main(void)
{
  int some[8] = {1, 2, 3, 4, 5, 6, 7, 8}, *volatile none = NULL;
  volatile int n = 17, m = 4;
  f(n, m, none, 3);
  f(4, 12, some, 3);
  for (int i = 0; i < 8; i++) printf("%d ", some[i]);
}
"""


def test_what_nothing_is_accumulated_in_is_not_touched(tmp_path):
    source = write(tmp_path / "empty.c", EMPTY)
    result = transform(source, EMPTY, "-O1", min_work=0, tile=False)
    assert "acc_b" in result.text
    assert output(write(tmp_path / "made.c", result.text), "-O1") == output(source, "-O1")


# isl writes some iterations of a tile apart, in loops without the statement that accumulates.
PIECES = """\
static unsigned long B[42][40][40];
unsigned long f(int n, int m, unsigned long x, unsigned long y)
{
  unsigned long A[n + 37];
#pragma scop
  for (int i = n - 2; i >= 0; i--)
    B[i + 1][0][i] = B[i + 1][0][i] * 5u + B[m - i + 1][0][i];
  for (int i = 0; i < m; i++)
    B[i + 1][i][4] = B[i + 1][i][4] * 5u + ((i - i) % 2 == 0 ? A[i] : x) / (B[i][i][i] * y | 1u);
  for (int i = n - 2; i > 2; i--)
    for (int j = i - 1; j < m + 2; j++)
      x *= B[m - i + 1][0][i] + j + (j + i > 5 ? y : y);
#pragma endscop
  return x;
}
"""


def test_a_loop_in_which_nothing_accumulates_has_no_reduction(tmp_path):
    machine = write(
        tmp_path / "machine.toml", "version = 1\n[vector]\nstrided = 0.5\n"
    )  # lanes pay, columns or not
    options = {"tile_sizes": (3, 2), "fusion": "max", "machine": str(machine)}
    result = transform(tmp_path / "pieces.c", PIECES, "-O1", **options)
    assert "reduction(*: acc_x)" in result.text
    made = write(tmp_path / "made.c", result.text)
    assert messages("gcc", made, "-fopenmp") == (0, "")


# The loop over i runs once in each tile of diagonals, so isl writes none for it.
DIAGONALS = """\
struct s { unsigned x; };
static unsigned P[32][32], Q[64];
void f(int n, struct s *s, unsigned A[restrict n + 20][n + 20], unsigned *restrict B, unsigned *restrict C,
       unsigned *restrict D)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    unsigned sum = B[i];
    for (int j = 0; j < i; j++) sum -= P[i][j] * B[j];
    B[i] = sum + P[i][i];
  }
  for (int i = 2; i < (n + 5) / 2; i++)
    C[n - i + 1] += i >= i && i >= i ? s->x : D[i + 13];
  for (int i = 1; i <= n; i++)
    for (int j = n - 1; j >= 0; j--)
      for (int v = j; v < i - 1; v++) {
        unsigned t = (D[v - n + 13] + i) >> ((j - j < v ? s->x : A[j][v]) & 7);
        if (j % 2 == 0) {
          C[i + 1] = 5u + (Q[v] + C[i + 1]);
        } else if (v % 2 == 0) {
          if (i + n < v) D[n - v + 13] = (Q[v + 1] + 2u) * C[i + v + 1];
        }
        s->x = t + 1u;
      }
#pragma endscop
}
"""


def test_where_something_accumulates_is_said_of_loops_that_are_there(tmp_path):
    result = transform(tmp_path / "a.c", DIAGONALS, "-O1", tile_sizes=(5, 4, 3, 2), fusion="depth")
    assert re.search(r"acc_C = .* \? .* : 0;", result.text)
    assert messages("gcc", write(tmp_path / "made.c", result.text), "-fopenmp") == (0, "")
