"""Questions about pycparser trees, and changed copies of them."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from pycparser import c_ast

from polybuild.c.synthetic import EntryValue
from polybuild.diagnostics import Location

_STEPS = frozenset({"++", "--", "p++", "p--"})


def _there(*parts: c_ast.Node | None) -> list[c_ast.Node]:
    return [each for each in parts if each is not None]


_LEAVES = frozenset({c_ast.ID, c_ast.Constant, c_ast.IdentifierType, c_ast.Break, c_ast.Continue})
_PARTS: Mapping[type, Callable[[Any], Iterable[c_ast.Node]]] = {  # of usual kinds, the last one first
    c_ast.ArrayRef: operator.attrgetter("subscript", "name"),
    c_ast.Assignment: operator.attrgetter("rvalue", "lvalue"),
    c_ast.BinaryOp: operator.attrgetter("right", "left"),
    c_ast.StructRef: operator.attrgetter("field", "name"),
    c_ast.Cast: operator.attrgetter("expr", "to_type"),
    c_ast.UnaryOp: lambda node: (node.expr,),
    c_ast.TypeDecl: lambda node: _there(node.type),
    c_ast.PtrDecl: lambda node: _there(node.type),
    c_ast.Typename: lambda node: _there(node.type),
    c_ast.Decl: lambda node: _there(node.bitsize, node.init, node.type),
    c_ast.If: lambda node: _there(node.iffalse, node.iftrue, node.cond),
    c_ast.TernaryOp: lambda node: _there(node.iffalse, node.iftrue, node.cond),
    c_ast.For: lambda node: _there(node.stmt, node.next, node.cond, node.init),
    c_ast.FuncCall: lambda node: _there(node.args, node.name),
    c_ast.ExprList: lambda node: (node.exprs or ())[::-1],
    c_ast.Compound: lambda node: (node.block_items or ())[::-1],
}
_CHOICES = (c_ast.If, c_ast.TernaryOp, c_ast.For, c_ast.While, c_ast.DoWhile, c_ast.Switch)


def location(node: c_ast.Node) -> Location:
    """Where ``node`` starts; a node without coordinates starts where its first child does."""
    for each in walk(node):
        coord = each.coord
        if coord is not None:
            return Location(coord.file or "", coord.line or 1, coord.column or 0)
    return Location("", 1)


def last_line(node: c_ast.Node) -> int:
    """The last line on which a part of ``node`` starts."""
    return max((each.coord.line or 1 for each in walk(node) if each.coord is not None), default=1)


def walk(node: c_ast.Node) -> Iterator[c_ast.Node]:
    """``node`` and everything below it, in textual order."""
    pending = [node]
    while pending:
        node = pending.pop()
        yield node
        kind = type(node)
        if kind not in _LEAVES:  # pycparser's own way takes three times as long
            pending += _PARTS[kind](node) if kind in _PARTS else reversed(list(node))


def always_evaluates(body: c_ast.Node, *wanted: c_ast.Node) -> bool:
    """Whether evaluating ``body`` always evaluates one of the parts ``wanted`` of it."""
    if any(body is each for each in wanted):
        return True
    if isinstance(body, c_ast.If | c_ast.TernaryOp):
        sides = (body.iftrue, body.iffalse)
        return always_evaluates(body.cond, *wanted) or all(
            each is not None and always_evaluates(each, *wanted) for each in sides
        )
    if isinstance(body, _CHOICES):
        return False
    if isinstance(body, c_ast.BinaryOp) and body.op in {"&&", "||"}:
        return always_evaluates(body.left, *wanted)
    return any(always_evaluates(child, *wanted) for child in body)


def changed_operand(node: c_ast.Node) -> c_ast.Node | None:
    """What an assignment, ``++`` or ``--`` changes; None for every other node."""
    if isinstance(node, c_ast.Assignment):
        return node.lvalue
    return node.expr if isinstance(node, c_ast.UnaryOp) and node.op in _STEPS else None


def names_set_in(nodes: Sequence[c_ast.Node]) -> frozenset[str]:
    """The variables that ``nodes`` themselves declare or change."""
    declared = {str(each.name) for each in nodes if isinstance(each, c_ast.Decl) and each.name}
    changed = (each for each in map(changed_operand, nodes) if isinstance(each, c_ast.ID))
    return frozenset(declared.union(each.name for each in changed))


def names_addressed_in(nodes: Iterable[c_ast.Node]) -> frozenset[str]:
    """The variables whose addresses ``nodes`` themselves take."""
    taken = (each.expr for each in nodes if isinstance(each, c_ast.UnaryOp) and each.op == "&")
    return frozenset(str(each.name) for each in taken if isinstance(each, c_ast.ID))


COMPARISONS = frozenset({"<", "<=", ">", ">=", "==", "!="})
TRUTHS = COMPARISONS | {"&&", "||"}
"""Operators of two operands whose value is 0 or 1."""
NEGATED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
"""The comparisons that hold where others do not."""


def structure_of(node: c_ast.Node) -> c_ast.Node:
    """The structure that ``node`` is a member of, not behind a pointer; any other expression itself."""
    while isinstance(node, c_ast.StructRef) and node.type == ".":
        node = node.name
    return node


def values_of_literal(member: c_ast.Node) -> list[c_ast.Node] | None:
    """What the structure or union is made of that ``member`` is one of: ``(union bits){.f = x}.u``.

    None unless it is a compound literal, of which nothing but this member is looked at, or one element of it.
    """
    if isinstance(member, c_ast.ArrayRef) and isinstance(member.subscript, c_ast.Constant):
        member = member.name
    literal = structure_of(member)
    if literal is member or not isinstance(literal, c_ast.CompoundLiteral):
        return None
    values, pending = list[c_ast.Node](), [literal.init]
    while pending:
        value = pending.pop()
        if isinstance(value, c_ast.InitList):
            pending += reversed(value.exprs or [])
        elif isinstance(value, c_ast.NamedInitializer):
            pending.append(value.expr)
        else:
            values.append(value)
    return values


def walk_values(node: c_ast.Node) -> Iterator[c_ast.Node]:
    """``node`` and everything below it, but of compound literals with one member in use the values alone."""
    yield node
    values = values_of_literal(node) if isinstance(node, c_ast.StructRef | c_ast.ArrayRef) else None
    for child in node if values is None else values:
        yield from walk_values(child)


def exposed_operand(node: c_ast.Node) -> c_ast.Node | None:
    """What a node changes, or lets others change as its address is taken; None for every other node."""
    if isinstance(node, c_ast.UnaryOp) and node.op == "&":
        return node.expr
    return changed_operand(node)


def has_side_effect(expression: c_ast.Node) -> bool:
    """Whether evaluating ``expression`` may change something."""
    return any(
        isinstance(each, c_ast.FuncCall) or changed_operand(each) is not None for each in walk(expression)
    )


def factors_of(node: c_ast.Node) -> Iterator[c_ast.Node]:
    """What ``node`` is the product of, from the left to the right; ``node`` itself if it is none."""
    if isinstance(node, c_ast.BinaryOp) and node.op == "*":
        yield from factors_of(node.left)
        yield from factors_of(node.right)
    else:
        yield node


def conjuncts(condition: c_ast.Node) -> Iterator[c_ast.Node]:
    """The conditions that all hold where ``condition`` does, from the left to the right."""
    if isinstance(condition, c_ast.BinaryOp) and condition.op == "&&":
        yield from conjuncts(condition.left)
        yield from conjuncts(condition.right)
    else:
        yield condition


def mapped(node: c_ast.Node, change: Callable[[c_ast.Node], c_ast.Node]) -> c_ast.Node:
    """A copy of ``node`` whose children are what ``change`` makes of the original ones."""
    kind: Any = type(node)  # of which mypy does not know that it is hashable
    new = object.__new__(kind)  # what copy.copy does takes three times as long
    for name in _slots(kind):
        value = getattr(node, name, _MISSING)
        if value is _MISSING:
            continue
        if isinstance(value, c_ast.Node):
            value = change(value)
        elif isinstance(value, list):
            value = [change(each) if isinstance(each, c_ast.Node) else each for each in value]
        setattr(new, name, value)
    return new


_MISSING = object()


@functools.cache
def _slots(kind: type) -> tuple[str, ...]:
    """The names of what nodes of a ``kind`` hold."""
    names = dict.fromkeys(name for each in kind.__mro__ for name in getattr(each, "__slots__", ()))
    return tuple(name for name in names if name != "__weakref__")


def duplicate(node: c_ast.Node, coord: object = None) -> c_ast.Node:
    """A deep copy of ``node``; every part is said to stand at ``coord`` if that is given."""

    def visit(each: c_ast.Node) -> c_ast.Node:
        new = mapped(each, visit)
        new.coord = coord or each.coord
        return new

    return visit(node)


def key(node: c_ast.Node) -> object:
    """Equal for trees that say the same, wherever they stand."""
    quick = _KEYS.get(type(node))
    if quick is not None:
        return quick(node)
    attributes = tuple(str(getattr(node, name)) for name in node.attr_names)
    return (type(node).__name__, attributes, tuple((name, key(child)) for name, child in node.children()))


_KEYS: Mapping[type, Callable[[Any], object]] = {  # of usual kinds: to ask for names takes four times as long
    c_ast.ID: lambda node: ("ID", node.name),
    c_ast.Constant: lambda node: ("Constant", node.type, node.value),
    c_ast.ArrayRef: lambda node: ("ArrayRef", key(node.name), key(node.subscript)),
    c_ast.BinaryOp: lambda node: ("BinaryOp", node.op, key(node.left), key(node.right)),
}


def numbered(nodes: Iterable[c_ast.Node]) -> dict[int, int]:
    """A number for each of ``nodes``, by identity, which those have in common that say the same.

    Parts stand behind what they are parts of, as in ``walk``.
    """
    numbers: dict[int, int] = {}
    found: dict[object, int] = {}
    for node in reversed(list(nodes)):
        parts = tuple((name, numbers[id(child)]) for name, child in node.children())
        said = type(node), *(str(getattr(node, name)) for name in node.attr_names), parts
        numbers[id(node)] = found.setdefault(said, len(found))
    return numbers


def replaced(node: c_ast.Node, wanted: object, new: c_ast.Node) -> c_ast.Node:
    """``node`` with ``new`` in place of each part whose ``key`` is ``wanted``."""
    return new if key(node) == wanted else mapped(node, lambda each: replaced(each, wanted, new))


def with_parts(node: c_ast.Node, new: Mapping[int, c_ast.Node]) -> c_ast.Node:
    """``node`` with ``new`` parts in place of others, by identity.

    Parts in which nothing changes are the very same nodes.
    """
    if id(node) in new:
        return new[id(node)]
    if not any(id(each) in new for each in walk(node)):
        return node
    return mapped(node, lambda each: with_parts(each, new))


def single_statement(node: c_ast.Node) -> c_ast.Node:
    """The only statement of a block; what is none, or has more of them, itself."""
    while isinstance(node, c_ast.Compound) and len(node.block_items or ()) == 1:
        node = node.block_items[0]
    return node


def node_count(node: c_ast.Node) -> int:
    """The number of nodes of a tree."""
    return 1 + sum(node_count(child) for child in node)


def contains(node: c_ast.Node, kind: type[c_ast.Node]) -> bool:
    """Whether a part of ``node`` is a ``kind``."""
    return isinstance(node, kind) or any(contains(child, kind) for child in node)


def names_in(node: c_ast.Node) -> Iterator[str]:
    """The names that the identifiers of ``node`` mention now (values on entry are no mention)."""
    pending = [node]
    while pending:
        node = pending.pop()
        kind = type(node)
        if isinstance(node, c_ast.ID):
            if not isinstance(node, EntryValue):
                yield str(node.name)
        elif kind is c_ast.StructRef:
            pending.append(node.name)
        elif kind not in _LEAVES:
            pending += _PARTS[kind](node) if kind in _PARTS else reversed(list(node))
