"""Where statements end, by their tokens alone."""

from __future__ import annotations

from collections.abc import Sequence

from polybuild.c.tokens import Token

LOOPS = ("for", "while", "do")
"""The words that begin loops."""


def statement_end(found: Sequence[Token], position: int) -> int:
    """The position after the statement that starts at ``position``."""
    end = len(found)
    if position >= end:
        return end
    text = found[position].text
    if text == "{":
        return group_end(found, position)
    if text in {"for", "while", "if", "switch"}:
        position = statement_end(found, group_end(found, position + 1))
        if text == "if" and position < end and found[position].text == "else":
            return statement_end(found, position + 1)
        return position
    if text == "do":
        position = statement_end(found, position + 1)  # at its while
        return min(end, group_end(found, position + 1) + 1)
    while position < end and found[position].text != ";":
        is_group = found[position].text in {"(", "[", "{"}
        position = group_end(found, position) if is_group else position + 1
    return min(end, position + 1)


def group_end(found: Sequence[Token], position: int) -> int:
    """The position after the bracket that closes the one at ``position``."""
    depth = 0
    while position < len(found):
        text = found[position].text
        depth += (text in {"(", "[", "{"}) - (text in {")", "]", "}"})
        position += 1
        if depth <= 0:
            break
    return position
