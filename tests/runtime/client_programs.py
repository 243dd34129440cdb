"""The handwritten program on the runtime: its scenarios are in client.c."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from polybuild.codegen.file.module_object import DriverSource, module_object
from polybuild.machine.model import Machine
from polybuild.targets.gpu.nvcc import build_image
from tests.emulator.stand_ins import RUNTIME, StandIns

HERE = Path(__file__).resolve().parent
STRICT = (
    "-std=c99",
    "-pedantic",
    "-Wall",
    "-Wextra",
    "-Wconversion",
    "-Wshadow",
    "-Wstrict-prototypes",
    "-Werror",
)
KERNELS = ("twice", "interior", "heat", "turn")


@dataclass(frozen=True)
class Client:
    """The program, built."""

    program: Path

    def run(self, *scenarios: str, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.program), *scenarios],
            check=False,
            capture_output=True,
            text=True,
            env=environment,
            timeout=120,
        )


def build_client(
    folder: Path, stand_ins: StandIns, command: Sequence[str], *, kernels: str, hip: str, client: str
) -> Client:
    """Build the program of the texts ``kernels``, ``hip`` (these for HIP) and ``client``, without a warning.

    ``command`` is a compiler with its flags.
    """
    image = build_image(kernels, stand_ins.nvcc, (80,), contract=False)
    sources = {
        "opencl": DriverSource(kernels, "-cl-std=CL1.2"),
        "hip": DriverSource(hip, "-ffp-contract=off"),
    }
    module = module_object("module", KERNELS, Machine(), fatbin=image.data, sources=sources)
    (folder / "module.h").write_text(module)
    (folder / "client.c").write_text(client)
    command = [*command, *STRICT, "-O1", "-g", "-D_POSIX_C_SOURCE=200809L"]
    command += [f"-I{folder}", f"-I{RUNTIME / 'include'}", str(folder / "client.c")]
    command += [*map(str, sorted((RUNTIME / "src").glob("*.c")))]
    command += ["-o", str(folder / "client"), "-ldl", "-lpthread"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return Client(folder / "client")
