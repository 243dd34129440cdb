"""What holds in the lanes of a vector where a statement is being printed."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import field, replace

from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class LaneLoopState:
    """The innermost loop around that lanes leave one by one: those in the mask ``alive`` have not yet.

    ``outside`` are the variables of the statement that were declared before it. It is ``first`` if no such
    loop is around it. A ``break`` takes lanes out of the masks ``left``, a ``continue`` out of ``skipped``.
    """

    alive: str
    outside: frozenset[str]
    first: bool
    left: tuple[str, ...]
    skipped: tuple[str, ...]


@dataclasses.dataclass(slots=True)
class LaneState:
    """What holds in the lanes of a vector: ``mask`` has those that compute what is being printed.

    All of them do if it is empty. ``own`` are the vectors that variables of the statement itself are.
    """

    mask: str = ""
    own: Mapping[str, str] = field(default_factory=dict)
    loop: LaneLoopState | None = None

    def within(self, mask: str) -> None:
        """Go into a branch that the lanes of ``mask`` take."""
        self.mask = mask
        if self.loop is not None:
            left, skipped = (*self.loop.left, mask), (*self.loop.skipped, mask)
            self.loop = replace(self.loop, left=left, skipped=skipped)

    def enter(self, alive: str) -> None:
        """Go into a loop that the lanes ``alive`` are in."""
        self.mask = alive
        self.loop = LaneLoopState(alive, frozenset(self.own), self.loop is None, (alive,), (alive,))

    def with_lanes(self, here: str) -> None:
        """Go on in the loop with the lanes ``here``, or all that are left in it."""
        assert self.loop is not None  # noqa: S101 - a loop is being printed
        left = (self.loop.alive,) if here == self.loop.alive else (self.loop.alive, here)
        self.mask = here
        self.loop = replace(self.loop, left=left, skipped=(here,))
