"""Definitions written in place of private variables where an update uses them (forward substitution).

A register tile takes one statement. What people give a name before they add it up::

    t = x[i][k] - y[j][k];
    s[i][j] += t * t;              ->    s[i][j] += (x[i][k] - y[j][k]) * (x[i][k] - y[j][k]);

is one statement again. The operations and their types are the same; a compiler computes equal ones once. What
was copied to a private array before is read where it came from, too: a register tile packs what it reads.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

import islpy as isl
from pycparser import c_ast

from polybuild.analysis.dependences import may_be_private
from polybuild.c.basic_types import INT
from polybuild.c.conversions import promoted
from polybuild.c.explicit_conversions import with_conversions
from polybuild.c.syntax_tree import TRUTHS, changed_operand, mapped, node_count, walk, with_parts
from polybuild.c.synthetic import type_name
from polybuild.c.types import FloatingType, IntegerType
from polybuild.effort import UPDATE_PARTS
from polybuild.poly.relations import equal_outer
from polybuild.scop.model import Access, AccessKind, Array, Scop, Statement
from polybuild.scop.signs import with_signs_outside
from polybuild.storage.coalescing import Reaching, without_unused

_Value = Callable[[Statement, Array], c_ast.Node | None]
"""The value that a statement gives to a variable, None if it is not known or does not suit."""


def forward_definitions(scop: Scop, live_out: frozenset[str], kept: Collection[str] = ()) -> Scop:
    """``scop`` with definitions in place of the private variables that updates of elements use.

    An update changes only if nothing but elements of arrays is left in it, and only variables that nobody
    else reads are taken. ``live_out`` names variables that are read after the region, ``kept`` statements
    that stay as they are.
    """
    changed = scop
    for statement in scop.statements:
        operands = _private_operands(scop, statement.name, live_out)
        # a row of vectors in registers needs two loops around its update, a tile that packs arrays three
        loops = 2 if all(each.is_scalar for each in operands) else 3
        deep = len(statement.iterators) >= loops and statement.name not in kept
        if deep and operands and _is_update(statement):
            changed = _forwarded(changed, statement.name, live_out, _definition) or changed
    return changed if changed is scop else without_unused(changed, scop)


def forward_to(scop: Scop, names: Collection[str], live_out: frozenset[str]) -> Scop:
    """``scop`` with definitions in place of the private variables that the statements ``names`` use.

    Where something else than elements of arrays would be left in one, it stays as it is. What others read,
    too, is computed twice then.
    """
    changed = scop
    for name in names:
        changed = _forwarded(changed, name, live_out, _converted_value, shared=True) or changed
    return changed if changed is scop else without_unused(changed, scop)


def _is_update(statement: Statement) -> bool:
    """Whether a statement computes an element of an array, or a variable, from what it was."""
    writes = [each for each in statement.accesses if each.kind is AccessKind.WRITE]
    return (
        isinstance(statement.body, c_ast.Assignment)
        and len(writes) == 1
        and any(
            each.kind is AccessKind.READ
            and each.array is writes[0].array
            and bool(each.relation.is_equal(writes[0].relation))
            for each in statement.accesses
        )
    )


def _forwarded(
    scop: Scop, name: str, live_out: frozenset[str], value: _Value, *, shared: bool = False
) -> Scop | None:
    """``scop`` with nothing but elements in the update ``name``; None if that cannot be, or is so already.

    Elements of private arrays may be left. If they may be ``shared``, other statements keep their variables.
    """
    changed = scop
    kept: set[str] = set()
    while operands := [each for each in _private_operands(changed, name, live_out) if each.name not in kept]:
        found = _without_variable(changed, name, operands[0], value, shared=shared)
        if found is not None and len(_statement(found, name).accesses) <= UPDATE_PARTS:
            changed = found
        elif operands[0].is_scalar:
            return None
        else:
            kept.add(operands[0].name)
    return None if changed is scop else changed


def _statement(scop: Scop, name: str) -> Statement:
    return next(each for each in scop.statements if each.name == name)


def _private_operands(scop: Scop, name: str, live_out: frozenset[str]) -> list[Array]:
    """The private variables and arrays that others write and the statement ``name`` only reads."""
    writers: dict[str, set[str]] = {}
    for statement in scop.statements:
        for access in statement.accesses:
            if access.kind is not AccessKind.READ:
                writers.setdefault(access.array.name, set()).add(statement.name)
    reads = {each.array.name: each.array for each in _statement(scop, name).accesses}
    return [
        each
        for each in reads.values()
        if name not in writers.get(each.name, {name}) and may_be_private(each, live_out)
    ]


def _without_variable(scop: Scop, name: str, array: Array, value_of: _Value, *, shared: bool) -> Scop | None:
    """``scop`` with the definition of ``array`` in the statement ``name``, the only one that reads it.

    Where it may be ``shared`` others may read it, too: the definition stays for them.
    """
    reader = _statement(scop, name)
    others = [each for each in scop.statements if each is not reader and each.accesses_to(array)]
    writers = [
        each for each in others if any(one.kind is not AccessKind.READ for one in each.accesses_to(array))
    ]
    value = value_of(writers[0], array) if len(writers) == 1 else None
    if value is None or (len(others) > 1 and not shared):
        return None
    (writer,) = writers
    if array.is_scalar and writer.iterators != reader.iterators[: len(writer.iterators)]:
        return None
    uses = reader.accesses_to(array)
    if any(each.kind is not AccessKind.READ for each in uses):
        return None
    made_by = _definitions(scop, writer, uses)
    if made_by is None:
        return None
    merged = _merged(reader, replace(writer, body=value), uses, made_by)
    both = replace(scop, statements=tuple(merged if each is reader else each for each in scop.statements))
    new = list(merged.accesses[: len(merged.accesses) - len(reader.accesses) + len(uses)])
    if not _reads_the_same(scop, both, writer, new, made_by):
        return None
    if len(others) > 1:
        return both
    changed = replace(scop, statements=tuple(each for each in both.statements if each is not writer))
    return replace(changed, schedule=scop.schedule.intersect_domain(changed.domain))


def _definition(statement: Statement, array: Array) -> c_ast.Node | None:
    """The value that ``statement`` gives to ``array``, converted to its type; None if it does something else.

    It is a sum or product of numbers, and for an array two of them at most: who fills one has a reason.
    """
    body, kind = statement.body, array.element
    if not _is_definition(statement, array):
        return None
    reads = [each for each in statement.accesses if each.kind is AccessKind.READ]
    operations = [each for each in walk(body.rvalue) if isinstance(each, c_ast.BinaryOp)]
    dear = any(each.op == "/" for each in operations) or (array.extents and len(operations) > 1)
    if not isinstance(kind, FloatingType) or dear:
        return None
    operands = {id(each.node): each.array.element for each in reads if each.exact}
    converted = with_conversions(body, operands, kind)
    return None if converted is None else converted.body.rvalue


def _converted_value(statement: Statement, array: Array) -> c_ast.Node | None:
    """What ``statement`` gives to the variable ``array``, converted to its type; None if it does more."""
    kind = array.element
    if not _is_definition(statement, array) or not array.is_scalar:
        return None
    if not isinstance(kind, FloatingType | IntegerType) or any(
        changed_operand(each) is not None for each in walk(statement.body.rvalue)
    ):
        return None
    value = statement.body.rvalue
    if isinstance(kind, IntegerType) and promoted(kind) == INT and _is_truth(value):
        return value  # 0 or 1, which counts as an int in any case
    return c_ast.Cast(type_name(kind), value)


def _is_truth(value: c_ast.Node) -> bool:
    """Whether ``value`` is that of a comparison, or of several of them."""
    if isinstance(value, c_ast.UnaryOp) and value.op == "!":
        return True
    return isinstance(value, c_ast.BinaryOp) and value.op in TRUTHS


def _is_definition(statement: Statement, array: Array) -> bool:
    """Whether ``statement`` does nothing but assign to ``array``."""
    body = statement.body
    if not isinstance(body, c_ast.Assignment) or body.op != "=" or statement.dynamic:
        return False
    writes = [each for each in statement.accesses if each.kind is not AccessKind.READ]
    return len(writes) == 1 and writes[0].array.name == array.name and body.lvalue is writes[0].node


def _definitions(scop: Scop, writer: Statement, uses: list[Access]) -> isl.Map | None:
    """``{ reader -> writer }``: where the values of ``uses`` come from; None unless all come from ``writer``.

    Those of a variable have to come from the same iteration of the loops around the writer, those of an
    element from one of its instances.
    """
    reaching = Reaching(scop, (uses[0].array,))
    found: isl.Map | None = None
    for use in uses:
        sources, old = reaching.sources(use)
        space = use.relation.get_space()
        pairs = sources.extract_map(writer.domain.get_space().map_from_domain_and_range(space.domain()))
        if use.array.is_scalar:
            same = equal_outer(isl.Map.universe(pairs.get_space()), len(writer.iterators))
            certain = pairs.is_subset(same)
        else:  # the writer may have loops of its own around it
            certain = pairs.reverse().is_single_valued()
        if not old.is_empty() or not certain or not (found is None or pairs.is_equal(found)):
            return None
        found = pairs
    return None if found is None else found.reverse()


def _merged(reader: Statement, writer: Statement, uses: list[Access], made_by: isl.Map) -> Statement:
    """``reader`` with the value that the body of ``writer`` is in place of ``uses``."""
    accesses = [each for each in reader.accesses if each not in uses]
    names = list(reader.locals)
    new: dict[int, c_ast.Node] = {}
    for use in uses:
        twins: dict[int, c_ast.Node] = {}
        new[id(use.node)] = _twin(writer.body, twins)
        accesses[:0] = [
            replace(each, node=twins[id(each.node)], relation=made_by.apply_range(each.relation).coalesce())
            for each in writer.accesses
            if each.kind is AccessKind.READ
        ]
        names += [(twins[id(node)], array) for node, array in writer.locals if id(node) in twins]
    accesses = _around(accesses, new)
    gone = {id(part) for use in uses for part in walk(use.node)}
    names = [(node, array) for node, array in names if id(node) not in gone]
    merged = replace(reader, body=with_parts(reader.body, new), accesses=tuple(accesses), locals=tuple(names))
    return with_signs_outside(merged)


def _around(accesses: list[Access], new: dict[int, c_ast.Node]) -> list[Access]:
    """``accesses`` with ``new`` parts in their subscripts; ``new`` gets those that have some."""
    changed: dict[int, Access] = {}
    for each in sorted(accesses, key=lambda each: node_count(each.node)):  # those in others first
        if id(each.node) not in new and any(id(part) in new for part in walk(each.node)):
            new[id(each.node)] = with_parts(each.node, new)
            changed[id(each)] = replace(each, node=new[id(each.node)])
    return [changed.get(id(each), each) for each in accesses]


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
