"""How region markers nest in the brackets of their function."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from polybuild.c.tokens import Token, tokens
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class MarkerContext:
    """What surrounds a marker.

    ``block`` is the offset of the innermost open bracket; ``previous`` and
    ``following`` are the nearest tokens (empty at the ends); ``controlled`` is
    true if the marker stands where the one statement of an ``if``, ``else``,
    ``for``, ``while``, ``do`` or ``switch`` is expected, ``labelled`` if it
    stands after a colon.
    """

    block: int | None
    bracket: str
    previous: str
    following: str = ""
    controlled: bool = False
    labelled: bool = False


def misplaced_bracket(text: str, start: int, end: int) -> Token | None:
    """The first bracket in ``text[start:end]`` that is closed by one of another kind, or closes none.

    A brace that is closed by another kind is right: what closes it is wrong.
    """
    pairs = {")": "(", "]": "[", "}": "{"}
    open_brackets: list[Token] = []
    for token in tokens(text, start, end):
        if token.text in pairs.values():
            open_brackets.append(token)
        elif token.text in pairs:
            if not open_brackets:
                return token
            opening = open_brackets.pop()
            if opening.text != pairs[token.text]:
                return token if opening.text == "{" else opening
    return None


def marker_contexts(text: str, start: int, end: int, markers: Collection[int]) -> dict[int, MarkerContext]:
    """The contexts of the markers at the given offsets in ``text[start:end]``."""
    found: dict[int, MarkerContext] = {}
    awaiting: list[int] = []  # markers whose following token has not come yet
    open_brackets: list[tuple[int, str, str]] = []  # offset, bracket, the token before it
    previous, before_group = "", ""
    for token in tokens(text, start, end):
        if token.text[0] == "#":
            if token.start in markers:
                offset, bracket, _ = open_brackets[-1] if open_brackets else (None, "", "")
                found[token.start] = MarkerContext(
                    block=offset,
                    bracket=bracket,
                    previous=previous,
                    controlled=previous in {"else", "do"}
                    or (previous == ")" and before_group in {"if", "for", "while", "switch"}),
                    labelled=previous == ":",
                )
                awaiting.append(token.start)
            continue
        for marker in awaiting:
            found[marker] = replace(found[marker], following=token.text)
        awaiting.clear()
        if token.text in {"(", "[", "{"}:
            open_brackets.append((token.start, token.text, previous))
        elif token.text in {")", "]", "}"} and open_brackets:
            before_group = open_brackets.pop()[2]
        previous = token.text
    return found
