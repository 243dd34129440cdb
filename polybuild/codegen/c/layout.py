"""Generated lines as a person would lay them out, each with its line in the user's file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import Enum, auto
from itertools import groupby
from typing import Self

from polybuild.codegen.file.names import quoted

WIDTH = 114
"""Columns of generated lines, before a region's own indent, where nothing needs more."""

_CONTINUED = " " * 4
# Lines are best broken after commas, the fewer parentheses are open the better; this ranks other places.
_AFTER_ASSIGNMENT, _BEFORE_OPERATOR = 1.2, 0.5


class Role(Enum):
    """What a line is among the others: only statements and blocks may be a body without braces."""

    OTHER = auto()
    """A declaration, a directive, a comment, or a part of something."""
    STATEMENT = auto()
    """A whole statement, not compound, without declarations or conditions."""
    LOOP = auto()
    """The head of a loop, and the start of its body."""
    CONDITION = auto()
    """The head of a condition, and the start of what runs if it holds."""
    OPENING = auto()
    """The start of another block."""
    BETWEEN = auto()
    """The end of a block, and the start of that which runs otherwise."""
    CLOSING = auto()
    """The end of a block."""


class CodeLine(str):  # noqa: SLOT000 - it has attributes
    """A line of generated code with what its layout depends on.

    ``source`` is the line of the user's statement that it is, 0 for control of loops and the like.
    Statements of the same ``row`` stand side by side where they fit; what is ``verbatim``, as all that
    has the user's own text in it, is never wrapped. The ``head`` is what remains of an opening line
    where the block needs no braces, empty if it always has them.
    """

    source: int
    row: int | None
    verbatim: bool
    role: Role
    head: str

    def __new__(
        cls,
        text: str,
        source: int = 0,
        *,
        row: int | None = None,
        verbatim: bool = False,
        role: Role = Role.OTHER,
        head: str = "",
    ) -> Self:
        """A line with ``text``, its indent included."""
        line = super().__new__(cls, text)
        line.source = source
        line.row = row
        line.verbatim = verbatim or source > 0
        line.role = role
        line.head = head
        return line


def opening(text: str) -> CodeLine:
    """The start of a block, which ``text`` is with its brace, that has braces whatever is in it."""
    return CodeLine(text, role=Role.OPENING)


def loop(head: str, *, verbatim: bool = False) -> CodeLine:
    """The ``head`` of a loop, and the start of its body."""
    return CodeLine(f"{head} {{", role=Role.LOOP, verbatim=verbatim, head=head)


def condition(head: str) -> CodeLine:
    """The ``head`` of a condition, and the start of what runs if it holds."""
    return CodeLine(f"{head} {{", role=Role.CONDITION, head=head)


def closing(indent: str) -> CodeLine:
    """The end of a block."""
    return CodeLine(f"{indent}}}", role=Role.CLOSING)


_OPENINGS = frozenset({Role.LOOP, Role.CONDITION, Role.OPENING})


def role_of(line: str) -> Role:
    """What ``line`` is among the others."""
    return line.role if isinstance(line, CodeLine) else Role.OTHER


def laid_out(lines: Iterable[str], file: str, begin: int) -> list[str]:
    """``lines`` with ``#line`` directives: one before each line of the user's statements in ``file``.

    There are none if ``file`` is empty. What runs after such a line counts on from line ``begin``, that of
    the region. Long lines are wrapped.
    """
    found: list[str] = []
    elsewhere = False  # whether lines count on from a statement's
    for source, run in groupby(without_needless_braces(lines), key=_source_of):
        for line in _joined(run):
            runs = role_of(line) is not Role.CLOSING
            if file and runs and (source or elsewhere):
                found.append(f"#line {source or begin} {quoted(file)}")
                elsewhere = source > 0
            found += wrapped(line)
    return found


class _OpenBlock:
    """A block up to the line at hand, which begins with ``head``.

    It consists of ``units``: lines that end no block, and whole blocks. The last one may be a body
    ``alone`` if it is a statement or a loop; an ``else`` would be taken for that of a condition.
    """

    def __init__(self, head: str) -> None:
        self._head = head
        self.lines: list[str] = []
        self._units = 0
        self._alone = False

    def add(self, lines: Sequence[str], *, alone: bool) -> None:
        """Add a unit."""
        self.lines += lines
        self._units += 1
        self._alone = alone

    def closed(self, end: str) -> list[str]:
        """The whole block, whose last line is ``end``: with its braces if it needs them."""
        head = self._head
        if isinstance(head, CodeLine) and head.head and self._units == 1 and self._alone:
            return [CodeLine(head.head, verbatim=head.verbatim), *self.lines]
        return [head, *self.lines, end]


def without_needless_braces(lines: Iterable[str]) -> list[str]:
    """``lines`` with no braces around the body of a loop or condition that is one statement or one loop."""
    blocks = [(_OpenBlock(""), False)]
    for line in lines:
        role = role_of(line)
        if role in _OPENINGS:
            blocks.append((_OpenBlock(line), role is Role.LOOP))
        elif role is Role.CLOSING:
            block, alone = blocks.pop()
            blocks[-1][0].add(block.closed(line), alone=alone)
        else:
            blocks[-1][0].add([line], alone=role is Role.STATEMENT)
    return blocks[0][0].lines


def _source_of(line: str) -> int:
    return line.source if isinstance(line, CodeLine) else 0


def _joined(lines: Iterable[str]) -> Iterator[str]:
    """``lines``, those of a row side by side as far as they fit."""
    for row, group in groupby(lines, key=lambda line: line.row if isinstance(line, CodeLine) else None):
        before, *others = group
        for line in others:
            more = f" {line.lstrip()}"
            if row is not None and len(before) + len(more) <= WIDTH:
                before = CodeLine(f"{before}{more}", verbatim=True)
            else:
                yield before
                before = line
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
