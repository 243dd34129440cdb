"""Steps that read the border of the other one of two grids: they read the main one, where no step writes.

::

    for i in 1 .. n - 2:                              a[1] = f(a[0], b[1], b[2])
      a[i] = f(b[i - 1], b[i], b[i + 1])     ->       for i in 2 .. n - 3:
                                                        a[i] = f(b[i - 1], b[i], b[i + 1])
                                                      a[n - 2] = f(b[n - 3], b[n - 2], a[n - 1])

``b[0]`` and ``b[n - 1]`` may not exist, or be somebody else's (index-set splitting: M. Griebl, P. Feautrier,
C. Lengauer, "Index Set Splitting", 2000).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import islpy as isl

from polybuild.effort import BORDER_PARTS
from polybuild.scop.duplicates import copied, order_of_copies
from polybuild.scop.model import AccessKind, Scop, Statement
from polybuild.storage.copied_grids import CopiedGrid
from polybuild.values import dataclass

Parts = Sequence[tuple[Statement, Statement]]
"""Statements, and what became of them."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """Instances of a statement whose accesses with these ``numbers`` are of the border."""

    domain: isl.Set
    numbers: tuple[int, ...] = ()


def read_main_borders(
    scop: Scop, parts: Parts, pair: CopiedGrid, there: isl.Set, names: Iterator[str]
) -> tuple[Scop, Parts] | None:
    """``scop`` with the ``parts`` that read elements of the scratch grid of ``pair`` which are not ``there``.

    Those reads become ones of the main grid, in pieces with new ``names``; None where pieces are many.
    """
    new: list[tuple[Statement, Statement]] = []
    originals: dict[str, str] = {}
    for one, part in parts:
        pieces = _pieces(part, pair, there, scop.context)
        if len(pieces) > BORDER_PARTS:
            return None
        if not any(each.numbers for each in pieces):
            new.append((one, part))
            continue
        for each in pieces:
            piece = _on_main(copied(part, next(names), each.domain), each.numbers, pair)
            originals[piece.name] = part.name
            new.append((one, piece))
    before = {part.name for _, part in parts}
    statements = [each for each in scop.statements if each.name not in before]
    statements += [part for _, part in new]
    order = order_of_copies(scop, statements, originals)
    return replace(scop, statements=tuple(statements), schedule=order), new


def _pieces(part: Statement, pair: CopiedGrid, there: isl.Set, context: isl.Set) -> list[_Piece]:
    """The instances of ``part`` by which of its reads are of elements that are not ``there``."""
    pieces = [_Piece(part.domain)]
    for number, access in enumerate(part.accesses):
        if access.array.name == pair.scratch.name and access.kind is AccessKind.READ:
            safe = access.relation.intersect_range(there).domain()
            inside = [replace(each, domain=each.domain.intersect(safe).coalesce()) for each in pieces]
            beside = [
                _Piece(each.domain.subtract(safe).coalesce(), (*each.numbers, number)) for each in pieces
            ]
            pieces = [
                each for each in (*inside, *beside) if not each.domain.intersect_params(context).is_empty()
            ]
    return pieces


def _on_main(piece: Statement, numbers: Sequence[int], pair: CopiedGrid) -> Statement:
    """``piece`` with its accesses of ``numbers`` on the main grid of ``pair``."""
    accesses = (
        pair.on(pair.main, each) if number in numbers else each for number, each in enumerate(piece.accesses)
    )
    return replace(piece, accesses=tuple(accesses), border=piece.border or bool(numbers))
