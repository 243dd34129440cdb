"""The device's part of a region that ranks share: kernels of what is between messages, and what stays.

Kernels begin and end between two messages, so a rank whose device cannot run a block runs it on the host, and
sends and receives the same. Arrays that blocks touch are resident while the region runs: what is sent is
copied from the device, what is received to it, nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from polybuild.codegen.c.conditions import ConditionPrinter
from polybuild.codegen.device.boxes import BoxPrinter
from polybuild.codegen.device.host import (
    DeviceRequest,
    DeviceText,
    HostNames,
    object_name,
    write_device,
)
from polybuild.scop.model import Scop
from polybuild.source.model import Region
from polybuild.targets.device import Transfer
from polybuild.targets.ranks.model import AROUND, END, FIRST, DeviceBlock
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class BlocksRequest:
    """What to generate for each of ``blocks``, and the arrays that are ``kept`` on the device in between.

    These are the boxes that the ``scop`` of the rank touches.
    """

    blocks: Sequence[tuple[DeviceBlock, DeviceRequest]]
    scop: Scop
    kept: Sequence[Transfer]


@dataclass(frozen=True, slots=True)
class BlockTexts:
    """The device's part of a rank's loops.

    ``texts`` has that of each block by its name, ``hosts`` tells whose loops for the host are below the marks
    of these numbers. ``enter`` and ``leave`` are lines around all of them. ``name`` is that of the region's
    static object.
    """

    name: str
    texts: Mapping[str, DeviceText]
    hosts: frozenset[int]
    enter: tuple[str, ...]
    leave: tuple[str, ...]

    @property
    def together(self) -> DeviceText:
        """All kernels, and what launches them."""
        texts = list(self.texts.values())
        kernels = tuple(dict.fromkeys(kernel for each in texts for kernel in each.kernels))
        functions = {name: text for each in texts for name, text in each.functions.items()}
        lines = tuple(line for each in texts for line in each.lines)
        return DeviceText(texts[0].language, self.name, kernels, functions, "", lines, within_loops=True)

    @property
    def begin_host(self) -> str:
        """What stands before loops for the host, where values may be on the device."""
        return f"polybuild_host_begin(&{self.name}, pb_home);"

    @property
    def end_host(self) -> str:
        """What stands after them."""
        return f"polybuild_host_end(&{self.name});"


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
