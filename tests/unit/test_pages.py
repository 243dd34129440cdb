"""What pages for people name is there: modules, folders, links; and tests stand where they are looked for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("*/README.md")]
NAMED = re.compile(r"`((?:[\w.-]+/)*[\w-]+\.py|(?:[\w.-]+/)+)`")
"""A module or a folder in backticks."""


def missing(text: str, page: Path) -> Iterator[str]:
    """The files and folders that ``text`` names and nobody has."""
    for name in NAMED.findall(text):
        alone = "/" not in name.rstrip("/")
        where = [ROOT, ROOT / "polybuild", page.parent]
        if not any((folder / name).exists() for folder in where) and not (alone and is_in_package(name)):
            yield name


def is_in_package(name: str) -> bool:
    """Whether some folder of the package has a file or folder ``name``."""
    return any(path.is_dir() == name.endswith("/") for path in (ROOT / "polybuild").rglob(name.rstrip("/")))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_files_and_folders_are_there(page):
    assert list(missing(page.read_text("utf-8"), page)) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text("utf-8")):
        assert (page.parent / target).exists(), target


def test_the_menu_of_the_site_has_every_page():
    text = (ROOT / "mkdocs.yml").read_text("utf-8")
    menu = set(re.findall(r"^ +- (?:[\w ]+: )?([\w/-]+\.md)$", text, re.MULTILINE))
    pages = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    pages |= {f"examples/{path.parent.name}.md" for path in ROOT.glob("examples/*/README.md")}
    assert pages <= menu, "add what is missing to mkdocs.yml"


def test_what_is_not_there_is_seen():
    page = ROOT / "README.md"
    assert list(missing("`scop/model.py`, `model.py`, `tests/run.py`, `scop/`, `tiling/`", page)) == []
    assert list(missing("`scop/attic.py`, `attic.py`, `attic/`", page)) == [
        "scop/attic.py",
        "attic.py",
        "attic/",
    ]


def test_unit_tests_mirror_the_package():
    tests = ROOT / "tests" / "unit"
    folders = {path.parent.relative_to(tests) for path in tests.rglob("test_*.py")} - {Path("architecture")}
    assert [str(folder) for folder in folders if not (ROOT / "polybuild" / folder).is_dir()] == []


def test_base_names_of_tests_are_unique():
    names = sorted(path.name for path in (ROOT / "tests").rglob("test_*.py"))
    assert [name for name in set(names) if names.count(name) > 1] == []
