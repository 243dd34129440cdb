"""Arrays of which only the regions of a function need the values: ``#pragma polybuild temporary(t)``.

    double *t = malloc(n * sizeof *t);
    #pragma polybuild temporary(t)
    #pragma scop
    ...

It stands in the function, before the regions it is about, which is all that follow. The arrays are
named as the regions name them; nothing of them is needed before or after any of these regions.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from polybuild.c.types import ArrayType, PointerType
from polybuild.diagnostics import Diagnostic, Location, Severity
from polybuild.patterns import pattern
from polybuild.source.chunks import ChunkIndex
from polybuild.source.lines import LineTable
from polybuild.source.model import Region, RejectedRegion
from polybuild.source.regions import Candidate
from polybuild.values import dataclass

_PRAGMA = pattern(r"^[ \t]*#[ \t]*pragma[ \t]+polybuild[ \t]+temporary\b[ \t]*(.*)$", re.MULTILINE)
_LIST = pattern(r"\(\s*(\w+(?:\s*,\s*\w+)*)\s*\)[ \t\r]*")

_Regions = tuple[Region | RejectedRegion, ...]


@dataclass(frozen=True, slots=True)
class _TemporaryPragma:
    """One pragma: the arrays, and where it stands in the preprocessed and in the user's text."""

    names: tuple[str, ...]
    start: int
    location: Location


def with_temporaries(
    regions: _Regions, candidates: Sequence[Candidate], lines: LineTable, chunks: ChunkIndex
) -> tuple[_Regions, tuple[Diagnostic, ...]]:
    """``regions``, which were made from ``candidates``, with the temporary arrays named before them.

    What is wrong with a pragma is told, and the pragma is without effect.
    """
    problems: list[Diagnostic] = []
    found = list(regions)
    for match in _PRAGMA.finditer(lines.text):
        presumed = lines.presumed_at(match.start())
        if not lines.is_main(presumed):
            continue
        user = lines.user_location(presumed)
        location = Location(user.file, user.line)
        listed = _LIST.fullmatch(match[1])
        if listed is None:
            hint = "write the arrays as in 'temporary(u, v)'"
            problems.append(_misuse("temporary-syntax", "there is no list of arrays", location, hint))
            continue
        named = _TemporaryPragma(tuple(re.split(r"\s*,\s*", listed[1])), match.start(), location)
        following = _following(named, candidates, chunks)
        if not following:
            message = "no region follows in the function"
            problems.append(
                _misuse("temporary-place", message, location, "put the pragma before '#pragma scop'")
            )
        for index in following:
            found[index], wrong = _with_names(found[index], named)
            problems += wrong
    return tuple(found), tuple(problems)


def _following(named: _TemporaryPragma, candidates: Sequence[Candidate], chunks: ChunkIndex) -> list[int]:
    """The indices of the regions after a pragma in the same function."""
    chunk = chunks.at(named.start)
    return [
        index
        for index, each in enumerate(candidates)
        if each.chunk is not None and each.chunk == chunk and each.begin.start > named.start
    ]


def _with_names(
    region: Region | RejectedRegion, named: _TemporaryPragma
) -> tuple[Region | RejectedRegion, list[Diagnostic]]:
    """``region`` with those arrays of ``named`` that it can see, and what is wrong with the others."""
    if isinstance(region, RejectedRegion):
        return region, []
    names: list[str] = []
    problems: list[Diagnostic] = []
    for name in named.names:
        symbol = region.visible.symbols.get(name)
        if symbol is None or not isinstance(symbol.type, ArrayType | PointerType):
            message = f"'{name}' is no array that the region in line {region.begin.line} can see"
            problems.append(_misuse("temporary-array", message, named.location))
        else:
            names.append(name)
    return replace(region, temporaries=(*region.temporaries, *names)), problems


def _misuse(code: str, message: str, location: Location, hint: str = "") -> Diagnostic:
    return Diagnostic(Severity.WARNING, code, f"the pragma is without effect: {message}", location, hint)
