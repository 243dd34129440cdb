"""Grids that begin at unknown places of one array, over which steps are made: pointers of their own.

::

    for (t = 0; t < steps; t++) {                for (t = 0; t < steps; t++) {
      for (i...) pool[to + i] = f(pool[i]);        for (i...) (pool + to)[i] = f((pool + 0)[i]);
      for (i...) pool[i] = pool[to + i];    ->     for (i...) (pool + 0)[i] = (pool + to)[i];
    }                                            }

So it is with planes of an array, ``u[to][i][j]`` as ``(u + to)[0][i][j]``. Where such a grid begins is a
variable (or a member) that the steps use for nothing else. Whether the grids are apart is compared before the
region runs, as of all pointers: the original steps run where they are not.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from pycparser import c_ast

from polybuild.c.conversions import promoted_integer
from polybuild.c.symbols import Symbol
from polybuild.c.syntax_tree import changed_operand, duplicate, key, mapped, names_in, names_set_in, walk
from polybuild.c.synthetic import Displaced, EntryValue, LastValue, number
from polybuild.c.types import IntegerType, Type
from polybuild.c.typing import type_of, with_declared
from polybuild.source.model import Region
from polybuild.values import dataclass

_BASES = (c_ast.ID, c_ast.StructRef)


@dataclass(frozen=True, slots=True)
class _GridPlace:
    """A first subscript of an array: what is added to it that no step changes, and the rest."""

    starts: tuple[c_ast.Node, ...]
    rest: tuple[tuple[str, c_ast.Node], ...]

    @property
    def grid(self) -> frozenset[object]:
        """Equal for places in one grid."""
        return frozenset(key(each) for each in self.starts)


def with_displaced_grids(region: Region) -> Region:
    """``region``, in normal form, with pointers to the grids of steps; itself if it has none."""
    loops = [each for one in region.statements for each in walk(one) if isinstance(each, c_ast.For)]
    inner = {id(each) for loop in loops for each in walk(loop.stmt)}
    found: set[object] = set()
    for loop in loops:
        if id(loop) not in inner:
            found.update(_bases(loop, region))
    if not found:
        return region
    changing = _changing(region.statements)

    def visit(node: c_ast.Node) -> c_ast.Node:
        if _is_first(node) and key(node.name) in found:
            place = _place(node.subscript, changing)
            start = _sum([("+", each) for each in place.starts])
            pointer = Displaced("+", duplicate(node.name), start, node.coord)
            return c_ast.ArrayRef(pointer, visit(_sum(place.rest)), node.coord)
        return mapped(node, visit)

    return dataclasses.replace(region, statements=tuple(map(visit, region.statements)))


def _bases(loop: c_ast.For, region: Region) -> Iterator[object]:
    """The keys of the arrays that have grids at unknown places, between which ``loop`` makes steps."""
    changing = _changing(region.statements)
    counters = names_set_in(list(walk(loop.init))) if loop.init is not None else frozenset[str]()
    declared = [each for one in region.statements for each in walk(one) if isinstance(each, c_ast.Decl)]
    kinds = with_declared(region.visible.symbols, declared, region.visible)
    elements: dict[object, list[c_ast.ArrayRef]] = {}
    mentions: Counter[object] = Counter()
    for node in _computing(region.statements):
        mentions[key(node)] += isinstance(node, (*_BASES, c_ast.ArrayRef))
        if _is_first(node):
            elements.setdefault(key(node.name), []).append(node)
    places = {base: [_place(each.subscript, changing) for each in found] for base, found in elements.items()}
    starts = Counter(key(start) for each in places.values() for place in each for start in place.starts)
    written = {id(_first(each)) for each in map(changed_operand, walk(loop)) if each is not None}
    for base, found in elements.items():
        own = {id(each) for each in walk(loop)}
        grids = {each.grid for each in places[base]}
        steps = {each.grid for node, each in zip(found, places[base], strict=True) if id(node) in written}
        names = {name for each in found for name in names_in(each.subscript)}
        if (
            len(steps) > 1
            and mentions[base] == len(found)
            and not counters & names
            and all(id(each) in own for each in found)
            and all(mentions[start] == starts[start] for grid in grids for start in grid)
            and all(_never_wraps(each.subscript, kinds, region) for each in found)
        ):
            yield base


def _computing(statements: Sequence[c_ast.Node]) -> Iterator[c_ast.Node]:
    """All that ``statements`` mention but what variables hold after the region."""
    pending = list(statements)
    while pending:
        node = pending.pop()
        if not isinstance(node, LastValue):
            yield node
            pending += list(node)


def _changing(statements: Sequence[c_ast.Node]) -> frozenset[str]:
    """The names of what ``statements`` declare, or set themselves or members of."""
    nodes = [each for one in statements for each in walk(one)]
    members = [each for each in map(changed_operand, nodes) if isinstance(each, c_ast.StructRef)]
    roots = {name for each in members for name in names_in(each)}
    return names_set_in(nodes) | roots


def _first(element: c_ast.Node) -> c_ast.Node:
    """The part of ``element`` with the first subscript; what is no element, itself."""
    while isinstance(element, c_ast.ArrayRef) and not _is_first(element):
        element = element.name
    return element


def _is_first(node: c_ast.Node) -> bool:
    """Whether ``node`` has the first subscript of an array."""
    return isinstance(node, c_ast.ArrayRef) and isinstance(node.name, _BASES)


def _place(subscript: c_ast.Node, changing: frozenset[str]) -> _GridPlace:
    starts: list[c_ast.Node] = []
    rest: list[tuple[str, c_ast.Node]] = []
    for sign, term in _terms(subscript, "+"):
        known = isinstance(term, EntryValue) or (
            isinstance(term, _BASES) and changing.isdisjoint(names_in(term))
        )
        if known and sign == "+":
            starts.append(term)
        else:
            rest.append((sign, term))
    return _GridPlace(tuple(starts), tuple(rest))


def _terms(node: c_ast.Node, sign: str) -> Iterator[tuple[str, c_ast.Node]]:
    """What ``node`` adds up, with signs."""
    if isinstance(node, c_ast.BinaryOp) and node.op in {"+", "-"}:
        yield from _terms(node.left, sign)
        yield from _terms(node.right, sign if node.op == "+" else "-+"[sign == "-"])
    else:
        yield sign, node


def _never_wraps(subscript: c_ast.Node, kinds: Mapping[str, Type | Symbol], region: Region) -> bool:
    """Whether what ``subscript`` adds up is signed, or wraps around as addresses do."""
    if isinstance(subscript, c_ast.BinaryOp) and subscript.op in {"+", "-"}:
        sides = (subscript.left, subscript.right)
        if not all(_never_wraps(each, kinds, region) for each in sides):
            return False
    kind = type_of(subscript, kinds, region.visible)
    if not isinstance(kind, IntegerType):
        return False
    kind = promoted_integer(kind)
    return kind.signed or kind.width >= 8 * region.visible.scope.data_model.pointer_size


def _sum(terms: Sequence[tuple[str, c_ast.Node]]) -> c_ast.Node:
    """The sum of ``terms`` with their signs."""
    if not terms:
        return number(0)
    (sign, first), *others = terms
    total = duplicate(first) if sign == "+" else c_ast.UnaryOp("-", duplicate(first), first.coord)
    for op, each in others:
        total = c_ast.BinaryOp(op, total, duplicate(each), total.coord)
    return total
