"""Find the marked regions: pair the markers that survive preprocessing and place them in the user's text."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from dataclasses import field

from polybuild.diagnostics import Diagnostic, Location, Severity
from polybuild.patterns import pattern
from polybuild.source.chunks import ChunkIndex
from polybuild.source.lines import LineTable, PresumedLocation
from polybuild.source.markers import Marker, SourceText
from polybuild.source.model import Span
from polybuild.values import dataclass

MARKING = pattern(r"^[ \t]*#[ \t]*pragma[ \t]+(scop|endscop)\b[ \t]*(.*)$", re.MULTILINE)
"""A marker as the preprocessor prints it."""
CONDITIONAL = {"if": 1, "ifdef": 1, "ifndef": 1, "endif": -1}
"""What opens and closes conditionals of the preprocessor."""


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A marker in the preprocessed text, with its counterpart in the user's, if that is clear."""

    kind: str
    clauses: str
    start: int
    end: int
    presumed: PresumedLocation
    marker: Marker | None


@dataclasses.dataclass(slots=True)
class Candidate:
    """A region on its way to be read; ``problem`` says why it cannot be."""

    index: int
    begin: Occurrence
    end: Occurrence | None
    location: Location
    end_location: Location
    span: Span
    body: Span
    chunk: int | None = None
    problem: Diagnostic | None = None


@dataclasses.dataclass(slots=True)
class _Open:
    """A region whose end has not been seen yet."""

    begin: Occurrence
    depth: int = 1
    inner: Occurrence | None = None


@dataclasses.dataclass(slots=True)
class RegionFinder:
    """Pairs markers; the result is ``candidates`` and ``diagnostics``."""

    user_text: SourceText
    lines: LineTable
    chunks: ChunkIndex
    candidates: list[Candidate] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)

    def find(self) -> None:
        """Go through the markers of the main file in order."""
        opened: _Open | None = None
        for occurrence in self._occurrences():
            if opened and self._chunk(occurrence) != self._chunk(opened.begin) and occurrence.kind == "scop":
                self._close(opened, None)
                opened = None
            if occurrence.kind == "scop":
                if opened is None:
                    opened = _Open(occurrence)
                else:
                    opened.depth += 1
                    opened.inner = opened.inner or occurrence
            elif opened is None:
                message = "'#pragma endscop' without a '#pragma scop' before it"
                self.diagnostics.append(_warning("stray-endscop", message, self._location(occurrence)))
            else:
                opened.depth -= 1
                if opened.depth == 0:
                    self._close(opened, occurrence)
                    opened = None
        if opened is not None:
            self._close(opened, None)
        self._reject_repeated()

    def _occurrences(self) -> Iterator[Occurrence]:
        used: set[Marker] = set()
        for match in MARKING.finditer(self.lines.text):
            presumed = self.lines.presumed_at(match.start())
            if not self.lines.is_main(presumed):
                continue
            marker = self._marker(match[1], presumed, used)
            if marker is not None:
                used.add(marker)
            yield Occurrence(match[1], match[2].strip(), match.start(), match.end(), presumed, marker)

    def _marker(self, kind: str, presumed: PresumedLocation, used: set[Marker]) -> Marker | None:
        """The marker in the user's text that the preprocessor printed at ``presumed``."""
        line = self.lines.physical_line(presumed)
        if line is None:
            return None
        written = [
            m for m in self.user_text.markers if m.kind == kind and m.first_line <= line <= m.last_line
        ]
        for marker in written:
            if marker not in used:
                return marker
        if written:
            return written[-1]
        return self.user_text.macro_marker(kind, line)

    def _chunk(self, occurrence: Occurrence) -> int | None:
        number = self.chunks.at(occurrence.start)
        return None if number is None or self.chunks.chunks[number].body is None else number

    def _location(self, occurrence: Occurrence) -> Location:
        if occurrence.marker is not None:
            written = self.lines.written(occurrence.marker.first_line)
            return Location(written.file, written.line, occurrence.marker.column)
        presumed = self.lines.user_location(occurrence.presumed)
        return Location(presumed.file, presumed.line)

    def _span(self, occurrence: Occurrence) -> Span:
        if occurrence.marker is not None:
            return occurrence.marker.span
        line = self.lines.physical_line(occurrence.presumed)
        return Span(0, 0) if line is None else self.user_text.line_span(line)

    def _close(self, opened: _Open, end: Occurrence | None) -> None:
        begin = opened.begin
        first, last = self._span(begin), self._span(end or begin)
        candidate = Candidate(
            index=len(self.candidates),
            begin=begin,
            end=end,
            location=self._location(begin),
            end_location=self._location(end or begin),
            span=Span(first.start, last.end),
            body=Span(first.end, last.start),
            chunk=self._chunk(begin),
        )
        candidate.problem = self._problem(candidate, opened.inner)
        self.candidates.append(candidate)

    def _problem(self, candidate: Candidate, inner: Occurrence | None) -> Diagnostic | None:
        """What is wrong with the markers of a region, the most telling problem first."""
        begin, end, here = candidate.begin, candidate.end, candidate.location
        if end is None:
            message = "'#pragma scop' without a matching '#pragma endscop' in the same function"
            return _warning("missing-endscop", message, here, "end the region with '#pragma endscop'")
        if inner is not None:
            message = "'#pragma scop' inside a region that is still open"
            return _warning(
                "nested-scop", message, self._location(inner), "regions do not nest; end the outer one first"
            )
        if candidate.chunk is None:
            message = "a region must be inside a function"
            return _warning("region-outside-function", message, here)
        if self._chunk(end) != candidate.chunk:
            message = "'#pragma endscop' is not in the function where the region begins"
            return _warning("unbalanced-region", message, candidate.end_location)
        for occurrence in (begin, end):
            if occurrence.marker is None:
                return self._unplaced(occurrence)
        if begin.marker == end.marker or candidate.body.start > candidate.body.end:
            message = "a macro that expands to a whole region cannot be rewritten"
            return _warning("macro-region", message, here, "write the pragmas around the macro's use")
        return self._straddling(candidate)

    def _unplaced(self, occurrence: Occurrence) -> Diagnostic:
        location = self._location(occurrence)
        if self.user_text.renumbered and self.lines.physical_line(occurrence.presumed) is None:
            message = "'#line' directives hide where this marker is in the file"
            return _warning(
                "line-directive", message, location, "remove the '#line' directives around the region"
            )
        message = f"the macro that expands to '#pragma {occurrence.kind}' must be alone on its line"
        return _warning("macro-region", message, location)

    def _straddling(self, candidate: Candidate) -> Diagnostic | None:
        """A diagnostic if a conditional directive has one leg inside the region and one outside."""
        depth = 0
        for directive in self.user_text.directives:
            if not candidate.body.start <= directive.start < candidate.body.end:
                continue
            depth += CONDITIONAL.get(directive.name, 0)
            crossing = depth < 0 or (depth == 0 and directive.name.startswith(("el",)))
            if crossing:
                return self._crossing(Location(self.lines.path, directive.line))
        return self._crossing(candidate.location) if depth else None

    @staticmethod
    def _crossing(location: Location) -> Diagnostic:
        message = "a preprocessor conditional begins inside the region and ends outside, or the reverse"
        return _warning("unbalanced-conditional", message, location)

    def _reject_repeated(self) -> None:
        """Reject regions whose text is compiled more than once (a file that includes itself)."""
        by_span: dict[Span, list[Candidate]] = {}
        for candidate in self.candidates:
            by_span.setdefault(candidate.span, []).append(candidate)
        for span, same in by_span.items():
            if len(same) > 1 and span.end > span.start:
                message = "the region is compiled more than once because the file includes itself"
                first, hint = same[0], "remove the '#line' directives of the file"
                first.problem = first.problem or _warning("repeated-region", message, first.location, hint)
                for other in same[1:]:
                    self.candidates.remove(other)
        for index, candidate in enumerate(self.candidates):
            candidate.index = index


def _warning(code: str, message: str, location: Location, hint: str = "") -> Diagnostic:
    return Diagnostic(Severity.WARNING, code, message, location, hint)
