"""The cores of the host, shared by OpenMP's threads."""

from __future__ import annotations

from polybuild.targets.base import Target

OPENMP = Target("openmp", "OpenMP")
