"""The names visible at the start of a region, and what the function does with them."""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

from pycparser import c_ast

from polybuild.c.basic_types import DataModel
from polybuild.c.declarations import Scope
from polybuild.c.symbols import StorageClass, Symbol, VisibleNames
from polybuild.c.syntax_tree import changed_operand
from polybuild.c.types import ArrayType, FunctionType, PointerType, RecordType, Type, UnknownType
from polybuild.c.typing import field_of
from polybuild.effort import PARSED_CHUNKS
from polybuild.patterns import pattern
from polybuild.source.blocks import begin_pragma
from polybuild.source.parse import Declared, ParsedFunction
from polybuild.source.tables import dimensions, is_initialised, only_elements_read

_THREADPRIVATE = pattern(r"^[ \t]*#[ \t]*pragma[ \t]+omp[ \t]+threadprivate[ \t]*\(([^)]*)\)", re.MULTILINE)


@dataclass(slots=True)
class _Declarations:
    """What has been declared up to some point of a function."""

    scope: Scope
    symbols: dict[str, Symbol] = field(default_factory=dict)
    functions: dict[str, Type] = field(default_factory=dict)

    def names(self) -> VisibleNames:
        """What is visible at that point."""
        return VisibleNames(self.symbols, self.functions, self.scope)


def _threadprivate_names(text: str) -> frozenset[str]:
    """The variables OpenMP gives to each thread its own copy of."""
    if "threadprivate" not in text:
        return frozenset()
    return frozenset(name.strip() for match in _THREADPRIVATE.finditer(text) for name in match[1].split(","))


def file_scope(declarations: Iterable[Declared], model: DataModel, text: str) -> VisibleNames:
    """What the file of this preprocessed ``text`` declares before the function."""
    visible, threadprivate = _Declarations(Scope(model)), _threadprivate_names(text)
    for declared in declarations:
        _declare(visible, declared.node, StorageClass.GLOBAL, threadprivate, unknown=declared.unknown)
    replaceable = "weak" in text  # by a definition elsewhere
    for name, symbol in visible.symbols.items():
        own = is_initialised(symbol.declaration) and "static" in symbol.declaration.storage
        if symbol.table and replaceable and not own:
            visible.symbols[name] = replace(symbol, table=False)
        elif own and not symbol.table and only_elements_read(text, name, dimensions(symbol.type)):
            visible.symbols[name] = replace(symbol, table=True)
    return visible.names()


def visible_at(
    file: VisibleNames, parsed: ParsedFunction, ancestors: Sequence[c_ast.Node], index: int
) -> VisibleNames:
    """What is visible at the start of region ``index``, which lies inside ``ancestors``."""
    function = parsed.function
    visible = _Declarations(file.scope.inner(), dict(file.symbols), dict(file.functions))
    _declare(visible, function.decl, StorageClass.GLOBAL, ())
    declarator = function.decl.type
    for parameter in declarator.args.params if declarator.args is not None else ():
        if isinstance(parameter, c_ast.Decl):
            _declare(visible, parameter, StorageClass.PARAMETER, ())
    for ancestor in ancestors:
        if isinstance(ancestor, c_ast.For) and isinstance(ancestor.init, c_ast.DeclList):
            _declare_all(visible, ancestor.init.decls)
        elif isinstance(ancestor, c_ast.Compound):
            _declare_block(visible, ancestor, ancestors, index)
        elif isinstance(ancestor, c_ast.Case | c_ast.Default):
            _declare_until(visible, ancestor.stmts or (), ancestors, index)
    uses = _uses_in(function.body)
    symbols = {name: _with_uses(symbol, uses) for name, symbol in visible.symbols.items()}
    return replace(visible.names(), symbols=symbols)


def _declare_block(
    visible: _Declarations, block: c_ast.Compound, ancestors: Sequence[c_ast.Node], index: int
) -> None:
    for item in block.block_items or ():
        if _is_target(item, ancestors, index):
            return
        if isinstance(item, c_ast.Case | c_ast.Default):  # the parser moved a switch's statements there
            _declare_until(visible, item.stmts or (), ancestors, index)
        else:
            _declare_all(visible, [item])


def _declare_until(
    visible: _Declarations, items: Sequence[c_ast.Node], ancestors: Sequence[c_ast.Node], index: int
) -> None:
    for item in items:
        if _is_target(item, ancestors, index):
            return
        _declare_all(visible, [item])


def _is_target(item: c_ast.Node, ancestors: Sequence[c_ast.Node], index: int) -> bool:
    """Whether ``item`` is, or contains, the start of the region."""
    if isinstance(item, c_ast.Pragma):
        return bool(item.string == begin_pragma(index))
    return any(item is ancestor for ancestor in ancestors)


def _declare_all(visible: _Declarations, nodes: Iterable[c_ast.Node]) -> None:
    for node in nodes:
        _declare(visible, node, StorageClass.LOCAL, ())


def _declare(
    visible: _Declarations,
    node: c_ast.Node,
    storage: StorageClass,
    threadprivate: Collection[str],
    *,
    unknown: bool = False,
) -> None:
    """Add what one declaration declares."""
    scope = visible.scope
    if isinstance(node, c_ast.FuncDef):
        node = node.decl
    if isinstance(node, c_ast.Typedef):
        scope.add_typedef(node, unknown=unknown)
        visible.symbols.pop(node.name, None)
        return
    if not isinstance(node, c_ast.Decl):
        return
    kind: Type = scope.resolve(node.type)
    if node.name is None:
        return
    scope.hide(node.name)
    if isinstance(kind, FunctionType) and storage is not StorageClass.PARAMETER:
        visible.symbols.pop(node.name, None)
        visible.functions.setdefault(node.name, kind)
        return
    if unknown:
        kind = UnknownType(node.name)
    elif isinstance(kind, FunctionType):
        kind = PointerType(kind)
    if storage is StorageClass.LOCAL and "extern" in node.storage:
        storage = StorageClass.GLOBAL
    elif storage is StorageClass.LOCAL and "static" in node.storage:
        storage = StorageClass.STATIC
    known = visible.symbols.get(node.name)
    if storage is StorageClass.GLOBAL and known is not None and _says_more(known.type, kind):
        return
    visible.symbols[node.name] = Symbol(
        name=node.name,
        type=kind,
        storage=storage,
        declaration=node,
        volatile=_any_volatile(node.type, scope),
        restrict=_restrict(node.type, kind),
        thread_local="_Thread_local" in node.storage or node.name in threadprivate,
        table=is_initialised(node) and "const" in node.quals,
    )


def _says_more(known: Type, new: Type) -> bool:
    """Whether an earlier declaration of an array had the extent that a later one leaves out."""
    return (
        isinstance(known, ArrayType)
        and isinstance(new, ArrayType)
        and new.extent is None
        and known.extent is not None
    )


def _restrict(node: c_ast.Node, kind: Type) -> bool:
    """Whether the object is a ``restrict`` pointer, or an array with ``restrict`` in its brackets."""
    if isinstance(kind, PointerType):
        return kind.restrict
    return isinstance(node, c_ast.ArrayDecl) and "restrict" in (node.dim_quals or ())


def _any_volatile(node: c_ast.Node | None, scope: Scope) -> bool:
    """Whether ``volatile`` occurs anywhere in a declarator."""
    while isinstance(node, c_ast.TypeDecl | c_ast.PtrDecl | c_ast.ArrayDecl | c_ast.FuncDecl):
        if scope.is_volatile(node):
            return True
        node = node.type
    return node is not None and scope.is_volatile(node)


class _NameUses:
    """How the body of a function uses names: whose address it takes, what it uses bare."""

    def __init__(self, body: c_ast.Node) -> None:
        self.addressed: dict[str, list[c_ast.Node]] = {}  # the lvalues whose address it takes, likewise
        self.changed: set[str] = set()
        self.assigned: set[str] = set()  # those that are changed themselves, not what they lead to
        self.values: dict[str, list[c_ast.Node]] = {}  # maximal lvalues by the name they start from
        self._visit(body)

    def _visit(self, node: c_ast.Node) -> None:
        changed = changed_operand(node)
        if changed is not None and (root := _root(changed)) is not None:
            self.changed.add(root)
            self.assigned |= {root} if isinstance(changed, c_ast.ID) else set()
        if isinstance(node, c_ast.UnaryOp) and node.op == "&":
            if (root := _root(node.expr)) is not None:
                self.addressed.setdefault(root, []).append(node.expr)
            self._below(node.expr)
            return
        if isinstance(node, c_ast.UnaryOp) and node.op in {"sizeof", "_Alignof"}:
            return
        if isinstance(node, c_ast.ID | c_ast.ArrayRef | c_ast.StructRef):
            if (root := _root(node)) is not None:
                self.values.setdefault(root, []).append(node)
            self._below(node)
            return
        for _, child in node.children():
            self._visit(child)

    def _below(self, node: c_ast.Node) -> None:
        """Visit subscripts and what an lvalue starts from, but not its inner lvalues."""
        while isinstance(node, c_ast.ArrayRef | c_ast.StructRef):
            if isinstance(node, c_ast.ArrayRef):
                self._visit(node.subscript)
            node = node.name
        if not isinstance(node, c_ast.ID):
            self._visit(node)


_uses_in = functools.lru_cache(maxsize=PARSED_CHUNKS)(_NameUses)
"""How a body uses names, by its identity: each region of a function asks, and each caller of it."""


def _root(node: c_ast.Node) -> str | None:
    """The name an lvalue starts from, None if it goes through a pointer's target by ``*``."""
    while isinstance(node, c_ast.ArrayRef | c_ast.StructRef):
        node = node.name
    return str(node.name) if isinstance(node, c_ast.ID) else None


def _with_uses(symbol: Symbol, uses: _NameUses) -> Symbol:
    if symbol.name in uses.assigned and isinstance(symbol.type, ArrayType):
        symbol = replace(symbol, type=PointerType(symbol.type.element, restrict=symbol.restrict))
    addressed = uses.addressed.get(symbol.name, ())
    taken = any(not _leads_elsewhere(node, symbol.type) for node in addressed) or any(
        isinstance(_lvalue_type(node, symbol.type), ArrayType) for node in uses.values.get(symbol.name, ())
    )
    if taken:
        return replace(symbol, address_taken=True)
    own = symbol.storage in {StorageClass.LOCAL, StorageClass.STATIC} and is_initialised(symbol.declaration)
    return replace(symbol, table=True) if own and symbol.name not in uses.changed else symbol


def _leads_elsewhere(node: c_ast.Node, root: Type) -> bool:
    """Whether an lvalue that starts from an object of type ``root`` is where a pointer leads."""
    if not isinstance(node, c_ast.ArrayRef | c_ast.StructRef):
        return False
    followed = isinstance(_lvalue_type(node.name, root), PointerType)
    return followed or _leads_elsewhere(node.name, root)


def _lvalue_type(node: c_ast.Node, root: Type) -> Type:
    """The type of an lvalue that starts from an object of type ``root``."""
    if isinstance(node, c_ast.ArrayRef):
        base = _lvalue_type(node.name, root)
        return (
            base.element
            if isinstance(base, ArrayType)
            else base.target
            if isinstance(base, PointerType)
            else base
        )
    if isinstance(node, c_ast.StructRef):
        base = _lvalue_type(node.name, root)
        record = base.target if isinstance(base, PointerType) else base
        member = field_of(record, node.field.name) if isinstance(record, RecordType) else None
        return member.type if member else UnknownType(node.field.name)
    return root
