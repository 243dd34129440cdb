"""The search: all regions at once, each trying what it has left to try, round after round.

A round builds one candidate for each region and runs the program: times are counted region by region, so
regions do not wait for each other. It is a hill climb: other decisions first, from the best of them
neighbouring sizes of tiles and blocks as long as they help.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from polybuild.tuner.bench import Bench, Run, TrialError
from polybuild.tuner.candidates import NEVER, Settings, decisions, neighbours
from polybuild.tuning.trial import MetRegion

# What a candidate must be faster by to be better: timing tells no less.
_GAIN = 0.97
# How often the confirmation builds and runs the program.
_CONFIRMING = 4


@dataclass(slots=True)
class RegionSearch:
    """How far the search for one region is: the best settings, their seconds, and what is left to try.

    ``timed`` knows the code that has been timed: other settings may give the same.
    """

    region: MetRegion
    seconds_before: float
    seconds: float
    best: Settings = field(default_factory=dict)
    tried: list[Settings] = field(default_factory=list)
    left: Iterator[Settings] = field(default_factory=lambda: iter(()))
    sizes: tuple[int, ...] = ()
    blocks: tuple[int, ...] = ()
    climbing: bool = False
    timed: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, region: MetRegion, seconds: float) -> RegionSearch:
        """The search for ``region``, which takes ``seconds`` as it is."""
        left = decisions(region)
        found = cls(region, seconds, seconds, left=left, timed={region.code})
        found.sizes, found.blocks = region.tile_sizes, region.block_sizes
        return found

    @property
    def place(self) -> tuple[str, int]:
        """Its file and line."""
        return self.region.file, self.region.line

    @property
    def name(self) -> str:
        """Its place, for people."""
        return f"{self.region.file}:{self.region.line}"

    def following(self) -> Settings | None:
        """The next settings to try; None if there are none left."""
        for each in self.left:
            if each not in self.tried:
                self.tried.append(each)
                return each
        if not self.climbing:
            self.climb()
            return self.following()
        return None

    def climb(self) -> None:
        """Go on from the best settings, in small steps."""
        self.climbing = True
        self.left = neighbours(self.region, self.best, self.sizes, self.blocks)

    def judge(self, settings: Settings, seconds: float, met: MetRegion) -> bool:
        """Take ``settings``, which took ``seconds``, if they are better; whether they are."""
        self.timed.add(met.code)
        if seconds >= self.seconds * _GAIN:
            return False
        self.best, self.seconds = settings, seconds
        self.sizes, self.blocks = met.tile_sizes, met.block_sizes
        if self.climbing:
            self.climb()
        return True


class Search:
    """Tunes the regions of a program by ``bench``; ``say`` is told of progress, a line at a time."""

    def __init__(self, bench: Bench, runs: int, seconds: float, say: Callable[[str], None]) -> None:
        self._bench = bench
        self._runs = runs
        self._end = time.monotonic() + seconds
        self._round_seconds = 0.0
        self._say = say
        self._printed: bytes | None = None
        self.regions: dict[str, RegionSearch] = {}

    def begin(self) -> None:
        """Build and run as things are. Raises TrialError if that fails, or if no region is met or runs."""
        started = time.monotonic()
        met = self._bench.build({})
        if not met:
            raise TrialError(
                "the build met no region: it has to build anew, as 'make -B' and"
                " 'cmake --build DIR --clean-first' do"
            )
        runs = [self._bench.run() for _ in range(max(2, self._runs))]
        self._round_seconds = time.monotonic() - started
        # A program that prints its own times prints something else each time, which nothing follows from.
        same = all(each.printed == runs[0].printed for each in runs)
        self._printed = runs[0].printed if same else None
        if not same:
            self._say("the program prints something else each time: what it prints is not compared")
        best = _shortest(runs)
        for each in met:
            if (each.file, each.line) in best:
                self.regions[each.digest] = RegionSearch.of(each, best[each.file, each.line])
        if not self.regions:
            raise TrialError("the program runs no region that polybuild transforms")

    def go_on(self) -> None:
        """Try candidates until none are left, or no more time than it takes to confirm what was found."""
        rounds = 0
        while time.monotonic() + min(rounds, 1) * _CONFIRMING * self._round_seconds < self._end:
            candidates = {
                digest: settings
                for digest, each in self.regions.items()
                if (settings := each.following()) is not None
            }
            if not candidates:
                return
            rounds += 1
            self._round(rounds, candidates)
        self._say("the time is over: more is tried with a longer --budget")

    def _round(self, number: int, candidates: Mapping[str, Settings]) -> None:
        try:
            met, best = self._measured(candidates)
        except TrialError as error:
            if len(candidates) == 1:
                (digest,) = candidates
                self._say(f"{self.regions[digest].name}: {worded(candidates[digest])}: {error}; not used")
                return
            for digest, settings in candidates.items():
                if time.monotonic() < self._end:
                    self._round(number, {digest: settings})
            return
        for each in met:
            if (each.file, each.line) not in best:
                continue
            found, settings = self.regions[each.digest], candidates[each.digest]
            seconds = best[each.file, each.line]
            before = found.seconds
            verdict = "better" if found.judge(settings, seconds, each) else "no better"
            ratio = seconds / before if before else 1.0
            self._say(f"[{number}] {found.name}: {worded(settings)}: {ratio:.2f} of the best time, {verdict}")

    def _measured(
        self, candidates: Mapping[str, Settings]
    ) -> tuple[tuple[MetRegion, ...], Mapping[tuple[str, int], float]]:
        """The regions whose code is new with their candidates, and the seconds of regions.

        Raises TrialError.
        """
        settings = {digest: each.best for digest, each in self.regions.items() if each.best}
        met = self._bench.build({**settings, **candidates})
        met = tuple(each for each in met if each.digest in candidates and self._is_new(each))
        if not met:
            return met, {}
        runs = [self._bench.run() for _ in range(self._runs)]
        if self._printed is not None and any(each.printed != self._printed for each in runs):
            raise TrialError("the program prints something else")
        return met, _shortest(runs)

    def _is_new(self, met: MetRegion) -> bool:
        """Whether the code of a region has not been timed."""
        return met.digest in self.regions and met.code not in self.regions[met.digest].timed

    def confirm(self) -> None:
        """Time what was found once more, in turns with things as they were; take back what does not last.

        Raises TrialError.
        """
        if not any(each.best for each in self.regions.values()):
            return
        before: list[Run] = []
        after: list[Run] = []
        found = {digest: each.best for digest, each in self.regions.items()}
        for _ in range(_CONFIRMING // 2):
            for settings, runs in (({}, before), (found, after)):
                self._bench.build(settings)
                runs += [self._bench.run() for _ in range(self._runs)]
        shortest_before, shortest_after = _shortest(before), _shortest(after)
        for each in self.regions.values():
            each.seconds_before = shortest_before.get(each.place, each.seconds_before)
            each.seconds = shortest_after.get(each.place, each.seconds) if each.best else each.seconds_before
            if each.best and each.seconds > each.seconds_before * _GAIN:
                self._say(f"{each.name}: {worded(each.best)}: no better when timed again; not used")
                each.best, each.seconds = {}, each.seconds_before


def _shortest(runs: Iterable[Run]) -> dict[tuple[str, int], float]:
    """The minimum of the seconds of each region: what else the machine does makes them more, never less."""
    found: dict[tuple[str, int], float] = {}
    for run in runs:
        for place, seconds in run.regions.items():
            found[place] = min(seconds, found.get(place, seconds))
    return found


def worded(settings: Settings) -> str:
    """Settings as one types them."""
    if settings.get("min-work") == NEVER:
        return "the original loops"
    return " ".join(f"--{name} {value}" for name, value in sorted(settings.items()))
