"""The tutorial is typed, with its edits, and prints what it says."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from page_blocks import blocks_of, printed_as

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs" / "guide"


def blocks(page: str) -> list[tuple[str, str]]:
    """The languages and texts of the blocks of a page of the guide."""
    return [(each.language, each.text) for each in blocks_of((GUIDE / page).read_text("utf-8"))]


def type_in(console: str, folder: Path) -> None:
    """Run each command of ``console``; what it prints must be what follows it."""
    for part in re.split(r"^\$ ", console, flags=re.MULTILINE)[1:]:
        command, *lines = part.splitlines()
        done = subprocess.run(
            ["bash", "-c", command], cwd=folder, check=False, capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, done.stderr
        printed = done.stdout + done.stderr
        assert printed_as(printed, "\n".join(lines)), f"{command}\n{printed}"


def replaced(text: str, old: str, new: str) -> str:
    assert text.count(old) == 1, old
    return text.replace(old, new)


def test_the_tutorial(polybuild_on_path, tmp_path):
    assert polybuild_on_path.is_dir()
    page = blocks("tutorial.md")
    program, begin, end, energy, restricted, allowed = [text for language, text in page if language == "c"]
    consoles = [text for language, text in page if language == "console"]
    source = tmp_path / "pond.c"
    source.write_text(program)
    type_in(consoles[0], tmp_path)
    text = program
    for marked in (begin, end, energy):
        text = replaced(text, re.sub(r"#pragma .*\n", "", marked), marked)
    source.write_text(text)
    for console in consoles[1:5]:
        type_in(console, tmp_path)
    text = re.sub(r"^void waves\(.*\n", lambda _: restricted, text, flags=re.MULTILINE)
    source.write_text(replaced(text, energy, energy.replace("#pragma scop\n", allowed)))
    for console in consoles[5:]:
        type_in(console, tmp_path)


@pytest.mark.parametrize(
    ("lines", "printed", "fits"),
    [
        (["energy 1.5"], "energy 1.5\n", True),
        (["for (;;)", "  ...", "}"], "#line 3\n    for (;;)\n      x;\n    }\n", True),
        (["energy 1.5"], "energy 1.6\n", False),
        (["seconds 1.5"], "seconds 0.123\n", True),
        (["seconds 1.5"], "seconds none\n", False),
        (["...", "a (b)", "..."], "x\na (b)\ny\n", True),
        (["a ..."], "b c\n", False),
        (["...", "a"], "a\n", True),
        (["a ...", "c"], "a b\nb\nc\n", False),
        (["1.00 of the time, ..."], "0.71 of the time, 3 tried\n", True),
    ],
)
def test_what_is_told_apart(lines, printed, fits):
    assert printed_as(printed, "\n".join(lines)) == fits
