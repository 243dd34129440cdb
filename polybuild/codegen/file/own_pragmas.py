"""The pragmas for polybuild that are left in what it wrote, as comments, of which no compiler warns."""

from __future__ import annotations

from polybuild.source.markers import SourceText


def without_pragmas(data: bytes) -> bytes:
    """``data``, C in UTF-8 or bytes like it, with ``#pragma scop`` and the like in comments, line by line.

    They are left around regions that stay as they are; whether one does must not decide whether a build
    with ``-Wall -Werror`` succeeds. A mark that is made by a macro of the user stays.
    """
    if b"ragma" not in data:
        return data
    text = data.decode("utf-8", "surrogateescape")
    pieces, position = [], 0
    for span in SourceText(text, "").own_pragmas:
        pieces += [text[position : span.start], _comment(text[span.start : span.end])]
        position = span.end
    return "".join([*pieces, text[position:]]).encode("utf-8", "surrogateescape")


def _comment(pragma: str) -> str:
    """A comment of as many lines, which has no end before its end."""
    inner = pragma.replace("/*", "/ *").replace("*/", "* /").replace("\\\r\n", "\r\n").replace("\\\n", "\n")
    return f"/* {inner.rstrip()} */{inner[len(inner.rstrip()) :]}"
