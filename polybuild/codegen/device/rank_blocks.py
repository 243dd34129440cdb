"""The device's part of a region that ranks share: kernels of what is between messages, and what stays.

Kernels begin and end between two messages, so a rank whose device cannot run a block runs it on the host, and
sends and receives the same. Arrays that blocks touch are resident while the region runs: what is sent is
copied from the device, what is received to it, nothing else.
"""

from __future__ import annotations

from polybuild.codegen.c.conditions import ConditionPrinter
from polybuild.codegen.device.boxes import BoxPrinter
from polybuild.codegen.device.host import write_device
from polybuild.codegen.device.model import BlocksRequest, BlockTexts, HostNames, object_name
from polybuild.source.model import Region
from polybuild.targets.ranks.model import AROUND, END, FIRST


def write_blocks(
    region: Region, request: BlocksRequest, host: HostNames, conditions: ConditionPrinter
) -> BlockTexts:
    """Generate the device's part of a region that ranks share; raises as ``write_device``."""
    depth = max(block.depth for block, _ in request.blocks)
    own = [FIRST, END, *(f"{AROUND}{position}" for position in range(depth))]
    inner = HostNames({**host.parameters, **{name: name for name in own}}, host.taken, host.in_use)
    texts = {block.name: write_device(region, each, inner, conditions) for block, each in request.blocks}
    boxes = BoxPrinter(request.scop, inner.parameters, inner.in_use)
    enter: list[str] = []
    leave: list[str] = []
    for each in request.kept:
        name = f"pb_kept_{each.array.name}"
        enter += [*boxes.box(each, name), f"polybuild_resident({name}.low, polybuild_extent(&{name}));"]
        leave.append(f"polybuild_release({name}.low);")
    hosts = frozenset(block.phase for block, _ in request.blocks)
    return BlockTexts(object_name(region), texts, hosts, tuple(enter), tuple(leave))
