"""The full text of the kernels of one region in both languages: reviewed when it changes.

``pytest --update-golden`` writes the texts anew; read the difference before committing it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from polybuild.analysis.dependences import compute_dependences
from polybuild.analysis.liveness import live_after
from polybuild.analysis.trip_counts import trip_counts
from polybuild.codegen.device.model import DeviceRequest
from polybuild.codegen.file.module import kernel_file
from polybuild.codegen.file.region import HostPlan, RunTimeChecks, write_region
from polybuild.context import CompileContext
from polybuild.options import Options
from polybuild.scop.extract import extract_scop
from polybuild.source.reader import read_source
from polybuild.targets.lookup import TARGETS

HERE = Path(__file__).parent
# A thread has two by two points of a tile; boxes and blocks are of different sizes.
OPTIONS = Options(tile_sizes=(16, 16, 8), block_sizes=(8, 8), grid_sizes=(64, 64))


@pytest.mark.parametrize(("backend", "suffix"), [("cuda", "cu"), ("opencl", "cl")])
def test_text(backend, suffix, request):
    (region,) = read_source(str(HERE / "inputs" / "product.c"), ["gcc"], ["-std=c99"]).regions
    scop = extract_scop(region)
    dependences = compute_dependences(scop, live_after(region))
    target = TARGETS[backend]
    planned = target.plan(scop, dependences, CompileContext(OPTIONS), None, ())
    wanted = DeviceRequest(scop, planned, target.language, trip_counts(scop), 0)
    plan = HostPlan(scop.schedule, {})
    text = kernel_file([write_region(scop, region, plan, RunTimeChecks(), wanted).device]).text
    golden = HERE / "kernels" / f"product.{suffix}"
    if request.config.getoption("--update-golden"):
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8"), "see the module's description"
