"""This machine's NVIDIA device in the place of the stand-ins: ``pytest --device``."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass
from typing import Any

import pytest

from polybuild.targets.gpu.nvcc import find_nvcc
from tests.emulator.stand_ins import StandIns

_KEEPING = """\
#!/bin/sh
for each; do last="$each"; done
if [ -n "$POLYBUILD_EMULATOR_KEEP" ]; then cp "$last" "$POLYBUILD_EMULATOR_KEEP"; fi
exec NVCC "$@"
"""
"""The kernels' text is the last word of the command line."""


@dataclass(frozen=True)
class RealDevice(StandIns):
    """nvcc and the driver that are here. A test that needs what only the emulator does is skipped."""

    @property
    def nvcc(self) -> str:
        """The path of a script that runs the compiler, and keeps the kernels' text as the stand-in does."""
        found = find_nvcc() or pytest.fail("there is no nvcc")
        script = self.folder / "nvcc"
        if not script.exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            script.write_text(_KEEPING.replace("NVCC", shlex.quote(found)), encoding="utf-8")
            script.chmod(0o755)
        return str(script)

    def environment(self, **how: Any) -> dict[str, str]:
        """What to run a program with; the order of threads is the device's own."""
        backend = how.pop("backend", "cuda")
        how.pop("order", None)
        if backend != "cuda" or any(name in ("fail", "drop") or "EMULATOR" in name for name in how):
            pytest.skip("only the emulator does this")
        return {**os.environ, "POLYBUILD_BACKEND": backend, **how}

    def report(self, *_: Any, **__: Any) -> dict[str, Any]:
        """Nothing: a device does not count what its kernels do."""
        pytest.skip("only the emulator counts")
