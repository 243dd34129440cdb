"""Building candidates: the programs of a file whose regions have settings of their own."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from benchmarks.cpu.processes import Failure, run
from benchmarks.model.subjects import Subject
from benchmarks.ordinary.measure import FLAGS, LIMIT
from polybuild.driver.details import Details
from polybuild.driver.file import Experience, compile_source
from polybuild.driver.tuning_files import Tuning
from polybuild.options import Options
from polybuild.targets.cpu.cost.function import with_warm_caches
from polybuild.tuner.candidates import Settings
from polybuild.tuning.trial import MetRegion, Trial, met_regions


@dataclass(frozen=True, slots=True)
class Predicted:
    """Nanoseconds of the original loops and the new ones, for the sizes that are timed; None if unknown."""

    original: float | None = None
    one_thread: float | None = None
    all_threads: float | None = None


@dataclass(frozen=True, slots=True)
class Built:
    """A program, and what became of the region of each case in it, with the predicted times of its versions.

    ``kept`` says why regions were left.
    """

    program: Path
    met: Mapping[str, MetRegion]
    predicted: Mapping[str, Predicted]
    kept: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Builder:
    """Makes programs of ``subject`` in ``directory`` with a compiler.

    Settings are for regions with ``digests``, which the first build tells, by the names of their cases.
    """

    subject: Subject
    compiler: str
    directory: Path
    digests: Mapping[str, str] = field(default_factory=dict)

    def original(self) -> Path:
        """The file as it is. Raises Failure if it cannot be compiled."""
        return self._compile(self.subject.source, self._fresh())

    def default(self) -> tuple[Built, Builder]:
        """The program of what the model chooses, and the builder of others. Raises Failure."""
        built = self._build(dict.fromkeys(each.name for each in self.subject.cases))
        return built, replace(self, digests={name: each.digest for name, each in built.met.items()})

    def candidates(self, settings: Mapping[str, Settings]) -> list[Built]:
        """Transform the regions of the cases that ``settings`` are for, and no others, in one program.

        Where that cannot be compiled there is one for each case, as far as these can be.
        """
        try:
            return [self._build(settings)]
        except Failure:
            alone = [{name: each} for name, each in settings.items()] if len(settings) > 1 else []
            return [built for each in alone for built in self.candidates(each)]

    def _build(self, settings: Mapping[str, Settings | None]) -> Built:
        directory = self._fresh()
        source = directory / self.subject.source.name
        source.write_text(self.subject.text(settings), encoding="utf-8")
        log = directory / "regions"
        known = {self.digests[name]: each for name, each in settings.items() if each is not None}
        tuning = Tuning(trial=Trial(known, str(log), timed=False))
        result = compile_source(
            str(source), Options(), [self.compiler], self._flags, experience=Experience(tuning)
        )
        regions = {each.line: each for each in met_regions(log)}
        details = {
            each.line: found for each, found in zip(result.regions, result.details, strict=True) if found
        }
        codes = {each.line: each.code for each in result.regions}
        cases = [each for each in self.subject.cases if each.line in regions]
        changed = directory / "new.c"
        changed.write_text(result.text, encoding="utf-8")
        return Built(
            self._compile(changed, directory),
            {each.name: regions[each.line] for each in cases},
            {each.name: _predicted(details.get(each.line), each.sizes) for each in cases},
            {each.name: codes[each.line] for each in cases},
        )

    @property
    def _flags(self) -> list[str]:
        return [*FLAGS, *self.subject.flags, f"-I{self.subject.source.parent}"]

    def _compile(self, source: Path, directory: Path) -> Path:
        program = directory / "program"
        files = map(str, (*self.subject.companions, source))
        run([self.compiler, *self._flags, *files, "-o", str(program), "-lm"], limit=LIMIT)
        return program

    def _fresh(self) -> Path:
        return Path(tempfile.mkdtemp(dir=self.directory))


def _predicted(details: Details | None, sizes: Mapping[str, int]) -> Predicted:
    """What the model of costs says of a region where its parameters have these ``sizes``.

    The programs have just filled the data, or run each loop many times on it: what fits in caches is there.
    """
    costs = None if details is None else details.costs
    if costs is None:
        return Predicted()
    functions = costs.original, costs.runs_alone, costs.chosen.all_threads
    return Predicted(*(with_warm_caches(each).at(sizes).total for each in functions))
