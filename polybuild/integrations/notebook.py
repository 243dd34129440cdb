"""``%%polybuild``: C in a cell of a notebook; its functions with regions become names of the notebook.

``%load_ext polybuild`` brings it. The rest of the magic's line has options of regions and, after ``--``,
flags of the compiler, as ``polybuild compile`` takes them; ``--level N`` is that of ``polybuild explain``,
whose words are shown below the cell, 0 for none.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polybuild.diagnostics import PolybuildError, UsageError
from polybuild.integrations.loading import load

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

_FLAGS = ("-O3", "-march=native")
_CELL = "cell.c"


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Register the magic with IPython, as ``%load_ext polybuild`` asks for."""

    def polybuild(line: str, cell: str) -> None:
        try:
            run_cell(line, cell, shell.user_ns)
        except PolybuildError as error:
            sys.stderr.write(f"polybuild: {error}\n")

    shell.register_magic_function(polybuild, magic_kind="cell", magic_name="polybuild")


def run_cell(line: str, cell: str, names: dict[str, Any]) -> None:
    """Compile the C of ``cell``, tell what was done with its regions, and put its functions into ``names``.

    Raises PolybuildError for what ``line`` or the cell has wrong.
    """
    words, flags = _words(line)
    settings = _settings(words)
    level = settings.pop("level", "2")
    module = load(f"{cell}\n", flags=flags or _FLAGS, **settings)
    names.update({name: getattr(module, name) for name in module.functions})
    if level != "0":
        sys.stdout.write(_explanation(cell, level, settings, flags or _FLAGS))


def _words(line: str) -> tuple[list[str], list[str]]:
    """The words before ``--`` and those after it."""
    words = shlex.split(line)
    end = words.index("--") if "--" in words else len(words)
    return words[:end], words[end + 1 :]


def _settings(words: Sequence[str]) -> dict[str, str]:
    """Options by the names they have in Python; values stand after ``=`` or are the next word."""
    settings = {}
    rest = iter(words)
    for word in rest:
        name, equals, value = word.partition("=")
        if not name.startswith("--"):
            raise UsageError(f"unexpected '{word}'; flags of the compiler stand after '--'")
        settings[name[2:].replace("-", "_")] = value if equals else next(rest, "")
    return settings


def _explanation(cell: str, level: str, settings: dict[str, str], flags: Sequence[str]) -> str:
    options = [f"--{name.replace('_', '-')}={value}" for name, value in settings.items()]
    with tempfile.TemporaryDirectory(prefix="polybuild-") as folder:
        Path(folder, _CELL).write_text(f"{cell}\n", encoding="utf-8")
        words = ["explain", _CELL, f"--level={level}", "--color=never", *options, "--", *flags]
        done = subprocess.run(
            [sys.executable, "-c", _COMMAND, folder, *words], check=False, capture_output=True, text=True
        )
    return done.stdout + done.stderr


_COMMAND = """\
import os, sys
from polybuild.cli.main import main
os.chdir(sys.argv.pop(1))
main()
"""
"""Runs polybuild in a folder, with the modules that are found from where Python runs."""
