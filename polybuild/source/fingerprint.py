"""What a region says, apart from where it stands: equal regions of edited files have equal fingerprints."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field
from enum import Enum
from typing import Any

from pycparser import c_ast

from polybuild.c.declarations import Scope
from polybuild.c.symbols import VisibleNames
from polybuild.diagnostics import Location
from polybuild.patterns import pattern
from polybuild.source.model import Region
from polybuild.values import dataclass

FIRST_LINE = 7_430_918_000_000_000
"""Lines are raised by this while they are to be told from all other numbers."""

_LINES = 1_000_000_000
_RAISED = pattern(r"(?<!\d)7430918\d{9}(?!\d)")
_MARKER = pattern(r"polybuild (begin|end) (\d+)")  # see ``blocks.begin_pragma``
_OWN_PREFIX = "POLYBUILD"
_ELSEWHERE: Mapping[type, frozenset[str]] = {
    Region: frozenset({"index", "span", "body", "begin", "end", "statements"}),
    VisibleNames: frozenset({"macros"}),
}
"""Fields that are said otherwise, or do not matter: what a region's statements are, its markers tell."""


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What a region says: the ``digest`` of all that its transformation may depend on but for lines.

    These are the function around it, the declarations and definitions it may use, its clauses, the names that
    generated ones must not be, and the order of the lines of its file that all of this stands on, which are
    ``lines``, ascending. ``places`` are the coordinates of the syntax tree on these lines.
    """

    digest: str
    lines: tuple[int, ...]
    places: tuple[Any, ...] = field(compare=False)

    @contextmanager
    def raised(self, region: Region) -> Iterator[Region]:
        """``region``, whose fingerprint this is, with its lines raised as long as this lasts."""
        for place in self.places:
            place.line += FIRST_LINE
        try:
            yield _raised(region)
        finally:
            for place in self.places:
                place.line -= FIRST_LINE


def digest_of(value: object) -> str:
    """The same for values that say the same; TypeError for what is not known to say anything."""
    parts = _Parts("")
    parts.add(value)
    return parts.digest


def is_raised(number: int) -> bool:
    """Whether ``number`` is a line that was raised."""
    return FIRST_LINE <= number < FIRST_LINE + _LINES


def holds_lines(text: str) -> bool:
    """Whether ``text`` names lines that were raised."""
    return _RAISED.search(text) is not None


def with_lines(text: str, lines: Mapping[int, int]) -> str:
    """``text`` with the raised lines that it names replaced; KeyError for one that is not in ``lines``."""
    return _RAISED.sub(lambda match: str(lines[int(match[0]) - FIRST_LINE]), text)


def lowered(text: str) -> str:
    """``text`` with the raised lines that it names as they were."""
    return _RAISED.sub(lambda match: str(int(match[0]) - FIRST_LINE), text)


class Fingerprints:
    """Fingerprints of the regions of one file: functions that they share are gone through once."""

    def __init__(self) -> None:
        self._functions: dict[int, tuple[c_ast.Node, _Parts]] = {}

    def of(self, region: Region) -> Fingerprint | None:
        """The fingerprint of ``region``; None if there is something in it that has none."""
        parts = _Parts(region.begin.file, self._function)
        try:
            parts.add(region)
        except (TypeError, RecursionError):
            return None
        first = self._function(region.function, region.begin.file).first_region
        parts.add((region.index - (first or 0), region.begin.file, region.begin.column, region.end.column))
        parts.add(sorted(_that_matter(region.visible.macros, parts.names)))
        return parts.fingerprint(region)

    def _function(self, node: c_ast.Node, file: str) -> _Parts:
        known = self._functions.get(id(node))
        if known is None:
            parts = _Parts(file)
            parts.add(node)
            known = self._functions[id(node)] = (node, parts)  # kept, so that no other gets its number
        return known[1]


class _Parts:
    """Collects what is said below a value: words, coordinates in ``file``, and the names in use."""

    def __init__(self, file: str, functions: Any = None) -> None:
        self.names: set[str] = set()
        self.first_region: int | None = None
        """The position in the file of the first region of the function."""
        self._file = file
        self._functions = functions
        self._digest = hashlib.sha256()
        self._places: list[Any] = []
        self._seen: dict[int, int] = {}

    @property
    def digest(self) -> str:
        """All that was said, but for lines."""
        return self._digest.hexdigest()

    def fingerprint(self, region: Region) -> Fingerprint:
        """All that was added, for ``region``, with the order of the lines."""
        numbers = [place.line for place in self._places]
        own = [region.begin.line, region.end.line]
        lines = sorted({*numbers, *own})
        ranks = {line: rank for rank, line in enumerate(lines)}
        self._say(",".join(str(ranks[each]) for each in [*numbers, *own]))
        places = {id(place): place for place in self._places}
        return Fingerprint(self.digest, tuple(lines), tuple(places.values()))

    def add(self, value: Any) -> None:
        """Add ``value``, whatever it holds; TypeError for what is not known to say anything."""
        if value is None or isinstance(value, str | int | float):
            self._say(repr(value))
        elif isinstance(value, tuple | list):
            self._say(f"[{len(value)}")
            for each in value:
                self.add(each)
        elif isinstance(value, Mapping):
            self._say(f"{{{len(value)}")
            for key, each in value.items():
                self.add(key)
                self.add(each)
        elif isinstance(value, frozenset):
            self.add(sorted(value))
        elif isinstance(value, Enum):
            self._say(f"{type(value).__name__}.{value.name}")
        elif id(value) in self._seen:  # records are the same type if they are the same object
            self._say(f"={self._seen[id(value)]}")
        else:
            self._seen[id(value)] = len(self._seen)
            self._add_object(value)

    def _add_object(self, value: Any) -> None:
        self._say(type(value).__name__)
        if isinstance(value, c_ast.FuncDef) and self._functions is not None:
            self._add_function(self._functions(value, self._file))
        elif isinstance(value, c_ast.Node):
            self._add_node(value)
        elif isinstance(value, Scope):
            self.add(vars(value))
        elif dataclasses.is_dataclass(value):
            skipped = _ELSEWHERE.get(type(value), frozenset())
            for each in dataclasses.fields(value):
                if each.name not in skipped:
                    self.add(getattr(value, each.name))
        else:
            raise TypeError(type(value).__name__)

    def _add_function(self, parts: _Parts) -> None:
        self._say(parts.digest)
        self._places += parts._places
        self.names |= parts.names

    def _add_node(self, node: c_ast.Node) -> None:
        coord = node.coord
        if coord is not None and coord.file == self._file and coord.line:
            self._places.append(coord)
            self._say(f"@{coord.column}")
        elif coord is not None:
            self._say(f"@{coord.file}:{coord.line}:{coord.column}")
        marker = _MARKER.fullmatch(node.string or "") if isinstance(node, c_ast.Pragma) else None
        if marker:
            self._add_marker(marker[1], int(marker[2]))
            return
        for name in _slots(node):
            value = getattr(node, name, None)
            if isinstance(value, str):
                self.names.add(value)
            self.add(value)

    def _add_marker(self, kind: str, index: int) -> None:
        """A marker of a region, which counts the regions of its function, not of its file."""
        if self.first_region is None:
            self.first_region = index
        self._say(f"{kind} {index - self.first_region}")

    def _say(self, word: str) -> None:
        self._digest.update(f"{word}\0".encode("utf-8", "surrogateescape"))


def _slots(node: c_ast.Node) -> Iterator[str]:
    for each in type(node).__mro__:
        yield from (name for name in getattr(each, "__slots__", ()) if name not in {"coord", "__weakref__"})


def _that_matter(macros: Iterable[str], names: set[str]) -> Iterator[str]:
    """Those of ``macros`` that a generated name may be: ours have small letters, or are one of ``names``.

    They may be followed by a number, and stand before an underscore (``codegen.file.names``).
    """
    for macro in macros:
        parts = macro.split("_")
        stems = ["_".join(parts[: count + 1]) for count in range(len(parts))]
        ours = not macro.isupper() or macro.startswith(_OWN_PREFIX)
        if ours or any(_is_like(each, names) for each in stems):
            yield macro


def _is_like(stem: str, names: set[str]) -> bool:
    """Whether ``stem`` is one of ``names``, or one with a number behind it."""
    shortest = len(stem.rstrip("0123456789"))
    return any(stem[:length] in names for length in range(shortest, len(stem) + 1))


def _raised(region: Region) -> Region:
    """``region`` with its own lines raised, and those of what it calls, but for the tree's."""
    return dataclasses.replace(
        region,
        begin=_raised_location(region.begin),
        end=_raised_location(region.end),
        callees={
            name: dataclasses.replace(each, body=None if each.body is None else _raised(each.body))
            for name, each in region.callees.items()
        },
    )


def _raised_location(location: Location) -> Location:
    return dataclasses.replace(location, line=location.line + FIRST_LINE)
