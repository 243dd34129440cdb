"""Loops that jumps make, and loops without an end that a ``break`` ends, as loops with a condition.

::

    next:                                      while (k < n) {
      if (k < n) {                               s += a[k];
        s += a[k]; k++; goto next;     ->        k++;
      }                                        }

    for (k = 0;; k++) {
      if (k >= n) break;               ->      for (k = 0; k < n; k++)
      s += a[k];                                 s += a[k];
    }

    for (;;) {                                 do {
      s += a[k];                                 s += a[k];
      if (++k == n) break;             ->      } while (++k != n);
    }

A label becomes a loop if one jump alone leads to it, from behind and in the same block. The function around
a region changes with it: what is read after the region is known then.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from pycparser import c_ast

from polybuild.c.literals import integer_value
from polybuild.c.syntax_tree import changed_operand, duplicate, key, mapped, replaced, walk
from polybuild.c.synthetic import number
from polybuild.normalise.rewritten_functions import with_rewritten_functions
from polybuild.source.blocks import outward_jumps
from polybuild.source.model import Region

_LOOPS = (c_ast.For, c_ast.While, c_ast.DoWhile)


def with_structured_loops(region: Region) -> Region:
    """``region`` with such loops as plain ones, in it and in what it calls; itself if there are none."""
    return with_rewritten_functions(region, lambda each: _Structurer(each.function).function())


class _Structurer:
    """Rewrites a function; what does not change are the very nodes of before."""

    def __init__(self, function: c_ast.FuncDef) -> None:
        self._function = function
        self._jumps = Counter(each.name for each in walk(function) if isinstance(each, c_ast.Goto))

    def function(self) -> c_ast.FuncDef:
        """The function with plain loops."""
        body = self._rewritten(self._function.body)
        if body is self._function.body:
            return self._function
        new = mapped(self._function, lambda each: body if each is self._function.body else each)
        assert isinstance(new, c_ast.FuncDef)  # noqa: S101 - a copy of one
        return new

    def _rewritten(self, node: c_ast.Node) -> c_ast.Node:
        changed = {id(each): new for each in node if (new := self._rewritten(each)) is not each}
        if changed:
            node = mapped(node, lambda each: changed.get(id(each), each))
        if isinstance(node, c_ast.Compound) and node.block_items:
            items = self._without_jumps(node.block_items)
            if items is not None:
                return c_ast.Compound(items, node.coord)
        if isinstance(node, _LOOPS) and isinstance((_items(node.stmt) or [None])[-1], c_ast.Continue):
            node = mapped(node, lambda each: _without_last(each) if each is node.stmt else each)
        return (_with_condition(node) or node) if _is_endless(node) else node

    # Jumps

    def _without_jumps(self, items: Sequence[c_ast.Node]) -> list[c_ast.Node] | None:
        """The items of a block without jumps back, inner ones first; None if no loop comes of any."""
        for begin, each in reversed([*enumerate(items)]):
            if not isinstance(each, c_ast.Label) or self._jumps[each.name] != 1:
                continue
            for end in range(begin, len(items)):
                loop = self._loop(items[begin : end + 1], items[end + 1 :])
                if loop is not None:
                    rest = [*items[:begin], loop, *items[end + 1 :]]
                    return self._without_jumps(rest) or rest
        return None

    def _loop(self, items: Sequence[c_ast.Node], following: Sequence[c_ast.Node]) -> c_ast.Node | None:
        """``items``, which start with a label, as a loop; None if the last one does not jump back there."""
        label = items[0]
        inside = [label.stmt, *items[1:]]
        back = _jump_back(inside.pop(), label.name)
        if back is None or any(name != "return" for each in items for _, name in outward_jumps(each)):
            return None
        behind = following[0].name if following and isinstance(following[0], c_ast.Label) else ""
        inside = [_left_by_break(each, behind) for each in inside]
        condition, before = back
        if condition is not None and not before:
            return c_ast.DoWhile(condition, c_ast.Compound(inside, label.coord), label.coord)
        if condition is not None:  # what comes before the jump runs only if it jumps
            inside.append(c_ast.If(_negated(condition), c_ast.Break(label.coord), None, label.coord))
        body = c_ast.Compound([*inside, *before], label.coord)
        loop = c_ast.While(number(1), body, label.coord)
        return _with_condition(loop) or loop


def _jump_back(node: c_ast.Node, label: str) -> tuple[c_ast.Node | None, list[c_ast.Node]] | None:
    """The condition under which ``node`` jumps to ``label``, and what it does before; None if it does not."""
    if isinstance(node, c_ast.Goto):
        return (None, []) if node.name == label else None
    if not isinstance(node, c_ast.If) or node.iffalse is not None:
        return None
    *before, last = _items(node.iftrue) or [None]
    return (node.cond, before) if isinstance(last, c_ast.Goto) and last.name == label else None


def _left_by_break(node: c_ast.Node, label: str) -> c_ast.Node:
    """``node`` with ``break`` for the jumps to a ``label`` right behind the loop that it is in."""
    if isinstance(node, c_ast.Goto) and node.name == label:
        return c_ast.Break(node.coord)
    if not label or isinstance(node, (*_LOOPS, c_ast.Switch)):
        return node
    return mapped(node, lambda each: _left_by_break(each, label))


def _is_endless(node: c_ast.Node) -> bool:
    """Whether ``node`` is a loop whose condition always holds."""
    if not isinstance(node, _LOOPS):
        return False
    value = integer_value(node.cond.value) if isinstance(node.cond, c_ast.Constant) else None
    return bool(value) or (isinstance(node, c_ast.For) and node.cond is None)


def _with_condition(node: c_ast.Node) -> c_ast.Node | None:
    """The endless loop ``node`` with what ends it as its condition; None where that is not one ``break``."""
    items = _items(node.stmt)
    if sum(isinstance(each, c_ast.Break) for each in _own(node.stmt)) != 1:
        return None
    place = next((index for index, each in enumerate(items) if _leaves(each) is not None), None)
    if place is None:
        return None
    leaves = _leaves(items[place])
    assert leaves is not None  # noqa: S101 - found there
    condition, otherwise = leaves
    before, after = items[:place], [*otherwise, *items[place + 1 :]]
    if before and not after:
        return _tested_behind(node, before, condition)
    if not all(map(_is_step, before)):
        return None
    if before:
        condition = c_ast.ExprList([*before, condition], condition.coord)
    body = c_ast.Compound(after, node.stmt.coord)
    if isinstance(node, c_ast.For):
        return c_ast.For(node.init, condition, node.next, body, node.coord)
    return c_ast.While(condition, body, node.coord)


def _is_step(node: c_ast.Node) -> bool:
    """Whether ``node`` does nothing but change a variable by a constant."""
    by_constant = isinstance(node, c_ast.UnaryOp) or (
        isinstance(node, c_ast.Assignment) and isinstance(node.rvalue, c_ast.Constant)
    )
    return by_constant and isinstance(changed_operand(node), c_ast.ID)


def _tested_behind(node: c_ast.Node, items: list[c_ast.Node], condition: c_ast.Node) -> c_ast.Node | None:
    """The endless loop ``node`` over ``items`` as long as ``condition`` holds behind them."""
    if any(isinstance(each, c_ast.Continue) for each in _own(node.stmt)):
        return None  # which would test, too
    if not isinstance(node, c_ast.For):
        return c_ast.DoWhile(condition, c_ast.Compound(items, node.stmt.coord), node.coord)
    if node.next is not None:
        before_step = _before_step(node, condition)
        if before_step is None:
            return None
        items, condition = [*items, node.next], before_step
    loop = c_ast.DoWhile(condition, c_ast.Compound(items, node.stmt.coord), node.coord)
    if node.init is None:
        return loop
    begin = node.init.decls if isinstance(node.init, c_ast.DeclList) else [node.init]
    return c_ast.Compound([*begin, loop], node.coord)


def _before_step(node: c_ast.For, condition: c_ast.Node) -> c_ast.Node | None:
    """``condition`` behind the step of ``node``, of what its counter was; None if others see the counter."""
    counter = changed_operand(node.next)
    own = {each.name for each in node.init.decls} if isinstance(node.init, c_ast.DeclList) else set()
    if not isinstance(counter, c_ast.ID) or counter.name not in own:
        return None
    if any(changed_operand(each) is not None for each in walk(condition)):
        return None
    step = node.next
    if isinstance(step, c_ast.UnaryOp):
        back, by = ("-" if "+" in step.op else "+"), number(1)
    elif step.op in {"+=", "-="} and isinstance(step.rvalue, c_ast.Constant):
        back, by = ("-" if step.op == "+=" else "+"), duplicate(step.rvalue)
    else:
        return None
    return replaced(condition, key(counter), c_ast.BinaryOp(back, duplicate(counter), by, condition.coord))


def _leaves(node: c_ast.Node) -> tuple[c_ast.Node, list[c_ast.Node]] | None:
    """The condition under which the statement ``node`` does not leave its loop, and what it does then.

    None if it does not leave it.
    """
    if not isinstance(node, c_ast.If):
        return None
    if _is_break(node.iftrue):
        return _negated(node.cond), [] if node.iffalse is None else [node.iffalse]
    if node.iffalse is not None and _is_break(node.iffalse):
        return node.cond, [node.iftrue]
    return None


def _without_last(node: c_ast.Node) -> c_ast.Compound:
    return c_ast.Compound(_items(node)[:-1], node.coord)


def _is_break(node: c_ast.Node) -> bool:
    items = _items(node)
    return len(items) == 1 and isinstance(items[0], c_ast.Break)


def _items(node: c_ast.Node) -> list[c_ast.Node]:
    """The statements of a body."""
    return list(node.block_items or ()) if isinstance(node, c_ast.Compound) else [node]


def _own(node: c_ast.Node) -> Iterator[c_ast.Node]:
    """What is in ``node`` but not in loops and switches inside of it, where jumps are those of others."""
    yield node
    if not isinstance(node, (*_LOOPS, c_ast.Switch)):
        for each in node:
            yield from _own(each)


def _negated(condition: c_ast.Node) -> c_ast.Node:
    if isinstance(condition, c_ast.UnaryOp) and condition.op == "!":
        return condition.expr
    return c_ast.UnaryOp("!", condition, condition.coord)
