"""Every order that our scheduler finds for the thirty kernels is proved legal."""

from __future__ import annotations

from pathlib import Path

import pytest

from polybuild.analysis.dependences import compute_dependences
from polybuild.analysis.liveness import live_after
from polybuild.schedule.legality import check_schedule
from polybuild.schedule.pluto.scheduler import PlutoScheduler
from polybuild.schedule.pluto.search import Strategy
from polybuild.scop.extract import extract_scop
from polybuild.source.reader import read_source

KERNELS = Path(__file__).parents[3] / "kernels"
FILES = sorted(file for file in KERNELS.glob("*.c") if file.stem != "driver")


@pytest.mark.parametrize("file", FILES, ids=lambda each: each.stem)
def test_every_kernel_has_a_legal_order(file):
    for region in read_source(str(file), ["gcc"], [f"-I{KERNELS}"]).regions:
        scop = extract_scop(region)
        dependences = compute_dependences(scop, live_after(region))
        scheduler = PlutoScheduler.of(scop, dependences)
        check_schedule(scheduler.schedule(Strategy()), dependences, scop.domain)
