"""Tile sizes: as told, else so that a tile fits."""

from __future__ import annotations

import pytest
from contexts import context_of

from polybuild.machine.model import Machine
from polybuild.targets.cpu.strides import references
from polybuild.targets.cpu.tilesizes import (
    element_size,
    footprint,
    front_sizes,
    is_reused,
    is_worth_tiling,
    shared_size,
    tile_sizes,
)

PARAMETERS = "int n, TYPE C[restrict n][n], TYPE A[restrict n][n], TYPE B[restrict n][n]"
PRODUCT = (
    "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++)"
    " C[i][j] += A[i][k] * B[k][j];"
)


@pytest.fixture
def product(band):
    def accesses(element="double"):
        found, node = band(PRODUCT, PARAMETERS.replace("TYPE", element), "i", "j", "k")
        return references(found.scop, node)

    return accesses


@pytest.mark.parametrize(
    ("given", "expected"),
    [((16,), (16, 16, 16)), ((8, 4), (8, 4, 4)), ((1, 2, 3), (1, 2, 3)), ((1, 2, 3, 4), (1, 2, 3))],
)
def test_given_sizes(given, expected, product):
    assert tile_sizes(product(), 3, 1, context_of(tile_sizes=given)) == expected


@pytest.mark.parametrize("kibibytes", [256, 1024, 4096])
@pytest.mark.parametrize("vector", [None, 1])
def test_a_tile_fits_into_half_the_second_level_cache(vector, kibibytes, product):
    context = context_of(l2_size=kibibytes * 1024)
    sizes = tile_sizes(product(), 3, vector, context)
    assert footprint(product(), sizes) <= context.machine.l2.bytes // 2


def test_sizes_grow_with_the_cache_and_shrink_with_the_element(product):
    def points(element, size):
        one, two, three = tile_sizes(product(element), 3, None, context_of(l2_size=size))
        return one * two * three

    assert points("double", 64 * 1024) < points("double", 1024 * 1024)
    assert points("double", 256 * 1024) <= points("float", 256 * 1024)


def test_the_smallest_cache_still_gets_tiles(product):
    assert all(size > 1 for size in tile_sizes(product(), 3, 1, context_of(l2_size=1)))


def test_footprint_counts_each_array_once(product):
    assert footprint(product(), (2, 3, 5)) == 8 * (2 * 3 + 2 * 5 + 5 * 3)


@pytest.mark.parametrize(
    ("element", "size"),
    [
        ("double", 8),
        ("float", 4),
        ("char", 1),
        ("unsigned short", 2),
        ("long double", 16),
        ("double _Complex", 16),
    ],
)
def test_element_size(element, size, product):
    assert {element_size(each) for each in product(element)} == {size}


def test_reuse(band):
    nest = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)"
    found, node = band(f"{nest} C[i][j] = A[i][3];", PARAMETERS.replace("TYPE", "double"), "i", "j")
    assert {each.access.array.name for each in references(found.scop, node) if is_reused(each)} == {"A"}


@pytest.fixture
def walked(band):
    def accesses(text):
        nest = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)"
        found, node = band(f"{nest} {text}", PARAMETERS.replace("TYPE", "double"), "i", "j")
        return references(found.scop, node)

    return accesses


def test_a_wavefront_gets_square_tiles_in_front(walked):
    accesses = walked("C[0][i] += A[i][j] * C[0][j];")
    outer, inner = front_sizes(accesses, 2, 1, context_of())
    assert outer == inner == min(tile_sizes(accesses, 2, 1, context_of()))


def test_a_wavefront_whose_vectors_gather_columns_gets_whole_tiles(walked):
    accesses = walked("C[0][j] += A[j][i] * C[0][i];")
    assert min(tile_sizes(accesses, 2, 1, context_of())) < min(front_sizes(accesses, 2, 1, context_of()))


def test_given_sizes_of_a_wavefront_stay(walked):
    accesses = walked("C[0][j] += A[j][i] * C[0][i];")
    assert front_sizes(accesses, 2, 1, context_of(tile_sizes=(64, 8))) == (64, 8)


def test_what_is_crossed_is_worth_tiles(band):
    nest = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)"
    for text, worth in (("C[j][i] = A[i][j];", True), ("C[i][j] = A[i][j];", False)):
        found, node = band(f"{nest} {text}", PARAMETERS.replace("TYPE", "double"), "i", "j")
        node = node.band_member_set_coincident(0, 1).band_member_set_coincident(1, 1)
        assert is_worth_tiling(node, references(found.scop, node), context_of(), inner=1) == worth


@pytest.mark.parametrize(
    ("trips", "size", "vector", "expected"),
    [
        ("150", 128, False, 10),  # sixteen tiles, where two of 128 and 22 would keep one thread waiting
        ("150", 128, True, 64),  # whole vectors
        ("1000", 128, True, 64),
        ("4000", 128, False, 125),  # of one size
        ("40", 8, False, 8),
        ("5", 8, False, 5),
        ("n", 128, False, 128),  # nothing is known
    ],
)
def test_many_threads_get_tiles(trips, size, vector, expected, band):
    body = f"for (int i = 0; i < {trips}; i++) for (int j = 0; j < n; j++) C[i][j] = A[i][3];"
    _, node = band(body, PARAMETERS.replace("TYPE", "double"), "i", "j")
    assert shared_size(node, 0, size, Machine(), vector=vector) == expected
