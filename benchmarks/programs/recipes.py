"""Recipes: what to do with a program that lies somewhere, as a file of TOML says it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Lines = tuple[int, int]
"""The first and the last line of what is to be marked, from 1."""


class RecipeError(Exception):
    """A recipe cannot be followed; the text says which and why."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """How one program is built, run, checked and timed; all paths count from its ``folder``.

    Shell commands of ``prepare`` and ``build`` may name ``{cc}`` and ``{cflags}``. What a run prints has to
    match ``check``, and to have the texts that ``same`` matches in common with the program as it is. ``time``
    matches its seconds; without it the whole process counts.
    """

    name: str
    folder: Path
    build: Sequence[str]
    run: str
    check: str
    prepare: Sequence[str] = ()
    same: str = ""
    time: str = ""
    sources: Sequence[str] = (".",)
    flags: Sequence[str] = ()
    marks: Mapping[str, Sequence[Lines]] = field(default_factory=dict)

    def seconds(self, printed: str, whole: float) -> float:
        """The time of a run that ``printed`` this and took ``whole`` seconds. Raises RecipeError."""
        if not self.time:
            return whole
        found = re.search(self.time, printed, re.MULTILINE)
        if not found:
            raise RecipeError(f"{self.name}: no time in what it printed")
        return float(found[1])

    def problem(self, printed: str, original: str) -> str:
        """Why a run that ``printed`` this is wrong; empty if it is right."""
        if not re.search(self.check, printed, re.MULTILINE):
            return "its check failed"
        if self.same and self._kept(printed) != self._kept(original):
            return "prints other results"
        return ""

    def _kept(self, printed: str) -> list[Any]:
        return re.findall(self.same, printed, re.MULTILINE)


def read_recipe(path: Path) -> Recipe:
    """The recipe in a file; its ``folder`` counts from there. Raises RecipeError."""
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
        folder = path.parent / values.pop("folder")
        marks = {
            file: [(int(first), int(last)) for first, last in regions]
            for file, regions in values.pop("marks", {}).items()
        }
        recipe = Recipe(values.pop("name", path.stem), folder, marks=marks, **values)
    except (OSError, tomllib.TOMLDecodeError, KeyError, TypeError, ValueError) as error:
        raise RecipeError(f"{path}: {error}") from None
    if not recipe.folder.is_dir():
        raise RecipeError(f"{path}: there is no folder {recipe.folder}")
    return recipe
