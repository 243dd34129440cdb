"""Loop bodies without ``continue``: what it skips goes under the other branch of its condition.

::

    if (c) { A; continue; } B            becomes            if (c) { A; } else { B; }

Nodes are shared with the tree of the user's code, which stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pycparser import c_ast

from polybuild.c.syntax_tree import names_in, walk

_LOOPS = (c_ast.For, c_ast.While, c_ast.DoWhile)
_ELEMENTS = (c_ast.ArrayRef, c_ast.StructRef)
_LEAVES = (c_ast.Continue, c_ast.Break, c_ast.Return, c_ast.Goto)

Skips = Callable[[c_ast.If, list[c_ast.Node]], "list[c_ast.Node] | None"]
"""What becomes of a condition that may jump in one of its branches, or not, and of the rest behind it."""


def without_continue(body: c_ast.Node) -> c_ast.Node:
    """``body`` of a loop with each ``continue`` of that loop turned into structure, where that is simple."""
    if not continues(body):
        return body
    rewritten = without_jumps(items_of(body), continues)
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


def without_jumps(
    items: Sequence[c_ast.Node],
    jumps: Callable[[c_ast.Node], bool],
    skips: Skips = lambda _condition, _rest: None,
) -> list[c_ast.Node] | None:
    """``items`` without jumps to right behind them, None if more than moving them is needed.

    ``jumps`` says whether a node is such a jump or holds one, and ``skips`` what becomes of conditions under
    which one branch may jump and go on.
    """
    for position, item in enumerate(items):
        before, rest = list(items[:position]), list(items[position + 1 :])
        if not jumps(item):
            continue
        if isinstance(item, _LEAVES):
            return None if any(_is_labelled(each) for each in rest) else before
        if isinstance(item, c_ast.Compound):
            if rest and not declared_in(items_of(item)).isdisjoint(_names(rest)):
                return None
            inner = without_jumps([*items_of(item), *rest], jumps, skips)
            return None if inner is None else [*before, c_ast.Compound(inner, item.coord)]
        if not isinstance(item, c_ast.If) or _is_labelled(item):
            return None
        yes, no = items_of(item.iftrue), items_of(item.iffalse)
        if _always_leaves(yes):
            no = [*_block(no, rest, item), *rest]
        elif _always_leaves(no):
            yes = [*_block(yes, rest, item), *rest]
        elif rest:
            new = skips(item, rest)
            return None if new is None else [*before, *new]
        branches = _branches(item, yes, no, (jumps, skips))
        return None if branches is None else [*before, branches]
    return list(items)


def items_of(node: c_ast.Node | None) -> list[c_ast.Node]:
    """The statements of a body."""
    if node is None:
        return []
    return list(node.block_items or ()) if isinstance(node, c_ast.Compound) else [node]


def declared_in(items: Sequence[c_ast.Node]) -> set[str]:
    """The names that ``items`` declare for what follows."""
    return {
        str(part.name)
        for each in items
        for part in (each.decls if isinstance(each, c_ast.DeclList) else (each,))
        if isinstance(part, c_ast.Decl | c_ast.Typedef)
    }


def _branches(
    node: c_ast.If,
    yes: list[c_ast.Node],
    no: list[c_ast.Node],
    how: tuple[Callable[[c_ast.Node], bool], Skips],
) -> c_ast.If | None:
    """The condition ``node`` over ``yes`` and ``no`` without their jumps; None where that fails."""
    new_yes, new_no = without_jumps(yes, *how), without_jumps(no, *how)
    if new_yes is None or new_no is None:
        return None
    other = c_ast.Compound(new_no, node.coord) if new_no else None
    return c_ast.If(node.cond, c_ast.Compound(new_yes, node.coord), other, node.coord)


def _block(items: list[c_ast.Node], rest: Sequence[c_ast.Node], node: c_ast.Node) -> list[c_ast.Node]:
    """``items`` in a block of their own where ``rest`` means others by names that they declare."""
    hides = not declared_in(items).isdisjoint(_names(rest))
    return [c_ast.Compound(items, node.coord)] if hides else items


def _names(nodes: Sequence[c_ast.Node]) -> set[str]:
    return {name for each in nodes for name in names_in(each)}


def _is_labelled(node: c_ast.Node) -> bool:
    return any(isinstance(each, c_ast.Label) for each in walk(node))


def _always_leaves(items: Sequence[c_ast.Node]) -> bool:
    """Whether running ``items`` never comes to what is behind them."""
    for item in items:
        if isinstance(item, _LEAVES):
            return True
        if isinstance(item, c_ast.Compound) and _always_leaves(items_of(item)):
            return True
        if (
            isinstance(item, c_ast.If)
            and _always_leaves(items_of(item.iftrue))
            and _always_leaves(items_of(item.iffalse))
        ):
            return True
    return False


def continues(node: c_ast.Node) -> bool:
    """Whether ``node`` holds a ``continue`` of the loop around it."""
    if isinstance(node, c_ast.Continue):
        return True
    return not isinstance(node, _LOOPS) and any(continues(child) for child in node)
