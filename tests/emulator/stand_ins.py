"""Builds the stand-ins, and says in which environment a program finds them."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
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
    """A folder with ``nvcc`` and ``libcuda.so.1``, and in its folder ``hip`` the libraries of HIP."""

    folder: Path

    @property
    def nvcc(self) -> str:
        """The path of the compiler."""
        return str(self.folder / "nvcc")

    def environment(
        self, *, backend: str = "cuda", order: str = "ascending", fail: str = "", drop: int = 0, **more: str
    ) -> dict[str, str]:
        """What to run a program with: it finds the driver of ``backend`` and keeps no device memory.

        ``fail`` is the number of the call that fails ("7": only that; "7+": all from then on), ``drop``
        the number of the copy that does not happen, ``more`` are other variables.
        """
        settings = {
            "LD_LIBRARY_PATH": str(self.folder if backend == "cuda" else self.folder / backend),
            "POLYBUILD_BACKEND": backend,
            "POLYBUILD_DEVICE_CACHE": "0",
            "POLYBUILD_EMULATOR_ORDER": order,
            "POLYBUILD_EMULATOR_FAIL": fail,
            "POLYBUILD_EMULATOR_DROP": str(drop or ""),
            **more,
        }
        return {**os.environ, **{name: value for name, value in settings.items() if value}}

    def report(
        self, command: list[str], *, file: Path | None = None, limit: float = 120, **how: Any
    ) -> dict[str, Any]:
        """What the driver counted while ``command`` ran, by way of ``file``; it must succeed.

        ``limit`` is in seconds.
        """
        file = file or self.folder / f"report-{os.getpid()}.json"
        environment = self.environment(POLYBUILD_EMULATOR_REPORT=str(file), **how)
        subprocess.run(command, env=environment, check=True, capture_output=True, timeout=limit)
        counted: dict[str, Any] = json.loads(file.read_text())
        file.unlink()
        return counted


def build(folder: Path) -> StandIns:
    """Make the stand-ins in ``folder``."""
    _build_driver(folder, "libcuda.so.1", ("src",))
    hip = folder / "hip"
    _build_driver(hip, "libamdhip64.so.6", ("src", "hip"))
    compiler = hip / "libhiprtc.so.6"
    if not compiler.exists():
        compiler.symlink_to("libamdhip64.so.6")
    return StandIns(folder)


def _build_driver(folder: Path, name: str, sources: Sequence[str]) -> None:
    """Make the library ``name`` of the C files in some folders, and the compiler whose kernels it runs."""
    folder.mkdir(parents=True, exist_ok=True)
    library = folder / name
    files = sorted(str(path) for each in sources for path in (HERE / each).glob("*.c"))
    flags = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O2", "-fPIC", "-shared", f"-Wl,-soname,{name}"]
    subprocess.run(["gcc", *flags, "-o", str(library), *files, "-ldl", "-lpthread"], check=True, timeout=120)
    script = folder / "nvcc"
    words = (sys.executable, str(HERE / "nvcc.py"))
    script.write_text(
        f"#!/bin/sh\nexport POLYBUILD_EMULATOR_LIBRARY={shlex.quote(str(library))}\n"
        f'exec {shlex.join(words)} "$@"\n'
    )
    script.chmod(0o755)
