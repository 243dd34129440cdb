"""A small project in a folder of its own: built, edited and built again."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path


class Workplace:
    """A copy of a project; what builds it and what came out are for each build system to say."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def run(self, *command: str | Path, folder: Path | None = None, **environment: str) -> str:
        """Run a command in the project, or in ``folder``; what it printed."""
        done = subprocess.run(
            command,
            cwd=folder or self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            env=os.environ | environment,
        )
        assert done.returncode == 0, done.stdout
        return done.stdout

    def edit(self, name: str, old: str, new: str) -> None:
        text = (self.folder / name).read_text()
        assert old in text
        (self.folder / name).write_text(text.replace(old, new))

    def build(self, **environment: str) -> object:
        """Build what an edit concerns, or everything."""
        raise NotImplementedError

    def result(self) -> tuple[int, bool]:
        """What the program computes, and whether its kernels run on several threads."""
        raise NotImplementedError


def importing(prefix: Path, script: str) -> str:
    """``script`` with the editable installation that pip made under ``prefix``.

    Tests share an environment; in there, it would be what all of them import.
    """
    (packages,) = prefix.glob("lib/python*/site-packages")
    return f"import site; site.addsitedir({str(packages)!r}); {script}"


def total(factor: int = 2, offset: int = 1) -> int:
    """What the programs of the projects ``program`` and ``extension`` compute."""
    return sum(factor * i + offset for i in range(50000))


def check_edits(project: Workplace, option: tuple[str, str, str]) -> None:
    """Edit a header, a source and an option of a project that is built, and disable polybuild.

    ``option`` is an edit, too: file, old and new text. It must turn threads off.
    """
    assert project.result() == (total(), True)
    project.edit("kernels.h", "FACTOR 2", "FACTOR 3")
    project.build()
    assert project.result() == (total(3), True)
    project.edit("kernels.c", "+ 1", "+ 5")
    project.build()
    assert project.result() == (total(3, 5), True)
    file, on, off = option
    project.edit(file, on, off)
    project.build()
    assert project.result() == (total(3, 5), False)
    project.edit(file, off, on)
    project.build(POLYBUILD_DISABLE="1")
    assert project.result() == (total(3, 5), False)
