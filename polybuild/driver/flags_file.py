"""Compiler flags kept in a file: ``@FILE`` on a command line.

Two forms are read. A GNU response file holds words quoted as for a shell. A
file whose first line is ``# polybuild flags, one a line``, as the CMake
functions write it, holds one flag a line, taken as it stands; a line that
begins with ``SHELL:`` holds words quoted as for a shell, one with ``#`` nothing.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path

from polybuild.diagnostics import UsageError

FIRST_LINE = "# polybuild flags, one a line"


def expand(arguments: Iterable[str]) -> list[str]:
    """``arguments`` with each ``@FILE`` replaced by the flags in FILE.

    As for gcc, ``@FILE`` stays as it is if there is no such file, and a
    response file may name others. Raises UsageError for a file that cannot be read.
    """
    return list(_expand(arguments, ()))


def _expand(arguments: Iterable[str], inside: tuple[str, ...]) -> Iterator[str]:
    for argument in arguments:
        name = argument[1:]
        if not argument.startswith("@") or not Path(name).is_file():
            yield argument
        elif name in inside:
            raise UsageError(f"the flags file '{name}' names itself")
        else:
            yield from _expand(_read(name), (*inside, name))


def _read(name: str) -> list[str]:
    try:
        text = Path(name).read_text(encoding="utf-8", errors="surrogateescape")
        if text.startswith(FIRST_LINE):
            return [flag for line in text.split("\n") for flag in _flags_of_line(line)]
        return shlex.split(text)
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read the flags file '{name}': {error}") from error


def _flags_of_line(line: str) -> list[str]:
    if line.startswith("SHELL:"):
        return shlex.split(line.removeprefix("SHELL:"))
    # An empty entry of a CMake list leaves a bare -I or -D.
    return [] if line.startswith("#") or line in {"", "-I", "-D"} else [line]
