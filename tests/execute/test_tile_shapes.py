"""Stencils in tiles of every shape, at sizes smaller than a tile and larger, equal to the bit."""

from __future__ import annotations

import pytest
from kernel_programs import GCC, build_transformed, run

from polybuild.options import Options

# kernel: (tile sizes in time and space, sizes it runs at)
KERNELS = {
    "jacobi-1d": ((4, 12), [(1, 1), (2, 3), (3, 1), (7, 2), (40, 9), (101, 30)]),
    "jacobi-2d": ((2, 10, 7), [(1, 1), (2, 2), (3, 1), (9, 3), (33, 11)]),
    "fdtd-2d": ((3, 12, 5), [(1, 1, 1), (2, 3, 1), (1, 7, 4), (29, 23, 10)]),
    "heat-3d": ((2, 9, 6, 8), [(1, 1), (3, 1), (5, 2), (17, 6)]),
}
SHAPES = ("diamond", "diamond-2d", "hexagonal", "hybrid", "split")
# in three dimensions the proof of the other shapes takes seconds: left to the unit tests of their trees
LEFT_OUT = {("heat-3d", each) for each in SHAPES[1:]} | {("jacobi-1d", "diamond-2d")}
CASES = [(kernel, shape) for kernel in KERNELS for shape in SHAPES if (kernel, shape) not in LEFT_OUT]


@pytest.mark.fast(kernel=["jacobi-1d"])
@pytest.mark.parametrize(("kernel", "shape"), CASES)
def test_results(kernel, shape, expected, tmp_path):
    sizes, runs = KERNELS[kernel]
    options = Options(tile_shape=shape, tile_sizes=sizes, min_work=0)
    program = build_transformed(kernel, options, GCC, tmp_path)
    text = program.with_suffix(".c").read_text()
    assert text.count("parallel for") >= (1 if shape.startswith("diamond") else 2)
    # where tiles start together along two dimensions, threads share those of both
    assert ("collapse(2)" in text) is (shape in {"diamond-2d", "split"} and kernel != "jacobi-1d")
    for each in runs:
        assert run(program, tuple(map(str, each)), threads=3) == expected(kernel, each), each
