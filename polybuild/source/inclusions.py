"""The files that the preprocessor read, as they include each other; those that come again by other names.

::

    # 1 "main.c"                    # 1 "main.c"
    # 1 "body.c" 1                  # 1 "body.c" 1
    ...                             ...
    # 3 "main.c" 2          ->      # 3 "main.c" 2
    # 1 "body.c" 1                  # 1 "./body.c" 1
    ...                             ...
    # 6 "main.c" 2                  # 6 "main.c" 2
"""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import field

from polybuild.patterns import pattern
from polybuild.source.markers import unescape

REGION = pattern(r"[ \t]*#[ \t]*pragma[ \t]+scop\b")
"""A line that begins a region."""
LOOP = pattern(rf"{REGION.pattern}|[^#]*\b(?:for|while|do)\b")
"""A line that begins a region, or that may have a loop."""
_MARKER = pattern(r'#[ \t]+(\d+)[ \t]+"((?:[^"\\]|\\.)*)"((?:[ \t]+\d+)*)')


@dataclasses.dataclass(slots=True)
class Inclusion:
    """A file as it was included; ``line`` is that of the directive in the file around it.

    ``is_wanted`` says whether it has what was looked for.
    """

    name: str
    line: int = 0
    system: bool = False
    is_wanted: bool = False
    inner: list[Inclusion] = field(default_factory=list)

    def all(self) -> Iterator[Inclusion]:
        """The inclusion itself and those inside."""
        yield self
        for each in self.inner:
            yield from each.all()


def inclusions(preprocessed: str, wanted: re.Pattern[str] = REGION) -> Inclusion | None:
    """The files that the preprocessor read, as they include each other; None if the text has no markers.

    Lines that are ``wanted`` are looked for.
    """
    root: Inclusion | None = None
    around: list[Inclusion] = []
    for line in preprocessed.split("\n"):
        marker = _MARKER.match(line)
        if marker is None:
            if around and wanted.match(line):
                around[-1].is_wanted = True
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


def with_names_of_inclusions(preprocessed: str, root: Inclusion) -> tuple[str, dict[str, str]]:
    """``preprocessed``, read as ``root``, where files with what is wanted that come again have other names.

    Then what these names stand for. They are paths to the same file.
    """
    every = list(root.all())
    counts = Counter(each.name for each in every)
    again = {
        each.name
        for each in every
        if counts[each.name] > 1 and not each.system and any(inner.is_wanted for inner in each.all())
    }
    return _renamed(preprocessed, again) if again else (preprocessed, {})


def _renamed(preprocessed: str, again: set[str]) -> tuple[str, dict[str, str]]:
    """The same for files whose names are among those that come ``again``."""
    lines = preprocessed.split("\n")
    names: dict[str, str] = {}
    seen: Counter[str] = Counter()
    around: list[tuple[str, str]] = []
    for number, line in enumerate(lines):
        marker = _MARKER.match(line)
        if marker is None:
            continue
        name, flags = unescape(marker[2]), marker[3].split()
        if not around or "1" in flags:
            other = _path_to(name, seen[name]) if name in again else name
            seen[name] += 1
            around.append((name, other))
        elif "2" in flags and len(around) > 1:
            around.pop()
        real, other = around[-1]
        if name == real != other:
            names[other] = real
            lines[number] = f"# {marker[1]} {quoted_name(other)}{line[marker.start(3) :]}"
    return "\n".join(lines), names


def _path_to(name: str, detours: int) -> str:
    """A path to the file ``name`` that says ``detours`` times more often that it is where it is."""
    folder, slash, base = name.rpartition("/")
    return f"{folder}{slash}{'./' * detours}{base}"


def with_own_names(text: str, names: Mapping[str, str]) -> str:
    """``text`` with the own names of files in ``#line`` directives that have those of ``names``."""
    if not names:
        return text
    own = {quoted_name(other): quoted_name(real) for other, real in names.items()}
    line = re.compile(rf"^([ \t]*#[^\n]*)({'|'.join(map(re.escape, own))})", re.MULTILINE)
    return line.sub(lambda found: found[1] + own[found[2]], text)


def quoted_name(name: str) -> str:
    """``name`` of a file as a line marker has it."""
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
