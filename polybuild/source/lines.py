"""Which file and line of the user an offset into preprocessed text comes from."""

from __future__ import annotations

from collections.abc import Iterator

from polybuild.patterns import pattern
from polybuild.source.markers import SourceText, unescape
from polybuild.values import dataclass

_LINE_MARKER = pattern(r'#[ \t]*(?:line[ \t]+)?(\d+)(?:[ \t]+"((?:[^"\\]|\\.)*)")?')


@dataclass(frozen=True, slots=True)
class PresumedLocation:
    """A presumed file and line, as the compiler would print them."""

    file: str
    line: int


class LineTable:
    """Presumed locations in a preprocessed text, and their physical lines in the main file."""

    def __init__(self, text: str, user_text: SourceText, path: str) -> None:
        """``user_text`` is that of the main file, whose name in diagnostics is ``path``."""
        first = _LINE_MARKER.match(text)
        self.text = text
        self.path = path
        self.main = unescape(first[2]) if first and first[2] is not None else path
        self._user_text = user_text
        self._main_files = user_text.presumed_files() - {path} | {self.main}

    def presumed_at(self, offset: int) -> PresumedLocation:
        """The presumed location of ``text[offset]``."""
        start = offset
        while (start := self.text.rfind("\n#", 0, start)) >= 0:
            match = _LINE_MARKER.match(self.text, start + 1)
            if match and match[2] is not None:
                after = self.text.find("\n", match.end()) + 1
                return PresumedLocation(
                    unescape(match[2]), int(match[1]) + self.text.count("\n", after, offset)
                )
        if match := _LINE_MARKER.match(self.text):
            after = self.text.find("\n", match.end()) + 1
            return PresumedLocation(self.main, int(match[1]) + self.text.count("\n", after, offset))
        return PresumedLocation(self.main, 1 + self.text.count("\n", 0, offset))

    def is_main(self, presumed: PresumedLocation) -> bool:
        """Whether ``presumed`` may be in the file the user compiles, not in one it includes."""
        return presumed.file in self._main_files

    def physical_line(self, presumed: PresumedLocation) -> int | None:
        """The line of the main file at ``presumed``, None if unknown or elsewhere."""
        if not self._user_text.renumbered:
            inside = presumed.file == self.main and 1 <= presumed.line <= self._user_text.line_count
            return presumed.line if inside else None
        return self._user_text.physical_line(
            self.path if presumed.file == self.main else presumed.file, presumed.line
        )

    def user_location(self, presumed: PresumedLocation) -> PresumedLocation:
        """``presumed`` with the main file's own name and line where they are known."""
        if self._user_text.expanded:
            file = self._user_text.names.get(presumed.file, presumed.file)
            return PresumedLocation(self.path if file == self.main else file, presumed.line)
        line = self.physical_line(presumed)
        return presumed if line is None else PresumedLocation(self.path, line)

    def written(self, line: int) -> PresumedLocation:
        """The user's file and line for a physical line of the main text."""
        return (
            PresumedLocation(*self._user_text.presumed(line))
            if self._user_text.expanded
            else PresumedLocation(self.path, line)
        )

    def lines(self, start: int, end: int) -> Iterator[tuple[int, str, PresumedLocation]]:
        """(offset, text, presumed location) of each line of ``text[start:end]`` that is not a line marker."""
        presumed = self.presumed_at(start)
        file, number = presumed.file, presumed.line
        offset = start
        for line in self.text[start:end].split("\n"):
            here, offset = offset, offset + len(line) + 1
            marker = _LINE_MARKER.match(line)
            if marker:
                number = int(marker[1])
                file = unescape(marker[2]) if marker[2] is not None else file
                continue
            yield here, line, PresumedLocation(file, number)
            number += 1
