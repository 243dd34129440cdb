"""Names for generated variables: never one that the user's code near them may mean something by."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pycparser import c_ast

PREFIX = "pb_"


def identifiers(nodes: Iterable[c_ast.Node]) -> Iterator[str]:
    """Every name that occurs in the trees, declared or used."""
    for node in nodes:
        if isinstance(node, (c_ast.ID, c_ast.Decl)) and node.name:
            yield node.name
        yield from identifiers(node)


def fresh(wanted: str, taken: Iterable[str]) -> str:
    """``wanted``, with a number behind it if it is ``taken``."""
    used = set(taken)
    if wanted not in used:
        return wanted
    number = 1
    while f"{wanted}{number}" in used:
        number += 1
    return f"{wanted}{number}"


def fresh_stem(wanted: str, taken: Iterable[str]) -> str:
    """A name like ``wanted`` that nothing of ``taken`` is, or begins with before an underscore."""
    stems = {name[:at] for name in taken for at, letter in enumerate(name) if letter == "_"}
    return fresh(wanted, stems.union(taken))


def quoted(text: str) -> str:
    """``text``, such as the name of a file, as a C string literal."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + escaped.replace("\n", "\\n").replace("\r", "\\r") + '"'
