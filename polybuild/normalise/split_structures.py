"""Copies of whole structures, member by member, and structures of a region's own as their members.

::

    struct point p = at[i];                      double p_x = at[i].x, p_y = at[i].y;
    p.x += v[i].x;                       ->      p_x += v[i].x;
    at[i] = p;                                   at[i].x = p_x; at[i].y = p_y;

Structures that are declared before a region count as its own where it sets what it reads of them, and nobody
reads them after it. Only members that are used are read into variables. What lies between members (padding)
is not copied. This is the scalar replacement of aggregates that compilers do.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field

from pycparser import c_ast

from polybuild.c import types
from polybuild.c.symbols import StorageClass
from polybuild.c.syntax_tree import duplicate, mapped, walk
from polybuild.c.synthetic import declarator, number
from polybuild.c.typing import field_of, type_of
from polybuild.diagnostics import Unsupported
from polybuild.normalise.names import Names, Variable, resolve, unused_name
from polybuild.normalise.upward_exposed import mentioned_after, read_after, read_before_written
from polybuild.source.model import Region

Path = tuple[str, ...]

_PLAIN = (c_ast.ID, c_ast.Constant, c_ast.BinaryOp, c_ast.UnaryOp, c_ast.Cast, c_ast.TypeDecl, c_ast.Typename)
_SIMPLE_UNARY = frozenset({"-", "+", "~"})


def split_structures(region: Region) -> Region:
    """``region`` without copies of whole structures, as far as they can be split; itself if it has none."""
    nodes = [each for statement in region.statements for each in walk(statement)]
    if not any(isinstance(each, c_ast.Decl | c_ast.Assignment) for each in nodes):
        return region
    try:
        own = _set_before_read(region)
        inner = dataclasses.replace(region, statements=(*own, *region.statements))
        splitter = _Splitter(inner, resolve(inner), own)
    except Unsupported:
        return region  # the model says what is wrong
    if not splitter.finds_work([*own, *nodes]):
        return region
    statements = tuple(splitter.statements(inner.statements))
    return dataclasses.replace(region, statements=statements) if splitter.count else region


def _set_before_read(region: Region) -> tuple[c_ast.Decl, ...]:
    """Declarations of the structures of the function that ``region`` might as well declare itself."""
    if region.index < 0:
        return ()
    found = {
        name: each
        for name, each in sorted(resolve(region).outer.items())
        if isinstance(each.declaration, c_ast.Decl)
        and isinstance(each.type, types.RecordType)
        and each.storage in {StorageClass.LOCAL, StorageClass.PARAMETER}
        and not (each.is_reachable or each.volatile or each.thread_local)
    }
    if not found:
        return ()
    wholes = {
        name: _leaves(each.type) or []
        for name, each in found.items()
        if isinstance(each.type, types.RecordType)
    }
    kept = read_after(region.function, region.index, wholes) | read_before_written(region.statements, wholes)
    return tuple(
        c_ast.Decl(name, [], [], [], [], duplicate(each.declaration.type), None, None, region.begin)
        for name, each in found.items()
        if name not in kept
    )


@dataclasses.dataclass(slots=True)
class _Use:
    """What a region does with a structure of its own: the ``members`` it uses, and whether it stores all."""

    record: types.RecordType
    members: set[Path] = field(default_factory=set)
    is_stored: bool = False


class _Splitter:
    """The rewriting of one region; ``count`` tells how much was rewritten.

    ``own`` are declarations that were added to it, which only structures that are split have.
    """

    def __init__(self, region: Region, names: Names, own: Sequence[c_ast.Decl]) -> None:
        self._region = region
        self._names = names
        self._own = frozenset(own)
        self._taken = region.visible.may_mean_something() | {each.name for each in names.variables.values()}
        self._uses: dict[Variable, _Use] = {}
        self._copies: list[tuple[Variable, Variable]] = []
        self._names_of: dict[tuple[Variable, Path], str] = {}
        self.count = 0

    def finds_work(self, nodes: Sequence[c_ast.Node]) -> bool:
        """Whether there are structures to split or to copy by members; finds those of the region's own."""
        after = mentioned_after(self._region.function, self._region.index) if self._region.index >= 0 else ()
        outermost = set(self._region.statements) - self._own
        for each in nodes:
            variable = self._names.variables.get(each) if isinstance(each, c_ast.Decl) else None
            if variable is not None and variable.local and not (each in outermost and variable.name in after):
                record = variable.type
                special = variable.volatile or variable.storage.is_static
                if isinstance(record, types.RecordType) and record.kind == "struct" and not special:
                    self._uses[variable] = _Use(record)
        for statement in self._region.statements:
            self._scan(statement, is_statement=True)
        self._settle()
        return bool(self._uses) or any(self._copied(each) is not None for each in nodes)

    # What is used

    def _scan(self, node: c_ast.Node, *, is_statement: bool = False) -> None:
        if isinstance(node, c_ast.StructRef):
            root, path = _path(node)
            variable = self._names.variables.get(root)
            if variable in self._uses:
                self._uses[variable].members.add(path)
                return
        elif isinstance(node, c_ast.ID):
            self._forget(self._names.variables.get(node))  # used in another way
            return
        elif isinstance(node, c_ast.Decl) and self._names.variables.get(node) in self._uses:
            self._scan_copy(self._names.variables[node], node.init)
            return
        elif isinstance(node, c_ast.Assignment) and is_statement and node.op == "=":
            self._scan_assignment(node)
            return
        for child in node:
            self._scan(child, is_statement=_is_body(node, child))

    def _scan_assignment(self, node: c_ast.Assignment) -> None:
        target = self._names.variables.get(node.lvalue)
        if target in self._uses:
            self._scan_copy(target, node.rvalue)
            return
        source = self._names.variables.get(node.rvalue)
        self._scan(node.lvalue)
        if source in self._uses:
            self._uses[source].is_stored = True
            if not self._is_simple(node.lvalue):
                self._forget(source)
        else:
            self._scan(node.rvalue)

    def _scan_copy(self, target: Variable, value: c_ast.Node | None) -> None:
        """``target``, a structure of the region's own, gets ``value``."""
        if value is None:
            return
        source, record = self._names.variables.get(value), self._uses[target].record
        if source in self._uses and source is not target:
            self._copies.append((target, source))
            return
        self._scan(value)
        splits = self._is_simple(value) and not self._mentions(value, target)
        if isinstance(value, c_ast.InitList):
            splits = _by_members(value, record) is not None
        if not splits or (source is not None and source.local):
            self._forget(target)

    def _settle(self) -> None:
        """Leave only those whose members are all plain, with what copies of them need."""
        changed = True
        while changed:
            changed = False
            for variable, use in list(self._uses.items()):
                if use.is_stored:
                    use.members |= set(_leaves(use.record) or ())
                kinds = [_member(use.record, path) for path in use.members]
                if None in kinds or (use.is_stored and _leaves(use.record) is None):
                    self._forget(variable)
                    changed = True
            for target, source in self._copies:
                if target not in self._uses or source not in self._uses:
                    changed = changed or target in self._uses or source in self._uses
                    self._forget(target)
                    self._forget(source)
                elif not self._uses[target].members <= self._uses[source].members:
                    self._uses[source].members |= self._uses[target].members
                    changed = True

    def _forget(self, variable: Variable | None) -> None:
        """``variable`` stays as it is."""
        if variable is not None:
            self._uses.pop(variable, None)

    def _mentions(self, node: c_ast.Node, variable: Variable) -> bool:
        return any(self._names.variables.get(each) is variable for each in walk(node))

    def _is_simple(self, node: c_ast.Node) -> bool:
        """Whether ``node`` names an object by variables alone, so that it can be named again."""
        if isinstance(node, c_ast.ID):
            return True
        if isinstance(node, c_ast.StructRef):
            return self._is_simple(node.name)
        if isinstance(node, c_ast.ArrayRef):
            return self._is_simple(node.name) and _is_plain(node.subscript)
        return isinstance(node, c_ast.UnaryOp) and node.op == "*" and isinstance(node.expr, c_ast.ID)

    # What becomes of it

    def statements(self, nodes: Sequence[c_ast.Node]) -> Iterator[c_ast.Node]:
        """Statements of a block, of which some become several."""
        for node in nodes:
            variable = self._names.variables.get(node) if isinstance(node, c_ast.Decl) else None
            if variable in self._uses:
                self.count += 1
                yield from self._declarations(variable, node)
                continue
            if node in self._own:
                continue
            copied = self._copied(node)
            if copied is not None:
                self.count += 1
                yield from copied
            else:
                yield self._rewritten(node)

    def _rewritten(self, node: c_ast.Node) -> c_ast.Node:
        if isinstance(node, c_ast.Compound):
            return c_ast.Compound(list(self.statements(node.block_items or ())), node.coord)
        if isinstance(node, c_ast.StructRef):
            root, path = _path(node)
            variable = self._names.variables.get(root)
            if variable in self._uses:
                self.count += 1
                return c_ast.ID(self._name(variable, path), node.coord)
            new = mapped(node, lambda each: each)
            new.name = self._rewritten(node.name)
            return new

        def part(child: c_ast.Node) -> c_ast.Node:
            if not _is_body(node, child) or isinstance(child, c_ast.Compound):
                return self._rewritten(child)
            found = list(self.statements([child]))
            return found[0] if len(found) == 1 else c_ast.Compound(found, child.coord)

        return mapped(node, part)

    def _copied(self, node: c_ast.Node) -> list[c_ast.Node] | None:
        """The assignments that the copy of a structure ``node`` is; None if it is no such copy."""
        if not isinstance(node, c_ast.Assignment) or node.op != "=":
            return None
        target = self._names.variables.get(node.lvalue)
        source = self._names.variables.get(node.rvalue)
        if target in self._uses:
            values = self._values(node.rvalue, self._uses[target])
            paths = sorted(self._uses[target].members)
            return [
                c_ast.Assignment("=", c_ast.ID(self._name(target, path)), values(path), node.coord)
                for path in paths
            ]
        record = self._type(node.lvalue)
        if not isinstance(record, types.RecordType) or (leaves := _leaves(record)) is None:
            return None
        if not self._is_simple(node.lvalue) or not self._is_simple(node.rvalue):
            return None
        if source not in self._uses and self._type(node.rvalue) is not record:
            return None
        values = self._values(node.rvalue, _Use(record))
        lvalue = self._rewritten(node.lvalue)
        return [c_ast.Assignment("=", _below(lvalue, path), values(path), node.coord) for path in leaves]

    def _declarations(self, variable: Variable, node: c_ast.Decl) -> Iterator[c_ast.Node]:
        use = self._uses[variable]
        values = self._values(node.init, use) if node.init is not None else None
        for path in sorted(use.members):
            name, kind = self._name(variable, path), _member(use.record, path)
            value = values(path) if values is not None else None
            yield c_ast.Decl(name, [], [], [], [], _declarator(name, kind), value, None, coord=node.coord)

    def _values(self, value: c_ast.Node, use: _Use) -> Callable[[Path], c_ast.Node]:
        """The value of each member of ``value``."""
        source = self._names.variables.get(value)
        if source in self._uses:
            return lambda path: c_ast.ID(self._name(source, path), value.coord)
        if isinstance(value, c_ast.InitList):
            given = _by_members(value, use.record) or {}
            return lambda path: self._rewritten(given[path[0]]) if path[0] in given else number(0)
        again = self._rewritten(value)
        return lambda path: _below(again, path)

    def _name(self, variable: Variable, path: Path) -> str:
        key = variable, path
        if key not in self._names_of:
            self._names_of[key] = unused_name("_".join((variable.name, *path)), self._taken)
            self._taken = self._taken | {self._names_of[key]}
        return self._names_of[key]

    def _type(self, node: c_ast.Node) -> types.Type:
        symbols = {each.name: each.type for each in self._names.variables_in(node)}
        return type_of(node, symbols, self._region.visible)


def _is_body(node: c_ast.Node, child: c_ast.Node) -> bool:
    """Whether ``child`` is a statement that ``node`` holds."""
    if isinstance(node, c_ast.Compound):
        return True
    return any(
        child is getattr(node, name, None) for name in ("stmt", "iftrue", "iffalse")
    ) and not isinstance(node, c_ast.TernaryOp)


def _path(node: c_ast.StructRef) -> tuple[c_ast.Node, Path]:
    """What ``a.b.c`` begins with, and the members; nothing of ``p->c``."""
    path: list[str] = []
    inner: c_ast.Node = node
    while isinstance(inner, c_ast.StructRef) and inner.type == ".":
        path.append(inner.field.name)
        inner = inner.name
    return inner, tuple(reversed(path))


def _below(value: c_ast.Node, path: Path) -> c_ast.Node:
    """The member of ``value`` at ``path``."""
    found = duplicate(value)
    for name in path:
        found = c_ast.StructRef(found, ".", c_ast.ID(name), value.coord)
    return found


def _is_plain(node: c_ast.Node) -> bool:
    """Whether ``node`` computes with variables and numbers alone."""
    if isinstance(node, c_ast.UnaryOp) and node.op not in _SIMPLE_UNARY:
        return False
    return isinstance(node, _PLAIN) and (isinstance(node, c_ast.Cast) or all(map(_is_plain, node)))


def _member(record: types.RecordType, path: Path) -> types.Type | None:
    """The type of the member of ``record`` at ``path`` if that is a number, or a pointer to numbers."""
    kind: types.Type = record
    for name in path:
        if not isinstance(kind, types.RecordType) or kind.kind != "struct":
            return None
        member = field_of(kind, name)
        if member is None or member.volatile or member.bits is not None:
            return None
        kind = member.type
    target = kind.target if isinstance(kind, types.PointerType) and not kind.volatile else kind
    return kind if isinstance(target, types.IntegerType | types.FloatingType) else None


def _leaves(record: types.RecordType) -> list[Path] | None:
    """All members of ``record`` and of structures in it; None if one is no number."""
    found: list[Path] = []
    for each in record.fields or ():
        if each.volatile or each.bits is not None or not each.name:
            return None
        if isinstance(each.type, types.RecordType) and each.type.kind == "struct":
            inner = _leaves(each.type)
            if inner is None:
                return None
            found += [(each.name, *path) for path in inner]
        elif isinstance(each.type, types.IntegerType | types.FloatingType):
            found.append((each.name,))
        else:
            return None
    return found or None


def _by_members(value: c_ast.InitList, record: types.RecordType) -> dict[str, c_ast.Node] | None:
    """The values of an initialiser by the members they are of; None if it has another form."""
    fields, position = record.fields or (), 0
    found: dict[str, c_ast.Node] = {}
    for each in value.exprs:
        if isinstance(each, c_ast.NamedInitializer):
            if len(each.name) != 1 or not isinstance(each.name[0], c_ast.ID):
                return None
            name, inner = each.name[0].name, each.expr
            position = next((at for at, one in enumerate(fields) if one.name == name), len(fields))
        else:
            inner = each
        if position >= len(fields) or isinstance(inner, c_ast.InitList):
            return None
        if not isinstance(fields[position].type, types.IntegerType | types.FloatingType):
            return None
        found[fields[position].name] = inner
        position += 1
    return found


def _declarator(name: str, kind: types.Type | None) -> c_ast.Node:
    if isinstance(kind, types.PointerType):
        assert isinstance(kind.target, types.IntegerType | types.FloatingType)  # noqa: S101 - see _member
        return c_ast.PtrDecl([], declarator(name, kind.target))
    assert isinstance(kind, types.IntegerType | types.FloatingType)  # noqa: S101 - likewise
    return declarator(name, kind)
