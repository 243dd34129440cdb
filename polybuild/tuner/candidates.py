"""What is worth trying for a region: other decisions of each kind, then neighbours of the best sizes.

These are sizes of tiles and, on a device, of blocks.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from polybuild.options import ALIGNED_LOADS, COPY_OUT, FULL_TILES, SHARED_MEMORY, STATIC_REUSE, Options
from polybuild.targets.base import DeviceLimits
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
_ON_DEVICES: tuple[Settings, ...] = (
    {"min-work": NEVER},
    {"tile-shape": "rectangular"},
    {"tile-shape": "hybrid"},
    {
        "tile-shape": "hybrid",
        "device-tiles": f"{SHARED_MEMORY},{COPY_OUT},{ALIGNED_LOADS},{STATIC_REUSE}",
    },
    {"tile-shape": "hybrid", "device-tiles": FULL_TILES},
    {"device-launches": "together"},
    {"device-launches": "graphs"},
    {"schedule": "original"},
    {"fusion": "max"},
    {"fusion": "min"},
    {"tile": "off"},
    {"contract-arrays": "off"},
)
_SMALLEST, _LARGEST = 4, 4096
_THREADS = DeviceLimits().block_threads  # the mapping cuts blocks where a device takes fewer


def decisions(region: MetRegion) -> Iterator[Settings]:
    """Settings with one decision other than the default's, as far as the user has not taken it himself."""
    given = {name.replace("_", "-") for name in region.given}
    for each in _ON_DEVICES if region.block_sizes else _DECISIONS:
        if given.isdisjoint(each) and (region.parallel or "parallel" not in each):
            yield each


def neighbours(
    region: MetRegion, best: Settings, sizes: tuple[int, ...], blocks: tuple[int, ...] = ()
) -> Iterator[Settings]:
    """``best`` with the tile ``sizes`` of its region doubled and halved: all of them, then one by one.

    Then the same with the threads of its ``blocks``. Nothing for a region without tiles or blocks, or where
    the user gave their sizes.
    """
    for name, own in (("tile-sizes", sizes), ("block-sizes", blocks)):
        if own and not {name, name.replace("-", "_")}.intersection(region.given):
            for each in _changed(own):
                fits = math.prod(each) <= _THREADS if own is blocks else min(each) >= _SMALLEST
                if fits and min(each) >= 1 and max(each) <= _LARGEST:
                    yield {**best, name: ",".join(map(str, each))}


def _changed(sizes: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """``sizes`` doubled and halved: all of them, then one by one."""
    ways = [tuple(range(len(sizes))), *((each,) for each in range(len(sizes)))]
    for chosen in dict.fromkeys(ways):
        for factor in (2.0, 0.5):
            yield tuple(round(size * factor) if place in chosen else size for place, size in enumerate(sizes))
