"""A cheap lexer for C text, before or after preprocessing.

It knows just enough of C to never mistake a bracket in a string for a bracket:
literals, preprocessor lines, words, numbers and single punctuators.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from polybuild.patterns import pattern
from polybuild.values import dataclass

STRING = r'"(?:[^"\\\n]|\\.)*"'
CHARACTER = r"'(?:[^'\\\n]|\\.)*'"
NUMBER = r"\.?[0-9](?:[eEpP][+-]|[\w.]|'(?=\w))*"
WORD = r"[A-Za-z_$][\w$]*"

_TOKEN = pattern(
    rf"(?:[uUL]|u8)?{STRING}|(?:[uUL]|u8)?{CHARACTER}|\#[^\n]*|{WORD}|{NUMBER}|->|\S",
    re.DOTALL,
)
_IDENTIFIER = pattern(WORD)
_BRACKET = pattern(rf"{STRING}|{CHARACTER}|\#[^\n]*|[(){{}}\[\]]", re.DOTALL)

KEYWORDS = frozenset(
    # A table of words reads best as words.
    """
    auto break case char const continue default do double else enum extern float for goto if inline int
    long register restrict return short signed sizeof static struct switch typedef union unsigned void
    volatile while _Alignas _Alignof _Atomic _Bool _Complex _Generic _Imaginary _Noreturn _Static_assert
    _Thread_local __attribute__ __attribute __extension__ __inline __inline__ __restrict __restrict__
    __const __const__ __volatile __volatile__ __signed __signed__ __asm__ __asm asm __thread __alignof__
    __alignof __typeof__ __typeof typeof __complex__ __complex __declspec __int128 __label__ __auto_type
    __real__ __imag__
    """.split()  # noqa: SIM905
)


@dataclass(frozen=True, slots=True)
class Token:
    """A token's text and its offset."""

    text: str
    start: int

    @property
    def end(self) -> int:
        """The offset after the token."""
        return self.start + len(self.text)

    @property
    def is_word(self) -> bool:
        """True for identifiers and keywords."""
        first = self.text[0]
        return (first.isalpha() or first in "_$") and self.text[-1] not in "\"'"


def tokens(text: str, start: int = 0, end: int | None = None) -> Iterator[Token]:
    """The tokens of ``text[start:end]``; a preprocessor line is one token."""
    for match in _TOKEN.finditer(text, start, len(text) if end is None else end):
        yield Token(match.group(), match.start())


def token_texts(text: str) -> list[str]:
    """The texts of the tokens of ``text``; cheaper than ``tokens``."""
    return _TOKEN.findall(text)


def matching_bracket(text: str, start: int, end: int | None = None) -> int | None:
    """The offset after the bracket that closes the one at ``start``, None if it stays open."""
    depth = 0
    for match in _BRACKET.finditer(text, start, len(text) if end is None else end):
        first = match.group()[0]
        if first in "([{":
            depth += 1
        elif first in ")]}":
            depth -= 1
            if depth == 0:
                return match.end()
    return None


def identifiers(text: str) -> set[str]:
    """The words of ``text`` that are not keywords."""
    return set(filter(_IDENTIFIER.fullmatch, _TOKEN.findall(text))) - KEYWORDS
