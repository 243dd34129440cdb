"""Sums that begin with their first term, as sums that begin with nothing.

::

    s = a[0] * b[0];                         s = -0.0;
    for (k = 1; k < n; k++)        ->        s += a[0] * b[0];
      s += a[k] * b[k];                      for (k = 1; k < n; k++)
                                               s += a[k] * b[k];

What stands before the loop is a copy of what the loop does then. -0.0 plus a number is that number to the
bit, zeros of both signs included, rounded to nearest as compilers take for granted, too; for integers, 0 is
enough.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import reduce

import islpy as isl
from pycparser import c_ast

from polybuild.c.syntax_tree import duplicate, walk
from polybuild.c.types import FloatingType, IntegerType, Type
from polybuild.rerolling.loop_tree import Block, Leaf, Loop, Part, loop_tree, schedule_of
from polybuild.rerolling.shapes import shape_of, shapes_of, subscripted_arrays
from polybuild.scop.model import Access, AccessKind, Scop, Statement

_SUFFIXES = {"float": "f", "double": "", "long double": "L"}


def with_first_terms_added(scop: Scop, live_out: frozenset[str]) -> tuple[Scop, frozenset[str]] | None:
    """``scop`` with sums that begin with nothing, and the names of the statements that add first terms.

    None if no statement computes what another one adds. ``live_out`` names variables that are read after the
    region.
    """
    taken = {each.name for each in scop.statements}
    names = (name for name in map("S{}".format, range(len(taken), 3 * len(taken))) if name not in taken)
    keys = {each.key for each in shapes_of(scop, live_out).values()}
    subscripted = subscripted_arrays(scop, live_out)
    split: dict[str, tuple[Statement, Statement]] = {}
    for each in scop.statements:
        target = _first_target(each)
        if target is None:
            continue
        added = _adding(each, target, next(names))
        if shape_of(added, live_out, subscripted).key in keys:
            split[each.name] = _beginning(each, target), added
    tree = loop_tree(scop.schedule) if split else None
    if tree is None:
        return None
    statements = [part for each in scop.statements for part in split.get(each.name, (each,))]
    added_names = {name: then.name for name, (_, then) in split.items()}
    whole = _with_leaves(tree, added_names, _instances_before(scop.statements, added_names))
    schedule = schedule_of(whole, {each.name: each.domain for each in statements}, -1, ())
    if schedule is None:
        return None
    return replace(scop, statements=tuple(statements), schedule=schedule), frozenset(added_names.values())


def _first_target(statement: Statement) -> Access | None:
    """What ``statement`` gives a value that may be the first term of a sum; None if it gives none such."""
    body = statement.body
    if type(body) is not c_ast.Assignment or body.op != "=" or statement.dynamic:
        return None
    inside = {id(each) for each in walk(body.lvalue)}
    own = [each for each in statement.accesses if id(each.node) in inside]
    if len(own) != 1 or own[0].node is not body.lvalue or own[0].kind is not AccessKind.WRITE:
        return None
    if not own[0].exact or len(statement.accesses_to(own[0].array)) > 1:
        return None
    return own[0] if _nothing(own[0].array.element, body) is not None else None


def _nothing(kind: Type, body: c_ast.Node) -> c_ast.Node | None:
    """What any number of a type can be added to without a change."""
    if isinstance(kind, IntegerType):
        return c_ast.Constant("int", "0", body.coord)
    if isinstance(kind, FloatingType) and kind.name in _SUFFIXES:
        zero = c_ast.Constant(kind.name, f"0.0{_SUFFIXES[kind.name]}", body.coord)
        return c_ast.UnaryOp("-", zero, body.coord)
    return None


def _beginning(statement: Statement, target: Access) -> Statement:
    """``s = -0.0`` in place of ``s = e``."""
    lvalue = duplicate(target.node)
    twins = dict(zip(map(id, walk(target.node)), walk(lvalue), strict=True))
    body = c_ast.Assignment("=", lvalue, _nothing(target.array.element, statement.body), statement.body.coord)
    return replace(
        statement,
        body=body,
        accesses=(replace(target, node=lvalue),),
        locals=tuple((twins[id(node)], array) for node, array in statement.locals if id(node) in twins),
    )


def _adding(statement: Statement, target: Access, name: str) -> Statement:
    """``s += e`` in place of ``s = e``."""
    body = statement.body
    return replace(
        statement,
        name=name,
        domain=statement.domain.set_tuple_name(name),
        body=c_ast.Assignment("+=", body.lvalue, body.rvalue, body.coord),
        accesses=tuple(
            replace(each, relation=each.relation.set_tuple_name(isl.dim_type.in_, name))
            for each in (replace(target, kind=AccessKind.READ), *statement.accesses)
        ),
    )


def _instances_before(statements: Iterable[Statement], added: Mapping[str, str]) -> isl.UnionPwMultiAff:
    """``{ instance -> that of the statement it was }``, for those that stayed, too."""
    found = []
    for each in statements:
        same = isl.MultiAff.identity_on_domain_space(each.domain.get_space())
        found.append(same)
        if each.name in added:
            found.append(same.set_tuple_name(isl.dim_type.in_, added[each.name]))
    pieces = (isl.UnionPwMultiAff.from_multi_aff(each) for each in found)
    return reduce(isl.UnionPwMultiAff.union_add, pieces)


def _with_leaves(part: Part, more: Mapping[str, str], before: isl.UnionPwMultiAff) -> Part:
    """``part`` with a leaf behind each of some statements, whose instances were those ``before``."""
    if isinstance(part, Loop):
        values = part.values.pullback_union_pw_multi_aff(before)
        return Loop(values, _with_leaves(part.body, more, before))
    if isinstance(part, Block):
        parts = (_with_leaves(each, more, before) for each in part.parts)
        return Block(
            tuple(leaf for each in parts for leaf in (each.parts if isinstance(each, Block) else (each,)))
        )
    return Block((part, Leaf(more[part.statement]))) if part.statement in more else part
