"""What each identifier of a region is, and what the region does to it.

One walk over the region, before any modelling, resolves every identifier to a
``Variable`` (following C's scopes, so that two ``i`` in two blocks are two
variables) and collects what is written, what counts loops, and what loop
counters are read outside their loops.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Collection, Iterable, Mapping
from dataclasses import field

from pycparser import c_ast

from polybuild.c.literals import integer_value
from polybuild.c.symbols import StorageClass, Symbol
from polybuild.c.syntax_tree import changed_operand, key, location, walk
from polybuild.c.synthetic import EntryNumber, EntryValue, LastValue
from polybuild.c.types import IntegerType, Type
from polybuild.diagnostics import Location, Unsupported
from polybuild.source.model import Region
from polybuild.values import dataclass

_WRITING_UNARY = {"++", "p++", "--", "p--", "&"}
_AUTOMATIC = {"auto", "register"}  # what says nothing of a variable inside a function


@dataclass(frozen=True, slots=True, eq=False)
class Variable:
    """A declared object, compared by identity; ``local`` if declared inside the region."""

    name: str
    type: Type
    storage: StorageClass
    declaration: c_ast.Node
    location: Location
    local: bool = False
    address_taken: bool = False
    volatile: bool = False
    restrict: bool = False
    thread_local: bool = False

    @property
    def is_reachable(self) -> bool:
        """Whether a pointer from elsewhere, or another function, can reach the object."""
        return self.address_taken or self.storage.is_static


@dataclass(frozen=True, slots=True)
class Names:
    """The outcome of resolution.

    ``variables`` maps identifier and declaration nodes to what they name (the walk adds the targets
    of declarations it turns into assignments).
    ``written`` holds the variables the region assigns, apart from loop headers
    that step them; ``written_members`` pairs a root variable with the member
    path (``("n",)`` for ``p->n`` and for ``p->n[i]``) of each assigned member or
    element; ``set_members`` are those of them that are assigned themselves, or
    whose address is taken (``p->n``, not ``p->n[i]``). ``iterators`` gives
    the counter of each loop that has a recognisable one; ``escaping`` are those
    read outside their loops. ``demoted`` are counters of loops that are not
    modelled: they are data like any other variable. ``bound`` gives the argument
    that each pointer parameter of a called function stands for.
    """

    variables: dict[c_ast.Node, Variable]
    outer: Mapping[str, Variable]
    written: frozenset[Variable]
    written_members: frozenset[tuple[Variable, tuple[str, ...]]]
    iterators: Mapping[c_ast.For, Variable]
    escaping: frozenset[Variable]
    demoted: frozenset[Variable] = frozenset()
    bound: Mapping[Variable, c_ast.Node] = field(default_factory=dict)
    set_members: frozenset[tuple[Variable, tuple[str, ...]]] = frozenset()

    def demote(self, loops: Iterable[c_ast.Node]) -> Names:
        """The same names where the counters of ``loops`` are data."""
        counters = {self.iterators[loop] for loop in loops if loop in self.iterators}
        return dataclasses.replace(self, demoted=self.demoted | counters)

    def only_counts(self, variable: Variable) -> bool:
        """Whether ``variable`` has a value only while a loop of the region counts with it."""
        return variable not in self.demoted and variable in self.iterators.values()

    def variables_in(self, node: c_ast.Node) -> list[Variable]:
        """The variables that ``node`` mentions."""
        return [self.variables[each] for each in walk(node) if each in self.variables]


def resolve(region: Region) -> Names:
    """Resolve the identifiers of ``region``."""
    resolver = _Resolver(region)
    for statement in region.statements:
        resolver.visit(statement)
    counters = frozenset(resolver.iterators.values())
    return Names(
        resolver.variables,
        resolver.outer,
        frozenset(resolver.written),
        frozenset(resolver.written_members),
        resolver.iterators,
        frozenset(resolver.read_outside & counters),
        set_members=frozenset(resolver.set_members),
    )


def unused_name(stem: str, taken: Collection[str]) -> str:
    """``stem``, or that with the first number from 2 on, so that it is not ``taken``."""
    candidates = itertools.chain([stem], (f"{stem}_{count}" for count in itertools.count(2)))
    return next(each for each in candidates if each not in taken)


def stepped_name(loop: c_ast.For) -> str | None:
    """The name that the increment of ``loop`` changes, None if it is not a plain name."""
    target = changed_operand(loop.next)
    return str(target.name) if isinstance(target, c_ast.ID) else None


def starting_number(loop: c_ast.For) -> int | None:
    """The number that ``loop`` starts at, None if that is none."""
    first = loop.init.rvalue if isinstance(loop.init, c_ast.Assignment) else loop.init.decls[0].init
    return integer_value(first.value) if isinstance(first, c_ast.Constant) and first.type == "int" else None


def member_path(expression: c_ast.Node) -> tuple[c_ast.ID | None, tuple[str, ...]]:
    """The root identifier of an lvalue and the members on the way, subscripts left out."""
    members: list[str] = []
    while True:
        if isinstance(expression, c_ast.ID):
            return expression, tuple(reversed(members))
        if isinstance(expression, c_ast.StructRef):
            members.append(expression.field.name)
            expression = expression.name
        elif isinstance(expression, c_ast.ArrayRef):
            expression = expression.name
        elif isinstance(expression, c_ast.UnaryOp | c_ast.Cast):
            expression = expression.expr
        elif isinstance(expression, c_ast.BinaryOp):
            expression = expression.left
        else:
            return None, ()


def is_place(node: c_ast.Node) -> bool:
    """Whether ``node`` is a variable, or a member or element of one at a known place: ``a->size[1].x``."""
    while not isinstance(node, c_ast.ID):
        match node:
            case c_ast.ArrayRef(name=node, subscript=c_ast.Constant()) | c_ast.StructRef(name=node):
                pass
            case c_ast.UnaryOp(op="*", expr=node):
                pass
            case _:
                return False
    return True


@dataclasses.dataclass(slots=True)
class _Resolver:
    """The walk itself; ``_scopes`` are the open blocks, innermost last."""

    region: Region
    variables: dict[c_ast.Node, Variable] = field(default_factory=dict)
    outer: dict[str, Variable] = field(default_factory=dict)
    written: set[Variable] = field(default_factory=set)
    written_members: set[tuple[Variable, tuple[str, ...]]] = field(default_factory=set)
    set_members: set[tuple[Variable, tuple[str, ...]]] = field(default_factory=set)
    iterators: dict[c_ast.For, Variable] = field(default_factory=dict)
    read_outside: set[Variable] = field(default_factory=set)
    entries: dict[str, Variable] = field(default_factory=dict)
    known: dict[object, Variable] = field(default_factory=dict)
    _scopes: list[dict[str, Variable]] = field(default_factory=lambda: [{}])
    _active: list[Variable] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.outer = {name: _from_symbol(symbol) for name, symbol in self.region.visible.symbols.items()}

    def visit(self, node: c_ast.Node) -> None:
        """Resolve ``node`` and what is below it."""
        if isinstance(node, c_ast.Compound):
            self._scoped(node.block_items or ())
        elif isinstance(node, c_ast.For):
            self._loop(node)
        elif isinstance(node, c_ast.Decl):
            self._declare(node)
        elif isinstance(node, EntryValue):
            self.variables[node] = self._entry(node.name)
        elif isinstance(node, EntryNumber):
            self.variables[node] = self._entry_number(node)
        elif isinstance(node, LastValue):
            self.variables[node.lvalue] = self.outer[node.lvalue.name]
            self.visit(node.rvalue)
        elif isinstance(node, c_ast.ID):
            variable = self._use(node)
            if variable is not None and variable not in self._active:
                self.read_outside.add(variable)
        elif isinstance(node, c_ast.StructRef):
            self.visit(node.name)
        elif isinstance(node, c_ast.Struct | c_ast.Union):
            return  # what it declares are members
        elif isinstance(node, c_ast.NamedInitializer):
            self.visit(node.expr)  # and what is before it names one
        else:
            if isinstance(node, c_ast.Assignment):
                self._write(node.lvalue)
            elif isinstance(node, c_ast.UnaryOp) and node.op in _WRITING_UNARY:
                self._write(node.expr)
            for child in node:
                self.visit(child)

    def _entry(self, name: str) -> Variable:
        """What ``name`` holds when the region is entered: a variable that nothing changes."""
        return self.entries.setdefault(name, dataclasses.replace(self.outer[name]))

    def _entry_number(self, node: EntryNumber) -> Variable:
        """A number known on entry: one variable for all places that compute it."""
        for each in (node.left, node.right):
            self.visit(each)
        width = 8 * self.region.visible.scope.data_model.pointer_size
        name = "_".join(each.name for each in walk(node) if isinstance(each, c_ast.ID)) or "number"
        kind = IntegerType(
            "long" if width == self.region.visible.scope.data_model.long_width else "long long",
            width,
            signed=True,
        )
        variable = Variable(name, kind, StorageClass.LOCAL, node, location(node))
        return self.known.setdefault(key(node), variable)

    def _scoped(self, nodes: Iterable[c_ast.Node]) -> None:
        self._scopes.append({})
        for each in nodes:
            self.visit(each)
        self._scopes.pop()

    def _lookup(self, name: str) -> Variable | None:
        for scope in reversed(self._scopes):
            if name in scope:
                return scope[name]
        return self.outer.get(name)

    def _use(self, node: c_ast.ID) -> Variable | None:
        variable = self._lookup(node.name)
        if variable is not None:
            self.variables[node] = variable
        return variable

    def _declare(self, node: c_ast.Decl) -> None:
        if isinstance(node.type, c_ast.FuncDecl | c_ast.Struct | c_ast.Union | c_ast.Enum):
            return
        if set(node.storage) - _AUTOMATIC:
            hint = "move the declaration before the region"
            if "static" in node.storage:
                hint += ", or before the function that it calls; constants that nothing changes may stay"
            message = f"'{node.name}' is declared '{' '.join(node.storage)}'"
            raise Unsupported("declaration", message, location(node), hint)
        self.visit(node.type)
        kind = self.region.visible.scope.resolve(node)
        qualified = qualifiers(node)
        variable = Variable(
            name=node.name,
            type=kind,
            storage=StorageClass.LOCAL,
            declaration=node,
            location=location(node),
            local=True,
            volatile=bool(qualified & {"volatile", "_Atomic"}),
        )
        self._scopes[-1][node.name] = variable
        self.variables[node] = variable
        if node.init is not None:
            self.written.add(variable)
            self.visit(node.init)

    def _loop(self, loop: c_ast.For) -> None:
        self._scopes.append({})
        stepped = stepped_name(loop)
        init = loop.init
        declares = isinstance(init, c_ast.DeclList) and [each.name for each in init.decls] == [stepped]
        assigns = (
            isinstance(init, c_ast.Assignment)
            and init.op == "="
            and isinstance(init.lvalue, c_ast.ID)
            and init.lvalue.name == stepped
        )
        counter: Variable | None = None
        if declares:
            self.visit(init)
            counter = self._lookup(str(stepped))
            if counter is not None:
                self.written.discard(counter)
        elif assigns:
            self.visit(init.rvalue)
            counter = self._use(init.lvalue)
        elif init is not None:
            self.visit(init)
        if counter is None:
            if loop.next is not None:
                self.visit(loop.next)
        else:
            self.iterators[loop] = counter
            self._active.append(counter)
            self._step(loop.next)
        for part in (loop.cond, loop.stmt):
            if part is not None:
                self.visit(part)
        if counter is not None:
            self._active.pop()
        self._scopes.pop()

    def _step(self, step: c_ast.Node) -> None:
        """The increment of a counter, which is not a write of data."""
        if isinstance(step, c_ast.Assignment):
            self._use(step.lvalue)
            self.visit(step.rvalue)
        elif isinstance(step, c_ast.UnaryOp):
            self._use(step.expr)

    def _write(self, target: c_ast.Node) -> None:
        if isinstance(target, c_ast.ID):
            variable = self._lookup(target.name)
            if variable is not None:
                self.written.add(variable)
        else:
            root, members = member_path(target)
            variable = self._lookup(root.name) if root is not None else None
            if variable is not None:
                self.written_members.add((variable, members))
                if isinstance(target, c_ast.StructRef):
                    self.set_members.add((variable, members))


def _from_symbol(symbol: Symbol) -> Variable:
    return Variable(
        name=symbol.name,
        type=symbol.type,
        storage=symbol.storage,
        declaration=symbol.declaration,
        location=location(symbol.declaration),
        address_taken=symbol.address_taken,
        volatile=symbol.volatile,
        restrict=symbol.restrict,
        thread_local=symbol.thread_local,
    )


def qualifiers(node: c_ast.Decl) -> set[str]:
    """The qualifiers of a declaration and of every level of its type."""
    found = set(node.quals or ())
    level = node.type
    while level is not None:
        found |= set(getattr(level, "quals", None) or ())
        level = getattr(level, "type", None)
    return found
