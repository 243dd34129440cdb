"""Names that a region gives to numbers in memory, which it does not change: the numbers themselves.

::

    long step = steps[0];                      long step = steps[0];
    for (i = 0; i < n; i++) {                  for (i = 0; i < n; i++) {
      *(double *)to = 0; to += step;     ->      *(double *)to = 0; to += steps[0];
    }                                          }

So a name is as good as the number where that has to be one from before the region.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping

from pycparser import c_ast

from polybuild.c.syntax_tree import changed_operand, duplicate, mapped, walk
from polybuild.c.types import IntegerType
from polybuild.c.typing import type_of
from polybuild.diagnostics import Unsupported
from polybuild.normalise.names import Names, is_place, member_path, resolve
from polybuild.source.model import Region


def without_named_numbers(region: Region) -> Region:
    """``region`` with the numbers in place of their names, which stay declared; itself if there are none."""
    try:
        names = resolve(region)
    except Unsupported:
        return region  # the model says what is wrong
    nodes = [each for one in region.statements for each in walk(one)]
    declared = [each for each in nodes if isinstance(each, c_ast.Decl)]
    times = Counter([*(each.name for each in declared), *names.outer])
    times.update(filter(None, map(_changed, nodes)))
    numbers = {
        each.name: each.init for each in declared if times[each.name] == 1 and _is_fixed(each, region, names)
    }
    if not numbers:
        return region
    return dataclasses.replace(
        region, statements=tuple(_substituted(each, numbers) for each in region.statements)
    )


def _substituted(node: c_ast.Node, numbers: Mapping[str, c_ast.Node]) -> c_ast.Node:
    """``node`` with numbers for the names of ``numbers``, which are no members'."""
    if isinstance(node, c_ast.ID) and node.name in numbers:
        return duplicate(numbers[node.name], node.coord)
    if isinstance(node, c_ast.StructRef):
        owner = _substituted(node.name, numbers)
        return c_ast.StructRef(owner, node.type, node.field, node.coord)
    if isinstance(node, c_ast.NamedInitializer):
        return c_ast.NamedInitializer(node.name, _substituted(node.expr, numbers), node.coord)
    return mapped(node, lambda each: _substituted(each, numbers))


def _is_fixed(declaration: c_ast.Decl, region: Region, names: Names) -> bool:
    """Whether ``declaration`` is of a number from a place that nothing in the region changes."""
    variable, place = names.variables.get(declaration), declaration.init
    if variable is None or place is None or isinstance(place, c_ast.ID) or not is_place(place):
        return False
    root, members = member_path(place)
    owner = None if root is None else names.variables.get(root)
    if owner is None or owner.local or owner in names.written or (owner, members) in names.written_members:
        return False
    symbols = {each.name: each.type for each in names.variables_in(place)}
    same = isinstance(variable.type, IntegerType) and variable.type == type_of(place, symbols, region.visible)
    return same and not variable.volatile


def _changed(node: c_ast.Node) -> str | None:
    """The name of the variable that ``node`` sets, or takes the address of; None if it does neither."""
    target = node.expr if isinstance(node, c_ast.UnaryOp) and node.op == "&" else changed_operand(node)
    return target.name if isinstance(target, c_ast.ID) else None
