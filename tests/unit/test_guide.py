"""What the guide shows is what the projects of the tests are built with, and its links lead somewhere."""

from __future__ import annotations

import math
import re
import statistics
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs" / "guide"


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
