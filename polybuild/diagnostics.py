"""What polybuild says about the user's code: locations, messages, errors.

Every message has the shape compilers use, so that editors and build tools can
parse it::

    file:line:col: warning: message [-Wpolybuild-code]
        source line
            ^
    hint: what to do about it
"""

from __future__ import annotations

import dataclasses
from enum import Enum

from polybuild.values import dataclass


class Severity(Enum):
    """How much a diagnostic matters; the value is the word that is printed."""

    ERROR = "error"
    WARNING = "warning"
    REMARK = "remark"


@dataclasses.dataclass(frozen=True, slots=True, order=True)
class Location:
    """A place in a file the user wrote; lines and columns count from 1.

    Column 0 is unknown; line 0 means the file as a whole.
    """

    file: str
    line: int
    column: int = 0

    def __str__(self) -> str:
        if not self.line:
            return self.file
        return f"{self.file}:{self.line}:{self.column}" if self.column else f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One message about one place.

    ``code`` is the documented kebab-case name after ``-Wpolybuild-``; ``hint``
    says what the user can do.
    """

    severity: Severity
    code: str
    message: str
    location: Location
    hint: str = ""


class PolybuildError(Exception):
    """Base of everything polybuild raises on purpose."""


class UsageError(PolybuildError):
    """The command line, a build setting or a pragma clause is wrong (exit code 2)."""


class SourceError(PolybuildError):
    """The user's file cannot be read, preprocessed or written (exit code 1).

    ``dependencies`` are the files that were read before it failed: a change of
    one of them may mend it.
    """

    def __init__(self, diagnostic: Diagnostic, dependencies: tuple[str, ...] = ()) -> None:
        super().__init__(f"{diagnostic.location}: {diagnostic.message}")
        self.diagnostic = diagnostic
        self.dependencies = dependencies

    def __reduce__(self) -> tuple[type[SourceError], tuple[Diagnostic, tuple[str, ...]]]:
        return type(self), (self.diagnostic, self.dependencies)  # so that it passes between processes


class Unsupported(PolybuildError):
    """A region must be left as it is; caught by the pipeline, one region at a time."""

    def __init__(self, code: str, message: str, location: Location, hint: str = "") -> None:
        super().__init__(f"{location}: {message}")
        self.diagnostic = Diagnostic(Severity.WARNING, code, message, location, hint)
