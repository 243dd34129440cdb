"""Warnings of ours as the compiler's flags steer them: as they steer the compiler's own.

``-w`` and ``-Werror`` mean ours, too. ``-Wno-polybuild-CODE`` and ``-Werror=polybuild-CODE`` mean those of
one code, and all of ours without a code. Of two flags that say something of a warning the later counts.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

from polybuild.diagnostics import Diagnostic, Severity
from polybuild.driver.output import WARNING_FLAGS
from polybuild.values import dataclass

_ALL = ""  # the code of all warnings


@dataclass(frozen=True, slots=True)
class WarningFlags:
    """What flags say of warnings: ``silent`` by ``-w``; the others map codes to whether they are so."""

    silent: bool
    shown: dict[str, bool]
    fatal: dict[str, bool]

    def of(self, diagnostic: Diagnostic) -> Diagnostic | None:
        """``diagnostic`` as it is to be said, None if it is not; remarks and errors stay what they are."""
        if diagnostic.severity is not Severity.WARNING:
            return diagnostic
        code = diagnostic.code
        if self.silent or not self.shown.get(code, self.shown[_ALL]):
            return None
        if self.fatal.get(code, self.fatal[_ALL]):
            return dataclasses.replace(diagnostic, severity=Severity.ERROR)
        return diagnostic

    def apply(self, diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
        """All of ``diagnostics`` that are to be said, as they are."""
        return tuple(said for each in diagnostics if (said := self.of(each)) is not None)


def warning_flags(flags: Sequence[str]) -> WarningFlags:
    """What the compiler's ``flags`` say of warnings of ours."""
    shown, fatal = {_ALL: True}, {_ALL: "-Werror" in flags and not _last_is(flags, "-Wno-error", "-Werror")}
    for flag in flags:
        for prefix, (codes, value) in _MEANINGS.items():
            if flag == prefix or flag.startswith(f"{prefix}-"):
                _set({"shown": shown, "fatal": fatal}[codes], flag[len(prefix) + 1 :], value=value)
                if prefix == "-Werror=polybuild":
                    _set(shown, flag[len(prefix) + 1 :], value=True)
    return WarningFlags("-w" in flags, shown, fatal)


_MEANINGS = dict(
    zip(WARNING_FLAGS, (("shown", True), ("shown", False), ("fatal", True), ("fatal", False)), strict=True)
)


def _set(codes: dict[str, bool], code: str, *, value: bool) -> None:
    if code == _ALL:
        codes.clear()
    codes[code] = value


def _last_is(flags: Sequence[str], one: str, other: str) -> bool:
    """Whether the last of two flags is ``one``."""
    return next((flag for flag in reversed(flags) if flag in {one, other}), other) == one


def without_ours(flags: Iterable[str]) -> list[str]:
    """``flags`` for the compiler, which knows nothing of our warnings."""
    return [flag for flag in flags if not flag.startswith(WARNING_FLAGS)]
