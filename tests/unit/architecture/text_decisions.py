"""Decisions that look into text where a value should have been asked.

In the rooms that transform trees and write C nobody asks a text what it is: a mark has a kind, a directive
has fields, an expression has a tree. So every question to a text is suspect there, and the few that are
asked of something else than generated code are named with a reason.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from package_modules import Module, Modules, functions

ROOMS = ("transform", "storage", "targets", "codegen")

QUESTIONS = {"startswith", "endswith", "removeprefix", "removesuffix"}
"""Methods of a text that ask for a part of it."""

CODE = {"text", "texts", "line", "lines", "code", "pragma", "clauses", "mark", "name", "lower"}
"""Names of variables and attributes that hold text."""


def text_decisions(modules: Modules, exceptions: Mapping[str, str]) -> list[str]:
    """The questions to texts in ``ROOMS``, but for those in functions of ``exceptions``."""
    found = []
    for module in modules.values():
        if module.name.partition(".")[0] not in ROOMS or module.name in exceptions:
            continue
        homes = {id(node): name for name, function in functions(module) for node in ast.walk(function)}
        for node in ast.walk(module.tree):
            home = f"{module.name}.{homes.get(id(node), '')}".rstrip(".")
            found += [f"{home}: {ast.unparse(node)}" for _ in _asks(node) if home not in exceptions]
    return found


def _asks(node: ast.AST) -> Iterator[None]:
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="re"))):
            yield
        case ast.Call(func=ast.Attribute(attr=name)) if name in QUESTIONS:
            yield
        case ast.Compare(ops=[ast.Eq() | ast.NotEq()], comparators=[literal]) if _is_literal(literal):
            yield
        case ast.Compare(left=left, ops=[ast.In() | ast.NotIn()], comparators=[where]):
            if _is_text(where) or (_is_phrase(left) and not isinstance(where, ast.Tuple | ast.Set)):
                yield


def _is_literal(node: ast.expr) -> bool:
    """Whether ``node`` is a text with a number of C."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isdigit()


def _is_text(node: ast.expr) -> bool:
    match node:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name in CODE - {"lines", "texts", "clauses", "code"}
        case ast.Call(func=ast.Attribute(attr="lower" | "text")):
            return True
    return False


def _is_phrase(node: ast.expr) -> bool:
    """Whether ``node`` is a text with something that no name has: looked for in another text."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and not node.value.isidentifier()


def asked_in(text: str) -> list[str]:
    """The questions in one text of a module, for a test."""
    return text_decisions({"codegen.one": Module("codegen.one", text)}, {})
