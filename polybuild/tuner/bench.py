"""The user's build and program, run with settings to try."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from polybuild.tuner.candidates import Settings
from polybuild.tuning.trial import VARIABLE, MetRegion, Trial, met_regions
from polybuild.values import dataclass

REPORT_VARIABLE = "POLYBUILD_REPORT"
# Lines of a build that failed: pip says much after the reason.
_SHOWN = 20


class TrialError(Exception):
    """A build or a program that failed, or a program that printed something else; says which."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run of the program: its seconds, those in each region (by file and line), and what it printed."""

    seconds: float
    regions: Mapping[tuple[str, int], float]
    printed: bytes


class Bench:
    """Builds and runs; ``folder`` is for files of its own. ``log_path`` keeps what builds said."""

    def __init__(self, build: Sequence[str], program: str, folder: Path, limit: float) -> None:
        self._build = build
        self._program = program
        self._folder = folder
        self._limit = limit
        self._trial = folder / "trial.json"

    def build(self, settings: Mapping[str, Settings]) -> tuple[MetRegion, ...]:
        """Build with ``settings`` for the regions with these digests, and tell which regions were met.

        Raises TrialError if the build fails.
        """
        log = self._folder / "regions"
        log.unlink(missing_ok=True)
        Trial(settings, str(log)).write(self._trial)
        self._make({VARIABLE: str(self._trial)})
        return met_regions(log)

    def build_plainly(self) -> None:
        """Build as the user does, with what files of tuned regions say. Raises TrialError."""
        self._make({})

    def _make(self, variables: Mapping[str, str]) -> None:
        try:
            done = subprocess.run(
                self._build,
                check=False,
                env={**os.environ, **variables},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
            )
        except OSError as error:
            raise TrialError(f"the build cannot be run: {error.strerror}: {self._build[0]}") from None
        if done.returncode:
            last = done.stdout.decode("utf-8", "replace").strip().splitlines()[-_SHOWN:]
            raise TrialError("\n".join([f"the build ended with code {done.returncode}:", *last]))

    def run(self) -> Run:
        """Run the program once. Raises TrialError if it fails, or takes many times what it took at first."""
        report = self._folder / "report"
        report.unlink(missing_ok=True)
        started = time.perf_counter()
        try:
            done = subprocess.run(
                ["/bin/sh", "-c", self._program],  # the user's own words, as he types them
                check=False,
                env={**os.environ, REPORT_VARIABLE: str(report)},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                timeout=self._limit,
            )
        except subprocess.TimeoutExpired:
            raise TrialError(f"the program ran for more than {self._limit:.0f} seconds") from None
        seconds = time.perf_counter() - started
        if done.returncode:
            raise TrialError(f"the program ended with code {done.returncode}")
        return Run(seconds, _seconds(report), done.stdout)


def _seconds(report: Path) -> dict[tuple[str, int], float]:
    """The seconds in each region, of all its versions and of all processes."""
    found: dict[tuple[str, int], float] = {}
    if report.exists():
        for line in report.read_text(encoding="utf-8", errors="replace").splitlines():
            entry = json.loads(line)
            place = (entry["file"], entry["line"])
            found[place] = found.get(place, 0.0) + sum(each["seconds"] for each in entry["versions"].values())
    return found
