"""What ``polybuild cc`` leaves beside an object for tools: the report, and the records of optimisations."""

from __future__ import annotations

import contextlib
import os

from polybuild.driver import output
from polybuild.driver.translate import Outcome
from polybuild.integrations.compiler_line import LINK, CommandLine
from polybuild.report.record.json import as_json
from polybuild.report.record.optimisation_record import SUFFIX, as_optimisation_record

REPORT_SUFFIX = ".polybuild.json"


def write_records(line: CommandLine, source: str, outcome: Outcome, *, report: bool) -> None:
    """Write what became of the regions of ``source``: a ``report``, and what the flags of ``line`` ask for.

    What cannot be written is left out: the object is what the build is for.
    """
    stem = _object(line, source).removesuffix(".o")
    with contextlib.suppress(OSError):
        if report:
            output.write(
                f"{stem}{REPORT_SUFFIX}",
                as_json(outcome.regions, (*outcome.diagnostics, *outcome.left_alone)),
            )
        if output.RECORD_FLAG in line.words and outcome.regions:
            output.write(f"{stem}{SUFFIX}", as_optimisation_record(outcome.regions))


def _object(line: CommandLine, source: str) -> str:
    """The name of the object that ``source`` becomes, or would become where the line links, too."""
    if line.output and line.phase != LINK:
        return line.output
    name = os.path.splitext(os.path.basename(source))[0] + ".o"  # noqa: PTH119, PTH122 -- as the compiler does it
    return os.path.join(os.path.dirname(line.output), name)  # noqa: PTH118, PTH120 -- as above
