"""Where region markers stand in the text as the user wrote it, and how lines are renumbered there."""

from __future__ import annotations

import bisect
import copy
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from polybuild.patterns import pattern
from polybuild.source.model import Span
from polybuild.values import dataclass

OWN_DIRECTIVE = pattern(r"^[ \t]*#[ \t]*pragma[ \t]+(?:end)?(scop|omp(?![ \t]+simd\b)|acc)\b", re.MULTILINE)
"""What says that its function shares out its loops itself: marks, OpenMP but for hints, OpenACC."""

_COMMENT = r"/\*.*?(?:\*/|\Z)|//(?:\\\r?\n|[^\n])*"
_LITERAL = r'"(?:\\.|[^"\\\n])*"' + r"|'(?:\\.|[^'\\\n])*'"
_INTERESTING = pattern(
    rf"(?P<comment>{_COMMENT})|(?P<literal>{_LITERAL})|(?P<number>\b[0-9](?:[\w.]|'\w)*)"
    r"|(?P<hash>\#|%:|\?\?=)|(?P<operator>\b_Pragma\b)",
    re.DOTALL,
)
_DIRECTIVE = pattern(rf"(?:{_COMMENT}|{_LITERAL}|\\\r?\n|\\.|[^\n\\])*", re.DOTALL)
_DIRECTIVE_NAME = pattern(r"(?:\#|%:|\?\?=)[ \t]*(\w*)[ \t]*(.*)", re.DOTALL)
_GLUE = pattern(rf"(?P<comment>{_COMMENT})|\\\r?\n|(?P<literal>{_LITERAL})", re.DOTALL)
_SPACE = rf"(?:\s|{_COMMENT}|\\\r?\n)*"
_OPERATOR = pattern(rf'_Pragma{_SPACE}\({_SPACE}(L?"(?:\\.|[^"\\\n])*"){_SPACE}\)', re.DOTALL)
_MARKER = pattern(r"(scop|endscop)\b|polybuild[ \t]+(resident|distributed)\b")
_OWN = pattern(r"(?:scop|endscop|polybuild)\b")
_MACRO_LINE = pattern(r"[ \t]*([A-Za-z_$][\w$]*)[ \t]*(?:\([^()\n]*\))?[ \t]*;?[ \t\r]*")
_LINE_ARGUMENTS = pattern(r"(\d+)(?:\s+\"((?:[^\"\\]|\\.)*)\")?.*")


@dataclass(frozen=True, slots=True)
class Marker:
    """A marker in the user's text: ``kind`` is ``scop``, ``endscop``, ``resident`` or ``distributed``.

    ``span`` is what a splice replaces: whole lines where the marker has its
    lines to itself, else exactly the marker. Lines count from 1.
    """

    kind: str
    span: Span
    first_line: int
    last_line: int
    column: int


@dataclass(frozen=True, slots=True)
class Directive:
    """A preprocessor directive: its name, its offset, and its text without comments and continuations."""

    name: str
    arguments: str
    start: int
    line: int


class SourceText:
    """The lines, directives and region markers of a text as the user wrote it.

    ``own_pragmas`` are the extents of all pragmas that are for polybuild, markers or not.
    """

    def __init__(self, text: str, path: str, names: Mapping[str, str] | None = None) -> None:
        """Scan ``text`` once; ``path`` is the name its lines go by before any ``#line``.

        With ``names`` its ``#line`` directives name the files the user wrote, some by other names: these.
        """
        self.text = text
        self.expanded = names is not None
        self.names = names or {}
        self._line_starts = [0, *(match.end() for match in re.finditer("\n", text))]
        self.markers: list[Marker] = []
        self.directives: list[Directive] = []
        self.own_pragmas: list[Span] = []
        self._scan()
        self.markers = [self._with_conditional(each) for each in self.markers]
        self._segments = self._renumbering(path)

    def with_markers(self, markers: Iterable[Marker]) -> SourceText:
        """The same text with more ``markers``."""
        new = copy.copy(self)
        new.markers = [*self.markers, *markers]
        return new

    @property
    def renumbered(self) -> bool:
        """Whether ``#line`` directives make presumed lines differ from physical ones."""
        return len(self._segments) != 1

    @property
    def line_count(self) -> int:
        """The number of lines, counting an unfinished last one."""
        return len(self._line_starts)

    def line_of(self, offset: int) -> int:
        """The line that contains ``offset``."""
        return bisect.bisect_right(self._line_starts, offset)

    def line_span(self, line: int) -> Span:
        """The extent of a line, its line end included."""
        end = self._line_starts[line] if line < len(self._line_starts) else len(self.text)
        return Span(self._line_starts[line - 1], end)

    def physical_line(self, file: str, line: int) -> int | None:
        """The line of this text that the compiler calls ``file:line``; None if there is none, or several."""
        found: list[int] = []
        for number, (start, name, presumed) in enumerate(self._segments):
            following = (
                self._segments[number + 1][0] if number + 1 < len(self._segments) else self.line_count + 1
            )
            candidate = start + line - presumed
            if name == file and start <= candidate < following:
                found.append(candidate)
        return found[0] if len(found) == 1 else None

    def presumed(self, line: int) -> tuple[str, int]:
        """The file and line of the user that a line of this text is."""
        start, name, presumed = max(segment for segment in self._segments if segment[0] <= line)
        return self.names.get(name, name), presumed + line - start

    def presumed_files(self) -> set[str]:
        """The names the compiler gives to lines of this text."""
        return {name for _, name, _ in self._segments}

    def macro_marker(self, kind: str, line: int) -> Marker | None:
        """The marker made of a macro that is alone on its line, optionally followed by ``;``."""
        span = self.line_span(line)
        code = _GLUE.sub(_blank_comment, self.text[span.start : span.end].rstrip("\n"))
        match = _MACRO_LINE.fullmatch(code)
        return Marker(kind, span, line, line, match.start(1) + 1) if match else None

    def _scan(self) -> None:
        position = 0
        comment_end, comment_clean = 0, True
        while match := _INTERESTING.search(self.text, position):
            start, position = match.start(), match.end()
            if match.lastgroup not in {"comment", "hash", "operator"}:
                continue
            line_start = max(self._line_starts[self.line_of(start) - 1], comment_end)
            clean = not self.text[line_start:start].strip(" \t\f\v\ufeff")
            if line_start == comment_end and comment_end:
                clean = clean and comment_clean
            if match.lastgroup == "comment":
                comment_end, comment_clean = position, clean
            elif match.lastgroup == "hash" and clean:
                body = _DIRECTIVE.match(self.text, start)
                position = body.end() if body else position
                self._add_directive(start, position)
            elif match.lastgroup == "operator":
                position = self._add_operator(start) or position

    def _add_directive(self, start: int, end: int) -> None:
        text = _GLUE.sub(_plain, self.text[start:end])
        parts = _DIRECTIVE_NAME.match(text.strip())
        if parts is None:
            return
        name, arguments = parts[1], parts[2].strip()
        line = self.line_of(start)
        self.directives.append(Directive(name, arguments, start, line))
        if name == "pragma" and _OWN.match(arguments):
            self.own_pragmas.append(Span(start, end))
        if name == "pragma" and (kind := _MARKER.match(arguments)):
            span = self._widened(start, end, "")
            self.markers.append(
                Marker(kind[1] or kind[2], span, line, self.line_of(max(start, end - 1)), self._column(start))
            )

    def _add_operator(self, start: int) -> int | None:
        match = _OPERATOR.match(self.text, start)
        if match is None:
            return None
        content = re.sub(r"\\(.)", r"\1", match[1].removeprefix("L")[1:-1]).strip()
        if _OWN.match(content):
            self.own_pragmas.append(Span(start, match.end()))
        if kind := _MARKER.match(content):
            span = self._widened(start, match.end(), ";")
            first, last = self.line_of(start), self.line_of(match.end() - 1)
            self.markers.append(Marker(kind[1] or kind[2], span, first, last, self._column(start)))
        return match.end()

    def _with_conditional(self, marker: Marker) -> Marker:
        """``marker`` with the ``#if`` and the ``#endif`` around it if there is nothing else between these."""
        before, after = (
            next((each for each in self.directives if each.line == line), None)
            for line in (marker.first_line - 1, marker.last_line + 1)
        )
        if before is None or after is None or not before.name.startswith("if") or after.name != "endif":
            return marker
        span = Span(self.line_span(before.line).start, self.line_span(after.line).end)
        return replace(marker, span=span)

    def _widened(self, start: int, end: int, ignored: str) -> Span:
        """The lines of ``start`` to ``end`` if nothing but blanks (and ``ignored``) shares them."""
        first = self.line_span(self.line_of(start))
        last = self.line_span(self.line_of(max(start, end - 1)))
        before, after = self.text[first.start : start], self.text[end : last.end]
        if before.strip(" \t\f\v\ufeff") or after.strip(" \t\f\v\r\n" + ignored):
            return Span(start, end)
        # A byte order mark belongs to the file, not to its first line.
        return Span(first.start + before.startswith("\ufeff"), last.end)

    def _column(self, offset: int) -> int:
        return offset - self._line_starts[self.line_of(offset) - 1] + 1

    def _renumbering(self, path: str) -> list[tuple[int, str, int]]:
        """(first physical line, file, presumed line) of each stretch of equally numbered lines."""
        segments = [(1, path, 1)]
        for directive in self.directives:
            if directive.name == "line":
                arguments = _LINE_ARGUMENTS.fullmatch(directive.arguments)
            elif directive.name.isdigit():
                arguments = _LINE_ARGUMENTS.fullmatch(f"{directive.name} {directive.arguments}")
            else:
                continue
            if arguments is None:  # a macro; only the preprocessor knows
                segments.append((directive.line + 1, "", 1))
                continue
            file = unescape(arguments[2]) if arguments[2] is not None else segments[-1][1]
            segments.append((directive.line + 1, file, int(arguments[1])))
        return segments


def _blank_comment(match: re.Match[str]) -> str:
    return " " * len(match.group()) if match["comment"] else match.group()


def _plain(match: re.Match[str]) -> str:
    """A directive's piece as the preprocessor reads it: comments are one blank, continuations nothing."""
    if match["comment"]:
        return " "
    return match["literal"] or ""


def unescape(name: str) -> str:
    """A file name as a line marker quotes it, undone; octal escapes are bytes."""
    if "\\" not in name:
        return name
    raw = re.sub(
        rb"\\([0-7]{3}|.)",
        lambda match: bytes([int(match[1], 8) & 255]) if len(match[1]) == 3 else match[1],
        name.encode("utf-8", "surrogateescape"),
    )
    return raw.decode("utf-8", "surrogateescape")
