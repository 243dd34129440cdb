"""Running sums and their like in two passes of threads: the same bits in integers, close in other numbers."""

from __future__ import annotations

import pytest
from compiling import write
from test_parallel_reductions import built, lines, without_thresholds

from polybuild.driver.file import compile_source
from polybuild.options import Options

# Each body makes y (of n + 1) of x; s is a variable.
BODIES = {
    "line": "for (int i = 1; i < n; i++) y[i] = y[i - 1] + x[i];",
    "offsets": "for (int i = 0; i < n; i++) y[i + 1] = y[i] + x[i];",
    "from the right": "for (int i = 1; i <= n - 1; ++i) { y[i] = x[i] + y[-1 + i]; }",
    "in place": "for (int i = 1; i < n; i++) y[i] += y[i - 1];",
    "weighted": "for (int i = 1; i < n; i++) y[i] = y[i - 1] + 3 * x[i] - y[i];",
    "downwards": "for (int i = n - 2; i >= 0; i--) y[i] = x[i] + y[i + 1];",
    "in steps": "for (int i = 3; i < n; i += 3) y[i] = y[i - 3] + x[i];",
    "inclusive": "for (int i = 0; i < n; i++) { s += x[i]; y[i] = s; }",
    "exclusive": "for (int i = 0; i < n; i++) { y[i] = s; s += x[i]; }",
    "exclusive, in place": "for (int i = 0; i < n; i++) { T t = y[i]; y[i] = s; s = s + t; }",
    "of a function": "for (int i = 0; i < n; i++) { T t = x[i] * x[i]; s += t; y[i] = s - t; }",
    "under a condition": "for (int i = 0; i < n; i++) { if (x[i] > 3) s += x[i]; y[i] = s; }",
    "unsigned counter": "for (unsigned i = 1; i < (unsigned)n; i++) y[i] = y[i - 1] + x[i];",
    "after another loop": """{ y[0] = x[0];
    for (int i = 1; i < n; i++) y[i] = y[i - 1] + x[i]; }""",
    "behind a pointer": "for (int i = 0; i < n; i++) { *z += x[i]; y[i] = *z; }",
    "looked at twice": "for (int i = 0; i < n; i++) { s += x[i]; y[i] = s; z[i] = s * 2 + x[i]; }",
}
INTEGERS = {
    "bits": "for (int i = 1; i < n; i++) y[i] = y[i - 1] ^ x[i];",
    "product": "for (int i = 1; i < n; i++) y[i] = y[i - 1] * (x[i] | 1);",
    "highest": "for (int i = 0; i < n; i++) { if (x[i] > s) s = x[i]; y[i] = s; }",
    "lowest": "for (int i = 0; i < n; i++) { s = x[i] < s ? x[i] : s; y[i] = s; }",
    "halves": "for (int i = 0; i < n; i++) { s += x[i]; y[i] = s / 2; }",
    "kept in more": "for (int i = 0; i < n; i++) { s -= x[i]; w[i] = s; }",
    "places of those that fit": """for (int i = 0; i < n; i++) {
    y[i] = -1; if (x[i] > 3) y[i] = s; s += x[i] > 3; }""",
    "two": "for (int i = 0; i < n; i++) { s += x[i]; y[i] = s; u ^= x[i]; z[i] = u; }",
}
IN_ORDER = {
    "of two before": "for (int i = 2; i < n; i++) y[i] = y[i - 1] + y[i - 2];",
    "with a factor": "for (int i = 1; i < n; i++) y[i] = 3 * y[i - 1] + x[i];",
    "subtracted": "for (int i = 1; i < n; i++) y[i] = x[i] - y[i - 1];",
    "twice": "for (int i = 1; i < n; i++) y[i] = y[i - 1] + y[i - 1];",
    "terms of what is stored": "for (int i = 1; i < n; i++) { s += y[i - 1]; y[i] = s; }",
    "started again": "for (int i = 0; i < n; i++) { if (x[i] == 7) s = 0; s += x[i]; y[i] = s; }",
    "of terms that go on": "for (int i = 0; i < n; i++) { u = u * 3 + x[i]; s += u; y[i] = s; }",
    "sums of sums": """{ T a = 0, b = 0;
    for (int i = 0; i < n; i++) { a += x[i]; b += a; y[i] = b; } }""",
    "sums of the largest": """{ T a = 0;
    for (int i = 0; i < n; i++) { if (x[i] > a) a = x[i]; s += a; y[i] = s; } }""",
    "condition on itself": "for (int i = 0; i < n; i++) { if (s < 1000) s += x[i]; y[i] = s; }",
}
HEAD = "#include <stdio.h>\n#include <stdlib.h>\n"
FUNCTION = """\
static T f{number}(int n, T *restrict y, T *restrict z, double *restrict w, const T *restrict x)
{{
  T s = 5, u = 1;
#pragma scop
  {body}
#pragma endscop
  (void)z; (void)w;
  return s + u;
}}
"""
MAIN = r"""
static void test(int number, T (*run)(int, T *, T *, double *, const T *), int n)
{
  T *x = calloc(n + 1, sizeof *x), *y = calloc(n + 1, sizeof *y), *z = calloc(n + 1, sizeof *z);
  double *w = calloc(n + 1, sizeof *w), sum = 0;
  for (int i = 0; i <= n; i++)
    x[i] = i * 37 % 19 - 7, y[i] = i * 7 % 23;
  T value = run(n, y, z, w, x);
  for (int i = 0; i <= n; i++)
    sum += (i % 31 + 1) * ((double)y[i] + 3 * (double)z[i] + w[i]);
  printf("%d %d %.17g %.17g\n", number, n, (double)value, sum);
  free(x), free(y), free(z), free(w);
}
int main(void)
{
  const int sizes[] = {0, 1, 2, 3, 33, 200, 5000};
  for (int i = 0; i < 7; i++) {
CALLS  }
  return 0;
}
"""


def program(bodies, kind):
    functions = (FUNCTION.format(number=number, body=body) for number, body in enumerate(bodies.values()))
    calls = "".join(f"    test({number}, f{number}, sizes[i]);\n" for number in range(len(bodies)))
    return f"{HEAD}typedef {kind} T;\n{''.join(functions)}{MAIN.replace('CALLS', calls)}"


def transformed(folder, bodies, kind, **options):
    source = write(folder / "in.c", program(bodies, kind))
    result = compile_source(str(source), Options(min_work=0, **options), ["gcc"], ())
    shared = {name: each.parallel_loops for name, each in zip(bodies, result.regions, strict=True)}
    return source, write(folder / "out.c", without_thresholds(result.text)), shared


@pytest.mark.fast(compiler=["gcc"], kind=["int"])
@pytest.mark.links("-fopenmp")
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("kind", ["int", "unsigned char", "long"])
def test_the_same_bits(kind, compiler, tmp_path):
    source, made, shared = transformed(tmp_path, {**BODIES, **INTEGERS}, kind)
    assert {name for name, loops in shared.items() if not loops} == set()
    expected = lines(built(source, "gcc", "-O1", "-fwrapv"))
    threaded = built(made, compiler, "-O2", "-fopenmp")
    for threads in (1, 2, 5):
        assert lines(threaded, threads) == expected
    assert lines(built(made, compiler, "-O2")) == expected


@pytest.mark.links("-fopenmp")
def test_sums_in_another_order(tmp_path):
    source, made, shared = transformed(tmp_path, BODIES, "double", allow_reassociation=True)
    assert {name for name, loops in shared.items() if not loops} == set()
    expected = [line.split() for line in lines(built(source, "gcc", "-O1"))]
    threaded = built(made, "gcc", "-O2", "-fopenmp")
    for threads in (1, 3):
        for got, wanted in zip(lines(threaded, threads), expected, strict=True):
            assert [float(each) for each in got.split()] == pytest.approx(list(map(float, wanted)), rel=1e-9)


def test_without_leave_floating_point_numbers_keep_their_order(tmp_path):
    assert not any(transformed(tmp_path, BODIES, "double")[2].values())


@pytest.mark.parametrize("kind", ["int", "double"])
def test_what_needs_its_order_keeps_it(kind, tmp_path):
    shared = transformed(tmp_path, IN_ORDER, kind, allow_reassociation=True)[2]
    assert {name for name, loops in shared.items() if loops} == set()
