"""Large numbers in the bounds of loops, taken as parameters of their own.

A loop over ``0 <= i < 2000`` bounds every distance by the number 1999, so the integer program finds
each hyperplane within reach of any other and has to distinguish coefficients of that size; isl then
cuts for minutes. What is meant is "as far as the loop goes", which is what a parameter says. So
constants beyond a few become parameters, one for all numbers near each other (``n``, ``n - 1``), and
what numbers alone say about the region's own parameters (``n <= 2000``) is dropped. Both only make
relations larger: an order that respects these respects the dependences.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import islpy as isl

from polybuild.effort import MINIMUM_SIZE, NEAR_SIZES
from polybuild.poly.integers import integer_of
from polybuild.poly.matrices import matrix_of, rows_of
from polybuild.poly.relations import maps_of, union_of
from polybuild.values import dataclass

_dim = isl.dim_type
_COLUMNS = (_dim.cst, _dim.param, _dim.in_, _dim.out, _dim.div)


@dataclass(frozen=True, slots=True)
class LargeConstants:
    """The numbers that become parameters, ascending: each stands for those up to ``NEAR_SIZES`` above it."""

    smallest: tuple[int, ...]

    @classmethod
    def of(cls, relations: Iterable[isl.Map], beyond: int = 0) -> LargeConstants:
        """The sizes in the constraints of ``relations``, as far as they are ``beyond`` a number."""
        smallest: list[int] = []
        for number in sorted({each for relation in relations for each in _large_numbers(relation)}):
            if number > beyond and (not smallest or number > smallest[-1] + NEAR_SIZES):
                smallest.append(number)
        return cls(tuple(smallest))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the parameters, which no variable of a program has."""
        return tuple(f"polybuild_size{each}" for each in range(len(self.smallest)))

    @property
    def values(self) -> dict[str, int]:
        """The number that each parameter stands for."""
        return dict(zip(self.names, self.smallest, strict=True))

    def abstract_union(self, relation: isl.UnionMap) -> isl.UnionMap:
        """The same of all of ``relation``, which is as it was where nothing in it is large."""
        if not self.smallest:
            return relation
        return union_of(map(self.abstract, maps_of(relation)), relation.get_space())

    def abstract(self, relation: isl.Map) -> isl.Map:
        """``relation`` with the sizes as further parameters, behind its own."""
        space = relation.get_space()
        own = space.dim(_dim.param)
        space = space.add_dims(_dim.param, len(self.smallest))
        for index in range(len(self.smallest)):
            space = space.set_dim_name(_dim.param, own + index, self.names[index])
        result = isl.Map.empty(space)
        for piece in relation.get_basic_maps():
            result = result.union(isl.Map.from_basic_map(self._piece(piece, space, own)))
        return result

    def _piece(self, piece: isl.BasicMap, space: isl.Space, own: int) -> isl.BasicMap:
        equalities, inequalities = (self._rows(rows, own) for rows in _matrices(piece))
        width = 1 + own + len(self.smallest)
        for index in range(len(self.smallest)):  # a size is not small
            inequalities.append([-2, *(int(each == 1 + own + index) for each in range(1, width))])
        total = 1 + sum(piece.dim(each) for each in _COLUMNS[1:]) + len(self.smallest)
        matrices = (matrix_of(equalities, total), matrix_of(inequalities, total))
        return isl.BasicMap.from_constraint_matrices(space, *matrices, *_COLUMNS)

    def _rows(self, matrix: isl.Mat, own: int) -> list[list[int]]:
        """The constraints in ``matrix``, with columns for the sizes."""
        rows = []
        for constant, *factors in rows_of(matrix):
            sizes = [0] * len(self.smallest)
            rest = constant
            if abs(constant) >= MINIMUM_SIZE:
                if not any(factors[own:]):
                    continue
                known = [index for index, each in enumerate(self.smallest) if each <= abs(constant)]
                if known:
                    sizes[known[-1]] = 1 if constant > 0 else -1
                    rest -= sizes[known[-1]] * self.smallest[known[-1]]
            rows.append([rest, *factors[:own], *sizes, *factors[own:]])
        return rows


def _large_numbers(relation: isl.Map) -> Iterator[int]:
    """The magnitudes of large constants in the constraints on counters."""
    own = relation.dim(_dim.param)
    for piece in relation.get_basic_maps():
        # most have none, and one call for a constraint tells
        if all(abs(integer_of(each.get_constant_val())) < MINIMUM_SIZE for each in piece.get_constraints()):
            continue
        for matrix in _matrices(piece):
            for constant, *factors in rows_of(matrix):
                if abs(constant) >= MINIMUM_SIZE and any(factors[own:]):
                    yield abs(constant)


def largest_coefficient(relations: Iterable[isl.Map], *, equalities: bool = False) -> int:
    """The largest number that a counter is multiplied with in constraints of ``relations``; 0 without any.

    With ``equalities`` only those count that say which instance it is.
    """
    return max(
        (
            abs(each)
            for relation in relations
            for piece in relation.get_basic_maps()
            for matrix in ((piece.equalities_matrix(*_COLUMNS),) if equalities else _matrices(piece))
            for row in rows_of(matrix)
            for each in row[1 + relation.dim(_dim.param) :]
        ),
        default=0,
    )


def _matrices(piece: isl.BasicMap) -> tuple[isl.Mat, isl.Mat]:
    """The equalities and the inequalities of ``piece``."""
    return piece.equalities_matrix(*_COLUMNS), piece.inequalities_matrix(*_COLUMNS)
