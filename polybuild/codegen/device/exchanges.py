"""Parts of a reduction that the threads along x have: how they begin, and how they are combined.

Threads side by side exchange what they have, in halves of 16 lanes, of 8, and so on: where the language has
it, from register to register, else through memory that the block shares. Both combine the same pairs.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping

from polybuild.c.types import FloatingType
from polybuild.targets.device import ThreadTile, Tile
from polybuild.targets.languages import KernelLanguage

LANE_THREADS = 1536
"""The threads in lanes that a multiprocessor should hold at once: each has 40 of 65,536 registers then."""

IDENTITIES = {"+": "0", "|": "0", "^": "0", "&": "~0", "*": "1"}
"""What operators leave as it is."""


def exchange_of(tile: Tile) -> str:
    """The name of what threads exchange parts of ``tile`` through."""
    return f"{tile.name}_lanes"


def begun(tile: ThreadTile, names: Mapping[str, str]) -> list[str]:
    """The lines that begin all parts of a thread; ``names`` are those of tiles."""
    reduction = tile.reduction
    assert reduction is not None  # noqa: S101 - others have no parts
    floating = isinstance(reduction.type, FloatingType) and reduction.operator == "+"
    value = "-0.0" if floating else IDENTITIES[reduction.operator]  # the sum of 0 and -0 is 0
    return [f"{element} = {value};" for element in _elements(tile, names)]


def combined(tile: ThreadTile, names: Mapping[str, str], language: KernelLanguage) -> list[str]:
    """The lines that combine the parts of the threads along x; ``names`` are those of tiles."""
    reduction = tile.reduction
    assert reduction is not None  # noqa: S101 - others have no parts
    half, operator = tile.threads[-1].size // 2, reduction.operator
    head = f"for (int lanes = {half}; lanes; lanes /= 2)"
    if language.exchange.shuffle:
        return [
            line
            for element in _elements(tile, names)
            for line in (head, f"  {element} {operator}= {language.exchange.shuffle.format(value=element)};")
        ]
    shared, number, size = names[exchange_of(tile)], language.thread[0], tile.threads[-1].size
    for axis, thread in zip(reversed(tile.threads[:-1]), language.thread[1:], strict=False):
        number += f" + {size} * {thread}"
        size *= axis.size
    return [
        line
        for element in _elements(tile, names)
        for line in (
            f"{head} {{",
            f"  {language.barrier}",
            f"  {shared}[{number}] = {element};",
            f"  {language.barrier}",
            f"  {element} {operator}= {shared}[({number}) ^ lanes];",
            "}",
        )
    ]


def _elements(tile: ThreadTile, names: Mapping[str, str]) -> Iterator[str]:
    for place in itertools.product(*map(range, tile.sizes)):
        yield names[tile.name] + "".join(f"[{each}]" for each in place)
