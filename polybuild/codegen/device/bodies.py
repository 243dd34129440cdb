"""Statement bodies in the language of a device: C's meaning, kept under other rules.

Types are written out, as typedef names stay on the host; enumeration constants
become numbers; functions get arguments of the type that C's prototype asks for,
as both languages choose between overloaded functions; arrays are addressed flat.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

from pycparser import c_ast

from polybuild.c import types
from polybuild.c.literals import rounded_to_double
from polybuild.c.syntax_tree import location
from polybuild.codegen.c.bodies import BodyPrinter
from polybuild.codegen.c.expressions import ATOM, Operand
from polybuild.diagnostics import Unsupported
from polybuild.scop.model import Access, Array
from polybuild.source.model import Region
from polybuild.targets.languages import ARGUMENTS, KernelLanguage, mathematical
from polybuild.values import dataclass

_ABSOLUTE = {
    "abs": types.IntegerType("int", 32, signed=True),
    "labs": types.IntegerType("long", 64, signed=True),
    "llabs": types.IntegerType("long long", 64, signed=True),
}

_BIT_COUNTS = frozenset(f"{name}{suffix}" for name in ("popcount", "parity") for suffix in ("", "l", "ll"))
_INFINITE = {"inf": "1.0", "huge_val": "1.0", "inff": "1.0f", "huge_valf": "1.0f"}
"""Infinity, as gcc's header writes it: what stands over zero."""

Element = Callable[[Array, Sequence[Operand]], str]


def own_name(name: str) -> str:
    """What a variable ``name`` that a body declares for itself is called in kernels: as nothing else is."""
    return f"own_{name}"


class CallableFunctions(Protocol):
    """The user's functions that kernels may call."""

    def name(self, called: str, node: c_ast.Node) -> str | None:
        """What the function ``called`` is called there, None if it is none of the user's."""
        ...


@dataclass(frozen=True, slots=True)
class BodyTexts:
    """What stands for parts of a body: ``accesses`` and ``iterator`` as in BodyPrinter.

    ``element`` gives the text of an element of an array from its subscripts, for
    accesses that have no affine form: their subscripts are printed as written.
    ``functions`` are those that may be called. ``atomic`` is the operator of a body whose assignment other
    threads may make to the same element at the same time, ``pointer`` qualifies a pointer to the element.
    ``copied`` says when the block has a copy of an element, if it has one of some, and gives that.
    """

    accesses: Mapping[int, str]
    iterator: Callable[[str], str | None]
    element: Element
    functions: CallableFunctions
    atomic: str = ""
    pointer: str = ""
    copied: Callable[[Array, Sequence[Operand]], tuple[str, str] | None] = lambda _array, _subscripts: None


class KernelBodyPrinter(BodyPrinter):
    """Prints the body of a statement for a device; raises Unsupported for what it cannot say."""

    def __init__(
        self,
        accesses: Iterable[Access],
        region: Region,
        language: KernelLanguage,
        texts: BodyTexts,
        *,
        own: frozenset[str] = frozenset(),
    ) -> None:
        """``accesses`` are those of the statement, ``own`` the names of its variables."""
        super().__init__(texts.accesses, texts.iterator)
        self._region = region
        self._language = language
        self._element = texts.element
        self._functions = texts.functions
        self._atomic = texts.atomic
        self._pointer = texts.pointer
        self._copied = texts.copied
        self._arrays = {id(access.node): access.array for access in accesses}
        self._hidden = own

    def visit(self, node: c_ast.Node) -> str:
        """The text of ``node``; an access that has no text yet is addressed as it is written."""
        # an access may stand for a whole statement, whose own references are printed then
        reference = isinstance(node, c_ast.ID | c_ast.ArrayRef | c_ast.StructRef)
        if reference and id(node) in self._arrays and id(node) not in self._accesses:
            return self._as_written(node, self._arrays[id(node)])
        return super().visit(node)

    def _as_written(self, node: c_ast.Node, array: Array) -> str:
        return self._element(array, self._subscripts(node, array))

    def _subscripts(self, node: c_ast.Node, array: Array) -> list[Operand]:
        subscripts: list[Operand] = []
        wanted = max(0, len(array.extents) - array.flat + 1)
        base = node
        while len(subscripts) < wanted and isinstance(base, c_ast.ArrayRef | c_ast.StructRef):
            if isinstance(base, c_ast.ArrayRef):
                subscripts.insert(0, self._subscript(base.subscript))
            base = base.name
        if len(subscripts) != wanted or isinstance(base, c_ast.ArrayRef):
            raise _refusal(node, f"this access to '{array.name}'")
        return subscripts

    def _subscript(self, node: c_ast.Node) -> Operand:
        """A subscript as it is written: a number and a name need no parentheses, but counters are casts."""
        name = isinstance(node, c_ast.ID) and (node.name in self._hidden or self._iterator(node.name) is None)
        return Operand(self.visit(node), ATOM if name or isinstance(node, c_ast.Constant) else 0)

    def visit_ID(self, node: c_ast.ID) -> str:  # noqa: N802 - pycparser's naming
        """A counter, an enumeration constant, or a variable that the statement declares itself."""
        if node.name in self._hidden:
            return own_name(node.name)
        text = super().visit_ID(node)
        if text != node.name or self._iterator(node.name) is not None:
            return text
        if node.name in self._region.visible.enumerators:
            return str(self._region.visible.enumerators[node.name])
        raise _refusal(node, f"'{node.name}'")

    def visit_EntryValue(self, node: c_ast.ID) -> str:  # noqa: N802
        """A variable of before the region, of which a kernel knows nothing."""
        raise _refusal(node, f"the value of '{node.name}' on entry")

    def visit_FuncCall(self, node: c_ast.FuncCall) -> str:  # noqa: N802
        """A call of a function of the user's, or of a mathematical one."""
        name = node.name.name.removeprefix("__builtin_") if isinstance(node.name, c_ast.ID) else ""
        arguments = node.args.exprs if node.args is not None else []
        own = self._functions.name(name, node)
        if own is not None:
            return f"{own}({', '.join(map(self.visit, arguments))})"
        if name in _INFINITE and not arguments:
            return f"({_INFINITE[name]} / {_INFINITE[name].replace('1', '0')})"
        if name in _ABSOLUTE and len(arguments) == 1:
            kind = self._language.types.of(_ABSOLUTE[name])
            return f"({kind})abs(({kind})({self.visit(arguments[0])}))"
        if name in _BIT_COUNTS and node.name.name != name and len(arguments) == 1:
            return self._bit_count(name, self.visit(arguments[0]))
        found = mathematical(name)
        if found is None or ARGUMENTS[found[0]] != len(arguments):
            raise _refusal(node, f"the function '{name}'")
        base, single = found
        kind = "float" if single else "double"
        suffix = self._language.functions.of_floats if single else ""
        values = ", ".join(f"({kind})({self.visit(each)})" for each in arguments)
        return f"{base}{suffix}({values})"

    def _bit_count(self, name: str, value: str) -> str:
        """How many bits of ``value`` are set, or, for ``parity``, whether their number is odd."""
        base = name.rstrip("l")
        width = {0: 32, 1: self._region.visible.scope.data_model.long_width, 2: 64}[len(name) - len(base)]
        unsigned = self._language.types.of(types.IntegerType("", width, signed=False))
        count = f"(int){self._language.functions.count_ones[width > 32]}(({unsigned})({value}))"
        return f"({count} & 1)" if base == "parity" else f"({count})"

    def visit_Assignment(self, node: c_ast.Assignment) -> str:  # noqa: N802
        """An assignment, or what it combines its element with, as an atomic operation."""
        if not self._atomic:
            return str(super().visit_Assignment(node))
        return self._atomic_operation(node.lvalue, self.visit(node.rvalue), negated=node.op == "-=")

    def _atomic_operation(self, target: c_ast.Node, value: str, *, negated: bool) -> str:
        array = self._arrays[id(target)]
        assert isinstance(array.element, types.IntegerType)  # noqa: S101 - others have no atomic operations
        unsigned = self._language.types.of(types.IntegerType("", array.element.width, signed=False))
        value = f"({unsigned})({value})"
        if negated:
            value = f"({unsigned})0 - {value}"
        name = self._language.atomics.names[self._atomic]
        update = f"{name}(({self._pointer}{unsigned} *)&{self.visit(target)}, {value})"
        written_so = isinstance(target, c_ast.ArrayRef | c_ast.StructRef) and id(target) not in self._accesses
        copied = self._copied(array, self._subscripts(target, array)) if written_so else None
        if copied is None:
            return update
        # a statement, not an operand: whether threads meet in one element is asked of shared memory first
        shared = self._language.qualifiers.shared_pointer
        return f"{copied[0]} ? {name}(({shared}{unsigned} *)&{copied[1]}, {value}) : {update}"

    def visit_Cast(self, node: c_ast.Cast) -> str:  # noqa: N802
        """A conversion to an arithmetic type, done here for ``long double`` numbers, as ``DBL_MAX`` is."""
        kind = self._region.visible.scope.resolve(node.to_type)
        if isinstance(kind, types.FloatingType) and kind.name == "double" and not kind.complex:
            value = rounded_to_double(node.expr)
            if value is not None:
                return repr(value)
        return f"({self._type(node.to_type)}){self._operand(node.expr)}"

    def visit_ExactCast(self, node: c_ast.Cast) -> str:  # noqa: N802
        """A conversion."""
        return self.visit_Cast(node)

    def _operand(self, node: c_ast.Node) -> str:
        return f"({self.visit(node)})"

    def visit_Decl(self, node: c_ast.Decl, no_type: bool = False) -> str:  # noqa: N802, ARG002
        """A variable that the statement declares for itself: a scalar, or an array of constant extents."""
        extents, kind = "", node.type
        while isinstance(kind, c_ast.ArrayDecl) and kind.dim is not None:
            extents += f"[{self.visit(kind.dim)}]"
            kind = kind.type
        if not isinstance(kind, c_ast.TypeDecl) or {"static", "extern"}.intersection(node.storage):
            raise _refusal(node, "this declaration")
        self._hidden |= {node.name}
        initial = f" = {self._visit_expr(node.init)}" if node.init is not None else ""
        return f"{self._type(kind)} {own_name(node.name)}{extents}{initial}"

    def visit_Constant(self, node: c_ast.Constant) -> str:  # noqa: N802
        """A number; what is ``long long`` on the host is as long on the device."""
        if node.type in {"string", "long double"}:
            raise _refusal(node, "this constant")
        if "int" in node.type and self._language.types.widest == "long":
            text = str(node.value).lower()
            return text.replace("ll", "l")
        return str(node.value)

    def visit_UnaryOp(self, node: c_ast.UnaryOp) -> str:  # noqa: N802
        """An operation."""
        if node.op in {"sizeof", "&", "*", "_Alignof"}:
            raise _refusal(node, f"the operator '{node.op}'")
        if self._atomic and node.op in {"++", "p++", "--", "p--"}:
            return self._atomic_operation(node.expr, "1", negated=node.op in {"--", "p--"})
        return str(super().visit_UnaryOp(node))

    def visit_ArrayRef(self, node: c_ast.ArrayRef) -> str:  # noqa: N802
        """An element of a variable that the statement declares itself."""
        base = node
        while isinstance(base, c_ast.ArrayRef):
            base = base.name
        if isinstance(base, c_ast.ID) and base.name in self._hidden:
            return f"{self.visit(node.name)}[{self.visit(node.subscript)}]"
        raise _refusal(node, f"'{base.name}'" if isinstance(base, c_ast.ID) else "this access")

    def visit_StructRef(self, node: c_ast.StructRef) -> str:  # noqa: N802
        """What is no known access."""
        raise _refusal(node, "this access")

    def _type(self, node: c_ast.Node) -> str:
        text = self._language.types.of(self._region.visible.scope.resolve(node))
        if text is None:
            raise _refusal(node, "this type")
        return text


def _refusal(node: c_ast.Node, what: str) -> Unsupported:
    return Unsupported("device", f"{what} has no counterpart on a device", location(node), "")
