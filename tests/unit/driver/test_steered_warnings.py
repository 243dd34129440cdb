from __future__ import annotations

import pytest

from polybuild.diagnostics import Diagnostic, Location, Severity
from polybuild.driver.steered_warnings import warning_flags, without_ours

PLACE = Location("in.c", 3)


def told(flags, code="break", severity=Severity.WARNING):
    """How a diagnostic is said under ``flags``; None if it is not."""
    said = warning_flags(flags.split()).of(Diagnostic(severity, code, "words", PLACE))
    return said and said.severity.value


@pytest.mark.parametrize(
    ("flags", "wanted"),
    [
        ("-O2 -Wall", "warning"),
        ("-w", None),
        ("-Werror", "error"),
        ("-Werror -Wno-error", "warning"),
        ("-Wno-error -Werror", "error"),
        ("-Wno-polybuild-break", None),
        ("-Wno-polybuild-loop-bound", "warning"),
        ("-Wno-polybuild", None),
        ("-Wno-polybuild -Wpolybuild-break", "warning"),
        ("-Wpolybuild-break -Wno-polybuild", None),
        ("-Werror=polybuild-break", "error"),
        ("-Werror=polybuild", "error"),
        ("-Werror=polybuild-loop-bound", "warning"),
        ("-Werror -Wno-error=polybuild-break", "warning"),
        ("-Wno-polybuild-break -Werror=polybuild-break", "error"),
        ("-Werror=unused", "warning"),
    ],
)
def test_flags_steer_warnings(flags, wanted):
    assert told(flags) == wanted


@pytest.mark.parametrize("severity", [Severity.REMARK, Severity.ERROR])
def test_nothing_else_is_steered(severity):
    assert told("-w -Werror -Wno-polybuild", severity=severity) == severity.value


def test_the_compiler_gets_its_own_flags():
    flags = ["-Wall", "-Wno-polybuild-break", "-Werror=polybuild", "-Werror", "-Wpolybuild-call"]
    assert without_ours(flags) == ["-Wall", "-Werror"]
