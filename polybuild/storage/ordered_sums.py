"""Sums that all iterations of a loop add to in order, apart from what computes their terms.

::

    for i:                                     for i:
      s = 0;                                     s = 0;
      for j: s += ...;                           for j: s += ...;
      f[i] = s;                       ->         f[i] = s;
      if (s < c) e += s;                         if (s < c) term[i] = s; else term[i] = -0.0;
                                               for i: e += term[i];

Nothing but ``e`` keeps the iterations of ``i`` in order, and an order of floating-point operations is not
changed; but all the work is in the terms, whose values may be kept for a strip of iterations (scalar
expansion and loop distribution: Allen and Kennedy, "Optimizing Compilers for Modern Architectures", 2001,
sections 5.3 and 5.7). What is added where nothing was
has to leave every number as it is: ``x + -0.0`` and ``x - 0.0`` are ``x``, of zeros, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import islpy as isl
from pycparser import c_ast

from polybuild.c.basic_types import DOUBLE
from polybuild.c.syntax_tree import duplicate, location, walk
from polybuild.c.types import FloatingType, Type
from polybuild.poly.relations import depends_on
from polybuild.scop.duplicates import (
    copied,
    in_sequence,
    names_in_use,
    order_of_copies,
    unused_names,
    variable_for,
)
from polybuild.scop.model import Access, AccessKind, Array, Scop, Statement
from polybuild.values import dataclass

_out = isl.dim_type.out


@dataclass(frozen=True, slots=True)
class SeparateSums:
    """A region whose ``sums``, by names of statements, do nothing but add private values to variables."""

    scop: Scop
    sums: frozenset[str]


def separate_sums(scop: Scop, depth: int) -> SeparateSums | None:
    """``scop`` with the terms of sums in order in variables of their own; None if there are no such sums.

    They are those to which the iterations of loops within ``depth`` others add, and do nothing else with.
    """
    found = [(each, additions) for each in scop.statements if (additions := _additions(scop, each, depth))]
    if not found:
        return None
    names = iter(unused_names(scop, sum(1 + len(additions) for _, additions in found)))
    taken = names_in_use(scop)
    parts: dict[str, list[Statement]] = {}
    terms: list[Array] = []
    sums: set[str] = set()
    for statement, additions in found:
        own = [variable_for(replace(each.array, element=DOUBLE), "term", taken) for each in additions]
        computing = _computing(statement, next(names), additions, own)
        adding = [
            _adding(statement, next(names), each, term) for each, term in zip(additions, own, strict=True)
        ]
        parts[statement.name] = [computing, *adding]
        terms += own
        sums.update(each.name for each in adding)
    statements = [part for each in scop.statements for part in parts.get(each.name, [each])]
    originals = {part.name: name for name, own in parts.items() for part in own}
    schedule = order_of_copies(scop, statements, originals)
    schedule = in_sequence(schedule, *parts.values())
    changed = replace(scop, statements=tuple(statements), arrays=(*scop.arrays, *terms), schedule=schedule)
    return SeparateSums(changed, frozenset(sums))


@dataclass(frozen=True, slots=True)
class _Addition:
    """An assignment ``+=`` or ``-=`` to the only element of ``array`` that is accessed in some loop."""

    node: c_ast.Assignment
    array: Array


def _additions(scop: Scop, statement: Statement, depth: int) -> list[_Addition]:
    """The additions of ``statement``, in their order, that may be apart from it in its loop at ``depth``."""
    if statement.dynamic or len(statement.iterators) <= depth:
        return []
    additions = [
        _Addition(node, array)
        for node in _assignments(statement.body)
        if (array := _accumulator(statement, node, depth)) is not None
    ]
    around = statement.iterators[: depth + 1]
    beside = [each for each in scop.statements if each.iterators[: depth + 1] == around]
    return [each for each in additions if all(_only_adds(other, each.array) for other in beside)]


def _assignments(body: c_ast.Node) -> Iterator[c_ast.Assignment]:
    """The assignments of ``body`` that stand in blocks and under conditions alone."""
    if isinstance(body, c_ast.Assignment):
        yield body
    elif isinstance(body, c_ast.Compound):
        for each in body.block_items or ():
            yield from _assignments(each)
    elif isinstance(body, c_ast.If):
        yield from _assignments(body.iftrue)
        if body.iffalse is not None:
            yield from _assignments(body.iffalse)


def _accumulator(statement: Statement, node: c_ast.Assignment, depth: int) -> Array | None:
    """What ``node`` adds a term to, the same element in all iterations of its loop at ``depth``."""
    if node.op not in {"+=", "-="}:
        return None
    own = [each for each in statement.accesses if each.node is node.lvalue]
    if not own or not all(each.exact for each in own):
        return None
    array, relation = own[0].array, own[0].relation
    if (
        not isinstance(array.element, FloatingType)
        or array.element.complex
        or array.element.size > DOUBLE.size
    ):
        return None
    inside = set(map(id, walk(node.rvalue)))
    if any(id(each.node) in inside and _is_long(each.array.element) for each in statement.accesses):
        return None
    inner = range(depth, len(statement.iterators))
    return None if any(depends_on(relation, each) for each in inner) else array


def _is_long(kind: Type) -> bool:
    """Whether a term may be of a type that a double does not hold."""
    return isinstance(kind, FloatingType) and (kind.complex or kind.size > DOUBLE.size)


def _only_adds(statement: Statement, array: Array) -> bool:
    """Whether ``statement`` only adds to ``array``, in blocks and under conditions alone."""
    lvalues = {id(each.lvalue) for each in _assignments(statement.body) if each.op in {"+=", "-="}}
    own = (each.node for each in statement.accesses_to(array) if not _of_both_ways(each))
    return not statement.dynamic and all(id(each) in lvalues for each in own)


def _of_both_ways(access: Access) -> bool:
    """Whether ``access`` says of a choice what both ways write, each of which is an access, too."""
    return isinstance(access.node, c_ast.If)


def _computing(
    statement: Statement, name: str, additions: Sequence[_Addition], terms: Sequence[Array]
) -> Statement:
    """``statement`` with the terms of its ``additions`` in variables in place of these."""
    new = copied(statement, name, statement.domain)
    parts = dict(zip(map(id, walk(statement.body)), walk(new.body), strict=True))
    nodes = [parts[id(each.node)] for each in additions]
    gone = {id(part) for node in nodes for part in walk(node.lvalue)}
    sums = {each.array.name for each in additions}
    kept = [
        each
        for each in new.accesses
        if id(each.node) not in gone and not (_of_both_ways(each) and each.array.name in sums)
    ]
    for node, term, array in zip(nodes, terms, (each.array for each in additions), strict=True):
        relation = isl.Map.from_domain(new.domain).set_tuple_name(_out, term.name)
        identity = _identity(node)
        node.op, node.lvalue = "=", c_ast.ID(term.name, node.coord)
        if array.element != DOUBLE:
            node.rvalue = _as_if_added(node.rvalue)
        settings = [node, *_set_elsewhere(new.body, node, identity)]
        kept += [Access(term, relation, AccessKind.WRITE, each.lvalue) for each in settings]
    named = tuple((node, array) for node, array in new.locals if id(node) not in gone)
    return replace(new, accesses=tuple(kept), locals=named)


def _as_if_added(value: c_ast.Node) -> c_ast.Node:
    """``value`` as it is added to a float: integers are converted to that first, and may be rounded."""
    zero = c_ast.UnaryOp("-", c_ast.Constant("float", "0.0f", value.coord), value.coord)
    return c_ast.BinaryOp("+", value, zero, value.coord)


def _identity(addition: c_ast.Assignment) -> c_ast.Node:
    """What ``addition`` may add without any effect: zero of the sign that leaves zeros as they are."""
    zero = c_ast.Constant("double", "0.0", addition.coord)
    return zero if addition.op == "-=" else c_ast.UnaryOp("-", zero, addition.coord)


def _set_elsewhere(body: c_ast.Node, node: c_ast.Assignment, value: c_ast.Node) -> Iterator[c_ast.Assignment]:
    """What sets to ``value`` what ``node`` sets, now on all ways through ``body`` that do not lead there."""
    if isinstance(body, c_ast.Compound):
        for each in body.block_items or ():
            yield from _set_elsewhere(each, node, value)
    elif isinstance(body, c_ast.If) and any(each is node for each in walk(body)):
        here = c_ast.Assignment("=", c_ast.ID(node.lvalue.name, node.coord), duplicate(value), node.coord)
        yield here
        if any(each is node for each in walk(body.iftrue)):
            yield from _set_elsewhere(body.iftrue, node, value)
            body.iffalse = here if body.iffalse is None else c_ast.Compound([body.iffalse, here], node.coord)
        else:
            yield from _set_elsewhere(body.iffalse, node, value)
            body.iftrue = c_ast.Compound([body.iftrue, here], node.coord)


def _adding(statement: Statement, name: str, addition: _Addition, term: Array) -> Statement:
    """The addition of ``term`` where ``statement`` has ``addition``."""
    new = copied(statement, name, statement.domain)
    parts = dict(zip(map(id, walk(statement.body)), walk(new.body), strict=True))
    node = parts[id(addition.node)]
    node.rvalue = c_ast.ID(term.name, node.coord)
    own = {id(part) for part in walk(node.lvalue)}
    accesses = [each for each in new.accesses if id(each.node) in own]
    relation = isl.Map.from_domain(new.domain).set_tuple_name(_out, term.name)
    return replace(
        new,
        body=node,
        location=location(node),
        end_line=location(node).line,
        accesses=(
            *(each for each in accesses if each.kind is AccessKind.READ),
            Access(term, relation, AccessKind.READ, node.rvalue),
            *(
                replace(each, kind=AccessKind.WRITE, within=None)
                for each in accesses
                if each.kind is not AccessKind.READ
            ),
        ),
        locals=tuple((each, array) for each, array in new.locals if id(each) in own),
    )
