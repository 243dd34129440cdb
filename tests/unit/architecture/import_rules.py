"""What may import what: the order of rooms in ARCHITECTURE.md, read and compared with the imports."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from package_modules import Module, Modules, module_name

Imports = dict[str, set[str]]

_DEFINITION = re.compile(r"^(?!static\b|typedef\b|#)[A-Za-z_][\w *]*?\b(\w+)\([^;{}]*\)\s*\{", re.MULTILINE)
"""A function of C that other files can call, and its name."""

APART = ("cpu", "gpu")
"""Folders of one room that do not know each other."""


def order_of_rooms(architecture: str) -> tuple[str, ...]:
    """The rooms of the table "Rooms" in ARCHITECTURE.md, from the ground floor up, as dotted names."""
    (_, _, section) = architecture.partition("\n## Rooms\n")
    rows = re.findall(r"^\| `([\w/.]+)` \|", section.partition("\n## ")[0], re.MULTILINE)
    return tuple(module_name(Path(row)) for row in rows)


def imports(modules: Modules) -> Imports:
    """For each module those of the package that it imports, also for type checking or in functions.

    The package itself is left out on both sides: it gives its version to everybody and is a door for users.
    """
    return {name: set(_imports(module, modules)) - {"", name} for name, module in modules.items() if name}


def _imports(module: Module, modules: Modules) -> Iterator[str]:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            names = [each.name for each in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{module.name}:{node.lineno}: imports are absolute"
            names = [f"{node.module}.{each.name}" for each in node.names]
        else:
            continue
        for name in names:
            if name.split(".")[0] == "polybuild":
                yield _module_of(name.removeprefix("polybuild").lstrip("."), modules)


def _module_of(name: str, modules: Modules) -> str:
    while name not in modules:
        name = name.rpartition(".")[0]
    return name


def room_of(module: str, rooms: tuple[str, ...]) -> int:
    """The position of the innermost room of ``rooms`` that ``module`` is in.

    Raises:
        LookupError: the module is in none.
    """
    homes = [number for number, room in enumerate(rooms) if f"{module}.".startswith(f"{room}.")]
    if not homes:
        raise LookupError(f"{module} is in no room of ARCHITECTURE.md")
    return max(homes, key=lambda number: len(rooms[number]))


def wrong_arrows(graph: Imports, rooms: tuple[str, ...]) -> list[str]:
    """The imports that go up the order of rooms, or across between folders that do not know each other."""
    found = []
    for source, target in sorted((one, other) for one, others in graph.items() for other in others):
        if room_of(source, rooms) < room_of(target, rooms):
            found.append(f"up: {source} imports {target}")
        sides = [{part for part in name.split(".") if part in APART} for name in (source, target)]
        if sides[0] and sides[1] and sides[0] != sides[1]:
            found.append(f"across: {source} imports {target}")
    return found


def circles(graph: Imports) -> list[str]:
    """The groups of nodes of ``graph`` that reach each other."""
    reached = {name: _reached(name, graph) for name in graph}
    groups = {
        tuple(sorted(other for other in reached[name] if name in reached[other]))
        for name in graph
        if name in reached[name]
    }
    return [" <-> ".join(group) for group in sorted(groups)]


def _reached(name: str, graph: Imports) -> set[str]:
    found: set[str] = set()
    waiting = set(graph[name])
    while waiting:
        each = waiting.pop()
        found.add(each)
        waiting |= graph[each] - found
    return found


def runtime_calls(sources: Mapping[str, str]) -> Imports:
    """For each C file of ``sources`` those that define a function it calls."""
    homes = {found[1]: name for name, text in sources.items() for found in _DEFINITION.finditer(text)}
    return {
        name: {homes[word] for word in re.findall(r"\w+", _without_comments(text)) if word in homes} - {name}
        for name, text in sources.items()
    }


def _without_comments(text: str) -> str:
    return re.sub(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"", " ", text, flags=re.DOTALL)
