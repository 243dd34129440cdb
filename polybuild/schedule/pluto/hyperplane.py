"""The best hyperplane that is legal and independent of those already found (PLDI 2008, section 3.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import islpy as isl

from polybuild.schedule.pluto.cost import Layout, Terms, edge_constraints, scale
from polybuild.schedule.pluto.independence import orthogonal_basis
from polybuild.schedule.pluto.model import Edge, EdgeKind, Hyperplane, Node, Row

_dim = isl.dim_type

# Coefficients beyond this are never wanted where they may be negative.
_LARGEST = 4

# Statements of a program with signed coefficients, which branches for each of them.
_MOST_SIGNED = 4


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
    nodes: Sequence[Node],
    edges: Sequence[Edge],
    found: Mapping[str, Sequence[Row]],
    parameters: int,
    *,
    joint: bool = False,
    bounded: bool = False,
) -> Solution | None:
    """The cheapest hyperplane of ``nodes`` that respects ``edges``, None if there is none.

    For each statement that has fewer independent rows in ``found`` than loops it
    is independent of them. Negative coefficients are tried where there is none without.
    If ``bounded``, no dependence may cross more hyperplanes the larger the parameters are.
    """
    for signed in (False, True) if len(nodes) <= _MOST_SIGNED else (False,):
        layout = Layout(tuple(nodes), parameters, signed, joint)
        program = _program(layout, edges, found)
        # the programs in which bounds are zero are the smaller ones, and settle most cases
        u, w = layout.bound(EdgeKind.ORDER)
        for zeros in ([0, *u, w], [0, *u], []):
            best = _with_zeros(program, zeros).lexmin() if zeros or not bounded else None
            if best is not None and not best.is_empty():
                return _solution(layout, best)
    return None


def _program(layout: Layout, edges: Sequence[Edge], found: Mapping[str, Sequence[Row]]) -> isl.BasicSet:
    program = layout.constraints()
    for edge in edges:
        program = program.intersect(edge_constraints(edge, layout))
    for node in layout.nodes:
        for terms, constant in _independent(layout, node, found[node.name]):
            program = program.add_constraint(_at_least_zero(layout.space, terms, constant))
    return program


def _with_zeros(program: isl.BasicSet, positions: Sequence[int]) -> isl.BasicSet:
    for position in positions:
        program = program.fix_val(_dim.set, position, isl.Val.zero(program.get_ctx()))
    return program


def _solution(layout: Layout, best: isl.Set) -> Solution:
    point = best.sample_point()
    values = [
        int(point.get_coordinate_val(_dim.set, each).to_python())
        for each in range(layout.space.dim(_dim.set))
    ]

    def bound(kind: EdgeKind) -> tuple[int, int]:
        u, w = layout.bound(kind)
        return sum(values[each] for each in u), values[w]

    return Solution(layout.hyperplane(values), bound(EdgeKind.ORDER), bound(EdgeKind.INPUT))


def _independent(layout: Layout, node: Node, rows: Sequence[Row]) -> list[tuple[Terms, int]]:
    """Expressions that must not be negative (terms and a constant) for independence of ``rows``."""
    basis = orthogonal_basis(rows, node.depth)
    if not basis:
        return []
    parts = [
        [
            term
            for loop, factor in enumerate(vector)
            for term in scale(layout.coefficient(node.name, loop), factor)
        ]
        for vector in basis
    ]
    if layout.signed:
        return _on_one_side(layout, node, basis, parts)
    # the convex choice of section 4.2: no component may be negative, and not all are zero
    together = [term for part in parts for term in part]
    return [*((part, 0) for part in parts), (together, -1)]


def _on_one_side(
    layout: Layout, node: Node, basis: list[tuple[int, ...]], parts: list[Terms]
) -> list[tuple[Terms, int]]:
    """``parts`` are not all zero: as digits, they make a number other than zero."""
    largest = _LARGEST * max(sum(map(abs, vector)) for vector in basis)
    digits = 2 * largest + 1
    number = [term for power, part in enumerate(parts) for term in scale(part, digits**power)]
    big = digits ** len(parts)
    side = layout.side(node.name)
    needs: list[tuple[Terms, int]] = [
        ([*number, *scale(side, big)], -1),
        ([*scale(number, -1), *scale(side, -big)], big - 1),
        (scale(side, -1), 1),
    ]
    for loop in range(node.depth):
        coefficient = layout.coefficient(node.name, loop)
        needs += [(coefficient, _LARGEST), (scale(coefficient, -1), _LARGEST)]
    return needs


def _at_least_zero(space: isl.Space, terms: Terms, constant: int) -> isl.Constraint:
    values: dict[int, int] = {}
    for position, factor in terms:
        values[position] = values.get(position, 0) + factor
    constraint = isl.Constraint.alloc_inequality(isl.LocalSpace.from_space(space))
    for position, factor in values.items():
        constraint = constraint.set_coefficient_val(_dim.set, position, isl.Val(factor))
    return constraint.set_constant_val(isl.Val(constant))
