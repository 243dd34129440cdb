"""Minima and maxima with their place: what belongs to the first, or the last, of the best values. Searches.

::

    if (x[i] > best) {        ->    best, and with it where: of equal values those of the first one;
      best = x[i];                  with >= those of the last one
      where = i;
    }

What is carried with the value may be anything that the statement computes: counters, other elements. Parts
of the terms may be run through by themselves, each from the values of before, if each part keeps when it took
its value: of the parts with the best value the first (or last) one counts. That is the element which the
original takes, to the sign of a zero, so it is exact in floating point, too. Not-a-number compares false: it
never is taken, and as the value of before it stays.

A search is the same without a value to compare: what is taken last counts, or what is taken first where the
condition forbids to take another one::

    if (x[i] < 0) where = i;                 if (where < 0 && x[i] < 0) where = i;   for i from 0 on
    if (x[i] < 0) found = 1;                 if (!found && x[i] < 0) { found = 1; at = i; }
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import islpy as isl
from pycparser import c_ast

from polybuild.analysis.reductions import CARRIED, TAKEN, Reduction, ReductionMatcher, Selection, same
from polybuild.analysis.settled_conditions import excludes_repetition
from polybuild.c.syntax_tree import changed_operand, conjuncts, walk
from polybuild.c.types import FloatingType, IntegerType
from polybuild.scop.model import Access, AccessKind, Scop
from polybuild.source.model import Region


def find_placed_reductions(scop: Scop, region: Region) -> tuple[Reduction, ...]:
    """The minima, maxima and searches of ``scop`` that may be computed in parts which know their places."""
    found = (_PlacedReductionMatcher(each, region).placed(scop.context) for each in scop.statements)
    return tuple(each for each in found if each is not None)


class _PlacedReductionMatcher(ReductionMatcher):
    """Reads the body of one statement."""

    def placed(self, context: isl.Set) -> Reduction | None:
        """The minimum, maximum or search that the statement is, with what it carries; None if it is none.

        ``context`` is what is known of the parameters.
        """
        logical = self._logical()
        if logical is not None:
            return logical
        conditions, assignments = _update(self._statement.body)
        kept = _kept(self._statement.body)
        nodes = {id(part) for each in (*conditions, *assignments) for part in walk(each)}
        accesses = [each for each in self._statement.accesses if id(each.node) in nodes]
        writes = {id(each.node): each for each in accesses if each.kind is not AccessKind.READ}
        targets = [writes.get(id(each.lvalue)) for each in assignments]
        arrays = {each.array.name for each in targets if each is not None and _is_plain(each)}
        if not conditions or self._statement.dynamic or len(arrays) < len(targets):
            return None
        operations = [part for each in conditions for part in walk(each)]
        operations += [part for each in assignments for part in walk(each.rvalue)]
        if len(writes) > len(targets) or any(changed_operand(each) is not None for each in operations):
            return None
        for assignment in assignments:
            found = self._extremum(conditions, assignments, assignment, accesses)
            if found is not None:
                return found if kept is None or id(kept) in found.own else None
        found = self._search(conditions, assignments, accesses, context)
        return found if found is None or kept is None or same(kept, assignments[0].lvalue) else None

    def _logical(self) -> Reduction | None:
        """``found = found || e`` and ``whole = e && whole``, of integers."""
        write, body = self._only_write(), self._statement.body
        if (
            write is None
            or not isinstance(body, c_ast.Assignment)
            or body.op != "="
            or self._statement.dynamic
        ):
            return None
        kind, value = write.array.element, body.rvalue
        accesses = self._statement.accesses_to(write.array)
        self._own = frozenset(id(each.node) for each in accesses if self._is_own(each, write))
        if not isinstance(kind, IntegerType) or not isinstance(value, c_ast.BinaryOp):
            return None
        terms = list(_terms(value, value.op))
        seen = [each for each in terms if self._has_own(each)]
        reads = len(seen) == 1 and id(seen[0]) in self._own and len(terms) > 1
        if not reads or value.op not in {"&&", "||"} or len(self._own) != 2 or len(accesses) != 2:
            return None
        if any(changed_operand(part) is not None for each in terms for part in walk(each)):
            return None
        if not self._may_be_read_always(terms[terms.index(seen[0]) :]):
            return None
        return Reduction(self._statement, write.array, write.relation, self._own, value.op, kind, exact=True)

    def _may_be_read_always(self, values: Sequence[c_ast.Node]) -> bool:
        """Whether ``values``, which the original reads until it has found something, may be read after that.

        Of an array the whole box of all terms is there, but data need not choose elements of it.
        """
        nodes = {id(part) for each in values for part in walk(each)}
        return all(
            each.exact and each.relation.is_single_valued()
            for each in self._statement.accesses
            if id(each.node) in nodes
        )

    def _search(
        self,
        conditions: Sequence[c_ast.Node],
        assignments: Sequence[c_ast.Assignment],
        accesses: Sequence[Access],
        context: isl.Set,
    ) -> Reduction | None:
        """The search that takes what is assigned, if its conditions look at nothing of that, or settle it."""
        found: list[Reduction] = []
        assigned: dict[int, tuple[IntegerType, c_ast.Node]] = {}
        looking: list[c_ast.Node] = []
        for each in assignments:
            target = next(access for access in accesses if access.node is each.lvalue)
            own = frozenset(
                id(access.node)
                for access in self._statement.accesses_to(target.array)
                if self._is_own(access, target)
            )
            kind = target.array.element
            assert isinstance(kind, IntegerType | FloatingType)  # noqa: S101 - it is plain
            looked = [part for condition in conditions for part in walk(condition) if id(part) in own]
            kept = _kept(self._statement.body)
            # nothing but conditions looks at what was found before
            seen = len(looked) + 1 + (kept is not None and id(kept) in own)
            if len(own) < len(self._statement.accesses_to(target.array)) or seen < len(own):
                return None
            if isinstance(kind, IntegerType):
                assigned |= {id(node): (kind, each.rvalue) for node in looked}
            looking += [
                condition for condition in conditions if any(part in looked for part in walk(condition))
            ]
            operator = CARRIED if found else TAKEN
            found.append(
                Reduction(self._statement, target.array, target.relation, own, operator, kind, exact=True)
            )
        if looking:
            later = [*conditions[conditions.index(looking[0]) :], *(each.rvalue for each in assignments)]
            is_final = excludes_repetition(looking, assigned, self._statement, context)
            if not is_final or not self._may_be_read_always(later):
                return None
        selection = Selection(_all_of(conditions), tuple(assignments), tuple(found[1:]), not looking)
        return replace(found[0], selection=selection)

    def _extremum(
        self,
        conditions: Sequence[c_ast.Node],
        assignments: Sequence[c_ast.Assignment],
        taken: c_ast.Assignment,
        accesses: Sequence[Access],
    ) -> Reduction | None:
        """The reduction if ``taken`` is the assignment of the best value, and all others are carried."""
        write = next(each for each in accesses if each.node is taken.lvalue)
        element = write.array.element
        self._own = frozenset(id(each.node) for each in self._statement.accesses if self._is_own(each, write))
        compared = [each for each in conditions if self._has_own(each)]
        if len(compared) != 1 or not isinstance(element, IntegerType | FloatingType):
            return None
        found = self._compared(compared[0], taken.rvalue, element, taken=True)
        if found is None:
            return None
        carried = []
        for each in assignments:
            target = next(access for access in accesses if access.node is each.lvalue)
            of_array = [access for access in accesses if access.array.name == target.array.name]
            # nothing but the comparison looks at what was found before
            if len(of_array) != (2 if each is taken else 1):
                return None
            kind = target.array.element
            assert isinstance(kind, IntegerType | FloatingType)  # noqa: S101 - it is plain
            if each is not taken:
                own = frozenset({id(target.node)})
                carried.append(
                    Reduction(self._statement, target.array, target.relation, own, CARRIED, kind, exact=True)
                )
        latest = compared[0].op in {"<=", ">="}
        selection = Selection(_all_of(conditions), tuple(assignments), tuple(carried), latest)
        return Reduction(
            self._statement,
            write.array,
            write.relation,
            self._own,
            found[0],
            element,
            exact=True,
            selection=selection,
        )


def _is_plain(access: Access) -> bool:
    """Whether an access is of one number."""
    kind = access.array.element
    number = isinstance(kind, IntegerType) or (isinstance(kind, FloatingType) and not kind.complex)
    return number and access.exact and access.relation.is_single_valued() and not any(access.array.suffixes)


def _update(body: c_ast.Node) -> tuple[list[c_ast.Node], list[c_ast.Assignment]]:
    """The conditions under which ``body`` assigns, and its assignments; nothing if it does something else."""
    conditions: list[c_ast.Node] = []
    if isinstance(body, c_ast.Assignment) and isinstance(body.rvalue, c_ast.TernaryOp) and body.op == "=":
        chosen = body.rvalue
        return list(conjuncts(chosen.cond)), [c_ast.Assignment("=", body.lvalue, chosen.iftrue, body.coord)]
    while isinstance(body, c_ast.If) and body.iffalse is None:
        conditions += conjuncts(body.cond)
        body = body.iftrue
        while isinstance(body, c_ast.Compound) and len(body.block_items or ()) == 1:
            body = body.block_items[0]
    assignments = list(_items(body))
    plain = [each for each in assignments if isinstance(each, c_ast.Assignment) and each.op == "="]
    return (conditions, plain) if len(plain) == len(assignments) else ([], [])


def _kept(body: c_ast.Node) -> c_ast.Node | None:
    """What an assignment of a choice assigns where the condition does not hold."""
    chosen = body.rvalue if isinstance(body, c_ast.Assignment) else None
    return chosen.iffalse if isinstance(chosen, c_ast.TernaryOp) else None


def _terms(value: c_ast.Node, operator: str) -> Iterator[c_ast.Node]:
    if isinstance(value, c_ast.BinaryOp) and value.op == operator:
        yield from _terms(value.left, operator)
        yield from _terms(value.right, operator)
    else:
        yield value


def _all_of(conditions: Sequence[c_ast.Node]) -> c_ast.Node:
    condition = conditions[0]
    for each in conditions[1:]:
        condition = c_ast.BinaryOp("&&", condition, each, condition.coord)
    return condition


def _items(body: c_ast.Node) -> Iterator[c_ast.Node]:
    """The expressions that ``body`` evaluates one after the other."""
    parts = (
        body.block_items or ()
        if isinstance(body, c_ast.Compound)
        else body.exprs
        if isinstance(body, c_ast.ExprList)
        else None
    )
    if parts is None:
        yield body
    else:
        for each in parts:
            yield from _items(each)
