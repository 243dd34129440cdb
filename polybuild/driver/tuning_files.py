"""What is known of the fastest settings for the regions of a file: read where builds look for it."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from polybuild.diagnostics import Diagnostic, Location, Severity
from polybuild.options import Options
from polybuild.tuning.record import FILE, TunedRegion, TuningFileError, read_tuning_file
from polybuild.tuning.trial import Trial, current_trial
from polybuild.values import dataclass

TUNING_OFF = "off"
"""Named instead of a file of tuned regions: none, not even one that is found."""


@dataclass(frozen=True, slots=True)
class Tuning:
    """What is known of the regions of one file: ``regions`` of a file of tuned ones, or a ``trial``.

    ``given`` are the options that the user set for the file.
    """

    given: frozenset[str] = frozenset()
    regions: tuple[TunedRegion, ...] = ()
    trial: Trial | None = None
    diagnostics: tuple[Diagnostic, ...] = ()


UNTUNED = Tuning()
"""Nothing is known."""


def tuning_file(options: Options, source: str) -> Path | None:
    """The file of tuned regions for ``source``: the one named, else the nearest from its folder upwards."""
    if options.tuning == TUNING_OFF:
        return None
    if options.tuning:
        return Path(options.tuning)
    folders = Path(source).absolute().parents
    return next((folder / FILE for folder in folders if (folder / FILE).is_file()), None)


def find_tuning(options: Options, source: str, given: Collection[str]) -> Tuning:
    """What is known of the regions of ``source``, of whose options ``given`` are set by hand."""
    names = frozenset(name.replace("-", "_") for name in given)
    trial = current_trial()
    if trial is not None:
        return Tuning(names, trial=trial)
    path = tuning_file(options, source)
    if path is None:
        return Tuning(names)
    try:
        return Tuning(names, read_tuning_file(path))
    except TuningFileError as error:
        diagnostic = Diagnostic(
            Severity.WARNING,
            "tuning-file",
            f"the file of tuned regions is not used: {error}",
            Location(str(path), error.line),
            "make it anew with 'polybuild tune'; '--tuning off' does without",
        )
        return Tuning(names, diagnostics=(diagnostic,))
