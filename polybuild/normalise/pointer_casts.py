"""Pointers that are cast where they are followed, as variables with names of their own.

::

    ((double *)m->data)[i * m->cols + j]  ->  m_data_as_double[i * m->cols + j]

``Symbol.cast`` says what the new names stand for. What is cast is a variable, or a member that is reached by
names alone; that nothing in the region follows it as another type, the model finds out.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping

from pycparser import c_ast

from polybuild.c.conversions import decayed
from polybuild.c.declarations import size_of
from polybuild.c.symbols import StorageClass, Symbol
from polybuild.c.syntax_tree import changed_operand, duplicate, key, mapped, walk
from polybuild.c.synthetic import PointerCast, declarator
from polybuild.c.types import ArrayType, FloatingType, IntegerType, PointerType, RecordType
from polybuild.c.typing import type_of
from polybuild.normalise.byte_offsets import uncast, with_byte_offsets
from polybuild.normalise.byte_walkers import with_typed_walkers
from polybuild.normalise.computing_functions import renamed
from polybuild.normalise.named_numbers import without_named_numbers
from polybuild.normalise.names import qualifiers, unused_name
from polybuild.patterns import pattern
from polybuild.source.model import Region

_NOT_OF_NAMES = pattern(r"\W+")
_OBJECTS = (IntegerType, FloatingType, ArrayType, PointerType, RecordType)


def name_pointer_casts(region: Region) -> Region:
    """``region`` with a variable for each pointer that it casts to another type; itself if there are none."""
    if not any(uncast(each) is not each for one in region.statements for each in walk(one)):
        return region
    plain = tuple(renamed(each, {}) for each in region.statements)  # (&s)->m of macros is s.m
    region = without_named_numbers(dataclasses.replace(region, statements=plain))
    region = with_byte_offsets(with_typed_walkers(region))
    casts = {key(each): each for each in _casts(region)}
    casts = {each: casts.get(key(_without_const(cast)), cast) for each, cast in casts.items()}
    taken = region.visible.may_mean_something() | {
        each.name for one in region.statements for each in walk(one) if isinstance(each, c_ast.Decl)
    }
    symbols: dict[str, Symbol] = {}
    known: dict[object, c_ast.Node] = {}
    for cast in casts.values():
        if key(cast) in known:
            continue
        if _is_needless(cast, region):
            known[key(cast)] = uncast(cast)
            continue
        symbol = _symbol(cast, {*taken, *symbols}, region)
        known[key(cast)], symbols[symbol.name] = c_ast.ID(symbol.name), symbol
    names = {each: known[key(cast)] for each, cast in casts.items()}
    return dataclasses.replace(
        region,
        statements=tuple(_named(each, names) for each in region.statements),
        visible=dataclasses.replace(region.visible, symbols={**region.visible.symbols, **symbols}),
    )


def _without_const(cast: c_ast.Node) -> c_ast.Node:
    """``cast`` without ``const``: the same memory may be written by another one."""
    new = mapped(cast, _without_const)
    if isinstance(new, c_ast.TypeDecl | c_ast.Typename | c_ast.PtrDecl):
        new.quals = [each for each in new.quals or () if each != "const"]
    return new


def with_pointer_casts(region: Region) -> Region:
    """``region`` with the casts in place of the variables that stand for them."""
    casts = {name: each.cast for name, each in region.visible.symbols.items() if each.cast is not None}
    if not casts:
        return region
    return dataclasses.replace(region, statements=tuple(renamed(each, casts) for each in region.statements))


def _casts(region: Region) -> Iterator[c_ast.Cast]:
    """The casts in ``region`` of pointers that were there before it."""
    nodes = [each for one in region.statements for each in walk(one)]
    declared = {each.name for each in nodes if isinstance(each, c_ast.Decl)}
    changed = {key(target) for target in map(_changed, nodes) if target is not None}
    for node in nodes:
        if not isinstance(node, c_ast.Cast) or not isinstance(node.to_type.type, c_ast.PtrDecl):
            continue
        *_, root = parts = list(_parts(uncast(node)))
        if not isinstance(root, c_ast.ID) or root.name in declared or root.name not in region.visible.symbols:
            continue
        if not changed.isdisjoint(map(key, parts)):
            continue  # it leads elsewhere then
        pointers = _types(node, region)
        if pointers is not None and isinstance(pointers[0].target, _OBJECTS):
            yield node


def _types(cast: c_ast.Cast, region: Region) -> tuple[PointerType, PointerType] | None:
    """The type of ``cast``, and that of what it casts; None if these are not two pointers."""
    kind = region.visible.scope.resolve(cast.to_type)
    pointer = type_of(uncast(cast), dict(region.visible.symbols), region.visible)
    if isinstance(pointer, ArrayType) and size_of(pointer.element, region.visible.scope) == 1:
        pointer = decayed(pointer)  # a pool of memory
    if not isinstance(kind, PointerType) or not isinstance(pointer, PointerType):
        return None
    return kind, pointer


def _changed(node: c_ast.Node) -> c_ast.Node | None:
    """What ``node`` sets, or takes the address of, so that it may be set."""
    target = node.expr if isinstance(node, c_ast.UnaryOp) and node.op == "&" else None
    return changed_operand(node) or target


def _parts(pointer: c_ast.Node) -> Iterator[c_ast.Node]:
    """``pointer``, the structure or array that it is a member or an element of, and so on."""
    yield pointer
    while isinstance(pointer, c_ast.StructRef) or _is_element(pointer):
        pointer = pointer.name
        yield pointer


def _is_element(node: c_ast.Node) -> bool:
    """Whether ``node`` is an element with a number, as ``args[2]``."""
    return isinstance(node, c_ast.ArrayRef) and isinstance(node.subscript, c_ast.Constant)


def _is_needless(cast: c_ast.Cast, region: Region) -> bool:
    """Whether ``cast`` is to the type that the pointer has anyway, and does not take ``const`` from it."""
    pointers = _types(cast, region)
    if pointers is None or pointers[0].target != pointers[1].target or pointers[0].volatile:
        return False
    symbol = region.visible.symbols.get(getattr(uncast(cast), "name", ""))
    constant = symbol is None or "const" in qualifiers(symbol.declaration)
    return not constant or key(_without_const(cast)) != key(cast)


def _symbol(cast: c_ast.Cast, taken: set[str], region: Region) -> Symbol:
    """The variable for ``cast``, whose name is not ``taken``."""
    pointers = _types(cast, region)
    assert pointers is not None  # noqa: S101 - others are not found
    kind, pointer = pointers
    kind = dataclasses.replace(kind, restrict=pointer.restrict, volatile=kind.volatile or pointer.volatile)
    words = [str(each.name) for each in walk(uncast(cast)) if isinstance(each, c_ast.ID)]
    target = kind.target
    words += ["as", target.name if isinstance(target, IntegerType | FloatingType) else "array"]
    name = unused_name(_NOT_OF_NAMES.sub("_", "_".join(words)), taken)
    inner = declarator(name, target) if isinstance(target, IntegerType | FloatingType) else cast.to_type.type
    declaration = c_ast.Decl(name, [], [], [], [], c_ast.PtrDecl([], inner), None, None, cast.coord)
    stands_for = PointerCast(cast.to_type, uncast(cast), cast.coord)
    stands_for.pointer = kind
    return Symbol(name, kind, StorageClass.LOCAL, declaration, cast=stands_for)


def _named(node: c_ast.Node, names: Mapping[object, c_ast.Node]) -> c_ast.Node:
    """``node`` with ``names`` for what has their keys."""
    if isinstance(node, c_ast.Cast) and key(node) in names:
        return duplicate(names[key(node)], node.coord)
    return mapped(node, lambda each: _named(each, names))
