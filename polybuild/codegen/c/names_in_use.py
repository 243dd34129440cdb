"""What the generated code of a region mentions, recorded while it is printed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import field

from polybuild.codegen.file.prologue import Helper
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class NamesInUse:
    """What the text printed so far mentions, and so has to be declared before it.

    ``variables`` are the names of parameters and counters, ``in_directives`` those that directives mention,
    which a compiler may skip; ``helpers`` is what the text needs from the prologue.
    """

    variables: set[str] = field(default_factory=set)
    in_directives: set[str] = field(default_factory=set)
    helpers: set[Helper] = field(default_factory=set)

    def of_directives(self) -> NamesInUse:
        """What to record the text of directives in."""
        return NamesInUse(self.in_directives, self.in_directives, self.helpers)

    @contextmanager
    def mentioned(self) -> Iterator[set[str]]:
        """Record in a set of their own, too, the variables that the text printed meanwhile mentions."""
        before, own = frozenset(self.variables), set[str]()
        self.variables.clear()
        yield own
        own.update(self.variables)
        self.variables.update(before)

    def include(self, other: NamesInUse) -> None:
        """Record what ``other`` text mentions, which is written, too."""
        self.variables.update(other.variables)
        self.in_directives.update(other.in_directives)
        self.helpers.update(other.helpers)
