"""``polybuild explain``: what would be done with the regions of files, as text, as a page or as JSON."""
# ruff: noqa: PLC0415 -- what a command does not need is not imported

from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from polybuild.diagnostics import Diagnostic, Severity, SourceError
from polybuild.driver import output
from polybuild.driver.steered_warnings import without_ours
from polybuild.report.explain import explanation, terminal
from polybuild.report.record.model import KEPT
from polybuild.values import dataclass

if TYPE_CHECKING:
    from polybuild.cli.compile_commands import Compilation
    from polybuild.cli.explain_arguments import ExplainArguments
    from polybuild.driver.isolation import Watch
    from polybuild.report.explain.gather import Explained


@dataclass(frozen=True, slots=True)
class ExplainedFile:
    """What there is to say of one file, in each form that was asked for, and the exit code with it."""

    text: str = ""
    regions: tuple[Mapping[str, Any], ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    code: int = 0


def explain(given: ExplainArguments) -> tuple[bytes, int]:
    """The explanation of all files that are ``given``, and the exit code."""
    files = []
    for number, each in enumerate(given.files_to_explain):
        try:
            files.append(_file(given, each, number))
        except SourceError as error:
            if len(given.files_to_explain) == 1:
                raise
            files.append(_unreadable(given, each, error.diagnostic))
        if given.is_plain:  # as soon as it is known
            gap = "\n" if number else ""
            terminal.write(sys.stdout, gap + files[-1].text)
    code = max((each.code for each in files), default=0)
    if given.json:
        from polybuild.report.record.json import encoded

        regions = [region for each in files for region in each.regions]
        return encoded(regions, [one for each in files for one in each.diagnostics]), code
    if given.html:
        from polybuild.report.explain.page import whole_page

        names = [each.request.source for each in given.files_to_explain]
        text = whole_page(names, [each.text for each in files])
        return text.encode("utf-8", "surrogateescape"), code
    return b"", code


def _file(given: ExplainArguments, compilation: Compilation, number: int) -> ExplainedFile:
    """The explanation of one file."""
    from polybuild.driver.isolation import IN_BUILDS, run_isolated

    request = compilation.request
    marked = output.has_regions(request.source, output.read(request.source))
    if given.is_plain and not marked and not request.detects():
        style = terminal.style_for(sys.stdout, given.colour)
        return ExplainedFile(explanation.explain(request.source, (), (), style))
    return run_isolated(partial(_explained, given, compilation, number), trials=IN_BUILDS)


def _unreadable(given: ExplainArguments, compilation: Compilation, diagnostic: Diagnostic) -> ExplainedFile:
    """What is said of one of several files that cannot be read, so that there is nothing to explain."""
    if given.json:
        return ExplainedFile(diagnostics=(diagnostic,), code=1)
    if given.html:
        from polybuild.report.explain.page import file_body

        return ExplainedFile(file_body(compilation.request.source, (), (diagnostic,)), code=1)
    return ExplainedFile(terminal.render(diagnostic, terminal.style_for(sys.stdout, given.colour)), code=1)


def _explained(given: ExplainArguments, compilation: Compilation, number: int, watch: Watch) -> ExplainedFile:
    """The explanation of a file, in a process of its own."""
    from polybuild.driver.experience import Experience
    from polybuild.driver.file import compile_source
    from polybuild.driver.translate import options_for
    from polybuild.driver.tuning_files import find_tuning
    from polybuild.report.explain.gather import gather

    request = compilation.request
    settings = options_for(request)
    options = settings.options
    if compilation.directory:
        os.chdir(compilation.directory)
    tuning = find_tuning(options, request.source, settings.names)
    flags = without_ours(request.expanded_flags())
    result = compile_source(
        request.source, options, request.compiler, flags, watch, experience=Experience(tuning)
    )
    regions, rest = gather(result)
    if given.planning.sizes or given.planning.ranks:
        from polybuild.cli.planning import planned

        regions = planned(regions, given.planning, request.source)
    kept = any(region.status == KEPT for region in result.regions)
    wrong = any(each.severity is Severity.ERROR for each in result.diagnostics)
    code = 1 if wrong or (kept and options.on_unsupported == "error") else 0
    if given.json:
        return ExplainedFile("", tuple(map(_record, regions)), result.diagnostics, code)
    if given.html:
        from polybuild.report.explain.page import file_body

        return ExplainedFile(file_body(request.source, regions, rest, f"file{number}-"), code=code)
    style = terminal.style_for(sys.stdout, given.colour)
    level = explanation.Level(given.level)
    text = explanation.explain(request.source, regions, rest, style, level, detected=options.autodetect)
    return ExplainedFile(text, code=code)


def _record(explained: Explained) -> Mapping[str, Any]:
    """A region as in the report, with the loops of its source and what they carry."""
    loops = [
        {
            "names": loop.names,
            "line": loop.location.line,
            "private": loop.private,
            "dependences": [dataclasses.asdict(each) for each in loop.obstacles],
        }
        for loop in explained.loops
    ]
    plan = {} if explained.plan is None else {"ranks": dataclasses.asdict(explained.plan)}
    return {**dataclasses.asdict(explained.report), "loops": loops, **plan}
