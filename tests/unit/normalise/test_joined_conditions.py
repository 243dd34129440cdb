"""Updates under one condition come together where the last of them changes it."""

from __future__ import annotations

import pytest
from plain_regions import region_of

from polybuild.codegen.c.bodies import c_text
from polybuild.normalise.joined_conditions import join_conditions

HEAD = "int where = 0, also = 0; double best = 0; volatile double seen = 0;"


def joined(body: str) -> str:
    """What becomes of the ``body`` of a loop."""
    given = region_of(
        f"void f(int n, double *x, double *y, int *out) {{\n{HEAD}\n#pragma scop\n"
        f"for (int i = 0; i < n; i++) {{ {body} }}\n#pragma endscop\n"
        "*out = where + also, x[0] = best + seen; }\n"
    )
    text = " ".join(" ".join(map(c_text, join_conditions(given).statements)).split())
    return text.partition("{ ")[2].rpartition(" }")[0]


@pytest.mark.parametrize(
    "body",
    [
        "where = x[i] > best ? i : where; best = x[i] > best ? x[i] : best;",
        "if (x[i] > best) where = i; if (x[i] > best) best = x[i];",
        "if (x[i] > best) { where = i; } best = x[i] > best ? x[i] : best;",
    ],
)
def test_every_spelling_is_one_update(body):
    assert joined(body) == "if (x[i] > best) { where = i; best = x[i]; }"


@pytest.mark.parametrize(
    "body",
    [
        "if (x[i] > best) best = x[i]; if (x[i] > best) where = i;",  # nothing is larger than itself
        "if (x[i] > best) where = i; if (x[i] >= best) best = x[i];",
        "if (x[i] > best) where = i; also = 3; if (x[i] > best) best = x[i];",
        "if (x[i] > best) where = i; if (x[i] > best) also = i;",  # the condition holds all the same
        "if (x[i] > best) y[i] = i; if (x[i] > best) best = x[i];",  # may be what is compared
        "if (x[i] > seen) where = i; if (x[i] > seen) seen = x[i];",  # may be read at any time
        "if (x[i] > best) where = i; else where = 0; if (x[i] > best) best = x[i];",
    ],
)
def test_what_stays(body):
    assert joined(body).count("best") + joined(body).count("seen") == body.count("best") + body.count("seen")
    assert joined(body).count("if") == body.count("if")
