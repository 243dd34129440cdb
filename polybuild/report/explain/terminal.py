"""Diagnostics as text, in the shape and the colours of the compilers."""

from __future__ import annotations

import os
import re
import shutil
import unicodedata
from pathlib import Path
from typing import TextIO

from polybuild.diagnostics import Diagnostic, Location, Severity
from polybuild.patterns import pattern
from polybuild.values import dataclass

_INDENT = "    "
_TAB = 8
_MAXIMUM_COLUMNS = 160
_ESCAPES = pattern(r"\x1b\[[0-9;]*m")
_BOLD = "1"
_GREEN = "1;32"
_COLOURS = {Severity.ERROR: "1;31", Severity.WARNING: "1;35", Severity.REMARK: "1;36"}


@dataclass(frozen=True, slots=True)
class Style:
    """How text is set: in colour for a terminal, plain for everything else.

    Lines have at most so many ``columns``; 0: they are as long as they are.
    """

    colour: bool = False
    columns: int = 0

    def paint(self, text: str, code: str) -> str:
        """``text`` in the colour with the ANSI number ``code``."""
        return f"\x1b[{code}m{text}\x1b[m" if self.colour and text else text

    def bold(self, text: str) -> str:
        """``text`` in bold."""
        return self.paint(text, _BOLD)

    def severity(self, severity: Severity, text: str) -> str:
        """``text`` in the colour of ``severity``."""
        return self.paint(text, _COLOURS[severity])

    def good(self, text: str) -> str:
        """``text`` in the colour of success."""
        return self.paint(text, _GREEN)

    def wrapped(self, line: str) -> list[str]:
        """``line`` on as many lines as it needs, broken at blanks, those after the first further in."""
        indent = " " * (len(line) - len(line.lstrip()) + 2)
        if not self.columns or len(indent) > self.columns // 2:
            return [line]
        lines, current = [], ""
        for word in re.findall(r"\s*\S+", line):
            if current.strip() and _width(_ESCAPES.sub("", current + word)) > self.columns:
                lines.append(current)
                current = indent + word.lstrip()
            else:
                current += word
        return [*lines, current]


def style_for(stream: TextIO, colour: str) -> Style:
    """The style of ``stream`` if the user asked for ``auto``, ``always`` or ``never``."""
    columns = shutil.get_terminal_size().columns if stream.isatty() else 0
    if colour != "auto":
        return Style(colour == "always", columns)
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return Style(not plain and stream.isatty(), columns)


def render(diagnostic: Diagnostic, style: Style, *, verbose: bool = False) -> str:
    """``diagnostic`` with its source line, a caret and the hint; ends in a newline.

    A remark is one line. Where it is ``verbose``, the page of the code is named, too.
    """
    severity = diagnostic.severity
    text = f"{style.bold(f'{diagnostic.location}:')} {style.severity(severity, f'{severity.value}:')} "
    text += style.bold(diagnostic.message)
    if diagnostic.code:
        text += " [" + style.severity(severity, f"-Wpolybuild-{diagnostic.code}") + "]"
    lines = [text]
    if severity is not Severity.REMARK:
        lines += _excerpt(diagnostic.location, style)
    if diagnostic.hint:
        lines.append(style.bold("hint:") + f" {diagnostic.hint}")
    if verbose and diagnostic.code and severity is not Severity.REMARK:
        lines.append(style.bold("more:") + f" polybuild docs {diagnostic.code}")
    return "\n".join(lines) + "\n"


def write(stream: TextIO, text: str) -> None:
    """Write ``text``, which may hold bytes that are no text (as surrogates), to ``stream``."""
    encoding = stream.encoding or "utf-8"
    try:
        data = text.encode(encoding, "surrogateescape")
    except UnicodeEncodeError:
        data = text.encode(encoding, "backslashreplace")
    buffer = getattr(stream, "buffer", None)
    if buffer is None:  # a stand-in for a stream
        stream.write(data.decode(encoding, "replace"))
        return
    stream.flush()
    buffer.write(data)
    buffer.flush()


def _excerpt(location: Location, style: Style) -> list[str]:
    """The line at ``location`` and a caret under its column, as far as both are known."""
    source = _source_line(location)
    if not source.strip():
        return []
    column = min(location.column, len(source) + 1)
    cells = [_cell(character) for character in source.expandtabs(_TAB)]
    before = "".join(map(_cell, source[: max(column - 1, 0)].expandtabs(_TAB)))
    start = max(0, len(before) - _MAXIMUM_COLUMNS // 2) if len(cells) > _MAXIMUM_COLUMNS else 0
    shown = "".join(cells[start : start + _MAXIMUM_COLUMNS])
    lines = [(_INDENT + shown).rstrip()]
    if column:
        lines.append(_INDENT + " " * _width(before[start:]) + style.good("^"))
    return lines


def _source_line(location: Location) -> str:
    if not location.line:
        return ""
    try:
        data = Path(location.file).read_bytes()
    except (OSError, ValueError):
        return ""
    lines = data.split(b"\n")
    if location.line > len(lines):
        return ""
    return lines[location.line - 1].rstrip(b"\r").decode("utf-8", "surrogateescape")


def _cell(character: str) -> str:
    """``character``, or a blank where it would steer the terminal (bytes that are no text stay)."""
    return character if character.isprintable() or "\udc80" <= character <= "\udcff" else " "


def _width(text: str) -> int:
    """How many columns of a terminal ``text`` takes."""
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return len(text) + wide - sum(unicodedata.combining(character) != 0 for character in text)
