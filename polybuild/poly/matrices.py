"""isl's matrices and lists of integers."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from polybuild.poly.integers import integer_of, value_of


def rows_of(matrix: isl.Mat) -> list[list[int]]:
    """The rows of ``matrix``."""
    return [
        [integer_of(matrix.get_element_val(row, column)) for column in range(matrix.cols())]
        for row in range(matrix.rows())
    ]


def matrix_of(rows: Sequence[Sequence[int]], width: int) -> isl.Mat:
    """A matrix of ``width`` columns; rows that are shorter go on with zeros."""
    matrix = isl.Mat.alloc(isl.DEFAULT_CONTEXT, len(rows), width)
    for row, values in enumerate(rows):
        for column in range(width):
            value = values[column] if column < len(values) else 0
            matrix = matrix.set_element_val(row, column, value_of(value))
    return matrix
