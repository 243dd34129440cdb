"""What is worth trying for a region: other decisions of each kind, then neighbours of the best tile sizes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from polybuild.options import Options
from polybuild.tuning.trial import MetRegion

Settings = Mapping[str, str]
"""Options by the names of the command line, and their texts."""

NEVER = str(Options.numbers()["min_work"][1])
"""A ``--min-work`` that no region reaches: its original loops run."""

_DECISIONS: tuple[Settings, ...] = (
    {"min-work": NEVER},
    {"parallel": "off"},
    {"schedule": "pluto"},
    {"schedule": "original"},
    {"fusion": "max"},
    {"tile": "off"},
    {"registers": "off"},
    {"schedule": "isl"},
    {"fusion": "min"},
    {"contract-arrays": "off"},
    {"simd": "off"},
    {"min-work": "0"},
)
_SMALLEST, _LARGEST = 4, 4096


def decisions(region: MetRegion) -> Iterator[Settings]:
    """Settings with one decision other than the default's, as far as the user has not taken it himself."""
    given = {name.replace("_", "-") for name in region.given}
    for each in _DECISIONS:
        if given.isdisjoint(each) and (region.parallel or "parallel" not in each):
            yield each


def neighbours(region: MetRegion, best: Settings, sizes: tuple[int, ...]) -> Iterator[Settings]:
    """``best`` with the tile ``sizes`` of its region doubled and halved: all of them, then one by one.

    Nothing for a region without tiles, or where the user gave their sizes.
    """
    if not sizes or {"tile_sizes", "tile-sizes"}.intersection(region.given):
        return
    ways = [tuple(range(len(sizes))), *((each,) for each in range(len(sizes)))]
    for places in dict.fromkeys(ways):
        for factor in (2.0, 0.5):
            changed = tuple(
                round(size * factor) if place in places else size for place, size in enumerate(sizes)
            )
            if all(_SMALLEST <= each <= _LARGEST for each in changed):
                yield {**best, "tile-sizes": ",".join(map(str, changed))}
