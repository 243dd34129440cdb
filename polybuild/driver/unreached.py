"""Regions that nothing transforms: those in headers, and in C++ files.

Asked for every file of a build, so this module imports only what the interpreter has loaded before it,
and looks at no more than the headers that a file itself includes in quotes.
"""

import os

from polybuild.driver import output

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from polybuild.diagnostics import Diagnostic

Place = tuple[str, int]
"""A file and a line of it."""

_CXX_SUFFIXES = (".cc", ".cp", ".cxx", ".cpp", ".CPP", ".c++", ".C")


def is_cxx(path: str) -> bool:
    """Whether the name ``path`` is that of a C++ file."""
    return path.endswith(_CXX_SUFFIXES)


def first_unreached(path: str, data: bytes, flags: "Sequence[str]", *, cxx: bool = False) -> Place | None:
    """The first region that nothing transforms in a file that stays as it is, or in a header it includes.

    ``path`` is the file and ``data`` its text, in C++ if ``cxx``. Headers are looked for beside the file,
    and in the folders that ``flags`` name.
    """
    if not cxx:
        return _region_in_header(path, data, flags)
    line = region_line(data)
    return (path, line) if line else None


def warning(place: Place, *, cxx: bool = False) -> "Diagnostic":
    """The warning about what ``first_unreached`` found."""
    from polybuild.diagnostics import Diagnostic, Location, Severity  # noqa: PLC0415 -- few files need it
    from polybuild.source.headers import in_header  # noqa: PLC0415 -- likewise

    if not cxx:
        return in_header(*place)
    message = "this region is in a C++ file and stays as it is"
    return Diagnostic(
        Severity.WARNING, "region-in-cxx", message, Location(*place), "move the function into a C file"
    )


def _region_in_header(path: str, data: bytes, flags: "Sequence[str]") -> Place | None:
    beside = [os.path.dirname(path)]  # noqa: PTH120 -- start-up
    folders: list[str] | None = None
    for name in _included(data):
        found = _read(beside, name)
        if found is None:
            folders = list(_folders(flags)) if folders is None else folders
            found = _read(folders, name)
        line = region_line(found[1]) if found else 0
        if found and line:
            return found[0], line
    return None


def region_line(data: bytes) -> int:
    """The line of the first ``#pragma scop`` in a text, 0 if there is none."""
    position = data.find(b"scop") if output.may_hold_regions(data) else -1
    while position >= 0:
        start = data.rfind(b"\n", 0, position) + 1
        before, after = data[start:position].replace(b" ", b"").replace(b"\t", b""), data[position + 4 :][:1]
        if before == b"#pragma" and not (after.isalnum() or after == b"_"):
            return data.count(b"\n", 0, start) + 1
        position = data.find(b"scop", position + 4)
    return 0


def _included(data: bytes) -> "Iterator[str]":
    position = data.find(b"include")
    while position >= 0:
        start, end = data.rfind(b"\n", 0, position) + 1, data.find(b"\n", position)
        words = data[position : len(data) if end < 0 else end].split(b'"')
        if len(words) > 2 and data[start:position].strip() == b"#" and not words[1].endswith(b".c"):
            yield os.fsdecode(words[1])
        position = data.find(b"include", position + 7)


def _read(folders: "Sequence[str]", name: str) -> tuple[str, bytes] | None:
    for folder in folders:
        path = os.path.join(folder, name)  # noqa: PTH118 -- start-up
        try:
            return path, output.read(path)
        except OSError:
            continue
    return None


def _folders(flags: "Sequence[str]", depth: int = 0) -> "Iterator[str]":
    """The folders that ``flags`` name for headers, also in response files."""
    words = iter(flags)
    for word in words:
        if word in {"-I", "-iquote"}:
            yield next(words, "")
        elif word.startswith(("-I", "-iquote")):
            yield word.removeprefix("-iquote").removeprefix("-I")
        elif word.startswith("@") and depth < 2:
            try:
                text = os.fsdecode(output.read(word[1:]))
            except OSError:
                continue
            yield from _folders([line.strip("'\"") for line in text.split()], depth + 1)
