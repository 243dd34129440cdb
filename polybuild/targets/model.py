"""What a target says of the loops it chose."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LoopLine:
    """A line of C to put before one loop: the loop of schedule dimension ``depth`` under a mark.

    Where that loop has a single iteration, isl leaves it out, and the line goes with it.
    """

    text: str
    depth: int
