"""Pictures of tiles: their parts, and those of the documentation."""

from __future__ import annotations

from pathlib import Path

import pytest

from polybuild.report.explain.pictures.shapes import pictures
from polybuild.report.explain.pictures.tiles import tile_picture

DOCS = Path(__file__).parents[5] / "docs"


@pytest.fixture(scope="module")
def drawn():
    return pictures()


def test_the_pictures_of_the_documentation_are_up_to_date(drawn):
    kept = {path.name: path.read_text(encoding="utf-8") for path in (DOCS / "pictures").glob("tiles-*.svg")}
    assert kept.keys() == drawn.keys()
    stale = [name for name in drawn if kept[name] != drawn[name]]
    assert not stale, "python -m polybuild.report.explain.pictures.shapes docs/pictures"


def test_the_documentation_shows_each_of_them(drawn):
    page = (DOCS / "how-it-works" / "tile-shapes.md").read_text(encoding="utf-8")
    assert all(f"](../pictures/{name})" in page for name in drawn)


def test_tiles_are_parted_by_lines_and_points_are_drawn_once():
    tiles = {(row, column): (0, 0, column // 2) for row in range(2) for column in range(4)}
    picture = tile_picture(tiles, "Two tiles", ("t", "i"))
    assert picture.count("<circle") == 8
    assert picture.count('class="strong"') == 1  # one line between two tiles
    assert picture.count('class="tile0"') == 2  # one run of squares per row
    assert "<title>Two tiles</title>" in picture
    assert tile_picture(tiles, "Two tiles", ("t", "i"), ordered=3).count('class="tile1"') == 2
