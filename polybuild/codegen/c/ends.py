"""The variables in which inspectors leave the least and the greatest value that they saw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from polybuild.analysis.aliasing import Overlap
from polybuild.analysis.inspectors import Inspection
from polybuild.codegen.file.names import PREFIX, fresh

_LARGEST = (1 << 63) - 1

Ends = Mapping[Inspection, tuple[str, str]]


def inspections_of(overlaps: Sequence[Overlap]) -> list[Inspection]:
    """What ``overlaps`` need, each once."""
    both = (each for overlap in overlaps for each in (overlap.first.inspection, overlap.second.inspection))
    return list(dict.fromkeys(each for each in both if each is not None))


def name_ends(inspections: Sequence[Inspection], taken: frozenset[str]) -> Ends:
    """Variables for the least and the greatest value of each inspection."""
    used = set(taken)
    ends: dict[Inspection, tuple[str, str]] = {}
    for each in inspections:
        names = []
        for end in ("least", "most"):
            names.append(fresh(PREFIX + end, used))
            used.add(names[-1])
        ends[each] = (names[0], names[1])
    return ends


def declarations(inspections: Sequence[Inspection], ends: Ends) -> list[str]:
    """The ends before anything was looked at."""
    return [
        f"long long {ends[each][0]} = {_LARGEST}LL, {ends[each][1]} = -{_LARGEST}LL;" for each in inspections
    ]
