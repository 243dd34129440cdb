"""Pointers into one array at places that data choose: an offset, and subscripts of that array.

::

    const float *row = image + lines[y] * width;      long long row_at = lines[y] * width;
    to[x] = row[x] + row[x + 1];                ->    to[x] = image[row_at + x] + image[row_at + x + 1];

Most of them are followed by ``normalise`` itself, which gives names to where they start: this is for those
that are set under conditions, or from each other in turns, in regions that it leaves outside of the model.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Mapping

from pycparser import c_ast

from polybuild.c.basic_types import LONG_LONG
from polybuild.c.symbols import StorageClass
from polybuild.c.syntax_tree import changed_operand, duplicate, mapped, walk
from polybuild.c.synthetic import declarator, number, type_name
from polybuild.c.types import ArrayType, FloatingType, IntegerType, PointerType, RecordType, Type
from polybuild.diagnostics import Unsupported
from polybuild.normalise.names import Names, Variable, resolve
from polybuild.normalise.upward_exposed import read_after, read_before_written
from polybuild.source.model import Region
from polybuild.values import dataclass


def with_pointer_offsets(region: Region) -> Region:
    """``region`` with offsets in place of pointers that point into one array each; itself without any."""
    try:
        names = resolve(region)
    except Unsupported:
        return region  # the model says what is wrong
    around = {id(child): each for one in region.statements for each in walk(one) for child in each}
    outliving = read_after(region.function, region.index) | read_before_written(region.statements, {})
    bases: dict[Variable, frozenset[Variable]] = {}
    for variable in dict.fromkeys(names.variables.values()):
        own = variable.local or variable.name not in outliving
        owners = _bases(variable, names, around) if own else None
        if owners:
            bases[variable] = owners
    taken = region.visible.may_mean_something() | {each.name for each in names.variables.values()}
    found: dict[Variable, _Offset] = {}
    for variable in bases:
        base = _array(variable, bases, names)
        if base is not None:
            name = next(each for each in _names_like(variable.name) if each not in taken)
            taken |= {name}
            found[variable] = _Offset(name, c_ast.ID(base.name))
    if not found:
        return region
    rewriting = _Rewriting(names, found)
    declared = [_declaration(found[each].name) for each in found if not each.local]
    return dataclasses.replace(region, statements=(*declared, *map(rewriting.visit, region.statements)))


@dataclass(frozen=True, slots=True)
class _Offset:
    """What stands for a pointer: a variable of that ``name``, in elements from ``base``."""

    name: str
    base: c_ast.ID


@dataclass(frozen=True, slots=True)
class _Rewriting:
    """Writes the offsets ``found`` instead of pointers."""

    names: Names
    found: Mapping[Variable, _Offset]

    def visit(self, node: c_ast.Node) -> c_ast.Node:
        """``node`` without the pointers."""
        if isinstance(node, c_ast.Decl) and (offset := self._offset(node)) is not None:
            return _declaration(offset.name, None if node.init is None else self._value(node.init))
        match node:
            case c_ast.Assignment(lvalue=c_ast.ID()) if (offset := self._offset(node.lvalue)) is not None:
                return c_ast.Assignment("=", c_ast.ID(offset.name), self._value(node.rvalue), node.coord)
            case c_ast.ArrayRef(name=c_ast.ID()) if (offset := self._offset(node.name)) is not None:
                return self._element(offset, node.subscript, node)
            case c_ast.UnaryOp(op="*", expr=pointer) | c_ast.StructRef(type="->", name=pointer) if (
                place := _place(pointer)
            ) is not None and (offset := self._offset(place[0])) is not None:
                element = self._element(offset, place[1], node)
                member = isinstance(node, c_ast.StructRef)
                return c_ast.StructRef(element, ".", node.field, node.coord) if member else element
            case c_ast.ID() if (offset := self._offset(node)) is not None:
                return c_ast.BinaryOp(
                    "+", duplicate(offset.base), c_ast.ID(offset.name, node.coord), node.coord
                )
        return mapped(node, self.visit)

    def _offset(self, node: c_ast.Node) -> _Offset | None:
        variable = self.names.variables.get(node)
        return None if variable is None else self.found.get(variable)

    def _value(self, pointer: c_ast.Node) -> c_ast.Node:
        place = _place(pointer)
        assert place is not None  # noqa: S101 - pointers with other values are not found
        base, value = self._offset(place[0]), self.visit(place[1])
        return value if base is None else c_ast.BinaryOp("+", c_ast.ID(base.name, value.coord), value)

    def _element(self, offset: _Offset, subscript: c_ast.Node, node: c_ast.Node) -> c_ast.Node:
        place = c_ast.BinaryOp("+", c_ast.ID(offset.name, node.coord), self.visit(subscript), node.coord)
        return c_ast.ArrayRef(duplicate(offset.base), place, node.coord)


def _declaration(name: str, value: c_ast.Node | None = None) -> c_ast.Decl:
    coord = None if value is None else value.coord
    return c_ast.Decl(name, [], [], [], [], declarator(name, LONG_LONG), value, None, coord)


def _names_like(name: str) -> Iterator[str]:
    yield f"{name}_at"
    yield from (f"{name}_at{number}" for number in itertools.count(1))


def _bases(variable: Variable, names: Names, around: Mapping[int, c_ast.Node]) -> frozenset[Variable] | None:
    """The arrays and pointers that ``variable``, a pointer, is set from; None if it may be used otherwise."""
    kind = variable.type
    hidden = variable.address_taken or variable.volatile or variable.storage is not StorageClass.LOCAL
    if hidden or not isinstance(kind, PointerType) or kind.volatile:
        return None
    if not isinstance(kind.target, IntegerType | FloatingType | RecordType):
        return None
    owners: set[Variable] = set()
    for node in (each for each, found in names.variables.items() if found is variable):
        value = node.init if isinstance(node, c_ast.Decl) else _assigned(node, around)
        if value is not None:
            place = _place(value)
            owner = None if place is None else names.variables.get(place[0])
            if owner is None:
                return None
            owners.add(owner)
        elif not isinstance(node, c_ast.Decl) and _is_changed(node, around):
            return None
    return frozenset(owners)


def _array(
    variable: Variable, bases: Mapping[Variable, frozenset[Variable]], names: Names
) -> Variable | None:
    """The one array that ``variable`` points into, whatever pointers it is set from; None for more."""
    arrays: set[Variable] = set()
    pending, seen = [variable], {variable}
    while pending:
        pointer = pending.pop()
        for each in bases[pointer] - seen:
            if each in bases and each.type == variable.type:
                seen.add(each)
                pending.append(each)
            elif _is_flat(each, variable.type, names):
                arrays.add(each)
            else:
                return None
    return arrays.pop() if len(arrays) == 1 else None


def _is_flat(owner: Variable, kind: Type, names: Names) -> bool:
    """Whether ``owner`` is an array, or a pointer that stays the same, of what ``kind`` points to.

    Its name means nothing else anywhere in the region.
    """
    namesakes = {each for each in names.variables.values() if each.name == owner.name}
    if owner in names.written or owner.volatile or len(namesakes) > 1 or not isinstance(kind, PointerType):
        return False
    match owner.type:
        case ArrayType(element=element) | PointerType(target=element):
            return bool(element == kind.target)
    return False


def _assigned(node: c_ast.Node, around: Mapping[int, c_ast.Node]) -> c_ast.Node | None:
    """What the name ``node`` is set to, in a statement of its own."""
    parent = around.get(id(node))
    if not isinstance(parent, c_ast.Assignment) or parent.lvalue is not node or parent.op != "=":
        return None
    outer = around.get(id(parent))
    body = outer is None or isinstance(outer, c_ast.Compound)
    body = body or any(getattr(outer, name, None) is parent for name in ("iftrue", "iffalse", "stmt"))
    return parent.rvalue if body else None


def _is_changed(node: c_ast.Node, around: Mapping[int, c_ast.Node]) -> bool:
    """Whether the pointer ``node`` is changed where it stands, or its address taken."""
    parent = around.get(id(node))
    if parent is None:
        return False
    return changed_operand(parent) is node or (isinstance(parent, c_ast.UnaryOp) and parent.op == "&")


def _place(value: c_ast.Node) -> tuple[c_ast.ID, c_ast.Node] | None:
    """The array and the offset of ``a``, ``a + i``, ``a - i`` or ``&a[i]``."""
    match value:
        case c_ast.ID():
            return value, number(0)
        case c_ast.UnaryOp(op="&", expr=c_ast.ArrayRef(name=c_ast.ID())):
            return value.expr.name, value.expr.subscript
        case c_ast.BinaryOp(op="+" | "-"):
            place = _place(value.left)
            if place is None:
                return None
            base, offset = place
            from_start = value.op == "+" and isinstance(offset, c_ast.Constant) and offset.value == "0"
            # each part counts elements for itself: an unsigned one would make all of a sum unsigned
            parts = (c_ast.Cast(type_name(LONG_LONG), each, value.coord) for each in (offset, value.right))
            return base, value.right if from_start else c_ast.BinaryOp(value.op, *parts, value.coord)
    return None
