"""Marks for the loops that a survey would take: added to the text of a file, and taken out again."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

_TAG = "/* polybuild survey */"
_MARKS = (f"#pragma scop {_TAG}", f"#pragma endscop {_TAG}")

Lines = tuple[int, int]
"""The first and the last line of what is to be marked, from 1."""


def with_marks(text: str, regions: Iterable[Lines]) -> str:
    """``text`` with marks around ``regions``, which are whole statements; lines end as those beside them."""
    lines = text.split("\n")
    for first, last in sorted(regions, reverse=True):
        end = "\r" if lines[first - 1].endswith("\r") else ""
        if last == len(lines):  # the file ends without the end of a line
            lines.append("")
        lines.insert(last, _MARKS[1] + end)
        lines.insert(first - 1, _MARKS[0] + end)
    return "\n".join(lines)


def without_marks(text: str) -> str:
    """``text`` without the marks that ``with_marks`` made; marks of its owner stay."""
    return "\n".join(line for line in text.split("\n") if line.rstrip("\r") not in _MARKS)


def patch(path: str, before: str, after: str) -> str:
    """What makes ``after`` of the file at ``path``, as ``patch -p1`` and ``git apply`` read it."""
    rows = difflib.unified_diff(_lines(before), _lines(after), f"a/{path}", f"b/{path}")
    return "".join(row if row.endswith("\n") else f"{row}\n\\ No newline at end of file\n" for row in rows)


def _lines(text: str) -> list[str]:
    """The lines of ``text`` with their ends."""
    *lines, last = text.split("\n")
    return [*(f"{line}\n" for line in lines), *([last] if last else [])]
