"""What the instructions of devices are like that need the threads of a warp together."""

from __future__ import annotations

from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class CopyStages:
    """How tiles come to shared memory while others are used: there are ``count`` places for each.

    ``asynchronous`` copies go there on their own, and threads wait for them when all of them are needed;
    devices have such from a compute ``capability`` on, and it pays if each is of as many bytes as the
    ``narrowest`` one. Others wait in registers.
    """

    count: int = 2
    asynchronous: bool = False
    narrowest: int = 8
    capability: int = 80


@dataclass(frozen=True, slots=True)
class MatrixInstruction:
    """One that adds products of doubles: 8 by 8 results, each with 4 more ``terms`` (PTX, ``mma.m8n8k4``).

    The threads of a warp lie along the rows and the columns of the result as ``warp`` says, each with
    ``run`` results side by side. There are so many threads in ``blocks``, and ``points`` of each, along rows
    and columns of a tile; a block copies ``steps`` terms at once. So many of the instructions along them are
    ``unrolled`` that no register spills. Devices have it from a compute ``capability`` on.
    """

    warp: tuple[int, int] = (8, 4)
    run: int = 2
    terms: int = 4
    unrolled: int = 2
    blocks: tuple[tuple[int, int], ...] = ((16, 16),)
    points: tuple[tuple[int, int], ...] = ((4, 4),)
    steps: tuple[int, ...] = (16, 8)
    capability: int = 80

    def row_of(self, size: int) -> int:
        """The elements from a row of an operand in shared memory to the next one, at least ``size``.

        Threads read ``terms`` neighbours of as many rows at once: with rows of an odd multiple of them
        these are all in banks of their own.
        """
        return size + (self.terms - size) % (2 * self.terms)
