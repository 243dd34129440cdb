from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from polybuild.analysis.dependences import Dependences, compute_dependences
from polybuild.analysis.liveness import live_after
from polybuild.scop.extract import extract_scop
from polybuild.scop.model import Scop
from polybuild.source.model import Region
from polybuild.source.reader import read_source

KERNELS = Path(__file__).parents[2] / "kernels"


@pytest.fixture
def kernel() -> Callable[[str], tuple[Scop, Dependences]]:
    """The region of one of our kernels."""

    def read(name: str) -> tuple[Scop, Dependences]:
        (region,) = read_source(str(KERNELS / f"{name}.c"), ["gcc"], ["-I", str(KERNELS)]).regions
        assert isinstance(region, Region)
        scop = extract_scop(region)
        return scop, compute_dependences(scop, live_after(region))

    return read
