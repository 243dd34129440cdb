"""Warnings about directives of OpenMP that are found to be false where the user asked for verification."""

from __future__ import annotations

import re
from collections.abc import Sequence

from polybuild.analysis.false_promises import FalsePromise, WrittenDirective, false_promises
from polybuild.diagnostics import Diagnostic, Severity, UsageError
from polybuild.driver.details import Details
from polybuild.options import Options
from polybuild.patterns import pattern
from polybuild.source.model import Region

CODE = "openmp-race"
_OF_OPENMP = pattern(r"^[ \t]*#[ \t]*pragma[ \t]+(?P<text>omp\b(?:\\\r?\n|[^\n])*)", re.MULTILINE)


def promises_to_check(text: str, region: Region, options: Options) -> tuple[WrittenDirective, ...]:
    """The directives in ``text``, the lines of a marked ``region``; none unless it is to be verified."""
    try:
        verify = options.with_clauses(region.clauses).verify
    except UsageError:
        return ()
    if not verify or region.detected:
        return ()
    return tuple(
        WrittenDirective(
            region.begin.line + text.count("\n", 0, each.start()),
            " ".join(each["text"].replace("\\\n", " ").split()),
        )
        for each in _OF_OPENMP.finditer(text)
    )


def promise_warnings(directives: Sequence[WrittenDirective], details: Details) -> tuple[Diagnostic, ...]:
    """What there is to say about ``directives`` that share out what is not independent.

    polybuild's loops do not believe them, but the original ones run with them.
    """
    flow = details.dependences.results
    return tuple(map(_warning, false_promises(directives, details.region, details.scop, flow)))


def _warning(found: FalsePromise) -> Diagnostic:
    name = f"'{found.variable}'"
    hint = "leave the directive out: loops that are independent are found without it"
    if not found.variable:
        what = f"what line {found.writes} computes in one is used by another in line {found.accesses}"
    elif found.is_scalar:
        what = f"{name} is one variable for all of them, which line {found.writes} changes"
        hint = f"declare {name} inside the loop, or name it in a clause 'private' or 'reduction'"
    else:
        what = f"an element of {name} that one writes in line {found.writes} is accessed by another"
        what += f" in line {found.accesses}"
    message = f"'#pragma {found.directive}' lets threads share iterations that are not independent: {what}"
    return Diagnostic(Severity.WARNING, CODE, message, found.location, hint)
