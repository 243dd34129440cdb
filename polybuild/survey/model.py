"""What a survey finds: all loop nests of some files, what they may be worth, and what is made of each."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from polybuild.report.record.model import RegionReport
from polybuild.source.loop_nests import LoopNest
from polybuild.values import dataclass


class Verdict(StrEnum):
    """What becomes of a loop nest."""

    MARKED = "marked"
    """It has a marked region; how that fares, its report says."""
    TAKEN = "would be taken"
    """Marked, it or loops in it would gain."""
    KEPT = "would be kept"


@dataclass(frozen=True, slots=True)
class SurveyedNest:
    """A loop nest with its ``verdict``: the ``regions`` in it, or ``code`` and ``reason`` why it has none.

    ``share`` is its part of all the work that is looked at, from 0 to 1.
    """

    file: str
    nest: LoopNest
    verdict: Verdict
    regions: tuple[RegionReport, ...] = ()
    code: str = ""
    reason: str = ""
    share: float = 0.0

    @property
    def gains(self) -> tuple[str, ...]:
        """What is, or would be, done with some loops of it, in adjectives."""
        return tuple(dict.fromkeys(word for each in self.regions for word in each.gains))

    @property
    def speedups(self) -> tuple[float, float] | None:
        """How many times as fast its regions should be, on one thread and on all; None: not known."""
        found = [each.prediction for each in self.regions if each.prediction is not None]
        before = sum(each.original_ns for each in found)
        after = sum(each.one_thread_ns for each in found), sum(each.all_threads_ns for each in found)
        return (before / after[0], before / after[1]) if before and all(after) else None


@dataclass(frozen=True, slots=True)
class FileSurvey:
    """One file: its loop nests, the regions that marks would make, or the ``problem`` of the whole file."""

    path: str
    nests: tuple[SurveyedNest, ...] = ()
    unmarked: tuple[RegionReport, ...] = ()
    problem: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Survey:
    """All files, and their loop nests by the share of the work."""

    files: tuple[FileSurvey, ...]
    nests: tuple[SurveyedNest, ...]

    def count(self, verdict: Verdict) -> int:
        """How many nests have this ``verdict``."""
        return sum(each.verdict is verdict for each in self.nests)

    @property
    def share_that_gains(self) -> float:
        """The part of the work that is in nests with loops that are, or would be, made faster."""
        return sum(each.share for each in self.nests if each.gains)

    def codes(self) -> Sequence[tuple[str, int]]:
        """Why nests are kept: codes of diagnostics, the commonest first."""
        found: dict[str, int] = {}
        for each in self.nests:
            if each.verdict is Verdict.KEPT:
                found[each.code] = found.get(each.code, 0) + 1
        return sorted(found.items(), key=lambda each: (-each[1], each[0]))
