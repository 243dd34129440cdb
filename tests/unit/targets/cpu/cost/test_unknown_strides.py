"""Strides that a compiler does not know, as they are numbers of bytes."""

from __future__ import annotations

import pytest

from polybuild.targets.cpu.cost.unknown_strides import has_unknown_stride

PARAMETERS = "long n, long m, long s, long t, char *restrict p, double *restrict q"


@pytest.mark.parametrize(
    ("element", "unknown"),
    [
        ("*(double *)(p + i * s + j * t)", True),
        ("*(double *)(p + 8 + (i - 1) * s + (j + 1) * t)", True),
        ("*(double *)(p + i * s + n * 8 + j * t)", True),
        ("((double *)(p + i * s))[j]", False),
        ("q[i * m + j]", False),
    ],
)
def test_which_elements_follow_each_other(model, element, unknown):
    scop = model(f"for (long i = 0; i < n; i++) for (long j = 0; j < m; j++) {element} = 1;", PARAMETERS).scop
    (statement,) = scop.statements
    (written,) = statement.accesses
    assert has_unknown_stride(written.node, scop.parameters) is unknown
