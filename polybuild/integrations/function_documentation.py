"""What help() shows of a C function: its declaration, and the comment before it."""

from __future__ import annotations

import inspect
import re

from pycparser import c_ast
from pycparser.c_generator import CGenerator

_COMMENT = re.compile(
    r"/\*(?:(?!\*/).)*\*/[ \t]*\Z|(?:^[ \t]*//[^\n]*(?:\n|\Z))+\Z", re.DOTALL | re.MULTILINE
)
# the line of a definition's name may follow others with its type
_DEFINITION = re.compile(r"(?:^[ \t]*[A-Za-z_][^\n;{}#]*\n)*\Z", re.MULTILINE)
_DECORATION = re.compile(
    r"\A[ \t]*(?:/\*+|//+[!<]?)|\*+/[ \t]*\Z|^[ \t]*(?:\*(?!/)|//+[!<]?)[ ]?", re.MULTILINE
)


def declaration(function: c_ast.FuncDef) -> str:
    """The declaration of ``function`` in C."""
    return str(CGenerator().visit(function.decl))


def signature(function: c_ast.FuncDef) -> inspect.Signature:
    """The parameters of ``function``, which are given by position."""
    declared = function.decl.type.args
    names = [each.name for each in (declared.params if declared else []) if each.name]
    return inspect.Signature([inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY) for name in names])


def comment_before(text: str, function: c_ast.FuncDef) -> str:
    """The comment right before ``function`` in ``text`` without its marks; empty if there is none."""
    lines = text.splitlines(keepends=True)
    before = "".join(lines[: (function.decl.coord.line or 1) - 1])
    definition = _DEFINITION.search(before)
    before = before[: definition.start()] if definition else before
    found = _COMMENT.search(before.removesuffix("\n") if before.rstrip().endswith("*/") else before)
    return inspect.cleandoc(_DECORATION.sub("", found[0])).rstrip() if found else ""
