"""Frozen dataclasses that take the standard library's time to make, although ``values.py`` has theirs."""

from __future__ import annotations

import ast

from package_modules import Module, Modules, classes

OF_VALUES = {"frozen", "slots", "eq"}
"""What the dataclasses of ``values.py`` may be told."""


def slow_values(modules: Modules) -> list[str]:
    """The classes that could be those of ``values.py`` and are not: qualified names."""
    return [
        f"{module.name}.{each.name}"
        for module in modules.values()
        for each in classes(module)
        for decorator in each.decorator_list
        if _is_value(decorator) and not _is_ours(decorator, module)
    ]


def _is_ours(decorator: ast.expr, module: Module) -> bool:
    """Whether ``decorator`` is the ``dataclass`` of ``values.py``."""
    plain = isinstance(decorator, ast.Call) and isinstance(decorator.func, ast.Name)
    return plain and any(
        isinstance(node, ast.ImportFrom)
        and node.module == "polybuild.values"
        and any(each.name == "dataclass" for each in node.names)
        for node in module.tree.body
    )


def _is_value(decorator: ast.expr) -> bool:
    """Whether ``decorator`` makes a frozen dataclass with nothing that ``values.py`` does not know."""
    match decorator:
        case ast.Call(func=ast.Name("dataclass") | ast.Attribute(attr="dataclass"), keywords=keywords):
            words = {each.arg for each in keywords}
            return "frozen" in words and words <= OF_VALUES
    return False
