"""Unsigned counters that end as they wrap around: loops that end at 0, or are left alone."""

from __future__ import annotations

import pytest

from polybuild.codegen.c.bodies import c_text
from polybuild.normalise.wrapping_counters import without_wrapping_counters
from polybuild.source.reader import read_source

TOP = """
typedef unsigned long size_t;
void f(size_t n, unsigned m, long s, unsigned char c, double *x) {
  size_t i;
"""


@pytest.fixture
def ended(tmp_path):
    """The text of a region after its loops end at zero; none if it stays as it is."""

    def rewritten(loop, after=""):
        path = tmp_path / "in.c"
        path.write_text(f"{TOP}#pragma scop\n{loop}\n#pragma endscop\n{after} }}\n")
        (region,) = read_source(str(path), ["gcc"], []).regions
        new = without_wrapping_counters(region)
        return "" if new is region else " ".join("\n".join(map(c_text, new.statements)).split())

    return rewritten


@pytest.mark.parametrize(
    ("loop", "found"),
    [
        ("for (size_t k = n - 1; k < n; k--) x[k] = 0;", "if ((n - 1) < n) for (size_t k = n; (k--) > 0;)"),
        (
            "for (size_t k = n - 1; n > k; k -= 1) x[k] = 0;",
            "if ((n - 1) < n) for (size_t k = n; (k--) > 0;)",
        ),
        ("for (unsigned k = m; k != ~0u; --k) x[k] = 0;", "for (unsigned k = m + 1; (k--) > 0;) x[k] = 0;"),
        (
            "for (i = s; i != (size_t)-1; i--) x[i] = 0;",
            "for (i = ((unsigned long) s) + 1; (i--) > 0;)",
        ),
    ],
)
def test_loops_end_at_zero(ended, loop, found):
    assert found in ended(loop)


@pytest.mark.parametrize(
    "loop",
    [
        "for (long k = s; k < s; k--) x[k] = 0;",
        "for (unsigned char k = c; k < c; k--) x[k] = 0;",
        "for (size_t k = n - 1; k <= n - 1; k--) x[k] = 0;",
        "for (size_t k = n - 1; k < n; k--) { x[k] = 0; n--; }",
        "for (size_t k = n - 1; k < n; k--) { x[k] = 0; k--; }",
        "for (size_t k = n - 1; k != 0; k--) x[k] = 0;",
        "for (size_t k = n; k > 0; k--) x[k - 1] = 0;",
        "for (size_t k = 0; k < n; k++) x[k] = 0;",
    ],
)
def test_other_loops_stay(ended, loop):
    assert not ended(loop)


def test_counters_that_are_read_after_the_loop_stay(ended):
    assert not ended("for (i = n - 1; i < n; i--) x[i] = 0;", "x[0] = i;")
