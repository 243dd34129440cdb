"""What is changed near the borders of a grid alone, set everywhere, to what it was elsewhere (if-conversion).

::

    double s = f(u, i, j);                                 double s = f(u, i, j);
    if (i < 4 || i >= h - 4 || j < 4 || j >= w - 4)   ->   s = i < 4 || i >= h - 4 || j < 4 || j >= w - 4
      s *= 0.9;                                                  ? s * 0.9 : s;
    v[i][j] = s;                                           v[i][j] = s;

(J. R. Allen, K. Kennedy, C. Porterfield, J. Warren, "Conversion of control dependence to data dependence",
POPL 1983.) A layer along six borders is a union of boxes, and so are all dependences of what is done there,
which isl does not find in time for steps over time. As a choice it is arithmetic of every point, and borders
of rows are split off from that. So do several conditions of one side each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace

from pycparser import c_ast

from polybuild.c.syntax_tree import (
    changed_operand,
    has_side_effect,
    key,
    mapped,
    names_in,
    replaced,
    single_statement,
    walk,
)
from polybuild.effort import SEPARATE_LAYERS, STEPS_OVER_PLANES
from polybuild.normalise.structure import reads_memory
from polybuild.source.model import Region

_LOOPS = (c_ast.For, c_ast.While, c_ast.DoWhile)


def choose_at_borders(region: Region) -> Region:
    """``region`` with such updates as choices; itself where there are none."""
    statements = tuple(_rewritten(each, 0) for each in region.statements)
    before = [key(each) for each in region.statements]
    return replace(region, statements=statements) if before != [key(each) for each in statements] else region


def _rewritten(node: c_ast.Node, loops: int) -> c_ast.Node:
    """What becomes of ``node``, which is in so many ``loops``."""
    if isinstance(node, c_ast.Compound) and loops >= STEPS_OVER_PLANES:
        items: list[c_ast.Node] = []
        layered = _layered(node.block_items or ())
        for each in node.block_items or ():
            items.append(_choice(each, items, layered) or _rewritten(each, loops))
        return c_ast.Compound(items, node.coord)
    loops += isinstance(node, _LOOPS)
    return mapped(node, lambda each: _rewritten(each, loops))


def _layered(items: Sequence[c_ast.Node]) -> set[object]:
    """What several of ``items`` update, each under a condition: together these are the layers of a grid."""
    updates = Counter(
        key(update.lvalue)
        for each in items
        if isinstance(each, c_ast.If) and each.iffalse is None
        if isinstance(update := single_statement(each.iftrue), c_ast.Assignment)
    )
    return {target for target, count in updates.items() if count > SEPARATE_LAYERS}


def _choice(node: c_ast.Node, before: Sequence[c_ast.Node], layered: Collection[object]) -> c_ast.Node | None:
    """The assignment that an update under a condition, ``node`` behind ``before``, becomes.

    What is ``layered`` is updated in other places, too. None for other statements.
    """
    if not isinstance(node, c_ast.If) or node.iffalse is not None or reads_memory(node.cond):
        return None
    update = single_statement(node.iftrue)
    if not isinstance(update, c_ast.Assignment) or not isinstance(update.lvalue, c_ast.ID | c_ast.ArrayRef):
        return None
    if not _is_of_several(node.cond) and key(update.lvalue) not in layered:
        return None
    target, value = update.lvalue, update.rvalue
    if any(isinstance(each, c_ast.FuncCall) for each in walk(node)) or has_side_effect(node.cond):
        return None
    # any other element might be one that is none where the condition does not hold
    if has_side_effect(value) or reads_memory(replaced(value, key(target), c_ast.ID("own"))):
        return None
    changed = {each.name for one in before for each in _set_in(one) if isinstance(each, c_ast.ID)}
    told = {*names_in(node.cond), *(names_in(target) if isinstance(target, c_ast.ArrayRef) else ())}
    if (
        not _is_set(target, before)
        or not changed.isdisjoint(told)
        or key(target) in map(key, walk(node.cond))
    ):
        return None
    new = value if update.op == "=" else c_ast.BinaryOp(update.op[:-1], target, value, update.coord)
    return c_ast.Assignment("=", target, c_ast.TernaryOp(node.cond, new, target, node.coord), node.coord)


def _is_of_several(condition: c_ast.Node) -> bool:
    """Whether ``condition`` holds in any of several boxes: one alone is a loop nest of few iterations."""
    if isinstance(condition, c_ast.UnaryOp) and condition.op == "!":
        return isinstance(condition.expr, c_ast.BinaryOp) and bool(condition.expr.op == "&&")
    return isinstance(condition, c_ast.BinaryOp) and bool(condition.op == "||")


def _is_set(target: c_ast.Node, before: Sequence[c_ast.Node]) -> bool:
    """Whether one of the statements ``before`` sets ``target`` in any case."""
    return any(
        (isinstance(each, c_ast.Assignment) and key(each.lvalue) == key(target))
        or (
            isinstance(each, c_ast.Decl) and each.init is not None and key(c_ast.ID(each.name)) == key(target)
        )
        for each in before
    )


def _set_in(node: c_ast.Node) -> list[c_ast.Node]:
    """What ``node`` sets, and the variables that it declares."""
    found = [target for each in walk(node) if (target := changed_operand(each)) is not None]
    return found + [c_ast.ID(each.name) for each in walk(node) if isinstance(each, c_ast.Decl)]
