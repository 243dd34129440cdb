"""The C files of a build, each with its flags, as compile_commands.json tells of them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from polybuild.diagnostics import UsageError
from polybuild.driver import output
from polybuild.driver.request import Request
from polybuild.integrations.compiler_line import CommandLine
from polybuild.integrations.compiler_line import split as command_words
from polybuild.values import dataclass

NAME = "compile_commands.json"


@dataclass(frozen=True, slots=True)
class Compilation:
    """A file to look at, and the folder that its flags are relative to; empty: the current one."""

    request: Request
    directory: str = ""


def compilations(
    build: str, wanted: Sequence[str], settings: Mapping[str, str], *, every: bool = False
) -> list[Compilation]:
    """The C files with regions of the folder ``build``, or those ``wanted``, each once, in its order.

    With ``every``, files without regions are among them.

    Raises UsageError if there is no such list, or a file that is ``wanted`` is not in it.
    """
    path = Path(build) / NAME if Path(build).is_dir() else Path(build)
    try:
        entries = json.loads(path.read_bytes())
    except OSError as error:
        advice = "; CMake writes it with -DCMAKE_EXPORT_COMPILE_COMMANDS=ON"
        raise UsageError(f"cannot read {path}: {error.strerror}{advice}") from None
    except ValueError as error:
        raise UsageError(f"cannot read {path}: {error}") from None
    found = {each.request.source: each for each in _read(entries, settings)}
    if not wanted:
        return [each for each in found.values() if every or _has_regions(each.request.source)]
    chosen = []
    for name in wanted:
        real = os.path.realpath(name)
        same = [each for source, each in found.items() if os.path.realpath(source) == real]
        if not same:
            raise UsageError(f"{path} does not tell how '{name}' is compiled")
        chosen += same
    return chosen


def _read(entries: Any, settings: Mapping[str, str]) -> Iterator[Compilation]:
    """The C files among ``entries``; what is no entry is passed over."""
    for entry in entries if isinstance(entries, list) else ():
        if not isinstance(entry, dict) or not {"file", "directory"} <= set(entry):
            continue
        words = entry.get("arguments") or command_words(entry.get("command", ""))
        try:
            line = CommandLine(_compiler(list(words)))
        except OSError as error:
            raise UsageError(f"cannot read the flags file '{error.filename}' of {entry['file']}") from None
        if not line.sources():
            continue
        source = os.path.join(entry["directory"], entry["file"])  # noqa: PTH118 - absolute or beside
        request = Request(os.path.normpath(source), settings, tuple(line.compiler), tuple(line.flags))
        yield Compilation(request, entry["directory"])


def _compiler(words: list[str]) -> list[str]:
    """The command of the compiler in one that polybuild is part of."""
    before = words[: words.index("--")] if "--" in words else []
    if any("polybuild" in word.lower() for word in before):  # cc, or the launcher that CMake's targets have
        return words[len(before) + 1 :]
    name = os.path.basename(words[0]) if words else ""  # noqa: PTH119 - of any platform
    return words[1:] if name == "polybuild-cc" else words


def _has_regions(source: str) -> bool:
    try:
        return output.has_regions(source, output.read(source))
    except OSError:
        return False
