"""Numbers that stand at the top of modules: thresholds, sizes, limits."""

from __future__ import annotations

import ast
from collections.abc import Collection

from package_modules import Module, Modules


def numbers(modules: Modules, rooms: Collection[str]) -> list[str]:
    """The names at the top of modules in ``rooms`` whose values have numbers: ``room.module.NAME``."""
    return [
        f"{module.name}.{name}"
        for module in modules.values()
        if module.name.partition(".")[0] in rooms
        for name in _named(module)
    ]


def _named(module: Module) -> list[str]:
    found = []
    for statement in module.tree.body:
        if isinstance(statement, ast.Assign):
            targets = statement.targets
        elif isinstance(statement, ast.AnnAssign):
            targets = [statement.target]
        else:
            continue
        if statement.value is not None and any(map(_is_number, ast.walk(statement.value))):
            found += [ast.unparse(each) for each in targets]
    return found


def _is_number(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Constant)
        and isinstance(node.value, int | float)
        and not isinstance(node.value, bool)
    )
