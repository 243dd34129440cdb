"""What a file with kernels holds at its top: the kernels, compiled or as source, and its regions."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

from polybuild.codegen.device.host import DeviceText
from polybuild.codegen.file.module_object import DriverSource, module_object
from polybuild.machine.model import Machine

RUNTIME_HEADER = "#include <polybuild_device.h>\n"
RegionPosition = tuple[str, int]
"""Where a region is: its file as a C string, and its first line."""


def kernel_source(devices: Sequence[DeviceText]) -> str:
    """All kernels of a file in the language of their device, and what they call; empty if there are none."""
    called = {name: text for device in devices for name, text in device.functions.items()}
    kernels = [text for device in devices for text in device.kernels.values()]
    includes = dict.fromkeys(text for device in devices for text in device.includes)
    parts = [*includes, devices[0].language.prologue, *called.values(), *kernels]
    return "\n".join(parts) if kernels else ""


def module_head(
    devices: Sequence[tuple[DeviceText, RegionPosition]], image: bytes, options: str, machine: Machine
) -> str:
    """C text that defines the module object of a file and the object of each region with kernels.

    ``image`` has the compiled kernels; without it the module holds their source, and the
    ``options`` with which a driver compiles it. The figures of
    ``machine`` tell the runtime where a region takes less time.
    """
    texts = [device for device, _ in devices]
    source = kernel_source(texts)
    kernels = [name for device in texts for name in device.kernels]
    name = f"polybuild_module_{zlib.crc32(source.encode()):08x}"
    numbers = ", ".join(f"{kernel} = {position}" for position, kernel in enumerate(kernels))
    regions = "".join(_object(device.name, position, f".module = &{name}, ") for device, position in devices)
    sources = {} if image else {texts[0].language.name: DriverSource(source, options)}
    object_text = module_object(name, kernels, machine, fatbin=image, sources=sources)
    return f"{object_text}enum {{ {numbers} }};\n{regions}"


def host_head(regions: Sequence[tuple[str, RegionPosition]]) -> str:
    """C text that defines the objects, of the names given, of regions without kernels."""
    return "".join(_object(name, position, "") for name, position in regions)


def _object(name: str, position: RegionPosition, module: str) -> str:
    file, line = position
    return f"static polybuild_region {name} = {{{module}.file = {file}, .line = {line}}};\n"
