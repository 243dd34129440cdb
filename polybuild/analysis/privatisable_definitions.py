"""Privatisable definitions: variables that each iteration sets first: ``int c = idx[i]; ... x[c] ...``.

Where such a variable is read, it stands for the right-hand side of its definition, or for what conditions
choose among several: after ``c = idx[i]; if (c < 0) c = 0;`` for ``idx[i] < 0 ? 0 : idx[i]``.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace

import islpy as isl
from pycparser import c_ast

from polybuild.c.pure_functions import is_pure_function
from polybuild.c.syntax_tree import changed_operand, exposed_operand, mapped, walk
from polybuild.c.synthetic import type_name
from polybuild.c.types import FloatingType, IntegerType
from polybuild.effort import VALUE_NODES
from polybuild.poly.relations import equal_outer, lexicographically_after
from polybuild.scop.model import Access, AccessKind, Array, Scop, Statement
from polybuild.values import dataclass

_in, _out = isl.dim_type.in_, isl.dim_type.out


@dataclass(frozen=True, slots=True)
class DefinedValue:
    """An expression with definitions in place of variables; ``reads`` are over the reader's instances."""

    expression: c_ast.Node
    reads: tuple[Access, ...]


class PrivatisableDefinitions:
    """The definitions of a region's integer variables."""

    def __init__(self, scop: Scop) -> None:
        self._schedule = scop.schedule
        self._writers: dict[str, list[Statement]] = {}
        for statement in scop.statements:
            for access in statement.accesses:
                if access.kind is not AccessKind.READ:
                    self._writers.setdefault(access.array.name, []).append(statement)

    @functools.cached_property
    def _order(self) -> isl.UnionMap:
        """Pairs of instances in order; most regions need none of them."""
        return lexicographically_after(self._schedule.get_map())

    def value(self, expression: c_ast.Node, statement: Statement) -> DefinedValue | None:
        """What ``expression``, a part of ``statement``, is in terms of what the region does not change.

        None if it depends on something that the region writes otherwise.
        """
        if _has_effect(expression):
            return None
        return self._value(expression, statement, ())

    def _value(
        self, expression: c_ast.Node, statement: Statement, around: tuple[str, ...]
    ) -> DefinedValue | None:
        reads = {id(each.node): each for each in statement.accesses if each.kind is AccessKind.READ}
        found: list[Access] = []
        defined: dict[int, DefinedValue] = {}
        own = _declared(statement.body)
        for node in walk(expression):
            if isinstance(node, c_ast.ID) and node.name in own:
                inside = self._declared_value(node.name, own[node.name], statement, around)
                if inside is None:
                    return None
                defined[id(node)] = inside
                found += inside.reads
                continue
            read = reads.get(id(node))
            if read is None or (read.array.name not in self._writers and not read.array.local):
                continue
            value = self._definition(read.array, statement, around)
            if value is None:
                return None
            defined[id(node)] = value
            found += value.reads

        def visit(node: c_ast.Node) -> c_ast.Node:
            if id(node) in defined:
                return defined[id(node)].expression
            new = mapped(node, visit)
            if id(node) in reads:
                found.append(replace(reads[id(node)], node=new))
            return new

        return DefinedValue(visit(expression), tuple(found))

    def _declared_value(
        self, name: str, definition: c_ast.Cast | None, statement: Statement, around: tuple[str, ...]
    ) -> DefinedValue | None:
        """The value of a variable that ``statement`` declares in a block of its own; None if it varies."""
        if definition is None or name in around or _has_effect(definition.expr):
            return None
        value = self._value(definition.expr, statement, (*around, name))
        if value is None:
            return None
        return DefinedValue(c_ast.Cast(definition.to_type, value.expression, definition.coord), value.reads)

    def _definition(self, array: Array, reader: Statement, around: tuple[str, ...]) -> DefinedValue | None:
        """The value that every instance of ``reader`` finds in the variable ``array``."""
        writers = self._writers.get(array.name, [])
        if (
            not array.is_scalar
            or not isinstance(array.element, IntegerType | FloatingType)
            or (reader in writers and not _is_choice(_body(reader)))  # it may read what it has just written
        ):
            return None
        choices = (each for each in writers if _is_choice(_body(each)))
        writer = next((each for each in choices if self._is_latest(each, reader, writers)), None)
        if writer is None or f"{array.name} {writer.name}" in around:
            return None
        value = self._left_by(_body(writer), array, writer, (*around, f"{array.name} {writer.name}"))
        if value is None or sum(1 for _ in walk(value.expression)) > VALUE_NODES:
            return None
        to_writer = _same_iteration(reader, writer)
        reads = tuple(replace(each, relation=to_writer.apply_range(each.relation)) for each in value.reads)
        return DefinedValue(value.expression, reads)

    def _left_by(
        self, body: c_ast.Node | None, array: Array, writer: Statement, around: tuple[str, ...]
    ) -> DefinedValue | None:
        """What the variable ``array`` is after ``body``, a part of ``writer``: as before, if that is none."""
        if body is None:
            return self._definition(array, writer, around)
        if isinstance(body, c_ast.Compound):
            return self._left_by(next(iter(body.block_items or ()), None), array, writer, around)
        if isinstance(body, c_ast.If):
            parts = (
                self._value(body.cond, writer, around),
                self._left_by(body.iftrue, array, writer, around),
                self._left_by(body.iffalse, array, writer, around),
            )
            known = [each for each in parts if each is not None]
            if len(known) < len(parts) or _has_effect(body.cond):
                return None
            chosen = c_ast.TernaryOp(*(each.expression for each in known), body.coord)
            return DefinedValue(chosen, tuple(read for each in known for read in each.reads))
        written = {
            id(each.node): each.array.name for each in writer.accesses if each.kind is not AccessKind.READ
        }
        if written.get(id(body.lvalue)) != array.name:
            return self._definition(array, writer, around)
        value = None if _has_effect(body.rvalue) else self._value(body.rvalue, writer, around)
        if value is None:
            return None
        kind = array.element
        assert isinstance(kind, IntegerType | FloatingType)  # noqa: S101 - no others are followed
        cast = c_ast.Cast(type_name(kind), value.expression, body.coord)
        return DefinedValue(cast, value.reads)

    def _is_latest(self, writer: Statement, reader: Statement, writers: Sequence[Statement]) -> bool:
        """Whether ``reader`` always finds what ``writer`` wrote in the same iteration of the loops around.

        That is so where none of ``writers``, all that write the variable, comes between.
        """
        depth = len(writer.iterators)
        if writer is reader or writer.iterators != reader.iterators[:depth]:
            return False
        if writer.dynamic != reader.dynamic[: len(writer.dynamic)]:
            return False
        same = _same_iteration(reader, writer).reverse()
        if not reader.domain.is_subset(same.range()):
            return False
        pairs = isl.UnionMap.from_map(same)
        if not pairs.is_subset(self._order):
            return False
        between = isl.UnionSet.empty(writer.domain.get_space())
        for each in writers:
            between = between.union(each.domain)
        later = self._order.intersect_domain(isl.UnionSet.from_set(writer.domain)).intersect_range(between)
        before = self._order.intersect_domain(between)
        before = before.intersect_range(isl.UnionSet.from_set(reader.domain))
        return bool(later.apply_range(before).intersect(pairs).is_empty())


def _body(statement: Statement) -> c_ast.Node:
    """What ``statement`` does in the iterations of its dynamic loops."""
    body = statement.body
    for _ in statement.dynamic:
        body = body.iftrue
    return body


def _is_choice(body: c_ast.Node | None) -> bool:
    """Whether ``body`` does nothing but set one variable, or none, to what conditions choose."""
    if isinstance(body, c_ast.Compound):
        items = body.block_items or ()
        return len(items) < 2 and all(map(_is_choice, items))
    if isinstance(body, c_ast.If):
        return _is_choice(body.iftrue) and _is_choice(body.iffalse)
    return body is None or (
        isinstance(body, c_ast.Assignment) and body.op == "=" and isinstance(body.lvalue, c_ast.ID)
    )


def _declared(body: c_ast.Node) -> dict[str, c_ast.Cast | None]:
    """The only value of each number that ``body`` declares, as a cast; None of those that have several."""
    kinds: dict[str, c_ast.Node] = {}
    values: dict[str, list[c_ast.Node | None]] = {}
    for node in walk(body):
        if isinstance(node, c_ast.Decl):
            again = [None] if node.name in kinds else []
            kinds[node.name] = node.type
            values.setdefault(node.name, []).extend([*again, *([node.init] if node.init is not None else [])])
    for node in walk(body) if kinds else ():
        changed = exposed_operand(node)
        if isinstance(changed, c_ast.ID) and changed.name in kinds:
            plain = isinstance(node, c_ast.Assignment) and node.op == "="
            values[changed.name].append(node.rvalue if plain else None)
    return {name: _only_value(kind, values[name]) for name, kind in kinds.items()}


def _only_value(kind: c_ast.Node, values: list[c_ast.Node | None]) -> c_ast.Cast | None:
    """What a variable of the type ``kind`` gets of ``values``, if it is a number and that is one value."""
    number = isinstance(kind, c_ast.TypeDecl) and isinstance(kind.type, c_ast.IdentifierType)
    if not number or len(values) != 1 or values[0] is None:
        return None
    nameless = c_ast.Typename(None, [], None, c_ast.TypeDecl(None, [], None, kind.type))
    return c_ast.Cast(nameless, values[0], values[0].coord)


def _has_effect(expression: c_ast.Node) -> bool:
    """Whether evaluating ``expression`` may do more than give a value."""
    calls = (each for each in walk(expression) if isinstance(each, c_ast.FuncCall))
    pure = all(isinstance(each.name, c_ast.ID) and is_pure_function(each.name.name) for each in calls)
    return not pure or any(changed_operand(each) is not None for each in walk(expression))


def _same_iteration(reader: Statement, writer: Statement) -> isl.Map:
    """``{ reader[i, j] -> writer[i] }`` for the instances of both."""
    return equal_outer(isl.Map.from_domain_and_range(reader.domain, writer.domain), len(writer.iterators))
