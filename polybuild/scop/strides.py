"""Counters with strides, counted in steps: ``k = 0, 2, 4, ...`` is ``2 * l`` of ``l = 0, 1, 2, ...``.

The instances are the same, in the same order; what is asked of the model is simpler without strides,
and so are the orders that are found for it. Bodies that compute with ``k`` compute with ``2 * l``.
"""

from __future__ import annotations

from dataclasses import replace

import islpy as isl
from pycparser import c_ast

from polybuild.c.conversions import promoted_integer
from polybuild.c.literals import integer_value
from polybuild.c.syntax_tree import walk, with_parts
from polybuild.c.synthetic import number, type_name
from polybuild.c.types import IntegerType
from polybuild.scop.determined_counters import mentions
from polybuild.scop.model import Scop, Statement

_in, _set = isl.dim_type.in_, isl.dim_type.set


def count_steps(scop: Scop) -> Scop:
    """``scop`` with counters in steps of their strides, where bodies can be written so."""
    changed = [in_steps(each) for each in scop.statements]
    if all(one is other for (one, _), other in zip(changed, scop.statements, strict=True)):
        return scop
    to_old = isl.UnionPwMultiAff.empty(scop.context.get_space())
    for _, function in changed:
        to_old = to_old.union_add(isl.UnionPwMultiAff.from_pw_multi_aff(function))
    return replace(
        scop,
        statements=tuple(statement for statement, _ in changed),
        schedule=scop.schedule.pullback_union_pw_multi_aff(to_old),
    )


def in_steps(statement: Statement) -> tuple[Statement, isl.PwMultiAff]:
    """``statement`` with its counters in steps, and its instances in the old domain."""
    function = isl.MultiAff.identity(statement.domain.get_space().map_from_set())
    found = False
    for position in range(0 if statement.dynamic else len(statement.iterators)):
        stride = statement.domain.get_stride(position)
        if not stride.is_one():
            start = _start(statement.domain, position, stride)
            inner = len(statement.iterators) - position
            if start.involves_dims(_in, position, inner):
                continue  # it is the stride of one of these: j + k even is k = j + 2 * l
            written = _written_in_steps(statement, position, stride, start)
            if written is None:
                continue
            statement = written
            start = start.pullback_multi_aff(function)  # the counters around may be steps by now
            counter = function.get_aff(position).scale_val(stride).add(start)
            function, found = function.set_aff(position, counter), True
    instances = isl.PwMultiAff.from_multi_aff(function)
    if not found:
        return statement, instances
    domain = statement.domain.preimage_multi_aff(function).coalesce()
    for index, each in enumerate(statement.iterators):
        domain = domain.set_dim_name(_set, index, each.name)
    accesses = tuple(replace(each, relation=_moved(each.relation, function)) for each in statement.accesses)
    return replace(statement, domain=domain, accesses=accesses), instances


def _moved(relation: isl.Map, function: isl.MultiAff) -> isl.Map:
    """``relation`` of the instances in steps, without remainders that are one number now."""
    return relation.preimage_domain_multi_aff(function).detect_equalities().coalesce()


def _start(domain: isl.Set, position: int, stride: isl.Val) -> isl.Aff:
    """What the values of a counter are more than multiples of ``stride``; a number is less than that."""
    start = domain.get_stride_info(position).get_offset()
    return start.mod_val(stride) if start.is_cst() else start


def _written_in_steps(
    statement: Statement, position: int, stride: isl.Val, start: isl.Aff
) -> Statement | None:
    """``statement`` with the values of a counter in its body computed from steps.

    None where they have no constant start, or stand in an access that is not written anew.
    """
    nodes = mentions(statement, position)
    if not nodes:
        return statement
    iterator = statement.iterators[position]
    accessed = {id(part) for each in statement.accesses for part in walk(each.node)}
    if not (isinstance(iterator.type, IntegerType) and start.is_cst()) or accessed & {
        id(each) for each in nodes
    }:
        return None
    step, first = stride.to_python(), start.get_constant_val().to_python()
    values = {
        id(each): c_ast.Cast(
            type_name(iterator.type),
            c_ast.BinaryOp("+", c_ast.BinaryOp("*", number(step), each), number(first)),
            each.coord,
        )
        for each in nodes
    }
    if statement.domain.dim_min_val(position).is_nonneg():
        of_type = type_name(promoted_integer(iterator.type))
        remainders = _remainders(statement, {id(each) for each in nodes}, step, first)
        values |= {node: c_ast.Cast(of_type, number(value)) for node, value in remainders.items()}
    return replace(statement, body=with_parts(statement.body, values))


def _remainders(statement: Statement, counters: set[int], step: int, first: int) -> dict[int, int]:
    """What remainders of a counter are that is ``first`` more than multiples of ``step``, by identity.

    Those of the nodes ``counters``, never negative, by divisors of ``step`` that are plain numbers.
    """
    found: dict[int, int] = {}
    for each in walk(statement.body):
        if isinstance(each, c_ast.BinaryOp) and id(each.left) in counters:
            divisor = _divisor(each)
            if divisor and step % divisor == 0:
                found[id(each)] = first % divisor
    return found


def _divisor(node: c_ast.BinaryOp) -> int:
    """By what ``node`` is a remainder of its left side, as ``x % 2`` and ``x & 1``; 0 if it is none."""
    digits = node.right.value if isinstance(node.right, c_ast.Constant) else ""
    value = integer_value(digits) if digits[-1:].isdigit() else None  # a suffix tells another type
    if value is None or value <= 0:
        return 0
    if node.op == "&" and value & (value + 1) == 0:
        return value + 1
    return value if node.op == "%" else 0
