"""Early exits as tests that must never hold: the original loops run where one does.

::

    for (i = 0; i < n; i++) {                for (i = 0; i < n; i++) {
      if (x[i] < 0) return -1;                 never(x[i] < 0);
      y[i] = sqrt(x[i]);                       y[i] = sqrt(x[i]);
    }                                        }

What is left on the right computes the same as long as no exit happens. Whether one does is found before
the region runs, in the order of the loops, and no further than the first: nothing is read that the
original loops do not read. Messages (``printf``) and failing assertions under a condition are such exits.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

from pycparser import c_ast

from polybuild.c.dialects import FAILED
from polybuild.c.syntax_tree import changed_operand, contains, duplicate, mapped, names_in, walk
from polybuild.c.synthetic import NEVER
from polybuild.source.model import Region

_FATAL = frozenset({
    "abort", "exit", "_exit", "_Exit", "quick_exit", "longjmp", "__builtin_abort", "__builtin_trap",
    "__builtin_unreachable", "__assert_fail", "__assert", "err", "errx", FAILED,
})  # fmt: skip
_TELLING = frozenset({
    "printf", "fprintf", "puts", "fputs", "fputc", "putchar", "putc", "perror", "fflush", "warn", "warnx",
    "syslog",
})  # fmt: skip
_BREAKABLE = (c_ast.For, c_ast.While, c_ast.DoWhile, c_ast.Switch)


def with_exit_tests(region: Region) -> Region:
    """``region`` with its early exits as calls of ``NEVER``; itself if it has none that are understood."""
    rewriter = _Rewriter(
        {
            each.name
            for statement in region.statements
            for each in walk(statement)
            if isinstance(each, c_ast.Label)
        }
    )
    statements = rewriter.sequence([_with_plain_blocks(each) for each in region.statements], breaks=False)
    return dataclasses.replace(region, statements=tuple(statements)) if rewriter.found else region


def may_be_exit(name: str) -> bool:
    """Whether a call of the function ``name`` may be all that an early exit does."""
    return name in _FATAL or name in _TELLING


def search_alone(region: Region, tested: Region) -> c_ast.Node | None:
    """The first exit of a ``region`` that does nothing but look for it; None if it does something else.

    ``tested`` is the region with tests for its exits.
    """
    found = [each for statement in tested.statements for each in _done(statement)]
    jumps = any(
        isinstance(each, c_ast.Return | c_ast.Break | c_ast.Goto)
        for statement in region.statements
        for each in walk(statement)
    )
    return found[0] if found and jumps and all(_called(each) == NEVER for each in found) else None


def search_by_condition(region: Region) -> c_ast.Node | None:
    """The loop that is all that ``region`` does, if it ends where it finds something; else None.

    Its condition asks for that: ``while (i < n && x[i] != v) i++;``, or of what the loop sets where it does.
    """
    loops = [each for each in region.statements if isinstance(each, c_ast.For | c_ast.While | c_ast.DoWhile)]
    sets = (c_ast.Decl, c_ast.Assignment, c_ast.EmptyStatement, c_ast.Pragma)
    alone = all(isinstance(each, sets) for each in region.statements if each not in loops)
    if len(loops) != 1 or not alone or loops[0].cond is None:
        return None
    (loop,) = loops
    nodes = list(walk(loop))
    changes = [each for each in nodes if changed_operand(each) is not None]
    targets = {each.name for each in map(changed_operand, changes) if isinstance(each, c_ast.ID)}
    accumulates = any(isinstance(each, c_ast.Assignment) and each.op != "=" for each in changes)
    calls = any(isinstance(each, c_ast.FuncCall | c_ast.Return | c_ast.Goto) for each in nodes)
    elsewhere = any(not isinstance(changed_operand(each), c_ast.ID) for each in changes)
    if accumulates or calls or elsewhere:
        return None
    found = {
        name
        for each in walk(loop.stmt)
        if isinstance(each, c_ast.Assignment)
        for name in names_in(each.lvalue)
    }
    if not _looks_along(loop, targets):
        return None
    return loop if _looks_along(loop.cond, targets) or found.intersection(names_in(loop.cond)) else None


def _with_plain_blocks(node: c_ast.Node) -> c_ast.Node:
    """``node`` with what is in ``do ... while (0)`` in its place, as macros have it."""
    if not contains(node, c_ast.DoWhile):
        return node
    new = mapped(node, _with_plain_blocks)
    if not isinstance(new, c_ast.DoWhile) or getattr(new.cond, "value", "") != "0":
        return new
    if any(isinstance(each, c_ast.Break | c_ast.Continue) for each in walk(new.stmt)):
        return new
    items = list(new.stmt.block_items or ()) if isinstance(new.stmt, c_ast.Compound) else [new.stmt]
    return items[0] if len(items) == 1 and not isinstance(items[0], c_ast.Decl) else new.stmt


def _looks_along(node: c_ast.Node, counters: set[str]) -> bool:
    """Whether ``node`` reads elements by ``counters``."""
    subscripts = [each.subscript for each in walk(node) if isinstance(each, c_ast.ArrayRef)]
    return any(counters.intersection(names_in(each)) for each in subscripts)


def _done(node: c_ast.Node) -> Iterator[c_ast.Node]:
    """What ``node`` does but for counting, in loops and conditions."""
    if isinstance(node, c_ast.For):
        yield from _done(node.stmt)
    elif isinstance(node, c_ast.Compound):
        for each in node.block_items or ():
            yield from _done(each)
    elif isinstance(node, c_ast.If) and all(changed_operand(each) is None for each in walk(node.cond)):
        for each in filter(None, (node.iftrue, node.iffalse)):
            yield from _done(each)
    elif not isinstance(node, c_ast.EmptyStatement):
        yield node


class _Rewriter:
    """Rewrites statements; ``found`` counts the exits. ``labels`` are those inside the region."""

    def __init__(self, labels: set[str]) -> None:
        self._labels = labels
        self.found = 0

    def sequence(self, nodes: Sequence[c_ast.Node], *, breaks: bool) -> list[c_ast.Node]:
        """What becomes of ``nodes``; in them ``break`` leaves a plain loop of the region if it ``breaks``."""
        return [each for node in nodes for each in self._statement(node, breaks=breaks)]

    def _statement(self, node: c_ast.Node, *, breaks: bool) -> list[c_ast.Node]:
        if isinstance(node, c_ast.Compound):
            return [c_ast.Compound(self.sequence(node.block_items or (), breaks=breaks), node.coord)]
        if isinstance(node, c_ast.For):
            return [
                c_ast.For(node.init, node.cond, node.next, self._body(node.stmt, breaks=True), node.coord)
            ]
        if isinstance(node, c_ast.While | c_ast.DoWhile):
            return [type(node)(node.cond, self._body(node.stmt, breaks=False), node.coord)]
        if isinstance(node, c_ast.If):
            return self._if(node, breaks=breaks)
        failure = failed_assertion(node)
        return [node] if failure is None else [self._never(failure)]

    def _body(self, node: c_ast.Node, *, breaks: bool) -> c_ast.Node:
        return c_ast.Compound(self._statement(node, breaks=breaks), node.coord)

    def _if(self, node: c_ast.If, *, breaks: bool) -> list[c_ast.Node]:
        pure = all(changed_operand(each) is None for each in walk(node.cond))
        if pure and self._leaves(node.iftrue, breaks=breaks):
            rest = [] if node.iffalse is None else self._statement(node.iffalse, breaks=breaks)
            return [self._never(node.cond), *rest]
        if pure and node.iffalse is not None and self._leaves(node.iffalse, breaks=breaks):
            return [self._never(_negated(node.cond)), *self._statement(node.iftrue, breaks=breaks)]
        first, then = self._branch(node.iftrue, node.cond, pure=pure, breaks=breaks)
        if node.iffalse is None:
            return [*first, c_ast.If(node.cond, then, None, node.coord)]
        second, otherwise = self._branch(node.iffalse, _negated(node.cond), pure=pure, breaks=breaks)
        return [*first, *second, c_ast.If(node.cond, then, otherwise, node.coord)]

    def _branch(
        self, node: c_ast.Node, condition: c_ast.Node, *, pure: bool, breaks: bool
    ) -> tuple[list[c_ast.Node], c_ast.Node]:
        """The exits that a branch begins with, under its ``condition``, and what is left of the branch."""
        body = node.block_items or () if isinstance(node, c_ast.Compound) else (node,)
        items, tests = self.sequence(body, breaks=breaks), []
        while pure and items and _called(items[0]) == NEVER:
            (own,) = items.pop(0).args.exprs
            both = c_ast.BinaryOp("&&", duplicate(condition), own, own.coord)
            tests.append(c_ast.FuncCall(c_ast.ID(NEVER), c_ast.ExprList([both]), own.coord))
        return tests, c_ast.Compound(items, node.coord)

    def _never(self, condition: c_ast.Node) -> c_ast.Node:
        self.found += 1
        return c_ast.FuncCall(c_ast.ID(NEVER), c_ast.ExprList([condition]), condition.coord)

    def _leaves(self, node: c_ast.Node, *, breaks: bool) -> bool:
        """Whether ``node`` leaves a loop or the function for good, or does nothing but tell of something."""
        items = node.block_items or () if isinstance(node, c_ast.Compound) else (node,)
        if not items or any(isinstance(each, _BREAKABLE) for item in items for each in walk(item)):
            return False
        last = items[-1]
        if isinstance(last, c_ast.Break):
            return breaks
        if isinstance(last, c_ast.Goto):
            return last.name not in self._labels
        if isinstance(last, c_ast.Return) or _called(last) in _FATAL:
            return True
        return all(_called(each) in _TELLING for each in items)


def failed_assertion(node: c_ast.Node) -> c_ast.Node | None:
    """When the assertion ``node`` fails, in one of the ways to write ``assert`` out; None if it is none."""
    while isinstance(node, c_ast.ExprList | c_ast.Cast):
        node = node.exprs[-1] if isinstance(node, c_ast.ExprList) else node.expr
    if isinstance(node, c_ast.TernaryOp):
        condition, success, failure = node.cond, node.iftrue, node.iffalse
    elif isinstance(node, c_ast.BinaryOp) and node.op == "||":
        condition, success, failure = node.left, None, node.right
    else:
        return None
    if any(changed_operand(each) is not None for each in walk(condition)):
        return None
    if _called(failure) in _FATAL:
        return _negated(condition)
    return condition if success is not None and _called(success) in _FATAL else None


def _called(node: c_ast.Node) -> str:
    """The name of the function that ``node`` calls, empty if it is no call."""
    while isinstance(node, c_ast.Cast | c_ast.ExprList):
        node = node.expr if isinstance(node, c_ast.Cast) else node.exprs[0]
    named = isinstance(node, c_ast.FuncCall) and isinstance(node.name, c_ast.ID)
    return str(node.name.name) if named else ""


def _negated(condition: c_ast.Node) -> c_ast.Node:
    return c_ast.UnaryOp("!", condition, condition.coord)
