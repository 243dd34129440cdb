"""Regions in headers: the text of a file with the headers that hold regions put in place of their lines.

    #include "kernels.h"        #  line 1 "kernels.h"
    int main(void) ...          ... the text of kernels.h ...
                                #  line 2 "main.c"
                                int main(void) ...

What the preprocessor made of the file stays valid for the new text, as every
line keeps its name and number. Each file that includes a header gets its own
copy of the header's functions, which it has anyway. What is included several
times, as a template is with other macros each time, stands there as often. Left
alone are headers that C++ can read as well, and system headers.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping
from pathlib import Path, PurePath

from polybuild.diagnostics import Diagnostic, Location, Severity
from polybuild.patterns import pattern
from polybuild.source.inclusions import REGION, Inclusion, inclusions, quoted_name, with_names_of_inclusions
from polybuild.source.preprocess import Preprocessed
from polybuild.source.unity import SUFFIX
from polybuild.values import dataclass

_MARK = pattern(REGION.pattern, re.MULTILINE)
_INCLUDE = pattern(r"[ \t]*#[ \t]*include\b")
_QUOTED = pattern(r'^([ \t]*#[ \t]*include[ \t]*)"([^"\n]+)"', re.MULTILINE)
_ONCE = pattern(r"^[ \t]*#[ \t]*pragma[ \t]+once\b.*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Expanded:
    """A file with headers in place: its ``text``, the ``preprocessed`` one, and ``names`` of inclusions.

    A file that is included several times has another name each time, in both texts: ``names`` says which
    one it has for its user.
    """

    text: str
    preprocessed: str
    names: Mapping[str, str]


def with_headers(
    path: str, text: str, preprocessed: Preprocessed, wanted: re.Pattern[str], *, headers: bool
) -> Expanded | None:
    """``text`` of the file at ``path`` with what it includes in place; None if that has no ``wanted`` lines.

    That is the file itself, C files, and ``headers`` if asked for.
    """
    if re.search(r"^[ \t]*#[ \t]*(?:line\b|\d)", text, re.MULTILINE):
        return None
    root = inclusions(preprocessed.text, wanted)
    if root is None:
        return None
    renamed, names = with_names_of_inclusions(preprocessed.text, root)
    root = inclusions(renamed, wanted) if names else root
    assert root is not None  # noqa: S101 - a text with markers keeps them
    for each in root.all():
        name = names.get(each.name, each.name)
        if name != root.name and not name.endswith(SUFFIX):
            each.is_wanted = each.is_wanted and headers and _can_be_taken(each, preprocessed.dependencies)
    if not any(each.is_wanted for each in root.all() if each is not root):
        return None
    return Expanded(_expanded(root, text, path, PurePath(path).parent), renamed, names)


def _can_be_taken(header: Inclusion, dependencies: tuple[str, ...]) -> bool:
    """Whether the text of ``header`` may stand in the file: it is of the user's, and C++ does not read it."""
    text = None if header.system else _read(header.name)
    if text is None or "__cplusplus" in text:
        return False
    return not (_ONCE.search(text) and _may_come_again(header.name, dependencies))


def regions_left_in_headers(
    preprocessed: str, read: Collection[str], *, taken: bool
) -> tuple[Diagnostic, ...]:
    """The warning about the first header of the user's with regions that is not among the files ``read``.

    ``taken`` says whether regions of headers were to be taken.
    """
    root = inclusions(preprocessed) if _MARK.search(preprocessed) else None
    if root is None:
        return ()
    for each in root.all():
        if each.name == root.name or not each.is_wanted or each.system or each.name in read:
            continue
        lines = (_read(each.name) or "").split("\n")
        line = next((number for number, text in enumerate(lines, 1) if REGION.match(text)), 0)
        return (in_header(each.name, line, taken=taken),)
    return ()


def in_header(name: str, line: int, *, taken: bool = False) -> Diagnostic:
    """The warning that the region in ``line`` of the header ``name`` is transformed by nothing."""
    hint = "give --headers on, or move the function into a C file"
    if taken:
        hint = "--headers on takes headers that C++ cannot read, and that do not come by '#pragma once'"
    message = "this region is in a header and stays as it is"
    return Diagnostic(Severity.WARNING, "region-in-header", message, Location(name, line), hint)


def _may_come_again(name: str, dependencies: tuple[str, ...]) -> bool:
    """Whether more than one file names the header ``name``, whose own guard would be dropped."""
    base = re.escape(Path(name).name)
    naming = re.compile(rf'#[ \t]*include[ \t]*["<][^">\n]*\b{base}[">]')
    return sum(len(naming.findall(_read(each) or "")) for each in dependencies) > 1


def _read(name: str) -> str | None:
    try:
        return Path(name).read_bytes().decode("utf-8", "surrogateescape")
    except OSError:
        return None


def _expanded(file: Inclusion, text: str, name: str, home: PurePath) -> str:
    """``text`` of the ``file``, by ``name``, with what it includes in place; ``home`` is of the main one."""
    wanted = {each.line: each for each in file.inner if any(one.is_wanted for one in each.all())}
    lines: list[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        inner = wanted.get(number)
        content = _read(inner.name) if inner is not None and _INCLUDE.match(line) else None
        if inner is None or content is None:
            lines.append(line)
            continue
        header = _ONCE.sub("", _from_home(inner.name, content, home)).removesuffix("\n")
        lines += [f"#  line 1 {quoted_name(inner.name)}", _expanded(inner, header, inner.name, home)]
        lines.append(f"#  line {number + 1} {quoted_name(name)}")
    return "\n".join(lines)


def _from_home(name: str, text: str, home: PurePath) -> str:
    """``text`` of a header where what it includes from its own folder has its path from ``home``."""
    folder = Path(name).parent

    def named(match: re.Match[str]) -> str:
        beside = folder / match[2]
        if not beside.is_file():
            return match[0]
        path = str(beside) if beside.is_absolute() else os.path.relpath(beside, home)
        return f"{match[1]}{quoted_name(path)}"

    return _QUOTED.sub(named, text)
