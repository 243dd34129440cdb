"""How many tiles run at once, and what part of some cores that keeps busy."""

from __future__ import annotations

import pytest
from contexts import context_of

from polybuild.targets.cpu.choice import choose_mapping
from polybuild.targets.cpu.mapping import map_to_cpu
from polybuild.targets.cpu.wavefronts import busy_part, tiles_per_wavefront

STEPS = (
    "for (int t = 0; t < steps; t++) for (int i = 1; i < n - 1; i++) u[t + 1][i] = u[t][i - 1] + u[t][i + 1];"
)
LINE = "int n, int steps, double u[restrict steps + 1][n]"


def test_diamonds_are_as_many_as_fit_on_the_line(model):
    read = model(STEPS, LINE)
    context = context_of(tile_sizes=(8, 16), tile_shape="diamond", min_work=0)
    mapping = map_to_cpu(read.scop, read.dependences, read.scop.schedule, context)
    tiles = tiles_per_wavefront(mapping.schedule, {"n": 1602, "steps": 80})
    # half a diamond begins a wavefront where the time of another ends
    assert len(tiles) in range(20, 23)
    assert set(tiles[1:-1]) <= {200, 201}


def test_as_many_tiles_as_there_are_are_counted(model):
    read = model(STEPS, LINE)
    context = context_of(tile_sizes=(8, 16), tile_shape="diamond", min_work=0)
    mapping = map_to_cpu(read.scop, read.dependences, read.scop.schedule, context)
    tiles = tiles_per_wavefront(mapping.schedule, {"n": 16_000_002, "steps": 80})
    assert len(tiles) in range(20, 23)
    assert set(tiles[1:-1]) <= {2_000_000, 2_000_001}


def test_tiles_along_two_dimensions_are_counted_together(model):
    plane = """
      for (int t = 0; t < steps; t++) {
        for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++)
          v[i][j] = u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1];
        for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++) u[i][j] = v[i][j];
      }"""
    read = model(plane, "int n, int steps, double u[restrict n][n], double v[restrict n][n]")
    context = context_of(tile_sizes=(8, 16), tile_shape="diamond-2d", min_work=0)
    mapping = map_to_cpu(read.scop, read.dependences, read.scop.schedule, context)
    pairs = {mark for mark, each in mapping.directives.items() if each.shared == 2}
    sizes = {"n": 92, "steps": 27}
    rows = tiles_per_wavefront(mapping.schedule, sizes)
    tiles = tiles_per_wavefront(mapping.schedule, sizes, pairs)
    # ninety places are seven diamonds; of their pairs one may have no point
    assert set(rows[1:]) == {7}
    assert set(tiles[1:]) == {48, 49}


def test_a_loop_that_threads_share_once_has_no_wavefronts(model):
    read = model("for (int t = 0; t < steps; t++) for (int i = 0; i < n; i++) u[t][i] *= 2;", LINE)
    mapping = choose_mapping(read.scop, read.dependences, context_of(min_work=0))
    assert mapping.parallel_loops == 1
    assert not tiles_per_wavefront(mapping.schedule, {"n": 1602, "steps": 80})


@pytest.mark.parametrize(("cores", "part"), [(16, 1.0), (17, 32 / 34), (64, 0.5)])
def test_cores_without_a_tile_wait(cores, part):
    assert busy_part([32, 32], cores) == pytest.approx(part)
