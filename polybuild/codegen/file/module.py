"""What a file with kernels holds at its top: the kernels, compiled or as source, and its regions."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

from polybuild.codegen.device.model import DeviceText
from polybuild.codegen.file.module_object import DriverSource, module_object
from polybuild.machine.model import Machine
from polybuild.targets.kernel_file import KernelFile

RUNTIME_HEADER = "#include <polybuild_device.h>\n"
RegionPosition = tuple[str, int]
"""Where a region is: its file as a C string, and its first line."""


def kernel_file(devices: Sequence[DeviceText]) -> KernelFile:
    """All kernels of a file, and what they call."""
    called = {name: text for device in devices for name, text in device.functions.items()}
    kernels = tuple(each for device in devices for each in device.kernels)
    includes = dict.fromkeys(text for device in devices for text in device.includes)
    return KernelFile(devices[0].language, tuple(includes), tuple(called.values()), kernels)


def module_head(
    devices: Sequence[tuple[DeviceText, RegionPosition]], image: bytes, options: str, machine: Machine
) -> str:
    """C text that defines the module object of a file and the object of each region with kernels.

    ``image`` has the compiled kernels; without it the module holds their source, and the
    ``options`` with which a driver compiles it. The figures of
    ``machine`` tell the runtime where a region takes less time.
    """
    file = kernel_file([device for device, _ in devices])
    source = file.text if file.kernels else ""
    kernels = [each.name for each in file.kernels]
    name = f"polybuild_module_{zlib.crc32(source.encode()):08x}"
    numbers = ", ".join(f"{kernel} = {position}" for position, kernel in enumerate(kernels))
    regions = "".join(_object(device.name, position, f".module = &{name}, ") for device, position in devices)
    sources = {} if image else {file.language.name: DriverSource(source, options)}
    object_text = module_object(name, kernels, machine, fatbin=image, sources=sources)
    return f"{object_text}enum {{ {numbers} }};\n{regions}"


def host_head(regions: Sequence[tuple[str, RegionPosition]]) -> str:
    """C text that defines the objects, of the names given, of regions without kernels."""
    return "".join(_object(name, position, "") for name, position in regions)


def _object(name: str, position: RegionPosition, module: str) -> str:
    file, line = position
    return f"static polybuild_region {name} = {{{module}.file = {file}, .line = {line}}};\n"
