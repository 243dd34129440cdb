"""What a hyperplane does to an edge: which pairs it leaves to deeper loops, and whether it carries any."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import islpy as isl

from polybuild.poly.integers import value_of
from polybuild.schedule.pluto.farkas import nonnegative_forms
from polybuild.schedule.pluto.model import Edge, Hyperplane, StatementNode

_dim = isl.dim_type


def is_carried(edge: Edge, hyperplane: Hyperplane, nodes: Mapping[str, StatementNode]) -> bool:
    """Whether some pair of a respected edge is on two different hyperplanes (PLDI 2008, definition 3)."""
    local = isl.LocalSpace.from_space(edge.relation.get_space())
    step = _with_distance(isl.Constraint.alloc_inequality(local), edge, hyperplane, nodes)
    return not edge.relation.add_constraint(step.set_constant_val(step.get_constant_val() - 1)).is_empty()


def left_by(edge: Edge, band: Sequence[Hyperplane], nodes: Mapping[str, StatementNode]) -> Edge | None:
    """The pairs that are on the same hyperplane in all of ``band``; None if there are none."""
    relation = edge.relation
    local = isl.LocalSpace.from_space(relation.get_space())
    for hyperplane in band:
        same = _with_distance(isl.Constraint.alloc_equality(local), edge, hyperplane, nodes)
        relation = relation.add_constraint(same)
    if relation.is_empty():
        return None
    if relation.is_equal(edge.relation):
        return edge
    relation = relation.coalesce()
    return replace(edge, relation=relation, forms=nonnegative_forms(relation))


def _with_distance(
    constraint: isl.Constraint, edge: Edge, hyperplane: Hyperplane, nodes: Mapping[str, StatementNode]
) -> isl.Constraint:
    """An empty constraint on the pairs made one on ``phi_target(t) - phi_source(s)``."""
    constant = 0
    for name, side, sign in ((edge.source, _dim.in_, -1), (edge.target, _dim.out, 1)):
        row = hyperplane[name]
        constant += sign * row.constant
        loops = zip(row.coefficients, nodes[name].directions, strict=True)
        for loop, (coefficient, direction) in enumerate(loops):
            constraint = constraint.set_coefficient_val(side, loop, value_of(sign * coefficient * direction))
    return constraint.set_constant_val(value_of(constant))
