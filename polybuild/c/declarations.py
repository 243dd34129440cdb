"""From declarators to types: typedefs, tags and enumerators of one scope, and the constants in them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence

from pycparser import c_ast

from polybuild.c.basic_types import INT, UNSIGNED_INT, DataModel, basic_type, integer
from polybuild.c.conversions import decayed
from polybuild.c.dialects import UNKNOWN_TAG
from polybuild.c.literals import character_value, integer_value
from polybuild.c.types import (
    ArrayType,
    Field,
    FloatingType,
    FunctionType,
    IntegerType,
    PointerType,
    RecordType,
    Type,
    UnknownType,
    VoidType,
)
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class Qualified:
    """A type and whether an object of it is volatile."""

    type: Type
    volatile: bool = False


class Scope:
    """Typedef names, tags and enumerators visible at some point; ``inner()`` opens a nested scope."""

    def __init__(self, data_model: DataModel | None = None, outer: Scope | None = None) -> None:
        """An empty scope, or a copy of ``outer``."""
        self.data_model: DataModel = data_model or (outer.data_model if outer else DataModel())
        self.typedefs: dict[str, Qualified] = dict(outer.typedefs) if outer else {}
        self.tags: dict[tuple[str, str], Type] = dict(outer.tags) if outer else {}
        self.enumerators: dict[str, int] = dict(outer.enumerators) if outer else {}

    def inner(self) -> Scope:
        """A copy to declare more names in."""
        return Scope(outer=self)

    def hide(self, name: str) -> None:
        """A variable named ``name`` hides the typedef or enumerator of that name."""
        self.typedefs.pop(name, None)
        self.enumerators.pop(name, None)

    def add_typedef(self, node: c_ast.Typedef, *, unknown: bool = False) -> None:
        """Declare the name of a typedef."""
        if unknown:
            self.resolve(node.type)
            self.typedefs[node.name] = Qualified(UnknownType(node.name))
            return
        resolved = self.resolve(node.type)
        if isinstance(resolved, RecordType) and resolved.tag == UNKNOWN_TAG:
            resolved = UnknownType(node.name)
        self.typedefs[node.name] = Qualified(resolved, self.is_volatile(node.type))

    def resolve(self, node: c_ast.Node) -> Type:
        """The type of a declarator, a type name or a specifier; tags it declares are added."""
        match node:
            case c_ast.Typename() | c_ast.Decl():
                return self.resolve(node.type)
            case c_ast.TypeDecl():
                inner = self.resolve(node.type)
                return UnknownType("_Atomic") if "_Atomic" in node.quals else inner
            case c_ast.PtrDecl():
                if "_Atomic" in node.quals:
                    return UnknownType("_Atomic")
                target = self.resolve(node.type)
                return PointerType(target, "restrict" in node.quals, self.is_volatile(node.type))
            case c_ast.ArrayDecl():
                star = isinstance(node.dim, c_ast.ID) and node.dim.name == "*"
                return ArrayType(self.resolve(node.type), None if star else node.dim)
            case c_ast.FuncDecl():
                return FunctionType(self.resolve(node.type), self._parameters(node))
            case c_ast.IdentifierType():
                return self._named(node.names)
            case c_ast.Struct() | c_ast.Union():
                return self._record(node)
            case c_ast.Enum():
                return self._enumeration(node)
        return UnknownType(type(node).__name__)

    def is_volatile(self, node: c_ast.Node) -> bool:
        """Whether an object with this declarator is itself volatile (an array: its elements)."""
        match node:
            case c_ast.Typename() | c_ast.Decl() | c_ast.ArrayDecl():
                return self.is_volatile(node.type)
            case c_ast.TypeDecl():
                return "volatile" in node.quals or self.is_volatile(node.type)
            case c_ast.PtrDecl():
                return "volatile" in node.quals
            case c_ast.IdentifierType():
                named = self.typedefs.get(node.names[0]) if len(node.names) == 1 else None
                return named is not None and named.volatile
        return False

    def _parameters(self, node: c_ast.FuncDecl) -> tuple[Type, ...] | None:
        if node.args is None:
            return None
        types: list[Type] = []
        scope = self.inner()
        for parameter in node.args.params:
            if isinstance(parameter, c_ast.EllipsisParam):
                continue
            if isinstance(parameter, c_ast.ID):  # an old-style list of names
                return None
            types.append(decayed(scope.resolve(parameter.type)))
        return () if types == [VoidType()] else tuple(types)

    def _named(self, names: Sequence[str]) -> Type:
        if len(names) == 1 and (known := self.typedefs.get(names[0])) is not None:
            return known.type
        return basic_type(names, self.data_model) or UnknownType(" ".join(names))

    def _record(self, node: c_ast.Struct | c_ast.Union) -> Type:
        kind = "struct" if isinstance(node, c_ast.Struct) else "union"
        key = (kind, node.name or "")
        known = self.tags.get(key) if node.name else None
        record = known if isinstance(known, RecordType) else RecordType(kind, node.name or "", None)
        if node.name:
            self.tags[key] = record
        if node.decls is not None and record.fields is None:
            fields = tuple(self._field(member) for member in node.decls if isinstance(member, c_ast.Decl))
            # A structure may point to itself, so it exists before its members do.
            object.__setattr__(record, "fields", fields)
        return record

    def _field(self, node: c_ast.Decl) -> Field:
        bits = None
        if node.bitsize is not None:
            bits = evaluate(node.bitsize, self) or 0
        return Field(node.name or "", self.resolve(node.type), self.is_volatile(node.type), bits)

    def _enumeration(self, node: c_ast.Enum) -> Type:
        """The integer type gcc and clang give an enumeration: unsigned unless a value is negative."""
        key = ("enum", node.name or "")
        if node.values is None:
            return self.tags.get(key, UNSIGNED_INT)
        value: int | None = -1
        values: list[int] = []
        for enumerator in node.values.enumerators:
            if not isinstance(enumerator, c_ast.Enumerator):
                continue
            if enumerator.value is not None:
                value = evaluate(enumerator.value, self)
            elif value is not None:
                value += 1
            if value is not None:
                self.enumerators[enumerator.name] = value
                values.append(value)
            self.typedefs.pop(enumerator.name, None)
        signed = any(number < 0 for number in values)
        wide = any(not -(2**31) <= number < 2**32 for number in values)
        kind = (
            integer("long" if signed else "unsigned long", self.data_model)
            if wide
            else (INT if signed else UNSIGNED_INT)
        )
        if node.name:
            self.tags[key] = kind
        return kind


def size_of(kind: Type, scope: Scope) -> int | None:
    """``sizeof`` in bytes of scalars and arrays of constant extent; None for everything else."""
    match kind:
        case IntegerType():
            return max(kind.width // 8, 1)
        case FloatingType():
            return kind.size
        case PointerType():
            return scope.data_model.pointer_size
        case ArrayType():
            element = size_of(kind.element, scope)
            extent = None if kind.extent is None else evaluate(kind.extent, scope)
            return None if element is None or extent is None else element * extent
    return None


INTEGER_OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "<<": lambda left, right: left << right if 0 <= right < 64 else 0,
    ">>": lambda left, right: left >> right if 0 <= right < 64 else 0,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "&&": lambda left, right: bool(left and right),
    "||": lambda left, right: bool(left or right),
}
"""What operations of C make of integers, types left aside; division is apart, as it may be by zero."""


def evaluate(node: c_ast.Node, scope: Scope) -> int | None:
    """The value of an integer constant expression, None if it is not one we compute."""
    match node:
        case c_ast.Constant():
            if node.type == "char":
                return character_value(node.value, scope.data_model)
            return integer_value(node.value) if "int" in node.type else None
        case c_ast.ID():
            return scope.enumerators.get(node.name)
        case c_ast.UnaryOp(op="sizeof"):
            operand = node.expr
            return size_of(scope.resolve(operand), scope) if isinstance(operand, c_ast.Typename) else None
        case c_ast.UnaryOp():
            value = evaluate(node.expr, scope)
            signs: dict[str, Callable[[int], int]] = {
                "-": operator.neg,
                "+": operator.pos,
                "~": operator.inv,
                "!": operator.not_,
            }
            return int(signs[node.op](value)) if value is not None and node.op in signs else None
        case c_ast.BinaryOp():
            return _evaluate_binary(node, scope)
        case c_ast.TernaryOp():
            condition = evaluate(node.cond, scope)
            return None if condition is None else evaluate(node.iftrue if condition else node.iffalse, scope)
        case c_ast.Cast():
            value, kind = evaluate(node.expr, scope), scope.resolve(node.to_type)
            if value is None or not isinstance(kind, IntegerType):
                return None
            return _converted(value, kind)
    return None


def _evaluate_binary(node: c_ast.BinaryOp, scope: Scope) -> int | None:
    left, right = evaluate(node.left, scope), evaluate(node.right, scope)
    if left is None or right is None:
        return None
    if node.op in {"/", "%"}:
        if right == 0:
            return None
        quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
        return quotient if node.op == "/" else left - quotient * right
    return int(INTEGER_OPERATIONS[node.op](left, right)) if node.op in INTEGER_OPERATIONS else None


def _converted(value: int, kind: IntegerType) -> int:
    """``value`` converted to an integer type."""
    if kind.width == 1:
        return int(value != 0)
    value &= (1 << kind.width) - 1
    return value - (1 << kind.width) if kind.signed and value >> (kind.width - 1) else value
