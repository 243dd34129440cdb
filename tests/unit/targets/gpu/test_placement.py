"""What goes to registers and to shared memory."""

from device_regions import JACOBI, MATRICES, PRODUCT

from polybuild.targets.gpu.placement import bytes_of
from polybuild.targets.gpu.target import CUDA


def test_matrix_product(planned):
    """The tiles of figure 2 of the PPCG paper, for blocks of 16 by 16 threads."""
    found = planned(PRODUCT, MATRICES, tile_sizes=(32, 32, 16), block_sizes=(16, 16))
    assert found.registers["C"].sizes == (2, 2)
    assert found.registers["C"].depth == 2  # below the loops over the blocks' tiles
    assert found.shared["A"].box.sizes == (32, 16)
    assert found.shared["B"].box.sizes == (16, 32)
    assert {tile.depth for tile in found.shared.values()} == {3}  # within the loop over the tiles of k
    # two rows of A that are one thread's lie side by side, too, and rows begin at even elements
    assert [found.shared[name].order for name in "AB"] == [(1, 0), (0, 1)]
    assert [found.shared[name].row for name in "AB"] == [34, 32]
    assert all(each.run == 2 for each in found.shared.values())


def test_neighbours_come_from_the_cache(planned):
    found = planned(JACOBI, MATRICES, tile_shape="rectangular", tile_sizes=(8, 32), block_sizes=(8, 32))
    assert not found.shared
    assert not found.registers


def test_references_nearby_are_one_tile(planned):
    """Threads side by side read a column."""
    body = """for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++)
      B[i][j] = A[j][i] + A[j - 1][i + 1];"""
    found = planned(body, MATRICES, tile_sizes=(8, 32), block_sizes=(8, 32))
    assert found.shared["A"].box.sizes == (33, 9)
    assert len(found.shared["A"].references) == 2
    assert "B" not in found.shared
    assert not found.registers  # each element is written once


def test_registers_below_a_loop_of_the_host(planned):
    """The same elements come back in the next launch, which loads them again."""
    body = "for (int t = 0; t < n; t++) {" + PRODUCT.replace("C[i][j] +=", "C[i][j] = C[i][j] / 2 +") + "}"
    assert planned(body, MATRICES).registers["C"].sizes == (8, 8)


def test_transposition_goes_through_shared_memory(planned):
    body = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) C[i][j] = A[j][i];"
    found = planned(body, MATRICES, tile_sizes=(32, 32), block_sizes=(8, 32))
    assert found.shared["A"].box.sizes == (32, 32)
    assert found.shared["A"].row == 33


def test_what_depends_on_the_sequential_loop_is_no_register(planned):
    body = "for (int i = 0; i < n; i++) for (int k = 1; k < n; k++) C[i][k] = C[i][k - 1] + A[i][k];"
    assert not planned(body, MATRICES).registers


def test_no_registers_where_blocks_do_not_divide_tiles(planned):
    assert not planned(PRODUCT, MATRICES, tile_sizes=(30, 30, 16), block_sizes=(16, 16)).registers


def test_shared_memory_has_a_limit(planned):
    found = planned(PRODUCT, MATRICES, tile_sizes=(64, 64, 64), block_sizes=(16, 16))
    assert sum(bytes_of(tile) for tile in found.shared.values()) <= CUDA.limits.shared_bytes
    assert len(found.shared) == 1


def test_columns_that_each_thread_reads_alone_stay_where_they_are(planned):
    body = "for (int i = 0; i < n; i++) C[i][3] = A[i][5];"
    assert not planned(body, MATRICES).shared


def test_one_element_that_all_read_stays_where_it_is(planned):
    body = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) C[i][j] = C[i][j] + A[3][5];"
    assert not planned(body, MATRICES).shared
