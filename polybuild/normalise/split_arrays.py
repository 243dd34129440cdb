"""Small arrays of a region's own whose elements are only named by numbers, as variables.

::

    double t[2];                                   double t_0, t_1;
    t[0] = a[i] + b[i]; t[1] = a[i] - b[i];  ->    t_0 = a[i] + b[i]; t_1 = a[i] - b[i];
    a[i] = t[0]; b[i] = t[1];                      a[i] = t_0; b[i] = t_1;

Arrays that are declared before a region count as its own where it sets what it reads of them, and nobody
reads them after it. This is the scalar replacement of aggregates that compilers do.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from math import prod

from pycparser import c_ast

from polybuild.c import types
from polybuild.c.declarations import evaluate
from polybuild.c.symbols import StorageClass
from polybuild.c.syntax_tree import has_side_effect, mapped, walk
from polybuild.c.synthetic import declarator
from polybuild.diagnostics import Unsupported
from polybuild.effort import INITIALISED_ELEMENTS
from polybuild.normalise.names import Names, Variable, resolve, unused_name
from polybuild.normalise.upward_exposed import mentioned_after, read_after, read_before_written
from polybuild.source.model import Region
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class SmallArray:
    """An array of ``extents`` elements in each dimension, all of one ``kind``."""

    kind: types.IntegerType | types.FloatingType
    extents: tuple[int, ...]


def split_arrays(region: Region) -> Region:
    """``region`` without small arrays that might as well be variables; itself if it has none."""
    if not any(isinstance(each, c_ast.ArrayRef) for node in region.statements for each in walk(node)):
        return region
    try:
        names = resolve(region)
    except Unsupported:
        return region  # the model says what is wrong
    splitter = _ArraySplitter(region, names)
    if not splitter.arrays:
        return region
    outer = {each for each in splitter.arrays if not each.local}
    split = splitter.statements()
    if outer:
        exposed = read_before_written(split, {})
        kept = {each for each in outer if not exposed.isdisjoint(splitter.names_of(each))}
        if kept:
            splitter.keep(kept)
            split = splitter.statements()
    return dataclasses.replace(region, statements=split) if splitter.arrays else region


class _ArraySplitter:
    """The rewriting of one region; ``arrays`` are those that it splits."""

    def __init__(self, region: Region, names: Names) -> None:
        self._region = region
        self._names = names
        self._taken = region.visible.may_mean_something() | {each.name for each in names.variables.values()}
        self._elements: dict[tuple[Variable, tuple[int, ...]], str] = {}
        self.arrays = dict(self._candidates())
        for statement in region.statements:
            self._scan(statement)
        self._read: set[tuple[Variable, tuple[int, ...]]] = set()
        for statement in region.statements:
            self._look(statement, alone=True)
        for each in self._elements.keys() - self._read:
            del self._elements[each]  # compilers would say that it is set and not used

    def keep(self, arrays: set[Variable]) -> None:
        """Leave ``arrays`` as they are."""
        for each in arrays:
            del self.arrays[each]

    def names_of(self, array: Variable) -> set[str]:
        """What the elements of ``array`` are called that are used."""
        return {name for (of, _), name in self._elements.items() if of is array}

    def statements(self) -> tuple[c_ast.Node, ...]:
        """The statements of the region, behind declarations of what it does not declare itself."""
        outer = (each for each in self.arrays if not each.local)
        declared = (each for array in outer for each in self._declarations(array, self._region.begin))
        return (*declared, *self._block(self._region.statements))

    def _candidates(self) -> Iterator[tuple[Variable, SmallArray]]:
        """The arrays that nobody sees but the region, as far as their declarations tell."""
        function, index = self._region.function, self._region.index
        after = mentioned_after(function, index) if index >= 0 else frozenset()
        read = read_after(function, index) if index >= 0 else frozenset()
        outermost = set(self._region.statements)
        for variable in dict.fromkeys(self._names.variables.values()):
            if variable.local:
                seen = variable.declaration in outermost and variable.name in after
            else:
                seen = index < 0 or variable.storage is not StorageClass.LOCAL or variable.name in read
            special = variable.is_reachable or variable.volatile or variable.thread_local
            array = None if seen or special else self._small(variable)
            if array is not None:
                yield variable, array

    def _small(self, variable: Variable) -> SmallArray | None:
        declaration = variable.declaration
        if not isinstance(declaration, c_ast.Decl) or (variable.local and declaration.init is not None):
            return None
        extents: list[int] = []
        kind = variable.type
        while isinstance(kind, types.ArrayType):
            extent = None if kind.extent is None else evaluate(kind.extent, self._region.visible.scope)
            if extent is None:
                return None
            extents.append(extent)
            kind = kind.element
        if not extents or not isinstance(kind, types.IntegerType | types.FloatingType):
            return None
        small = 0 < prod(extents) <= INITIALISED_ELEMENTS and min(extents) > 0
        return SmallArray(kind, tuple(extents)) if small else None

    def _scan(self, node: c_ast.Node) -> None:
        """Forget the arrays that ``node`` uses in another way than element by element, by numbers."""
        element = self._element(node)
        if element is not None:
            self._name(*element)
            return
        if isinstance(node, c_ast.UnaryOp) and node.op == "&" and (pointed := self._element(node.expr)):
            del self.arrays[pointed[0]]  # its neighbours may be meant, too
            return
        used = self._names.variables.get(node) if isinstance(node, c_ast.ID) else None
        if used in self.arrays:
            del self.arrays[used]
        for child in node:
            self._scan(child)

    def _look(self, node: c_ast.Node, *, alone: bool = False) -> None:
        """Note the elements that ``node`` reads, or sets other than by a statement that stands ``alone``."""
        element = self._element(node)
        if element is not None:
            self._read.add(element)
        elif alone and self._sets(node) is not None:
            self._look(node.rvalue)
        else:
            for child in node:
                self._look(child, alone=isinstance(node, c_ast.Compound))

    def _sets(self, node: c_ast.Node) -> tuple[Variable, tuple[int, ...]] | None:
        """The element that the statement ``node`` sets, if it does nothing else."""
        if not isinstance(node, c_ast.Assignment) or node.op != "=" or has_side_effect(node.rvalue):
            return None
        return self._element(node.lvalue)

    def _element(self, node: c_ast.Node) -> tuple[Variable, tuple[int, ...]] | None:
        """The array and the place in it that ``node`` names; None if it does no such thing."""
        if not isinstance(node, c_ast.ArrayRef):
            return None
        subscripts: list[int | None] = []
        while isinstance(node, c_ast.ArrayRef):
            subscripts.append(evaluate(node.subscript, self._region.visible.scope))
            node = node.name
        variable = self._names.variables.get(node)
        if variable is None or variable not in self.arrays:
            return None
        extents = self.arrays[variable].extents
        place = tuple(each for each in reversed(subscripts) if each is not None)
        inside = all(0 <= at < extent for at, extent in zip(place, extents, strict=False))
        whole = len(place) == len(subscripts) == len(extents)
        return (variable, place) if inside and whole else None

    def _name(self, array: Variable, place: tuple[int, ...]) -> str:
        if (array, place) not in self._elements:
            name = unused_name("_".join((array.name, *map(str, place))), self._taken)
            self._taken |= {name}
            self._elements[array, place] = name
        return self._elements[array, place]

    def _block(self, nodes: object) -> Iterator[c_ast.Node]:
        for node in nodes:  # type: ignore[attr-defined]
            variable = self._names.variables.get(node) if isinstance(node, c_ast.Decl) else None
            if variable in self.arrays:
                yield from self._declarations(variable, node.coord)
            elif (element := self._sets(node)) is None or element in self._read:
                yield self._rewritten(node)

    def _rewritten(self, node: c_ast.Node) -> c_ast.Node:
        if isinstance(node, c_ast.Compound):
            return c_ast.Compound(list(self._block(node.block_items or ())), node.coord)
        element = self._element(node)
        if element is not None:
            return c_ast.ID(self._name(*element), node.coord)
        return mapped(node, self._rewritten)

    def _declarations(self, array: Variable, coord: object) -> Iterator[c_ast.Node]:
        kind = self.arrays[array].kind
        for (of, _), name in sorted(self._elements.items(), key=lambda item: item[0][1]):
            if of is array:
                yield c_ast.Decl(name, [], [], [], [], declarator(name, kind), None, None, coord=coord)
