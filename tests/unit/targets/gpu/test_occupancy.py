"""How many threads a multiprocessor holds: what NVIDIA's calculator says for a device of 2022."""

from __future__ import annotations

import pytest

from polybuild.machine.model import Machine
from polybuild.targets.gpu.occupancy import occupancy, resident_blocks


@pytest.mark.parametrize(
    ("threads", "registers", "shared", "blocks"),
    [(256, 32, 0, 8), (256, 130, 16640, 1), (256, 128, 16640, 2), (32, 16, 0, 32), (320, 40, 47 * 1024, 4)],
)
def test_blocks_by_what_they_need(threads, registers, shared, blocks):
    assert resident_blocks(Machine(), threads, registers, shared) == blocks


def test_what_does_not_fit_does_not_run():
    assert occupancy(Machine(), 1024, 255, 0) == 0


def test_all_threads():
    assert occupancy(Machine(), 256, 32, 0) == 1
