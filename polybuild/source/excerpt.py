"""Regions of a preprocessed text with what they need to be read, and nothing else of their file."""

from __future__ import annotations

import re
from collections.abc import Iterator

from polybuild.c.tokens import KEYWORDS, identifiers
from polybuild.patterns import pattern
from polybuild.source.chunks import ChunkIndex

_REGION = pattern(
    r"^[ \t]*#[ \t]*pragma[ \t]+scop\b.*?^[ \t]*#[ \t]*pragma[ \t]+endscop\b[^\n]*$", re.MULTILINE | re.DOTALL
)
_LINE_MARKER = pattern(r"^[ \t]*#[ \t]*(?:line\b|\d).*\n?", re.MULTILINE)
_DECLARATION = pattern(r"\s*(?:[A-Za-z_]\w*[\s*]+)+[A-Za-z_]\w*\s*(?:[\[=,].*)?", re.DOTALL)
"""A declaration of variables, up to its semicolon; what begins with one of these words is none:"""
_INITIAL = pattern(r"\s*=\s*(?:\([^()]*(?:\([^()]*\)[^()]*)*\)|\{[^;]*\}|[^,;(){}])*")
"""An initial value with its sign of equality; commas in brackets belong to it."""
_STATEMENTS = frozenset({"return", "goto", "case", "else", "do", "default", "typedef"})


def excerpts(preprocessed: str) -> Iterator[str]:
    """For each region, in order: its text in a function of its name, after the declarations that it needs.

    Of the function around it there are the parameters, and the declarations of local variables that the
    region mentions, with initial values that are numbers. Functions that it calls are there as a whole.
    """
    chunks = ChunkIndex(preprocessed)
    for found in _REGION.finditer(preprocessed):
        number = chunks.at(found.start())
        if number is None or chunks.chunks[number].body is None:
            continue
        chunk = chunks.chunks[number]
        before = preprocessed[chunk.body : found.start()]
        local = "".join(f"{each};\n" for each in _declarations(before, identifiers(found.group())))
        function = f"{chunks.head(number).rstrip()}\n{{\n{local}{found.group()}\n}}\n"
        yield _with_declarations(preprocessed[: chunk.start], function)


def _with_declarations(before: str, function: str) -> str:
    """``function`` after those of the declarations ``before`` it that it needs."""
    chunks = ChunkIndex(f"{before}\n{function}")
    needed = [chunks.chunks[each] for each in chunks.needed_by(len(chunks.chunks) - 1)]
    texts = [chunks.text[each.start : each.end] for each in needed]
    return re.sub(r"\n\s*\n+", "\n", _LINE_MARKER.sub("", "\n".join([*texts, function])))


def _declarations(text: str, names: set[str]) -> Iterator[str]:
    """The declarations in ``text`` that mention one of ``names``."""
    for piece in re.split(r"[;{}]", _LINE_MARKER.sub("", text)):
        plain = piece.strip()
        first = plain.split(maxsplit=1)[0] if plain else ""
        if first in _STATEMENTS or not _DECLARATION.fullmatch(plain):
            continue
        if (identifiers(plain) - KEYWORDS) & names:
            yield _INITIAL.sub(lambda each: "" if identifiers(each[0]) or '"' in each[0] else each[0], plain)
