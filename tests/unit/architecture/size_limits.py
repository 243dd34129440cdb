"""How large functions, classes and lists of parameters may be."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from package_modules import Modules, classes, functions

LINES = 60
FIELDS = 12
PARAMETERS = 7


def too_large(modules: Modules, exceptions: Mapping[str, str]) -> list[str]:
    """The functions and classes over a limit, but for ``exceptions``: qualified names, with a reason."""
    found = []
    for module in modules.values():
        for name, function in functions(module):
            _report(found, f"{module.name}.{name}", "lines", _lines(function), LINES)
            _report(found, f"{module.name}.{name}", "parameters", _parameters(function), PARAMETERS)
        for each in classes(module):
            _report(found, f"{module.name}.{each.name}", "fields", len(fields(each)), FIELDS)
    return [line for line in found if line.partition(":")[0] not in exceptions]


def _report(found: list[str], name: str, what: str, number: int, limit: int) -> None:
    if number > limit:
        found.append(f"{name}: {number} {what}")


def _lines(function: ast.FunctionDef) -> int:
    return (function.end_lineno or function.lineno) - function.lineno + 1


def _parameters(function: ast.FunctionDef) -> int:
    arguments = function.args
    names = [each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    names += [each.arg for each in (arguments.vararg, arguments.kwarg) if each]
    return len([name for name in names if name not in {"self", "cls"}])


def fields(definition: ast.ClassDef) -> set[str]:
    """The fields of a class: annotated in its body, or attributes of ``self`` set in ``__init__``."""
    found = {
        each.target.id
        for each in definition.body
        if isinstance(each, ast.AnnAssign)
        and isinstance(each.target, ast.Name)
        and not ast.unparse(each.annotation).startswith("ClassVar")
    }
    for each in definition.body:
        if isinstance(each, ast.FunctionDef) and each.name == "__init__":
            found |= {
                node.attr
                for node in ast.walk(each)
                if isinstance(node, ast.Attribute)
                and isinstance(node.ctx, ast.Store)
                and isinstance(node.value, ast.Name)
                and node.value.id == "self"
            }
    return found
