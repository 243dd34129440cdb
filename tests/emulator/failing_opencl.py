"""An OpenCL library whose n-th call fails, in front of the machine's own."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

_SOURCE = Path(__file__).resolve().parent / "opencl" / "failing.c"
_NAME = "libOpenCL.so.1"


@dataclass(frozen=True)
class FailingOpenCL:
    """A folder with ``libOpenCL.so.1``; ``library`` is the one that it calls."""

    folder: Path
    library: str

    def environment(self, fail: str = "", **more: str) -> dict[str, str]:
        """What to run a program with; ``fail`` as for the emulated driver of CUDA."""
        settings = {
            "LD_LIBRARY_PATH": str(self.folder),
            "POLYBUILD_BACKEND": "opencl",
            "POLYBUILD_DEVICE_CACHE": "0",
            "POLYBUILD_OPENCL_LIBRARY": self.library,
            "POLYBUILD_OPENCL_FAIL": fail,
            **more,
        }
        return {**os.environ, **{name: value for name, value in settings.items() if value}}

    def calls(self, command: list[str]) -> int:
        """How many calls the program makes; it must succeed."""
        file = self.folder / f"calls-{os.getpid()}"
        environment = self.environment(POLYBUILD_OPENCL_CALLS=str(file))
        subprocess.run(command, env=environment, check=True, capture_output=True, timeout=120)
        return int(file.read_text())


def build(folder: Path) -> FailingOpenCL | None:
    """Make the library in ``folder``; None if this machine has no OpenCL."""
    found = subprocess.run(
        ["gcc", f"-print-file-name={_NAME}"], check=True, capture_output=True, text=True, timeout=60
    ).stdout.strip()
    if not Path(found).is_absolute() or not Path("/etc/OpenCL/vendors").is_dir():
        return None
    folder.mkdir(parents=True, exist_ok=True)
    flags = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O1", "-fPIC", "-shared", f"-Wl,-soname,{_NAME}"]
    subprocess.run(
        ["gcc", *flags, "-o", str(folder / _NAME), str(_SOURCE), "-ldl", "-lpthread"], check=True, timeout=60
    )
    return FailingOpenCL(folder, found)
