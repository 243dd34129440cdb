"""Builds the stand-ins, and says in which environment a program finds them."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
RUNTIME = HERE.parents[1] / "polybuild" / "runtime"
ORDERS = ("ascending", "descending", "1", "2")
"""Orders of blocks and threads: the numbers seed a random one."""
FAULT, LEAK = 97, 96
"""Exit codes of a program in which a kernel did what it must not, or that kept what it was given."""


@dataclass(frozen=True)
class StandIns:
    """A folder with ``nvcc`` and ``libcuda.so.1``."""

    folder: Path

    @property
    def nvcc(self) -> str:
        """The path of the compiler."""
        return str(self.folder / "nvcc")

    def environment(
        self, *, order: str = "ascending", fail: str = "", drop: int = 0, **more: str
    ) -> dict[str, str]:
        """What to run a program with: it finds the driver and keeps no device memory.

        ``fail`` is the number of the call that fails ("7": only that; "7+": all from then on), ``drop``
        the number of the copy that does not happen, ``more`` are other variables.
        """
        settings = {
            "LD_LIBRARY_PATH": str(self.folder),
            "POLYBUILD_BACKEND": "cuda",
            "POLYBUILD_DEVICE_CACHE": "0",
            "POLYBUILD_EMULATOR_ORDER": order,
            "POLYBUILD_EMULATOR_FAIL": fail,
            "POLYBUILD_EMULATOR_DROP": str(drop or ""),
            **more,
        }
        return {**os.environ, **{name: value for name, value in settings.items() if value}}

    def report(self, command: list[str], *, file: Path | None = None, **how: Any) -> dict[str, Any]:
        """What the driver counted while ``command`` ran, by way of ``file``; it must succeed."""
        file = file or self.folder / f"report-{os.getpid()}.json"
        environment = self.environment(POLYBUILD_EMULATOR_REPORT=str(file), **how)
        subprocess.run(command, env=environment, check=True, capture_output=True, timeout=120)
        counted: dict[str, Any] = json.loads(file.read_text())
        file.unlink()
        return counted


def build(folder: Path) -> StandIns:
    """Make the stand-ins in ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    library = folder / "libcuda.so.1"
    sources = sorted(str(path) for path in (HERE / "src").glob("*.c"))
    flags = [
        "-std=gnu11",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-O2",
        "-fPIC",
        "-shared",
        "-Wl,-soname,libcuda.so.1",
    ]
    subprocess.run(
        ["gcc", *flags, "-o", str(library), *sources, "-ldl", "-lpthread"], check=True, timeout=120
    )
    script = folder / "nvcc"
    words = (sys.executable, str(HERE / "nvcc.py"))
    script.write_text(
        f"#!/bin/sh\nexport POLYBUILD_EMULATOR_LIBRARY={shlex.quote(str(library))}\n"
        f'exec {shlex.join(words)} "$@"\n'
    )
    script.chmod(0o755)
    return StandIns(folder)
