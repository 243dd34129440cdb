"""A program in several versions: as it is, with marks by hand, with those of a survey."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.cpu.processes import run
from benchmarks.programs.recipes import Recipe, RecipeError
from polybuild.survey.marks import with_marks

ORIGINAL, BY_HAND, BY_SURVEY = "original", "by hand", "by survey"
_MARK = "#pragma scop"


@dataclass(frozen=True, slots=True)
class Tools:
    """The compiler with its flags, what stands before it where regions are marked, and a limit in seconds."""

    compiler: str
    flags: str
    options: Sequence[str]
    limit: float

    def command(self, version: str) -> str:
        """What compiles a version."""
        if version == ORIGINAL:
            return self.compiler
        return shlex.join([sys.executable, "-m", "polybuild", "cc", *self.options, "--", self.compiler])


@dataclass(frozen=True, slots=True)
class Version:
    """A program that was built in ``folder``, with so many marked regions."""

    name: str
    folder: Path
    regions: int


def versions_of(recipe: Recipe, tools: Tools, folder: Path) -> Iterator[Version]:
    """Build what there is of a program in new folders below ``folder``. Raises Failure and RecipeError."""
    for name in (ORIGINAL, *((BY_HAND,) if recipe.marks else ()), BY_SURVEY):
        made = folder / name.replace(" ", "-")
        shutil.copytree(recipe.folder, made, symlinks=True, ignore=shutil.ignore_patterns(".git"))
        _all(recipe.prepare, tools, ORIGINAL, made)
        before = _marks_in(made)
        if name == BY_HAND:
            _mark(recipe, made)
        elif name == BY_SURVEY:
            _survey(recipe, tools, made)
        regions = _marks_in(made) - before
        _all(recipe.build, tools, name, made)
        yield Version(name, made, regions)


def _all(commands: Sequence[str], tools: Tools, version: str, folder: Path) -> None:
    for each in commands:
        text = each.replace("{cc}", tools.command(version)).replace("{cflags}", tools.flags)
        run(["sh", "-c", text], limit=tools.limit, directory=folder)


def _mark(recipe: Recipe, folder: Path) -> None:
    for name, regions in recipe.marks.items():
        path = folder / name
        text = path.read_text(encoding="utf-8", errors="surrogateescape")
        if any(not 0 < first <= last <= text.count("\n") for first, last in regions):
            raise RecipeError(f"{recipe.name}: {name} has fewer lines than its marks")
        path.write_text(with_marks(text, regions), encoding="utf-8", errors="surrogateescape")


def _survey(recipe: Recipe, tools: Tools, folder: Path) -> None:
    words = ["survey", *recipe.sources, "--apply", "--limit", "1", *tools.options]
    command = [sys.executable, "-m", "polybuild", *words, "--", tools.compiler]
    flags = [*shlex.split(tools.flags), *recipe.flags]
    run([*command, *flags], limit=tools.limit, directory=folder)


def _marks_in(folder: Path) -> int:
    """How many regions are marked in the C files of a folder."""
    return sum(
        line.lstrip().startswith(_MARK)
        for path in folder.rglob("*.c")
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines()
    )
