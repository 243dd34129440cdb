"""Relations simple enough for Farkas' lemma: over-approximations with few constraints.

For a convex piece of a relation, isl finds the affine functions that are not negative on it by
eliminating one multiplier per constraint (isl_farkas.c, Fourier-Motzkin). That explodes with
the number of inequalities of a piece: from eleven on some take minutes, and no operation budget
counts it. So pieces with more lose those of the parameters alone, and then, unless they are boxes,
those that say little about the order of the two ends. Whoever asks for more pairs to be in order
gets those that matter in order.
"""

from __future__ import annotations

from collections import Counter

import islpy as isl

from polybuild.effort import BOX_DIMENSIONS, BOX_SIDES, PIECE_INEQUALITIES
from polybuild.poly.relations import maps_of, union_of

_DIV = isl.dim_type.div
_ENDS = (isl.dim_type.in_, isl.dim_type.out)


def overapproximation_of(relation: isl.UnionMap) -> isl.UnionMap:
    """``relation`` over-approximated by pieces without existential variables, with few inequalities each."""
    pieces = [piece for each in maps_of(relation) for piece in each.get_basic_maps()]
    return union_of(
        (isl.Map.from_basic_map(overapproximation_of_piece(each)) for each in pieces), relation.get_space()
    )


def overapproximation_of_piece(piece: isl.BasicMap) -> isl.BasicMap:
    """``piece`` over-approximated without existential variables, by few inequalities or those of a box."""
    hidden = piece.dim(isl.dim_type.div)
    # eliminating these variables from many inequalities explodes just the same
    if hidden and len(_inequalities(piece)) > PIECE_INEQUALITIES:
        piece = _of(
            piece, [each for each in piece.get_constraints() if not each.involves_dims(_DIV, 0, hidden)]
        )
    piece = piece.remove_divs()
    if len(_inequalities(piece)) <= PIECE_INEQUALITIES:
        return piece
    inequalities = sorted(filter(_sides, _inequalities(piece)), key=_importance)
    if not _is_box(inequalities):
        inequalities = inequalities[:PIECE_INEQUALITIES]
    return _of(piece, [each for each in piece.get_constraints() if each.is_equality()] + inequalities)


def _of(piece: isl.BasicMap, constraints: list[isl.Constraint]) -> isl.BasicMap:
    """The relation in the space of ``piece`` with some of its constraints."""
    kept = isl.BasicMap.universe(piece.get_space())
    for each in constraints:
        kept = kept.add_constraint(each)
    return kept


def _inequalities(piece: isl.BasicMap) -> list[isl.Constraint]:
    return [each for each in piece.get_constraints() if not each.is_equality()]


def _importance(constraint: isl.Constraint) -> tuple[int, str]:
    """What relates both ends comes first."""
    ends = sum(constraint.involves_dims(kind, 0, constraint.dim(kind)) for kind in _ENDS)
    return -ends, str(constraint)


def _is_box(inequalities: list[isl.Constraint]) -> bool:
    """Whether each is about one dimension, of either end, of not too many."""
    sides = [_sides(each) for each in inequalities]
    counts = Counter(position for each in sides for position in each)
    few = len(counts) <= BOX_DIMENSIONS and max(counts.values(), default=0) <= BOX_SIDES
    return few and all(len(each) == 1 for each in sides)


def _sides(constraint: isl.Constraint) -> frozenset[int]:
    """The positions of the dimensions, at either end, that a constraint is about."""
    return frozenset(
        position
        for kind in _ENDS
        for position in range(constraint.dim(kind))
        if constraint.involves_dims(kind, position, 1)
    )
