"""What builds tell the tuner of regions: those on devices have the tiles and blocks of their kernels."""

from __future__ import annotations

import pytest

from polybuild.cli import main as commands
from polybuild.tuning.trial import VARIABLE, Trial, met_regions

PRODUCT = """
void product(int n, double a[restrict n][n], double b[restrict n][n], double c[restrict n][n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        c[i][j] += a[i][k] * b[k][j];
#pragma endscop
}
"""


@pytest.mark.parametrize(
    ("backend", "sizes"), [("opencl", ((32, 32, 8), (8, 8))), ("openmp", None)], ids=["device", "host"]
)
def test_regions_tell_of_their_tiles(backend, sizes, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.c").write_text(PRODUCT)
    Trial({}, str(tmp_path / "log")).write(tmp_path / "trial.json")
    monkeypatch.setenv(VARIABLE, str(tmp_path / "trial.json"))
    asked = ["--tile-sizes", "32,32,8", "--block-sizes", "8,8"] if sizes else []
    words = ["compile", "in.c", "-o", "out.c", "--backend", backend, *asked, "--", "gcc", "-O2"]
    assert commands.run(words) == 0
    (met,) = met_regions(tmp_path / "log")
    assert (met.tile_sizes, met.block_sizes) == (sizes or (met.tile_sizes, ()))
    assert met.tile_sizes
