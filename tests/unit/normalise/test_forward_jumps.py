"""Jumps forward in a block become conditions, or stay."""

from __future__ import annotations

import pytest
from plain_regions import region_of

from polybuild.codegen.c.bodies import c_text
from polybuild.normalise.forward_jumps import with_forward_jumps_as_conditions


def given(body: str):
    text = (
        f"int g; void f(int n, int k, int m, double *a) {{ double s = 0; int i = 0;\n"
        f"#pragma scop\n{body}\n#pragma endscop\n}}"
    )
    return region_of(text)


def structured(body: str) -> str:
    """What becomes of ``body``."""
    statements = with_forward_jumps_as_conditions(given(body)).statements
    return " ".join(" ".join(map(c_text, statements)).split())


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("if (k) goto next; s += 1; next: ;", "if (k) { } else { s += 1; } ;"),
        ("if (k) { m = 1; goto next; } s += 1; next: s = 2;", "if (k) { m = 1; } else { s += 1; } s = 2"),
        (
            "if (k) goto other; s += 1; goto done; other: s += 2; done: a[0] = s;",
            "if (k) { s += 2; } else { s += 1; } a[0] = s",
        ),
        (
            "if (k) goto other; if (m) goto done; s += 1; done: s += 2; other: ;",
            "if (k) { } else { if (m) { } else { s += 1; } s += 2; } ;",
        ),
        (
            "if (k) { if (m) goto next; s += 1; } s += 2; next: ;",
            "if (k) { if (m) { } else { s += 1; } } if (!(k && m)) { s += 2; } ;",
        ),
        (
            "if (k) goto next; double t = 3; s += t; next: t = 5; a[0] = t;",
            "double t if (k) { } else { t = 3; s += t; } t = 5 a[0] = t",
        ),
        (
            "for (i = 0; i < n; i++) { if (a[i] > 0) goto end; a[i] = 1; } end: s = 1;",
            "for (i = 0; i < n; i++) { if (a[i] > 0) break; a[i] = 1; } s = 1",
        ),
        (
            "for (i = 0; i < n; i++) { if (k) { if (m) continue; s += 1; } s += 2; }",
            "for (i = 0; i < n; i++) { if (k) { if (m) { } else { s += 1; } } if (!(k && m)) { s += 2; } }",
        ),
        (
            "switch (k) { case 1: goto L1; case 2: goto L2; default: goto L3; } L1: s = 1; goto L3; L2: L3:;",
            "if (k == 1) { s = 1; } else { if (k == 2) { } } ;",
        ),
        (
            "double t = 1; if (k) { double t = 2; s = t; goto end; } s += t; end: ;",
            "double t = 1 if (k) { double t = 2; s = t; } else { s += t; } ;",
        ),
        (
            "double t = 1; if (k) goto end; else { double t = 2; s = t; } s += t; end: ;",
            "double t = 1 if (k) { } else { { double t = 2; s = t; } s += t; } ;",
        ),
    ],
)
def test_jumps_become_conditions(body, expected):
    assert structured(body) == expected


@pytest.mark.parametrize(
    "body",
    [
        "if (k) { if (m) goto next; k = 1; } s += 2; next: ;",  # what is tested changes
        "if (g) { if (m) goto next; a[0] = 1; } s += 2; next: ;",  # may change
        "if (a[0] > 0) { if (m) goto next; a[1] = 1; } s += 2; next: ;",
        "if (k) { if (at(m)) goto next; s = 1; } s += 2; next: ;",
        "if (k) { int k = m; if (k > 2) goto next; s = 1; } s += 2; next: ;",  # of another name
    ],
)
def test_a_flag_keeps_what_changes(body):
    assert structured(body).startswith("int jumped = 0 if (")
    assert "if (!jumped) { s += 2; }" in structured(body)


@pytest.mark.parametrize(
    "body",
    [
        "next: s += 1; if (k) goto next;",  # back
        "if (k) goto inside; s = 1; if (m) { s += 1; inside: s += 2; }",  # into a block
        "for (i = 0; i < n; i++) { for (k = 0; k < n; k++) if (a[k] > 0) goto end; a[i] = 1; } end: s = 1;",
        "for (i = 0; i < n; i++) if (a[i] > 0) goto end; s = 2; end: s = 1;",  # past more than the loop
        "if (k) goto next; const double t = 3; s += t; next: a[0] = t;",  # set once, and read
        "for (i = 0; i < n; i++) { if (k) { if (m) continue; s += 1; } if (a[i] > 5) break; s += 2; }",
        "if (k) { s = 1; goto end; other: s = 2; } if (m) goto other; s = 3; end: ;",
    ],
)
def test_other_jumps_stay(body):
    region = given(body)
    assert with_forward_jumps_as_conditions(region) is region
