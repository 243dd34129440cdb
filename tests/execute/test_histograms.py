"""Counts and sums of integers in elements that data choose: threads have elements of their own."""

from __future__ import annotations

import pytest
from compiling import write
from test_parallel_reductions import built, lines, without_thresholds

from polybuild.driver.file import compile_source
from polybuild.options import Options

# Each body updates elements of h (int *, nothing known of its extent), l (long *), t (of 100) or s (of 16).
BODIES = {
    "bytes": "for (int i = 0; i < n; i++) h[c[i]]++;",
    "counted down": "for (int i = n - 1; i >= 0; i--) h[c[i]] -= 2;",
    "signed bytes": "for (int i = 0; i < n; i++) h[(signed char)c[i] + 128] += k[i];",
    "walked": "{ const unsigned char *p = c; for (int i = 0; i < n; i++) ++h[*p++]; }",
    "masked": "for (int i = 0; i < n; i++) h[k[i] & 127] = k[i] + h[k[i] & 127];",
    "under a condition": "for (int i = 0; i < n; i++) if (k[i] % 3) l[c[i]] += k[i];",
    "of known extent": "for (int i = 0; i < n; i++) t[k[i]]++;",
    "narrow": "for (int i = 0; i < n; i++) s[(k[i] & 127) >> 3]--;",
    "bits": "for (int i = 0; i < n; i++) { h[c[i]] ^= k[i]; l[c[i]] |= k[i]; }",
    "two": "for (int i = 0; i + 1 < n; i += 2) { h[c[i]]++; h[c[i + 1]]++; }",
    "of two dimensions": "for (int i = 0; i < n / 8; i++) for (int j = 0; j < 8; j++) h[c[8 * i + j]] += j;",
    "in a variable": "for (int i = 0; i < n; i++) { int v = c[i]; h[v] = h[v] + 1; }",
    "cut at both ends": """for (int i = 0; i < n; i++) {
    int v = k[i] - 9;
    if (v < 0) v = 0;
    if (v > 63) v = 63;
    h[v]++; }""",
    "chosen": "for (int i = 0; i < n; i++) { int v = k[i] < 5 ? 5 : k[i] > 40 ? 40 : k[i]; h[v] += v; }",
    "between": "for (int i = 0; i < n; i++) { int v = (int)(k[i] * 0.7) - 9; if (v >= 0 && v < 50) h[v]++; }",
    "below, without sign": "for (int i = 0; i < n; i++) { int v = k[i] - 9; if ((unsigned)v < 50) h[v]++; }",
    "some": "for (int i = 0; i < n; i++) if (k[i] > 0 && k[i] <= 90) l[k[i] - 1] += i;",
    "with a sum": "{ long sum = 0; for (int i = 0; i < n; i++) { h[c[i]]++; sum += k[i]; } l[0] = sum; }",
}
IN_ORDER = {
    "unknown": "for (int i = 0; i < n; i++) h[k[i]]++;",
    "above alone": "for (int i = 0; i < n; i++) { int v = k[i]; if (v < 16) h[v]++; }",
    "cut, and set again": """for (int i = 0; i < n; i++) {
    int v = k[i]; if (v < 0) v = 0; if (v > 15) v = k[i];
    h[v]++; }""",
    "of the iteration before": """{ int v = 0;
    for (int i = 0; i < n; i++) { if (v >= 0 && v < 16) h[v]++; v = k[i]; h[v]++; } }""",
    "negative remainders": "for (int i = 0; i < n; i++) h[k[i] % 16]++;",
    "narrowed by a cast": "for (int i = 0; i < n; i++) if ((unsigned char)k[i] < 16) h[k[i]]++;",
    "product": "for (int i = 0; i < n; i++) h[c[i]] *= 3;",
    "read": "for (int i = 0; i < n; i++) { h[c[i]]++; l[i] = h[0]; }",
    "floating": "for (int i = 0; i < n; i++) d[c[i]] += k[i];",
    "moved": "for (int i = 0; i < n; i++) h[c[i]] = h[c[i] ^ 1] + 1;",
    "kept": "for (int i = 0; i < n; i++) l[i] = h[c[i]]++;",
}
HEAD = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int t[100];
static unsigned short s[16];
"""
FUNCTION = """\
static void f{number}(int n, int *restrict h, long *restrict l, double *restrict d,
                      const unsigned char *restrict c, const int *restrict k)
{{
#pragma scop
  {body}
#pragma endscop
  (void)h; (void)l; (void)d; (void)c; (void)k;
}}
"""
MAIN = r"""
static void test(int number, void (*run)(int, int *, long *, double *, const unsigned char *, const int *),
                 int n)
{
  static int h[300]; static long l[300]; static double d[300];
  unsigned char *c = malloc(n + 1); int *k = malloc((n + 1) * sizeof *k);
  memset(h, 7, sizeof h); memset(l, 1, sizeof l); memset(t, 3, sizeof t); memset(s, 9, sizeof s);
  unsigned state = n;
  for (int i = 0; i < n; i++) {
    state = state * 1664525u + 1013904223u;
    c[i] = state >> 24; k[i] = (state >> 8) % 100;
  }
  run(n, h, l, d, c, k);
  unsigned long sum = 0;
  for (int i = 0; i < 300; i++) sum = sum * 31 + (unsigned)h[i] + 7ul * (unsigned long)l[i];
  for (int i = 0; i < 100; i++) sum = sum * 31 + (unsigned)t[i];
  for (int i = 0; i < 16; i++) sum = sum * 31 + s[i];
  printf("%d %d %lu\n", number, n, sum);
  free(c), free(k);
}
int main(void)
{
  const int sizes[] = {0, 1, 2, 33, 200, 70000};
  for (int i = 0; i < 6; i++) {
CALLS  }
  return 0;
}
"""


def program(bodies):
    functions = (FUNCTION.format(number=number, body=body) for number, body in enumerate(bodies.values()))
    calls = "".join(f"    test({number}, f{number}, sizes[i]);\n" for number in range(len(bodies)))
    return HEAD + "".join(functions) + MAIN.replace("CALLS", calls)


@pytest.fixture(scope="module")
def histograms(tmp_path_factory):
    folder = tmp_path_factory.mktemp("histograms")
    source = write(folder / "in.c", program(BODIES))
    result = compile_source(str(source), Options(min_work=0), ["gcc"], ())
    return source, write(folder / "out.c", without_thresholds(result.text)), result


@pytest.mark.fast
def test_each_thread_has_elements_of_its_own(histograms):
    found = dict(zip(BODIES, histograms[2].regions, strict=True))
    assert {name for name, each in found.items() if not each.parallel_loops} == set()
    own = {name for name, each in found.items() if any("for each thread" in one for one in each.remarks)}
    assert own == set(BODIES)


@pytest.mark.links("-fopenmp")
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_the_counts_of_the_original(compiler, histograms):
    source, transformed, _ = histograms
    expected = lines(built(source, "gcc", "-O1"))
    threaded = built(transformed, compiler, "-O2", "-fopenmp")
    for threads in (1, 2, 5):
        assert lines(threaded, threads) == expected
    assert lines(built(transformed, compiler, "-O2")) == expected


def test_elements_that_may_not_exist_are_not_touched(tmp_path):
    """An array of counts may have fewer elements than bytes have values."""
    text = program({"bytes": BODIES["bytes"]}).replace("static int h[300];", "int *h = calloc(9, sizeof *h);")
    text = text.replace("memset(h, 7, sizeof h);", "").replace("state >> 24", "(state >> 24) % 9")
    text = text.replace("i < 300", "i < 9").replace("free(c)", "free(h), free(c)")
    source = write(tmp_path / "in.c", text)
    result = compile_source(str(source), Options(min_work=0), ["gcc"], ())
    transformed = write(tmp_path / "out.c", without_thresholds(result.text))
    flags = ("-O1", "-fopenmp", "-fsanitize=undefined,address", "-fno-sanitize-recover=all")
    assert lines(built(transformed, "gcc", *flags), 3) == lines(built(source, "gcc", "-O1"))


def test_what_needs_its_order_keeps_it(tmp_path):
    source = write(tmp_path / "in.c", program(IN_ORDER))
    result = compile_source(str(source), Options(min_work=0), ["gcc"], ())
    assert {name for name, each in zip(IN_ORDER, result.regions, strict=True) if each.parallel_loops} == set()
