"""Pointers to bytes that are moved, and cast where they are followed: pointers to what they are cast to.

::

    for (i = 0; i < n; i++) {              for (i = 0; i < n; i++) {
      *(double *)to = *(double *)from;       *to_as_double = *from_as_double;
      to += a; from += b;              ->    to_as_double += a / 8; from_as_double += b / 8;
    }                                      }

The loops of universal functions of NumPy are written so, and those over buffers of any language.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator, Mapping

from pycparser import c_ast

from polybuild.c.symbols import StorageClass
from polybuild.c.syntax_tree import duplicate, mapped, walk
from polybuild.c.synthetic import ElementPointer
from polybuild.c.types import IntegerType, PointerType, Type, VoidType
from polybuild.diagnostics import Unsupported
from polybuild.normalise.byte_offsets import moved, uncast, unmoved
from polybuild.normalise.names import Names, Variable, resolve, unused_name
from polybuild.normalise.upward_exposed import read_after, read_before_written
from polybuild.normalise.whole_elements import WholeElements
from polybuild.source.model import Region
from polybuild.values import dataclass


def with_typed_walkers(region: Region) -> Region:
    """``region`` with pointers to elements in place of those to bytes; itself if there are none."""
    try:
        names = resolve(region)
    except Unsupported:
        return region  # the model says what is wrong
    outliving = read_after(region.function, region.index)
    own = (each for each in names.variables.values() if each.local or each.name not in outliving)
    uses = _ByteUses(region, names, {each for each in own if _walks(each, names)})
    elements = WholeElements(region, names)
    read = read_before_written(region.statements, {})
    kinds = {each: cast for each in uses.plain(read) if (cast := uses.kind(each, elements)) is not None}
    if not kinds:
        return region
    taken = region.visible.may_mean_something() | {each.name for each in names.variables.values()}
    walkers: dict[Variable, _TypedWalker] = {}
    for variable, cast in kinds.items():
        name = variable.name if variable.local else unused_name(f"{variable.name}_in_elements", taken)
        taken |= {name}
        walkers[variable] = _TypedWalker(name, cast, uses.size(cast, elements) or 1, variable.name)
    rewriting = _InElements(names, walkers, elements)
    try:
        statements = [rewriting.visit(each) for each in region.statements]
    except _NotWhole:
        return region
    first = [
        each.declared(c_ast.ID(variable.name) if variable.name in read else None)
        for variable, each in walkers.items()
        if not variable.local
    ]
    return dataclasses.replace(region, statements=(*first, *statements))


class _NotWhole(Exception):
    """A pointer may be moved by a part of an element."""


@dataclass(frozen=True, slots=True)
class _TypedWalker:
    """The pointer called ``name``, to elements of ``size`` bytes, of the type that ``cast`` is to.

    It stands for the pointer ``original`` to bytes.
    """

    name: str
    cast: c_ast.Cast
    size: int
    original: str

    def declared(self, value: c_ast.Node | None, coord: object = None) -> c_ast.Decl:
        """Its declaration; ``value`` is a pointer to bytes, if it has a value from the start."""
        kind = duplicate(self.cast.to_type.type)
        kind.type.declname = self.name
        start = None if value is None else c_ast.Cast(self.cast.to_type, value, coord)
        declaration = ElementPointer(self.name, [], [], [], [], kind, start, None, coord)
        declaration.original = self.original
        return declaration


def _walks(variable: Variable, names: Names) -> bool:
    """Whether ``variable`` is a pointer to bytes that the region sets, and nobody else knows."""
    kind = variable.type
    if variable.address_taken or variable.volatile or variable.thread_local or variable not in names.written:
        return False
    if variable.storage not in {StorageClass.LOCAL, StorageClass.PARAMETER}:
        return False
    target = kind.target if isinstance(kind, PointerType) and not kind.volatile else None
    return isinstance(target, VoidType) or (isinstance(target, IntegerType) and target.width == 8)


def _root(pointer: c_ast.Node) -> c_ast.Node:
    """What ``pointer`` is moved from, and cast."""
    pointer = uncast(pointer)
    while (move := moved(pointer)) is not None:
        pointer = uncast(move[0])
    return pointer


class _ByteUses:
    """How a region uses ``candidates``: what they are cast to, and which of them are set from each other."""

    def __init__(self, region: Region, names: Names, candidates: Collection[Variable]) -> None:
        self._region = region
        self._names = names
        self._casts: dict[Variable, list[c_ast.Cast]] = {each: [] for each in candidates}
        self._set_from: dict[Variable, set[Variable]] = {each: {each} for each in candidates}
        self._placed: set[Variable] = set()
        self._understood: set[int] = set()
        for statement in region.statements if candidates else ():
            for node in walk(statement):
                self._note(node)

    def plain(self, read: Collection[str]) -> Iterator[Variable]:
        """Those that are used in no other way; where they are ``read`` first they only move from there."""
        others = {
            variable
            for node, variable in self._names.variables.items()
            if isinstance(node, c_ast.ID) and id(node) not in self._understood
        }
        others |= {each for each in self._placed if not each.local and each.name in read}
        kept = {each for each in self._casts if others.isdisjoint(self._alike(each))}
        yield from sorted(kept, key=lambda each: each.name)

    def kind(self, variable: Variable, elements: WholeElements) -> c_ast.Cast | None:
        """A cast to the one type that a variable and those alike are cast to; None where there are others."""
        casts = [each for one in self._alike(variable) for each in self._casts[one]]
        kinds = {self._type(each) for each in casts}
        if len(kinds) != 1 or not isinstance(casts[0].to_type.type.type, c_ast.TypeDecl):
            return None
        if self.size(casts[0], elements) is None:
            return None
        return min(casts, key=lambda each: len(each.to_type.type.type.quals or ()))

    def size(self, cast: c_ast.Cast, elements: WholeElements) -> int | None:
        """The bytes of what ``cast`` leads to."""
        kind = self._type(cast)
        known = isinstance(kind, PointerType) and not isinstance(kind.target, VoidType)
        return elements.size(kind.target) if known and isinstance(kind, PointerType) else None

    def _type(self, cast: c_ast.Cast) -> Type:
        return self._region.visible.scope.resolve(cast.to_type)

    def _alike(self, variable: Variable) -> set[Variable]:
        """``variable`` with those that are set from each other."""
        pending, found = [variable], {variable}
        while pending:
            new = self._set_from[pending.pop()] - found
            found |= new
            pending += new
        return found

    def _note(self, node: c_ast.Node) -> None:
        if isinstance(node, c_ast.Decl) and node.init is not None:
            self._set(self._variable(node), node.init)
        elif isinstance(node, c_ast.Assignment) and node.op in {"=", "+=", "-="}:
            variable = self._variable(node.lvalue)
            if variable is not None:
                self._understood.add(id(node.lvalue))
            if node.op == "=":
                self._set(variable, node.rvalue)
        elif uncast(node) is not node and id(node) not in self._understood:
            variable = self._follow(node)
            if variable is not None:
                self._casts[variable].append(node)

    def _variable(self, node: c_ast.Node) -> Variable | None:
        """The candidate that ``node`` names."""
        variable = self._names.variables.get(node)
        return variable if variable in self._casts else None

    def _set(self, variable: Variable | None, value: c_ast.Node) -> None:
        other = None if variable is None else self._follow(value)
        if variable is not None and other is not None:
            self._set_from[variable].add(other)
            self._set_from[other].add(variable)
        elif variable is not None:
            self._placed.add(variable)

    def _follow(self, pointer: c_ast.Node) -> Variable | None:
        """The candidate that ``pointer`` is moved from; it and all casts on the way are understood then."""
        root = _root(pointer)
        variable = self._variable(root)
        if variable is not None:
            self._understood.add(id(root))
        while pointer is not root:
            self._understood.add(id(pointer))
            move = None if isinstance(pointer, c_ast.Cast) else moved(pointer)
            pointer = pointer.expr if move is None else move[0]
        return variable


@dataclass(frozen=True, slots=True)
class _InElements:
    """Writes ``walkers`` for pointers to bytes."""

    names: Names
    walkers: Mapping[Variable, _TypedWalker]
    elements: WholeElements

    def visit(self, node: c_ast.Node) -> c_ast.Node:
        """``node`` in elements. Raises _NotWhole."""
        if isinstance(node, c_ast.Decl) and (own := self._walker(node)) is not None:
            declared = own.declared(node.init, node.coord)
            if node.init is not None:
                declared.init = self._value(own, node.init)
            return declared
        if isinstance(node, c_ast.Assignment) and (own := self._walker(node.lvalue)) is not None:
            same = node.op == "="
            value = self._value(own, node.rvalue) if same else self._step(own, node.rvalue)
            return c_ast.Assignment(node.op, c_ast.ID(own.name, node.coord), value, node.coord)
        if uncast(node) is not node and (own := self._walker(_root(node))) is not None:
            return self._value(own, node)
        return mapped(node, self.visit)

    def _walker(self, node: c_ast.Node) -> _TypedWalker | None:
        variable = self.names.variables.get(node)
        return None if variable is None else self.walkers.get(variable)

    def _value(self, own: _TypedWalker, pointer: c_ast.Node) -> c_ast.Node:
        """``pointer``, to bytes, as one to the elements of ``own``."""
        walker = self._walker(_root(pointer))
        if walker is None:
            return c_ast.Cast(own.cast.to_type, mapped(pointer, self.visit), pointer.coord)
        move = unmoved(uncast(pointer), own.size, self.elements)
        if move is None:
            raise _NotWhole
        base, offset = move
        start = c_ast.ID(walker.name, base.coord)
        return start if offset is None else c_ast.BinaryOp("+", start, self.visit(offset), base.coord)

    def _step(self, own: _TypedWalker, by: c_ast.Node) -> c_ast.Node:
        """``by`` bytes in elements of ``own``."""
        found = self.elements.moved_by(by, 1, own.size)
        if found is None:
            raise _NotWhole
        return self.visit(found)
