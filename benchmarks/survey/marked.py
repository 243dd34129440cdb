"""Whether marks make of loops what ``--autodetect`` makes of them.

Each nest of a file is marked: where a survey takes loops of it, those; else all of it. What becomes of the
marked regions is compared with what the survey said.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from polybuild.diagnostics import SourceError
from polybuild.driver.file import compile_source
from polybuild.driver.isolation import Watch, WorkerCrashError, run_isolated
from polybuild.driver.request import Request
from polybuild.driver.translate import options_for
from polybuild.effort import SURVEY_SECONDS
from polybuild.report.record.model import RegionReport
from polybuild.source.reader import text_of
from polybuild.survey.marks import Lines, with_marks
from polybuild.survey.model import FileSurvey, SurveyedNest, Verdict

Gains = tuple[str, ...]

Difference = tuple[int, Gains, Gains]
"""The line of a loop, what is found there, and what marks make of it."""


def differences(
    survey: FileSurvey,
    settings: Mapping[str, str],
    compiler: Sequence[str],
    flags: Sequence[str],
    seconds: int,
) -> list[Difference]:
    """The loops of which marks make something else.

    Loops that share lines with other code cannot be marked, nor can those that OpenMP shares out without the
    directives before them.
    """
    expected = _expected(survey)
    if survey.problem or not expected:
        return []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, Path(survey.path).name)
        path.write_text(
            with_marks(text_of(survey.path), expected), encoding="utf-8", errors="surrogateescape"
        )
        beside = f"-iquote{Path(survey.path).parent}"
        request = Request(str(path), dict(settings), tuple(compiler), (beside, *flags))
        try:
            made = run_isolated(partial(_compiled, request), SURVEY_SECONDS, seconds)
        except (WorkerCrashError, SourceError):
            return [(0, (), ())]
    found = sorted(made, key=lambda each: each.line)
    return [
        (lines[0], gains, each.gains)
        for (lines, gains), each in zip(sorted(expected.items()), found, strict=True)
        if each.gains != gains
    ]


def _compiled(request: Request, watch: Watch) -> tuple[RegionReport, ...]:
    options = options_for(request).options
    return compile_source(request.source, options, request.compiler, request.flags, watch).regions


def _expected(survey: FileSurvey) -> dict[Lines, Gains]:
    """What is to be marked, with what the survey says of it."""
    found: dict[Lines, Gains] = {(each.line, each.end_line): each.gains for each in survey.unmarked}
    for each in survey.nests:
        lines = each.nest.first_line, each.nest.last_line
        apart = not any(first <= lines[1] and lines[0] <= last for first, last in found)
        if each.verdict is Verdict.KEPT and apart and _can_be_marked(each):
            found[lines] = ()
    return found


def _can_be_marked(nest: SurveyedNest) -> bool:
    return not nest.nest.directive and nest.code != "no-candidate"
