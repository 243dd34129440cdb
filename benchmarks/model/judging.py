"""Judging the model: the candidates of each case, built and timed, and what the default loses by them."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from benchmarks.cpu.processes import Failure, Output, run
from benchmarks.model.building import Builder, Built, Predicted
from benchmarks.model.subjects import Case, Subject
from benchmarks.ordinary.measure import LIMIT
from polybuild.effort import CERTAIN_GAIN
from polybuild.tuner.candidates import NEVER, Settings
from polybuild.tuner.search import RegionSearch, worded

ORIGINAL = "original"
"""The candidate that is the compiler's own version."""
DEFAULT = "default"

# A candidate that takes so many times as long as the default's program is stopped, at the earliest after
# so many seconds.
_PATIENCE, _LEAST_PATIENCE = 10, 2.0
# Times closer than that are the same: the model does not claim to tell them apart.
_SAME = CERTAIN_GAIN


@dataclass(frozen=True, slots=True)
class Candidate:
    """One version of a case: its ``seconds``, and the nanoseconds that were ``predicted``, if any were."""

    name: str
    seconds: float
    predicted: float | None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was found of one case: ``candidates`` has the compiler's own version and the default first.

    ``original``, ``default`` and ``best`` are seconds of programs that ran in turn, after all candidates had
    been timed; the best candidate is ``winner``.
    """

    case: str
    subject: str
    compiler: str
    threads: int
    candidates: tuple[Candidate, ...]
    original: float
    default: float
    best: float
    winner: str
    note: str = ""

    @property
    def regret(self) -> float:
        """How many times as long as the best candidate the default takes; 1 where it is the best."""
        return max(1.0, self.default / self.best)

    @property
    def gain(self) -> float:
        """How many times as fast as the compiler's own version the default is."""
        return self.original / self.default

    @property
    def noise(self) -> float:
        """How many times as long the same program took at another time: what was timed both times."""
        known = {each.name: each.seconds for each in self.candidates}
        again = ((ORIGINAL, self.original), (DEFAULT, self.default), (self.winner, self.best))
        ratios = (known[name] / seconds for name, seconds in again)
        return max(max(each, 1 / each) for each in ratios)

    @property
    def correlation(self) -> float | None:
        """Spearman's rank correlation of predicted and measured times; None where all measured are the same.

        Times are the same that differ no more than those of one program do, or than the model claims to know.
        Candidates that run the original loops, of which exactly the same is predicted, are these once more.
        """
        original = self.candidates[0]
        others = [each for each in self.candidates[1:] if each.predicted != original.predicted]
        known = [each for each in (original, *others) if each.predicted is not None]
        measured = _ranks([each.seconds for each in known], max(_SAME, self.noise))
        predicted = _ranks([each.predicted for each in known if each.predicted is not None])
        if len(set(measured)) < 2:
            return None
        if len(set(predicted)) < 2:
            return 0.0
        return statistics.correlation(predicted, measured)


@dataclass(frozen=True, slots=True)
class Plan:
    """How programs are timed: by one ``compiler``, with ``threads``, each ``runs`` times after ``prefix``.

    So many ``candidates`` are tried for a case beside the default, at most, built by ``jobs`` at once.
    """

    compiler: str
    threads: int
    candidates: int
    runs: int
    prefix: Sequence[str]
    jobs: int


@dataclass(slots=True)
class _Trials:
    """The candidates of one case that were timed, with the program of each, and the ``search`` for others.

    ``limit`` is in seconds for one run; ``note`` says why the region is kept, and has no other candidates.
    """

    case: Case
    search: RegionSearch
    limit: float
    note: str
    timed: list[tuple[Candidate, Path]]


class Judge:
    """Judges the model by the cases of ``subject``; programs are made in ``directory``."""

    def __init__(self, subject: Subject, plan: Plan, directory: Path) -> None:
        self._subject = subject
        self._plan = plan
        self._directory = directory

    def verdicts(self) -> Iterator[Verdict]:
        """A verdict for each case whose region was met, once all of them are timed.

        Raises Failure if the file as it is or the default's program cannot be made or run.
        """
        first = Builder(self._subject, self._plan.compiler, self._directory)
        original = first.original()
        built, builder = first.default()
        trials = {
            each.name: self._begin(each, original, built)
            for each in self._subject.cases
            if each.name in built.met
        }
        with ProcessPoolExecutor(self._plan.jobs) as pool:
            while rounds := self._rounds(trials):
                found = list(pool.map(builder.candidates, rounds))  # nothing is timed meanwhile
                for wanted, programs in zip(rounds, found, strict=True):
                    for program in programs:
                        self._try(trials, wanted, program)
        for each in trials.values():
            yield self._verdict(each)

    def _begin(self, case: Case, original: Path, built: Built) -> _Trials:
        """Time what the compiler and the default make of a case."""
        limit = max(_LEAST_PATIENCE, _PATIENCE * self._run(built.program, case, LIMIT).seconds)
        predicted = built.predicted[case.name]
        first = self._time(original, case, LIMIT), self._time(built.program, case, LIMIT)
        timed = [
            (Candidate(ORIGINAL, first[0], predicted.original), original),
            (Candidate(DEFAULT, first[1], self._chosen(predicted)), built.program),
        ]
        search = RegionSearch.of(built.met[case.name], first[1])
        return _Trials(case, search, limit, built.kept[case.name], timed)

    def _rounds(self, trials: Mapping[str, _Trials]) -> list[dict[str, Settings]]:
        """What to build at once: in each round the next settings for each case that has any left."""
        rounds = []
        for _ in range(self._plan.jobs):
            next_of = {name: self._following(each) for name, each in trials.items()}
            rounds.append({name: each for name, each in next_of.items() if each is not None})
        return [each for each in rounds if each]

    def _following(self, trials: _Trials) -> Settings | None:
        """The next settings to try for a case; None if there are none left."""
        if trials.note or len(trials.search.tried) >= self._plan.candidates:
            return None
        settings = trials.search.following()
        is_original = settings is not None and settings.get("min-work") == NEVER
        return trials.search.following() if is_original else settings

    def _try(self, trials: Mapping[str, _Trials], wanted: Mapping[str, Settings], built: Built) -> None:
        """Time the candidates in a program whose code is new; one that fails is left out."""
        for name, met in built.met.items():
            case, search = trials[name].case, trials[name].search
            if met.code in search.timed:
                continue
            try:
                seconds = self._time(built.program, case, trials[name].limit)
            except Failure:
                continue
            search.judge(wanted[name], seconds, met)
            candidate = Candidate(worded(wanted[name]), seconds, self._chosen(built.predicted[name]))
            trials[name].timed.append((candidate, built.program))

    def _chosen(self, predicted: Predicted) -> float | None:
        """What is predicted for the new loops with as many threads as they are timed with."""
        return predicted.one_thread if self._plan.threads == 1 else predicted.all_threads

    def _verdict(self, trials: _Trials) -> Verdict:
        """Time the original, the default and the best candidate once more, in turn."""
        winner, program = min(trials.timed, key=lambda each: each[0].seconds)
        programs = [*(each for _, each in trials.timed[:2]), program]
        rounds = [[self._time(each, trials.case, LIMIT) for each in programs] for _ in range(self._plan.runs)]
        original, default, best = (min(each) for each in zip(*rounds, strict=True))
        return Verdict(
            trials.case.name,
            self._subject.name,
            self._plan.compiler,
            self._plan.threads,
            tuple(each for each, _ in trials.timed),
            original=original,
            default=default,
            best=best,
            winner=winner.name,
            note=trials.note,
        )

    def _time(self, program: Path, case: Case, limit: float) -> float:
        """The shortest of some runs. Raises Failure."""
        outputs = (self._run(program, case, limit) for _ in range(self._plan.runs))
        return min(map(self._subject.seconds, outputs))

    def _run(self, program: Path, case: Case, limit: float) -> Output:
        command = [*self._plan.prefix, str(program), *case.arguments]
        return run(command, limit=limit, environment={"OMP_NUM_THREADS": str(self._plan.threads)})


def _ranks(values: Sequence[float], same: float = _SAME) -> list[float]:
    """The rank of each of ``values``, from 0: those within ``same`` of the least one share the mean rank."""
    order = sorted(range(len(values)), key=lambda index: values[index])
    ranks = [0.0] * len(values)
    start = 0
    while start < len(order):
        end = start
        while end < len(order) and values[order[end]] <= same * values[order[start]]:
            end += 1
        for index in order[start:end]:
            ranks[index] = (start + end - 1) / 2
        start = end
    return ranks
