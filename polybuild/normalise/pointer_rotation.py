"""Pointers that rotate in a loop: each step of a period works on the arrays that they hold then.

::

    for (t = 0; t < steps; t++) {              for (t = 0; t < steps; t++, step++)
      b[i] = f(a[i]);                            if (step % 2 == 0) { a = a'; b = b'; b[i] = f(a[i]); ... }
      tmp = a; a = b; b = tmp;                   else               { a = b'; b = a'; b[i] = f(a[i]); ... }
    }                                          a = step % 2 == 0 ? a' : b';
                                               b = step % 2 == 0 ? b' : a';

(``a'`` is the value before the loop.) Then every pointer is one that normalisation follows: the model has
the arrays ``a'`` and ``b'``, and steps that alternate between them as those of ``u[t % 2]`` do.

A loop in others, as between norms, may make any number of steps, ``k``. If that is a multiple of the period,
each of its runs begins with the same pointers: for other numbers the original loops run.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Iterator, Sequence
from functools import partial

from pycparser import c_ast

from polybuild.c.basic_types import LONG_LONG
from polybuild.c.syntax_tree import changed_operand, duplicate, mapped, walk, with_parts
from polybuild.c.synthetic import BlockLoop, declarator, never, number, plus
from polybuild.c.types import PointerType
from polybuild.effort import STORAGE_PERIODS
from polybuild.normalise.names import starting_number, stepped_name, unused_name
from polybuild.normalise.number_rotation import find_number_rotation
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

PERIODS = '"between the steps with more to do there must be so many that pointers come back to their grids"'


def split_rotations(region: Region) -> Region:
    """``region`` with the steps of its first loop in which pointers rotate apart; itself if there is none.

    That loop may be in others, in which nothing else sets the pointers.
    """
    for position, outer in enumerate(region.statements):
        before, after = region.statements[:position], region.statements[position + 1 :]
        for loop in _loops(outer) if isinstance(outer, LOOPS) else ():
            found = find_rotation(loop, outer, before, region)
            if found is None and loop is outer:
                found = find_number_rotation(loop, before, region)
            if found is not None:
                if _sets(after, {*found.moved, *found.copies}):
                    return region
                runs = None if loop is outer else _steps_of(loop, outer)
                if runs is None or _keeps_copies(found, loop, outer, region):
                    split = _split((outer, loop), after, found, region)
                else:
                    split = _split_runs((outer, loop), after, found, region, runs)
                return dataclasses.replace(region, statements=(*before, *split))
    return region


def _loops(node: c_ast.Node) -> Iterator[Loop]:
    """The loop ``node``, and those that each of its iterations runs."""
    if isinstance(node, LOOPS):
        yield node
        node = node.stmt
    if isinstance(node, c_ast.Compound):
        for each in node.block_items or ():
            yield from _loops(each)
    elif isinstance(node, LOOPS):
        yield from _loops(node)


def find_rotation(loop: Loop, outer: Loop, before: Sequence[c_ast.Node], region: Region) -> Rotation | None:
    """How pointers rotate in ``loop``, a part of ``outer`` that stands after ``before``; None if none do."""
    if any(isinstance(each, JUMPS) for each in walk(outer.stmt)):
        return None
    moves = list(moves_of(loop.stmt))
    ends: dict[str, str] = {}
    for target, source in moves:
        ends[target] = ends.get(source, source)
    own = {each.name for each in walk(outer) if isinstance(each, c_ast.Decl)}
    moved = {each: ends[each] for each in ends if each not in own and returns_later(each, ends)}
    period = math.lcm(*(cycle_length(each, moved) for each in moved))
    written = [each for each in map(changed_operand, walk(outer)) if isinstance(each, c_ast.ID)]
    moving = [target for target, _ in moves if target in moved]
    if period not in STORAGE_PERIODS or sum(each.name in moved for each in written) != len(moving):
        return None
    start = {each: _value_before(each, before, region) for each in moved}
    known = {each: value for each, value in start.items() if value is not None}
    if len(known) < len(start) or not own.isdisjoint(moved):
        return None
    others = {each for each in ends if each not in moved and each not in own}
    copies = {each: ends[each] for each in others if _is_set_by(each, moves, written)}
    return Rotation(tuple(phases_of(moved, known, period)), copies)


def _is_set_by(name: str, moves: Sequence[tuple[str, str]], written: Sequence[c_ast.ID]) -> bool:
    """Whether nothing but ``moves`` sets ``name``, of all that is ``written``."""
    times = sum(target == name for target, _ in moves)
    return len([each for each in written if each.name == name]) == times


def moves_of(body: c_ast.Node) -> Iterator[tuple[str, str]]:
    """The names ``(a, b)`` of each ``a = b`` and ``T a = b`` that every run of ``body`` reaches, in order."""
    match body:
        case c_ast.Compound():
            for each in body.block_items or ():
                yield from moves_of(each)
        case c_ast.DoWhile(cond=c_ast.Constant(value="0")):
            yield from moves_of(body.stmt)
        case c_ast.ExprList() | c_ast.DeclList():
            for each in body:
                yield from moves_of(each)
        case c_ast.Decl(init=c_ast.ID()):
            yield body.name, body.init.name
        case c_ast.Assignment(op="=", lvalue=c_ast.ID(), rvalue=c_ast.ID()):
            yield body.lvalue.name, body.rvalue.name


def with_moves_first(loop: c_ast.Node) -> c_ast.Node:
    """``loop`` whose last statement but those by which pointers change places stands behind them.

    It mentions pointers by the names that they have then. ``loop`` itself if there is none, or it cannot.
    """
    items = (
        list(loop.stmt.block_items or ())
        if isinstance(loop, c_ast.For | c_ast.While) and isinstance(loop.stmt, c_ast.Compound)
        else []
    )
    at = len(items)
    while at and _only_moves(items[at - 1]):
        at -= 1
    moves = list(moves_of(c_ast.Compound(items[at:])))
    ends: dict[str, str] = {}
    for target, source in moves:
        ends[target] = ends.get(source, source)
    names = {source: target for target, source in ends.items() if returns_later(target, ends)}
    if (
        not at
        or not names
        or not ({each for each, _ in moves} - names.keys()).isdisjoint(_names(items[at - 1]))
    ):
        return loop
    renamed = {
        id(each): c_ast.ID(names[each.name], each.coord)
        for each in walk(items[at - 1])
        if isinstance(each, c_ast.ID) and each.name in names
    }
    rare = with_parts(items[at - 1], renamed)
    return _with_body(loop, c_ast.Compound([*items[: at - 1], *items[at:], rare], loop.stmt.coord))


def _only_moves(node: c_ast.Node) -> bool:
    """Whether ``node`` does nothing but to give variables the values of others."""
    match node:
        case c_ast.DoWhile(cond=c_ast.Constant(value="0")):
            return _only_moves(node.stmt)
        case c_ast.Compound():
            return all(map(_only_moves, node.block_items or ()))
        case c_ast.Decl(init=c_ast.ID()) | c_ast.Assignment(op="=", lvalue=c_ast.ID(), rvalue=c_ast.ID()):
            return True
    return False


def _value_before(name: str, before: Sequence[c_ast.Node], region: Region) -> c_ast.Node | None:
    """What the pointer ``name`` holds after the statements ``before``, None if it cannot be followed."""
    mentions = [each for one in before for each in walk(one)]
    if any(isinstance(each, c_ast.Decl) and each.name == name for each in mentions):
        return None
    symbol = region.visible.symbols.get(name)
    if symbol is None or not isinstance(symbol.type, PointerType) or not is_followed(symbol):
        return None
    targets = (changed_operand(each) for each in mentions)
    set_before = any(isinstance(each, c_ast.ID) and each.name == name for each in targets)
    return None if set_before else on_entry(name, region)


def _split(
    loops: tuple[Loop, Loop], after: Sequence[c_ast.Node], rotation: Rotation, region: Region
) -> Iterator[c_ast.Node]:
    """The outer one of ``loops`` and what stands ``after`` it, with a block for each phase of a period."""
    outer, loop = loops
    step = _step(region, loop)
    yield _declared(step, number(0))
    yield _in_phases(outer, loop, step, rotation)
    for each in after:
        yield _in_phases(each, loop, step, rotation)
    yield from _last_values(step, rotation, region)


def _steps_of(loop: Loop, outer: Loop) -> c_ast.Node | None:
    """How many steps ``loop`` makes in each iteration of ``outer``; None if that is a number, or unknown."""
    if isinstance(loop, BlockLoop):
        return duplicate(loop.steps)
    if not isinstance(loop, c_ast.For) or not isinstance(loop.cond, c_ast.BinaryOp) or loop.init is None:
        return None
    counter, limit = stepped_name(loop), loop.cond.right
    up = isinstance(loop.next, c_ast.UnaryOp) and "++" in loop.next.op
    start = None if counter is None else starting_number(loop)
    if start is None or not up or loop.cond.op not in {"<", "<="}:
        return None
    if not isinstance(loop.cond.left, c_ast.ID) or loop.cond.left.name != counter:
        return None
    set_there = [changed_operand(each) for each in walk(outer)]
    own = {each.name for each in set_there if isinstance(each, c_ast.ID)}
    own |= {each.name for each in walk(outer) if isinstance(each, c_ast.Decl)}
    plain = all(isinstance(each, c_ast.ID | c_ast.BinaryOp | c_ast.Constant) for each in walk(limit))
    if not plain or not _names(limit) or not own.isdisjoint(_names(limit)):
        return None
    return plus(duplicate(limit), int(loop.cond.op == "<=") - start)


def _keeps_copies(rotation: Rotation, loop: Loop, outer: Loop, region: Region) -> bool:
    """Whether anything but ``loop``, a part of ``outer``, may look at pointers that keep values of others."""
    live = read_after(region.function, region.index) if region.index >= 0 else frozenset[str]()
    kept = [each for each in walk(outer) if isinstance(each, c_ast.ID) and each.name in rotation.copies]
    inside = {id(each) for each in walk(loop)}
    known = isinstance(loop, BlockLoop) or live.isdisjoint(rotation.copies)
    return not known or any(id(each) not in inside for each in kept)


def _names(node: c_ast.Node) -> set[str]:
    return {each.name for each in walk(node) if isinstance(each, c_ast.ID)}


def _split_runs(
    loops: tuple[Loop, Loop],
    after: Sequence[c_ast.Node],
    rotation: Rotation,
    region: Region,
    steps: c_ast.Node,
) -> Iterator[c_ast.Node]:
    """The same where each run of the inner loop makes ``steps``, if these are a multiple of the period."""
    outer, loop = loops
    step = _step(region, loop)
    rest = c_ast.BinaryOp("%", steps, number(rotation.period), loop.coord)
    yield never(c_ast.BinaryOp("!=", rest, number(0), loop.coord), PERIODS)
    yield _with_runs(outer, loop, step, rotation)
    if not isinstance(loop, BlockLoop):
        yield from _sets_at(0, rotation, loop)
        yield from after
        return
    yield _declared(step, duplicate(loop.total))
    for each in after:
        yield _in_phases(each, loop, step, rotation)
    yield from _last_values(step, rotation, region)


def _with_runs(node: c_ast.Node, loop: Loop, step: c_ast.ID, rotation: Rotation) -> c_ast.Node:
    """``node``, around ``loop``, each run of which counts its steps, and has the first pointers behind it."""
    offset = loop.offset if isinstance(loop, BlockLoop) else 0
    begin = _sets_at(offset, rotation, loop)
    if node is loop:
        first = plus(duplicate(loop.init.decls[0].init), 1) if offset else number(0)
        counted = _in_phases(loop, loop, step, rotation)
        return c_ast.Compound([_declared(step, first), counted, *begin], loop.coord)
    if isinstance(node, c_ast.Compound):
        return mapped(node, partial(_with_runs, loop=loop, step=step, rotation=rotation))
    if isinstance(node, LOOPS) and any(each is loop for each in walk(node)):
        body = c_ast.Compound([*begin, _with_runs(node.stmt, loop, step, rotation)], loop.coord)
        return _with_body(node, body)
    return node


def _declared(step: c_ast.ID, value: c_ast.Node) -> c_ast.Decl:
    """A counter ``step`` that begins with ``value``."""
    return c_ast.Decl(step.name, [], [], [], [], declarator(step.name, LONG_LONG), value, None, step.coord)


def _sets_at(phase: int, rotation: Rotation, at: c_ast.Node) -> Iterator[c_ast.Node]:
    """Assignments of what the pointers hold at ``phase``."""
    for name, value in rotation.phases[phase].items():
        yield c_ast.Assignment("=", c_ast.ID(name, at.coord), duplicate(value), at.coord)


def _step(region: Region, loop: Loop) -> c_ast.ID:
    """A name for the number of steps of ``loop``."""
    taken = region.visible.may_mean_something() | {
        each.name for one in region.statements for each in walk(one) if isinstance(each, c_ast.Decl)
    }
    return c_ast.ID(unused_name("step", taken), loop.coord)


def _in_phases(node: c_ast.Node, loop: Loop, step: c_ast.ID, rotation: Rotation) -> c_ast.Node:
    """``node`` with a block for each phase where it uses the pointers; so has the body of ``loop``."""
    if node is loop:
        count = c_ast.UnaryOp("p++", duplicate(step), loop.coord)
        return _with_body(
            loop,
            c_ast.Compound([*rotation.tests, _phases([loop.stmt], step, rotation), count], loop.stmt.coord),
        )
    if any(each is loop for each in walk(node)):
        if isinstance(node, c_ast.Compound):
            items = [_in_phases(each, loop, step, rotation) for each in node.block_items]
            return c_ast.Compound(items, node.coord)
        return _with_body(node, _in_phases(node.stmt, loop, step, rotation))
    return _phases([node], step, rotation) if _mentions(node, {*rotation.moved, *rotation.copies}) else node


def _with_body(loop: Loop, body: c_ast.Node) -> Loop:
    if isinstance(loop, c_ast.For):
        return c_ast.For(loop.init, loop.cond, loop.next, body, loop.coord)
    return type(loop)(loop.cond, body, loop.coord)


def _sets(nodes: Sequence[c_ast.Node], names: Collection[str]) -> bool:
    """Whether ``nodes`` set a variable of one of ``names``."""
    targets = (changed_operand(each) for node in nodes for each in walk(node))
    return any(isinstance(each, c_ast.ID) and each.name in names for each in targets)


def _mentions(node: c_ast.Node, names: Collection[str]) -> bool:
    return any(isinstance(each, c_ast.ID) and each.name in names for each in walk(node))


def _phases(statements: Sequence[c_ast.Node], step: c_ast.ID, rotation: Rotation) -> c_ast.Node:
    """``statements`` once for each phase, under its condition, where the pointers have their values of it."""
    coord, blocks = statements[0].coord, []
    for phase in range(rotation.period):
        sets = _sets_at(phase, rotation, statements[0])
        blocks.append(c_ast.Compound([*sets, *map(duplicate, statements)], coord))
    chosen: c_ast.Node = blocks.pop()
    while blocks:
        condition = _at(step, len(blocks) - 1, rotation)
        chosen = c_ast.If(condition, blocks.pop(), chosen, coord)
    return chosen


def _at(step: c_ast.Node, phase: int, rotation: Rotation) -> c_ast.Node:
    """Whether ``step`` is one of ``phase``."""
    coord = step.coord
    remainder = c_ast.BinaryOp("%", duplicate(step), number(rotation.period), coord)
    return c_ast.BinaryOp("==", remainder, number(phase), coord)


def _last_values(step: c_ast.ID, rotation: Rotation, region: Region) -> Iterator[c_ast.Node]:
    """Assignments of what the pointers hold after the loop."""
    live = read_after(region.function, region.index) if region.index >= 0 else frozenset[str]()
    live |= region.visible.lvalues.keys()
    some = c_ast.BinaryOp(">", duplicate(step), number(0), step.coord)
    for name in rotation.moved:
        value = _chosen([each[name] for each in rotation.phases], step, rotation)
        # a place is not looked at where the loop does not run
        if name not in region.visible.lvalues:
            yield _set(name, value)
        elif isinstance(region.visible.symbols[name].type, PointerType):
            yield _set(name, c_ast.TernaryOp(some, value, on_entry(name, region), step.coord))
        else:
            yield c_ast.If(some, c_ast.Compound([_set(name, value)], step.coord), None, step.coord)
    for name, source in rotation.copies.items():
        if name in live and source in rotation.moved:
            last = c_ast.BinaryOp("-", duplicate(step), number(1), step.coord)
            value = _chosen([each[source] for each in rotation.phases], last, rotation)
            yield _set(name, c_ast.TernaryOp(some, value, on_entry(name, region), step.coord))


def _set(name: str, value: c_ast.Node) -> c_ast.Node:
    return c_ast.Assignment("=", c_ast.ID(name, value.coord), value, value.coord)


def _chosen(values: Sequence[c_ast.Node], step: c_ast.Node, rotation: Rotation) -> c_ast.Node:
    """That of ``values``, one for each phase, which ``step`` chooses."""
    *others, chosen = map(duplicate, values)
    for phase in reversed(range(len(others))):
        chosen = c_ast.TernaryOp(_at(step, phase, rotation), others[phase], chosen, step.coord)
    return chosen
