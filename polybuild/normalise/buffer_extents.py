"""Local arrays whose size depends on a loop get the size that they have at most.

::

    for (int i = 0; i < n; i++) {         for (int i = 0; i < n; i++) {
      double row[i + 1];                    double row[n - 1 + 1];
      ...                                   ...

The model declares an array once, for all iterations. Only what is beyond the elements of an iteration is
added, which nothing uses.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from pycparser import c_ast

from polybuild.c.syntax_tree import changed_operand, mapped, names_in, walk
from polybuild.c.synthetic import number
from polybuild.normalise.names import stepped_name
from polybuild.source.model import Region
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class _Range:
    """The minimum and the maximum value of a counter, as expressions without counters; None if not known."""

    minimum: c_ast.Node | None
    maximum: c_ast.Node | None


def with_maximum_extents(region: Region) -> Region:
    """``region`` where extents of arrays that it declares mention no counters of its loops."""
    nodes = [each for statement in region.statements for each in walk(statement)]
    if not any(isinstance(each, c_ast.Decl) and isinstance(each.type, c_ast.ArrayDecl) for each in nodes):
        return region
    if any(isinstance(each, c_ast.UnaryOp) and each.op == "sizeof" for each in nodes):
        return region
    targets = (changed_operand(each) for each in nodes)
    changed = {each.name for each in targets if isinstance(each, c_ast.ID)}
    statements = tuple(_rewritten(each, {}, changed) for each in region.statements)
    if all(one is other for one, other in zip(statements, region.statements, strict=True)):
        return region
    return dataclasses.replace(region, statements=statements)


def _rewritten(node: c_ast.Node, ranges: Mapping[str, _Range], changed: set[str]) -> c_ast.Node:
    """``node`` inside of loops with counters in ``ranges``; the very node where nothing is to be done."""
    if isinstance(node, c_ast.Decl) and isinstance(node.type, c_ast.ArrayDecl):
        return _declaration(node, ranges)
    if isinstance(node, c_ast.For):
        counter = stepped_name(node)
        if counter is not None:
            ranges = {**ranges, counter: _range(node, counter, ranges, changed)}
    new = {id(child): _rewritten(child, ranges, changed) for child in node}
    if all(new[id(child)] is child for child in node):
        return node
    return mapped(node, lambda child: new.get(id(child), child))


def _declaration(node: c_ast.Decl, ranges: Mapping[str, _Range]) -> c_ast.Node:
    """A declaration with the maximum extents that it has."""
    kind, extents = node.type, []
    while isinstance(kind, c_ast.ArrayDecl):
        extents.append(kind.dim)
        kind = kind.type
    if not any(set(names_in(each)) & set(ranges) for each in extents if each is not None):
        return node
    maxima = [None if each is None else _bound(each, ranges, maximum=True) for each in extents]
    if None in maxima:
        return node
    for maximum in reversed(maxima):
        kind = c_ast.ArrayDecl(kind, maximum, [], node.type.coord)
    new = mapped(node, lambda each: each)
    new.type = kind
    return new


def _range(loop: c_ast.For, counter: str, ranges: Mapping[str, _Range], changed: set[str]) -> _Range:
    """What the counter of a loop that counts up may be in its body."""
    start = None
    if isinstance(loop.init, c_ast.DeclList) and len(loop.init.decls) == 1:
        start = loop.init.decls[0].init
    elif isinstance(loop.init, c_ast.Assignment):
        start = loop.init.rvalue
    step, cond = loop.next, loop.cond
    upwards = isinstance(step, c_ast.UnaryOp) and "+" in step.op
    if not upwards or not isinstance(cond, c_ast.BinaryOp) or cond.op not in {"<", "<="}:
        return _Range(None, None)
    end = cond.right if isinstance(cond.left, c_ast.ID) and cond.left.name == counter else None
    steady = changed - set(ranges) - {counter}
    if start is None or end is None or steady & {*names_in(start), *names_in(end)}:
        return _Range(None, None)
    maximum = _bound(end, ranges, maximum=True)
    if maximum is not None and cond.op == "<":
        maximum = c_ast.BinaryOp("-", maximum, number(1), end.coord)
    return _Range(_bound(start, ranges, maximum=False), maximum)


def _bound(node: c_ast.Node, ranges: Mapping[str, _Range], *, maximum: bool) -> c_ast.Node | None:
    """The maximum or minimum of a sum of counters and what does not change; None if not known."""
    if isinstance(node, c_ast.ID) and node.name in ranges:
        known = ranges[node.name]
        return known.maximum if maximum else known.minimum
    if not set(names_in(node)) & set(ranges):
        return node
    if isinstance(node, c_ast.BinaryOp) and node.op in {"+", "-"}:
        left = _bound(node.left, ranges, maximum=maximum)
        right = _bound(node.right, ranges, maximum=maximum == (node.op == "+"))
        if left is not None and right is not None:
            return c_ast.BinaryOp(node.op, left, right, node.coord)
    return None
