"""Variables that blocks declare under a name of others get names of their own.

::

    { int k = 0; while (k < m) a[k++] = 0; }       { int k = 0; while (k < m) a[k++] = 0; }
    { int k = 0; while (k < n) b[k++] = 0; }       { int k_2 = 0; while (k_2 < n) b[k_2++] = 0; }

Then a name says which variable is meant, wherever its value is written.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Collection, Mapping

from pycparser import c_ast

from polybuild.c.syntax_tree import duplicate, mapped, walk
from polybuild.normalise.names import Names, Variable
from polybuild.source.model import Region


def with_unique_names(region: Region, names: Names, variables: Collection[Variable]) -> Region:
    """``region`` where each of ``variables`` that it declares has a name that nothing else has."""
    used = set(names.outer)
    used |= {each.name for each in names.variables.values() if each.local and each not in variables}
    taken = region.visible.may_mean_something() | {each.name for each in names.variables.values()}
    renaming: dict[Variable, str] = {}
    for variable in dict.fromkeys(
        each for each in names.variables.values() if each.local and each in variables
    ):
        if variable.name in used:
            candidates = (f"{variable.name}_{number}" for number in itertools.count(2))
            renaming[variable] = next(each for each in candidates if each not in taken)
            taken |= {renaming[variable]}
        used.add(variable.name)
    if not renaming:
        return region
    statements = tuple(_renamed(each, names, renaming) for each in region.statements)
    return dataclasses.replace(region, statements=statements)


def _renamed(node: c_ast.Node, names: Names, renaming: Mapping[Variable, str]) -> c_ast.Node:
    if not any(names.variables.get(each) in renaming for each in walk(node)):
        return node
    new = mapped(node, lambda each: _renamed(each, names, renaming))
    name = renaming.get(names.variables[node]) if node in names.variables else None
    if name is not None:
        new.name = name
        if isinstance(node, c_ast.Decl):
            new.type = duplicate(new.type)
            inner = new.type
            while not isinstance(inner, c_ast.TypeDecl):
                inner = inner.type
            inner.declname = name
    return new
