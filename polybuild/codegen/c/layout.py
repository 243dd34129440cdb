"""Generated lines as a person would lay them out, each with its line in the user's file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Self

from polybuild.codegen.file.names import quoted

WIDTH = 104
"""Columns of generated lines, before a region's own indent, where nothing needs more."""

_CONTINUED = " " * 4
# Lines are best broken after commas, the fewer parentheses are open the better; this ranks other places.
_AFTER_ASSIGNMENT, _BEFORE_OPERATOR = 1.2, 0.5


class CodeLine(str):  # noqa: SLOT000 - it has attributes
    """A line of generated code with what its layout depends on.

    ``source`` is the line of the user's statement that it is, 0 for control of loops and the like.
    Statements that are ``joined`` stand side by side where they fit; what is ``verbatim``, as all that
    has the user's own text in it, is never wrapped. Nothing runs in a line that is ``closing`` a block.
    """

    source: int
    joined: bool
    verbatim: bool
    closing: bool

    def __new__(
        cls,
        text: str,
        source: int = 0,
        *,
        joined: bool = False,
        verbatim: bool = False,
        closing: bool = False,
    ) -> Self:
        """A line with ``text``, its indent included."""
        line = super().__new__(cls, text)
        line.source = source
        line.joined = joined
        line.verbatim = verbatim or source > 0
        line.closing = closing
        return line


def closing(indent: str) -> CodeLine:
    """The end of a block."""
    return CodeLine(f"{indent}}}", closing=True)


def laid_out(lines: Sequence[str], file: str, begin: int) -> list[str]:
    """``lines`` with ``#line`` directives: one before each run of statements from one line of ``file``.

    There are none if ``file`` is empty. What runs after such a run counts on from line ``begin``, that of
    the region. Long lines are wrapped.
    """
    found: list[str] = []
    elsewhere = False  # whether lines count on from a statement's
    for source, run in groupby(lines, key=_source_of):
        if file and source:
            found.append(f"#line {source} {quoted(file)}")
            elsewhere = True
        for line in _joined(run):
            if elsewhere and not source and not _closes(line):
                found.append(f"#line {begin} {quoted(file)}")
                elsewhere = False
            found += wrapped(line)
    return found


def _closes(line: str) -> bool:
    return isinstance(line, CodeLine) and line.closing


def _source_of(line: str) -> int:
    return line.source if isinstance(line, CodeLine) else 0


def _joined(lines: Iterator[str]) -> Iterator[str]:
    """``lines``, those that may be joined side by side as far as they fit."""
    before = ""
    for line in lines:
        joins = isinstance(line, CodeLine) and line.joined
        if before and joins and len(before) + len(line.lstrip()) < WIDTH:
            before = CodeLine(f"{before} {line.lstrip()}", verbatim=True)
            continue
        if before:
            yield before
        before = line if joins else ""
        if not joins:
            yield line
    if before:
        yield before


def wrapped(line: str, *, continued: bool = False) -> list[str]:
    """``line`` on several lines if it is long, broken where the fewest parentheses are open.

    What is ``continued`` is the rest of a line, and indented already.
    """
    if len(line) <= WIDTH or (isinstance(line, CodeLine) and line.verbatim):
        return [line]
    indent = len(line) - len(line.lstrip())
    depth = 0
    breaks: list[tuple[float, int]] = []
    for position, letter in enumerate(line[:WIDTH]):
        depth += (letter in "([") - (letter in ")]")
        if letter == " " and position > indent:
            before, after = line[position - 1], line[position + 1]
            if before in ",;":
                breaks.append((depth, -position))
            elif before == "=":
                breaks.append((_AFTER_ASSIGNMENT, -position))
            elif after in "&|?:+-":
                breaks.append((depth + _BEFORE_OPERATOR, -position))
    if not breaks:
        return [line]
    best = -min(breaks)[1]
    inner = " " * indent + ("" if continued else _CONTINUED)
    return [line[:best], *wrapped(inner + line[best + 1 :], continued=True)]
