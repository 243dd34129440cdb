"""The model of a region in which a minimum or maximum is found in parts that know their place.

A part keeps the value, what is carried with it, and when it was taken: the counters of its term, in the
order of the terms::

    for i: if (x[i] > b) { b = x[i]; w = i; }   ->

    for p < P: { bs[p] = b; ws[p] = w; when[p] = long ago; }
    for p < P: for i = p, P + p, ...: if (x[i] > bs[p]) { bs[p] = x[i]; ws[p] = i; when[p] = i; }
    ...               of two parts the better, of equals the earlier (with >=: the later), until one is left
    b = bs[0]; w = ws[0];

A part that took nothing has the values of before. With ``>`` every part that took one is better; with ``>=``
it may be equal, but is later than long ago. Of a search the last part that took something counts, or the
first: those that did not are later then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import islpy as isl
from pycparser import c_ast

from polybuild.analysis.reductions import TAKEN, Selection
from polybuild.c.basic_types import LONG_LONG
from polybuild.c.conversions import limits
from polybuild.scop.model import Access, AccessKind, Array, Scop, Statement
from polybuild.scop.model import Iterator as Counter
from polybuild.targets.gpu.reduction_sessions import Session
from polybuild.targets.gpu.split_reductions import Splitter, written


class PlacedSplitter(Splitter):
    """Makes the model in which the values of ``session`` are found in parts.

    ``order`` is that of its terms.
    """

    def __init__(self, scop: Scop, session: Session, combined: int, order: Sequence[tuple[int, int]]) -> None:
        super().__init__(scop, session, combined, left=1)
        selection = session.reduction.selection
        assert selection is not None  # noqa: S101 - others are split by Splitter
        self._selection: Selection = selection
        self._kept = (session.reduction, *selection.carried)
        self._order_of_terms = order

    def _bundle(self, level: int, count: int) -> tuple[Array, ...]:
        """The arrays of the values, of what is carried with them, and of the counters of their terms."""
        values = [self._parts(f"{each.array.name}_parts{level}", count, each.type) for each in self._kept]
        name = self._session.reduction.array.name
        when = [
            self._parts(f"{name}_when{position}_parts{level}", count, LONG_LONG)
            for position, _ in self._order_of_terms
        ]
        return (*values, *when)

    def _accumulation(self, parts: Sequence[Array]) -> tuple[c_ast.Node, Mapping[int, Array]]:
        """The body of a term, and the array of parts of each node that is one, by identity."""
        elements = {node: array for each, array in zip(self._kept, parts, strict=False) for node in each.own}
        assignments = list(self._selection.assignments)
        for (position, sign), array in zip(self._order_of_terms, parts[len(self._kept) :], strict=True):
            counter = c_ast.ID(self._old.iterators[position].name)
            target = c_ast.ID(array.name)
            elements[id(target)] = array
            assignments.append(
                c_ast.Assignment("=", target, counter if sign > 0 else c_ast.UnaryOp("-", counter))
            )
        return c_ast.If(self._selection.condition, c_ast.Compound(assignments), None), elements

    def _begin(self, parts: Sequence[Array]) -> Statement:
        """Each part has the values of before, of long ago; of a search for the first one, of never."""
        name, domain, counters = self._new([self._count(parts[0])])
        old = [self._accumulator(domain, each) for each in self._kept]
        values = [*(each.node for each in old), *(self._not_taken() for _ in self._order_of_terms)]
        targets = [self._element(name, domain, each, "q0") for each in parts]
        return self._assigning((name, domain, counters), targets, values, old)

    def _result(self, source: Sequence[Array]) -> Statement:
        """What was kept, from the last part."""
        name, domain, counters = self._new([1])
        last = [self._element(name, domain, each, "q0") for each in source[: len(self._kept)]]
        targets = [self._accumulator(domain, each) for each in self._kept]
        return self._assigning((name, domain, counters), targets, [each.node for each in last], last)

    def _combination(self, source: Sequence[Array], target: Sequence[Array]) -> Statement:
        """The best parts of parts."""
        count = self._count(target[0])
        name, domain, counters = self._new([count, self._count(source[0]) // count])
        reads: list[Access] = []

        def read(bundle: Sequence[Array], part: str) -> Callable[[int], c_ast.Node]:
            def element(position: int) -> c_ast.Node:
                reads.append(self._element(name, domain, bundle[position], part))
                return reads[-1].node

            return element

        one, other = read(target, "q0"), read(source, f"q0 + {count} * q1")
        condition = self._is_better(other, one)
        targets = [self._element(name, domain, each, "q0") for each in target]
        assignments = [
            c_ast.Assignment("=", each.node, other(position)) for position, each in enumerate(targets)
        ]
        writes = [replace(each, kind=AccessKind.MAY_WRITE) for each in targets]
        body = c_ast.If(condition, c_ast.Compound(assignments), None)
        return self._statement(name, domain, counters, body, [*reads, *writes])

    def _is_better(self, one: Callable[[int], c_ast.Node], other: Callable[[int], c_ast.Node]) -> c_ast.Node:
        """Whether the value of ``one`` part counts and not that of the ``other``."""
        better = "<" if self._session.reduction.operator == "min" else ">"
        sooner = ">" if self._selection.latest else "<"
        counts: c_ast.Node | None = None
        for position in reversed(range(len(self._kept), len(self._kept) + len(self._order_of_terms))):
            differs = c_ast.BinaryOp(sooner, one(position), other(position))
            if counts is not None:
                same = c_ast.BinaryOp("==", one(position), other(position))
                differs = c_ast.BinaryOp("||", differs, c_ast.BinaryOp("&&", same, counts))
            counts = differs
        if self._session.reduction.operator == TAKEN:
            return counts
        equal = c_ast.BinaryOp("&&", c_ast.BinaryOp("==", one(0), other(0)), counts)
        return c_ast.BinaryOp("||", c_ast.BinaryOp(better, one(0), other(0)), equal)

    def _not_taken(self) -> c_ast.Node:
        """A number that is less than every counter, or greater where the least of them counts."""
        maximum = c_ast.Constant("long long int", f"{limits(LONG_LONG)[1]}LL")
        is_first = self._session.reduction.operator == TAKEN and not self._selection.latest
        return maximum if is_first else c_ast.UnaryOp("-", maximum)

    def _assigning(
        self,
        instances: tuple[str, isl.Set, tuple[Counter, ...]],
        targets: Sequence[Access],
        values: Sequence[c_ast.Node],
        reads: Sequence[Access],
    ) -> Statement:
        """The statement that assigns ``values`` to ``targets``."""
        assignments = [
            c_ast.Assignment("=", target.node, value) for target, value in zip(targets, values, strict=True)
        ]
        return self._statement(*instances, c_ast.Compound(assignments), [*reads, *map(written, targets)])
