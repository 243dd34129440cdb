"""Variables that are numbers, and those that are parameters though their type is constant."""

from __future__ import annotations

import pytest
from plain_regions import scop_in

LOOP = "for (int i = 0; i < m; i++) A[i] = 1;"


@pytest.mark.parametrize(
    ("declaration", "value"),
    [
        ("static const int m = 12;", 12),
        ("enum { K = 3 }; const long m = 2 * K + 1;", 7),
        ("const unsigned m = 5u;", 5),
        ("const unsigned char m = 300;", None),
        ("const long m = 1u - 2;", None),
        ("const int m = sizeof(int) * 2;", None),
        ("extern const int m;", None),
        ("int m = 3;", None),
    ],
)
def test_values(declaration, value):
    scop = scop_in(LOOP, "float *A", top=declaration)
    assert [each.name for each in scop.parameters] == ([] if value is not None else ["m"])
    if value is not None:
        assert scop.statements[0].domain.count_val().to_python() == value
