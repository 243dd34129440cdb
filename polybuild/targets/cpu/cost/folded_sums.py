"""Sums in order that a compiler takes to lanes: it computes their terms there, and adds these one by one.

``for (...) s += a[i] * b[i];`` waits for each sum as before, but not for the terms (gcc calls such reductions
"fold-left").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import islpy as isl
from pycparser import c_ast

from polybuild.analysis.dependences import Dependences
from polybuild.c.syntax_tree import key
from polybuild.c.types import FloatingType
from polybuild.poly.relations import maps_of, tuple_name, union_of
from polybuild.scop.model import AccessKind, Statement
from polybuild.targets.cpu.strides import Reference, Stride


def folded_sums(statements: Sequence[Statement], found: Sequence[Reference], last: int) -> frozenset[str]:
    """The names of ``statements`` that add to one floating-point number in all iterations of a loop.

    ``found`` are their references, ``last`` is the member of their band that is the loop.
    """
    return frozenset(each.name for each in statements if _is_sum(each, found, last))


def without_sums(dependences: Dependences, sums: frozenset[str]) -> Dependences:
    """``dependences`` but for those of each of the statements ``sums`` on itself."""

    def others(pairs: isl.UnionMap) -> isl.UnionMap:
        kept = (
            each
            for each in maps_of(pairs)
            if tuple_name(each.domain()) != tuple_name(each.range()) or tuple_name(each.domain()) not in sums
        )
        return union_of(kept, pairs.get_space())

    return replace(dependences, flow=others(dependences.flow), false=others(dependences.false))


def _is_sum(statement: Statement, found: Sequence[Reference], last: int) -> bool:
    body = statement.body
    writes = [
        each for each in found if each.statement is statement and each.access.kind is not AccessKind.READ
    ]
    if len(writes) != 1 or not isinstance(body, c_ast.Assignment):
        return False
    (write,) = writes
    if write.stride(last) is not Stride.NONE or not isinstance(write.access.array.element, FloatingType):
        return False
    if body.op in {"+=", "-="}:
        return True
    value = body.rvalue
    if body.op != "=" or not isinstance(value, c_ast.BinaryOp) or value.op not in {"+", "-"}:
        return False
    ends = (value.left, value.right) if value.op == "+" else (value.left,)
    return any(key(each) == key(body.lvalue) for each in ends)
