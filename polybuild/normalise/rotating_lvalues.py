"""Pointers that are members or elements and change places in a loop, as variables with names of their own.

::

    for (t = 0; t < steps; t++) {              for (t = 0; t < steps; t++) {
      s->v[i] = f(s->u[i]);                      s_v[i] = f(s_u[i]);
      tmp = s->u; s->u = s->v; s->v = tmp;       tmp = s_u; s_u = s_v; s_v = tmp;
    }                                          }

``Symbol.lvalue`` says what the new names stand for: before the region they have the values that are there,
and what they hold after it is stored there. Nothing else in the region may change these pointers.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Mapping, Sequence

from pycparser import c_ast

from polybuild.c.symbols import StorageClass, Symbol
from polybuild.c.syntax_tree import changed_operand, key, mapped, walk
from polybuild.c.synthetic import declarator
from polybuild.c.types import FloatingType, IntegerType, PointerType, RecordType
from polybuild.c.typing import type_of
from polybuild.normalise.names import unused_name
from polybuild.normalise.number_rotation import find_number_rotation
from polybuild.patterns import pattern
from polybuild.source.model import Region

_LOOPS = (c_ast.For, c_ast.While, c_ast.DoWhile)
_NUMBER = pattern("0|[1-9][0-9]*")
_NOT_OF_NAMES = pattern(r"\W+")


def name_moving_pointers(region: Region) -> Region:
    """``region`` with a variable for each member and element that changes places with others in a loop.

    Itself if there are none, or something else in the region may change one.
    """
    found = _moving(region)
    if not found or not _all_distinct(list(found.values())) or not _change_only_there(region, found):
        return region
    return _with_variables(region, found)


def _with_variables(region: Region, found: Mapping[object, c_ast.Node]) -> Region:
    """``region`` with variables for the objects ``found``, by their keys."""
    taken = region.visible.may_mean_something() | {
        each.name for one in region.statements for each in walk(one) if isinstance(each, c_ast.Decl)
    }
    names: dict[object, str] = {}
    symbols: dict[str, Symbol] = {}
    for each, lvalue in found.items():
        kind = type_of(lvalue, dict(region.visible.symbols), region.visible)
        assert isinstance(kind, PointerType | IntegerType)  # noqa: S101 - others are not found
        name = _name_of(lvalue, {*taken, *symbols})
        names[each], symbols[name] = name, _symbol(name, kind, lvalue)
    return dataclasses.replace(
        region,
        statements=tuple(_named(each, names) for each in region.statements),
        visible=dataclasses.replace(region.visible, symbols={**region.visible.symbols, **symbols}),
    )


def _moving(region: Region) -> dict[object, c_ast.Node]:
    """The lvalues, by their keys, that take part in moves of pointers in loops: what is set, and to what."""
    found: dict[object, c_ast.Node] = {}
    loops = [each for one in region.statements for each in walk(one) if isinstance(each, _LOOPS)]
    for node in (each for loop in loops for each in walk(loop.stmt)):
        moved: tuple[c_ast.Node, ...] = ()
        if isinstance(node, c_ast.Assignment) and node.op == "=":
            moved = (node.lvalue, node.rvalue)
        elif isinstance(node, c_ast.Decl) and node.init is not None:
            moved = (node.init,)
        elif isinstance(node, c_ast.FuncCall):
            moved = tuple(_addressed(node))
        for each in moved:
            if _is_object(each) and _pointer_type(each, region) is not None:
                found.setdefault(key(each), each)
    nodes = [each for loop in loops for each in walk(loop.stmt)]
    targets = [each for each in map(changed_operand, nodes) if each is not None]
    targets += [each for node in nodes if isinstance(node, c_ast.FuncCall) for each in _addressed(node)]
    return found if any(key(each) in found for each in targets) else {}


def name_turning_numbers(region: Region) -> Region:
    """``region`` with a variable for each number in memory that takes turns with others in a loop.

    That is a member, a variable of the file or what a pointer leads to, as ``s->now = 1 - s->now``. Itself if
    there are none, or something else in the region may change one.
    """
    found = dict(_turning(region))
    if not found or not _all_distinct(list(found.values())) or not _change_only_there(region, found):
        return region
    roots = {key(_way(each)[0]) for each in found.values()}
    nodes = (each for one in region.statements for each in walk(one))
    if any(isinstance(each, c_ast.ArrayRef) and key(each.name) in roots for each in nodes):
        return region  # an element may be what the pointer leads to
    if not _stores_elsewhere(region, found):
        return region
    named = _with_variables(region, found)
    loops = [(at, each) for at, each in enumerate(named.statements) if isinstance(each, _LOOPS)]
    turns = any(find_number_rotation(each, named.statements[:at], named) for at, each in loops)
    return named if turns else region


def _turning(region: Region) -> Iterator[tuple[object, c_ast.Node]]:
    """The numbers in memory that loops set to what depends on numbers, and choose elements by."""
    loops = [each for each in region.statements if isinstance(each, _LOOPS)]
    chosen = {
        key(part)
        for loop in loops
        for each in walk(loop)
        if isinstance(each, c_ast.ArrayRef)
        for part in walk(each.subscript)
    }
    for node in (each for loop in loops for each in walk(loop.stmt)):
        if isinstance(node, c_ast.Assignment) and node.op in {"=", "^="}:
            for each in (node.lvalue, node.rvalue):
                if key(each) in chosen and _is_number_in_memory(each, region):
                    yield key(each), each


def _is_number_in_memory(node: c_ast.Node, region: Region) -> bool:
    """Whether ``node`` is a number that functions or pointers may reach, on a way without calculations."""
    if isinstance(node, c_ast.ID):
        symbol = region.visible.symbols.get(node.name)
        if symbol is None or not symbol.storage.is_static:
            return False
    elif not (isinstance(node, c_ast.StructRef) and _is_object(node)) and not _is_followed(node):
        return False
    kind = type_of(node, dict(region.visible.symbols), region.visible)
    return isinstance(kind, IntegerType) and not any(_is_special(each, region) for each in _way(node))


def _is_followed(node: c_ast.Node) -> bool:
    """Whether ``node`` is what the pointer of some name leads to."""
    return isinstance(node, c_ast.UnaryOp) and node.op == "*" and isinstance(node.expr, c_ast.ID)


def _is_special(step: c_ast.Node, region: Region) -> bool:
    """Whether ``step`` is a volatile object, or a part of a word."""
    if isinstance(step, c_ast.ID):
        symbol = region.visible.symbols.get(step.name)
        return symbol is None or symbol.volatile
    if not isinstance(step, c_ast.StructRef):
        return False
    kind = type_of(step.name, dict(region.visible.symbols), region.visible)
    kind = kind.target if isinstance(kind, PointerType) else kind
    fields = (kind.fields or ()) if isinstance(kind, RecordType) else ()
    return not any(
        each.name == step.field.name and not each.volatile and each.bits is None for each in fields
    )


def _stores_elsewhere(region: Region, lvalues: Mapping[object, c_ast.Node]) -> bool:
    """Whether what ``region`` stores in memory, but in ``lvalues``, are other numbers by their types."""
    symbols = dict(region.visible.symbols)
    widths = {type_of(each, symbols, region.visible) for each in lvalues.values()}
    known = {each.width for each in widths if isinstance(each, IntegerType)}
    for target in (changed_operand(each) for one in region.statements for each in walk(one)):
        if target is None or isinstance(target, c_ast.ID) or key(target) in lvalues:
            continue
        kind = type_of(target, symbols, region.visible)
        distinct = isinstance(kind, IntegerType) and kind.width > 8 and kind.width not in known
        if not distinct and not isinstance(kind, FloatingType | PointerType):
            return False
    return True


def _addressed(call: c_ast.FuncCall) -> Iterator[c_ast.Node]:
    """What ``call`` gives the addresses of."""
    for each in call.args or ():
        if isinstance(each, c_ast.UnaryOp) and each.op == "&":
            yield each.expr


def _is_object(node: c_ast.Node) -> bool:
    """Whether ``node`` is a member or an element of a constant number, on a way without calculations."""
    if isinstance(node, c_ast.StructRef):
        return isinstance(node.name, c_ast.ID) or _is_object(node.name)
    return _is_numbered(node) and (isinstance(node.name, c_ast.ID) or _is_object(node.name))


def _is_numbered(node: c_ast.Node) -> bool:
    """Whether ``node`` is an element whose number stands there."""
    constant = isinstance(node, c_ast.ArrayRef) and isinstance(node.subscript, c_ast.Constant)
    return constant and _NUMBER.fullmatch(node.subscript.value) is not None


def _pointer_type(lvalue: c_ast.Node, region: Region) -> PointerType | None:
    """The type of ``lvalue`` if that is a pointer to numbers."""
    kind = type_of(lvalue, dict(region.visible.symbols), region.visible)
    numbers = isinstance(kind, PointerType) and isinstance(kind.target, IntegerType | FloatingType)
    return kind if isinstance(kind, PointerType) and numbers and not kind.volatile else None


def _all_distinct(lvalues: Sequence[c_ast.Node]) -> bool:
    """Whether ``lvalues`` are certainly different objects: other members, or elements, of one object."""
    return all(_are_distinct(one, other) for one, other in itertools.combinations(lvalues, 2))


def _are_distinct(one: c_ast.Node, other: c_ast.Node) -> bool:
    ways = _way(one), _way(other)
    for first, second in zip(*ways, strict=False):
        if key(first) == key(second):
            continue
        if isinstance(first, c_ast.ID):  # two variables: apart as long as no pointer is followed
            return not any(_follows(each) for way in ways for each in way)
        same_kind = type(first) is type(second) and key(_base(first)) == key(_base(second))
        return bool(same_kind and getattr(first, "type", "") == getattr(second, "type", ""))
    return False


def _way(lvalue: c_ast.Node) -> list[c_ast.Node]:
    """``lvalue`` and what it is reached through, the variable first."""
    return [lvalue] if isinstance(lvalue, c_ast.ID) else [*_way(_base(lvalue)), lvalue]


def _base(lvalue: c_ast.Node) -> c_ast.Node:
    """What ``lvalue`` is a part of, or a pointer to it."""
    return lvalue.expr if isinstance(lvalue, c_ast.UnaryOp) else lvalue.name


def _follows(step: c_ast.Node) -> bool:
    if isinstance(step, c_ast.ArrayRef | c_ast.UnaryOp):
        return True
    return isinstance(step, c_ast.StructRef) and step.type == "->"


def _change_only_there(region: Region, lvalues: Mapping[object, c_ast.Node]) -> bool:
    """Whether ``region`` uses what leads to ``lvalues`` for nothing but members and numbered elements.

    No function that it calls may see them but by the addresses that it is given.
    """
    ways = [each for lvalue in lvalues.values() for each in _way(lvalue)]
    roots = [region.visible.symbols.get(str(each.name)) for each in ways if isinstance(each, c_ast.ID)]
    if any(each is None or each.volatile or each.thread_local for each in roots):
        return False
    if any(not _is_structure(each.name, region) for each in ways if isinstance(each, c_ast.StructRef)):
        return False
    nodes = [each for one in region.statements for each in walk(one)]
    if any(isinstance(each, c_ast.FuncCall) and not _is_harmless(each, region, lvalues) for each in nodes):
        return False
    inner = {key(each) for each in ways} - set(lvalues)
    uses = sum(key(each) in inner for each in nodes)
    steps = [
        each
        for each in nodes
        if isinstance(each, c_ast.StructRef)
        or _is_numbered(each)
        or (_is_followed(each) and key(each) in lvalues)
    ]
    return uses == sum(key(_base(each)) in inner for each in steps) and not _redeclared(nodes, roots)


def _redeclared(nodes: Sequence[c_ast.Node], roots: Sequence[Symbol | None]) -> bool:
    names = {each.name for each in roots if each is not None}
    return any(isinstance(each, c_ast.Decl) and each.name in names for each in nodes)


def _is_structure(base: c_ast.Node, region: Region) -> bool:
    """Whether the members of ``base``, or of what it points to, are apart."""
    kind = type_of(base, dict(region.visible.symbols), region.visible)
    kind = kind.target if isinstance(kind, PointerType) else kind
    return isinstance(kind, RecordType) and kind.kind == "struct"


def _is_harmless(call: c_ast.FuncCall, region: Region, lvalues: Mapping[object, c_ast.Node]) -> bool:
    """Whether a function can see ``lvalues`` at most as the ones whose addresses it is given."""
    callee = region.callees.get(call.name.name) if isinstance(call.name, c_ast.ID) else None
    if callee is None or (callee.effects is not None and callee.effects.reads_everything):
        return False
    given = {id(each) for each in _addressed(call) if key(each) in lvalues}
    for each in call.args or ():
        kind = type_of(each, dict(region.visible.symbols), region.visible)
        is_given = isinstance(each, c_ast.UnaryOp) and id(each.expr) in given
        if not is_given and not isinstance(kind, IntegerType | FloatingType):
            return False
    roots = {_way(each)[0].name for each in lvalues.values()}
    return not any(region.visible.symbols[each].storage.is_static for each in roots) or callee.body is None


def _named(node: c_ast.Node, names: Mapping[object, str]) -> c_ast.Node:
    """``node`` with the variables called ``names`` for what has their keys."""
    if isinstance(node, c_ast.ID | c_ast.StructRef | c_ast.ArrayRef | c_ast.UnaryOp) and key(node) in names:
        return c_ast.ID(names[key(node)], node.coord)
    return mapped(node, lambda each: _named(each, names))


def _name_of(lvalue: c_ast.Node, taken: set[str]) -> str:
    """A name that tells what ``lvalue`` is."""
    words = (_NOT_OF_NAMES.sub("", each) for each in _words(lvalue))
    return unused_name("_".join(each for each in words if each), taken)


def _words(lvalue: c_ast.Node) -> Iterator[str]:
    if isinstance(lvalue, c_ast.ID):
        yield str(lvalue.name)
        return
    yield from _words(_base(lvalue))
    if isinstance(lvalue, c_ast.UnaryOp):
        return
    yield str(lvalue.field.name if isinstance(lvalue, c_ast.StructRef) else lvalue.subscript.value)


def _symbol(name: str, kind: PointerType | IntegerType, lvalue: c_ast.Node) -> Symbol:
    target = kind.target if isinstance(kind, PointerType) else kind
    assert isinstance(target, IntegerType | FloatingType)  # noqa: S101 - of a lvalue
    declared = declarator(name, target)
    declared = c_ast.PtrDecl([], declared) if isinstance(kind, PointerType) else declared
    declaration = c_ast.Decl(name, [], [], [], [], declared, None, None, lvalue.coord)
    return Symbol(name, kind, StorageClass.LOCAL, declaration, lvalue=lvalue)
