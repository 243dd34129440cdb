"""The CUDA compiler: where it is, and the image it makes of a file's kernels.

An image (a fat binary) holds machine code for each architecture asked for, and PTX of the oldest of
them, which the driver compiles for devices that came later.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from polybuild.effort import DEVICE_COMPILER_SECONDS
from polybuild.machine.model import Machine
from polybuild.patterns import pattern
from polybuild.targets.base import ImageError
from polybuild.targets.gpu.occupancy import occupancy
from polybuild.values import dataclass

_WHEEL_FOLDERS = ("nvidia/cu13/bin", "nvidia/cuda_nvcc/bin")
_USAGE = pattern(r"Compiling entry function '(\w+)' for '(\w+)'")


@dataclass(frozen=True, slots=True)
class KernelUsage:
    """What one kernel needs on one architecture, as ptxas tells it; bytes but for the registers."""

    kernel: str
    architecture: str
    registers: int
    shared: int
    spills: int


@dataclass(frozen=True, slots=True)
class Image:
    """A fat binary, and what its kernels need."""

    data: bytes
    usage: tuple[KernelUsage, ...]


def find_nvcc(wanted: str = "") -> str | None:
    """The path of nvcc; None if there is none.

    ``wanted``, if not empty, is its name or path. Otherwise the variables ``NVCC``, ``CUDACXX``,
    ``CUDA_HOME`` and ``CUDA_PATH``, PATH, Python environments (NVIDIA's wheels, also those that
    CMAKE_PREFIX_PATH names) and the usual folder are looked through.
    """
    if wanted:
        return shutil.which(wanted)
    for candidate in _candidates():
        found = shutil.which(candidate)
        if found:
            return found
    return None


def _candidates() -> Iterator[str]:
    yield from (os.environ[name] for name in ("NVCC", "CUDACXX") if os.environ.get(name))
    for name in ("CUDA_HOME", "CUDA_PATH"):
        if os.environ.get(name):
            yield str(Path(os.environ[name]) / "bin" / "nvcc")
    yield "nvcc"
    prefixes = [
        *sys.path,
        *os.environ.get("CMAKE_PREFIX_PATH", "").replace(";", os.pathsep).split(os.pathsep),
    ]
    for prefix in filter(None, prefixes):
        for folder in _WHEEL_FOLDERS:
            yield str(Path(prefix) / folder / "nvcc")
    yield "/usr/local/cuda/bin/nvcc"


def build_image(
    source: str, nvcc: str, architectures: Sequence[int], *, contract: bool, lineinfo: bool = False
) -> Image:
    """The fat binary that ``nvcc`` makes of the CUDA C text ``source``.

    ``architectures`` are compute capabilities as numbers (90 for 9.0), ``contract`` says whether
    products and sums may become fused operations. Raises ImageError.
    """
    flags = ["-fatbin", "-O3", f"-fmad={'true' if contract else 'false'}", "-Xptxas", "-v"]
    flags += ["-lineinfo"] if lineinfo else []
    for each in sorted(set(architectures)):
        flags += ["-gencode", f"arch=compute_{each},code=sm_{each}"]
    oldest = min(architectures)
    flags += ["-gencode", f"arch=compute_{oldest},code=compute_{oldest}"]
    with tempfile.TemporaryDirectory(prefix="polybuild-") as folder:
        kernels, image = Path(folder, "kernels.cu"), Path(folder, "kernels.fatbin")
        kernels.write_text(source, encoding="utf-8")
        try:
            done = subprocess.run(
                [nvcc, *flags, "-o", str(image), str(kernels)],
                check=False,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=DEVICE_COMPILER_SECONDS,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise ImageError(f"'{nvcc}' cannot be run: {error}") from None
        if done.returncode or not image.is_file():
            lines = [line for line in done.stderr.splitlines() if "error" in line] or done.stderr.splitlines()
            first = lines[0].replace(f"{folder}{os.sep}", "") if lines else f"exit code {done.returncode}"
            raise ImageError(f"nvcc does not take the kernels: {first}")
        return Image(image.read_bytes(), usage_of(done.stderr))


def usage_of(log: str) -> tuple[KernelUsage, ...]:
    """What ``ptxas -v`` says in ``log`` about each kernel."""
    found = []
    for position in _USAGE.finditer(log):
        rest = log[position.end() :]
        following = _USAGE.search(rest)
        text = rest[: following.start()] if following else rest
        found.append(
            KernelUsage(
                position[1],
                position[2],
                _number(r"Used (\d+) registers", text),
                _number(r"(\d+) bytes smem", text),
                _number(r"(\d+) bytes spill stores", text) + _number(r"(\d+) bytes spill loads", text),
            )
        )
    return tuple(found)


def told(usage: KernelUsage, threads: int, machine: Machine) -> str:
    """What a kernel with so many ``threads`` in a block needs, in words, and how many run at once."""
    spills = f", {usage.spills} bytes spilled" if usage.spills else ""
    at_once = round(occupancy(machine, threads, usage.registers, usage.shared) * machine.residency.threads)
    needs = f"{usage.registers} registers for each thread on {usage.architecture}{spills}"
    return f"{needs}: a multiprocessor runs {at_once} threads at once, of {machine.residency.threads}"


def _number(pattern: str, text: str) -> int:
    match = re.search(pattern, text)
    return int(match[1]) if match else 0
