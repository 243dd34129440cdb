"""The targets by name."""

from __future__ import annotations

from collections.abc import Mapping

from polybuild.targets.base import Target
from polybuild.targets.cpu.target import OPENMP
from polybuild.targets.gpu.target import CUDA, OPENCL, ROCM

TARGETS: Mapping[str, Target] = {each.name: each for each in (OPENMP, CUDA, ROCM, OPENCL)}
"""Every target, by what ``Options.backend`` calls it."""
