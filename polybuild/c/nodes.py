"""Small questions about pycparser nodes that the modelling passes share."""

from __future__ import annotations

from collections.abc import Iterator

from pycparser import c_ast

from polybuild.diagnostics import Location

_CHOICES = (c_ast.If, c_ast.TernaryOp, c_ast.For, c_ast.While, c_ast.DoWhile, c_ast.Switch)


def location(node: c_ast.Node) -> Location:
    """Where ``node`` starts; a node without coordinates starts where its first child does."""
    for each in walk(node):
        coord = each.coord
        if coord is not None:
            return Location(coord.file or "", coord.line or 1, coord.column or 0)
    return Location("", 1)


def last_line(node: c_ast.Node) -> int:
    """The last line on which a part of ``node`` starts."""
    return max((each.coord.line or 1 for each in walk(node) if each.coord is not None), default=1)


def walk(node: c_ast.Node) -> Iterator[c_ast.Node]:
    """``node`` and everything below it, in textual order."""
    yield node
    for child in node:
        yield from walk(child)


def always_evaluates(body: c_ast.Node, wanted: c_ast.Node) -> bool:
    """Whether evaluating ``body`` always evaluates the part ``wanted`` of it."""
    if body is wanted:
        return True
    if isinstance(body, _CHOICES):
        return isinstance(body, c_ast.If | c_ast.TernaryOp) and always_evaluates(body.cond, wanted)
    if isinstance(body, c_ast.BinaryOp) and body.op in {"&&", "||"}:
        return always_evaluates(body.left, wanted)
    return any(always_evaluates(child, wanted) for child in body)


def used_after(function: c_ast.FuncDef, index: int) -> frozenset[str]:
    """Names that occur outside region ``index`` of ``function`` where control may come after it.

    The answer is textual: if the region lies in a loop, or the function has
    labels, every name outside the region counts.
    """
    begin, end = f"polybuild begin {index}", f"polybuild end {index}"
    before: set[str] = set()
    after: set[str] = set()
    seen = before
    repeated = False

    def visit(node: c_ast.Node, in_loop: bool) -> None:
        nonlocal seen, repeated
        if isinstance(node, c_ast.Pragma):
            if node.string == begin:
                seen = set()
                repeated = repeated or in_loop
            elif node.string == end:
                seen = after
        elif isinstance(node, c_ast.ID):
            seen.add(node.name)
        elif isinstance(node, c_ast.Label):
            repeated = True
        inner = in_loop or isinstance(node, c_ast.For | c_ast.While | c_ast.DoWhile)
        for child in node:
            visit(child, inner)

    visit(function.body, in_loop=False)
    return frozenset(before | after if repeated else after)
