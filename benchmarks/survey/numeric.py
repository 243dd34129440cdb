"""Which loop nests are numeric.

A nest is numeric if a statement in it, headers of loops aside, assigns a value that it computes: with
``+``, ``-``, ``*`` or ``/`` outside of subscripts, or by ``+=`` and its like; and the statement mentions
an element (``a[i]``, ``*p``) or a constant of floating point. Loops that only copy, compare, call or
print are not, nor are those that only count.

What reaches outside of the program has an order of its own, which is no matter of arithmetic: input and
output, memory from the system, clocks, and the library's random numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from polybuild.c.tokens import token_texts

_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_ASSIGNING = frozenset({"=", "+=", "-=", "*=", "/="})
_OPERATORS = frozenset("+-*/")
_BEFORE_EQUALS = frozenset("+-*/%&|^<>!=")
_ENDS = frozenset({";", "{", "}"})
_OUTSIDE = frozenset({
    "printf", "fprintf", "puts", "fputs", "fputc", "putc", "putchar", "fwrite", "fflush", "fopen", "fclose",
    "scanf", "fscanf", "fgets", "fgetc", "getc", "getchar", "fread", "getline", "fseek", "read", "write",
    "malloc", "calloc", "realloc", "free", "strdup", "rand", "srand", "random", "drand48", "time", "clock",
})  # fmt: skip


def is_numeric(text: str) -> bool:
    """Whether ``text``, a loop nest as written, computes with elements or floating-point numbers."""
    words: list[str] = []
    for each in _tokens(text):
        if each == "=" and words and words[-1] in _BEFORE_EQUALS:
            words[-1] += each
        else:
            words.append(each)
    return any(_computes(each) for each in _statements(words))


def reaches_outside(text: str) -> bool:
    """Whether ``text`` calls functions of the library that reach outside of the program."""
    return any(word in _OUTSIDE and after == "(" for word, after in pairwise(_tokens(text)))


def _tokens(text: str) -> list[str]:
    return [each for each in token_texts(_COMMENT.sub(" ", text)) if not each.startswith("#")]


def _statements(words: Sequence[str]) -> Iterator[list[str]]:
    """The statements among ``words``, without the headers of loops."""
    found: list[str] = []
    position = 0
    while position < len(words):
        word = words[position]
        if word in {"for", "while"}:
            position = _group_end(words, position + 1)
            continue
        if word in _ENDS:
            yield found
            found = []
        else:
            found.append(word)
        position += 1
    yield found


def _group_end(words: Sequence[str], position: int) -> int:
    """What follows the parentheses that begin at ``position``."""
    depth = 0
    while position < len(words):
        depth += (words[position] == "(") - (words[position] == ")")
        position += 1
        if depth <= 0:
            break
    return position


def _computes(words: Sequence[str]) -> bool:
    """Whether a statement assigns what it computes of elements or of floating-point numbers."""
    depth, assigned, computed, numbers = 0, False, False, False
    before = ""
    for word in words:
        depth += (word == "[") - (word == "]")
        numbers = numbers or word == "[" or (word == "*" and not _is_operand(before)) or _is_real(word)
        if depth == 0:
            computed = computed or word in _ASSIGNING - {"="}
            computed = computed or (assigned and word in _OPERATORS and _is_operand(before))
            assigned = assigned or word in _ASSIGNING
        before = word
    return computed and numbers


def _is_operand(word: str) -> bool:
    """Whether what ends with ``word`` has a value, so that an operator after it has two operands."""
    return bool(word) and (word[-1].isalnum() or word[-1] in "_)].") and word != "return"


def _is_real(word: str) -> bool:
    return word[0].isdigit() and not word.lower().startswith("0x") and ("." in word or "e" in word.lower())
