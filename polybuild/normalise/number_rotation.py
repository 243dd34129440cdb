"""Numbers of grids, or of where they begin, that come back after a few steps: each of these has its own.

::

    for (t = 0; t < steps; t++) {              for (t = 0; t < steps; t++, step++)
      u[1 - cur][i] = f(u[cur][i]);              if (step % 2 == 0) { cur = cur'; u[1 - cur][i] = ... }
      cur = 1 - cur;                             else               { cur = 1 - cur'; u[1 - cur][i] = ... }
    }                                          cur = step % 2 == 0 ? cur' : 1 - cur';

(``cur'`` is the value before the loop.) So it is with offsets, ``from = 0, to = n * n`` of two grids in one
array. Numbers that begin with constants need none of this: ``periodic_values.py`` follows them as ``t % 2``.
Where what they begin with is not known, it has to be one of the few numbers that they take in turn.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce

from pycparser import c_ast

from polybuild.c.conversions import holds
from polybuild.c.symbols import Symbol
from polybuild.c.syntax_tree import (
    changed_operand,
    duplicate,
    key,
    mapped,
    names_addressed_in,
    names_in,
    replaced,
    walk,
)
from polybuild.c.synthetic import never, number
from polybuild.c.types import IntegerType
from polybuild.c.typing import type_of
from polybuild.effort import STORAGE_PERIODS
from polybuild.normalise.constant_values import constant_value
from polybuild.normalise.rotations import (
    JUMPS,
    LOOPS,
    Loop,
    Rotation,
    cycle_length,
    is_followed,
    on_entry,
    phases_of,
    returns_later,
)
from polybuild.normalise.upward_exposed import read_after
from polybuild.source.model import Region
from polybuild.values import dataclass

TURNS = '"the numbers of grids that take turns must be those of the grids"'
_COMPUTES = (c_ast.ID, c_ast.Constant, c_ast.BinaryOp, c_ast.UnaryOp, c_ast.Cast, c_ast.TernaryOp)
_TYPE_NAMES = (c_ast.Typename, c_ast.TypeDecl, c_ast.IdentifierType)


def find_number_rotation(loop: Loop, before: Sequence[c_ast.Node], region: Region) -> Rotation | None:
    """How numbers take turns in ``loop``, which stands after ``before``; None if none do.

    None, too, where all begin with constants, and where what else the loop sets is read after it.
    """
    inside = list(walk(loop.stmt))
    if any(isinstance(each, JUMPS) for each in inside) or not isinstance(loop.stmt, c_ast.Compound):
        return None
    left = _left(loop, region) if any(isinstance(each, LOOPS) for each in inside) else {}
    nodes = (each for one in region.statements for each in walk(one))
    own = {each.name for each in walk(loop) if isinstance(each, c_ast.Decl)} | names_addressed_in(nodes)
    starts = {
        each: start for each in left.keys() - own if (start := _start(each, before, region)) is not None
    }
    if not starts:
        return None
    kept = {each: start for each, start in starts.items() if _keeps(each, start, before, region)}
    kept = kept if _of_one_type(left, (*before, loop), region) else {}
    turns = _swapped(left, kept, loop) or _independent(left, starts, loop, (before, region))
    values = [] if turns is None else [each for phase in turns.phases for each in phase.values()]
    if turns is None or all(constant_value(each) is not None for each in values):
        return None
    live = read_after(region.function, region.index) if region.index >= 0 else frozenset[str]()
    others = left.keys() - own - turns.phases[0].keys()
    return None if others & live else Rotation(turns.phases, {}, turns.tests)


@dataclass(frozen=True, slots=True)
class _Turns:
    """The values of variables in each iteration of a period, if the ``tests`` are passed."""

    phases: tuple[Mapping[str, c_ast.Node], ...]
    tests: tuple[c_ast.Node, ...] = ()


def _left(loop: Loop, region: Region) -> dict[str, c_ast.Node]:
    """What an iteration leaves in numbers that its statements set, by what they and others are before it."""
    values: dict[str, c_ast.Node] = {}
    times: Counter[str] = Counter()

    def after(node: c_ast.Node) -> c_ast.Node:
        known = isinstance(node, c_ast.ID) and node.name in values
        return duplicate(values[node.name]) if known else mapped(node, after)

    for each in loop.stmt.block_items or ():
        for name, value in _settings(each):
            times[name] += 1
            values[name] = after(value)
    written = [each.name for each in map(changed_operand, walk(loop)) if isinstance(each, c_ast.ID)]
    written += [each.name for each in walk(loop) if isinstance(each, c_ast.Decl)]
    whole = {each for each, count in times.items() if written.count(each) == count}
    kinds = {each: region.visible.symbols.get(each) for each in whole}
    numbers = {each for each, known in kinds.items() if known is None or _is_number(known)}
    unsteady = {each for each in written if each not in numbers}
    return {
        each: value
        for each, value in values.items()
        if each in numbers and _is_plain(value) and unsteady.isdisjoint(names_in(value))
    }


def _is_number(symbol: Symbol) -> bool:
    """Whether the variable ``symbol`` keeps small numbers as they are."""
    return isinstance(symbol.type, IntegerType) and symbol.type.width > 1


def _of_one_type(left: Mapping[str, c_ast.Node], statements: Sequence[c_ast.Node], region: Region) -> bool:
    """Whether the numbers that are set, or kept, in turn have one type: their values are kept as they are."""
    kinds = {each: symbol.type for each, symbol in region.visible.symbols.items()}
    declared = (each for one in statements for each in walk(one) if isinstance(each, c_ast.Decl))
    kinds |= {each.name: region.visible.scope.resolve(each) for each in declared}
    turning = {each for each, value in left.items() if left.keys() & set(names_in(value))}
    return len({kinds.get(each) for each in turning}) == 1


def _settings(node: c_ast.Node) -> Iterator[tuple[str, c_ast.Node]]:
    """The variables that the statement ``node`` sets, with what to."""
    match node:
        case c_ast.Assignment(lvalue=c_ast.ID()):
            value = node.rvalue
            if node.op != "=":
                value = c_ast.BinaryOp(node.op[:-1], duplicate(node.lvalue), value, node.coord)
            yield node.lvalue.name, value
        case c_ast.DeclList() | c_ast.ExprList():
            for each in node:
                yield from _settings(each)
        case c_ast.Decl() if node.init is not None and _declares_number(node):
            yield node.name, node.init
        case c_ast.DoWhile(cond=c_ast.Constant(value="0"), stmt=c_ast.Compound()):
            for each in node.stmt.block_items or ():
                yield from _settings(each)


def _declares_number(node: c_ast.Decl) -> bool:
    """Whether ``node`` declares a number that is no truth value."""
    return (
        isinstance(node.type, c_ast.TypeDecl)
        and isinstance(node.type.type, c_ast.IdentifierType)
        and {"_Bool", "bool", "float", "double"}.isdisjoint(node.type.type.names)
    )


def _is_plain(value: c_ast.Node) -> bool:
    return all(
        isinstance(each, _COMPUTES + _TYPE_NAMES)
        and (not isinstance(each, c_ast.UnaryOp) or each.op in {"!", "-", "+"})
        for each in walk(value)
    )


def _start(name: str, before: Sequence[c_ast.Node], region: Region) -> c_ast.Node | None:
    """What the number ``name`` is after the statements ``before``; None if that cannot be followed."""
    settings = {target: value for each in before for target, value in _settings(each)}
    targets = [*_set_in(before), *_declared_in(before)]
    symbol = region.visible.symbols.get(name)
    if name not in targets:
        known = is_followed(symbol) and symbol is not None and isinstance(symbol.type, IntegerType)
        return on_entry(name, region) if known else None
    if targets.count(name) > 1 or name not in settings or (symbol is not None and not is_followed(symbol)):
        return None
    value = settings[name]
    changing = {*targets, *_set_in(region.statements)}
    fixed = changing.isdisjoint(names_in(value)) and _is_plain(value)
    return value if fixed else None


def _set_in(statements: Sequence[c_ast.Node]) -> list[str]:
    """The names of the variables that ``statements`` assign, as often as they do."""
    targets = (changed_operand(each) for one in statements for each in walk(one))
    return [each.name for each in targets if isinstance(each, c_ast.ID)]


def _declared_in(statements: Sequence[c_ast.Node]) -> list[str]:
    return [each.name for one in statements for each in walk(one) if isinstance(each, c_ast.Decl)]


def _keeps(name: str, value: c_ast.Node, before: Sequence[c_ast.Node], region: Region) -> bool:
    """Whether the variable ``name`` can be ``value`` as it is."""
    symbols = {each: symbol.type for each, symbol in region.visible.symbols.items()}
    declared = (each for one in before for each in walk(one) if isinstance(each, c_ast.Decl))
    symbols |= {each.name: region.visible.scope.resolve(each) for each in declared}
    kind, own = symbols.get(name), type_of(value, symbols, region.visible)
    constant = constant_value(value)
    if not isinstance(kind, IntegerType) or not isinstance(own, IntegerType):
        return False
    return holds(kind, own) or (constant is not None and constant >= 0)


def _swapped(left: Mapping[str, c_ast.Node], starts: Mapping[str, c_ast.Node], loop: Loop) -> _Turns | None:
    """Numbers of which each gets the value of another one, or of itself some iterations ago."""
    ends = {each: str(value.name) for each, value in left.items() if isinstance(value, c_ast.ID)}
    moved = {each: ends[each] for each in ends if each in starts and returns_later(each, ends)}
    period = math.lcm(*(cycle_length(each, moved) for each in moved)) if moved else 0
    if period not in STORAGE_PERIODS or not moved.keys() <= starts.keys():
        return None
    unknown = [each for each in moved if _begins_unknown(starts[each])]
    if not unknown or len(moved) != 2 or not moved.keys() <= _planes(loop):
        return _Turns(tuple(phases_of(moved, starts, period)))
    names = sorted(moved, key=lambda each: each not in unknown)
    first, other = (starts[each] for each in names)
    test = _other(names[1], (first, other), loop)
    known = {names[0]: first, **test.phases[0]}
    return _Turns(tuple(phases_of(moved, known, period)), (*_within(first, 2, loop), *test.tests))


def _begins_unknown(start: c_ast.Node) -> bool:
    """Whether ``start`` is what a variable, or an object in memory, has before the region."""
    return isinstance(start, c_ast.ID | c_ast.StructRef | c_ast.ArrayRef | c_ast.UnaryOp)


def _planes(loop: Loop) -> set[str]:
    """The variables that are subscripts as they are."""
    subscripts = (each.subscript for each in walk(loop) if isinstance(each, c_ast.ArrayRef))
    return {each.name for each in subscripts if isinstance(each, c_ast.ID)}


def _independent(
    left: Mapping[str, c_ast.Node],
    starts: Mapping[str, c_ast.Node],
    loop: Loop,
    around: tuple[Sequence[c_ast.Node], Region],
) -> _Turns | None:
    """Numbers that take others in turn, whatever else the loop sets; as many as all have one period.

    Of several of whose values nothing is known the second is the one that the first is not.
    """
    found: list[_Turns] = []
    unknown: list[c_ast.Node] = []
    for name, value in left.items():
        if name not in starts or left.keys() & set(names_in(value)) != {name}:
            continue
        turns = _turns(name, left, starts[name], loop, around)
        if turns is None or (found and len(found[0].phases) != len(turns.phases)):
            continue
        if _begins_unknown(starts[name]):
            unknown.append(starts[name])
            if len(unknown) > 1:
                turns = _other(name, unknown, loop) if len(turns.phases) == 2 else None
        if turns is None or len(unknown) > 2:
            return None
        found.append(turns)
    phases = zip(*(each.phases for each in found), strict=True)
    merged = tuple({name: value for part in parts for name, value in part.items()} for parts in phases)
    return _Turns(merged, tuple(test for each in found for test in each.tests)) if found else None


def _other(name: str, starts: Sequence[c_ast.Node], loop: Loop) -> _Turns:
    """The turns of the number ``name``, of two the one that another is not; ``starts`` has its own last."""
    first, own = starts[0], starts[-1]
    both = c_ast.BinaryOp("+", duplicate(first), duplicate(own), loop.coord)
    phases = c_ast.BinaryOp("-", number(1), duplicate(first), loop.coord), duplicate(first)
    test = never(c_ast.BinaryOp("!=", both, number(1), loop.coord), TURNS)
    return _Turns(tuple({name: each} for each in phases), (test,))


def _turns(
    name: str,
    left: Mapping[str, c_ast.Node],
    start: c_ast.Node,
    loop: Loop,
    around: tuple[Sequence[c_ast.Node], Region],
) -> _Turns | None:
    """The turns of the number ``name`` that begins with ``start``, by what is ``left`` in it."""
    value, (before, region) = left[name], around
    period = _period(name, value)
    if period:
        return _of_numbers((name, value), period, start, loop)
    others = set(_set_in(region.statements)).isdisjoint({*names_in(value)} - {name})
    if _begins_unknown(start) or not others or not _is_difference(name, value):
        return None
    if not all(_keeps(name, each, before, region) for each in (start, value)):
        return None
    if not _of_one_type(left, (*before, loop), region):
        return None
    following = replaced(duplicate(value), key(c_ast.ID(name)), duplicate(start))
    return _Turns(({name: start}, {name: following}))


def _is_difference(name: str, value: c_ast.Node) -> bool:
    """Whether ``value`` is something that does not change less ``name``."""
    if not isinstance(value, c_ast.BinaryOp) or value.op != "-" or name in names_in(value.left):
        return False
    return isinstance(value.right, c_ast.ID) and bool(value.right.name == name)


def _period(name: str, value: c_ast.Node) -> int:
    """How many numbers from 0 on ``name`` takes in turn by ``value``, each of them; 0 if it does not."""
    for period in STORAGE_PERIODS:
        following = [_at(name, value, each) for each in range(period)]
        if sorted(-1 if each is None else each for each in following) != list(range(period)):
            continue
        seen = reduce(lambda numbers, _: [*numbers, following[numbers[-1]] or 0], range(period - 1), [0])
        if sorted(seen) == list(range(period)):
            return period
    return 0


def _at(name: str, value: c_ast.Node, start: int) -> int | None:
    return constant_value(replaced(duplicate(value), key(c_ast.ID(name)), number(start)))


def _of_numbers(change: tuple[str, c_ast.Node], period: int, start: c_ast.Node, loop: Loop) -> _Turns | None:
    """The turns of a number from 0 to less than ``period`` that follow each other by the ``change`` of it."""
    name, value = change
    if period == 2:
        following: Sequence[c_ast.Node] = [c_ast.BinaryOp("-", number(1), duplicate(start), loop.coord)]
    else:
        step = _at(name, value, 0) or 0
        if any(_at(name, value, each) != (each + step) % period for each in range(period)):
            return None
        sums = [
            c_ast.BinaryOp("+", duplicate(start), number(step * each % period), loop.coord)
            for each in range(1, period)
        ]
        following = [c_ast.BinaryOp("%", each, number(period), loop.coord) for each in sums]
    return _Turns(tuple({name: each} for each in (start, *following)), tuple(_within(start, period, loop)))


def _within(start: c_ast.Node, period: int, loop: Loop) -> Iterator[c_ast.Node]:
    """Tests that ``start`` is one of the numbers from 0 to less than ``period``."""
    for op, limit in (("<", 0), (">=", period)):
        yield never(c_ast.BinaryOp(op, duplicate(start), number(limit), loop.coord), TURNS)
