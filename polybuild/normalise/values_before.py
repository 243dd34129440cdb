"""Variables that are set before a region, by others that do not change from there on: as their expressions.

::

    int plane = nx * ny;
    #pragma scop                                       a[z * (nx * ny) + y * nx + x] = 0;
    ... a[z * plane + y * nx + x] = 0;          ->

Likewise a counter that is set right before a loop which counts it down is set once more in the region::

    k = m;                                             k = m;
    #pragma scop                                ->     do { ... } while (--k);
    do { ... } while (--k);

So the model knows that rows of ``nx`` elements fill planes, and that with ``m2 = 2 * m`` the elements
``k + m2`` are others than ``k + m``.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet

from pycparser import c_ast

from polybuild.c import types
from polybuild.c.symbols import StorageClass, Symbol
from polybuild.c.syntax_tree import COMPARISONS, changed_operand, duplicate, mapped, walk
from polybuild.c.synthetic import type_name
from polybuild.c.typing import type_of
from polybuild.diagnostics import Unsupported
from polybuild.effort import VALUE_NODES
from polybuild.normalise.names import Names, Variable, resolve
from polybuild.source.blocks import begin_pragma, place_region
from polybuild.source.model import Region

_COMPUTES = (c_ast.ID, c_ast.Constant, c_ast.BinaryOp, c_ast.Cast)
_OPERATORS = frozenset("+-*")


def with_values_before(region: Region) -> Region:
    """``region`` with the expressions of variables that are set before it; itself if there are none."""
    if region.index < 0:
        return region
    try:
        names = resolve(region)
    except Unsupported:
        return region  # the model says what is wrong
    values = _values(region, names)
    if not values:
        return region

    def replaced(node: c_ast.Node) -> c_ast.Node:
        variable = names.variables.get(node)
        known = isinstance(node, c_ast.ID) and variable is not None and not variable.local
        return duplicate(values[node.name]) if known and node.name in values else mapped(node, replaced)

    return dataclasses.replace(region, statements=tuple(map(replaced, region.statements)))


def with_counters_set(region: Region) -> Region:
    """``region`` with what its first loop counts, but does not start, set again as right before it.

    So is what a loop that starts its counter changes besides, where that chooses elements.
    """
    first = region.statements[0] if region.statements else None
    open_ones = _counted(first) if first is not None and region.index >= 0 else set()
    placement = place_region(region.function, region.index) if open_ones else None
    if placement is None or not isinstance(placement.ancestors[-1], c_ast.Compound) or _jumps(region):
        return region
    kept = _kept(region)
    before = list(enumerate(_before(placement.ancestors, region), 1))
    beside = len(list(_before(placement.ancestors[-1:], region)))
    sets = []
    for position, each in reversed(before[len(before) - beside :]):
        name, value = _assigned(each)
        symbol = region.visible.symbols.get(name)
        is_last = name in open_ones and symbol is not None and _is_counter(symbol)
        if is_last and value is not None and _is_computed(value, position, kept, region):
            sets.append(c_ast.Assignment("=", c_ast.ID(name, value.coord), duplicate(value), value.coord))
        open_ones -= _changed(each)
    return dataclasses.replace(region, statements=(*reversed(sets), *region.statements)) if sets else region


def set_right_before(region: Region, name: str) -> c_ast.Node | None:
    """What the variable ``name`` of the function is set to just before ``region`` runs; None if unknown."""
    for each in reversed(statements_before(region)):
        if name in _changed(each):
            target, value = _assigned(each)
            return value if target == name else None
    return None


def statements_before(region: Region) -> list[c_ast.Node]:
    """The statements of the block around ``region`` that have run just before it; none if that is unknown."""
    placement = place_region(region.function, region.index) if region.index >= 0 else None
    if placement is None or _jumps(region):
        return []
    return list(_before(placement.ancestors[-1:], region))


def _counted(loop: c_ast.Node) -> set[str]:
    """The variables that ``loop`` changes, or what of them chooses elements if it starts a counter.

    Counters that it starts, or loops in it, have no value from before.
    """
    if not isinstance(loop, c_ast.While | c_ast.DoWhile | c_ast.For):
        return set()
    if not isinstance(loop, c_ast.For) or not loop.init:
        return _changed(loop)
    subscripts = [each.subscript for each in walk(loop) if isinstance(each, c_ast.ArrayRef)]
    chosen = {each.name for part in subscripts for each in walk(part) if isinstance(each, c_ast.ID)}
    started = (_changed(each.init) for each in walk(loop) if isinstance(each, c_ast.For) and each.init)
    return (_changed(loop) & chosen).difference(*started)


def _changed(node: c_ast.Node) -> set[str]:
    """The variables that ``node`` declares or sets."""
    targets = {each.name for each in map(changed_operand, walk(node)) if isinstance(each, c_ast.ID)}
    return targets | {each.name for each in walk(node) if isinstance(each, c_ast.Decl)}


def _is_counter(symbol: Symbol) -> bool:
    special = symbol.address_taken or symbol.volatile or symbol.storage.is_static or symbol.thread_local
    return isinstance(symbol.type, types.IntegerType) and not special


def _assigned(node: c_ast.Node) -> tuple[str, c_ast.Node | None]:
    """The variable that the statement ``node`` sets, and to what."""
    match node:
        case c_ast.Decl(init=init) if init is not None and node.name:
            return str(node.name), init
        case c_ast.Assignment(op="=", lvalue=c_ast.ID()):
            return str(node.lvalue.name), node.rvalue
    return "", None


def _values(region: Region, names: Names) -> dict[str, c_ast.Node]:
    """The expressions of what ``region`` reads of such variables, where they relate it to others."""
    kept = _kept(region)
    inside = {each.name for part in region.statements for each in walk(part) if isinstance(each, c_ast.Decl)}
    found: dict[str, c_ast.Node] = {}
    for name, (when, value) in kept.items():
        variable = names.outer.get(name)
        if (
            variable is None
            or value is None
            or not is_own_integer(variable)
            or len(list(walk(value))) > VALUE_NODES
        ):
            continue
        operands = {each.name for each in walk(value) if isinstance(each, c_ast.ID)}
        related = any(each in names.outer for each in operands) and not _is_shifted(value, operands, kept)
        if related and operands.isdisjoint(inside) and _is_computed(value, when, kept, region):
            expression = _converted(value, variable, region)
            if expression is not None:
                found[name] = expression
    return found


def _is_shifted(
    value: c_ast.Node | None, operands: AbstractSet[str], kept: Mapping[str, tuple[int, c_ast.Node | None]]
) -> bool:
    """Whether ``value`` is a sum with what nobody knows, as ``n + t`` in a loop over ``t`` around a region.

    Rows of so many elements are told better by the name.
    """
    is_sum = isinstance(value, c_ast.BinaryOp) and value.op in {"+", "-"}
    unknown = {name for name in operands if kept.get(name, (0, None))[0] and kept[name][1] is None}
    return is_sum and len(operands) > 1 and bool(unknown)


def is_own_integer(variable: Variable) -> bool:
    """Whether ``variable`` is an integer that only the function itself can set."""
    own = variable.storage in {StorageClass.LOCAL, StorageClass.PARAMETER}
    special = variable.is_reachable or variable.volatile or variable.thread_local
    return own and not special and isinstance(variable.type, types.IntegerType) and variable.type.width >= 32


def _kept(region: Region) -> Mapping[str, tuple[int, c_ast.Node | None]]:
    """The variables that keep their value from some time before ``region`` on: since when, and which.

    That is what reaches the region of what they are set to (reaching definitions). Times are those of what
    runs before it, in its order; parameters are set at first. The value is None where it is not known, as
    of what is set under a condition.
    """
    placement = place_region(region.function, region.index)
    if placement is None or _jumps(region):
        return {}
    everything = list(walk(region.function))
    declared = Counter(each.name for each in everything if isinstance(each, c_ast.Decl))
    found: dict[str, tuple[int, c_ast.Node | None]] = {}
    arguments = region.function.decl.type.args
    for each in arguments.params if arguments is not None else ():
        if isinstance(each, c_ast.Decl):
            found[each.name] = 0, None
    before = _before(placement.ancestors, region)
    for position, each in enumerate(before, 1):
        changed = _changed(each)
        found.update(dict.fromkeys(changed, (position, None)))
        name, value = _assigned(each)
        if name in changed and isinstance(each, c_ast.Decl | c_ast.Assignment) and not _changes_in(value):
            found[name] = position, value
    again = {name for each in region.statements for name in _changed(each)}
    return {name: each for name, each in found.items() if declared[name] == 1 and name not in again}


def _changes_in(value: c_ast.Node | None) -> bool:
    return value is not None and bool(_changed(value))


def _jumps(region: Region) -> bool:
    """Whether control may come to ``region`` past what stands before it."""
    return any(isinstance(each, c_ast.Goto | c_ast.Label | c_ast.Switch) for each in walk(region.function))


def _before(ancestors: tuple[c_ast.Node, ...], region: Region) -> Iterator[c_ast.Node]:
    """What has run whenever ``region`` starts, in its order: statements, conditions and loops around it.

    Of a loop around it, that is what earlier iterations did.
    """
    for outer, inner in zip(ancestors, (*ancestors[1:], None), strict=True):
        if isinstance(outer, c_ast.If):
            yield _what_is_compared(outer.cond)
        elif isinstance(outer, c_ast.For | c_ast.While | c_ast.DoWhile):
            yield outer
        for each in outer.block_items or () if isinstance(outer, c_ast.Compound) else ():
            if each is inner or (
                isinstance(each, c_ast.Pragma) and each.string == begin_pragma(region.index)
            ):
                break
            yield each


def _what_is_compared(condition: c_ast.Node) -> c_ast.Node:
    """What ``condition`` compares with what changes nothing; itself if it is no such comparison."""
    compares = isinstance(condition, c_ast.BinaryOp) and condition.op in COMPARISONS
    return condition.left if compares and not _changed(condition.right) else condition


def _is_computed(
    value: c_ast.Node, when: int, kept: Mapping[str, tuple[int, c_ast.Node | None]], region: Region
) -> bool:
    """Whether ``value`` is a sum of products of variables that keep their values since before ``when``."""
    for each in walk(value):
        if isinstance(each, c_ast.Typename | c_ast.TypeDecl | c_ast.IdentifierType):
            continue
        if not isinstance(each, _COMPUTES) or (
            isinstance(each, c_ast.BinaryOp) and each.op not in _OPERATORS
        ):
            return False
        if isinstance(each, c_ast.ID):
            symbol = region.visible.symbols.get(each.name)
            if symbol is None or symbol.address_taken or symbol.volatile or symbol.storage.is_static:
                return False
            if each.name not in kept or kept[each.name][0] >= when:
                return False
    return True


def _converted(value: c_ast.Node, variable: Variable, region: Region) -> c_ast.Node | None:
    """``value`` as ``variable`` has it; None if that is no integer."""
    known = {name: each.type for name, each in region.visible.symbols.items()}
    kind = type_of(value, known, region.visible)
    assert isinstance(variable.type, types.IntegerType)  # noqa: S101 - as of fixed ones
    if not isinstance(kind, types.IntegerType):
        return None
    return value if kind == variable.type else c_ast.Cast(type_name(variable.type), value, value.coord)
