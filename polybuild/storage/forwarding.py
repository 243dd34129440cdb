"""Definitions written in place of private variables where an update uses them (forward substitution).

A register tile takes one statement. What people give a name before they add it up::

    t = x[i][k] - y[j][k];
    s[i][j] += t * t;              ->    s[i][j] += (x[i][k] - y[j][k]) * (x[i][k] - y[j][k]);

is one statement again. The operations and their types are the same; a compiler computes equal ones once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import islpy as isl
from pycparser import c_ast

from polybuild.analysis.dependences import may_be_private
from polybuild.c.syntax_tree import mapped, with_parts
from polybuild.c.types import FloatingType, Type
from polybuild.poly.relations import equal_outer
from polybuild.scop.model import Access, AccessKind, Array, Scop, Statement
from polybuild.storage.coalescing import Reaching, without_unused

# an update with more parts than that is no longer one that registers suit
_MAXIMUM_PARTS = 24


def forward_definitions(scop: Scop, live_out: frozenset[str]) -> Scop:
    """``scop`` with definitions in place of the private variables that updates of elements use.

    An update changes only if nothing but elements of arrays is left in it, and only variables that nobody
    else reads are taken. ``live_out`` names variables that are read after the region.
    """
    changed = scop
    for statement in scop.statements:
        if _is_update(statement):
            changed = _forwarded(changed, statement.name, live_out) or changed
    return changed if changed is scop else without_unused(changed, scop)


def _is_update(statement: Statement) -> bool:
    """Whether a statement computes an element of an array from what it was."""
    writes = [each for each in statement.accesses if each.kind is AccessKind.WRITE]
    return (
        isinstance(statement.body, c_ast.Assignment)
        and len(writes) == 1
        and bool(writes[0].array.extents)
        and any(
            each.kind is AccessKind.READ
            and each.array is writes[0].array
            and bool(each.relation.is_equal(writes[0].relation))
            for each in statement.accesses
        )
    )


def _forwarded(scop: Scop, name: str, live_out: frozenset[str]) -> Scop | None:
    """``scop`` with nothing but elements in the update ``name``; None if that cannot be, or is so already."""
    changed: Scop | None = None
    while (array := _private_operand(changed or scop, name, live_out)) is not None:
        changed = _without_variable(changed or scop, name, array)
        if changed is None or len(_statement(changed, name).accesses) > _MAXIMUM_PARTS:
            return None
    return changed


def _statement(scop: Scop, name: str) -> Statement:
    return next(each for each in scop.statements if each.name == name)


def _private_operand(scop: Scop, name: str, live_out: frozenset[str]) -> Array | None:
    """A private variable that the statement ``name`` reads and another one writes."""
    written = {
        access.array.name
        for statement in scop.statements
        for access in statement.accesses
        if access.kind is not AccessKind.READ
    }
    for each in _statement(scop, name).accesses:
        if each.array.name in written and each.array.is_scalar and may_be_private(each.array, live_out):
            return each.array
    return None


def _without_variable(scop: Scop, name: str, array: Array) -> Scop | None:
    """``scop`` with the definition of ``array`` in the only statement that reads it, ``name``."""
    users = [each for each in scop.statements if any(one.array.name == array.name for one in each.accesses)]
    reader = _statement(scop, name)
    writers = [each for each in users if each is not reader]
    if len(writers) != 1 or not _defines(writers[0], array):
        return None
    (writer,) = writers
    depth = len(writer.iterators)
    if writer.iterators != reader.iterators[:depth]:
        return None
    uses = [each for each in reader.accesses if each.array.name == array.name]
    if any(each.kind is not AccessKind.READ for each in uses):
        return None
    made_by = _definitions(scop, writer, uses)
    if made_by is None:
        return None
    merged = _merged(reader, writer, uses, made_by)
    statements = tuple(merged if each is reader else each for each in scop.statements if each is not writer)
    both = replace(scop, statements=tuple(merged if each is reader else each for each in scop.statements))
    new = list(merged.accesses[: len(merged.accesses) - len(reader.accesses) + len(uses)])
    if not _reads_the_same(scop, both, writer, new, made_by):
        return None
    changed = replace(scop, statements=statements)
    return replace(changed, schedule=scop.schedule.intersect_domain(changed.domain))


def _defines(statement: Statement, array: Array) -> bool:
    """Whether ``statement`` is ``array = ...``, of operands that all have the type of ``array``."""
    body = statement.body
    if not isinstance(body, c_ast.Assignment) or body.op != "=" or statement.dynamic:
        return False
    writes = [each for each in statement.accesses if each.kind is not AccessKind.READ]
    if len(writes) != 1 or writes[0].array.name != array.name or body.lvalue is not writes[0].node:
        return False
    reads = [each for each in statement.accesses if each.kind is AccessKind.READ]
    known = {id(each.node): each.array.element for each in reads if each.exact}
    return isinstance(array.element, FloatingType) and _has_type(body.rvalue, known, array.element)


def _has_type(node: c_ast.Node, known: Mapping[int, Type], kind: FloatingType) -> bool:
    """Whether ``node`` is a sum or product of operands that all have the type ``kind``."""
    if id(node) in known:
        return bool(known[id(node)] == kind)
    if isinstance(node, c_ast.BinaryOp):
        return node.op in {"+", "-", "*"} and all(
            _has_type(each, known, kind) for each in (node.left, node.right)
        )
    if isinstance(node, c_ast.UnaryOp):
        return node.op == "-" and _has_type(node.expr, known, kind)
    return isinstance(node, c_ast.Constant) and bool(node.type == kind.name)


def _definitions(scop: Scop, writer: Statement, uses: list[Access]) -> isl.Map | None:
    """``{ reader -> writer }``: where the values of ``uses`` come from; None unless all come from ``writer``.

    They have to come from the same iteration of the loops around the writer.
    """
    reaching = Reaching(scop, (uses[0].array,))
    found: isl.Map | None = None
    for use in uses:
        sources, old = reaching.sources(use)
        space = use.relation.get_space()
        pairs = sources.extract_map(writer.domain.get_space().map_from_domain_and_range(space.domain()))
        same = equal_outer(isl.Map.universe(pairs.get_space()), len(writer.iterators))
        if not old.is_empty() or not pairs.is_subset(same) or not (found is None or pairs.is_equal(found)):
            return None
        found = pairs
    return None if found is None else found.reverse()


def _merged(reader: Statement, writer: Statement, uses: list[Access], made_by: isl.Map) -> Statement:
    """``reader`` with what ``writer`` assigns in place of ``uses``."""
    accesses = [each for each in reader.accesses if each not in uses]
    names = list(reader.locals)
    new: dict[int, c_ast.Node] = {}
    for use in uses:
        twins: dict[int, c_ast.Node] = {}
        new[id(use.node)] = _twin(writer.body.rvalue, twins)
        accesses[:0] = [
            replace(each, node=twins[id(each.node)], relation=made_by.apply_range(each.relation).coalesce())
            for each in writer.accesses
            if each.kind is AccessKind.READ
        ]
        names += [(twins[id(node)], array) for node, array in writer.locals if id(node) in twins]
    names = [(node, array) for node, array in names if id(node) not in new]
    return replace(reader, body=with_parts(reader.body, new), accesses=tuple(accesses), locals=tuple(names))


def _twin(node: c_ast.Node, twins: dict[int, c_ast.Node]) -> c_ast.Node:
    """A deep copy of ``node``; ``twins`` gets the copy of each part by the identity of the part."""
    new = mapped(node, lambda each: _twin(each, twins))
    twins[id(node)] = new
    return new


def _reads_the_same(
    scop: Scop, changed: Scop, writer: Statement, new: list[Access], made_by: isl.Map
) -> bool:
    """Whether ``new`` accesses of the reader see in ``changed`` what those of ``writer`` see in ``scop``.

    They are those of the writer, in order, once or several times.
    """
    old = [each for each in writer.accesses if each.kind is AccessKind.READ]
    arrays = tuple({each.array.name: each.array for each in old}.values())
    before, after = (Reaching(each, arrays) for each in (scop, changed))
    to_reader = isl.UnionMap.from_map(made_by.reverse())
    for position, each in enumerate(new):
        sources, entry = before.sources(old[position % len(old)])
        now, entry_now = after.sources(each)
        if not (sources.apply_range(to_reader).is_equal(now) and entry.apply(to_reader).is_equal(entry_now)):
            return False
    return True
