"""The part of the box of their trip counts that statements run."""

from __future__ import annotations

import pytest

from polybuild.driver.domain_shares import domain_shares

ARRAYS = "int n, double a[restrict n][n], int *restrict rows"


@pytest.mark.parametrize(
    ("loops", "share"),
    [
        ("for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)", None),
        ("for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++)", 1 / 2),
        ("for (int i = 0; i < n; i++) for (int j = n - 1; j > i; j--)", 1 / 2),
        ("for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) for (int k = 0; k < j; k++)", 1 / 6),
        ("for (int i = 0; i < n; i++) for (int j = rows[i]; j < rows[i + 1]; j++)", None),
    ],
)
def test_shares(model, loops, share):
    found = model(f"{loops} a[j][j] = 2 * a[j][j];", ARRAYS)
    known = domain_shares(found.scop)
    if share is None:
        assert known == {}
    else:
        assert list(known.values()) == [pytest.approx(share, rel=0.3)]
