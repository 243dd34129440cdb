"""This machine's NVIDIA device in the place of the stand-ins: ``pytest --device``."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import pytest

from polybuild.targets.gpu.nvcc import find_nvcc
from tests.emulator.stand_ins import StandIns


@dataclass(frozen=True)
class RealDevice(StandIns):
    """nvcc and the driver that are here. A test that needs what only the emulator does is skipped."""

    @property
    def nvcc(self) -> str:
        """The path of the compiler."""
        return find_nvcc() or pytest.fail("there is no nvcc")

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
