"""How a file is compiled: by whom, where, with which flags and options. It travels to each trial as JSON."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class Setting:
    """What is the same for each version of a file.

    ``options`` are polybuild's own, ``link`` what a program needs besides the file, ``arguments`` what it is
    run with, ``folder`` where all commands run, ``home`` where the file was, for the headers beside it.
    """

    compiler: tuple[str, ...]
    flags: tuple[str, ...]
    options: tuple[str, ...]
    link: tuple[str, ...]
    arguments: tuple[str, ...]
    folder: str
    home: str

    @property
    def include(self) -> str:
        """The flag that finds headers beside the file where it was."""
        return f"-iquote{self.home}"

    def compiled(self, source: Path, *more: str) -> subprocess.CompletedProcess[str]:
        """What the compiler makes of ``source`` with ``more`` flags."""
        return self.ran([*self.compiler, *self.flags, self.include, *more, str(source)])

    def ran(
        self, command: Sequence[str], seconds: float | None = None, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        """A command, run where the user is. Raises subprocess.TimeoutExpired after ``seconds``."""
        return subprocess.run(
            command,
            check=False,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="surrogateescape",
            timeout=seconds,
            env=os.environ | {"POLYBUILD_CACHE": "0"} | variables,
        )

    def as_json(self) -> str:
        """The text of which ``from_json`` makes the same."""
        return json.dumps(dataclasses.asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Setting:
        """What ``as_json`` wrote."""
        values = json.loads(text)
        plain: dict[str, Any] = {
            name: tuple(each) if isinstance(each, list) else each for name, each in values.items()
        }
        return cls(**plain)
