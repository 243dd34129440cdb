"""The blocks of code on the pages for people, and what each of them is held against.

A page is a session, typed in one folder from top to bottom (``docs/how-it-works/testing.md`` has the rules).
What is not part of one is named here with the test that has it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]

FENCE = re.compile(
    r'^(?P<indent> *)```(?P<language>\w*)(?: title="(?P<title>[^"]*)")?\n(?P<text>.*?)^(?P=indent)```$',
    re.DOTALL | re.MULTILINE,
)

WHOLE_PAGES = {
    "docs/guide/tutorial.md": "tests/builds/test_tutorial.py",
    "docs/reference/diagnostic-examples.md": "tests/execute/test_diagnostic_examples.py",
    "docs/reference/interface.md": "tests/unit/test_reference.py",
}
"""Pages all of whose blocks one test has."""

SHOWN = {
    ("docs/guide/cmake.md", 1): "tests/projects/kinds/CMakeLists.txt",
    ("docs/guide/cmake.md", 3): "tests/builds/test_doors.py",
    ("docs/guide/cmake.md", 4): "tests/projects/package/library/fillConfig.cmake",
    ("docs/guide/meson.md", 1): "tests/projects/program/meson.build",
    ("docs/guide/python.md", 0): "tests/builds/test_setuptools.py",
    ("docs/guide/python.md", 1): "tests/builds/test_setuptools.py",
    ("docs/guide/python.md", 2): "tests/builds/test_setuptools.py",
    ("docs/guide/python.md", 3): "tests/builds/test_doors.py",
    ("docs/guide/python.md", 4): "tests/projects/skbuild/CMakeLists.txt",
    ("docs/guide/python.md", 5): "tests/builds/test_doors.py",
    ("docs/guide/python.md", 9): "tests/execute/test_cupy.py",
    ("docs/guide/python.md", 10): "tests/execute/test_cupy.py",
    ("examples/heat-gpu/README.md", 1): "examples/heat-gpu/heat.c",
    ("examples/waves-ranks/README.md", 3): "examples/waves-ranks/waves.c",
}
"""Blocks, by page and number, that are part of a file which other tests build and run."""

OUTPUTS = {("docs/guide/what-ran.md", 1): "tests/execute/test_run_report.py"}
"""Blocks of output, by page and number, that a test compares with what a program of its own printed."""

ELSEWHERE = {
    "python3 -m venv": "installs from the package registry: tests/builds/test_distributions.py",
    "python3 tests/run.py": "runs these tests",
    ".venv-test/bin/pytest": "runs these tests: tests/execute/test_platforms.py",
    "git diff tests/golden": "looks at what these tests wrote",
    "python -m benchmarks.": "takes minutes: tests/builds/test_benchmarks.py",
    "python -m tests.fuzz": "takes minutes: tests/fuzz/test_short.py",
    "python run.py": "tests/builds/test_examples.py",
    "polybuild reduce": "takes minutes: tests/execute/test_reduce.py",
    "polybuild tune": "takes minutes: tests/execute/test_tuning.py",
    'CC="polybuild cc -- gcc" meson': "installs Meson: tests/builds/test_build_systems.py",
    "./configure CC": "tests/builds/test_build_systems.py",
    "make -j16": "has a daemon: tests/builds/test_cc.py",
}
"""Beginnings of command lines that are not typed where they stand, each with what types it."""

FREE = re.compile(r"(?P<dots>\.\.\.)|(?<=seconds )\d+\.\d+|\d+\.\d+(?= of the time)")
"""What may be printed otherwise: anything for ``...``, another number for one that was measured."""

_TEAM = re.compile(r"polybuild: \d+ of \d+ threads( again|, as other work takes the processors)$")
"""What programs say at times, where they take threads away from busy processors and give them back."""

OUTLINES = {"docs/how-it-works/gpu.md": 4, "docs/how-it-works/lanes.md": 2}
"""How many blocks of ``text`` a page has: the outline of a program in words, a picture."""


@dataclass(frozen=True)
class Block:
    """One block of a page, which is a path from the root of the tree; the number counts from 0."""

    page: str
    number: int
    language: str
    title: str
    text: str

    @property
    def lines(self) -> list[str]:
        """Its lines, where a backslash at the end of one joins it with the next."""
        return re.sub(r"\\\n\s*", "", self.text).splitlines()


def pages() -> list[Path]:
    """The pages that people read."""
    found = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "benchmarks" / "README.md"]
    return sorted([*found, *ROOT.glob("examples/*/README.md")])


def blocks_of(text: str, page: str = "") -> list[Block]:
    """The blocks of a page with this ``text``."""
    return [
        Block(
            page, number, each["language"], each["title"] or "", _shifted(each["text"], len(each["indent"]))
        )
        for number, each in enumerate(FENCE.finditer(text))
    ]


def _shifted(text: str, columns: int) -> str:
    return re.sub(rf"^ {{{columns}}}", "", text, flags=re.MULTILINE) if columns else text


def all_blocks() -> list[Block]:
    """The blocks of all pages."""
    return [
        block
        for path in pages()
        for block in blocks_of(path.read_text("utf-8"), path.relative_to(ROOT).as_posix())
    ]


def elsewhere(line: str) -> str:
    """The beginning in ``ELSEWHERE`` that a command line has; empty if it is to be typed."""
    return next((each for each in ELSEWHERE if line.startswith(each)), "")


def treatment(block: Block) -> str:
    """What has a block: a file, session, data, usage, message or outline; empty if nothing has."""
    if block.page in WHOLE_PAGES:
        return WHOLE_PAGES[block.page]
    if (block.page, block.number) in SHOWN | OUTPUTS:
        return (SHOWN | OUTPUTS)[block.page, block.number]
    if block.language in {"toml", "json", "yaml"}:
        return "data"
    if block.language == "text":
        return block.title or "outline"
    if block.language in {"sh", "console", "python", "cmake"} or (
        block.language in {"c", "make"} and block.title
    ):
        return "session"
    return ""


def printed_as(printed: str, shown: str) -> bool:
    """Whether a page may show ``shown`` of what was ``printed``.

    A line ``...`` stands for any number of lines, and ``...`` in a line for anything in it. Lines count
    without what they are indented by, and without the places that transformed C has for debuggers. How many
    threads run is for the machine to say.
    """
    lines = [line.lstrip() for line in printed.splitlines() if not line.startswith("#line ")]
    pattern = "".join(
        r"(?:.*\n)?" if line.strip() == "..." else _line(line.lstrip())
        for line in shown.splitlines()
        if not _TEAM.match(line)
    )
    lines = [line for line in lines if not _TEAM.match(line)]
    return bool(re.fullmatch(pattern, "".join(f"{line}\n" for line in lines), re.DOTALL))


def _line(line: str) -> str:
    pattern, end = "", 0
    for free in FREE.finditer(line):
        pattern += re.escape(line[end : free.start()]) + ("[^\n]*" if free["dots"] else r"\d+\.\d+")
        end = free.end()
    return f"{pattern}{re.escape(line[end:])}\n"
