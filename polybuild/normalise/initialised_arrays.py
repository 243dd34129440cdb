"""Arrays that a region declares with their elements, as arrays that are assigned element by element.

::

    double w[3] = {1, s};              ->       double w[3]; w[0] = 1; w[1] = s; w[2] = 0;
    double J[2][2] = {{a}, {b, c}};    ->       double J[2][2]; J[0][0] = a; J[0][1] = 0; ...
    double f[24] = {0};                ->       double f[24]; for (long long k = 0; k < 24; k++) f[k] = 0;

Many zeros are a loop, unless the region names elements of the array by numbers alone: such an array may
become variables.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce

from pycparser import c_ast

from polybuild.c import types
from polybuild.c.declarations import evaluate
from polybuild.c.syntax_tree import duplicate, has_side_effect, mapped, walk
from polybuild.c.synthetic import counted, number
from polybuild.effort import INITIALISED_ELEMENTS, ZEROED_ELEMENTS
from polybuild.source.model import Callee, Region
from polybuild.values import dataclass

_Place = tuple[int, ...]
"""The subscripts of an element."""


@dataclass(frozen=True, slots=True)
class _Initial:
    """The extents of an array, and the values of the elements that are given; the others are zero."""

    extents: _Place
    given: Mapping[_Place, c_ast.Node]

    def zeros_from(self) -> int | None:
        """The place in memory from which on elements are zero; None if these are few, or cut rows."""
        given = [each for each, value in self.given.items() if not _is_zero(value)]
        first = 1 + max(map(self._position, given), default=-1)
        if math.prod(self.extents) - first <= ZEROED_ELEMENTS or (first and len(self.extents) > 1):
            return None
        return first

    def _position(self, place: _Place) -> int:
        return reduce(lambda whole, part: whole * part[0] + part[1], zip(self.extents, place, strict=True), 0)


def assign_initial_elements(region: Region) -> Region:
    """``region`` without initialisers of arrays of numbers, and its functions; itself if it has none."""
    callees = {name: _inside_of(each) for name, each in region.callees.items()}
    if any(each is not region.callees[name] for name, each in callees.items()):
        region = dataclasses.replace(region, callees=callees)
    if not any(_is_initialised(each) for statement in region.statements for each in walk(statement)):
        return region
    return dataclasses.replace(region, statements=tuple(_statements(region.statements, region)))


def _inside_of(callee: Callee) -> Callee:
    body = None if callee.body is None else assign_initial_elements(callee.body)
    return callee if body is callee.body else dataclasses.replace(callee, body=body)


def _is_initialised(node: c_ast.Node) -> bool:
    return isinstance(node, c_ast.Decl) and isinstance(node.init, c_ast.InitList)


def _statements(nodes: Sequence[c_ast.Node], region: Region) -> Iterator[c_ast.Node]:
    for node in nodes:
        initial = _initial(node, region) if _is_initialised(node) else None
        if initial is None:
            yield _inside(node, region)
            continue
        first = initial.zeros_from() if _is_walked(node.name, region) else None
        if first is None and math.prod(initial.extents) > INITIALISED_ELEMENTS:
            yield node
            continue
        yield _declared(node, initial.extents)
        places = itertools.product(*map(range, initial.extents))
        for place in itertools.islice(places, first):
            value = initial.given.get(place)
            yield _set(node, list(map(number, place)), number(0) if value is None else value)
        if first is not None:
            yield _zeros(node, initial.extents, first, region)


def _inside(node: c_ast.Node, region: Region) -> c_ast.Node:
    if not any(map(_is_initialised, walk(node))):
        return node
    if isinstance(node, c_ast.Compound):
        return c_ast.Compound(list(_statements(node.block_items or (), region)), node.coord)
    return mapped(node, lambda each: _inside(each, region))


def _declared(node: c_ast.Decl, extents: _Place) -> c_ast.Decl:
    """The declaration ``node`` of an array that is going to be assigned."""
    declared = duplicate(node)
    declared.init, declared.quals = None, []
    inner = declared.type
    for extent in extents:
        inner.dim, inner = number(extent), inner.type
    inner.quals = []
    return declared


def _set(node: c_ast.Decl, subscripts: Sequence[c_ast.Node], value: c_ast.Node) -> c_ast.Node:
    element = c_ast.ID(node.name, node.coord)
    for each in subscripts:
        element = c_ast.ArrayRef(element, each, node.coord)
    return c_ast.Assignment("=", element, value, node.coord)


def _zeros(node: c_ast.Decl, extents: _Place, first: int, region: Region) -> c_ast.Node:
    """Loops that set all elements of ``node`` to zero, those of a row from the ``first`` one on."""
    taken = region.visible.may_mean_something() | {
        name
        for statement in region.statements
        for each in walk(statement)
        for name in [getattr(each, "name", None)]
        if isinstance(name, str)
    }
    free = (each for each in (f"zero_{count}" for count in itertools.count()) if each not in taken)
    names = list(itertools.islice(free, len(extents)))
    body = _set(node, [c_ast.ID(each, node.coord) for each in names], number(0))
    for name, extent in reversed(list(zip(names, extents, strict=True))):
        body = counted(name, number(extent), body, first=number(first))
    return body


def _is_walked(name: str, region: Region) -> bool:
    """Whether some subscript of what is called ``name`` is no number."""
    whole = [part for statement in region.statements for part in walk(statement)]
    return any(
        evaluate(each, region.visible.scope) is None
        for node in whole
        for of, subscripts in [_element(node)]
        if isinstance(of, c_ast.ID) and of.name == name
        for each in subscripts
    )


def _element(node: c_ast.Node) -> tuple[c_ast.Node, list[c_ast.Node]]:
    """What ``node`` is an element of, and by what subscripts."""
    subscripts = []
    while isinstance(node, c_ast.ArrayRef):
        subscripts.append(node.subscript)
        node = node.name
    return node, subscripts


def _initial(node: c_ast.Decl, region: Region) -> _Initial | None:
    """What the array starts with; None if it is not one of numbers that are given in a plain way."""
    extents, shape = [], node.type
    while isinstance(shape, c_ast.ArrayDecl):
        extents.append(shape.dim)
        shape = shape.type
    if not extents or not isinstance(shape, c_ast.TypeDecl) or node.storage:
        return None
    kind = region.visible.scope.resolve(shape)
    if "volatile" in (*node.quals, *shape.quals):
        return None
    if not isinstance(kind, types.IntegerType | types.FloatingType):
        return None
    known = [None if each is None else evaluate(each, region.visible.scope) for each in extents]
    if extents[0] is None and len(extents) == 1:
        known[0] = len(node.init.exprs)
    sizes = tuple(each for each in known if each)
    if len(sizes) < len(extents):
        return None
    given = _given(node.init, sizes, region)
    if given is None or any(map(has_side_effect, given.values())):
        return None
    return _Initial(sizes, given)


def _given(node: c_ast.Node, extents: _Place, region: Region) -> dict[_Place, c_ast.Node] | None:
    """The elements that ``node`` gives of an array of ``extents``; None if it is no plain list of them."""
    if not extents:
        return None if isinstance(node, c_ast.InitList) or _is_string(node) else {(): node}
    if not isinstance(node, c_ast.InitList):
        return None
    items = node.exprs or []
    rows = any(isinstance(each, c_ast.InitList | c_ast.NamedInitializer) for each in items)
    if not rows and len(extents) > 1:  # braces of rows may be left out
        places = list(itertools.product(*map(range, extents)))
        flat = _given(node, (len(places),), region)
        return None if flat is None else {places[position]: value for (position,), value in flat.items()}
    found: dict[_Place, c_ast.Node] = {}
    position = 0
    for each in items:
        value = each
        if isinstance(each, c_ast.NamedInitializer):
            at = _designated(each, region)
            if at is None:
                return None
            position, value = at, each.expr
        inner = _given(value, extents[1:], region) if 0 <= position < extents[0] else None
        if inner is None or any((position, *below) in found for below in inner):
            return None
        found |= {(position, *below): value for below, value in inner.items()}
        position += 1
    return found


def _designated(node: c_ast.NamedInitializer, region: Region) -> int | None:
    """The subscript that ``node`` names; None if these are several."""
    first, *others = node.name
    if others or not isinstance(first, c_ast.ArrayDesignator):
        return None
    return evaluate(first.expr, region.visible.scope)


def _is_string(node: c_ast.Node) -> bool:
    return isinstance(node, c_ast.Constant) and node.type == "string"


def _is_zero(node: c_ast.Node) -> bool:
    if not isinstance(node, c_ast.Constant) or _is_string(node):
        return False
    return set(node.value.rstrip("fFlL")) <= {"0", "."}
