"""The machine that the compiler's flags describe: its vectors and its caches."""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from pathlib import Path

from polybuild.context import ByteSize, Machine, Origin

_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")


def find_machine(macros: AbstractSet[str], flags: AbstractSet[str]) -> Machine:
    """The machine that code is generated for.

    ``macros`` are the names of the compiler's predefined macros. The caches are those of this
    machine where ``flags`` say that the code is for it, else those of a usual one.
    """
    usual = Machine()
    caches = _caches(_CACHES) if flags & {"-march=native", "-mcpu=native"} else {}
    return Machine(_vector(macros, flags) or usual.vector, caches.get(1, usual.l1), caches.get(2, usual.l2))


def _vector(macros: AbstractSet[str], flags: AbstractSet[str]) -> ByteSize | None:
    """The widest vectors that the compiler may use, None if its macros do not say."""
    if "__AVX512F__" in macros and "-mprefer-vector-width=256" not in flags:
        return ByteSize(64, Origin.COMPILER)
    return ByteSize(32, Origin.COMPILER) if "__AVX__" in macros else None


def _caches(folder: Path) -> dict[int, ByteSize]:
    """Level to size of the data caches that Linux lists in ``folder``, as far as it does."""
    found: dict[int, ByteSize] = {}
    for each in sorted(folder.glob("index*")):
        try:
            level, kind, size = ((each / name).read_text().strip() for name in ("level", "type", "size"))
        except OSError:
            continue
        match = re.fullmatch(r"(\d+)K", size)
        if kind != "Instruction" and level.isdigit() and match and int(match[1]) > 0:
            found[int(level)] = ByteSize(int(match[1]) * 1024, Origin.HOST)
    return found
