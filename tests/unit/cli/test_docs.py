"""Pages of the documentation on the terminal."""

from __future__ import annotations

import pydoc
import sys

import pytest

from polybuild.cli import docs, main
from polybuild.diagnostics import UsageError
from polybuild.integrations import locations

PAGES = {
    "guide/gpu": "# On the GPU\n\n## Results\n\nSums.\n\n```sh\n# no heading\n```\n\n## Threads\n",
    "how-it-works/gpu": "# Devices\n",
    "reference/codes": "# Codes\n\n| `break`, `goto` | a jump |\n\n## break\n\nExample.\n",
    "reference/options": "# Options\n\n## tile-sizes\n\nSizes.\n\n### Why\n\nCaches.\n\n## simd\n",
}


@pytest.mark.parametrize("name", ["options", "reference/options", "options.md"])
def test_a_page_by_its_name(name):
    assert docs.found(PAGES, name) == PAGES["reference/options"]


@pytest.mark.parametrize("name", ["tile-sizes", "Tile sizes"])
def test_a_section_goes_to_the_next_of_its_level(name):
    wanted = "[reference/options]\n\n## tile-sizes\n\nSizes.\n\n### Why\n\nCaches.\n\n"
    assert docs.found(PAGES, name) == wanted


def test_a_code_by_its_row_and_its_section():
    assert docs.found(PAGES, "break") == (
        "[reference/codes]\n\n| `break`, `goto` | a jump |\n\n[reference/codes]\n\n## break\n\nExample.\n"
    )


def test_comments_in_code_are_no_headings():
    assert docs.found(PAGES, "results").endswith("# no heading\n```\n\n")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("gpu", "may be guide/gpu or how-it-works/gpu"),
        ("tile-size", "did you mean 'tile-sizes'"),
        ("xyzzy", "no page or section 'xyzzy' "),
    ],
)
def test_what_is_not_there_is_told(name, message):
    with pytest.raises(UsageError, match=message):
        docs.found(PAGES, name)


def test_the_command_prints(capsys):
    assert main.run(["docs"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert ["reference/cli", "The command line"] in [line.split(None, 1) for line in lines]
    assert main.run(["docs", "tile-sizes"]) == 0
    assert "#pragma scop tile_sizes(N,N,...)" in capsys.readouterr().out


def test_comments_of_pages_are_not_shown(capsys):
    assert main.run(["docs", "guide/comparison"]) == 0
    text = capsys.readouterr().out
    assert "| tool | right kernels |" in text
    assert "<!--" not in text


def test_a_terminal_gets_a_pager(monkeypatch):
    shown = []
    monkeypatch.setattr(pydoc, "pager", shown.append)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    assert main.run(["docs", "reference/cli"]) == 0
    assert shown[0].startswith("# The command line")


def test_an_installation_without_its_pages(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(locations, "_PACKAGE", tmp_path / "polybuild")
    assert main.run(["docs"]) == 1
    assert "the documentation is not installed" in capsys.readouterr().err
