"""Set aside single statements in dialects pycparser does not read.

One ``typeof``, case range or computed ``goto`` must not cost the function its
regions: the statement becomes a call of ``OPAQUE`` that mentions its names.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from polybuild.c.dialects import opaque_call
from polybuild.c.tokens import Token, matching_bracket, tokens
from polybuild.patterns import pattern

_DIALECT = pattern(
    r"\?\s*:|\.\.\.|&&\s*[A-Za-z_]\w*\s*[;,\]})]|\b__\w+|\btypeof\b|\bgoto\s*\*|\b[0-9][\w.]*[ijIJ][fFlL]?\b|_Generic"
)
_NESTED_FUNCTION = pattern(r"[A-Za-z_]\w*[\s*]+[A-Za-z_]\w*\s*\([^;{}]*\)\s*\{")


# What to call them, hint.
_NAMES = (
    (r"\?\s*:", "a conditional without its middle operand", "write the value twice"),
    (r"\b(__)?typeof(__)?\b", "typeof", "write the type"),
    (r"\b[0-9][\w.]*[ijIJ][fFlL]?\b", "an imaginary constant", "multiply by I of <complex.h>"),
    (r"\.\.\.", "a range of cases", "write the cases one by one"),
    (r"&&\s*[A-Za-z_]\w*|\bgoto\s*\*", "the address of a label", "use structured loops and conditions"),
)


class Unreadable(Exception):
    """The text is wrong, or needed by a region: then ``construct`` names what is not standard C in it."""

    def __init__(self, construct: str = "", hint: str = "") -> None:
        super().__init__(construct)
        self.construct = construct
        self.hint = hint


def without_unsupported_statement(text: str, line: int, column: int, typedefs: Collection[str]) -> str:
    """``text``, a function, with the statement at ``line`` and ``column`` replaced; lines are kept.

    ``typedefs`` are names that cannot be arguments of a call. Raises Unreadable
    if the statement is standard C (so it is in error), if a region marker lies
    in it, or if it lies in a region.
    """
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    offset = starts[min(line, len(starts)) - 1] + column - 1
    start, end, replacement = _statement(text, offset)
    piece = text[start:end]
    unsupported = _DIALECT.search(piece) or _NESTED_FUNCTION.match(piece)
    marked = any(token.text[0] == "#" for token in tokens(piece))
    if unsupported and not marked and _in_region(text, start):
        raise Unreadable(*_named(piece))
    if not unsupported or marked:
        raise Unreadable
    call = opaque_call(piece, typedefs)
    return text[:start] + replacement.replace("@", call, 1) + text[end:]


def _named(piece: str) -> tuple[str, str]:
    for expression, what, hint in _NAMES:
        if re.search(expression, piece):
            return what, hint
    return "a construct beyond standard C", "write it in standard C"


def _in_region(text: str, offset: int) -> bool:
    before = re.findall(r"^#pragma polybuild (begin|end)", text[:offset], re.MULTILINE)
    return bool(before) and before[-1] == "begin"


def _statement(text: str, offset: int) -> tuple[int, int, str]:
    """(start, end, replacement) of the statement around ``offset``, ``@`` standing for the call."""
    frames: list[tuple[str, int | None]] = []  # open brackets; for a brace, where its statement starts
    current: tuple[int, int] | None = None  # the depth and the start of the statement sought
    group: int | None = None  # the outermost parenthesis in it around the offset
    for token in tokens(text):
        if current is None and token.end > offset:
            current, group = _enclosing(frames, token)
        if token.text[0] == "#":
            _begin(frames, None)
        elif token.text in {"(", "["}:
            _begin(frames, token.start)
            frames.append((token.text, token.start))
        elif token.text == "{":
            if current is not None and len(frames) == current[0]:
                return _control(text, current[1], group, token.start)
            frames.append(("{", None))
        elif token.text in {")", "]", "}"}:
            if current is not None and len(frames) <= current[0] and token.text == "}":
                break
            if frames:
                frames.pop()
            if token.text == "}":
                _begin(frames, None)
        elif token.text == ";" and frames and frames[-1][0] == "{":
            if current is not None and len(frames) == current[0]:
                return current[1], token.end, "@;"
            _begin(frames, None)
        else:
            _begin(frames, token.start)
    raise Unreadable


def _begin(frames: list[tuple[str, int | None]], start: int | None) -> None:
    """Note where the current statement of the innermost brace starts (None: with the next token)."""
    if frames and frames[-1][0] == "{" and (start is None or frames[-1][1] is None):
        frames[-1] = ("{", start)


def _enclosing(frames: list[tuple[str, int | None]], token: Token) -> tuple[tuple[int, int], int | None]:
    group: int | None = None
    for depth in range(len(frames), 0, -1):
        bracket, start = frames[depth - 1]
        if bracket == "{":
            return (depth, token.start if start is None else start), group
        group = start
    raise Unreadable


def _control(text: str, start: int, group: int | None, brace: int) -> tuple[int, int, str]:
    """The part to replace of a statement that ends in a block: its condition, or all of it."""
    closing = matching_bracket(text, group) if group is not None else None
    if group is None or closing is None:
        end = matching_bracket(text, brace)
        if end is None:
            raise Unreadable
        return start, end, "@;"
    is_for = re.match(r"for\b", text[start:])
    return group, closing, "(; @; )" if is_for else "(@)"
