"""Look at one file: compile each of its loops as if it were marked, and say what becomes of each nest."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from polybuild import effort
from polybuild.diagnostics import SourceError
from polybuild.driver.file import FileResult, compile_source
from polybuild.driver.isolation import Watch, WorkerCrashError, run_isolated
from polybuild.driver.request import Request
from polybuild.driver.steered_warnings import without_ours
from polybuild.driver.translate import options_for
from polybuild.report.record.failure import describe
from polybuild.report.record.model import RegionReport
from polybuild.source.autodetect import RefusedLoop
from polybuild.source.loop_nests import LoopNest, loop_nests
from polybuild.survey.model import FileSurvey, Survey, SurveyedNest, Verdict

_SHARED = "shared"
_NO_CANDIDATE = "no-candidate"
_DIRECTIVES = {
    "scop": "other loops of its function are marked",
    "omp": "its function shares work among threads by OpenMP already",
    "acc": "its function has directives of OpenACC",
}


def survey_file(request: Request, directory: str, seconds: int) -> FileSurvey:
    """What becomes of the loops of one file, whose flags are relative to ``directory`` (empty: here).

    It takes some ``seconds`` of processor time, and those that the loop at hand takes when they are over.
    Nothing is raised but what ends the command: a file that cannot be read has a ``problem``.
    """
    started = time.perf_counter()
    try:
        found = run_isolated(partial(_survey, request, directory), effort.SURVEY_SECONDS, seconds)
    except WorkerCrashError as error:
        found = FileSurvey(request.source, problem=f"the process at work on the file {error}")
    except SourceError as error:
        found = FileSurvey(request.source, problem=error.diagnostic.message)
    except Exception as error:  # noqa: BLE001 - whatever it is, there are other files
        found = FileSurvey(request.source, problem=describe(error))
    return replace(found, seconds=time.perf_counter() - started)


def _survey(request: Request, directory: str, watch: Watch) -> FileSurvey:
    options = replace(options_for(request).options, autodetect=True)
    flags = without_ours(request.expanded_flags())
    if directory:
        os.chdir(directory)
    nests = loop_nests(request.source, request.compiler, flags)
    if not nests:
        return FileSurvey(request.source)
    result = compile_source(request.source, options, request.compiler, flags, watch)
    surveyed = tuple(_judge(request.source, nest, result) for nest in nests)
    unmarked = tuple(each for each in result.regions if each.detected and _is_worth_marks(each, nests))
    return FileSurvey(request.source, surveyed, unmarked)


def _is_worth_marks(region: RegionReport, nests: Sequence[LoopNest]) -> bool:
    """Whether marks around ``region`` may pay: not where loops around it come to it again and again in vain.

    Rows of usual lengths are too little work for threads then, and asking costs more than some rows take.
    What takes long with usual sizes takes no longer for being asked.
    """
    told = region.prediction
    if told is None or min(told.one_thread_ns, told.all_threads_ns) < told.original_ns:
        return True
    if told.original_ns >= effort.WORTH_ASKING_NS:
        return True
    return not any(each.first_line < region.line and region.end_line < each.last_line for each in nests)


def _judge(file: str, nest: LoopNest, result: FileResult) -> SurveyedNest:
    """What became of one nest."""
    regions = tuple(each for each in result.regions if each.file == file and _overlap(nest, each))
    marked = tuple(each for each in regions if not each.detected)
    if regions:
        idle = [each for each in marked if not each.gains]
        code, reason = (idle[0].code, idle[0].message or idle[0].reason) if idle else ("", "")
        verdict = Verdict.MARKED if marked else Verdict.TAKEN
        return SurveyedNest(file, nest, verdict, regions, code, reason)
    refused = _refusal(nest, [each for each in result.refused if each.file == file])
    if refused is not None:
        said = refused.diagnostic
        return SurveyedNest(file, nest, Verdict.KEPT, code=said.code, reason=said.message)
    if nest.directive:
        return SurveyedNest(file, nest, Verdict.KEPT, code=_SHARED, reason=_DIRECTIVES[nest.directive])
    reason = "it shares lines with other code, or has directives or a macro around it"
    return SurveyedNest(file, nest, Verdict.KEPT, code=_NO_CANDIDATE, reason=reason)


def _overlap(nest: LoopNest, region: RegionReport) -> bool:
    return region.line <= nest.last_line and nest.first_line <= region.end_line


def _refusal(nest: LoopNest, refused: Sequence[RefusedLoop]) -> RefusedLoop | None:
    """Why ``nest`` is not taken: what was said of the largest loop of it that calls nothing unknown.

    If there are no such loops, what was said of the largest, or of a block around it.
    """
    own = [
        each for each in refused if nest.first_line <= each.first_line and each.last_line <= nest.last_line
    ]
    around = [
        each for each in refused if each.first_line <= nest.first_line and nest.last_line <= each.last_line
    ]
    own.sort(key=lambda each: each.first_line - each.last_line)
    # loops inside are no part of what a call does: they are refused for reasons of their own
    inside = own[1:] if own and own[0].diagnostic.code == "call" else []
    return next(iter([*inside, *own, *around]), None)


def ranked(files: Sequence[FileSurvey], profile: Mapping[str, float] | None = None) -> Survey:
    """All nests of ``files`` by their share of the work.

    Without a ``profile`` that is what the loops seem to do; with one, the share of each function, which
    its nests have in proportion to that.
    """
    nests = [each for file in files for each in file.nests]
    by_function: dict[str, float] = {}
    for each in nests:
        by_function[each.nest.function] = by_function.get(each.nest.function, 0.0) + each.nest.work
    total = sum(by_function.values())

    def share(each: SurveyedNest) -> float:
        if profile is None:
            return each.nest.work / total if total else 0.0
        own = by_function[each.nest.function]
        return profile.get(each.nest.function, 0.0) * (each.nest.work / own if own else 0.0)

    found = [replace(each, share=share(each)) for each in nests]
    found.sort(key=lambda each: (-each.share, each.file, each.nest.first_line))
    return Survey(tuple(files), tuple(found))
