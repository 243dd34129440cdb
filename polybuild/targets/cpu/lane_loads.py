"""Which elements lanes may load although a condition says that not all of them read it.

A load that the program does not do is seen by nobody if the element exists: where something else in
the same iterations reads it in any case, or reads another member of the same structure.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

import islpy as isl
from pycparser import c_ast

from polybuild.c.syntax_tree import always_evaluates, walk
from polybuild.scop.model import Access, AccessKind, Array, Statement
from polybuild.scop.skipped_instances import iteration_left_out
from polybuild.targets.cpu.strides import Reference

_in, _out = isl.dim_type.in_, isl.dim_type.out


class LaneLoads:
    """What lanes may load in the ``statements`` of a loop.

    ``moving`` has the counters, by statement, whose values tell the lanes from each other.
    """

    def __init__(self, statements: Sequence[Statement], moving: Mapping[str, Collection[str]]) -> None:
        self._statements = statements
        self._left_out = {each.name: _left_out(each, moving.get(each.name, ())) for each in statements}
        accesses = (access for each in statements for access in each.accesses)
        self._written = {each.array.name for each in accesses if each.kind is not AccessKind.READ}

    def may_load(self, reference: Reference) -> bool:
        """Whether lanes may load what ``reference`` reads, whatever the data are."""
        return self._is_loaded(reference) or self._is_read(reference.access, reference.statement)

    def _is_loaded(self, reference: Reference) -> bool:
        """Whether the statement of ``reference`` reads that element in any case.

        Where one lane at most is left out of what it does, that lane may load what is read elsewhere.
        """
        statement = reference.statement
        twins = [each.node for each in self._twins(reference.access, statement, statement)]
        left_out = self._left_out[statement.name]
        if always_evaluates(statement.body, *twins):
            return True
        if left_out is None or not always_evaluates(statement.body.iftrue, *twins):
            return False
        relation, whole = reference.access.relation, statement.domain
        return bool(left_out.apply(relation).is_subset(whole.subtract(left_out).apply(relation)))

    def _is_read(self, access: Access, user: Statement) -> bool:
        """Whether each iteration of ``user`` reads in another statement what ``access`` does, in any case."""
        for other in self._statements:
            runs = other.domain.set_tuple_name(user.domain.get_tuple_name())
            if len(other.iterators) != len(user.iterators) or not user.domain.is_subset(runs):
                continue
            twins = self._twins(access, user, other)
            if any(each.exact and _is_certain(other.body, each.node) for each in twins):
                return True
        return False

    def _twins(self, access: Access, user: Statement, other: Statement) -> Iterator[Access]:
        """The reads of ``other`` that touch what ``access``, of ``user``, does, or a member beside it.

        That one must keep its value meanwhile.
        """
        name = user.domain.get_tuple_name()
        for each in other.accesses:
            beside = access.array.name not in self._written and _are_members(each.array, access.array)
            if each.kind is AccessKind.READ and (each.array is access.array or beside):
                relation = each.relation.set_tuple_name(_in, name).set_tuple_name(_out, access.array.name)
                if relation.is_equal(access.relation):
                    yield each


def _are_members(one: Array, other: Array) -> bool:
    """Whether equal subscripts choose members of one structure in two arrays."""
    if not (isinstance(one.expression, c_ast.ID) and isinstance(other.expression, c_ast.ID)):
        return False
    members = all(any(each.suffixes[-1:]) for each in (one, other))
    same = one.expression.name == other.expression.name and one.declared is other.declared
    return members and same and one.suffixes[:-1] == other.suffixes[:-1]


def _is_certain(body: c_ast.Node, wanted: c_ast.Node) -> bool:
    """Whether ``body`` evaluates its part ``wanted`` in any case, and be it a loop that may not go on."""
    if isinstance(body, c_ast.While):
        return always_evaluates(body.cond, wanted)
    if isinstance(body, c_ast.For):
        before = (each for each in (body.init, body.cond) if each is not None)
        return any(always_evaluates(each, wanted) for each in before)
    if isinstance(body, c_ast.DoWhile):
        leaves = any(isinstance(each, c_ast.Break | c_ast.Continue) for each in walk(body.stmt))
        return not leaves and always_evaluates(body.stmt, wanted)
    return always_evaluates(body, wanted)


def _left_out(statement: Statement, moving: Collection[str]) -> isl.Set | None:
    """The instances in which one of several lanes has nothing to do; None if that is not known.

    Lanes are iterations of one counter, the one in ``moving``, for equal values of the others.
    """
    left_out = iteration_left_out(statement)
    names = [each.name for each in statement.iterators]
    sides = {statement.body.cond.left.name, statement.body.cond.right.name} if left_out is not None else set()
    if left_out is None or len(moving) != 1 or not sides.issuperset(moving):
        return None
    same = isl.Map.identity(statement.domain.get_space().map_from_set())
    (counter,) = moving
    others = same.drop_constraints_involving_dims(_out, names.index(counter), 1).subtract(same)
    return left_out.intersect(others.intersect_range(statement.domain).domain())
