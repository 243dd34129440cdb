"""What the guide shows is what the projects of the tests are built with, and its links lead somewhere."""

from __future__ import annotations

import re
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


@pytest.mark.parametrize("page", sorted(GUIDE.glob("*.md")), ids=lambda page: page.name)
def test_links(page):
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
        assert (page.parent / target).exists(), target
