"""The plan of a stencil whose steps are in tiles that overlap (``overlapped_steps``)."""

from __future__ import annotations

from dataclasses import replace

from polybuild.analysis.dependences import Dependences, compute_dependences
from polybuild.options import FULL_TILES, OVERLAPPED, Options
from polybuild.scop.model import Scop
from polybuild.storage.buffers import element_size
from polybuild.targets.base import DeviceLimits
from polybuild.targets.device import DevicePlan, LargeTiles
from polybuild.targets.gpu.choice import plan_mapping
from polybuild.targets.gpu.mapping import map_overlapped
from polybuild.targets.gpu.overlapped_cost import TileShape, find_steps, price
from polybuild.targets.gpu.overlapped_steps import OverlappedModel, OverlappedSteps
from polybuild.targets.gpu.strip_boxes import strip_box
from polybuild.targets.gpu.time_tiles import TimeTiles
from polybuild.transform.tiling.stencil import Stencil

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
    stencil = find_steps(scop, dependences, limits)
    if stencil is None:
        raise ValueError("the region is not one loop over steps, in each of which values go a few places")
    shape, found = _fitting(scop, stencil, options, limits, live_out)
    kept = tuple(each for each in options.device_tiles if each == FULL_TILES)
    told = () if len(kept) == len(options.device_tiles) else (_FIXED,)
    options = replace(options, device_tiles=kept)
    tiles = TimeTiles(stencil, OVERLAPPED, shape.sizes, (found.phase,), shape.block)
    own = compute_dependences(found.scop, live_out)
    mapping = map_overlapped(found.scop, found.order, tiles, options, limits)
    mapping = replace(mapping, inside=found.inside, remarks=(*mapping.remarks, *told))
    plan = plan_mapping(
        found.scop, own, mapping, options, limits, live_out=None if options.verify else live_out
    )
    return found.scop, plan


def _fitting(
    scop: Scop, stencil: Stencil, options: Options, limits: DeviceLimits, live_out: frozenset[str]
) -> tuple[TileShape, OverlappedSteps]:
    """The shape of tiles whose boxes shared memory holds, and the model; raises as above."""
    depth = 1 + len(stencil.space)
    given = options.tile_sizes[:depth]
    sizes = given + (given[-1],) * (depth - len(given)) if given else ()
    candidates = price(scop, stencil, options, limits).shapes([sizes] if sizes else ())
    needed = 0
    made: dict[tuple[int, ...], OverlappedSteps | None] = {}
    for shape in candidates:
        if shape.sizes not in made:
            made[shape.sizes] = OverlappedModel(scop, stencil, shape.sizes, live_out).build()
        found = made[shape.sizes]
        if found is None:
            raise ValueError("values of a tile would come from elsewhere")
        needed = _bytes(found)
        if 0 < needed <= limits.shared_bytes:
            return shape, found
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
