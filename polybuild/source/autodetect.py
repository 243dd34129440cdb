"""Regions that nobody marked: whole loops, outermost ones first, that a caller finds worth taking.

The preprocessed text gets markers around candidate loops, as if the user had
written them there, and is read like any other. Loops that are refused give way
to the loops inside them; neighbours that are taken are joined where that is
taken, too. Only loops that stand on lines of their own, outside of macros and
preprocessor conditionals, are candidates, and none in functions that have
marked regions or OpenMP directives already.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from polybuild.c.tokens import Token, tokens
from polybuild.diagnostics import Diagnostic, Severity
from polybuild.source.chunks import Chunk, ChunkIndex
from polybuild.source.lines import LineTable, PresumedLocation
from polybuild.source.markers import Marker, SourceText
from polybuild.source.model import Region, Source, Span
from polybuild.source.preprocess import macros_defined, preprocess
from polybuild.source.reader import FileText, Regions, regions_in, residents_in, text_of

Accept = Callable[[Region], Diagnostic | None]
"""Why a region is not to be taken, None if it is."""

_LOOPS = ("for", "while", "do")
_MAXIMUM_DEPTH = 4  # how often a refused loop gives way to those inside
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_OWN_DIRECTIVES = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+(?:scop|endscop|omp|acc)\b", re.MULTILINE)
_SIMPLE = re.compile(r"[^{}#]*")
_CONTROL = frozenset({"if", "else", "switch", "case", "default", "goto", "return", "break", "continue", ":"})


@dataclass(frozen=True, slots=True)
class StatementRange:
    """Whole statements of a function, one after the other: offsets into the preprocessed text, and lines."""

    start: int
    end: int
    first_line: int
    last_line: int
    block: int | None


@dataclass(frozen=True, slots=True)
class Detection:
    """A file with the regions that were found in it besides those marked; why other loops were not taken."""

    source: Source
    refused: tuple[Diagnostic, ...]


def detect_regions(path: str, compiler: Sequence[str], flags: Sequence[str], accept: Accept) -> Detection:
    """Read the file at ``path`` with its marked regions and those ``accept`` takes.

    Raises SourceError as ``read_source`` does.
    """
    text = text_of(path)
    preprocessed = preprocess(path, compiler, flags)
    dependencies = tuple(dict.fromkeys((path, *preprocessed.dependencies)))
    file = FileText(text, path, flags, preprocessed.text, macros_defined(dependencies, flags))
    detector = _Detector(file, accept)
    taken = detector.run()
    regions, diagnostics = detector.read(taken)
    residents, problems = residents_in(file, SourceText(text, path), regions)
    source = Source(path, text, regions, dependencies, (*diagnostics, *problems), residents)
    return Detection(source, tuple(detector.refused))


class _Detector:
    """The search in one file; ``refused`` says why loops were not taken."""

    def __init__(self, file: FileText, accept: Accept) -> None:
        self._file = file
        self._accept = accept
        self._user_text = SourceText(file.text, file.path)
        self._lines = LineTable(file.preprocessed, self._user_text, file.path)
        self.refused: list[Diagnostic] = []

    def run(self) -> list[StatementRange]:
        """The statements to take, in order."""
        if self._user_text.renumbered:
            return []
        taken: list[StatementRange] = []
        pending = [loop for chunk in self._functions() for loop in self._loops(chunk.body or 0, chunk.end)]
        for _ in range(_MAXIMUM_DEPTH):
            inner: list[StatementRange] = []
            for loop, problem in zip(pending, self._problems(pending), strict=True):
                if problem is None:
                    taken.append(loop)
                else:
                    message = f"not taken by itself: {problem.message}"
                    self.refused.append(replace(problem, severity=Severity.REMARK, message=message))
                    inner += self._loops(*self._inside(loop))
            if not inner:
                break
            pending = inner
        return self._joined(sorted(taken, key=lambda each: each.start))

    def read(self, ranges: Sequence[StatementRange]) -> Regions:
        """The regions of the file with ``ranges`` marked."""
        user_text = SourceText(self._file.text, self._file.path)
        spans = {self._span(each) for each in ranges}
        for statements in ranges:
            user_text.markers += self._markers(statements)
        marked = replace(self._file, preprocessed=self._marked(ranges))
        regions, diagnostics = regions_in(marked, user_text)
        return (
            tuple(
                replace(each, detected=True) if isinstance(each, Region) and each.span in spans else each
                for each in regions
            ),
            diagnostics,
        )

    # Candidates

    def _functions(self) -> Iterator[Chunk]:
        text = self._lines.text
        for chunk in ChunkIndex(text).chunks:
            if chunk.body is None or _OWN_DIRECTIVES.search(text, chunk.body, chunk.end):
                continue
            if self._lines.physical_line(self._lines.presumed_at(chunk.body)) is not None:
                yield chunk

    def _loops(self, start: int, end: int) -> list[StatementRange]:
        """The outermost loops that start in ``text[start:end]`` and can be candidates."""
        found = [each for each in tokens(self._lines.text, start, end) if each.text[0] != "#"]
        loops: list[StatementRange] = []
        blocks: list[int] = []
        position = 0
        while position < len(found):
            token = found[position]
            if token.text == "{":
                blocks.append(token.start)
            elif token.text == "}" and blocks:
                blocks.pop()
            if token.text in _LOOPS:
                following = _statement_end(found, position)
                candidate = self._statements(token, found[following - 1], blocks[-1] if blocks else None)
                if candidate is not None:
                    loops.append(candidate)
                elif token.text != "do":
                    following = position + 1  # a loop inside may do
                position = following
            else:
                position += 1
        return loops

    def _inside(self, loop: StatementRange) -> tuple[int, int]:
        """Where to look for the loops inside ``loop``."""
        found = list(tokens(self._lines.text, loop.start, loop.end))
        last = _statement_end(found, 1) if found[0].text == "do" else len(found)
        return found[0].end, found[last - 1].end

    def _statements(self, first: Token, last: Token, block: int | None) -> StatementRange | None:
        """The lines from ``first`` to ``last`` if these, and nothing else, stand there in the user's text."""
        text = self._lines.text
        line_start = text.rfind("\n", 0, first.start) + 1
        line_end = text.find("\n", last.end)
        line_end = len(text) if line_end < 0 else line_end
        begin, end = (
            self._lines.physical_line(self._lines.presumed_at(each.start)) for each in (first, last)
        )
        if begin is None or end is None or end < begin:
            return None
        if text[line_start : first.start].strip() or text[last.end : line_end].strip():
            return None
        if any(begin <= directive.line <= end for directive in self._user_text.directives):
            return None
        raw = self._file.text[self._user_text.line_span(begin).start : self._user_text.line_span(end).end]
        code = _COMMENT.sub(" ", raw)
        written = [token.text for token in tokens(code)]
        if not written or written[0] != first.text or written[-1] != last.text or not _is_balanced(written):
            return None
        if raw.count("/*") != raw.count("*/"):
            return None
        return StatementRange(line_start, line_end, begin, end, block)

    def _problems(self, loops: Sequence[StatementRange]) -> list[Diagnostic | None]:
        """Why each loop is not to be taken by itself."""
        regions, _ = self.read(loops)
        by_span = {each.span: each for each in regions}
        problems: list[Diagnostic | None] = []
        for loop in loops:
            region = by_span.get(self._span(loop))
            if isinstance(region, Region):
                problems.append(self._accept(region))
            elif region is not None:
                problems.append(region.diagnostic)
        return problems

    # Neighbours

    def _joined(self, taken: list[StatementRange]) -> list[StatementRange]:
        """``taken`` with neighbours put together where the whole is taken as well."""
        joined: list[StatementRange] = []
        for each in taken:
            if joined:
                whole = self._both(joined[-1], each)
                if whole is not None and self._problems([whole]) == [None]:
                    joined[-1] = whole
                    continue
            joined.append(each)
        return joined

    def _both(self, first: StatementRange, then: StatementRange) -> StatementRange | None:
        """The statements from ``first`` to ``then`` if they share a block and little is between them."""
        between = self._lines.text[first.end : then.start]
        lines = range(first.last_line, then.first_line + 1)
        if first.block != then.block or not _SIMPLE.fullmatch(between):
            return None
        if any(directive.line in lines for directive in self._user_text.directives):
            return None
        if any(token.text in _CONTROL or token.text in _LOOPS for token in tokens(between)):
            return None
        return StatementRange(first.start, then.end, first.first_line, then.last_line, first.block)

    # Markers

    def _span(self, statements: StatementRange) -> Span:
        return Span(
            self._user_text.line_span(statements.first_line).start,
            self._user_text.line_span(statements.last_line).end,
        )

    def _markers(self, statements: StatementRange) -> list[Marker]:
        span = self._span(statements)
        first, last = statements.first_line, statements.last_line
        return [
            Marker("scop", Span(span.start, span.start), first, first, 1),
            Marker("endscop", Span(span.end, span.end), last, last, 1),
        ]

    def _marked(self, ranges: Sequence[StatementRange]) -> str:
        """The preprocessed text with pragmas around ``ranges``; all lines keep their numbers."""
        text = self._lines.text
        pieces: list[str] = []
        position = 0
        for statements in sorted(ranges, key=lambda each: each.start):
            begin = self._lines.presumed_at(statements.start)
            end = self._lines.presumed_at(statements.end)
            pieces += [text[position : statements.start], f"#pragma scop\n{_line(begin)}"]
            pieces += [text[statements.start : statements.end], f"\n{_line(end)}#pragma endscop\n"]
            pieces.append(_line(PresumedLocation(end.file, end.line + 1)))
            position = statements.end + 1
        pieces.append(text[position:])
        return "".join(pieces)


def _line(presumed: PresumedLocation) -> str:
    """The line marker for ``presumed``."""
    name = presumed.file.replace("\\", "\\\\").replace('"', '\\"')
    return f'# {presumed.line} "{name}"\n'


def _is_balanced(texts: Sequence[str]) -> bool:
    return all(texts.count(opening) == texts.count(closing) for opening, closing in ("()", "[]", "{}"))


def _statement_end(found: Sequence[Token], position: int) -> int:
    """The position after the statement that starts at ``position``."""
    end = len(found)
    if position >= end:
        return end
    text = found[position].text
    if text == "{":
        return _group_end(found, position)
    if text in {"for", "while", "if", "switch"}:
        position = _statement_end(found, _group_end(found, position + 1))
        if text == "if" and position < end and found[position].text == "else":
            return _statement_end(found, position + 1)
        return position
    if text == "do":
        position = _statement_end(found, position + 1)  # at its while
        return min(end, _group_end(found, position + 1) + 1)
    while position < end and found[position].text != ";":
        is_group = found[position].text in {"(", "[", "{"}
        position = _group_end(found, position) if is_group else position + 1
    return min(end, position + 1)


def _group_end(found: Sequence[Token], position: int) -> int:
    """The position after the bracket that closes the one at ``position``."""
    depth = 0
    while position < len(found):
        text = found[position].text
        depth += (text in {"(", "[", "{"}) - (text in {")", "]", "}"})
        position += 1
        if depth <= 0:
            break
    return position
