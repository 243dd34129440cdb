"""What a function declares for a region alone, declared in it: small arrays, and sums of narrow elements.

::

    unsigned char w[9];                                unsigned char w_own[9];
    int n;                                             int n_own;
    for (y = 1; y < h - 1; y++) ...             ->     for (y = 1; y < h - 1; y++) ...
      w[3 * j + i] = in[y + j][x + i]; ...               w_own[3 * j + i] = in[y + j][x + i]; ...
      n += w[4]; ...                                     n_own += w_own[4]; ...

C had all declarations at the start of a block for long. Nobody sees what the region leaves in such a
variable, so that registers and lanes may keep it, and as narrow as its values are.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence
from math import prod

from pycparser import c_ast

from polybuild.c.basic_types import INT, SHORT
from polybuild.c.declarations import evaluate
from polybuild.c.symbols import StorageClass
from polybuild.c.syntax_tree import changed_operand, duplicate, mapped, walk
from polybuild.c.types import ArrayType, FloatingType, IntegerType
from polybuild.c.typing import type_of
from polybuild.diagnostics import Unsupported
from polybuild.effort import UNROLLED_ELEMENTS
from polybuild.normalise.names import Names, Variable, resolve, unused_name
from polybuild.normalise.upward_exposed import read_after, read_before_written
from polybuild.source.blocks import is_repeated, place_region
from polybuild.source.model import Region


def with_own_variables(region: Region) -> Region:
    """``region`` with declarations of such variables; itself where there are none."""
    if region.index < 0:
        return region
    try:
        names = resolve(region)
    except Unsupported:
        return region  # the model says what is wrong
    found = list(_OwnVariables(region, names).all())
    if not found:
        return region
    taken = set(region.visible.may_mean_something() | {each.name for each in names.variables.values()})
    named: dict[Variable, str] = {}
    for variable in found:
        named[variable] = unused_name(f"{variable.name}_own", taken)
        taken.add(named[variable])
    declared = [_declaration(variable, name) for variable, name in named.items()]
    statements = (_renamed(each, names, named) for each in region.statements)
    return dataclasses.replace(region, statements=(*declared, *statements))


class _OwnVariables:
    """Which variables of the function are a region's own."""

    def __init__(self, region: Region, names: Names) -> None:
        self._region = region
        self._names = names
        self._types = {each.name: each.type for each in names.variables.values()}
        self._nodes = [each for statement in region.statements for each in walk(statement)]
        pragmas = (each.string or "" for each in self._nodes if isinstance(each, c_ast.Pragma))
        self._directed = {word for each in pragmas for word in re.findall(r"\w+", each)}  # say what it is

    def all(self) -> Iterator[Variable]:
        """Those that gain from it, in the order in which they are first mentioned."""
        region = self._region
        variables = dict.fromkeys(self._names.variables.values())
        candidates = [each for each in variables if _is_hidden(each) and each.name not in self._directed]
        scalars = [each for each in candidates if each.type == INT and self._adds_narrow(each)]
        arrays = [each for each in candidates if self._is_small(each)]
        if not (scalars or arrays):
            return
        live = read_after(region.function, region.index) | region.visible.lvalues.keys()
        live |= read_before_written(region.statements, {})
        yield from (each for each in scalars if each.name not in live)
        if arrays and not is_repeated(region.function, region.index):
            elsewhere = _mentioned_elsewhere(region)
            yield from (each for each in arrays if each.name not in elsewhere)

    def _adds_narrow(self, variable: Variable) -> bool:
        """Whether the region sets ``variable`` to something with elements in it of fewer bits."""
        values = (
            each.rvalue
            for each in self._nodes
            if isinstance(each, c_ast.Assignment)
            and isinstance(each.lvalue, c_ast.ID)
            and self._names.variables.get(each.lvalue) is variable
        )
        return any(self._is_narrow(each) for value in values for each in walk(value))

    def _is_narrow(self, node: c_ast.Node) -> bool:
        """Whether ``node`` is an element of 16 bits or less."""
        if not isinstance(node, c_ast.ArrayRef):
            return False
        kind = type_of(node, self._types, self._region.visible)
        return isinstance(kind, IntegerType) and kind.width <= SHORT.width

    def _is_small(self, variable: Variable) -> bool:
        """Whether ``variable`` is an array of a few numbers, without values at first, used by elements."""
        declaration, kind = variable.declaration, variable.type
        if not isinstance(declaration, c_ast.Decl) or declaration.init is not None:
            return False
        extents: list[int] = []
        while isinstance(kind, ArrayType):
            extent = None if kind.extent is None else evaluate(kind.extent, self._region.visible.scope)
            extents.append(extent or 0)
            kind = kind.element
        if not (extents and isinstance(kind, IntegerType | FloatingType) and prod(extents) > 0):
            return False
        mentions = sum(self._names.variables.get(each) is variable for each in self._nodes)
        elements = {id(each) for each in self._nodes if self._is_element(each, variable, len(extents))}
        few = prod(extents) <= UNROLLED_ELEMENTS and len(elements) == mentions
        return few and any(id(changed_operand(each)) in elements for each in self._nodes)

    def _is_element(self, node: c_ast.Node, variable: Variable, depth: int) -> bool:
        """Whether ``node`` is an element of ``variable``, an array of ``depth`` dimensions."""
        for _ in range(depth):
            if not isinstance(node, c_ast.ArrayRef):
                return False
            node = node.name
        return self._names.variables.get(node) is variable


def _is_hidden(variable: Variable) -> bool:
    """Whether ``variable`` is one of the function's that nobody else knows."""
    shown = variable.address_taken or variable.volatile or variable.thread_local
    return variable.storage is StorageClass.LOCAL and not (variable.local or shown)


def _mentioned_elsewhere(region: Region) -> set[str]:
    """The names that the function has outside of ``region``; all of them if jumps may lead back to it."""
    everything = list(walk(region.function.body))
    placement = place_region(region.function, region.index)
    inside: Sequence[c_ast.Node] = () if placement is None else placement.statements
    if any(isinstance(each, c_ast.Label) for each in everything):
        inside = ()
    within = {id(each) for statement in inside for each in walk(statement)}
    return {each.name for each in everything if isinstance(each, c_ast.ID) and id(each) not in within}


def _declaration(variable: Variable, name: str) -> c_ast.Decl:
    """The declaration of ``variable`` by another ``name``."""
    assert isinstance(variable.declaration, c_ast.Decl)  # noqa: S101 - variables of functions have one
    kind = duplicate(variable.declaration.type)
    inner = kind
    while not isinstance(inner, c_ast.TypeDecl):
        inner = inner.type
    inner.declname = name
    return c_ast.Decl(name, [], [], [], [], kind, None, None, variable.declaration.coord)


def _renamed(node: c_ast.Node, names: Names, named: Mapping[Variable, str]) -> c_ast.Node:
    """``node`` with the new names of variables."""
    if isinstance(node, c_ast.ID):
        variable = names.variables.get(node)
        name = None if variable is None else named.get(variable)
        return node if name is None else c_ast.ID(name, node.coord)
    return mapped(node, lambda each: _renamed(each, names, named))
