"""The plan of a stencil whose steps are in tiles that overlap (``overlapped_steps``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from polybuild.analysis.dependences import Dependences, compute_dependences
from polybuild.options import FULL_TILES, OVERLAPPED, Options
from polybuild.poly.trees import is_band
from polybuild.scop.model import Scop
from polybuild.storage.buffers import element_size
from polybuild.targets.base import DeviceLimits
from polybuild.targets.device import DevicePlan, LargeTiles
from polybuild.targets.gpu.choice import plan_mapping
from polybuild.targets.gpu.mapping import map_overlapped
from polybuild.targets.gpu.overlapped_steps import OverlappedModel, OverlappedSteps
from polybuild.targets.gpu.strip_boxes import strip_box
from polybuild.targets.gpu.time_tiles import TimeTiles
from polybuild.transform.tiling.stencil import Stencil, find_stencil

_FIXED = "tiles that overlap copy all that they need to shared memory, whatever --device-tiles says"


def plan_overlapped(
    scop: Scop,
    dependences: Dependences,
    options: Options,
    limits: DeviceLimits,
    *,
    live_out: frozenset[str],
) -> tuple[Scop, DevicePlan]:
    """The plan, and the model that it is of; raises ValueError where steps have no such tiles."""
    node = scop.schedule.get_root().child(0)
    stencil = find_stencil(node, dependences.validity) if is_band(node) else None
    reduces = bool(dependences.reductions)
    if stencil is None or stencil.closed < len(stencil.space) or len(stencil.space) > limits.axes or reduces:
        raise ValueError("the region is not one loop over steps, in each of which values go a few places")
    sizes, found = _fitting(scop, stencil, options, limits, live_out)
    kept = tuple(each for each in options.device_tiles if each == FULL_TILES)
    told = () if len(kept) == len(options.device_tiles) else (_FIXED,)
    options = replace(options, device_tiles=kept)
    tiles = TimeTiles(stencil, OVERLAPPED, sizes, (found.phase,))
    own = compute_dependences(found.scop, live_out)
    mapping = map_overlapped(found.scop, found.order, tiles, options, limits)
    mapping = replace(mapping, inside=found.inside, remarks=(*mapping.remarks, *told))
    plan = plan_mapping(
        found.scop, own, mapping, options, limits, live_out=None if options.verify else live_out
    )
    return found.scop, plan


def _fitting(
    scop: Scop, stencil: Stencil, options: Options, limits: DeviceLimits, live_out: frozenset[str]
) -> tuple[tuple[int, ...], OverlappedSteps]:
    """The sizes of tiles whose boxes shared memory holds, and the model; raises as above."""
    depth = 1 + len(stencil.space)
    given = options.tile_sizes[:depth]
    candidates: Sequence[tuple[int, ...]] = limits.shapes.over_time.overlapped[depth - 2]
    if given:
        candidates = (given + (given[-1],) * (depth - len(given)),)
    needed = 0
    for sizes in candidates:
        found = OverlappedModel(scop, stencil, sizes, live_out).build()
        if found is None:
            raise ValueError("values of a tile would come from elsewhere")
        needed = _bytes(found)
        if 0 < needed <= limits.shared_bytes:
            return sizes, found
    if not needed:
        raise ValueError("what a tile touches has no constant size")
    problem = LargeTiles if given else ValueError
    raise problem(
        f"the {needed} bytes that a tile works on are too many for the {limits.shared_bytes} of shared memory"
    )


def _bytes(found: OverlappedSteps) -> int:
    """The bytes of the boxes of a tile; 0: one has none."""
    total = 0
    for array in found.inside:
        box = strip_box(found.scop, array, found.phase)
        if box is None:
            return 0
        total += box.elements * element_size(array)
    return total
