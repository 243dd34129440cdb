"""Values that are stored in two places at once, one after the other.

::

    a[i][j] = a[j][i] = sqrt(s);     ->      a[j][i] = sqrt(s);
                                             a[i][j] = a[j][i];

Each statement has one result then, as what looks for the place of a value expects. Variables are
separated where their values are followed.
"""

from __future__ import annotations

import dataclasses

from pycparser import c_ast

from polybuild.c.syntax_tree import has_side_effect, mapped, walk
from polybuild.normalise.structure import reads_memory
from polybuild.source.model import Region

_BODIES = ("stmt", "iftrue", "iffalse")


def separate_assignments(region: Region) -> Region:
    """``region`` with a statement for each element that is assigned; itself where it has no others."""
    if not any(_is_chain(each) for statement in region.statements for each in walk(statement)):
        return region
    statements = tuple(new for each in region.statements for new in _separated(each))
    return dataclasses.replace(region, statements=statements)


def _separated(node: c_ast.Node) -> list[c_ast.Node]:
    """The statements that the statement ``node`` is."""
    if _is_chain(node):
        inner = node.rvalue
        return [*_separated(inner), c_ast.Assignment(node.op, node.lvalue, inner.lvalue, node.coord)]
    if isinstance(node, c_ast.Compound):
        items = [new for each in node.block_items or () for new in _separated(each)]
        return [c_ast.Compound(items, node.coord)]
    if not isinstance(node, c_ast.If | c_ast.For | c_ast.While | c_ast.DoWhile):
        return [node]
    bodies = {id(child) for name in _BODIES if (child := getattr(node, name, None)) is not None}
    return [mapped(node, lambda child: _one(child) if id(child) in bodies else child)]


def _one(node: c_ast.Node) -> c_ast.Node:
    found = _separated(node)
    return found[0] if len(found) == 1 else c_ast.Compound(found, node.coord)


def _is_chain(node: c_ast.Node) -> bool:
    """Whether ``node`` is ``x = y = e`` with an element ``y``, and ``x`` is found without what is stored.

    Constants are as well stored at once.
    """
    if not isinstance(node, c_ast.Assignment) or not isinstance(node.rvalue, c_ast.Assignment):
        return False
    inner = node.rvalue
    value = inner.rvalue
    while isinstance(value, c_ast.Assignment):
        value = value.rvalue
    places = (node.lvalue, inner.lvalue)
    subscripts = [each.subscript for one in places for each in walk(one) if isinstance(each, c_ast.ArrayRef)]
    return (
        isinstance(inner.lvalue, c_ast.ArrayRef | c_ast.StructRef)
        and not isinstance(value, c_ast.Constant)
        and not any(map(has_side_effect, places))
        and not any(map(reads_memory, subscripts))
    )
