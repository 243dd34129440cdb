"""What pages tell to type is typed, and prints what they say."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs" / "guide"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
FREE = re.compile(r"(?P<dots>\.\.\.)|(?<=seconds )\d+\.\d+|\d+\.\d+(?= of the time)")
"""What may be printed otherwise: anything for ``...``, another number for one that was measured."""


def blocks(page: str) -> list[tuple[str, str]]:
    """The languages and texts of the blocks of a page."""
    return BLOCK.findall((GUIDE / page).read_text("utf-8"))


def expected(lines: list[str]) -> re.Pattern[str]:
    """What output fits ``lines``; one that is only ``...`` stands for any number of them."""
    return re.compile("".join(r"(?:.*\n)?" if line == "..." else _line(line) for line in lines), re.DOTALL)


def _line(line: str) -> str:
    pattern, end = "", 0
    for free in FREE.finditer(line):
        pattern += re.escape(line[end : free.start()]) + ("[^\n]*" if free["dots"] else r"\d+\.\d+")
        end = free.end()
    return f"{pattern}{re.escape(line[end:])}\n"


def type_in(console: str, folder: Path) -> None:
    """Run each command of ``console``; what it prints must be what follows it."""
    for part in re.split(r"^\$ ", console, flags=re.MULTILINE)[1:]:
        command, *lines = part.splitlines()
        done = subprocess.run(
            ["bash", "-c", command], cwd=folder, check=False, capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, done.stderr
        printed = done.stdout + done.stderr
        assert expected(lines).fullmatch(printed), f"{command}\n{printed}"


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
    assert bool(expected(lines).fullmatch(printed)) == fits


CALLER = """\
void multiply(int n, double a[n][n], double b[n][n], double c[n][n]);
static double a[200][200], b[200][200], c[200][200];
int main(void)
{
  for (int i = 0; i < 200; i++)
    for (int j = 0; j < 200; j++) {
      a[i][j] = i;
      b[i][j] = j;
    }
  multiply(200, a, b, c);
  return c[3][5] != 200 * 3 * 5;
}
"""


@pytest.mark.cmake
def test_the_first_page(polybuild_on_path, tmp_path):
    """The C and the CMake of README.md are a project that builds, and its region runs in parallel."""
    assert polybuild_on_path.is_dir()
    shown = dict(reversed(BLOCK.findall((ROOT / "README.md").read_text("utf-8"))))
    (tmp_path / "multiply.c").write_text(shown["c"])
    (tmp_path / "main.c").write_text(CALLER)
    head = "cmake_minimum_required(VERSION 3.21)\nproject(first LANGUAGES C)\n"
    (tmp_path / "CMakeLists.txt").write_text(head + shown["cmake"])
    for command in (
        [
            "cmake",
            "-S",
            ".",
            "-B",
            "build",
            f"-Dpolybuild_DIR={ROOT / 'cmake'}",
            "-DCMAKE_BUILD_TYPE=Release",
        ],
        ["cmake", "--build", "build"],
        [tmp_path / "build" / "app"],
    ):
        done = subprocess.run(command, cwd=tmp_path, check=False, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr
    assert b"GOMP_parallel" in (tmp_path / "build" / "app").read_bytes()
