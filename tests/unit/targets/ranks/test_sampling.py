"""Sums from few values are those of all values."""

from __future__ import annotations

import pytest

from polybuild.targets.ranks.sampling import summed


@pytest.mark.parametrize(
    "value",
    [
        lambda _: (1.0, 5.0),
        lambda x: (float(x), 3.0 * x * x),
        lambda x: (0.0 if x == 999 else 8.0, 0.0 if x == 0 else 2.0),
        lambda x: (1.0 if x in {0, 1} else 0.0, 7.0 if x == 999 else 0.0),
        lambda x: (float(max(0, x - 700)), float(min(x, 300))),
    ],
    ids=["constant", "polynomials", "other at an end", "at an end alone", "bent"],
)
def test_sums(value):
    looked = []

    def counted(position):
        looked.append(position)
        return value(position)

    expected = [sum(value(each)[place] for each in range(1000)) for place in range(2)]
    assert summed(counted, 0, 999) == pytest.approx(expected, rel=0.01)
    assert len(looked) == len(set(looked)) < 100


def test_few_values_are_added_up():
    assert summed(lambda x: (float(x),), 3, 3) == (3.0,)
    assert summed(lambda x: (float(x),), 4, 3) == ()
