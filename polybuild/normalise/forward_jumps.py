"""Jumps forward out of conditions, to a label further on in the block around them, as conditions.

::

    if (c) goto other;                          if (c) {
    A                                             B
    goto done;                                  } else {
  other: B                          ->            A
  done: C                                       }
                                                C

    if (c) { if (d) goto next; A }              if (c) { if (d) ; else A }
    B                               ->          if (!(c && d)) B
  next: C                                       C

Likewise for ``continue`` in nested conditions. Where ``A`` may change what ``c`` and ``d`` read, a variable
keeps whether the jump was taken. A jump out of a loop to a label right behind that becomes a ``break``. The
function around a region changes with it: what is read after the region is known then. Jumps back are loops
(``structured_loops``); other jumps stay.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from pycparser import c_ast

from polybuild.c.basic_types import INT
from polybuild.c.syntax_tree import changed_operand, duplicate, has_side_effect, mapped, names_in, walk
from polybuild.c.synthetic import declarator, number
from polybuild.normalise.jump_tables import as_jumping_conditions
from polybuild.normalise.names import unused_name
from polybuild.normalise.rewritten_functions import with_rewritten_functions
from polybuild.normalise.structure import continues, declared_in, items_of, reads_memory, without_jumps
from polybuild.source.model import Region

_LOOPS = (c_ast.For, c_ast.While, c_ast.DoWhile)


def with_forward_jumps_as_conditions(region: Region) -> Region:
    """``region`` without such jumps, in it and in what it calls; itself if there are none."""
    return with_rewritten_functions(region, _without_jumps)


def _without_jumps(region: Region) -> c_ast.FuncDef:
    """The function of ``region`` without such jumps; the very same if it has none."""
    function = region.function
    jumps = Counter(each.name for each in walk(function) if isinstance(each, c_ast.Goto))
    if not jumps and not any(isinstance(each, c_ast.Continue) for each in walk(function)):
        return function
    body = _JumpStructurer(region, jumps).rewritten(function.body)
    if body is function.body:
        return function
    new = mapped(function, lambda each: body if each is function.body else each)
    assert isinstance(new, c_ast.FuncDef)  # noqa: S101 - a copy of one
    return new


class _JumpStructurer:
    """Rewrites the body of a function with ``jumps``; what does not change are the very nodes of before."""

    def __init__(self, region: Region, jumps: Counter[str]) -> None:
        nodes = list(walk(region.function))
        self._jumps = jumps
        self._taken = region.visible.may_mean_something() | {
            str(each.name) for each in nodes if isinstance(each, c_ast.ID | c_ast.Decl) and each.name
        }
        exposed = [each.expr for each in nodes if isinstance(each, c_ast.UnaryOp) and each.op == "&"]
        declared = {str(each.name) for each in nodes if isinstance(each, c_ast.Decl) and not each.storage}
        self._own = declared - {name for each in exposed for name in names_in(each)}
        """Variables that nothing else can change: neither calls nor what is written through pointers."""

    def rewritten(self, node: c_ast.Node) -> c_ast.Node:
        """``node`` without jumps that are understood, in it and in what it holds."""
        changed = {id(each): new for each in node if (new := self.rewritten(each)) is not each}
        if changed:
            node = mapped(node, lambda each: changed.get(id(each), each))
        node = as_jumping_conditions(node)
        if isinstance(node, c_ast.For):
            return self._goes_on(node)
        if not isinstance(node, c_ast.Compound) or not node.block_items:
            return node
        items = self._block(list(node.block_items))
        return node if items is None else c_ast.Compound(items, node.coord)

    def _block(self, items: list[c_ast.Node]) -> list[c_ast.Node] | None:
        """The items of a block with no jumps to its labels, the first one first; None if all stay."""
        changed, place = False, 0
        while place < len(items):
            label = items[place]
            if isinstance(label, c_ast.Label) and self._jumps[label.name]:
                before = self._up_to(label.name, items[:place], items[place:])
                if before is not None:
                    changed = True
                    items = [*before, label.stmt, *items[place + 1 :]]
                    place = len(before)
                    continue  # its statement may have a label, too
            place += 1
        return items if changed else None

    def _up_to(
        self, label: str, items: list[c_ast.Node], following: Sequence[c_ast.Node]
    ) -> list[c_ast.Node] | None:
        """``items``, which stand before ``label``, without jumps to that; None if not all are understood."""
        if sum(_count(each, label) for each in items) != self._jumps[label]:
            return None
        if items:
            items[-1] = _left_by_break(items[-1], label)
        first = next((place for place, each in enumerate(items) if _count(each, label)), None)
        if first is None:
            return items
        if any(isinstance(each, c_ast.Pragma) and _is_mark(each) for each in items[first:]):
            return None  # a region is in one block with its marks
        hoisted = _hoisted(items[first:], following)
        if hoisted is None:
            return None
        declarations, items = hoisted[0], [*items[:first], *hoisted[1]]
        found = self._without(items, lambda each: _count(each, label) > 0)
        return None if found is None else [*found[:first], *declarations, *found[first:]]

    def _without(
        self, items: Sequence[c_ast.Node], jumps: Callable[[c_ast.Node], bool]
    ) -> list[c_ast.Node] | None:
        return without_jumps(items, jumps, _Skipper(self, jumps).skip)

    def _goes_on(self, loop: c_ast.For) -> c_ast.Node:
        """``loop`` without ``continue`` that is more than the end of a branch."""
        items = items_of(loop.stmt)
        if not continues(loop.stmt) or _breaks(loop.stmt) or without_jumps(items, continues) is not None:
            return loop
        found = self._without(items, continues)
        if found is None:
            return loop
        body = c_ast.Compound(found, loop.stmt.coord)
        return mapped(loop, lambda each: body if each is loop.stmt else each)

    def unused_name(self) -> str:
        """A name that means nothing yet."""
        name = unused_name("jumped", self._taken)
        self._taken |= {name}
        return name

    def is_stable(self, condition: c_ast.Node, over: c_ast.Node) -> bool:
        """Whether ``condition`` has the same value before ``over``, which it is a part of, and behind it."""
        if any(isinstance(each, c_ast.FuncCall) for each in walk(over)) or has_side_effect(condition):
            return False
        changed = [target for each in walk(over) if (target := changed_operand(each)) is not None]
        if reads_memory(condition):
            return not changed
        names = {*names_in(condition)}
        stores = any(not isinstance(each, c_ast.ID) for each in changed)
        if names & {str(each.name) for each in changed if isinstance(each, c_ast.ID)}:
            return False
        return names.isdisjoint(declared_in([*walk(over)])) and (not stores or names <= self._own)


class _Skipper:
    """What becomes of conditions that may jump in one of their branches, and go on."""

    def __init__(self, structurer: _JumpStructurer, jumps: Callable[[c_ast.Node], bool]) -> None:
        self._structurer = structurer
        self._jumps = jumps

    def skip(self, node: c_ast.If, rest: list[c_ast.Node]) -> list[c_ast.Node] | None:
        """The condition ``node`` without jumps, and ``rest`` under the condition that it has not jumped."""
        rest_of = without_jumps(rest, self._jumps, self.skip)
        condition = self._when(node)
        if rest_of is None or condition is None:
            return None
        if self._structurer.is_stable(condition, node):
            items = without_jumps([node], self._jumps, self.skip)
            jumped: list[c_ast.Node] = []
        else:
            flag = c_ast.ID(self._structurer.unused_name(), node.coord)
            kind = declarator(flag.name, INT)
            jumped = [c_ast.Decl(flag.name, [], [], [], [], kind, number(0), None, node.coord)]
            items, condition = self._flagged(node, flag), flag
        if items is None:
            return None
        missed = c_ast.UnaryOp("!", duplicate(condition), node.coord)
        return [*jumped, *items, c_ast.If(missed, c_ast.Compound(rest_of, node.coord), None, node.coord)]

    def _flagged(self, node: c_ast.If, flag: c_ast.ID) -> list[c_ast.Node] | None:
        """``node`` that sets ``flag`` in place of its jumps, behind which no more is run of it."""

        def missed(inner: c_ast.If, rest: list[c_ast.Node]) -> list[c_ast.Node] | None:
            following = without_jumps(rest, self._jumps, missed)
            branches = without_jumps([inner], self._jumps, missed)
            if following is None or branches is None:
                return None
            negated = c_ast.UnaryOp("!", duplicate(flag), node.coord)
            return [*branches, c_ast.If(negated, c_ast.Compound(following, node.coord), None, node.coord)]

        return without_jumps([_with_flag(node, self._jumps, flag)], self._jumps, missed)

    def _when(self, node: c_ast.Node) -> c_ast.Node | None:
        """When ``node``, which holds jumps, jumps if nothing changes before it does; None if unknown."""
        if isinstance(node, c_ast.Goto | c_ast.Continue):
            return number(1)
        if isinstance(node, c_ast.Compound):
            found = [self._when(each) for each in items_of(node) if self._jumps(each)]
            return None if None in found else _joined("||", found)
        if not isinstance(node, c_ast.If):
            return None
        yes, no = (
            None if each is None or not self._jumps(each) else (each, self._when(each))
            for each in (node.iftrue, node.iffalse)
        )
        sides = []
        for side, condition in ((yes, node.cond), (no, c_ast.UnaryOp("!", node.cond, node.coord))):
            if side is not None and side[1] is None:
                return None
            if side is not None:
                sides.append(_joined("&&", [condition, side[1]]))
        return _joined("||", sides)


def _joined(operator: str, conditions: Sequence[c_ast.Node]) -> c_ast.Node:
    """One condition of several; numbers stand for what always holds."""
    first, *others = [each for each in conditions if not isinstance(each, c_ast.Constant)] or conditions[:1]
    for each in others:
        first = c_ast.BinaryOp(operator, first, each, first.coord)
    return first


def _with_flag(node: c_ast.Node, jumps: Callable[[c_ast.Node], bool], flag: c_ast.ID) -> c_ast.Node:
    """``node`` that sets ``flag`` before it jumps."""
    if not jumps(node):
        return node
    if isinstance(node, c_ast.Goto | c_ast.Continue):
        return c_ast.Compound([c_ast.Assignment("=", duplicate(flag), number(1), node.coord), node])
    return mapped(node, lambda each: _with_flag(each, jumps, flag))


def _left_by_break(node: c_ast.Node, label: str) -> c_ast.Node:
    """``node``, which stands right before ``label``, with ``break`` for the jumps there out of loops."""
    if isinstance(node, _LOOPS):
        body = _with_breaks(node.stmt, label)
        return mapped(node, lambda each: body if each is node.stmt else each)
    if isinstance(node, c_ast.If):
        return mapped(node, lambda each: each if each is node.cond else _left_by_break(each, label))
    if isinstance(node, c_ast.Compound) and node.block_items:
        *before, last = node.block_items
        return c_ast.Compound([*before, _left_by_break(last, label)], node.coord)
    return node


def _with_breaks(node: c_ast.Node, label: str) -> c_ast.Node:
    """``node`` of the body of a loop with ``break`` for its own jumps to ``label``."""
    if isinstance(node, c_ast.Goto) and node.name == label:
        return c_ast.Break(node.coord)
    if isinstance(node, (*_LOOPS, c_ast.Switch)) or not _count(node, label):
        return node
    return mapped(node, lambda each: _with_breaks(each, label))


def _hoisted(
    items: Sequence[c_ast.Node], following: Sequence[c_ast.Node]
) -> tuple[list[c_ast.Node], list[c_ast.Node]] | None:
    """The declarations among ``items`` of what ``following`` mentions, and ``items`` that assign these.

    None where that cannot be told apart. What is jumped past has no value there, but may be set again.
    """
    wanted = {name for each in following for name in names_in(each)}
    declarations, others = [], []
    for place, each in enumerate(items):
        if isinstance(each, c_ast.Typedef | c_ast.DeclList):
            return None
        if not isinstance(each, c_ast.Decl) or each.name not in wanted:
            others.append(each)
            continue
        used_before = any(each.name in names_in(other) for other in items[:place])
        plain = isinstance(each.type, c_ast.TypeDecl | c_ast.PtrDecl) and not each.storage
        if used_before or not plain or "const" in each.quals or isinstance(each.init, c_ast.InitList):
            return None
        declarations.append(mapped(each, lambda part: part))
        declarations[-1].init = None
        if each.init is not None:
            others.append(c_ast.Assignment("=", c_ast.ID(each.name, each.coord), each.init, each.coord))
    return declarations, others


def _breaks(node: c_ast.Node) -> bool:
    """Whether ``node`` of the body of a loop holds a ``break`` of that."""
    if isinstance(node, c_ast.Break):
        return True
    return not isinstance(node, (*_LOOPS, c_ast.Switch)) and any(map(_breaks, node))


def _count(node: c_ast.Node, label: str) -> int:
    """How many jumps to ``label`` are in ``node``."""
    return sum(isinstance(each, c_ast.Goto) and each.name == label for each in walk(node))


def _is_mark(node: c_ast.Pragma) -> bool:
    return str(node.string).startswith("polybuild ")
