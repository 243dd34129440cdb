"""Which tiles are full, and where that is asked."""

import islpy as isl
from device_regions import MATRICES, PRODUCT

from polybuild.poly.marks import MarkKind
from polybuild.targets.device import Kernel


def full(found):
    (one,) = found.plan.tree.full.values()
    return one.tiles


def test_tiles_of_a_product(planned):
    found = planned(PRODUCT, MATRICES, tile_sizes=(32, 16, 8), block_sizes=(16, 16))
    expected = isl.Set("[n] -> { [i, j] : 0 <= i and 32i + 32 <= n and 0 <= j and 16j + 16 <= n }")
    assert full(found).is_equal(expected.intersect_params(found.scop.context))


def test_tiles_of_a_triangle(planned):
    body = "for (int i = 0; i < n; i++) for (int j = i; j < n; j++) for (int k = 0; k < n; k++)"
    found = planned(
        f"{body} C[i][j] += A[i][k] * A[j][k];", MATRICES, tile_sizes=(8, 8, 8), block_sizes=(4, 4)
    )
    expected = isl.Set("[n] -> { [i, j] : 0 <= i and 8i + 7 <= 8j and 8j + 8 <= n }")
    assert full(found).is_equal(expected.intersect_params(found.scop.context))


def test_one_point_for_a_thread_asks_for_itself(planned):
    body = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) C[i][j] = A[i][j];"
    assert not planned(body, MATRICES).plan.tree.full


def test_sums_that_end_where_rows_say(planned):
    """Whole tiles of terms: of a triangle those on one side of it, of others none that one would ask for."""
    body = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k <= i; k++)"
    found = planned(
        f"{body} C[i][j] += A[i][k] * B[k][j];", MATRICES, tile_sizes=(8, 8, 8), block_sizes=(4, 4)
    )
    mark = Kernel(0).mark(MarkKind.THREADS)
    sums = found.plan.tree.full[mark].tiles
    reached = isl.Set("[n] -> { [i, j, k] : 0 <= k <= i and 8i < n and 0 <= j and 8j < n }")
    expected = isl.Set("[n] -> { [i, j, k] : 8k + 7 <= 8i }")
    assert sums.intersect(reached).is_equal(expected.intersect(reached))
    assert mark not in planned(PRODUCT, MATRICES).plan.tree.full
