"""The affine form of Farkas' lemma: what makes a form non-negative on a set (PLDI 2008, section 3.2).

A form is non-negative on a polyhedron exactly if it is a non-negative combination of
the polyhedron's constraints. isl eliminates the multipliers of that combination
(``coefficients``), which leaves constraints on the coefficients of the form alone.
"""

from __future__ import annotations

import islpy as isl

from polybuild.effort import FORM_CONSTRAINTS
from polybuild.poly.matrices import rows_of
from polybuild.poly.memory import remembered
from polybuild.poly.overapproximation import overapproximation_of_piece
from polybuild.values import dataclass

_dim = isl.dim_type
_COLUMNS = (_dim.cst, _dim.param, _dim.set, _dim.div)


@dataclass(frozen=True, slots=True)
class Forms:
    """A cone of affine forms: what their coefficients have to fulfil.

    A row of ``zero`` times the coefficients of a form is zero, a row of ``positive`` times them
    is not negative.
    """

    zero: tuple[tuple[int, ...], ...]
    positive: tuple[tuple[int, ...], ...]

    def __contains__(self, form: tuple[int, ...]) -> bool:
        def product(row: tuple[int, ...]) -> int:
            return sum(factor * each for factor, each in zip(row, form, strict=True))

        return all(product(row) == 0 for row in self.zero) and all(product(row) >= 0 for row in self.positive)


def nonnegative_forms(relation: isl.Map) -> Forms:
    """The forms that are non-negative on ``relation``.

    They are lists ``(c, p0, ..., s0, ..., t0, ...)``: the constant and the
    coefficients of the parameters, the input dimensions and the output dimensions.
    Integer divisions and some of very many constraints are dropped, so the relation may be taken too
    large. Pairs of statements with the same loops are related alike: their forms are found once.
    """
    return _nonnegative_forms(relation.reset_tuple_id(_dim.in_).reset_tuple_id(_dim.out))


@remembered
def _nonnegative_forms(relation: isl.Map) -> Forms:
    count = 1 + relation.dim(_dim.param) + relation.dim(_dim.in_) + relation.dim(_dim.out)
    space = isl.Space.set_alloc(relation.get_ctx(), 0, count)
    forms = isl.BasicSet.universe(space)
    for piece in relation.get_basic_maps():
        cone = overapproximation_of_piece(piece).wrap().flatten().coefficients()
        matrices = (cone.equalities_matrix(*_COLUMNS), cone.inequalities_matrix(*_COLUMNS))
        forms = forms.intersect(isl.BasicSet.from_constraint_matrices(space, *matrices, *_COLUMNS))
    if forms.n_constraint() <= FORM_CONSTRAINTS:
        forms = forms.remove_redundancies()
    zero, positive = (
        tuple(tuple(row[1:]) for row in rows_of(matrix))  # the cone has no constants
        for matrix in (forms.equalities_matrix(*_COLUMNS), forms.inequalities_matrix(*_COLUMNS))
    )
    return Forms(zero, positive)
