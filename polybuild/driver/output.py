"""Reading the input and writing what comes of it, so that nothing is ever half written or lost.

Start-up time counts on every file of a build, so this module imports next to nothing
that the interpreter has not loaded before it.
"""

import os
import sys

from polybuild.source.unity import included_sources

_MARK = b"scop"
_PREFIX = b"polybuild"
_BLOCKS = (b"resident", b"distributed")

EMPTY_REPORT = b'{\n  "schema": "urn:polybuild:report:1",\n  "regions": [],\n  "diagnostics": []\n}\n'
"""The report of a file without regions."""

STANDARD_OUTPUT = "-"

WARNING_FLAGS = ("-Wpolybuild", "-Wno-polybuild", "-Werror=polybuild", "-Wno-error=polybuild")
"""How flags begin that mean warnings of ours, which no compiler knows."""

RECORD_FLAG = "-fsave-optimization-record"
"""The flag by which compilers are asked to tell what they did, in files for tools."""

Files = tuple[str, str, str]
"""The names of the target, the depfile and the report; those not asked for are empty."""


def may_hold_regions(data: bytes) -> bool:
    """Whether the text ``data`` of a C file has a word that can mark a region or a block; "scope" is none."""
    if _PREFIX in data and any(word in data for word in _BLOCKS):
        return True
    position = data.find(_MARK)
    while position >= 0:
        position += len(_MARK)
        if data[position : position + 1] != b"e":
            return True
        position = data.find(_MARK, position)
    return False


def has_regions(path: str, data: bytes) -> bool:
    """Whether the C file at ``path`` with the text ``data``, or one that it includes, may have regions."""
    return may_hold_regions(data) or any(map(may_hold_regions, included_sources(path, data)))


def disabled() -> bool:
    """Whether the environment variable POLYBUILD_DISABLE says that C files stay as they are."""
    return _is_on("POLYBUILD_DISABLE")


def verbose() -> bool:
    """Whether the environment variable VERBOSE, which builds know, asks to tell what is run."""
    return _is_on("VERBOSE")


def _is_on(variable: str) -> bool:
    return os.environ.get(variable, "").lower() not in {"", "0", "off", "no", "false", "n"}


def exists(path: str) -> bool:
    """Whether there is a file or folder at ``path``."""
    return os.path.exists(path)  # noqa: PTH110 -- start-up


def read(path: str) -> bytes:
    """The bytes of the file at ``path``; OSError if it cannot be read."""
    with open(path, "rb") as file:  # noqa: PTH123 -- pathlib costs start-up time
        return file.read()


def write(path: str, data: bytes) -> None:
    """Replace the file at ``path`` by ``data``, whole or not at all.

    OSError, with ``path`` as its file name, if that fails.
    ``-`` is standard output; what is not a regular file (a device, a pipe) is
    written directly. A symbolic link keeps pointing where it did. The file is
    new even if the bytes are the same, so a build system sees that it was made.
    """
    try:
        if path == STANDARD_OUTPUT:
            sys.stdout.flush()
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
        elif os.path.exists(path) and not os.path.isfile(path):  # noqa: PTH110, PTH113 -- start-up
            with open(path, "wb") as file:  # noqa: PTH123 -- start-up
                file.write(data)
        else:
            _replace(os.path.realpath(path), data)
    except OSError as error:
        error.filename, error.filename2 = path, None
        raise


def _replace(path: str, data: bytes) -> None:
    # A short name of its own: the name of the file may be as long as names can be.
    temporary = os.path.join(os.path.dirname(path), f".polybuild-{os.urandom(8).hex()}")  # noqa: PTH118, PTH120
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        with open(descriptor, "wb") as file:  # noqa: PTH123 -- start-up
            file.write(data)
        os.replace(temporary, path)  # noqa: PTH105 -- start-up
    except BaseException:
        os.unlink(temporary)  # noqa: PTH108 -- start-up
        raise


def depfile(target: str, prerequisites: tuple[str, ...]) -> bytes:
    """The rule ``target: prerequisites`` as Make and Ninja read it.

    The target stands as given, which is how the build system knows it;
    prerequisites become absolute and stand once each.
    """
    here = os.getcwd()  # noqa: PTH109 -- start-up
    # Joined, not normalised: `link/../file` is not `file` when `link` leads elsewhere.
    names = dict.fromkeys(os.path.join(here, name.removeprefix("./")) for name in prerequisites)  # noqa: PTH118
    words = [escaped(target) + ":", *map(escaped, names)]
    return (" \\\n  ".join(words) + "\n").encode("utf-8", "surrogateescape")


def escaped(path: str) -> str:
    """A file name as GNU Make reads it; backslashes count only before what they escape."""
    text = ""
    backslashes = 0
    for character in path:
        if character in " \t#":
            text += "\\" * (backslashes + 1)
        text += "$$" if character == "$" else character
        backslashes = backslashes + 1 if character == "\\" else 0
    return text


def clash(source: str, files: tuple[str, ...]) -> str:
    """What speaks against writing ``files`` when ``source`` is the input; empty if nothing does."""
    seen = {_identity(source): "the input"}
    for path in filter(None, files):
        identity = _identity(path)
        if identity and identity in seen:
            name = "standard output" if path == STANDARD_OUTPUT else f"'{path}'"
            return f"{name} would overwrite {seen[identity]}"
        seen[identity] = "another output"
    return ""


def _identity(path: str) -> tuple[int, int] | str:
    """What two names of one file have in common; empty for a device, which several outputs may share."""
    if path == STANDARD_OUTPUT:
        return path
    try:
        status = os.stat(path)  # noqa: PTH116 -- start-up
    except OSError:
        return os.path.realpath(path)
    return (status.st_dev, status.st_ino) if os.path.isfile(path) else ""  # noqa: PTH113 -- start-up


def copy_unmarked(source: str, files: Files) -> bool:
    """Copy a file without regions, or any if polybuild is disabled; False, and nothing done, for others.

    OSError if something cannot be read or written.
    """
    data = read(source)
    if has_regions(source, data) and not disabled():
        return False
    write_all(files, data, (source,), EMPTY_REPORT)
    return True


def write_all(files: Files, data: bytes, prerequisites: tuple[str, ...], report: bytes) -> None:
    """Write what was asked for, the target last: if it is there, all is there."""
    target, dependency_file, report_file = files
    if dependency_file:
        write(dependency_file, depfile(target, prerequisites))
    if report_file:
        write(report_file, report)
    write(target, data)
