"""Arrays that have the elements of their declaration for ever: which directions there are, what weighs what.

They are declared ``const``, or nothing that can reach them does more than to read their elements.
"""

from __future__ import annotations

import re

from pycparser import c_ast

from polybuild.c.tokens import matching_bracket
from polybuild.c.types import ArrayType, Type
from polybuild.patterns import pattern

_BLANK = pattern(r"(?:\s|^\#[^\n]*$)*", re.MULTILINE)
_DECLARED = pattern(r"=\s*\{")
_CHANGED = pattern(r"(?:[-+*/%&|^]|<<|>>)?=(?!=)|\+\+|--")


def is_initialised(declaration: c_ast.Node) -> bool:
    """Whether ``declaration`` is that of an array with its elements in braces."""
    return (
        isinstance(declaration, c_ast.Decl)
        and isinstance(declaration.type, c_ast.ArrayDecl)
        and isinstance(declaration.init, c_ast.InitList)
    )


def dimensions(kind: Type) -> int:
    """How many dimensions an object of type ``kind`` has."""
    count = 0
    while isinstance(kind, ArrayType):
        kind, count = kind.element, count + 1
    return count


def only_elements_read(text: str, name: str, count: int) -> bool:
    """Whether all that ``text`` does with the array ``name``, besides to declare it, is to read its elements.

    It has ``count`` dimensions. Another variable of that name counts as this one.
    """
    declared = 0
    for match in re.finditer(rf"(?<![\w$]){re.escape(name)}(?![\w$])", text):
        start, end = match.span()
        for _ in range(count):
            end = _after_bracket(text, end)
            if not end:
                return False
        start, end = _before_blank(text, start), _after_blank(text, end)
        while text.endswith("(", 0, start) and text.startswith(")", end):
            start, end = _before_blank(text, start - 1), _after_blank(text, end + 1)
        if _DECLARED.match(text, end):
            declared += 1
        elif _CHANGED.match(text, end) or _is_referred(text, start):
            return False
    return declared == 1


def _is_referred(text: str, end: int) -> bool:
    """Whether an operator ends at ``end`` that takes the address of what follows, or changes it."""
    if text.endswith("&", 0, end):
        return not text.endswith("&&", 0, end)
    return text.endswith(("++", "--"), 0, end)


def _before_blank(text: str, end: int) -> int:
    """The offset after the last code before ``end``."""
    while True:
        while end and text[end - 1].isspace():
            end -= 1
        line = text.rfind("\n", 0, end) + 1
        if not text[line:end].lstrip().startswith("#"):
            return end
        end = line


def _after_blank(text: str, start: int) -> int:
    found = _BLANK.match(text, start)
    return found.end() if found else start


def _after_bracket(text: str, start: int) -> int:
    """The offset after the subscript that comes next, 0 if none does."""
    opening = _after_blank(text, start)
    return (matching_bracket(text, opening) or 0) if text.startswith("[", opening) else 0
