"""What the versions of a region cost: the original loops, the new ones on one thread and on all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from polybuild.effort import CERTAIN_GAIN, CERTAIN_ORDER, SAME_TIME, SHORT_TIME
from polybuild.targets.cost import CostFunction
from polybuild.targets.cpu.cost.function import with_warm_caches
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class CandidateCost:
    """A version of the loops that could have been chosen, and what it costs."""

    name: str
    one_thread: CostFunction
    all_threads: CostFunction
    has_threads: bool = False


@dataclass(frozen=True, slots=True)
class VersionCosts:
    """The cost of the original loops as compilers make them, and of what was ``chosen`` of ``candidates``.

    ``usual`` are values of the parameters that are plausible where nothing is known of them; at ``larger``
    ones caches hold less of what loops come to again and again. New loops may ``gain_warm``, where data are
    in caches already, and lose nothing elsewhere. Where the original loops are ``uncertain`` compilers may
    make far slower ones of them than predicted: new ones that are just as fast gain then.
    """

    original: CostFunction
    chosen: CandidateCost
    candidates: tuple[CandidateCost, ...]
    usual: Mapping[str, int]
    larger: tuple[Mapping[str, int], ...] = ()
    gain_warm: bool = False
    uncertain: bool = False

    def compared(self) -> Comparison:
        """Whether the new loops are faster on one thread; where they are just as fast the original wins."""
        return Comparison(self.gain_warm or self.gaining is not None, self)

    @property
    def gaining(self) -> Mapping[str, int] | None:
        """The smallest of the usual and larger sizes at which the new loops gain on one thread."""
        return next((each for each in (self.usual, *self.larger) if self.gains_at(each)), None)

    @property
    def is_nothing(self) -> bool:
        """Whether the original loops take no time at usual and larger sizes, nor chosen ones on all threads.

        No others can be faster.
        """
        if any(self.original.at(values).total for values in (self.usual, *self.larger)):
            return False
        return not self.chosen.all_threads.at(self.usual).total

    def gains_at(self, values: Mapping[str, int]) -> bool:
        """Whether the new loops are certainly faster on one thread where parameters have ``values``."""
        certain = 1.0 if self.uncertain else CERTAIN_GAIN
        return self.original.at(values).total > certain * self.chosen.one_thread.at(values).total

    def gains_somewhere_at(self, values: Mapping[str, int]) -> bool:
        """Whether they are faster with these ``values`` at least where caches hold all data.

        What loops begin and end with is not known as well as what they do: short ones have to gain more.
        """
        cold = self.original.at(values).total, self.chosen.one_thread.at(values).total
        if cold[0] >= SHORT_TIME and self.gains_at(values):
            return True
        certain = CERTAIN_GAIN if cold[0] >= SHORT_TIME else CERTAIN_ORDER
        before, after = with_warm_caches(self.original), with_warm_caches(self.chosen.one_thread)
        warm = before.at(values).total, after.at(values).total
        return any(old > certain * new for old, new in (cold, warm))

    def gains_on_threads_at(self, values: Mapping[str, int]) -> bool:
        """Whether they are far faster on all threads: others that are busy at times make these wait."""
        return self.original.at(values).total > CERTAIN_ORDER * self.chosen.all_threads.at(values).total

    def matches(self, other: VersionCosts) -> bool:
        """Whether what was chosen is as fast as what the ``other`` chose, on one thread and on all."""
        here, there = ((each.chosen.one_thread, each.chosen.all_threads) for each in (self, other))
        costs = zip(there, here, strict=True)
        return all(new.at(self.usual).total <= SAME_TIME * old.at(self.usual).total for old, new in costs)

    def matches_on_threads(self, other: VersionCosts) -> bool:
        """Whether what was chosen is not certainly slower on all threads than what the ``other`` chose."""
        here, there = (each.chosen.all_threads.at(self.usual).total for each in (self, other))
        return here <= CERTAIN_ORDER * there

    def beats_alone(self, other: VersionCosts) -> bool:
        """Whether what was chosen is certainly faster on one thread than all that the ``other`` has."""
        there = min(each.at(self.usual).total for each in (other.original, other.chosen.one_thread))
        return CERTAIN_ORDER * self.chosen.one_thread.at(self.usual).total < there

    def beats_on_threads(self, other: VersionCosts) -> bool:
        """Whether what was chosen is certainly faster on all threads than what the ``other`` chose."""
        here, there = (each.chosen.all_threads.at(self.usual).total for each in (self, other))
        return CERTAIN_ORDER * here < there

    @property
    def runs_alone(self) -> CostFunction:
        """What one thread runs: the new loops if they are certainly faster, else the original ones."""
        return self.chosen.one_thread if self.gains_at(self.usual) else self.original


@dataclass(frozen=True, slots=True)
class Comparison:
    """Whether new loops gain anything on one thread, and what all versions cost, where that is known."""

    gains_alone: bool = True
    costs: VersionCosts | None = None

    @property
    def is_original(self) -> bool:
        """Whether the original order was chosen."""
        return self.costs is not None and self.costs.chosen.one_thread is self.costs.original

    def of_original(self) -> Comparison:
        """The same where the original loops were chosen instead."""
        if self.costs is None:
            return self
        original = CandidateCost("original order", self.costs.original, self.costs.original)
        candidates = (original, *self.costs.candidates)
        return Comparison(costs=replace(self.costs, chosen=original, candidates=candidates))


NOT_COMPARED = Comparison()
"""New loops that are taken to be the better ones whatever runs them."""
