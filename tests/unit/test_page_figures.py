"""Figures of measurements on the pages for people are those of a file in ``benchmarks/results``."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from page_blocks import ROOT, pages
from page_figures import Part, parts_of, results

NO_MEASUREMENT = {
    "docs/reference/machine.md": "the model's own figures: tests/unit/machine",
    "docs/reference/options.md": "written from the options: tests/unit/test_options.py",
    "CHANGELOG.md": "tells of versions",
}
"""Pages without figures of measurements, and what their numbers are."""

RULES = {
    "benchmarks/README.md": ["50"],
    "docs/guide/gpu.md": ["8.0", "9.0"],
    "docs/guide/what-ran.md": ["16"],
    "docs/guide/why-not-faster.md": ["5"],
    "docs/how-it-works/scheduling.md": ["1.5", "1.1"],
}
"""Numbers that were not measured: limits, architectures, sums for the reader to follow."""

PARTS = [
    part
    for path in pages()
    if (page := path.relative_to(ROOT).as_posix()) not in NO_MEASUREMENT
    for part in parts_of(path.read_text("utf-8"), page)
]
MARKED = [part for part in PARTS if part.kind]


@pytest.mark.parametrize("part", MARKED, ids=lambda part: f"{part.page}, {part.rules[:30]}")
def test_figures_are_those_of_the_results(part: Part):
    assert list(part.wrong()) == []


def test_every_figure_has_results():
    found = [(part.page, each) for part in PARTS for each in part.without()]
    assert [each for each in found if each[1] not in RULES.get(each[0], ())] == []
    assert {page: [each for of, each in found if of == page] for page in RULES} == RULES


@pytest.mark.parametrize("part", MARKED, ids=lambda part: f"{part.page}, {part.rules[:30]}")
def test_another_figure_is_seen(part: Part):
    """Each digit is one more than it was, but in the names of rows."""
    names = r"^\|[^|]*\|" if part.kind == "table" else "^$"
    lines = part.text.splitlines()
    kept = [found[0] if (found := re.search(names, line)) else "" for line in lines]
    more = [line.translate(str.maketrans("0123456789", "1234567890")) for line in lines]
    text = "\n".join(name + line[len(name) :] for name, line in zip(kept, more, strict=True))
    assert len(list(replace(part, text=text).wrong())) >= max(1, part.text.count("\n|") - 1)


def test_the_picture_of_the_extension_for_numpy_shows_its_results():
    table = results("numpy-extension-2026-11-23.txt")
    cells = [column.cells for column in table.columns.values()][1:]
    wanted = [f"{column[row]:.1f}" for row in range(len(table.names)) for column in cells]
    picture = (ROOT / "examples" / "numpy-extension" / "times.svg").read_text("utf-8")
    assert re.findall(r"([\d.]+) ms</text>", picture) == wanted
