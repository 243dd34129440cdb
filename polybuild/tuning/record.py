"""The file ``polybuild.tune.json``: for regions, by their text and build, the settings that were fastest.

It is made to be committed: sorted, one region after the other, the same bytes for the same content.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any

from polybuild.machine.model import Machine, Origin
from polybuild.values import dataclass

FILE = "polybuild.tune.json"
VERSION = 1


@dataclass(frozen=True, slots=True)
class Build:
    """How a region is compiled, as far as its speed depends on it.

    ``compiler`` is the base name of its command; ``flags`` are those about optimisation and the machine;
    ``machine`` has the figures that are not assumed, by their paths.
    """

    compiler: str
    flags: tuple[str, ...]
    machine: Mapping[str, float]

    @classmethod
    def of(cls, compiler: Sequence[str], flags: Iterable[str], machine: Machine) -> Build:
        """The build with a compiler's command and its flags, for ``machine``."""
        known = {
            each.path: each.value
            for each in machine.figures()
            if each.origin not in {Origin.ASSUMED, Origin.OPTION}
        }
        return cls(
            PurePath(compiler[-1] if compiler else "cc").name,
            tuple(each for each in flags if each.startswith(("-O", "-m", "-f"))),
            known,
        )

    @classmethod
    def from_json(cls, entry: Mapping[str, Any]) -> Build:
        """The build that JSON tells of. Raises what a wrong entry gives: KeyError, TypeError, ValueError."""
        return cls(
            str(entry["compiler"]),
            tuple(map(str, entry["flags"])),
            {path: float(value) for path, value in entry["machine"].items()},
        )


@dataclass(frozen=True, slots=True)
class TunedRegion:
    """The ``settings`` (option to text) that were fastest for a region, none if the default is.

    ``file`` and ``line`` tell people where it was; ``digest`` says which text it had. ``seconds`` are those
    of one run of the program with them, ``seconds_before`` with none, of ``candidates`` tried.
    """

    digest: str
    file: str
    line: int
    build: Build
    settings: Mapping[str, str]
    seconds: float
    seconds_before: float
    candidates: int


class TuningFileError(ValueError):
    """A file of tuned regions that cannot be read: why, and in which line (0: none)."""

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.line = line


def region_digest(file: str, text: str) -> str:
    """What tells regions apart: the base name of their file and their text, but for blanks."""
    return hashlib.sha256(
        f"{PurePath(file).name}\0{' '.join(text.split())}".encode("utf-8", "surrogateescape")
    ).hexdigest()[:16]


def read_tuning_file(path: Path) -> tuple[TunedRegion, ...]:
    """The regions of a file. Raises TuningFileError if anything in it is not as this version writes it."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise TuningFileError(f"it cannot be read: {error.strerror}") from None
    except json.JSONDecodeError as error:
        raise TuningFileError(f"it is not JSON: {error.msg}", error.lineno) from None
    except UnicodeDecodeError:
        raise TuningFileError("it is no text") from None
    version = content.get("version") if isinstance(content, dict) else None
    if version != VERSION:
        raise TuningFileError(f"its version is {json.dumps(version)}; this polybuild reads version {VERSION}")
    try:
        return tuple(_region(each) for each in content["regions"])
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise TuningFileError(f"an entry is not as it should be: {type(error).__name__} {error}") from None


def _region(entry: Mapping[str, Any]) -> TunedRegion:
    strings = {**entry["settings"], "digest": entry["digest"], "file": entry["file"]}
    if not all(isinstance(each, str) for each in strings.values()):
        raise TypeError("settings, digests and files are strings")
    return TunedRegion(
        entry["digest"],
        entry["file"],
        int(entry["line"]),
        Build.from_json(entry["build"]),
        dict(entry["settings"]),
        float(entry["seconds"]),
        float(entry["seconds_before"]),
        int(entry["candidates"]),
    )


def tuning_text(regions: Iterable[TunedRegion]) -> str:
    """The text of a file with ``regions``."""
    entries = [dataclasses.asdict(each) for each in regions]
    entries.sort(key=lambda each: (each["file"], each["line"], json.dumps(each["build"], sort_keys=True)))
    return json.dumps({"version": VERSION, "regions": entries}, indent=2, sort_keys=True) + "\n"


def merged(before: Iterable[TunedRegion], new: Sequence[TunedRegion]) -> tuple[TunedRegion, ...]:
    """``new``, and those of ``before`` that are about other regions or other builds."""
    replaced = {(each.file, each.digest, _key(each.build)) for each in new}
    kept = (each for each in before if (each.file, each.digest, _key(each.build)) not in replaced)
    return (*kept, *new)


def _key(build: Build) -> str:
    return json.dumps(dataclasses.asdict(build), sort_keys=True)
