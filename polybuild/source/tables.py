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
_REFERRED = pattern(r"(?:(?<!&)&|\+\+|--)\Z")
_DIRECTIVE = pattern(r"^[ \t]*\#.*$", re.MULTILINE)
_NEAR = 200
"""Characters before a name, and the line around them, that have the operators which it is an operand of."""


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
        line = text.rfind("\n", 0, max(0, start - _NEAR)) + 1
        before, end = _DIRECTIVE.sub("", text[line:start]).rstrip(), _after_blank(text, end)
        while before.endswith("(") and text.startswith(")", end):
            before, end = before[:-1].rstrip(), _after_blank(text, end + 1)
        if _DECLARED.match(text, end):
            declared += 1
        elif _CHANGED.match(text, end) or _REFERRED.search(before):
            return False
    return declared == 1


def _after_blank(text: str, start: int) -> int:
    found = _BLANK.match(text, start)
    return found.end() if found else start


def _after_bracket(text: str, start: int) -> int:
    """The offset after the subscript that comes next, 0 if none does."""
    opening = _after_blank(text, start)
    return (matching_bracket(text, opening) or 0) if text.startswith("[", opening) else 0
