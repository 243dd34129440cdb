"""Pointers into one array at places that data choose: an offset, and subscripts of that array.

::

    const float *row = image + lines[y] * width;      long long row_at = lines[y] * width;
    to[x] = row[x] + row[x + 1];                ->    to[x] = image[row_at + x] + image[row_at + x + 1];

Offsets that are sums of counters are followed by ``normalise`` itself, which knows more of them: this is for
regions that it leaves outside of the model.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Mapping

from pycparser import c_ast

from polybuild.c.basic_types import LONG_LONG
from polybuild.c.symbols import StorageClass
from polybuild.c.syntax_tree import duplicate, mapped, walk
from polybuild.c.synthetic import declarator, number
from polybuild.c.types import ArrayType, FloatingType, IntegerType, PointerType
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
    found: dict[Variable, _Offset] = {}
    outliving = read_after(region.function, region.index) | read_before_written(region.statements, {})
    taken = region.visible.may_mean_something() | {each.name for each in names.variables.values()}
    for variable in dict.fromkeys(names.variables.values()):
        own = variable.local or variable.name not in outliving
        base = _base(variable, names, around) if own else None
        if base is not None:
            name = next(each for each in _names_like(variable.name) if each not in taken)
            taken |= {name}
            found[variable] = _Offset(name, base)
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
            case c_ast.UnaryOp(op="*") if (place := _place(node.expr)) is not None:
                if (offset := self._offset(place[0])) is not None:
                    return self._element(offset, place[1], node)
        return mapped(node, self.visit)

    def _offset(self, node: c_ast.Node) -> _Offset | None:
        variable = self.names.variables.get(node)
        return None if variable is None else self.found.get(variable)

    def _value(self, pointer: c_ast.Node) -> c_ast.Node:
        place = _place(pointer)
        assert place is not None  # noqa: S101 - pointers with other values are not found
        return self.visit(place[1])

    def _element(self, offset: _Offset, subscript: c_ast.Node, node: c_ast.Node) -> c_ast.Node:
        place = c_ast.BinaryOp("+", c_ast.ID(offset.name, node.coord), self.visit(subscript), node.coord)
        return c_ast.ArrayRef(duplicate(offset.base), place, node.coord)


def _declaration(name: str, value: c_ast.Node | None = None) -> c_ast.Decl:
    coord = None if value is None else value.coord
    return c_ast.Decl(name, [], [], [], [], declarator(name, LONG_LONG), value, None, coord)


def _names_like(name: str) -> Iterator[str]:
    yield f"{name}_at"
    yield from (f"{name}_at{number}" for number in itertools.count(1))


def _base(variable: Variable, names: Names, around: Mapping[int, c_ast.Node]) -> c_ast.ID | None:
    """The one array that ``variable`` points into wherever it is used, None if it may be another."""
    kind = variable.type
    hidden = variable.address_taken or variable.volatile or variable.storage is not StorageClass.LOCAL
    if hidden or not isinstance(kind, PointerType) or kind.volatile:
        return None
    if not isinstance(kind.target, IntegerType | FloatingType):
        return None
    bases: list[c_ast.ID] = []
    for node in (each for each, found in names.variables.items() if found is variable):
        value = node.init if isinstance(node, c_ast.Decl) else _assigned(node, around)
        if value is not None:
            place = _place(value)
            if place is None:
                return None
            bases.append(place[0])
        elif not isinstance(node, c_ast.Decl) and not _is_use(node, around):
            return None
    owners = {names.variables.get(each) for each in bases}
    owner = owners.pop() if len(owners) == 1 else None
    return bases[0] if owner is not None and _is_flat(owner, kind, names) else None


def _is_flat(owner: Variable, kind: PointerType, names: Names) -> bool:
    """Whether ``owner`` is an array, or a pointer that stays the same, of what ``kind`` points to.

    Its name means nothing else anywhere in the region.
    """
    namesakes = {each for each in names.variables.values() if each.name == owner.name}
    if owner in names.written or owner.volatile or len(namesakes) > 1:
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
    return parent.rvalue if isinstance(around.get(id(parent)), c_ast.Compound | None) else None


def _is_use(node: c_ast.Node, around: Mapping[int, c_ast.Node]) -> bool:
    """Whether the pointer ``node`` is followed where it stands: ``p[i]``, ``*p`` or ``*(p + i)``."""
    parent = around.get(id(node))
    if isinstance(parent, c_ast.ArrayRef):
        return parent.name is node
    while isinstance(parent, c_ast.BinaryOp) and parent.op in {"+", "-"} and parent.left is node:
        node, parent = parent, around.get(id(parent))
    return isinstance(parent, c_ast.UnaryOp) and parent.op == "*"


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
            return base, value.right if from_start else c_ast.BinaryOp(value.op, offset, value.right)
    return None
