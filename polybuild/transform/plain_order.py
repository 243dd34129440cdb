"""Loops blocked by hand in the order that they had before, where dependences allow it.

Without their counters (``scop.determined_counters``) blocks are left in the order alone::

    [t, 32 * floor(i / 32), 32 * floor(j / 32), i, j]    ->    [t, i, j]

The loops that count blocks go, so that what follows sees the same tree as for loops that nobody blocked.
"""

from __future__ import annotations

from dataclasses import replace

import islpy as isl

from polybuild.analysis.dependences import compute_dependences
from polybuild.poly.trees import descendants, is_band
from polybuild.schedule.legality import IllegalSchedule, check_schedule
from polybuild.scop.model import Scop


def in_plain_order(scop: Scop, live_out: frozenset[str]) -> Scop:
    """``scop`` without the loops over blocks that only order instances, if that is legal; else itself.

    ``live_out`` names variables that are read after the region. What is proved is that the order of blocks
    respects the dependences of the plain one: so do the plain one those of blocks, since all accesses to the
    same memory are in the same order. isl finds dependences of the plain one far sooner.
    """
    plain = scop.schedule
    while (band := _first_block_loop(plain)) is not None:
        plain = band.delete().get_schedule()
    if plain is scop.schedule or not plain.get_map().is_injective():
        return scop
    changed = replace(scop, schedule=plain)
    try:
        check_schedule(scop.schedule, compute_dependences(changed, live_out), scop.domain)
    except IllegalSchedule:
        return scop
    return changed


def _first_block_loop(schedule: isl.Schedule) -> isl.ScheduleNode | None:
    """The outermost loop that counts blocks of other counters, in all of its statements."""
    bands = (each for each in descendants(schedule.get_root()) if is_band(each))
    return next((each for each in bands if each.band_n_member() == 1 and _counts_blocks(each)), None)


def _counts_blocks(band: isl.ScheduleNode) -> bool:
    counters = band.band_get_partial_schedule().get_union_pw_aff(0).get_pw_aff_list()
    pieces = [aff for index in range(counters.n_pw_aff()) for _, aff in counters.get_at(index).get_pieces()]
    return all(each.dim(isl.dim_type.div) > 0 for each in pieces)
