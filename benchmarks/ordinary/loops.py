"""The loops, where they are and which sizes of them are timed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
SIZES = ("small", "large")


@dataclass(frozen=True, slots=True)
class Loop:
    """One loop of a file, in the function of its name; ``sizes`` has its problem size for each of SIZES."""

    name: str
    field: str
    sizes: dict[str, int]


def source_of(field: str, folder: Path = HERE) -> Path:
    """The C file of a field."""
    return folder / f"{field}.c"


def all_loops(folder: Path = HERE) -> list[Loop]:
    """All loops of all fields of a folder, as their files have them."""
    return [
        Loop(match[1], path.stem, {"small": int(match[2]), "large": int(match[3])})
        for path in sorted(folder.glob("*.c"))
        for match in re.finditer(r"^LOOP\((\w+), (\d+), (\d+)\)", path.read_text(), flags=re.MULTILINE)
    ]


def chosen(names: str, loops: Sequence[Loop]) -> list[Loop]:
    """Those of ``loops`` with names or fields of a list with commas; all for none.

    Raises ValueError for a name that nothing has.
    """
    wanted = set(names.split(",")) if names else set()
    known = {each.name for each in loops} | {each.field for each in loops}
    if not wanted <= known:
        raise ValueError(f"no loop or field {', '.join(sorted(wanted - known))}")
    return [each for each in loops if not wanted or wanted & {each.name, each.field}]
