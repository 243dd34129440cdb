"""From what work on new loops gain on one thread."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import islpy as isl
import pytest

from polybuild.targets.cost import Cost
from polybuild.targets.cpu.cost.crossover import enough_for_threads, gains_from, readable
from polybuild.targets.cpu.cost.versions import CandidateCost, VersionCosts

CONTEXT = isl.Set("[n] -> { : n >= 1 }")
SQUARE = [[isl.PwAff("[n] -> { [(n)] }")] * 2]


@dataclass(frozen=True)
class Steps:
    """So many nanoseconds for an iteration, and ``start`` before the first one."""

    each: float
    start: float = 0.0
    asked: list[int] | None = None

    def at(self, values: Mapping[str, int]) -> Cost:
        if self.asked is not None:
            self.asked.append(values["n"])
        return Cost(arithmetic=self.start + self.each * values["n"] ** 2)


def crossing(new: Steps, minimum: int = 2000) -> int:
    chosen = CandidateCost("chosen", new, new)
    return gains_from(SQUARE, CONTEXT, VersionCosts(Steps(1.0), chosen, (chosen,), {"n": 1000}), minimum)


@pytest.mark.parametrize(("start", "gains"), [(0, 2000), (900, 6700), (30_000, 120_000), (300_000, 500_000)])
def test_the_size_is_where_the_costs_cross(start, gains):
    """Half of the time, but a while before: both take the same for twice as many instances as that.

    Where they are short, half as much again is asked for.
    """
    assert crossing(Steps(0.5, start)) == gains


def test_few_sizes_are_looked_at():
    asked: list[int] = []
    crossing(Steps(0.5, 0.0, asked))
    assert list(dict.fromkeys(asked)) == [1000, 120, 56]
    asked.clear()
    crossing(Steps(0.5, 30_000.0, asked))
    assert list(dict.fromkeys(asked)) == [1000, 120, 496, 248]


def test_a_smallest_size_that_gains_alone_is_no_gain():
    """Tiles may fit a size by chance, and the one above it not."""

    @dataclass(frozen=True)
    class Blocks(Steps):
        def at(self, values: Mapping[str, int]) -> Cost:
            found = super().at(values).arithmetic
            return Cost(arithmetic=found + (1e6 if values["n"] == 120 else 0.0))

    assert crossing(Blocks(0.5)) > 120 * 120


def test_what_is_always_less_stays_where_it_was():
    assert crossing(Steps(0.5, 1e9), minimum=2_000_000) == 2_000_000


@pytest.mark.parametrize(
    ("alone", "start", "minimum"),
    [(1.5, 30_000, 31_000), (0.5, 30_000, 31_000), (1.5, 2e6, 2_000_000), (1.5, 0, None)],
)
def test_loops_that_do_not_tell_their_work_need_enough_in_all(model, alone, start, minimum):
    """Threads take a fourth of the time, but a while before: more is needed than that to be worth it."""
    sweep = "for (int i = 1; i < n; i++) for (int j = 1; j < n; j++) a[i][j] = a[i - 1][j] + a[i][j - 1];"
    statements = model(sweep, "int n, double a[restrict n][n]").scop.statements
    chosen = CandidateCost("chosen", Steps(alone), Steps(0.25, start))
    predicted = VersionCosts(Steps(1.0), chosen, (chosen,), {"n": 1000})
    found = enough_for_threads(statements, SQUARE, CONTEXT, predicted, untold=True)
    assert [each.minimum for each in found] == ([] if minimum is None else [minimum])
    assert not enough_for_threads(statements, SQUARE, CONTEXT, predicted)


def test_two_digits_count():
    assert [readable(each) for each in (0.2, 7, 41, 1249, 125_300)] == [0, 7, 41, 1200, 130_000]


@pytest.mark.parametrize(
    ("original", "together", "nothing"), [(0.0, 0.0, True), (0.0, 1.0, False), (1.0, 0.0, False)]
)
def test_loops_that_take_no_time_at_any_size_are_nothing(original, together, nothing):
    chosen = CandidateCost("chosen", Steps(original), Steps(together))
    sizes = {"n": 0}, ({"n": 1000},)
    predicted = VersionCosts(Steps(original), chosen, (chosen,), sizes[1][0])
    assert predicted.is_nothing is nothing
    later = VersionCosts(Steps(original), chosen, (chosen,), sizes[0], sizes[1])
    assert later.is_nothing is (original == 0)
