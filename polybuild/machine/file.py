"""Files of machines: what ``--machine`` reads and ``polybuild machine`` writes.

They are TOML, with a table for each group of figures: ``bytes = "2 MiB"`` in ``[l2]`` is ``l2.bytes``.
Numbers without a unit are in that of the figure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from polybuild.diagnostics import Diagnostic, Location, Severity, UsageError
from polybuild.machine.model import Figure, Machine, Unit
from polybuild.values import dataclass

VERSION = 1

_SCALES: Mapping[Unit, Mapping[str, float]] = {
    Unit.BYTES: {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30},
    Unit.NANOSECONDS: {"ns": 1, "us": 1e3, "ms": 1e6},
    Unit.GIGABYTES_PER_SECOND: {"GB/s": 1, "MB/s": 1e-3},
    Unit.GIGAFLOPS: {"GFLOP/s": 1, "TFLOP/s": 1e3},
    Unit.COUNT: {},
    Unit.RATIO: {},
}
# Figures beyond it are mistakes, whatever their unit.
_LARGEST = 1 << 50

_HEAD = f"""\
# A machine for polybuild: figures that are not here are those of a usual one.
version = {VERSION}
"""


@dataclass(frozen=True, slots=True)
class MachineFile:
    """The figures of a file by their paths (``l2.bytes``), or what is wrong with it."""

    figures: Mapping[str, float]
    diagnostic: Diagnostic | None = None


class _WrongError(Exception):
    def __init__(self, message: str, key: str, hint: str = "") -> None:
        super().__init__(message)
        self.key = key
        self.hint = hint


def read_machine_file(path: Path) -> MachineFile:
    """The figures of the file ``path``; none, and a warning at the line of it, if anything in it is wrong."""
    import tomllib  # noqa: PLC0415 -- few builds have such a file, and all pay for start-up

    text = ""
    try:
        text = path.read_text(encoding="utf-8")
        return MachineFile(_figures(tomllib.loads(text)))
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no text"
        hint = "'polybuild machine' writes such a file, 'polybuild machine --measure' what 'measured' means"
        return _wrong(path, 0, f"the file of the machine cannot be read: {reason}", hint)
    except tomllib.TOMLDecodeError as error:
        place = re.search(r"\(at line (\d+), column \d+\)|\(at end of document\)", str(error))
        line = int(place[1]) if place and place[1] else text.count("\n") + 1
        return _wrong(path, line, f"the file of the machine is not TOML: {str(error).partition(' (')[0]}", "")
    except _WrongError as error:
        return _wrong(path, _line_of(text, error.key), str(error), error.hint)


def figure_of(path: str, text: str) -> float:
    """The value of the figure ``path`` (``l2.bytes``) that ``text`` has, with a unit or without.

    Raises UsageError.
    """
    figure = next(each for each in Machine().figures() if each.path == path)
    number = re.fullmatch(r"\d+(?:\.\d+)?", text)
    try:
        return _value(figure, float(text) if number else text)
    except _WrongError as error:
        raise UsageError(f"{error}: not '{text}'") from None


def _wrong(path: Path, line: int, message: str, hint: str) -> MachineFile:
    remark = f"{message}; the build goes on without it"
    return MachineFile(
        {}, Diagnostic(Severity.WARNING, "machine-file", remark, Location(str(path), line), hint)
    )


def _figures(content: Mapping[str, Any]) -> dict[str, float]:
    """The figures of a file's ``content``. Raises _WrongError for what has no meaning."""
    version = content.get("version")
    if version != VERSION:
        message = "has no version" if version is None else f"has the version {version}"
        raise _WrongError(
            f"the file of the machine {message}; this polybuild reads version {VERSION}", "version"
        )
    known = {each.path: each for each in Machine().figures()}
    groups = list(dict.fromkeys(path.partition(".")[0] for path in known))
    found = {}
    for group, values in content.items():
        if group == "version":
            continue
        if group not in groups or not isinstance(values, dict):
            raise _WrongError(
                f"unknown group '{group}' in the file of the machine", group, f"known are {', '.join(groups)}"
            )
        for name, value in values.items():
            path = f"{group}.{name}"
            if path not in known:
                names = ", ".join(each.partition(".")[2] for each in known if each.startswith(f"{group}."))
                raise _WrongError(f"unknown figure '{path}' of a machine", path, f"known are {names}")
            found[path] = _value(known[path], value)
    return found


def _value(figure: Figure, value: object) -> float:
    """The number that ``value`` is in the unit of ``figure``."""
    scales = _SCALES[figure.unit]
    number: float | None = None
    if isinstance(value, int | float) and not isinstance(value, bool):
        number = float(value)
    elif isinstance(value, str):
        match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(\S+)", value)
        if match and match[2] in scales:
            number = float(match[1]) * scales[match[2]]
    if number is None or not 0 < number < _LARGEST or (figure.is_whole and number != round(number)):
        units = f', as in "16 {list(scales)[-1]}"; units are {", ".join(scales)}' if scales else ""
        whole = "a whole number" if figure.is_whole else "a number"
        raise _WrongError(f"'{figure.path}' of a machine must be {whole} above 0{units}", figure.path)
    return number


def _line_of(text: str, key: str) -> int:
    """The line of ``text`` where ``key``, a group or the path of a figure, stands; the first in doubt."""
    group, _, name = key.partition(".")
    here = ""
    for number, line in enumerate(text.splitlines(), start=1):
        table = re.match(r"\s*\[\s*([\w.\"-]+)\s*\]", line)
        if table:
            here = table[1].strip('"')
            if not name and here.partition(".")[0] == group:
                return number
        entry = re.match(r"\s*([\w.\"-]+)\s*=", line)
        if entry and key == ".".join(filter(None, [here, entry[1].strip('"')])):
            return number
    return 1


def machine_text(figures: Iterable[Figure]) -> str:
    """A file of a machine with ``figures``, each with its meaning and where it comes from."""
    lines, group = [_HEAD], ""
    for each in figures:
        here, _, name = each.path.partition(".")
        if here != group:
            lines.append(f"\n[{here}]\n")
            group = here
        entry = f"{name} = {_written(each)}"
        lines.append(f"{entry:<26} # {each.meaning} ({each.origin.value})\n")
    return "".join(lines)


def _written(figure: Figure) -> str:
    """A value as files have it, with the largest unit of which it is at least one; bytes stay whole."""
    scales = sorted(_SCALES[figure.unit].items(), key=lambda each: each[1], reverse=True)
    if not scales:
        return f"{figure.value:g}"
    fitting = [
        (unit, scale)
        for unit, scale in scales
        if (figure.value % scale == 0 if figure.unit is Unit.BYTES else figure.value >= scale)
    ]
    unit, scale = (fitting or scales[-1:])[0]
    return f'"{figure.value / scale:g} {unit}"'
