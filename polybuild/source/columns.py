"""Columns of the user's text for nodes whose columns count preprocessed text."""

from __future__ import annotations

import re
from functools import lru_cache

from pycparser import c_ast

from polybuild.diagnostics import Location

_KEYWORDS: dict[type[c_ast.Node], str] = {
    c_ast.For: "for",
    c_ast.While: "while",
    c_ast.DoWhile: "do",
    c_ast.If: "if",
    c_ast.Switch: "switch",
    c_ast.Return: "return",
    c_ast.Break: "break",
    c_ast.Continue: "continue",
    c_ast.Goto: "goto",
    c_ast.Case: "case",
    c_ast.Default: "default",
    c_ast.Compound: "{",
}


def locate(text: str, path: str, node: c_ast.Node) -> Location:
    """The location of ``node`` in the user's file ``path`` with text ``text``; column 0 in other files."""
    coord = node.coord
    if coord is None:
        return Location(path, 0)
    if coord.file != path:
        return Location(coord.file, coord.line)
    return locate_token(text, path, coord.line, spelling(node), coord.column or 0)


def locate_token(text: str, path: str, line: int, token: str, column: int = 0) -> Location:
    """The location of ``token`` on a line: at ``column`` if it is there, else where it first occurs.

    Without a token, or if macros hide it, the first character that is not blank.
    """
    content = _lines(text)[line - 1] if 1 <= line <= len(_lines(text)) else ""
    if token:
        if column and content.startswith(token, column - 1):
            return Location(path, line, column)
        boundary = r"\b" if token[0].isalnum() or token[0] == "_" else ""
        if match := re.search(boundary + re.escape(token) + boundary, content):
            return Location(path, line, match.start() + 1)
    blanks = len(content) - len(content.lstrip())
    return Location(path, line, blanks + 1 if content.strip() else 0)


def spelling(node: c_ast.Node) -> str:
    """The token a node starts with (an operator's node: its first operand's), empty if not known."""
    for kind, keyword in _KEYWORDS.items():
        if isinstance(node, kind):
            return keyword
    match node:
        case c_ast.ID() | c_ast.Decl() | c_ast.Label() | c_ast.Typedef():
            return str(node.name or "")
        case c_ast.Constant():
            return str(node.value)
        case c_ast.ArrayRef() | c_ast.StructRef() | c_ast.FuncCall():
            return spelling(node.name)
        case c_ast.BinaryOp():
            return spelling(node.left)
        case c_ast.Assignment():
            return spelling(node.lvalue)
        case c_ast.TernaryOp():
            return spelling(node.cond)
        case c_ast.UnaryOp():
            return spelling(node.expr) if node.op.startswith("p") else str(node.op)
    return ""


@lru_cache(maxsize=4)
def _lines(text: str) -> list[str]:
    return text.split("\n")
