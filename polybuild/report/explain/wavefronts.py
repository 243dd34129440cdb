"""How many tiles run at once, and how often threads wait for each other, for machines of many cores."""

from __future__ import annotations

import statistics
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

from polybuild.effort import PREDICTION_OPERATIONS
from polybuild.poly.budget import found_within
from polybuild.targets.cpu.wavefronts import busy_part, tiles_per_wavefront

if TYPE_CHECKING:
    from polybuild.report.explain.gather import Explained

CORES = (16, 64, 192)  # of usual machines, from desks to two sockets


def wavefronts(explained: Explained) -> str:
    """The wavefronts of a region where parameters have usual values, empty where it has none.

    With the part of some numbers of cores that is busy in them, and what memory moves for each core.
    """
    prediction, details = explained.report.prediction, explained.details
    if prediction is None or details is None:
        return ""
    loops = {(each.mark, each.dimension) for each in details.text.outline if each.mark is not None}
    shared = Counter(mark for mark, _ in loops)
    pairs = {mark for mark, count in shared.items() if count > 1}
    count = partial(tiles_per_wavefront, details.schedule, prediction.parameters, pairs)
    tiles = found_within(PREDICTION_OPERATIONS, count)
    if not tiles:
        return ""
    usual = statistics.median(tiles)
    sizes = f"{len(tiles)} wavefronts of {min(tiles)} to {max(tiles)} tiles, {usual:.0f} mostly"
    traffic = prediction.parts["all_threads"]["traffic"] / 2**20
    busy = ", ".join(
        f"{busy_part(tiles, cores):.0%} of {cores} cores ({traffic / cores:.2g} MiB each)" for cores in CORES
    )
    return f"{sizes}, and as many synchronisations; busy: {busy}"
