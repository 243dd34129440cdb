"""Signs of terms: those of floating-point numbers are added or subtracted."""

from __future__ import annotations

import pytest

from polybuild.codegen.c.bodies import c_text
from polybuild.scop.model import AccessKind

PARAMETERS = "int n, double f, float h, int z[restrict n], double x[restrict n], double y[restrict n]"
LOOP = "for (int i = 0; i < n; i++)"


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("y[i] += -x[i];", "y[i] -= x[i]"),
        ("y[i] -= -f * x[i];", "y[i] += f * x[i]"),
        ("y[i] += f * -x[i];", "y[i] -= f * x[i]"),
        ("y[i] += -f * -x[i];", "y[i] += f * x[i]"),
        ("y[i] = y[i] + x[i] / -f;", "y[i] = y[i] - x[i] / f"),
        ("y[i] = f - (double)-h * x[i];", "y[i] = f + ((double) h) * x[i]"),
        ("y[i] += -(x[i] + f);", "y[i] -= x[i] + f"),
        ("if (z[i]) y[i] += -x[i] * 2.0;", "y[i] -= x[i] * 2.0"),
    ],
)
def test_a_negated_term_is_subtracted(model, written, expected):
    (statement,) = model(f"{LOOP} {written}", PARAMETERS).scop.statements
    assert expected in c_text(statement.body)
    reads = [each for each in statement.accesses if each.kind is AccessKind.READ]
    assert {id(each.node) for each in reads if each.exact} <= statement.element_nodes


@pytest.mark.parametrize(
    "written",
    [
        "z[i] += -z[i] * 3",  # the product may not be in the type where the one with a sign is
        "y[i] += -z[i]",
        "y[i] += -z[i] * x[i]",  # the integer is negated before it is converted
        "y[i] = -x[i] * f",
        "y[i] = -x[i] + f",
    ],
)
def test_other_signs_stay(model, written):
    (statement,) = model(f"{LOOP} {written};", PARAMETERS).scop.statements
    assert c_text(statement.body) == written
