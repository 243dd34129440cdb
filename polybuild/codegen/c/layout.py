"""Generated lines as a person would lay them out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import Enum, auto
from itertools import groupby
from typing import Self

WIDTH = 114
"""Columns of generated lines, before a region's own indent, where nothing needs more."""

_LONGEST = 150  # what is longer is parted

_CONTINUED = " " * 4
# Lines are best broken after commas, the fewer parentheses are open the better; this ranks other places.
_AFTER_ASSIGNMENT, _BEFORE_OPERATOR = 1.2, 0.5


class Role(Enum):
    """What a line is among the others: only statements and blocks may be a body without braces."""

    OTHER = auto()
    """A declaration, a directive, or a part of something."""
    SILENT = auto()
    """It runs nothing: a comment, or a declaration without a value."""
    STATEMENT = auto()
    """A whole statement, not compound, without declarations or conditions."""
    LOOP = auto()
    """The head of a loop, and the start of its body."""
    CONDITION = auto()
    """The head of a condition, and the start of what runs if it holds."""
    BARE = auto()
    """The head of a loop or a condition whose body has no braces."""
    OPENING = auto()
    """The start of another block."""
    BETWEEN = auto()
    """The end of a block, and the start of that which runs otherwise."""
    OTHERWISE_IF = auto()
    """The same with a condition."""
    CLOSING = auto()
    """The end of a block."""


class CodeLine(str):  # noqa: SLOT000 - it has attributes
    """A line of generated code with what its layout depends on.

    ``source`` is the line of the user's that it belongs to, 0 if that is the one of what stands beside it.
    Statements of the same ``row`` stand side by side where they fit; what is ``verbatim``, as all that
    has the user's own text in it, is never wrapped. The ``head`` is what remains of an opening line
    where the block needs no braces, empty if it always has them. A ``directed`` line has a directive.
    """

    source: int
    row: int | None
    verbatim: bool
    role: Role
    head: str
    directed: bool

    def __new__(
        cls,
        text: str,
        source: int = 0,
        *,
        row: int | None = None,
        verbatim: bool = False,
        role: Role = Role.OTHER,
        head: str = "",
        directed: bool = False,
    ) -> Self:
        """A line with ``text``, its indent included."""
        line = super().__new__(cls, text)
        line.source = source
        line.row = row
        line.verbatim = verbatim
        line.role = role
        line.head = head
        line.directed = directed
        return line


def opening(text: str) -> CodeLine:
    """The start of a block, which ``text`` is with its brace, that has braces whatever is in it."""
    return CodeLine(text, role=Role.OPENING)


def loop(head: str, source: int = 0, *, verbatim: bool = False, directed: bool = False) -> CodeLine:
    """The ``head`` of a loop, which stems from line ``source``, and the start of its body."""
    return CodeLine(f"{head} {{", source, role=Role.LOOP, verbatim=verbatim, head=head, directed=directed)


def condition(head: str, source: int = 0, *, verbatim: bool = False) -> CodeLine:
    """The ``head`` of a condition of line ``source``, and the start of what runs if it holds."""
    return CodeLine(f"{head} {{", source, role=Role.CONDITION, verbatim=verbatim, head=head)


def between(indent: str) -> CodeLine:
    """The end of what runs if a condition holds, and the start of what runs otherwise."""
    return CodeLine(f"{indent}}} else {{", role=Role.BETWEEN)


def closing(indent: str) -> CodeLine:
    """The end of a block."""
    return CodeLine(f"{indent}}}", role=Role.CLOSING)


_OPENINGS = frozenset({Role.LOOP, Role.CONDITION, Role.OPENING})


def role_of(line: str) -> Role:
    """What ``line`` is among the others."""
    return line.role if isinstance(line, CodeLine) else Role.OTHER


def laid_out(lines: Iterable[str]) -> list[CodeLine]:
    """``lines`` without needless braces, those of a row side by side, long ones on several lines."""
    return [_parted(line) for line in _joined(without_needless_braces(lines))]


def _parted(line: str) -> CodeLine:
    """``line``, with line ends in it if it is long; it stays one, as one loop that it is the head of."""
    directed = isinstance(line, CodeLine) and line.directed
    return _like(line, "\n".join(wrapped(line, WIDTH if directed else _LONGEST)))


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
            return [_like(head, head.head, role=Role.BARE), *self.lines]
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


def side_by_side(lines: Iterable[str], source: int) -> list[str]:
    """``lines``, which belong to line ``source``, side by side as far as they fit."""
    return list(_joined(CodeLine(line, source, row=0) for line in lines))


def indented(lines: Iterable[str], indent: str) -> list[CodeLine]:
    """``lines`` further in."""
    moved = [_like(line, f"{indent}{line}") for line in lines]
    for each in moved:
        each.head = each.head and f"{indent}{each.head}"
    return moved


def belonging(lines: Iterable[str], source: int) -> list[CodeLine]:
    """``lines``, those that belong to no line of the user's yet to line ``source``."""
    return [
        _like(line, line) if isinstance(line, CodeLine) and line.source else _like(line, line, source)
        for line in lines
    ]


def _like(line: str, text: str, source: int = 0, *, role: Role | None = None) -> CodeLine:
    """``text`` with all that is known of ``line``, but for a ``source`` and a ``role`` that are given."""
    if not isinstance(line, CodeLine):
        return CodeLine(text, source, role=role or Role.OTHER)
    return CodeLine(
        text,
        source or line.source,
        row=line.row,
        verbatim=line.verbatim,
        role=role or line.role,
        head=line.head,
        directed=line.directed,
    )


def _joined(lines: Iterable[str]) -> Iterator[str]:
    """``lines``, those of a row that belong to one line of the user's side by side as far as they fit."""
    for key, group in groupby(lines, key=_row_of):
        before, *others = group
        for line in others:
            more = f" {line.lstrip()}"
            if key is not None and len(before) + len(more) <= WIDTH:
                before = _like(before, f"{before}{more}")
            else:
                yield before
                before = line
        yield before


def _row_of(line: str) -> tuple[int, int] | None:
    """What the lines of a row have in common, None for a line that is in none."""
    return (line.source, line.row) if isinstance(line, CodeLine) and line.row is not None else None


def wrapped(line: str, width: int, *, continued: bool = False) -> list[str]:
    """``line`` on several lines if it is longer than ``width``, broken where the fewest parentheses are open.

    What is ``continued`` is the rest of a line, and indented already.
    """
    if len(line) <= width or (isinstance(line, CodeLine) and line.verbatim):
        return [line]
    indent = len(line) - len(line.lstrip())
    depth = 0
    breaks: list[tuple[float, int]] = []
    for position, letter in enumerate(line[:width]):
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
    first, rest = _like(line, line[:best]), _like(line, inner + line[best + 1 :])
    return [first, *wrapped(rest, width, continued=True)]
