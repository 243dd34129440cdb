"""Regions in headers: the text of a file with the headers that hold regions put in place of their lines.

    #include "kernels.h"        #  line 1 "kernels.h"
    int main(void) ...          ... the text of kernels.h ...
                                #  line 2 "main.c"
                                int main(void) ...

What the preprocessor made of the file stays valid for the new text, as every
line keeps its name and number. Each file that includes a header gets its own
copy of the header's functions, so only functions that a header may hold anyway
(``static``, ``inline``) are touched. Left alone are headers that C++ can read as
well, system headers, and those included more than once.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from polybuild.diagnostics import Diagnostic, Location, Severity
from polybuild.patterns import pattern
from polybuild.source.markers import unescape

_MARKER = pattern(r'#[ \t]+(\d+)[ \t]+"((?:[^"\\]|\\.)*)"((?:[ \t]+\d+)*)')
_REGION = pattern(r"[ \t]*#[ \t]*pragma[ \t]+scop\b")
_MARK = pattern(_REGION.pattern, re.MULTILINE)
_INCLUDE = pattern(r'[ \t]*#[ \t]*include[ \t]*["<]')
_QUOTED = pattern(r'^([ \t]*#[ \t]*include[ \t]*)"([^"\n]+)"', re.MULTILINE)
_ONCE = pattern(r"^[ \t]*#[ \t]*pragma[ \t]+once\b.*$", re.MULTILINE)


@dataclass(slots=True)
class Inclusion:
    """A file as it was included; ``line`` is that of the directive in the file around it."""

    name: str
    line: int = 0
    system: bool = False
    has_regions: bool = False
    inner: list[Inclusion] = field(default_factory=list)

    def all(self) -> Iterator[Inclusion]:
        """The inclusion itself and those inside."""
        yield self
        for each in self.inner:
            yield from each.all()


def with_headers(path: str, text: str, preprocessed: str, dependencies: tuple[str, ...]) -> str | None:
    """``text`` of the file at ``path`` with headers in place; None if no header has a region to take."""
    if re.search(r"^[ \t]*#[ \t]*(?:line\b|\d)", text, re.MULTILINE):
        return None
    root = inclusions(preprocessed)
    if root is None:
        return None
    files = {name: _read(name) for name in {each.name for each in root.all() if each.has_regions}}
    counts = Counter(each.name for each in root.all())
    for each in root.all():
        if each is not root and each.has_regions:
            header = files[each.name]
            each.has_regions = (
                not each.system
                and counts[each.name] == 1
                and header is not None
                and "__cplusplus" not in header
                and not (_ONCE.search(header) and _may_come_again(each.name, dependencies))
            )
    if not any(each.has_regions for each in root.all() if each is not root):
        return None
    return _expanded(root, text, path)


def regions_left_in_headers(
    preprocessed: str, read: Collection[str], *, taken: bool
) -> tuple[Diagnostic, ...]:
    """The warning about the first header of the user's with regions that is not among the files ``read``.

    ``taken`` says whether regions of headers were to be taken.
    """
    root = inclusions(preprocessed) if _MARK.search(preprocessed) else None
    for each in root.all() if root else ():
        if each is root or not each.has_regions or each.system or each.name in read:
            continue
        lines = (_read(each.name) or "").split("\n")
        line = next((number for number, text in enumerate(lines, 1) if _REGION.match(text)), 0)
        return (in_header(each.name, line, taken=taken),)
    return ()


def in_header(name: str, line: int, *, taken: bool = False) -> Diagnostic:
    """The warning that the region in ``line`` of the header ``name`` is transformed by nothing."""
    hint = "give --headers on, or move the function into a C file"
    if taken:
        hint = "--headers on takes headers that are included once and that C++ cannot read"
    message = "this region is in a header and stays as it is"
    return Diagnostic(Severity.WARNING, "region-in-header", message, Location(name, line), hint)


def inclusions(preprocessed: str) -> Inclusion | None:
    """The files that the preprocessor read, as they include each other; None if the text has no markers."""
    root: Inclusion | None = None
    around: list[Inclusion] = []
    for line in preprocessed.split("\n"):
        marker = _MARKER.match(line)
        if marker is None:
            if around and _REGION.match(line):
                around[-1].has_regions = True
            continue
        name, flags = unescape(marker[2]), marker[3].split()
        if root is None:
            root = Inclusion(name)
            around = [root]
        elif "1" in flags:
            inner = Inclusion(name, system="3" in flags)
            around[-1].inner.append(inner)
            around.append(inner)
        elif "2" in flags and len(around) > 1:
            ended = around.pop()
            ended.line = int(marker[1]) - 1 if name == around[-1].name else 0
    return root


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


def _expanded(file: Inclusion, text: str, name: str) -> str:
    wanted = {each.line: each for each in file.inner if any(one.has_regions for one in each.all())}
    lines: list[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        inner = wanted.get(number)
        content = _read(inner.name) if inner is not None and _INCLUDE.match(line) else None
        if inner is None or content is None:
            lines.append(line)
            continue
        header = _ONCE.sub("", _from_anywhere(inner.name, content)).removesuffix("\n")
        lines += [f"#  line 1 {_quoted(inner.name)}", _expanded(inner, header, inner.name)]
        lines.append(f"#  line {number + 1} {_quoted(name)}")
    return "\n".join(lines)


def _from_anywhere(name: str, text: str) -> str:
    """``text`` of a header where what it includes from its own folder has its full path."""
    folder = Path(name).absolute().parent

    def named(match: re.Match[str]) -> str:
        beside = folder / match[2]
        return f"{match[1]}{_quoted(str(beside))}" if beside.is_file() else match[0]

    return _QUOTED.sub(named, text)


def _quoted(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
