"""What a target says of the loops it chose."""

from __future__ import annotations

from dataclasses import dataclass

import islpy as isl


@dataclass(frozen=True, slots=True)
class LoopLine:
    """A line of C to put before one loop: the loop of schedule dimension ``depth`` under a mark.

    Where that loop has a single iteration, isl leaves it out, and the line goes with it.
    Where ``work`` is given (trip counts, per statement), the directive in ``text`` gets an
    ``if`` clause: the sum of their products must reach ``least_work``. ``private`` names the
    arrays of which each iteration has a copy.
    """

    text: str
    depth: int
    work: tuple[tuple[isl.PwAff, ...], ...] = ()
    least_work: int = 0
    private: tuple[str, ...] = ()
