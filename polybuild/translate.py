"""One ``compile``: from a request to what is written, with a way on whatever happens.

A build must not stop because a region is not understood, the preprocessor
fails or polybuild itself does: the original text passes through, and the
compiler has the last word. ``--on-unsupported error`` turns that off.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from polybuild.arguments import Arguments
from polybuild.diagnostics import Diagnostic, Location, Severity, SourceError, UsageError
from polybuild.options import Options
from polybuild.report.failure import DEBUG_VARIABLE, describe
from polybuild.report.model import RegionReport
from polybuild.settings import with_project_settings


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is to be written and said about one file.

    With an exit code other than 0, ``data`` is not to be written.
    ``dependencies`` are the files that a change of which calls for another run.
    """

    data: bytes
    regions: tuple[RegionReport, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    dependencies: tuple[str, ...] = ()
    code: int = 0


def options_for(request: Arguments) -> tuple[Options, str]:
    """The options of ``request`` over those of the project, and the file of the latter (or "")."""
    options, settings_file = with_project_settings(Options(), request.source)
    return options.with_settings(request.settings), settings_file


def translate(request: Arguments, data: bytes) -> Outcome:
    """Transform the regions of the file with the text ``data``. Raises UsageError."""
    options, settings_file = options_for(request)
    strict = options.on_unsupported == "error"
    flags = request.expanded_flags()
    inputs = (*request.response_files(), *filter(None, [settings_file]))
    try:
        from polybuild.pipeline import compile_source  # noqa: PLC0415 -- its failure is ours to report

        result = compile_source(request.source, options, request.compiler, flags)
    except UsageError:
        raise
    except SourceError as error:
        severity = Severity.ERROR if strict else Severity.WARNING
        diagnostic = dataclasses.replace(error.diagnostic, severity=severity)
        return Outcome(data, (), (diagnostic,), (*error.dependencies, *inputs), 1 if strict else 0)
    except Exception as error:  # noqa: BLE001 -- whatever it is, the build goes on
        diagnostic = Diagnostic(
            Severity.ERROR if strict else Severity.WARNING,
            "internal",
            f"internal error: {describe(error)}; the file is left as it is",
            Location(request.source, 0),
            f"please report it, with the traceback that {DEBUG_VARIABLE}=1 prints",
        )
        return Outcome(data, (), (diagnostic,), inputs, 3 if strict else 0)

    diagnostics = tuple(sorted(result.diagnostics, key=lambda diagnostic: diagnostic.location))
    failed = any(diagnostic.severity is Severity.ERROR for diagnostic in diagnostics)
    if strict:
        diagnostics = tuple(promoted(diagnostic, result.regions) for diagnostic in diagnostics)
        failed = any(diagnostic.severity is Severity.ERROR for diagnostic in diagnostics)
        failed = failed or any(region.status != "transformed" for region in result.regions)
    return Outcome(
        result.text.encode("utf-8", "surrogateescape"),
        result.regions,
        diagnostics,
        (*result.dependencies, *inputs),
        1 if failed else 0,
    )


def promoted(diagnostic: Diagnostic, regions: tuple[RegionReport, ...]) -> Diagnostic:
    """``diagnostic`` as an error, unless it is a remark or about a region that was transformed."""
    transformed = any(region.status == "transformed" and region.covers(diagnostic) for region in regions)
    if diagnostic.severity is Severity.REMARK or transformed:
        return diagnostic
    return dataclasses.replace(diagnostic, severity=Severity.ERROR)
