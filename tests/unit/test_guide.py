"""What the guide shows is what the projects of the tests are built with, and its links lead somewhere."""

from __future__ import annotations

import math
import re
import statistics
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs" / "guide"

SHOWN = {
    ("cmake.md", 1): "tests/projects/kinds/CMakeLists.txt",
    ("cmake.md", 3): "tests/builds/test_doors.py",
    ("cmake.md", 4): "tests/projects/package/library/fillConfig.cmake",
    ("python.md", 0): "tests/builds/test_setuptools.py",
    ("python.md", 1): "tests/builds/test_setuptools.py",
    ("python.md", 2): "tests/builds/test_setuptools.py",
    ("python.md", 3): "tests/builds/test_doors.py",
    ("python.md", 4): "tests/projects/skbuild/CMakeLists.txt",
    ("python.md", 5): "tests/builds/test_doors.py",
    ("meson.md", 1): "tests/projects/program/meson.build",
}


@pytest.mark.parametrize(("page", "number"), SHOWN)
def test_what_is_shown_is_what_is_tested(page, number):
    blocks = re.findall(r"^```\w+\n(.*?)^```$", (GUIDE / page).read_text(), re.DOTALL | re.MULTILINE)
    assert blocks[number] in (ROOT / SHOWN[page, number]).read_text()


def peers() -> dict[str, dict[str, str]]:
    """The cells of the table of peers, by tools and kernels."""
    text = (ROOT / "benchmarks" / "results" / "peers-2026-11-22.txt").read_text()
    head, *rows = [line.split() for line in text[text.index("kernel  ") :].splitlines()]
    return {tool: {row[0]: row[number] for row in rows} for number, tool in enumerate(head) if number}


@pytest.mark.parametrize("tool", ["clang", "Polly", "Pluto", "Pluto-no-uj", "PPCG", "polybuild"])
def test_figures_of_peers_are_those_of_the_results(tool):
    gcc = {kernel: float(cell) for kernel, cell in peers()["gcc"].items()}
    times = {kernel: cell for kernel, cell in peers()[tool].items() if cell.replace(".", "").isdigit()}
    gains = {kernel: gcc[kernel] / float(cell) for kernel, cell in times.items()}
    long = [gain for kernel, gain in gains.items() if gcc[kernel] > 0.05]
    means = [math.exp(statistics.fmean(map(math.log, each))) for each in (gains.values(), long)]
    slower = sum(gain < 0.95 for gain in gains.values())
    cells = [tool, len(gains), *(f"{mean:.2f}" for mean in means), slower, f"{min(gains.values()):.2f}"]
    assert f"| {' | '.join(map(str, cells))} |\n" in (GUIDE / "comparison.md").read_text()


@pytest.mark.parametrize("page", sorted(GUIDE.glob("*.md")), ids=lambda page: page.name)
def test_links(page):
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
        assert (page.parent / target).exists(), target
