"""Loop bodies without ``continue``: what it skips goes under the other branch of its condition.

::

    if (c) { A; continue; } B            becomes            if (c) { A; } else { B; }

Nodes are shared with the tree of the user's code, which stays as it is.
"""

from __future__ import annotations

from collections.abc import Sequence

from pycparser import c_ast

from polybuild.c.syntax_tree import walk

_LOOPS = (c_ast.For, c_ast.While, c_ast.DoWhile)
_ELEMENTS = (c_ast.ArrayRef, c_ast.StructRef)


def without_continue(body: c_ast.Node) -> c_ast.Node:
    """``body`` of a loop with each ``continue`` of that loop turned into structure, where that is simple."""
    if not _continues(body):
        return body
    rewritten = _rewritten(_items(body))
    return body if rewritten is None else c_ast.Compound(rewritten, body.coord)


def loop_depth(node: c_ast.Node) -> int:
    """How many loops stand inside one another in ``node``."""
    return max((loop_depth(child) for child in node), default=0) + isinstance(node, _LOOPS)


def reads_memory(expression: c_ast.Node) -> bool:
    """Whether the value of ``expression`` is of more than variables and numbers."""
    return any(
        isinstance(each, _ELEMENTS) or (isinstance(each, c_ast.UnaryOp) and each.op == "*")
        for each in walk(expression)
    )


def _rewritten(items: Sequence[c_ast.Node]) -> list[c_ast.Node] | None:
    """``items`` without ``continue``, None if more than moving them is needed."""
    for position, item in enumerate(items):
        if isinstance(item, c_ast.Continue):
            return list(items[:position])
        if not _continues(item):
            continue
        rest = items[position + 1 :]
        if isinstance(item, c_ast.Compound) and not rest:
            inner = _rewritten(_items(item))
            return None if inner is None else [*items[:position], c_ast.Compound(inner, item.coord)]
        if not isinstance(item, c_ast.If):
            return None
        yes, no = _items(item.iftrue), _items(item.iffalse)
        if _always_continues(yes):
            no = [*no, *rest]
        elif _always_continues(no) or (not rest and item.iffalse is not None):
            yes = [*yes, *rest]
        elif rest:
            return None
        new_yes, new_no = _rewritten(yes), _rewritten(no)
        if new_yes is None or new_no is None:
            return None
        block = c_ast.Compound(new_yes, item.coord)
        other = c_ast.Compound(new_no, item.coord) if new_no else None
        return [*items[:position], c_ast.If(item.cond, block, other, item.coord)]
    return list(items)


def _items(node: c_ast.Node | None) -> list[c_ast.Node]:
    if node is None:
        return []
    return list(node.block_items or ()) if isinstance(node, c_ast.Compound) else [node]


def _always_continues(items: Sequence[c_ast.Node]) -> bool:
    """Whether running ``items`` always ends in ``continue``."""
    for item in items:
        if isinstance(item, c_ast.Continue):
            return True
        if isinstance(item, c_ast.Compound) and _always_continues(_items(item)):
            return True
        if (
            isinstance(item, c_ast.If)
            and _always_continues(_items(item.iftrue))
            and _always_continues(_items(item.iffalse))
        ):
            return True
    return False


def _continues(node: c_ast.Node) -> bool:
    """Whether ``node`` holds a ``continue`` of the loop around it."""
    if isinstance(node, c_ast.Continue):
        return True
    return not isinstance(node, _LOOPS) and any(_continues(child) for child in node)
