"""The modules of the package as the guards read them: name, text and syntax tree."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).parents[3]


@dataclass(frozen=True)
class Module:
    """One Python module; its name has dots and leaves out ``polybuild.``."""

    name: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)


Modules = dict[str, Module]


def package_modules(root: Path = ROOT) -> Modules:
    """All modules of ``root / "polybuild"`` by name."""
    package = root / "polybuild"
    paths = sorted(package.rglob("*.py"))
    return planted({module_name(path.relative_to(package)): path.read_text("utf-8") for path in paths})


def planted(texts: dict[str, str]) -> Modules:
    """Modules with these texts, by name: a package for a test."""
    return {name: Module(name, text) for name, text in texts.items()}


def module_name(path: Path) -> str:
    """The dotted name of the module in ``path``, which is relative to the package."""
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def functions(module: Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Each function and method of ``module`` with its qualified name."""
    yield from _functions(module.tree, "")


def _functions(parent: ast.AST, prefix: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    for node in ast.iter_child_nodes(parent):
        name = prefix
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            name = f"{prefix}.{node.name}" if prefix else node.name
        if isinstance(node, ast.FunctionDef):
            yield name, node
        yield from _functions(node, name)


def classes(module: Module) -> Iterator[ast.ClassDef]:
    """Each class of ``module``, nested ones too."""
    return (node for node in ast.walk(module.tree) if isinstance(node, ast.ClassDef))
