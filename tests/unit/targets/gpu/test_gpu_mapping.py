"""Which loops become kernels, blocks and threads."""

import re

import islpy as isl
import pytest
from device_regions import JACOBI, MATRICES, PREFIX, PRODUCT

from polybuild.diagnostics import Unsupported
from polybuild.options import Options
from polybuild.targets.base import DeviceLimits
from polybuild.targets.gpu.grid import block_sizes, grid_sizes, tile_sizes

VECTORS = "int n, double *restrict a, double *restrict b"


def test_parallel_loops_go_to_blocks_and_threads(planned):
    (kernel,) = planned(PRODUCT, MATRICES).plan.kernels
    assert [axis.size for axis in kernel.blocks] == [256, 256]
    assert [axis.size for axis in kernel.threads] == [8, 8]
    assert kernel.tile == (64, 64, 16)
    assert [axis.run for axis in kernel.threads] == [2, 2]  # doubles, 16 bytes side by side
    assert kernel.warp == (4, 8)
    assert kernel.resident == 4  # eight warps, whose threads may have all registers that one may have


def test_what_waits_in_registers_takes_some(planned):
    """Without asynchronous copies threads have fewer terms on their way."""
    (kernel,) = planned(PRODUCT, MATRICES, cuda_arch=(70,)).plan.kernels
    assert kernel.tile == (64, 128, 8)


def test_the_compiler_is_told_what_registers_hold(planned):
    """Of small blocks, whose threads would have all registers that one may have."""
    single = MATRICES.replace("double", "float")
    for tile, block, resident in (
        ((64, 128, 16), (8, 16), 3),
        ((64, 64, 16), (8, 8), 6),
        ((128, 128, 8), (16, 16), 0),
        ((256, 128, 16), (8, 16), 0),  # more results than registers
    ):
        (kernel,) = planned(PRODUCT, single, tile_sizes=tile, block_sizes=block).plan.kernels
        assert kernel.resident == resident, tile


def test_the_time_loop_stays_on_the_host(planned):
    plan = planned(JACOBI, MATRICES, tile_shape="rectangular").plan
    assert [len(kernel.threads) for kernel in plan.kernels] == [2, 2]
    text = str(plan.tree.schedule)
    assert text.index("[(t)]") < text.index("kernel0") < text.index("kernel1")


def test_consecutive_elements_go_along_x(planned):
    """Whichever way the loops are nested."""
    for body in (
        "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) C[i][j] = A[i][j];",
        "for (int j = 0; j < n; j++) for (int i = 0; i < n; i++) C[i][j] = A[i][j];",
    ):
        text = str(planned(body, MATRICES, tile_sizes=(8, 32)).plan.tree.schedule)
        assert re.search(r"floor\(\(j\)/32\)", text)
        assert re.search(r"floor\(\(i\)/8\)", text)


def test_what_is_not_parallel_runs_in_one_thread_where_others_have_more_to_do(planned):
    product = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) C[i][j] = B[i][j];"
    chain = "for (int i = 1; i < n; i++) A[0][i] += A[0][i - 1];"
    plan = planned(chain + product, MATRICES).plan
    assert sorted(kernel.is_serial for kernel in plan.kernels) == [False, True]
    few = PREFIX.replace("< n", "< 20") + "for (int i = 0; i < n; i++) b[i] = a[i];"
    plan = planned(few, VECTORS).plan
    assert sorted(kernel.is_serial for kernel in plan.kernels) == [False, True]


def test_loops_that_are_all_short_count_by_their_number(planned):
    product = "for (int i = 0; i < 20; i++) for (int j = 0; j < 20; j++) C[i][j] = B[i][j];"
    plan = planned("for (int i = 1; i < 20; i++) A[0][i] += A[0][i - 1];" + product, MATRICES).plan
    assert sorted(kernel.is_serial for kernel in plan.kernels) == [False, True]


def test_no_thread_does_as_much_as_all_others(planned):
    for extent in ("n", "4000"):
        body = (PREFIX + "for (int i = 0; i < n; i++) b[i] = a[i];").replace("< n", f"< {extent}")
        with pytest.raises(Unsupported, match="one thread of the device would run line 5 alone"):
            planned(body, VECTORS)


def test_a_region_without_parallel_loops(planned):
    with pytest.raises(Unsupported, match="no loop of this region is parallel"):
        planned(PREFIX, VECTORS)


@pytest.mark.parametrize(("first", "blocks"), [("0", 2), ("-1", 3), ("-129", 4)])
def test_no_more_blocks_than_tiles(planned, first, blocks):
    """Tiles before the one that begins at 0 are counted, and no others."""
    plan = planned(f"for (int i = {first}; i < n; i++) b[i + 200] = a[i + 200];", VECTORS).plan
    (axes,) = plan.tree.grids.values()
    at_200 = isl.Set("[n] -> { : n = 200 }")
    assert [each.intersect_params(at_200).max_val().to_python() for each in axes] == [blocks]


def test_blocks_fit_every_device():
    assert block_sizes(3, (64, 64, 64), Options(block_sizes=(64, 64, 64)), DeviceLimits(), reused=False) == (
        1,
        16,
        64,
    )
    assert block_sizes(2, (4, 32), Options(block_sizes=(16, 16)), DeviceLimits(), reused=False) == (4, 16)
    assert block_sizes(2, (8, 32), Options(block_sizes=(32,)), DeviceLimits(), reused=False) == (1, 32)


def test_given_sizes_are_repeated():
    assert tile_sizes(2, 1, Options(tile_sizes=(8, 4)), DeviceLimits(), reused=True) == (8, 4, 4)
    assert grid_sizes(2, Options(grid_sizes=(3,)), DeviceLimits()) == (3, 3)


def test_grids_fit_every_device():
    """Along y and z CUDA has no more than 65,535 blocks."""
    assert grid_sizes(3, Options(grid_sizes=(100_000,)), DeviceLimits()) == (65535, 65535, 100_000)


@pytest.mark.parametrize(
    ("body", "fits"),
    [
        ("for (int i = 0; i < n; i++) b[i] = a[2 * i];", True),
        ("for (int i = 0; i < n; i++) b[i] = a[100000L * i];", False),
        ("for (int i = 0; i < n; i++) b[100000L * i] = a[i];", False),
    ],
)
def test_subscripts_are_as_wide_as_they_need_to_be(planned, body, fits):
    """Not only counters: 100000 * 22000 is beyond ``int``."""
    assert bool(planned(body, VECTORS).plan.limit) is fits


def test_extents_are_factors_of_subscripts(planned):
    parameters = "int n, double a[restrict n][100000L * n]"
    assert planned("for (int i = 0; i < n; i++) a[i][0] = i;", parameters).plan.limit == 0
