"""Functions whose address a file takes, which pointers may lead to, and where such pointers are called.

All this is found by the text alone: what is found too much is looked at by type later, and again when the
program runs.
"""

from __future__ import annotations

from collections.abc import Iterator

from polybuild.c.pure_functions import is_pure_function
from polybuild.c.tokens import KEYWORDS
from polybuild.patterns import pattern
from polybuild.source.chunks import ChunkIndex

_VALUE = pattern(r"(?<![\w$])[A-Za-z_$][\w$]*(?![\w$]|\s*\()")
_BY_MEMBER_OR_VALUE = pattern(r"(?:->|\.)\s*[A-Za-z_$][\w$]*\s*\(|\(\s*\*[^()]*\)\s*\(|\]\s*\(")
_CALLED = pattern(r"([A-Za-z_$][\w$]*)\s*\(")


def taken_functions(chunks: ChunkIndex) -> frozenset[str]:
    """The functions that the file defines, or that only compute values, and mentions without a call."""
    known: frozenset[str] | None = chunks.known.get(("taken", 0))
    if known is None:
        known = frozenset(
            name
            for chunk in chunks.chunks
            for name in functions_as_values(chunks, chunk.body or chunk.start, chunk.end)
        )
        chunks.known["taken", 0] = known
    return known


def functions_as_values(chunks: ChunkIndex, start: int, end: int) -> Iterator[str]:
    """The functions of which the text from ``start`` to ``end`` takes the address."""
    for name in set(_VALUE.findall(chunks.text, start, end)) - KEYWORDS:
        if chunks.definition(name) is not None or (is_pure_function(name) and chunks.declaring(name)):
            yield name


def calls_by_pointer(chunks: ChunkIndex, start: int, end: int) -> bool:
    """Whether the text from ``start`` to ``end`` may call a function by a pointer."""
    if _BY_MEMBER_OR_VALUE.search(chunks.text, start, end):
        return True
    names = set(_CALLED.findall(chunks.text, start, end)) - KEYWORDS
    return any(not is_pure_function(each) and _is_variable(chunks, each) for each in names)


def _is_variable(chunks: ChunkIndex, name: str) -> bool:
    """Whether ``name`` may be a variable: one of a function, or of the file."""
    declared = [chunks.chunks[each] for each in chunks.declaring(name)]
    if any(each.body is not None for each in declared) or name.startswith("__"):
        return False
    plain = pattern(rf"(?<![\w$*]){name.replace('$', '[$]')}\s*\(")
    return not any(plain.search(chunks.text, each.start, each.end) for each in declared)
