"""What a file with kernels holds at its top: the kernels, compiled or as source, and its regions."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

from polybuild.emit.device import DeviceText
from polybuild.targets.gpu.image import module_object


def kernel_source(devices: Sequence[DeviceText]) -> str:
    """All kernels of a file in the language of their dialect; empty if there are none."""
    functions = [text for device in devices for text in device.kernels.values()]
    return "\n".join([devices[0].dialect.prologue, *functions]) if functions else ""


def module_head(devices: Sequence[DeviceText], places: Sequence[tuple[str, int]], image: bytes) -> str:
    """C text that defines the module object of a file and the object of each region.

    ``places`` has the quoted file and the line of each region, ``image`` the
    compiled kernels; without it the module holds their source.
    """
    source = kernel_source(devices)
    kernels = [name for device in devices for name in device.kernels]
    name = f"polybuild_module_{zlib.crc32(source.encode()):08x}"
    numbers = ", ".join(f"{kernel} = {position}" for position, kernel in enumerate(kernels))
    regions = "".join(
        f"static polybuild_region {device.name} = {{.module = &{name}, .file = {file}, .line = {line}}};\n"
        for device, (file, line) in zip(devices, places, strict=True)
    )
    object_text = module_object(name, kernels, fatbin=image, opencl="" if image else source)
    return f"#include <polybuild_device.h>\n{object_text}enum {{ {numbers} }};\n{regions}"
