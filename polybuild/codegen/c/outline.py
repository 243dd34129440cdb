"""The loops and statements of generated code, as told of in reports."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from polybuild.poly.marks import Mark
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class Line:
    """A loop or a statement of the generated code, with ``depth`` loops around it.

    A loop runs through schedule dimension ``dimension`` with ``counter``; ``mark`` is the
    one whose directive stands before it, if there is one. ``statement`` is empty for a loop. It is one that
    copies what it needs of ``packed`` to a buffer, unless that is empty.
    """

    depth: int
    counter: str = ""
    dimension: int = -1
    mark: Mark | None = None
    statement: str = ""
    packed: tuple[str, ...] = ()


class Outline:
    """The loops and statements written so far, and how deep the code at hand is."""

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self._depth = 0
        self.repeated = False

    @contextmanager
    def repeating(self, *, often: bool) -> Iterator[None]:
        """What is written under this is ``repeated`` by a loop that runs it often."""
        around, self.repeated = self.repeated, self.repeated or often
        yield
        self.repeated = around

    def enter(self, counter: str, identifier: str, mark: Mark | None) -> None:
        """Begin the loop of ``counter``, which isl calls ``identifier``: "c" and a schedule dimension."""
        self.lines.append(Line(self._depth, counter, int(identifier[1:]), mark))
        self._depth += 1

    def leave(self) -> None:
        """End the innermost loop."""
        self._depth -= 1

    def statement(self, name: str, *, once: bool = False, packed: tuple[str, ...] = ()) -> None:
        """A statement, or a copy of the arrays ``packed``.

        With ``once`` it counts once where it stands several times in a row.
        """
        line = Line(self._depth, statement=name, packed=packed)
        if not once or self.lines[-1:] != [line]:
            self.lines.append(line)
