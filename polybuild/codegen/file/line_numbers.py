"""Lines of the user's for generated ones: ``#line`` directives, as few as there can be.

Each generated line belongs to a line of the region, for debuggers, profilers and coverage: a statement to
its own, the head of a loop to the loop that it stems from, and what prepares something to what it prepares.
A compiler counts on from a directive; what it finds in the argument of a macro is on the line of the
macro's name, so several lines that belong to one are made its argument.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from polybuild.codegen.c.layout import CodeLine, Role, role_of
from polybuild.codegen.file.names import quoted
from polybuild.source.model import Region

ONE_LINE = "POLYBUILD_LINE"
"""The macro whose argument is all on one line."""

_ENDS = frozenset({Role.BETWEEN, Role.OTHERWISE_IF, Role.CLOSING})
_SILENT = frozenset({Role.SILENT, Role.OPENING})  # they run nothing; clang counts ends of blocks as code
_HEADS = frozenset({Role.LOOP, Role.CONDITION, Role.OPENING})
_DEPTHS = {**dict.fromkeys(_HEADS, 1), Role.CLOSING: -1}
_FEW = 2  # lines that are worth no macro


class UserText(str):
    """Text of the user's among generated lines; ``line`` is that of its start."""

    __slots__ = ("line",)

    line: int

    def __new__(cls, text: str, line: int) -> Self:
        """The ``text`` that starts on ``line``."""
        found = super().__new__(cls, text)
        found.line = line
        return found


def on_one_line(lines: Sequence[str]) -> str:
    """The expression of ``lines``, all of it on the first one."""
    text = "\n".join(lines)
    return f"{ONE_LINE}({text})" if len(lines) > 1 else text


def numbered(lines: Sequence[str], region: Region, *, after: int) -> str:
    """The lines of the ``region``'s replacement, which takes its place, with directives between.

    Each of them ends in a line end. What follows them is line ``after``. The text may need ``ONE_LINE``.
    """
    writer = _Writer(region)
    sources = _sources(lines, region)
    position = 0
    while position < len(lines):
        end = _run(lines, sources, position)
        writer.add(lines[position:end], sources[position])
        position = end
    return writer.text(after)


class _Writer:
    """Collects the text of a region's replacement, and counts as a compiler does."""

    def __init__(self, region: Region) -> None:
        self._name = quoted(region.begin.file)
        self._here = region.begin.line
        self._in_file = True
        self._pieces: list[str] = []

    def add(self, lines: Sequence[str], source: int) -> None:
        """Add one line, or several that all belong to ``source``, if that is not 0."""
        line = lines[0]
        if isinstance(line, UserText):
            self._pieces.append(f"#line {line.line} {self._name}\n{line}\n")
            self._here = line.line + line.count("\n") + 1
            self._in_file = not any(each.lstrip().startswith("#") for each in line.split("\n"))
            return
        if source and not (self._in_file and self._here == source):
            self._pieces.append(f"#line {source}\n" if self._in_file else f"#line {source} {self._name}\n")
            self._here, self._in_file = source, True
        indent = line[: len(line) - len(line.lstrip())]
        if role_of(line) is Role.CLOSING:
            lines = [indent + " ".join(each.lstrip() for each in lines)]
        elif len(lines) > 1 or (isinstance(line, CodeLine) and "\n" in line.strip() and not line.directed):
            *others, end = lines
            lines = [f"{indent}{ONE_LINE}(", *others, f"{end})"]
        for each in lines:
            self._pieces.append(f"{each}\n")
            self._here += 1 + each.count("\n")

    def text(self, after: int) -> str:
        """All of it; what follows is line ``after``."""
        return "".join([*self._pieces, f"#line {after} {self._name}\n"])


def _sources(lines: Sequence[str], region: Region) -> list[int]:
    """The line of the region that each of ``lines`` belongs to, 0 for those that run nothing.

    A plain string belongs to the region's first line. A ``CodeLine`` without a line belongs to that of what
    stands after it in its block, else to that of what stands before it; the end of a block to its head's.
    """
    first, last = region.begin.line, region.end.line
    given = (line.source if isinstance(line, CodeLine) else first for line in lines)
    found = [each if first <= each <= last else 0 for each in given]  # inlined functions are elsewhere
    following = 0
    for position, line in reversed(list(enumerate(lines))):
        if role_of(line) not in {Role.BETWEEN, Role.CLOSING}:
            following = found[position] = found[position] or following
        if role_of(line) in _ENDS or isinstance(line, UserText):
            following = 0
    before, heads = first, list[int]()
    for position, line in enumerate(lines):
        if isinstance(line, UserText):
            before, heads, found[position] = last, [], 0
            continue
        role = role_of(line)
        if role is Role.CLOSING and heads:
            found[position] = found[position] or heads.pop()
        elif role is Role.BETWEEN and heads:
            found[position] = heads[-1]
        before = found[position] = found[position] or before
        if role in _HEADS:
            heads.append(before)
        if role in _SILENT:
            found[position] = 0
    return found


def _run(lines: Sequence[str], sources: Sequence[int], start: int) -> int:
    """The end of the lines from ``start`` on that are written as one, all of one source.

    Those are ends of blocks, or a few lines that are whole blocks without directives and text of the user's.
    """
    if role_of(lines[start]) is Role.CLOSING:
        others = range(start + 1, len(lines))
        return next((each for each in others if role_of(lines[each]) is not Role.CLOSING), len(lines))
    end, depth, speaking = start + 1, 0, 0
    for position in range(start, len(lines)):
        line, source = lines[position], sources[position]
        if source not in {0, sources[start]} or not isinstance(line, CodeLine):
            break
        if line.directed or line.verbatim:  # messages about a macro's argument have the line it stands on
            break
        depth += _DEPTHS.get(line.role, 0)
        if depth < 0 or (depth == 0 and line.role in {Role.BETWEEN, Role.OTHERWISE_IF}):
            break
        speaking += source > 0
        if depth == 0 and speaking > _FEW and source and line.role is not Role.BARE:
            end = position + 1
    return end if sources[start] else start + 1
