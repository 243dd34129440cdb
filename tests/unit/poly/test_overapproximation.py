"""Supersets of relations that Farkas' lemma takes in bounded time."""

from __future__ import annotations

import islpy as isl
import pytest
from islpy import dim_type

from polybuild.poly.budget import operation_budget
from polybuild.poly.overapproximation import overapproximation_of, overapproximation_of_piece

# found by the fuzzer: isl took over three minutes to find the coefficients of this one
SLOW = """[p, m, n] -> { S[i, j] -> T[a, b] : -3 <= n <= 33 and i >= p - 10 and 0 < i <= 9 and i <= p - 2
    and j >= n - 31 and 0 < j <= 21 - p + n and j <= 10 and j < m and i < a <= 9 + j and a <= 6 + i
    and b >= n - j - 29 and i - 4 <= b <= i + 4 and b <= 15 + n - j }"""
STRIDED = """[n] -> { S[i, j] -> T[a, b] : exists (x, y, z : 3x <= i < 3x + 3 and 5y <= j + x < 5y + 5 and
    z = a - 2b
    and 7z <= j + n < 7z + 7 and 0 <= i < a < n and 0 <= j < n and 0 <= b < n and i + b <= 3n - j) }"""
BOX = """[n] -> { S[i, j, k] -> T[a, b, c] : 0 <= i < n and 0 <= j < n and 0 <= k < n
    and 0 <= a < n and 0 <= b < n and 0 <= c < n and i < a and j < b }"""


def piece(text):
    (found,) = isl.Map(text).get_basic_maps()
    return found


@pytest.mark.parametrize("text", [SLOW, STRIDED, BOX])
def test_nothing_is_lost(text):
    relation = piece(text)
    assert relation.is_subset(overapproximation_of_piece(relation))
    whole = isl.UnionMap(text)
    assert whole.is_subset(overapproximation_of(whole))


def test_the_coefficients_of_what_is_left_are_found_at_once():
    simple = overapproximation_of_piece(piece(SLOW))
    with operation_budget(100_000):
        simple.wrap().coefficients()
    assert simple.is_subset(
        isl.BasicMap("[p, m, n] -> { S[i, j] -> T[a, b] : i < a }")
    )  # what gives the order


def test_no_existential_variables_are_left():
    assert overapproximation_of_piece(piece(STRIDED)).dim(dim_type.div) == 0


@pytest.mark.parametrize(
    "text",
    [
        BOX,
        "[n] -> { S[i] -> S[a] : 0 <= i < a and a < n }",
        "[n, m] -> { S[i, j] -> S[i, b] : 0 <= i < n and 0 <= j < b < m and n < 50 and n <= m }",
    ],
)
def test_boxes_and_small_pieces_stay_as_they_are(text):
    assert overapproximation_of_piece(piece(text)).is_equal(piece(text))
