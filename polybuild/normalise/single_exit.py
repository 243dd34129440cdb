"""Functions that return in several places, with one ``return`` at their end.

::

    double at(struct grid g, int i) {            double at(struct grid g, int i) {
      if (i < 0 || i >= g.n) return 0;             double result;
      double v = g.data[i];                        if (i < 0 || i >= g.n) result = 0;
      return v * v;                                else { double v = g.data[i]; result = v * v; }
    }                                              return result; }

What does nothing but choose a value becomes one expression: ``return i < 0 || i >= g.n ? 0 : g.data[i];``.
A ``return`` in a loop, of a function that reads no memory, becomes a ``break``: what comes after the loop
stands under a condition then.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence

from pycparser import c_ast

from polybuild.c.basic_types import INT
from polybuild.c.syntax_tree import changed_operand, duplicate, walk, with_parts
from polybuild.c.synthetic import declarator, type_name
from polybuild.c.types import FloatingType, IntegerType, RecordType, VoidType
from polybuild.c.typing import type_of
from polybuild.normalise.names import unused_name
from polybuild.normalise.structure import reads_memory
from polybuild.source.model import Callee, Region
from polybuild.values import dataclass

_LOOPS = (c_ast.For, c_ast.While, c_ast.DoWhile)


class _Unstructured(Exception):
    """A function leaves from inside a loop, or goes on after a branch that may or may not leave."""


@dataclass(frozen=True, slots=True)
class _Exit:
    """How a function is left: with its value in the variable ``result``, None if it has none.

    Loops set ``left`` where they end because of that; they are not left if it is None.
    """

    result: c_ast.ID | None
    left: c_ast.ID | None = None


def with_single_exit(callee: Callee, others: Collection[str] = ()) -> Callee:
    """``callee`` with one ``return``, at its end; itself if it has that already, or leaves in other ways.

    Calls of the functions ``others`` stay in statements of their own. Statements that do nothing vanish, as
    ``(void)0`` of an ``assert`` that is switched off.
    """
    body = callee.body
    if body is None or not body.statements:
        return callee
    kept = [each for each in body.statements if not _does_nothing(each)]
    if len(kept) < len(body.statements):
        callee = _replaced(callee, kept)
        return with_single_exit(callee, others)
    if not _returns_early(body.statements):
        return callee
    kind = body.visible.scope.resolve(body.function.decl.type.type)
    try:
        if isinstance(kind, VoidType):
            return _replaced(callee, _without_returns(body.statements, _Exit(None)))
        if isinstance(kind, RecordType) and isinstance(
            body.function.decl.type.type.type, c_ast.IdentifierType
        ):
            return _with_structure(callee)
        if not isinstance(kind, IntegerType | FloatingType):
            return callee
        chosen = _choice(body.statements, kind, body)
        if chosen is not None and _called(chosen).isdisjoint(others):
            return _replaced(callee, [c_ast.Return(chosen, chosen.coord)])
        result = c_ast.ID(_unused("result", callee), body.function.coord)
        declared = c_ast.Decl(
            result.name, [], [], [], [], declarator(result.name, kind), None, None, result.coord
        )
        statements = _with_breaks(body.statements, result, callee)
    except _Unstructured:
        return callee
    return _replaced(callee, [declared, *statements, c_ast.Return(duplicate(result), result.coord)])


def _with_structure(callee: Callee) -> Callee:
    """``callee``, which returns structures in several places. Raises _Unstructured."""
    body = callee.body
    assert body is not None  # noqa: S101 - who asks has looked
    result, kind = (
        c_ast.ID(_unused("result", callee), body.function.coord),
        duplicate(body.function.decl.type.type),
    )
    kind.declname, kind.quals = result.name, []
    declared = c_ast.Decl(result.name, [], [], [], [], kind, None, None, result.coord)
    statements = _without_returns(body.statements, _Exit(result))
    return _replaced(callee, [declared, *statements, c_ast.Return(duplicate(result), result.coord)])


def _does_nothing(node: c_ast.Node) -> bool:
    """Whether ``node`` is a value that nobody uses."""
    return isinstance(node, c_ast.EmptyStatement | c_ast.Constant) or (
        isinstance(node, c_ast.Cast) and isinstance(node.expr, c_ast.ID | c_ast.Constant)
    )


def _called(node: c_ast.Node) -> set[str]:
    calls = [each for each in walk(node) if isinstance(each, c_ast.FuncCall)]
    return {str(each.name.name) for each in calls if isinstance(each.name, c_ast.ID)}


def _replaced(callee: Callee, statements: Sequence[c_ast.Node]) -> Callee:
    assert callee.body is not None  # noqa: S101 - who asks has looked
    return dataclasses.replace(callee, body=dataclasses.replace(callee.body, statements=tuple(statements)))


def _unused(name: str, callee: Callee) -> str:
    assert callee.body is not None  # noqa: S101 - who asks has looked
    nodes = [each for statement in callee.body.statements for each in walk(statement)]
    taken = {each.name for each in nodes if isinstance(each, c_ast.ID | c_ast.Decl)}
    taken |= callee.body.visible.may_mean_something()
    return unused_name(name, taken)


def _returns_early(statements: Sequence[c_ast.Node]) -> bool:
    """Whether there is a ``return`` that is not the last of ``statements``."""
    found = [each for statement in statements for each in walk(statement) if isinstance(each, c_ast.Return)]
    return any(each is not statements[-1] for each in found)


def _items(node: c_ast.Node | None) -> list[c_ast.Node]:
    if node is None:
        return []
    return list(node.block_items or ()) if isinstance(node, c_ast.Compound) else [node]


def _leaves(items: Sequence[c_ast.Node]) -> bool:
    """Whether ``items`` end with a ``return`` in any case."""
    last = items[-1] if items else None
    if isinstance(last, c_ast.Compound):
        return _leaves(_items(last))
    if isinstance(last, c_ast.If):
        return _leaves(_items(last.iftrue)) and _leaves(_items(last.iffalse))
    return isinstance(last, c_ast.Return)


def _has_return(node: c_ast.Node) -> bool:
    return any(isinstance(each, c_ast.Return) for each in walk(node))


def _choice(items: Sequence[c_ast.Node], kind: IntegerType | FloatingType, body: Region) -> c_ast.Node | None:
    """The value of ``items`` that do nothing but choose what to return, as an expression; None of others."""
    if not items:
        return None
    first, *rest = items
    if isinstance(first, c_ast.Return) and first.expr is not None:
        if _changes(first.expr):
            return None
        same = type_of(first.expr, dict(body.visible.symbols), body.visible) == kind
        return first.expr if same else c_ast.Cast(type_name(kind), first.expr, first.coord)
    if not isinstance(first, c_ast.If) or _changes(first.cond) or not _leaves(_items(first.iftrue)):
        return None
    yes = _choice(_items(first.iftrue), kind, body)
    no = _choice([*_items(first.iffalse), *rest], kind, body)
    return None if yes is None or no is None else c_ast.TernaryOp(first.cond, yes, no, first.coord)


def _changes(expression: c_ast.Node) -> bool:
    return any(changed_operand(each) is not None for each in walk(expression))


def _without_returns(items: Sequence[c_ast.Node], exit_: _Exit) -> list[c_ast.Node]:
    """``items``, the last of a function, which leave by ``exit_`` instead of returning a value."""
    done: list[c_ast.Node] = []
    for position, node in enumerate(items):
        rest = list(items[position + 1 :])
        if isinstance(node, c_ast.Return):
            return [*done, *_stored(node, exit_.result)]
        if not _has_return(node):
            done.append(node)
        elif isinstance(node, c_ast.Compound) and not rest:
            return [*done, c_ast.Compound(_without_returns(_items(node), exit_), node.coord)]
        elif isinstance(node, c_ast.If):
            return [*done, _branches(node, rest, exit_)]
        elif isinstance(node, _LOOPS) and exit_.left is not None:
            return [*done, *_loop_and_rest(node, rest, exit_)]
        else:
            raise _Unstructured
    return done


def _with_breaks(statements: Sequence[c_ast.Node], result: c_ast.ID, callee: Callee) -> list[c_ast.Node]:
    """``statements`` without returns but with breaks of loops, where nothing is read from memory."""
    if any(map(reads_memory, statements)):
        return _without_returns(statements, _Exit(result))
    left = c_ast.ID(_unused("left", callee), result.coord)
    found = _without_returns(statements, _Exit(result, left))
    names = {each.name for node in found for each in walk(node) if isinstance(each, c_ast.ID)}
    if left.name not in names:
        return found
    kind, no = declarator(left.name, INT), c_ast.Constant("int", "0", result.coord)
    declared = c_ast.Decl(left.name, [], [], [], [], kind, no, None, result.coord)
    # set in any case, so that it is plain that no iteration sees the value of another
    return [declared, c_ast.Assignment("=", duplicate(result), duplicate(no), result.coord), *found]


def _loop_and_rest(node: c_ast.Node, rest: list[c_ast.Node], exit_: _Exit) -> list[c_ast.Node]:
    """A loop that returns, and the ``rest`` of the function after it."""
    last = rest[0] if len(rest) == 1 and isinstance(rest[0], c_ast.Return) else None
    if last is not None and _outlives(last.expr, node) and not _returns_in_loops(node.stmt):
        before = _stored(last, exit_.result)
        return [*before, _with_body(node, _Exit(exit_.result))]
    condition = c_ast.UnaryOp("!", duplicate(exit_.left), node.coord)
    others = _without_returns(rest, exit_)
    loop = _with_body(node, exit_)
    return [loop, c_ast.If(condition, _compound(others, node), None, node.coord)] if others else [loop]


def _outlives(value: c_ast.Node | None, loop: c_ast.Node) -> bool:
    """Whether ``value`` is a number or a variable that ``loop`` does not change."""
    if isinstance(value, c_ast.UnaryOp) and value.op == "-":
        return isinstance(value.expr, c_ast.Constant)
    changed = [changed_operand(each) for each in walk(loop)]
    names = {each.name for each in changed if isinstance(each, c_ast.ID)}
    return isinstance(value, c_ast.Constant) or (isinstance(value, c_ast.ID) and value.name not in names)


def _returns_in_loops(node: c_ast.Node) -> bool:
    return any(_has_return(each) for each in walk(node) if isinstance(each, _LOOPS))


def _with_body(loop: c_ast.Node, exit_: _Exit) -> c_ast.Node:
    """``loop`` with breaks instead of returns."""
    body = _compound(_broken(_items(loop.stmt), exit_), loop)
    return with_parts(loop, {id(loop.stmt): body})


def _broken(items: Sequence[c_ast.Node], exit_: _Exit) -> list[c_ast.Node]:
    """``items`` of the body of a loop with breaks instead of returns. Raises _Unstructured."""
    done: list[c_ast.Node] = []
    for node in items:
        if isinstance(node, c_ast.Return):
            left = [] if exit_.left is None else [_marked(exit_.left, node)]
            return [*done, *_stored(node, exit_.result), *left, c_ast.Break(node.coord)]
        if not _has_return(node):
            done.append(node)
        elif isinstance(node, c_ast.Compound):
            done.append(_compound(_broken(_items(node), exit_), node))
        elif isinstance(node, c_ast.If):
            yes, no = (_broken(_items(each), exit_) for each in (node.iftrue, node.iffalse))
            other = _compound(no, node) if node.iffalse is not None else None
            done.append(c_ast.If(node.cond, _compound(yes, node), other, node.coord))
        elif isinstance(node, _LOOPS) and exit_.left is not None:
            leaves = c_ast.If(duplicate(exit_.left), c_ast.Break(node.coord), None, node.coord)
            done += [_with_body(node, exit_), leaves]
        else:
            raise _Unstructured
    return done


def _marked(left: c_ast.ID, node: c_ast.Node) -> c_ast.Assignment:
    return c_ast.Assignment("=", duplicate(left), c_ast.Constant("int", "1", node.coord), node.coord)


def _branches(node: c_ast.If, rest: list[c_ast.Node], exit_: _Exit) -> c_ast.Node:
    """An ``if`` some of whose branches return, with the ``rest`` of the function in the others."""
    yes, no = _items(node.iftrue), _items(node.iffalse)
    if rest and _leaves(yes):
        no = [*_block(no, node), *rest]
    elif rest and _leaves(no):
        yes = [*_block(yes, node), *rest]
    elif rest:
        raise _Unstructured
    first, second = _without_returns(yes, exit_), _without_returns(no, exit_)
    if not first:
        return c_ast.If(c_ast.UnaryOp("!", node.cond, node.coord), _compound(second, node), None, node.coord)
    return c_ast.If(
        node.cond, _compound(first, node), _compound(second, node) if second else None, node.coord
    )


def _block(items: list[c_ast.Node], node: c_ast.Node) -> list[c_ast.Node]:
    """``items`` in a block of their own: what they declare is not meant after them."""
    declares = any(isinstance(each, c_ast.Decl | c_ast.DeclList | c_ast.Typedef) for each in items)
    return [_compound(items, node)] if declares else items


def _compound(items: list[c_ast.Node], node: c_ast.Node) -> c_ast.Compound:
    return c_ast.Compound(items, node.coord)


def _stored(node: c_ast.Return, result: c_ast.ID | None) -> list[c_ast.Node]:
    if result is None:
        return []
    if node.expr is None:
        raise _Unstructured
    return [c_ast.Assignment("=", duplicate(result), node.expr, node.coord)]
