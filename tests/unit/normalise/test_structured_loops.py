"""Jumps back and loops without an end become loops with a condition, or stay."""

from __future__ import annotations

import pytest
from plain_regions import region_of

from polybuild.codegen.c.bodies import c_text
from polybuild.normalise.structured_loops import with_structured_loops
from polybuild.normalise.upward_exposed import read_after


def given(body: str):
    text = f"void f(int n, double *a) {{ int k = 0; double s = 0;\n#pragma scop\n{body}\n#pragma endscop\n}}"
    return region_of(text)


def structured(body: str) -> str:
    """What becomes of ``body``."""
    return " ".join(" ".join(map(c_text, with_structured_loops(given(body)).statements)).split())


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("next: if (k < n) { s += a[k]; k++; goto next; }", "while (k < n) { s += a[k]; k++; }"),
        ("next: s += a[k]; if (++k < n) goto next;", "do { s += a[k]; } while ((++k) < n);"),
        (
            "next: if (k >= n) goto end; s += a[k]; k++; goto next; end: a[0] = s;",
            "while (!(k >= n)) { s += a[k]; k++; } end: a[0] = s;",
        ),
        ("for (;;) { if (k == n) break; s += a[k++]; }", "for (; !(k == n); ) { s += a[k++]; }"),
        ("while (1) { s += a[k]; if (++k == n) break; }", "do { s += a[k]; } while (!((++k) == n));"),
        ("for (;;) { k++; if (k > n) break; a[k] = 0; }", "for (; k++, !(k > n); ) { a[k] = 0; }"),
        ("do { if (k < n) a[k++] = 0; else break; } while (1);", "while (k < n) { a[k++] = 0; }"),
        (
            "for (int i = 0;; i += 2) { a[i] = 0; if (i >= n) break; }",
            "{ int i = 0; do { a[i] = 0; i += 2; } while (!((i - 2) >= n)); }",
        ),
    ],
)
def test_loops_get_a_condition(body, expected):
    assert structured(body).replace(";)", "; )") == expected


@pytest.mark.parametrize(
    "body",
    [
        "{ next: k++; s += a[k]; } if (s < 9) goto next;",  # into a block
        "next: s += a[k]; if (++k < n) goto next; if (s < 0) goto next;",  # the same from elsewhere
        "for (k = 0; k < n; k++) { next: if (a[k] > 0) break; a[k] += 1; goto next; }",  # of the other loop
        "for (;;) { if (k > n) break; if (a[k] > 0) break; k++; }",
        "for (;;) { s += a[k]; if (k > n) break; k++; }",  # a sum before the test
        "while (1) { k++; if (a[k] > 0) continue; s += a[k]; if (k > n) break; }",  # would test, too
        "for (k = 0;; k++) { s += a[k]; if (k > n) break; }",  # what k is then may be read
        "for (;;) { for (k = 0; k < n; k++) if (a[k] > 0) break; s += 1; }",  # of the inner loop
        "for (; s < n;) { if (k == n) break; s += a[k++]; }",  # it has a condition
        "for (;;) { switch (n) { case 0: break; } k++; }",
    ],
)
def test_what_stays(body):
    region = given(body)
    assert with_structured_loops(region) is region


def test_what_is_read_after_the_region_is_known_then():
    region = given("k = 0; next: if (k < n) { s = a[k]; a[k] = s * s; k++; goto next; }")
    assert "s" in read_after(region.function, 0)
    assert "s" not in read_after(with_structured_loops(region).function, 0)
