"""Scalars that live on after a region: private to its loops where their last value can be computed again."""

from __future__ import annotations

import itertools

import islpy as isl
import pytest
from pool_programs import compare_around, function

from polybuild.driver.file import compile_source
from polybuild.options import Options
from polybuild.storage import last_iteration

SIZES = [*itertools.product((0, 1, 2, 7, 33, 60), repeat=2), (17, 40), (40, 17)]
LOOPS = "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)"

UPDATES = "".join(f"C[i*20+{each % 20}] += t * B[{each}] + u; " for each in range(100))
"""So many statements that those which follow each other are one."""

# name: (declarations before, region, what is done with the last values)
RECOMPUTED = {
    "copy": (
        "double t = -1;",
        "for (int i = 0; i < n; i++) { t = 2 * A[i] + 1; B[i] = t * t; }",
        "C[0] = t;",
    ),
    "never read": ("double t = -1;", "for (int i = 0; i < n; i++) { t = A[i]; B[i] = i; }", "C[0] = t;"),
    "sum": (
        "double s = -1;",
        f"{LOOPS} {{ s = 0; for (int k = 0; k < 20; k++) s += A[i*20+k] * B[j*20+k]; C[i*m+j] = s; }}",
        "C[9999] = s;",
    ),
    "static": (
        "static double s, t;",
        (
            f"{LOOPS} {{ s = A[i]; for (int k = 0; k < 20; k++) {{ t = A[i*20+k] - B[j*20+k]; s += t * t; }}"
            " C[i*m+j] = s; }"
        ),
        "C[9998] = s; C[9999] = t;",
    ),
    "downwards": (
        "double s = 3;",
        "for (int i = n - 1; i >= 0; i--) { s = A[i]; for (int j = 0; j < m; j++) s += B[i*m+j]; C[i] = s; }",
        "C[9999] = s;",
    ),
    "triangle": (
        "double s = 3;",
        (
            "for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++)"
            " { s = 0; for (int k = 0; k < j; k++) s += A[i*n+k] * B[j*n+k]; C[i*n+j] = s; }"
        ),
        "C[9999] = s;",
    ),
    "of the innermost loop": (
        "double t = 3; int x = 0;",
        f"{LOOPS} {{ t = A[i] * B[j]; x = i - j; C[i*m+j] += t * x; }}",
        "C[9999] = t; C[9998] = x;",
    ),
    "largest and its place": (
        "double best = 0; int place = -1;",
        (
            "for (int i = 0; i < n; i++) { best = A[i*m]; place = 0;"
            " for (int j = 1; j < m; j++) if (A[i*m+j] > best) { best = A[i*m+j]; place = j; }"
            " B[i] = best; C[i] = place; }"
        ),
        "C[9999] = best; C[9998] = place;",
    ),
    "in two nests": (
        "double s = 3;",
        (
            "for (int i = 0; i < n; i++) { s = 0; for (int j = 0; j < m; j++) s += A[i*m+j]; C[i] = s; }"
            " for (int j = 0; j < m; j++) { s = 1; for (int i = 0; i < n; i++) s += A[i*m+j]; B[j] = s; }"
        ),
        "C[9999] = s;",
    ),
    "from what is written": (
        "double s = 3;",
        (
            "for (int i = 0; i < n; i++) C[i] = 2 * A[i];"
            " for (int i = 0; i < n; i++) { s = 1; for (int j = 0; j < m; j++) s += C[i] * B[j]; A[i] = s; }"
        ),
        "C[9999] = s;",
    ),
    "of what is overwritten": (
        "double t = 5;",
        "for (int i = 0; i < n; i++) { t = A[i]; A[i] = B[i]; B[i] = t; }",
        "C[0] = t;",
    ),
    "of what is overwritten later": (
        "double t = 5;",
        "for (int i = 0; i < n; i++) { t = A[i]; B[i] = t; } for (int i = 0; i < n; i++) A[i] = i;",
        "C[0] = t;",
    ),
    "under a condition on the sizes": (
        "double s = 3;",
        (
            "for (int i = 0; i < n; i++) { s = 0; if (m > 7) s = A[i];"
            " for (int j = 0; j < m; j++) s += B[j] * i; C[i] = s; }"
        ),
        "C[9999] = s;",
    ),
    "beside many statements": (
        "static double t, u, v;",
        f"for (int i = 0; i < n; i++) {{ t = A[i]; u = t * t; v = t * u; {UPDATES} }}",
        "A[0] = t; A[1] = u; A[2] = v;",
    ),
    "among many statements": (
        "double t = 1, u = 2;",
        (
            "for (int i = 0; i < n; i++) { C[i*20] += 1; C[i*20+1] += A[i]; t = A[i];"
            f" C[i*20] *= t; C[i*20+2] *= 3; u = 1 / (t + 7); {UPDATES} }}"
        ),
        "A[0] = t; A[1] = u;",
    ),
    "beside many statements of a while loop": (
        "double t = 1, u = 2; int i = 0;",
        f"while (i < n) {{ t = A[i]; u = t * t; {UPDATES} i++; }}",
        "A[0] = t; A[1] = u;",
    ),
    "beside many statements with commas": (
        "double t = 1, u = 2;",
        f"for (int i = 0; i < n; i++) {{ t = A[i], u = t * t; {UPDATES} }}",
        "A[0] = t; A[1] = u;",
    ),
    "beside many statements twice": (
        "static double t, u, v;",
        (
            f"for (int i = 0; i < n; i++) {{ t = A[i]; u = t * t; v = t * u; {UPDATES} }}"
            f" for (int i = 1; i < n - 1; i++) {{ t = A[i-1] + A[i+1]; u = t - 1; {UPDATES} }}"
        ),
        "A[0] = t; A[1] = u; A[2] = v;",
    ),
    "beside many statements through pointers": (
        "double t = 1, u = 2;",
        (
            "for (int i = 0; i < n; i++) { double *row = C + 20 * i; t = *(A + i); u = t * t;"
            f" {UPDATES.replace('C[i*20+', 'row[')} }}"
        ),
        "A[0] = t; A[1] = u;",
    ),
    "beside many plain statements": (
        "static double t, u;",
        (
            "for (int i = 0; i < n; i++) { t = A[i]; u = t * t; "
            + "".join(f"C[i*80+{each}] = t * B[{each}] + u; " for each in range(80))
            + "}"
        ),
        "A[0] = t; A[1] = u;",
    ),
}
KEPT = {
    "of what is overwritten before and after": (
        "double t = 5;",
        "for (int i = 0; i < n; i++) { A[i] += B[i]; t = A[i]; A[i] = 2 * t; B[i] = t; }",
        "C[0] = t;",
    ),
    "carried": ("double s = 0;", "for (int i = 0; i < n; i++) { s += A[i]; B[i] = s; }", "C[0] = s;"),
    "of before the region": (
        "double t = 5;",
        "for (int i = 0; i < n; i++) { B[i] = t; t = A[i]; }",
        "C[0] = t;",
    ),
    "set under a condition": (
        "double t = 5;",
        "for (int i = 0; i < n; i++) { if (A[i] > 50) t = A[i]; B[i] = 1; }",
        "C[0] = t;",
    ),
    "read after its loop": (
        "double t = 5;",
        "for (int i = 0; i < n; i++) { t = A[i]; B[i] = t; } C[1] = t;",
        "C[0] = t;",
    ),
    "of some iterations": (
        "double t = 5;",
        "for (int i = 0; i < n; i++) if (A[i] > 50) { t = A[i]; B[i] = t; }",
        "C[0] = t;",
    ),
    "few iterations": (
        "double t = 5;",
        "for (int i = 0; i < 4; i++) { t = 0; for (int j = 0; j < n; j++) t += A[4*j+i]; C[i] = t; }",
        "C[10] = t;",
    ),
}
CASES = RECOMPUTED | KEPT


def compared(folder, cases):
    return compare_around(folder, cases, SIZES)


@pytest.fixture(scope="module")
def comparison(tmp_path_factory):
    return compared(tmp_path_factory.mktemp("last"), CASES)


@pytest.mark.parametrize("name", CASES)
def test_results_are_the_original_ones(comparison, name):
    calls = comparison.calls[function(name)]
    assert not any(each.fell_back for each, size in zip(calls, SIZES, strict=True) if min(size) > 0)
    assert [each.transformed for each in calls] == [each.original for each in calls]


@pytest.mark.parametrize("name", CASES)
def test_what_is_computed_again(comparison, name):
    region = comparison.regions[function(name)]
    assert region.status == "transformed", region
    assert any("computed again" in each for each in region.remarks) == (name in RECOMPUTED), region


@pytest.mark.parametrize("name", [each for each in RECOMPUTED if "many" in each])
def test_what_is_beside_stays_together_on_threads(comparison, name):
    region = comparison.regions[function(name)]
    assert any("stay together" in each for each in region.remarks), region
    assert region.parallel_loops


def test_a_value_of_another_iteration_is_seen(tmp_path, monkeypatch):
    find = last_iteration._prefix

    def one_before(scop, instances, depth):
        others = "".join(f", x{each}" for each in range(1, depth))
        return find(scop, instances, depth).apply(isl.Map(f"{{ [x{others}] -> [x - 1{others}] }}"))

    monkeypatch.setattr(last_iteration, "_prefix", one_before)
    comparison = compared(tmp_path, {"sum": RECOMPUTED["sum"]})
    assert any(each.transformed != each.original for each in comparison.calls[function("sum")])


def test_a_loop_that_never_runs_sets_nothing(tmp_path):
    source = tmp_path / "never.c"
    loop = "for (unsigned i = n; i < 0; i++) a[0] = 1;"
    source.write_text(f"void f(unsigned n, double *a) {{\n#pragma scop\n{loop}\n#pragma endscop\n}}\n")
    (region,) = compile_source(str(source), Options(min_work=0), ["gcc"], []).regions
    assert region.status == "transformed"
