"""The affine form of Farkas' lemma: what makes a form non-negative on a set (PLDI 2008, section 3.2).

A form is non-negative on a polyhedron exactly if it is a non-negative combination of
the polyhedron's constraints. isl eliminates the multipliers of that combination
(``coefficients``), which leaves constraints on the coefficients of the form alone.
"""

from __future__ import annotations

import islpy as isl

from polybuild.supersets import simple_superset

_dim = isl.dim_type


def nonnegative_forms(relation: isl.Map) -> isl.BasicSet:
    """The forms that are non-negative on ``relation``.

    The result lives in ``[c, p0, ..., s0, ..., t0, ...]``: the constant and the
    coefficients of the parameters, the input dimensions and the output dimensions.
    Integer divisions and some of very many constraints are dropped, so the relation may be taken too
    large.
    """
    count = 1 + relation.dim(_dim.param) + relation.dim(_dim.in_) + relation.dim(_dim.out)
    forms = isl.BasicSet.universe(isl.Space.set_alloc(relation.get_ctx(), 0, count))
    for piece in relation.get_basic_maps():
        simple = simple_superset(piece)
        forms = forms.intersect(_integral(simple.wrap().flatten().coefficients(), forms.get_space()))
    return forms.remove_redundancies()


def _integral(cone: isl.BasicSet, space: isl.Space) -> isl.BasicSet:
    """The integer points of a rational ``cone``, in ``space``."""
    order = (_dim.cst, _dim.param, _dim.set, _dim.div)
    return isl.BasicSet.from_constraint_matrices(
        space, cone.equalities_matrix(*order), cone.inequalities_matrix(*order), *order
    )
