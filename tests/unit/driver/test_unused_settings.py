"""Settings that a region cannot use are named, with the reason."""

from __future__ import annotations

import pytest

from polybuild.driver.file import compile_source
from polybuild.options import Options

BLUR = """
void blur(int n, int m, double a[n][m], double b[n][m]) {
#pragma scop
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < m - 1; j++)
            b[i][j] = (a[i][j - 1] + a[i][j] + a[i][j + 1]) / 3;
#pragma endscop
}
"""
LINE = """
void line(int n, double a[n]) {
#pragma scop
    for (int i = 0; i < n; i++)
        a[i] = 2 * a[i];
#pragma endscop
}
"""
PRODUCT = """
void product(int n, double c[n][n], double a[n][n], double b[n][n]) {
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                c[i][j] += a[i][k] * b[k][j];
#pragma endscop
}
"""


def compiled(tmp_path, text, **settings):
    path = tmp_path / "region.c"
    path.write_text(text)
    return compile_source(str(path), Options(**settings), ["gcc"], ["-O3", "-mavx2", "-mfma"])


@pytest.mark.parametrize(
    ("text", "settings", "message"),
    [
        (
            BLUR,
            {"tile_sizes": (16, 32)},
            "the tile sizes are not used for this region: with tiles it would find",
        ),
        (LINE, {"tile_sizes": (16,)}, "the tile sizes are not used for this region: it has no two loops"),
        (
            PRODUCT,
            {"tile_sizes": (16, 32, 8, 64, 4)},
            "tile sizes are not used for this region: 64, 4; 3 of its loops are tiled together",
        ),
        (
            PRODUCT,
            {"tile_shape": "hybrid"},
            "the tile shape 'hybrid' is not used for this region: no loop over",
        ),
    ],
)
def test_a_setting_without_effect_is_told(tmp_path, text, settings, message):
    result = compiled(tmp_path, text, **settings)
    assert [each.code for each in result.diagnostics] == ["unused-setting"]
    assert result.diagnostics[0].message.startswith(message)
    assert result.regions[0].status == "transformed"


@pytest.mark.parametrize("registers", [True, False])
def test_a_setting_with_effect_is_not(tmp_path, registers):
    result = compiled(tmp_path, PRODUCT, tile_sizes=(16, 40, 60), registers=registers)
    assert not result.diagnostics
    assert (
        any("multiples of the tiles in registers" in each for each in result.regions[0].remarks) == registers
    )
    assert (result.regions[0].tile_sizes == ((16, 40, 60),)) == (not registers)


def test_nothing_is_said_of_what_was_not_asked_for(tmp_path):
    assert not compiled(tmp_path, BLUR).diagnostics
    assert not compiled(tmp_path, BLUR, tile_sizes=(16,), tile=False).diagnostics


@pytest.mark.parametrize(
    ("tile", "block", "messages"),
    [
        ((128, 64, 8), (16, 16), []),
        ((128, 128, 8), (16, 8), ["a thread has 128 results, its registers hold 64; all of them stay"]),
        ((64, 64, 64), (16, 16), ["what a tile reads takes 67584 bytes, shared memory has 32768; some of"]),
        ((128, 128, 64), (8, 8), ["a thread has 256 results", "what a tile reads takes"]),
    ],
)
def test_tiles_that_a_device_has_no_room_for_are_told(tmp_path, tile, block, messages):
    """Kernels are right all the same, and slow."""
    result = compiled(tmp_path, PRODUCT, backend="opencl", tile_sizes=tile, block_sizes=block)
    assert [each.code for each in result.diagnostics] == ["large-tiles"] * len(messages)
    for found, message in zip(result.diagnostics, messages, strict=True):
        assert message in found.message
    assert result.regions[0].backend == "opencl"
