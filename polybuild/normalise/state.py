"""Symbolic values of the variables that normalisation follows, at one point of the region."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import TypeAlias

from pycparser import c_ast

from polybuild.c import types
from polybuild.c.symbols import StorageClass
from polybuild.c.syntax_tree import changed_operand, key, names_in, replaced, structure_of
from polybuild.c.synthetic import EntryValue, PointerDifference, PointerTest
from polybuild.c.types import Type
from polybuild.c.typing import type_of
from polybuild.normalise.names import Names, Variable, is_place, member_path
from polybuild.normalise.sums import Sum, Term
from polybuild.source.model import Region
from polybuild.values import dataclass


class NotFollowable(Exception):
    """A variable cannot be followed; the region is normalised again without it."""

    def __init__(self, variable: Variable) -> None:
        super().__init__(variable.name)
        self.variable = variable


class WalkedTooLong(Exception):
    """The loops of a region, of which each is walked through twice, are too many to follow variables in."""


@dataclass(frozen=True, slots=True)
class PointerValue:
    """A pointer's value: ``offset`` elements past ``base``, an expression of pointer or array type."""

    base: c_ast.Node
    offset: Sum = field(default_factory=Sum)


SymbolicValue: TypeAlias = c_ast.Node | PointerValue | None
"""A value in terms that do not change: an expression, an address, or None if it is not known."""


@dataclass(frozen=True, slots=True)
class NormalisationContext:
    """The region, its names, and the variables to follow.

    ``live`` are the names read after the region; ``wrapping`` is for regions whose
    unsigned counters step over their limits on purpose. A region that ``stores_pointers`` sets some
    that are elements or members. The variables ``in_subscripts`` are read nowhere else; those ``walking`` may
    start where data say.
    """

    region: Region
    names: Names
    followed: frozenset[Variable]
    live: frozenset[str]
    wrapping: bool = False
    stores_pointers: bool = False
    in_subscripts: frozenset[Variable] = frozenset()
    walking: frozenset[Variable] = frozenset()

    def variable(self, node: c_ast.Node) -> Variable | None:
        """The followed variable that the identifier ``node`` names."""
        found = self.names.variables.get(node)
        return found if found in self.followed else None

    def is_live(self, variable: Variable) -> bool:
        """Whether the value of a followed variable is read after the region."""
        return not variable.local and variable.name in self.live

    def wraps(self, variable: Variable) -> bool:
        """Whether a loop that counts with ``variable`` is to be taken beyond the limits of its type."""
        kind = variable.type
        return self.wrapping and isinstance(kind, types.IntegerType) and not kind.signed

    def unused(self, name: str, others: Iterable[str] = ()) -> str:
        """``name``, with a number appended if the function knows one of that name, or ``others`` have it."""
        taken = {each.name for each in self.names.variables.values()} | {*self.names.outer, *others}
        candidates = (f"{name}{suffix}" for suffix in ("", *range(1, len(taken) + 2)))
        return next(each for each in candidates if each not in taken)

    def changed_in(self, *nodes: c_ast.Node | None) -> frozenset[Variable]:
        """The followed variables that ``nodes`` assign or declare."""
        found: set[Variable] = set()
        pending = [node for node in nodes if node is not None]
        while pending:
            each = pending.pop()
            target = each if isinstance(each, c_ast.Decl) else changed_operand(each)
            variable = self.variable(target) if target is not None else None
            if variable is not None:
                found.add(variable)
            pending.extend(each)
        return frozenset(found)

    def stepped_in(self, *nodes: c_ast.Node | None) -> list[Variable]:
        """The same by name: what is written for each of them comes in one order in every run."""
        return sorted(self.changed_in(*nodes), key=lambda each: each.name)


@dataclasses.dataclass(slots=True)
class SymbolicState:
    """Values of the followed variables, and the names visible here.

    ``scopes`` maps the names declared in the region to their types, innermost
    scope last; ``counters`` are the loop counters whose loops are running. ``choices`` has the names
    that conditions on data get, by the statements with these conditions, ``starts`` those of the places where
    data let variables start; ``outer`` are the types of names of before the region, once they were asked for.
    """

    context: NormalisationContext
    values: dict[Variable, SymbolicValue]
    scopes: list[dict[str, Type]] = field(default_factory=lambda: [{}])
    counters: list[str] = field(default_factory=list)
    choices: dict[c_ast.Node, str] = field(default_factory=dict)
    starts: dict[tuple[c_ast.Node, int], str] = field(default_factory=dict)
    outer: Mapping[str, Type] | None = None

    def choice_name(self, node: c_ast.Node) -> str:
        """The name of what the condition of ``node`` is."""
        if node not in self.choices:
            self.choices[node] = self.context.unused("chosen", self.choices.values())
        return self.choices[node]

    def start_name(self, node: c_ast.Node, variable: Variable, position: int = 0) -> str:
        """The name at ``position`` of those for where the statement ``node`` lets ``variable`` start."""
        if (node, position) not in self.starts:
            name = self.context.unused(f"{variable.name}_start", self.starts.values())
            self.starts[node, position] = name
        return self.starts[node, position]

    def is_choice(self, name: str) -> bool:
        """Whether ``name`` is what a condition on data was found to be."""
        return name in self.choices.values()

    def typing(self, node: c_ast.Node) -> Type:
        """The C type of ``node`` here; that of an operand of an operator is decayed by it."""
        if self.outer is None:
            self.outer = {each.name: each.type for each in self.context.names.outer.values()}
        visible = dict(self.outer)
        for scope in self.scopes:
            visible |= scope
        return type_of(node, visible, self.context.region.visible)

    def declare(self, name: str, kind: Type) -> None:
        """``name`` means something new from here on; values that mention the old one are forgotten."""
        self.forget(name)
        self.scopes[-1][name] = kind

    def forget(self, name: str) -> None:
        """Forget the values that mention ``name``, which changes or goes out of scope."""
        for variable, value in self.values.items():
            if name in mentioned(value):
                self.values[variable] = None

    def close_scope(self) -> None:
        """Close the innermost scope."""
        for name in self.scopes.pop():
            self.forget(name)

    def replace(self, wanted: object, new: c_ast.Node) -> None:
        """Write ``new`` for each part of a value whose key is ``wanted``."""
        for variable, value in self.values.items():
            if isinstance(value, PointerValue):
                terms = [
                    Term(replaced(each.node, wanted, new), each.factor)
                    for each in value.offset.terms.values()
                ]
                offset = Sum(value.offset.constant, {key(each.node): each for each in terms})
                self.values[variable] = PointerValue(value.base, offset)
            elif value is not None:
                self.values[variable] = replaced(value, wanted, new)

    # What does not change

    def is_fixed(self, node: c_ast.Node) -> bool:
        """Whether ``node`` is an integer expression without side effects, the same wherever it is evaluated.

        Counters of running loops count as fixed: their values are forgotten with the loop.
        """
        names = self.context.names
        if isinstance(node, EntryValue | c_ast.Constant):
            return not isinstance(node, c_ast.Constant) or "int" in node.type or node.type == "char"
        if isinstance(node, c_ast.ID):
            if node.name in self.counters or self.is_choice(node.name) or node.name in self.starts.values():
                return True
            variable = self._visible(node.name)
            if variable is None:
                return node.name in self.context.region.visible.enumerators
            return isinstance(variable.type, types.IntegerType) and self._is_constant(variable)
        if isinstance(node, PointerDifference):
            return self.is_fixed_base(node.left) and self.is_fixed_base(node.right)
        if isinstance(node, PointerTest):
            compared = [node.left, *([node.right] if isinstance(node.right, c_ast.ID) else ())]
            return isinstance(node.left, c_ast.ID) and all(map(self.is_fixed_base, compared))
        if isinstance(node, c_ast.BinaryOp | c_ast.TernaryOp):
            return all(self.is_fixed(child) for child in node)
        if isinstance(node, c_ast.Cast):
            return isinstance(self.typing(node), types.IntegerType) and self.is_fixed(node.expr)
        if isinstance(node, c_ast.ArrayRef) or (isinstance(node, c_ast.UnaryOp) and node.op == "*"):
            return isinstance(self.typing(node), types.IntegerType) and self._is_fixed_number(node)
        if isinstance(node, c_ast.UnaryOp):
            return node.op in {"-", "+", "~", "!"} and self.is_fixed(node.expr)
        if isinstance(node, c_ast.StructRef):
            if not isinstance(self.typing(node), types.IntegerType):
                return False
            return self._is_fixed_member(node, names) or self._is_fixed_number(node)
        return False

    def is_fixed_base(self, node: c_ast.Node) -> bool:
        """Whether ``node`` names the same array, or the same pointer value, throughout."""
        if isinstance(node, EntryValue):
            return True
        if isinstance(node, c_ast.ID):
            variable = self._visible(node.name)
            if variable is None or variable.volatile:
                return False
            is_array = (
                isinstance(variable.type, types.ArrayType) and variable.storage is not StorageClass.PARAMETER
            )
            return is_array or self._is_constant(variable)
        if isinstance(node, c_ast.ArrayRef):
            if isinstance(self.typing(node), types.ArrayType):
                return self.is_fixed_base(node.name) and self.is_fixed(node.subscript)
            return self._is_fixed_element(node)
        if isinstance(node, c_ast.TernaryOp):
            chosen = self.is_fixed_base(node.iftrue) and self.is_fixed_base(node.iffalse)
            return chosen and self.is_fixed(node.cond)
        if isinstance(node, c_ast.StructRef):
            if isinstance(self.typing(node), types.ArrayType) and node.type == ".":
                return self.is_fixed_base(node.name)
            return self._is_fixed_element(node) or self._is_fixed_member(node, self.context.names)
        return False

    def _is_fixed_element(self, node: c_ast.Node) -> bool:
        """Whether ``node`` is a pointer that is an element, or a member of one, that nothing changes."""
        node = structure_of(node)
        if isinstance(node, c_ast.StructRef):  # of a structure that such a pointer leads to
            return self._is_fixed_element(node.name)
        element = isinstance(node, c_ast.ArrayRef) and not self.context.stores_pointers
        return element and self.is_fixed_base(node.name) and self.is_fixed(node.subscript)

    def _is_fixed_number(self, node: c_ast.Node) -> bool:
        """Whether ``node`` is a number at a place that is written down: ``*n``, ``size[1]``, ``a->size[1]``.

        The region changes nothing that is reached from the same variable by the same members.
        """
        names = self.context.names
        root, members = member_path(node)
        variable = None if root is None else self._visible(root.name)
        if variable is None or not self._is_constant(variable):
            return False
        if (variable, members) in names.written_members:
            return False
        if any((variable, members[:count]) in names.set_members for count in range(1, len(members) + 1)):
            return False
        return is_place(node)

    def _visible(self, name: str) -> Variable | None:
        """The variable ``name`` of before the region, unless the region declares another one."""
        if any(name in scope for scope in self.scopes):
            return None
        return self.context.names.outer.get(name)

    def _is_constant(self, variable: Variable) -> bool:
        names = self.context.names
        counts = variable in names.iterators.values()
        return not (variable in names.written or counts or variable.volatile or variable.thread_local)

    def _is_fixed_member(self, node: c_ast.StructRef, names: Names) -> bool:
        members: list[str] = []
        while isinstance(node, c_ast.StructRef):
            members.append(node.field.name)
            node = node.name
        if not isinstance(node, c_ast.ID):
            return False
        variable = self._visible(node.name)
        path = tuple(reversed(members))
        return (
            variable is not None and self._is_constant(variable) and (variable, path) not in names.set_members
        )


def mentioned(value: SymbolicValue) -> frozenset[str]:
    """The names that a value mentions."""
    nodes: Iterable[c_ast.Node] = ()
    if isinstance(value, PointerValue):
        nodes = [value.base, *(term.node for term in value.offset.terms.values())]
    elif value is not None:
        nodes = [value]
    return frozenset(name for node in nodes for name in names_in(node))


def same(one: SymbolicValue, other: SymbolicValue) -> bool:
    """Whether two values are written the same."""
    if isinstance(one, PointerValue) and isinstance(other, PointerValue):
        difference = one.offset.plus(other.offset, -1)
        return key(one.base) == key(other.base) and difference.number == 0
    if one is None or other is None or isinstance(one, PointerValue) or isinstance(other, PointerValue):
        return False
    return key(one) == key(other)
