"""Arrays that a region declares with their elements, as arrays that are assigned element by element.

::

    double w[3] = {1, s};              ->       double w[3]; w[0] = 1; w[1] = s; w[2] = 0;
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

from pycparser import c_ast

from polybuild.c import types
from polybuild.c.literals import integer_value
from polybuild.c.syntax_tree import duplicate, has_side_effect, mapped, walk
from polybuild.c.synthetic import number
from polybuild.effort import INITIALISED_ELEMENTS
from polybuild.source.model import Region


def assign_initial_elements(region: Region) -> Region:
    """``region`` without initialisers of small arrays of numbers; itself if it has none."""
    if not any(_is_initialised(each) for statement in region.statements for each in walk(statement)):
        return region
    return dataclasses.replace(region, statements=tuple(_statements(region.statements, region)))


def _is_initialised(node: c_ast.Node) -> bool:
    return isinstance(node, c_ast.Decl) and isinstance(node.init, c_ast.InitList)


def _statements(nodes: Sequence[c_ast.Node], region: Region) -> Iterator[c_ast.Node]:
    for node in nodes:
        values = _values(node, region) if _is_initialised(node) else None
        if values is None:
            yield _inside(node, region)
            continue
        declared = duplicate(node)
        declared.init, declared.quals = None, []
        declared.type.dim = number(len(values))
        inner = declared.type.type
        inner.quals = []
        yield declared
        for position, value in enumerate(values):
            element = c_ast.ArrayRef(c_ast.ID(node.name, node.coord), number(position), node.coord)
            yield c_ast.Assignment("=", element, value, node.coord)


def _inside(node: c_ast.Node, region: Region) -> c_ast.Node:
    if not any(map(_is_initialised, walk(node))):
        return node
    if isinstance(node, c_ast.Compound):
        return c_ast.Compound(list(_statements(node.block_items or (), region)), node.coord)
    return mapped(node, lambda each: _inside(each, region))


def _values(node: c_ast.Decl, region: Region) -> list[c_ast.Node] | None:
    """The values of all elements; None if the array is not such a small one of numbers."""
    shape = node.type
    if not isinstance(shape, c_ast.ArrayDecl) or not isinstance(shape.type, c_ast.TypeDecl) or node.storage:
        return None
    given = list(node.init.exprs)
    plain = not any(isinstance(each, c_ast.InitList | c_ast.NamedInitializer) for each in given)
    count = len(given) if shape.dim is None else _constant(shape.dim)
    kind = region.visible.scope.resolve(shape.type)
    if not plain or count is None or not len(given) <= count <= INITIALISED_ELEMENTS:
        return None
    if "volatile" in (*node.quals, *shape.type.quals):
        return None
    if not isinstance(kind, types.IntegerType | types.FloatingType) or any(map(has_side_effect, given)):
        return None
    if any(isinstance(each, c_ast.Constant) and each.type == "string" for each in given):
        return None
    return given + [number(0) for _ in range(count - len(given))]


def _constant(node: c_ast.Node) -> int | None:
    return integer_value(node.value) if isinstance(node, c_ast.Constant) and "int" in node.type else None
