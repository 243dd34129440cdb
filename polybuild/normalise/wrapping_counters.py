"""Loops with unsigned counters that count down to 0, and end as they wrap around then: they end at 0.

::

    for (i = n - 1; i < n; i--)  body          if (n - 1 < n)      for (i = n; i-- > 0;)  body
    for (i = s; i != SIZE_MAX; i--)  body  ->                      for (i = s + 1; i-- > 0;)  body
"""

from __future__ import annotations

import dataclasses

from pycparser import c_ast

from polybuild.c.basic_types import INT
from polybuild.c.declarations import evaluate
from polybuild.c.syntax_tree import duplicate, has_side_effect, mapped, names_in, walk
from polybuild.c.synthetic import number, plus, type_name
from polybuild.c.types import IntegerType
from polybuild.c.typing import type_of
from polybuild.diagnostics import Unsupported
from polybuild.normalise.names import Names, Variable, resolve
from polybuild.normalise.upward_exposed import read_after
from polybuild.source.model import Region

_FLIPPED = {"<": ">", ">": "<", "!=": "!="}
_UNCHANGED = (c_ast.ID, c_ast.Constant, c_ast.BinaryOp, c_ast.UnaryOp, c_ast.Cast)


def without_wrapping_counters(region: Region) -> Region:
    """``region`` whose unsigned counters do not wrap around below 0; itself if none does."""
    if region.index < 0 or not any(_counts_down(each) for one in region.statements for each in walk(one)):
        return region
    try:
        rewriting = _DownToZero(region, resolve(region))
    except Unsupported:
        return region  # the model says what is wrong
    statements = tuple(map(rewriting.visit, region.statements))
    return dataclasses.replace(region, statements=statements) if rewriting.found else region


def _counts_down(node: c_ast.Node) -> bool:
    """Whether ``node`` is a loop whose header takes 1 from what it compares."""
    if not isinstance(node, c_ast.For) or not isinstance(node.cond, c_ast.BinaryOp):
        return False
    match node.next:
        case c_ast.UnaryOp(op="--" | "p--") | c_ast.Assignment(op="-=", rvalue=c_ast.Constant(value="1")):
            return node.cond.op in _FLIPPED
    return False


class _DownToZero:
    """The rewriting of one region; ``found`` says whether anything was."""

    def __init__(self, region: Region, names: Names) -> None:
        self._region = region
        self._names = names
        self._live = read_after(region.function, region.index)
        self.found = False

    def visit(self, node: c_ast.Node) -> c_ast.Node:
        """``node`` with other ends of its loops."""
        new = mapped(node, self.visit)
        counter = self._names.iterators.get(node) if _counts_down(node) else None
        limit = None if counter is None else self._limit(node, counter)
        first = None if counter is None or limit is None else self._first(node, counter)
        if counter is None or first is None:
            return new
        self.found = True
        at, start = node.coord, plus(first, 1)
        if isinstance(node.init, c_ast.DeclList):
            declared = mapped(node.init.decls[0], duplicate)
            declared.init, init = start, c_ast.DeclList([declared], at)
        else:
            init = c_ast.Assignment("=", c_ast.ID(counter.name, at), start, at)
        end = c_ast.BinaryOp(">", c_ast.UnaryOp("p--", c_ast.ID(counter.name, at), at), number(0), at)
        loop = c_ast.For(init, end, None, new.stmt, at)
        if node.cond.op == "!=":
            return loop  # one that starts at the greatest value starts at 0 now, and does not run either
        return c_ast.If(c_ast.BinaryOp("<", duplicate(first), limit, at), loop, None, at)

    def _limit(self, loop: c_ast.For, counter: Variable) -> c_ast.Node | None:
        """What the unsigned ``counter`` is below, or other than, while ``loop`` runs; None of other loops.

        Nobody looks at it after the loop. Counters narrower than ``int`` are compared as such: none wraps.
        """
        kind, op, limit, own = counter.type, loop.cond.op, loop.cond.right, loop.cond.left
        if isinstance(limit, c_ast.ID) and limit.name == counter.name:
            op, limit, own = _FLIPPED[op], own, limit
        if not isinstance(own, c_ast.ID) or own.name != counter.name or op == ">":
            return None
        if not isinstance(kind, IntegerType) or kind.signed or kind.width < INT.width:
            return None
        changed = counter in self._names.written or counter in self._names.escaping
        outlives = not counter.local and (counter.name in self._live or counter.storage.is_static)
        if changed or outlives or counter.address_taken or counter.volatile:
            return None
        variables = {*self._names.variables_in(limit)}
        if any(not isinstance(each, _UNCHANGED) for each in walk(limit) if not _is_of_type(each)):
            return None
        if has_side_effect(limit) or variables & {*self._names.written, *self._names.iterators.values()}:
            return None
        value = evaluate(limit, self._region.visible.scope)
        greatest = value is not None and (value + 1) % (1 << kind.width) == 0
        return duplicate(limit) if op == "<" or greatest else None

    def _first(self, loop: c_ast.For, counter: Variable) -> c_ast.Node | None:
        """The value that ``counter`` starts with, of its type."""
        start = loop.init.decls[0].init if isinstance(loop.init, c_ast.DeclList) else loop.init.rvalue
        if start is None or has_side_effect(start) or counter.name in names_in(start):
            return None
        symbols = {each.name: each.type for each in self._names.variables_in(start)}
        kind = counter.type
        assert isinstance(kind, IntegerType)  # noqa: S101 - others have no limit
        same = type_of(start, symbols, self._region.visible) == kind
        return duplicate(start) if same else c_ast.Cast(type_name(kind), duplicate(start), start.coord)


def _is_of_type(node: c_ast.Node) -> bool:
    """Whether ``node`` is a part of the name of a type."""
    return isinstance(node, c_ast.Typename | c_ast.TypeDecl | c_ast.IdentifierType)
