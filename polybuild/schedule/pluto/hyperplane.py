"""The best hyperplane that is legal and independent of those already found (PLDI 2008, section 3.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from polybuild.effort import LARGEST_COEFFICIENT, SIGNED_STATEMENTS, UNSETTLED_EFFORT
from polybuild.schedule.pluto.cost import VariableLayout, edge_constraints
from polybuild.schedule.pluto.independence import orthogonal_basis
from polybuild.schedule.pluto.model import Edge, EdgeKind, Hyperplane, Row, StatementNode
from polybuild.schedule.pluto.program import Constraint, Effort, Terms, Unsettled, scale, smallest
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class Solution:
    """A hyperplane, and how far its dependences and its pairs of reads go at most.

    A distance is (sum of ``u``, ``w``), to be compared in this order.
    """

    hyperplane: Hyperplane
    distance: tuple[int, int]
    reuse: tuple[int, int]

    @property
    def coincident(self) -> bool:
        """Whether no dependence crosses it."""
        return self.distance == (0, 0)


def find_hyperplane(
    nodes: Sequence[StatementNode],
    edges: Sequence[Edge],
    found: Mapping[str, Sequence[Row]],
    parameters: int,
    effort: Effort,
    *,
    joint: bool = False,
    bounded: bool = False,
) -> Solution | None:
    """The cheapest hyperplane of ``nodes`` that respects ``edges``, None if none is found in time.

    For each statement that has fewer independent rows in ``found`` than loops it
    is independent of them. Negative coefficients are tried where there is none without.
    If ``bounded``, no dependence may cross more hyperplanes the larger the parameters are.
    Raises TooLarge where that costs more than the ``effort`` that is left.
    """
    by_name = {each.name: each for each in nodes}
    for signed in (False, True) if len(nodes) <= SIGNED_STATEMENTS else (False,):
        layout = VariableLayout.of(nodes, parameters, signed=signed, joint=joint)
        constraints = [*layout.sums()]
        for edge in edges:
            constraints += edge_constraints(edge, layout, by_name)
        for node in nodes:
            constraints += _independent(layout, node, found[node.name])
        small = [*constraints, *layout.small()]
        # the programs in which bounds are zero are the smaller ones, and settle most cases; of the others
        # those in which nothing is large are solved soonest
        u, w = layout.bound(EdgeKind.ORDER)
        more = [[0, *u]] if bounded else [[0, *u], []]
        programs = [(constraints, [0, *u, w]), *((small, each) for each in more), (constraints, more[-1])]
        for asked, zeros in programs:
            size = layout.variables * len(asked)
            effort.spend(size)
            try:
                values = smallest(layout.variables, asked, zeros)
            except Unsettled:
                effort.spend(size * UNSETTLED_EFFORT)
                continue
            if values is not None:
                return _solution(layout, values)
    return None


def _solution(layout: VariableLayout, values: Sequence[int]) -> Solution:
    def bound(kind: EdgeKind) -> tuple[int, int]:
        u, w = layout.bound(kind)
        return sum(values[each] for each in u), values[w]

    return Solution(layout.hyperplane(values), bound(EdgeKind.ORDER), bound(EdgeKind.INPUT))


def _independent(layout: VariableLayout, node: StatementNode, rows: Sequence[Row]) -> list[Constraint]:
    """What makes the row of ``node`` independent of ``rows``."""
    basis = orthogonal_basis(rows, node.depth)
    if not basis:
        return []
    coefficients = layout.coefficients(node)
    parts = [
        [term for loop, factor in enumerate(vector) for term in scale(coefficients[loop], factor)]
        for vector in basis
    ]
    if layout.signed:
        return _on_one_side(layout, node, basis, parts)
    # the convex choice of section 4.2: no component may be negative, and not all are zero
    together = tuple(term for part in parts for term in part)
    return [*(Constraint(tuple(part)) for part in parts), Constraint(together, -1)]


def _on_one_side(
    layout: VariableLayout, node: StatementNode, basis: list[tuple[int, ...]], parts: Sequence[Terms]
) -> list[Constraint]:
    """``parts`` are not all zero: as digits, they make a number other than zero."""
    largest = LARGEST_COEFFICIENT * max(sum(map(abs, vector)) for vector in basis)
    digits = 2 * largest + 1
    number = [term for power, part in enumerate(parts) for term in scale(part, digits**power)]
    big = digits ** len(parts)
    side = layout.sides()[node.name]
    needs = [
        Constraint((*number, *scale(side, big)), -1),
        Constraint((*scale(number, -1), *scale(side, -big)), big - 1),
        Constraint(tuple(scale(side, -1)), 1),
    ]
    for coefficient in layout.coefficients(node):
        needs += [Constraint(tuple(scale(coefficient, sign)), LARGEST_COEFFICIENT) for sign in (1, -1)]
    return needs
