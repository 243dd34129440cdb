from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from polybuild.context import CompileContext
from polybuild.options import Options
from polybuild.scop.model import Scop
from polybuild.targets.device import DevicePlan, SharedTile, ThreadTile
from polybuild.targets.gpu.target import CUDA


@dataclass(frozen=True)
class Planned:
    """A region and what of it runs on a device."""

    scop: Scop
    plan: DevicePlan

    @property
    def shared(self) -> dict[str, SharedTile]:
        """The tiles in shared memory by the name of their array."""
        tiles = [tile for each in self.plan.tree.tiles.values() for tile in each]
        return {tile.array.name: tile for tile in tiles if isinstance(tile, SharedTile)}

    @property
    def registers(self) -> dict[str, ThreadTile]:
        """The tiles in registers by the name of their array."""
        tiles = [tile for each in self.plan.tree.tiles.values() for tile in each]
        return {tile.array.name: tile for tile in tiles if isinstance(tile, ThreadTile)}


@pytest.fixture
def planned(model) -> Callable[..., Planned]:
    """Plan a region for a GPU; the plan is proved on the way."""

    def make(
        body: str,
        parameters: str,
        before: str = "",
        live_out: frozenset[str] | None = None,
        **options: object,
    ) -> Planned:
        found = model(body, parameters, before=before)
        wanted = CompileContext(Options(**options))  # type: ignore[arg-type]
        return Planned(found.scop, CUDA.plan(found.scop, found.dependences, wanted, live_out, ()))

    return make
