"""Expressions with followed variables replaced by their values, and what evaluating them changes.

    a[k] = *p++;      with k = i + 1 and p = b + 2*i
    a[i + 1] = b[2*i];                p is b + 2*i + 1 from here on

Pointer arithmetic becomes subscripts on the way, also where nothing is followed:
``*(a + i)`` is ``a[i]``, ``(&A[i][0])[j]`` is ``A[i][j]``.
"""

from __future__ import annotations

from pycparser import c_ast

from polybuild.c import types
from polybuild.c.basic_types import LONG_LONG
from polybuild.c.conversions import decayed
from polybuild.c.syntax_tree import COMPARISONS, duplicate, has_side_effect, key, mapped, node_count
from polybuild.c.synthetic import PointerDifference, PointerTest, number, type_name
from polybuild.effort import VALUE_NODES
from polybuild.normalise.data_choices import with_chosen_elements
from polybuild.normalise.names import Variable
from polybuild.normalise.rows import in_rows, subscript_of
from polybuild.normalise.state import NotFollowable, PointerValue, SymbolicState, SymbolicValue
from polybuild.normalise.sums import Sum, sum_of, tree_of, wide_tree

_STEPS = {"++": 1, "p++": 1, "--": -1, "p--": -1}


class Evaluator:
    """Rewrites one full expression at a time, in a state that it updates."""

    def __init__(self, state: SymbolicState) -> None:
        self.state = state
        self._read: set[Variable] = set()
        self._changed: dict[Variable, SymbolicValue] = {}
        self._conditional = 0

    def evaluate(self, node: c_ast.Node) -> c_ast.Node:
        """``node``, a full expression, rewritten; its side effects on followed variables are in the state."""
        new = self.rewrite(node)
        self._commit()
        return with_chosen_elements(new, self.state)

    def assign(self, variable: Variable, op: str, value: c_ast.Node) -> None:
        """The full expression ``variable op= value`` (``op`` is ``""`` for ``=``)."""
        new = self._assigned(variable, op, value)
        self._commit()
        self.state.values[variable] = new

    def step(self, node: c_ast.UnaryOp, variable: Variable) -> None:
        """The full expression ``variable++`` or one of its like."""
        self._step(node, variable)
        self._commit()

    def _commit(self) -> None:
        self.state.values.update(self._changed)
        self._changed.clear()
        self._read.clear()

    # Values

    def _assigned(self, variable: Variable, op: str, value: c_ast.Node) -> SymbolicValue:
        if isinstance(variable.type, types.PointerType):
            return self._assigned_pointer(variable, op, value)
        assert isinstance(variable.type, types.IntegerType)  # noqa: S101 - only these are followed
        tree = self.rewrite(value)
        if op:
            tree = c_ast.BinaryOp(op, self._value(variable, value), tree)
        return self._stored(variable, tree)

    def _stored(self, variable: Variable, tree: c_ast.Node) -> c_ast.Node:
        """What ``variable``, an integer, holds once ``tree`` was assigned to it."""
        kind, found = variable.type, self.state.typing(tree)
        if not isinstance(kind, types.IntegerType) or not isinstance(found, types.IntegerType):
            raise NotFollowable(variable)
        if not self.state.is_fixed(tree) or node_count(tree) > VALUE_NODES:
            raise NotFollowable(variable)
        return tree if found == kind else c_ast.Cast(type_name(kind), tree, tree.coord)

    def _assigned_pointer(self, variable: Variable, op: str, value: c_ast.Node) -> PointerValue:
        if op in {"+", "-"}:
            old, amount = self._address_of(variable, value), self.rewrite(value)
            return self._moved(variable, old, self._offset(amount, variable), 1 if op == "+" else -1)
        address = None if op else self.address(value)
        if address is None:
            raise NotFollowable(variable)
        return self._checked(variable, address)

    def _checked(self, variable: Variable, address: PointerValue) -> PointerValue:
        fits = points_alike(variable.type, decayed(self.state.typing(address.base)))
        fixed = all(self.state.is_fixed(term.node) for term in address.offset.terms.values())
        if not fits or not fixed or not self.state.is_fixed_base(address.base):
            raise NotFollowable(variable)
        return address

    def _moved(self, variable: Variable, old: PointerValue, by: Sum, factor: int = 1) -> PointerValue:
        return self._checked(variable, PointerValue(old.base, old.offset.plus(by, factor)))

    def _offset(self, tree: c_ast.Node, variable: Variable | None) -> Sum:
        if not isinstance(self.state.typing(tree), types.IntegerType):
            if variable is not None:
                raise NotFollowable(variable)
            raise _NoAddress
        return sum_of(tree, LONG_LONG, self.state.typing)

    def _value(self, variable: Variable, use: c_ast.Node) -> c_ast.Node:
        """The value of an integer that is read at ``use``."""
        value = self._current(variable)
        if isinstance(value, PointerValue):
            raise NotFollowable(variable)
        return duplicate(value, use.coord)

    def _address_of(self, variable: Variable, use: c_ast.Node) -> PointerValue:
        value = self._current(variable)
        if not isinstance(value, PointerValue):
            raise NotFollowable(variable)
        return PointerValue(duplicate(value.base, use.coord), value.offset)

    def _current(self, variable: Variable) -> c_ast.Node | PointerValue:
        value = self.state.values[variable]
        if variable in self._changed or value is None:
            raise NotFollowable(variable)
        self._read.add(variable)
        return value

    def _step(self, node: c_ast.UnaryOp, variable: Variable) -> SymbolicValue:
        """The value of ``v++`` and its like; the change is remembered."""
        if variable in self._read or self._conditional:
            raise NotFollowable(variable)
        by = _STEPS[node.op]
        old: SymbolicValue
        new: SymbolicValue
        if isinstance(variable.type, types.PointerType):
            old = self._address_of(variable, node)
            new = self._moved(variable, old, Sum(by))
        else:
            old = self._value(variable, node)
            assert isinstance(variable.type, types.IntegerType)  # noqa: S101 - only these are followed
            total = sum_of(old, variable.type, self.state.typing).plus(Sum(by))
            new = self._stored(variable, tree_of(total, variable.type, self.state.typing))
        self._changed[variable] = new
        return old if node.op.startswith("p") else new

    # Rewriting

    def rewrite(self, node: c_ast.Node) -> c_ast.Node:
        """``node`` as part of a full expression."""
        match node:
            case c_ast.ID():
                variable = self.state.context.variable(node)
                return node if variable is None else self._value(variable, node)
            case c_ast.UnaryOp():
                return self._unary(node)
            case PointerTest():
                return node  # of pointers that stay what they are
            case c_ast.BinaryOp():
                return self._binary(node)
            case c_ast.ArrayRef():
                return self._subscripted(node)
            case c_ast.StructRef():
                return self._member(node)
            case c_ast.TernaryOp():
                cond = self.rewrite(node.cond)
                self._commit()
                return c_ast.TernaryOp(
                    cond, self._perhaps(node.iftrue), self._perhaps(node.iffalse), node.coord
                )
            case c_ast.Assignment():
                variable = self.state.context.variable(node.lvalue)
                if variable is not None:
                    raise NotFollowable(variable)
                return mapped(node, self.rewrite)
            case c_ast.ExprList():
                return self._list(node)
            case c_ast.FuncCall():
                arguments = None if node.args is None else mapped(node.args, self.rewrite)
                return c_ast.FuncCall(node.name, arguments, node.coord)
        return mapped(node, self.rewrite)

    def _perhaps(self, node: c_ast.Node) -> c_ast.Node:
        self._conditional += 1
        new = self.rewrite(node)
        self._conditional -= 1
        return new

    def _list(self, node: c_ast.ExprList) -> c_ast.Node:
        parts: list[c_ast.Node] = []
        for position, each in enumerate(node.exprs):
            parts.append(self.rewrite(each))
            if position < len(node.exprs) - 1:
                self._commit()
        useful = [each for each in parts[:-1] if not self.state.is_fixed(each)]
        return c_ast.ExprList([*useful, parts[-1]], node.coord) if useful else parts[-1]

    def _unary(self, node: c_ast.UnaryOp) -> c_ast.Node:
        variable = self.state.context.variable(node.expr)
        if node.op in _STEPS and variable is not None:
            value = self._step(node, variable)
            if isinstance(value, PointerValue) or value is None:
                raise NotFollowable(variable)
            return value
        if node.op == "*":
            address = self.address(node.expr)
            return mapped(node, self.rewrite) if address is None else self._element(address, node)
        if node.op in {"sizeof", "_Alignof"}:
            for each in self._followed_in(node):
                raise NotFollowable(each)
            return node
        return mapped(node, self.rewrite)

    def _followed_in(self, node: c_ast.Node) -> list[Variable]:
        variable = self.state.context.variable(node)
        inner = [each for child in node for each in self._followed_in(child)]
        return inner if variable is None else [variable, *inner]

    def _element(self, address: PointerValue, node: c_ast.Node) -> c_ast.Node:
        """The object at ``address``."""
        base, offset = in_rows(address.base, address.offset, self.state.typing)
        return c_ast.ArrayRef(base, self._subscript(offset), node.coord)

    def _subscript(self, offset: Sum) -> c_ast.Node:
        return subscript_of(offset, self.state.typing)

    def _subscripted(self, node: c_ast.ArrayRef) -> c_ast.Node:
        if not isinstance(decayed(self.state.typing(node.name)), types.PointerType):
            return mapped(node, self.rewrite)  # i[a]
        if isinstance(node.name, c_ast.ID) and self.state.context.variable(node.name) is None:
            return c_ast.ArrayRef(node.name, self.rewrite(node.subscript), node.coord)
        address = self.address(node.name)
        if address is None:
            return mapped(node, self.rewrite)
        subscript = self.rewrite(node.subscript)
        if address.offset.number == 0:
            return c_ast.ArrayRef(address.base, subscript, node.coord)
        if not isinstance(self.state.typing(subscript), types.IntegerType):
            for each in self._followed_in(node.name):
                raise NotFollowable(each)
            return mapped(node, self.rewrite)
        total = address.offset.plus(sum_of(subscript, LONG_LONG, self.state.typing))
        return self._element(PointerValue(address.base, total), node)

    def _member(self, node: c_ast.StructRef) -> c_ast.Node:
        if node.type == ".":
            return c_ast.StructRef(self.rewrite(node.name), ".", node.field, node.coord)
        if isinstance(node.name, c_ast.ID) and self.state.context.variable(node.name) is None:
            return node
        address = self.address(node.name)
        if address is None:
            return c_ast.StructRef(self.rewrite(node.name), "->", node.field, node.coord)
        if address.offset.number == 0 and isinstance(self.state.typing(address.base), types.PointerType):
            return c_ast.StructRef(address.base, "->", node.field, node.coord)
        return c_ast.StructRef(self._element(address, node), ".", node.field, node.coord)

    def _binary(self, node: c_ast.BinaryOp) -> c_ast.Node:
        if node.op in {"&&", "||"}:
            left = self.rewrite(node.left)
            self._commit()
            return c_ast.BinaryOp(node.op, left, self._perhaps(node.right), node.coord)
        if self._is_pointer(node.left) and self._is_pointer(node.right):
            left, right = self.address(node.left), self.address(node.right)
            if left is not None and right is not None:
                return self._of_addresses(node, left, right)
        return mapped(node, self.rewrite)

    def _of_addresses(self, node: c_ast.BinaryOp, left: PointerValue, right: PointerValue) -> c_ast.Node:
        """A comparison or a difference of two addresses."""
        difference = left.offset.plus(right.offset, -1)
        if key(left.base) != key(right.base):
            gap = PointerDifference("-", left.base, right.base, node.coord)
            difference = difference.plus(Sum(0, {}).plus(sum_of(gap, LONG_LONG, self.state.typing)))
        if node.op == "-":
            return self._subscript(difference)
        if node.op not in COMPARISONS:
            return mapped(node, self.rewrite)
        return c_ast.BinaryOp(node.op, self._subscript(difference), number(0), node.coord)

    def _is_pointer(self, node: c_ast.Node) -> bool:
        return isinstance(decayed(self.state.typing(node)), types.PointerType)

    # Addresses

    def address(self, node: c_ast.Node) -> PointerValue | None:
        """The value of the pointer expression ``node``; None, and nothing changed, if it has another form."""
        try:
            return self._address(node)
        except _NoAddress:
            return None

    def _address(self, node: c_ast.Node) -> PointerValue:
        variable = self.state.context.variable(node)
        if variable is not None:
            return self._address_of(variable, node)
        if not self._is_pointer(node):
            raise _NoAddress
        match node:
            case c_ast.ID():
                return PointerValue(node)
            case c_ast.ArrayRef() | c_ast.StructRef():
                return PointerValue(self.rewrite(node))
            case c_ast.UnaryOp(op="&", expr=c_ast.ArrayRef() as element):
                base = self._address(element.name)
                return PointerValue(
                    base.base, base.offset.plus(self._offset(self.rewrite(element.subscript), None))
                )
            case c_ast.UnaryOp(op="&", expr=c_ast.UnaryOp(op="*", expr=pointer)):
                return self._address(pointer)
            case c_ast.UnaryOp(op="*"):
                return PointerValue(self.rewrite(node))
            case c_ast.UnaryOp(op="++" | "--" | "p++" | "p--", expr=c_ast.ID() as target):
                stepped = self.state.context.variable(target)
                value = self._step(node, stepped) if stepped is not None else None
                if isinstance(value, PointerValue):
                    return value
            case c_ast.BinaryOp(op="+" | "-"):
                return self._sum_address(node)
            case c_ast.TernaryOp():
                return self._chosen_address(node)
            case c_ast.Cast(expr=inner):
                one, other = self.state.typing(node), decayed(self.state.typing(inner))
                if points_alike(one, other):
                    return self._address(inner)
        raise _NoAddress

    def _chosen_address(self, node: c_ast.TernaryOp) -> PointerValue:
        """One of two pointers, if nothing in the region changes which one, or both are into one array."""
        cond = self.rewrite(node.cond)
        addresses = [self._address(each) for each in (node.iftrue, node.iffalse)]
        fixed = self.state.is_fixed(cond)
        if fixed and all(each.offset.number == 0 for each in addresses):
            return PointerValue(c_ast.TernaryOp(cond, *(each.base for each in addresses), node.coord))
        row = None if has_side_effect(node) else _row_of(cond, *(each.base for each in addresses))
        if row is None or (fixed and row is addresses[0].base):
            raise _NoAddress
        return PointerValue(row, self._chosen_offset(cond, addresses))

    def _chosen_offset(self, cond: c_ast.Node, addresses: list[PointerValue]) -> Sum:
        """The offset of one of two ``addresses`` in one row, as data tell in ``cond``."""
        yes, no = (wide_tree(each.offset, LONG_LONG, self.state.typing) for each in addresses)
        if key(yes) == key(no):
            return addresses[0].offset
        return sum_of(c_ast.TernaryOp(cond, yes, no, cond.coord), LONG_LONG, self.state.typing)

    def _sum_address(self, node: c_ast.BinaryOp) -> PointerValue:
        pointer, amount = node.left, node.right
        if node.op == "+" and not self._is_pointer(pointer):
            pointer, amount = amount, pointer
        base = self._address(pointer)
        by = self._offset(self.rewrite(amount), None)
        return PointerValue(base.base, base.offset.plus(by, 1 if node.op == "+" else -1))


class _NoAddress(Exception):
    """A pointer expression has a form that is left as it is."""


def _row_of(cond: c_ast.Node, yes: c_ast.Node, no: c_ast.Node) -> c_ast.Node | None:
    """``yes`` or ``no``, elements of one array, by subscripts that ``cond`` chooses; None for other rows."""
    if key(yes) == key(no):
        return yes
    if isinstance(yes, c_ast.StructRef) and isinstance(no, c_ast.StructRef):
        same = yes.type == no.type == "." and yes.field.name == no.field.name
        owner = _row_of(cond, yes.name, no.name) if same else None
        return None if owner is None else c_ast.StructRef(owner, ".", yes.field, yes.coord)
    if not isinstance(yes, c_ast.ArrayRef) or not isinstance(no, c_ast.ArrayRef):
        return None
    array, subscript = _row_of(cond, yes.name, no.name), yes.subscript
    if key(subscript) != key(no.subscript):
        subscript = c_ast.TernaryOp(duplicate(cond), subscript, no.subscript, cond.coord)
    return None if array is None else c_ast.ArrayRef(array, subscript, yes.coord)


def points_alike(one: types.Type, other: types.Type) -> bool:
    """Whether both are pointers to the same type."""
    if not isinstance(one, types.PointerType) or not isinstance(other, types.PointerType):
        return False
    return _same_type(one.target, other.target)


def _same_type(one: types.Type, other: types.Type) -> bool:
    """Whether two types are the same; arrays are if their elements and constant extents are."""
    if isinstance(one, types.ArrayType) and isinstance(other, types.ArrayType):
        extents = [None if each.extent is None else key(each.extent) for each in (one, other)]
        return extents[0] == extents[1] and _same_type(one.element, other.element)
    return one == other
