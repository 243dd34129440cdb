"""Which runtimes what a linker reads needs: OpenMP's, or polybuild's own for the GPU backends.

An object needs OpenMP's if it leaves a function of gcc's (``GOMP_``) or clang's
(``__kmpc_``) runtime undefined, and polybuild's if it leaves one of that undefined;
those it can do without (weak symbols) do not count.
Start-up time counts, so nothing is imported.
"""

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

OPENMP, DEVICE = "openmp", "device"
"""The runtimes: that of OpenMP, and polybuild's for the GPU backends."""

_PREFIXES = {
    OPENMP: (b"GOMP_", b"__kmpc_"),
    DEVICE: (
        b"polybuild_open",
        b"polybuild_host_begin",
        b"polybuild_resident",
        b"polybuild_release",
        b"polybuild_update_",
        b"polybuild_counters",
    ),
}
# How objects that gcc compiled for optimisation at link time remember the flag.
_FLAG = b"'-fopenmp'"
_ARCHIVE, _THIN_ARCHIVE, _ELF = b"!<arch>\n", b"!<thin>\n", b"\x7fELF"
_SYMBOL_TABLE, _SHARED_OBJECT, _WEAK = 2, 3, 2


def needed_runtimes(names: "Iterable[str]") -> "set[str]":
    """Which runtimes the files need; what cannot be read needs none."""
    found: set[str] = set()
    for name in names:
        found |= _needed(name)
        if len(found) == len(_PREFIXES):
            break
    return found


def _needed(name: str) -> "set[str]":
    """Which runtimes the object, the archive or the bitcode in the file ``name`` needs."""
    try:
        with open(name, "rb") as file:  # noqa: PTH123 -- start-up
            start = file.read(len(_ARCHIVE))
            if start == _THIN_ARCHIVE:
                members = _thin_members(name, file.read())
                return needed_runtimes(members)
            if start[:4] not in {_ELF, _ARCHIVE[:4], b"BC\xc0\xde"}:
                return set()
            data = start + file.read()
    except (OSError, ValueError):
        return set()
    named = {runtime for runtime, texts in _PREFIXES.items() if any(text in data for text in texts)}
    if _FLAG in data:
        named.add(OPENMP)
    try:
        return {
            runtime for runtime in named if any(_object_needs(member, runtime) for member in _members(data))
        }
    except (IndexError, ValueError):
        return named  # not as expected, and the names are in it


def static_library(name: str, folders: list[str]) -> str:
    """The archive that ``-l<name>`` stands for, looked for in ``folders``; empty if it is none.

    A shared library, which brings its runtime along, goes before an archive in the same folder.
    """
    for folder in folders:
        if name.startswith(":"):
            path = f"{folder}/{name[1:]}"
            if os.path.isfile(path):  # noqa: PTH113 -- start-up
                return path if path.endswith(".a") else ""
        elif os.path.isfile(f"{folder}/lib{name}.so"):  # noqa: PTH113 -- start-up
            return ""
        elif os.path.isfile(f"{folder}/lib{name}.a"):  # noqa: PTH113 -- start-up
            return f"{folder}/lib{name}.a"
    return ""


def _object_needs(data: bytes, runtime: str) -> bool:
    prefixes = _PREFIXES[runtime]
    if data[:4] != _ELF:
        return any(prefix in data for prefix in prefixes)
    return _leaves_undefined(data, prefixes) or (runtime == OPENMP and _FLAG in data)


def _leaves_undefined(data: bytes, prefixes: "tuple[bytes, ...]") -> bool:
    """Whether a symbol table of an ELF file has an undefined symbol that starts with one of ``prefixes``."""
    wide = data[4] == 2
    order = "little" if data[5] == 1 else "big"

    def number(offset: int, size: int) -> int:
        if offset + size > len(data):
            raise IndexError
        return int.from_bytes(data[offset : offset + size], order)  # type: ignore[arg-type]

    if number(16, 2) == _SHARED_OBJECT:
        return False
    word = 8 if wide else 4
    headers = number(40 if wide else 32, word)
    size, count = number(58 if wide else 46, 2), number(60 if wide else 48, 2)
    count = count or number(
        headers + (32 if wide else 20), word
    )  # many sections: the first one has the number
    field = (24, 32, 40, 56) if wide else (16, 20, 24, 36)
    for index in range(count):
        header = headers + index * size
        if number(header + 4, 4) != _SYMBOL_TABLE:
            continue
        offset, length = number(header + field[0], word), number(header + field[1], word)
        strings_header = headers + number(header + field[2], 4) * size
        strings = number(strings_header + field[0], word)
        text = data[strings : strings + number(strings_header + field[1], word)]
        wanted = {position for prefix in prefixes for position in _positions(text, prefix)}
        step = number(header + field[3], word) or (24 if wide else 16)
        kind, section = (4, 6) if wide else (12, 14)
        for symbol in range(offset, offset + length, step):
            if number(symbol, 4) not in wanted or number(symbol + section, 2) != 0:
                continue
            if number(symbol + kind, 1) >> 4 != _WEAK:
                return True
    return False


def _positions(text: bytes, prefix: bytes) -> "Iterator[int]":
    """Where a name that starts with ``prefix`` starts in a table of names."""
    position = text.find(b"\0" + prefix)
    while position >= 0:
        yield position + 1
        position = text.find(b"\0" + prefix, position + 1)


def _members(data: bytes) -> "Iterator[bytes]":
    """The files of an archive; anything else is its only member."""
    if data[: len(_ARCHIVE)] != _ARCHIVE:
        yield data
        return
    position = len(_ARCHIVE)
    while position + 60 <= len(data):
        size = _size(data, position)
        yield data[position + 60 : position + 60 + size]
        position += 60 + size + size % 2


def _size(data: bytes, position: int) -> int:
    """The size in a member's header. ValueError if it is none."""
    size = int(data[position + 48 : position + 58])
    if size < 0:
        raise ValueError
    return size


def _thin_members(archive: str, data: bytes) -> list[str]:
    """The names of the files that a thin archive stands for; ``data`` follows its first line."""
    folder = os.path.dirname(archive)  # noqa: PTH120 -- start-up
    table = b""
    names: list[str] = []
    position = 0
    while position + 60 <= len(data):
        name = data[position : position + 16].rstrip()
        size = _size(data, position)
        position += 60
        if name in {b"/", b"//", b"/SYM64/"}:
            if name == b"//":
                table = data[position : position + size]
            position += size + size % 2
            continue
        if name.startswith(b"/"):
            start = int(name[1:])
            name = table[start : table.index(b"\n", start)]
        names.append(os.path.join(folder, os.fsdecode(name.removesuffix(b"/"))))  # noqa: PTH118 -- start-up
    return names
