"""The kernels of a region that ranks share: those of each block that a rank runs between two messages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from polybuild.analysis.dependences import Dependences, compute_dependences
from polybuild.analysis.trip_counts import dimension_counts, trip_counts
from polybuild.codegen.device.model import BlocksRequest, DeviceRequest
from polybuild.context import CompileContext
from polybuild.driver.device_plans import plan_for_device
from polybuild.scop.model import Scop
from polybuild.source.model import Region
from polybuild.targets.base import Target
from polybuild.targets.cpu.expansion import Mapped
from polybuild.targets.device import Transfer
from polybuild.targets.gpu.transfers import find_transfers
from polybuild.targets.ranks.model import DeviceBlock


def plan_blocks(
    target: Target, region: Region, mapped: Mapped, context: CompileContext, minimum: int
) -> tuple[BlocksRequest, tuple[str, ...]]:
    """What to generate for the blocks of a rank as it was ``mapped``, and what there is to say of it.

    The host runs a block where a launch does less than ``minimum`` statement instances. Raises Unsupported if
    a device cannot run one of them.
    """
    assert target.language is not None and mapped.sharing is not None  # noqa: S101, PT018 - asked before
    requests: list[tuple[DeviceBlock, DeviceRequest]] = []
    remarks: list[str] = []
    for number, block in enumerate(mapped.sharing.blocks):
        known = (block.scop, compute_dependences(block.scop, block.live), block.live)
        scop, plan = plan_for_device(target, region, known, context, ())
        runs = tuple(dimension_counts(block.around, scop.context)) if block.depth else ()
        request = DeviceRequest(scop, plan, target.language, trip_counts(scop), minimum, f"_{number}", runs)
        requests.append((block, request))
        remarks += plan.remarks
    scop = replace(mapped.scop, context=requests[0][0].scop.context)
    kept = _kept(scop, mapped.dependences, requests)
    told = ": what is sent is copied, other values stay there" if kept else ""
    remarks.append(f"the device of each rank runs its block{told}")
    return BlocksRequest(tuple(requests), scop, kept), tuple(dict.fromkeys(remarks))


def _kept(
    scop: Scop, dependences: Dependences, requests: Sequence[tuple[DeviceBlock, DeviceRequest]]
) -> tuple[Transfer, ...]:
    """The boxes of the arrays that stay on the device from block to block: all that a rank touches of them.

    Those in which members of structures lie between others do not, nor those of which data choose elements.
    """
    if not any(block.depth for block, _ in requests) and len(requests) == 1:
        return ()
    transfers = [each for _, request in requests for each in request.plan.transfers]
    chosen = {each.array.name for each in transfers if each.inspected}
    used = {each.array.name for each in transfers} - chosen
    arrays = tuple(
        each
        for each in scop.arrays
        if each.name in used and not (each.is_scalar or each.local or any(each.suffixes))
    )
    return find_transfers(scop, dependences, arrays, None)
