"""The C type of an expression: promotions, conversions, literals, members, calls.

Arrays and functions keep their types (as under C's ``typeof``) until an operator
uses their value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pycparser import c_ast

from polybuild.c.basic_types import INT, UNSIGNED_INT, floating, integer
from polybuild.c.bit_functions import bit_function_result, is_bit_function
from polybuild.c.conversions import common_type, decayed, promoted
from polybuild.c.literals import integer_value, literal_type, number_type
from polybuild.c.symbols import Symbol, VisibleNames
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

_MATHEMATICS = frozenset(
    # A table of words reads best as words.
    """
    acos asin atan atan2 ceil copysign cos cosh exp exp2 expm1 fabs fdim floor fma fmax fmin fmod hypot
    inf huge_val nan log log10 log1p log2 nearbyint pow rint round sin sinh sqrt tan tanh trunc cbrt erf
    """.split()  # noqa: SIM905
)


def type_of(expression: c_ast.Node, symbols: Mapping[str, Type | Symbol], visible: VisibleNames) -> Type:
    """The C type of ``expression`` where ``symbols`` are the variables in scope.

    Functions, enumerators, typedef names and tags are those of ``visible``. An
    undeclared name, and all that depends on it, is Unknown.
    """
    return _Typing(symbols, visible).visit(expression)


def with_declared(
    symbols: Mapping[str, Type | Symbol], declarations: Iterable[c_ast.Decl], visible: VisibleNames
) -> dict[str, Type | Symbol]:
    """``symbols``, and the types of variables that ``declarations`` in blocks give them.

    Two variables of one name but not of one type are Unknown.
    """
    found = dict(symbols)
    for each in declarations:
        known = found.get(each.name)
        before = known.type if isinstance(known, Symbol) else known
        kind = visible.scope.resolve(each)
        found[each.name] = kind if before is None or before == kind else UnknownType(each.name)
    return found


def field_of(record: RecordType, name: str) -> Field | None:
    """The member ``name`` of a structure or union, members of anonymous ones included."""
    for member in record.fields or ():
        if member.name == name:
            return member
        if not member.name and isinstance(member.type, RecordType) and (inner := field_of(member.type, name)):
            return inner
    return None


class _Typing:
    """One typing: the names an expression is read against."""

    def __init__(self, symbols: Mapping[str, Type | Symbol], visible: VisibleNames) -> None:
        self._symbols = symbols
        self._functions = visible.functions
        self._enumerators = visible.enumerators
        self._scope = visible.scope
        self._model = visible.scope.data_model
        self._size = integer("unsigned long", self._model)
        if self._model.pointer_size * 8 != self._size.width:
            self._size = integer("unsigned long long", self._model)

    def visit(self, node: c_ast.Node) -> Type:
        """The type of ``node``, not decayed."""
        match node:
            case c_ast.ID():
                return self._name(node.name)
            case c_ast.Constant():
                return self._constant(node)
            case c_ast.ArrayRef():
                left, right = self._value(node.name), self._value(node.subscript)
                return _pointee(left if isinstance(left, PointerType) else right)
            case c_ast.StructRef():
                member = self._member(node)
                return member.type if member else UnknownType(f"member {node.field.name}")
            case c_ast.FuncCall():
                return self._call(node)
            case c_ast.UnaryOp():
                return self._unary(node)
            case c_ast.BinaryOp():
                return self._binary(node)
            case c_ast.TernaryOp():
                return self._conditional(node)
            case c_ast.Assignment():
                return self.visit(node.lvalue)
            case c_ast.Cast():
                return self._scope.resolve(node.to_type)
            case c_ast.CompoundLiteral():
                return self._scope.resolve(node.type)
            case c_ast.ExprList():
                return self._value(node.exprs[-1])
            case c_ast.Typename():
                return self._scope.resolve(node)
        return UnknownType(type(node).__name__)

    def _value(self, node: c_ast.Node) -> Type:
        return decayed(self.visit(node))

    def _arithmetic(self, node: c_ast.Node) -> Type:
        """The promoted type; a narrow unsigned bit-field fits in ``int``."""
        if isinstance(node, c_ast.StructRef):
            member = self._member(node)
            if member and member.bits is not None and isinstance(member.type, IntegerType):
                if member.bits < INT.width:
                    return INT
                if member.bits == INT.width:
                    return INT if member.type.signed else UNSIGNED_INT
        return promoted(self._value(node))

    def _name(self, name: str) -> Type:
        if name in self._symbols:
            known = self._symbols[name]
            return known.type if isinstance(known, Symbol) else known
        if name in self._enumerators:
            value = self._enumerators[name]
            return INT if -(2**31) <= value < 2**31 else literal_type(str(abs(value)), self._model)
        if name in self._functions:
            return self._functions[name]
        if name in {"__func__", "__FUNCTION__", "__PRETTY_FUNCTION__"}:
            return ArrayType(integer("char", self._model), None)
        return UnknownType(name)

    def _constant(self, node: c_ast.Constant) -> Type:
        prefix = node.value.partition('"' if node.type == "string" else "'")[0]
        if node.type == "string":
            wide = {"L": INT, "u": integer("unsigned short", self._model), "U": UNSIGNED_INT}
            return ArrayType(wide.get(prefix, integer("char", self._model)), None)
        if "'" in node.value:
            kinds = {
                "u": integer("unsigned short", self._model),
                "U": UNSIGNED_INT,
                "u8": integer("unsigned char", self._model),
            }
            return kinds.get(prefix, INT)
        return number_type(node, self._model)

    def _member(self, node: c_ast.StructRef) -> Field | None:
        kind = self._value(node.name)
        if node.type == "->":
            kind = _pointee(kind)
        return field_of(kind, node.field.name) if isinstance(kind, RecordType) else None

    def _call(self, node: c_ast.FuncCall) -> Type:
        if isinstance(node.name, c_ast.ID):
            name = node.name.name
            if name in {"__builtin_offsetof", "offsetof"}:
                return self._size
            if name == "__builtin_va_arg" and node.args is not None:
                return self._scope.resolve(node.args.exprs[-1])
            if name not in self._symbols and name not in self._functions:
                return self._built_in(name)
        kind = self._value(node.name)
        function = kind.target if isinstance(kind, PointerType) else kind
        return function.result if isinstance(function, FunctionType) else UnknownType("call")

    def _built_in(self, name: str) -> Type:
        base = name.removeprefix("__builtin_")
        if base == name:
            return UnknownType(name)
        if is_bit_function(name):
            return bit_function_result(name)
        for kind, suffix in (("double", ""), ("float", "f"), ("long double", "l")):
            if base.endswith(suffix) and base.removesuffix(suffix) in _MATHEMATICS:
                return floating(kind, self._model)
        return INT if base.startswith("is") else UnknownType(name)

    def _unary(self, node: c_ast.UnaryOp) -> Type:
        match node.op:
            case "sizeof" | "_Alignof":
                return self._size
            case "!":
                return INT
            case "&":
                return PointerType(self.visit(node.expr))
            case "*":
                kind = self._value(node.expr)
                return _pointee(kind)
            case "++" | "--" | "p++" | "p--":
                return self.visit(node.expr)
        kind = self._arithmetic(node.expr)
        return (
            kind
            if isinstance(kind, IntegerType | FloatingType | UnknownType)
            else UnknownType(f"operand of {node.op}")
        )

    def _binary(self, node: c_ast.BinaryOp) -> Type:
        if node.op in {"<", ">", "<=", ">=", "==", "!=", "&&", "||"}:
            return INT
        left, right = self._arithmetic(node.left), self._arithmetic(node.right)
        if node.op in {"<<", ">>"}:
            return left if isinstance(left, IntegerType | UnknownType) else UnknownType("shift")
        if isinstance(left, PointerType) or isinstance(right, PointerType):
            if node.op == "-" and isinstance(left, PointerType) and isinstance(right, PointerType):
                return IntegerType("long", 64, signed=True) if self._size.width == 64 else INT
            return left if isinstance(left, PointerType) else right
        return common_type(left, right, self._model)

    def _conditional(self, node: c_ast.TernaryOp) -> Type:
        left, right = self._arithmetic(node.iftrue), self._arithmetic(node.iffalse)
        if isinstance(left, IntegerType | FloatingType) and isinstance(right, IntegerType | FloatingType):
            return common_type(left, right, self._model)
        for kind in (left, right):
            if isinstance(kind, UnknownType | VoidType):
                return kind
        if isinstance(left, PointerType) and isinstance(right, PointerType):
            if _is_null(node.iftrue):
                return right
            if _is_null(node.iffalse):
                return left
            return (
                left
                if isinstance(left.target, VoidType)
                else right
                if isinstance(right.target, VoidType)
                else left
            )
        return left if isinstance(left, PointerType | RecordType) else right


def _pointee(kind: Type) -> Type:
    if isinstance(kind, PointerType):
        return kind.target
    return kind if isinstance(kind, FunctionType | UnknownType) else UnknownType("not a pointer")


def _is_null(node: c_ast.Node) -> bool:
    """Whether ``node`` is a null pointer constant: ``0`` or ``(void *) 0``."""
    if isinstance(node, c_ast.Cast):
        pointer = node.to_type.type
        named = isinstance(pointer, c_ast.PtrDecl) and isinstance(pointer.type, c_ast.TypeDecl)
        if not named or getattr(pointer.type.type, "names", None) != ["void"]:
            return False
        node = node.expr
    return isinstance(node, c_ast.Constant) and integer_value(node.value) == 0
