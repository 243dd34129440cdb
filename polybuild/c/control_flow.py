"""Jumps into and out of a block: where they are, control does not only pass its two braces."""

from __future__ import annotations

from collections.abc import Iterator

from pycparser import c_ast

_LOOPS = (c_ast.For, c_ast.While, c_ast.DoWhile)


def jumps(block: c_ast.Compound, function: c_ast.FuncDef) -> Iterator[tuple[c_ast.Node, str]]:
    """The statements that lead into ``block`` or out of it by other ways than its braces, and their names."""
    labels = {node.name for node in _walk(block) if isinstance(node, c_ast.Label)}
    inside = {id(node) for node in _walk(block)}
    for node in _walk(function.body):
        if isinstance(node, c_ast.Goto) and (id(node) in inside) != (node.name in labels):
            yield node, "goto"
    yield from _unmatched(block, loop=False, switch=False)


def _unmatched(node: c_ast.Node, *, loop: bool, switch: bool) -> Iterator[tuple[c_ast.Node, str]]:
    """What belongs to a loop, a switch or a function around the block."""
    if isinstance(node, c_ast.Return):
        yield node, "return"
    elif isinstance(node, c_ast.Break) and not loop and not switch:
        yield node, "break"
    elif isinstance(node, c_ast.Continue) and not loop:
        yield node, "continue"
    elif isinstance(node, c_ast.Case | c_ast.Default) and not switch:
        yield node, "case"
    is_switch = isinstance(node, c_ast.Switch)
    for _, child in node.children():
        yield from _unmatched(child, loop=loop or isinstance(node, _LOOPS), switch=switch or is_switch)


def _walk(node: c_ast.Node) -> Iterator[c_ast.Node]:
    yield node
    for _, child in node.children():
        yield from _walk(child)
