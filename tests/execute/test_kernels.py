"""Each kernel, transformed under many options, gives the very bits of gcc's original."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from kernel_programs import (
    GCC,
    KERNELS,
    SANITIZERS,
    Sizes,
    Toolchain,
    build_text,
    build_transformed,
    run,
    shapes,
    source,
    transform,
)

from polybuild.options import Options

Expected = Callable[[str, Sizes], list[str]]

CUBES: tuple[Sizes, ...] = ((0,), (1,), (7,), (33,), (100,))
SMALL_CUBES: tuple[Sizes, ...] = ((0,), (1,), (7,), (33,))
FEW_CUBES: tuple[Sizes, ...] = ((7,), (33,))
OBLONGS: tuple[Sizes, ...] = ((29, 17, 13, 11), (9, 40, 21, 5))

ALIKE = {
    *("cholesky", "fdtd-2d", "floyd-warshall", "heat-3d", "jacobi-1d", "jacobi-2d", "lu", "ludcmp"),
    "seidel-2d",
}
"""Every strategy makes the same of these."""
FUSED = [
    *((kernel, "min") for kernel in ("2mm", "fdtd-2d", "gesummv", "gramschmidt", "mvt")),
    *((kernel, "max") for kernel in KERNELS if kernel not in ALIKE),
    *((kernel, "depth") for kernel in ("2mm", "3mm", "atax", "correlation", "covariance", "lu")),
]
"""Kernels with the strategies that make something else of them than others do, and one alike with each."""

LEFT_TO_THE_COMPILER = {"durbin"}
"""Under default options: its loops have too little work for threads, and vectors without polybuild."""

ALWAYS = Options(min_work=0)  # the generated code runs however little there is to do
TINY_TILES = Options(min_work=0, tile_sizes=(3, 5, 4, 2, 3, 5))

TOOLCHAINS = [
    Toolchain("native", "gcc", ("-O3", "-march=native", "-fopenmp")),
    Toolchain("clang without OpenMP", "clang", ("-std=c99", "-O2", "-Wno-unknown-pragmas")),
    Toolchain("C99, sanitized", "gcc", ("-std=c99", "-O0", "-g", "-fopenmp", *SANITIZERS)),
]
SPECIFIC = TOOLCHAINS[:1]
"""Those whose flags name a processor."""
WITHOUT_OPENMP = Toolchain("without OpenMP", "gcc", ("-O2", "-Wno-unknown-pragmas"))


def oblongs(kernel: str) -> list[Sizes]:
    """Sizes that differ from each other; gramschmidt wants no more columns than rows."""
    return [shapes(kernel, extents) for extents in (OBLONGS[:1] if kernel == "gramschmidt" else OBLONGS)]


def assert_equal(
    expected: Expected, kernel: str, program: Path, sizes: Iterable[Sizes], threads: Iterable[int]
) -> None:
    for extents in sizes:
        for count in threads:
            found = run(program, tuple(map(str, extents)), count)
            assert found == expected(kernel, extents), f"{kernel} {extents} on {count} threads"


@pytest.mark.fast(kernel=["gemm", "jacobi-2d", "ludcmp"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_bits_at_every_size_and_thread_count(kernel: str, expected: Expected, tmp_path: Path) -> None:
    program = build_transformed(kernel, ALWAYS, GCC, tmp_path)
    assert_equal(expected, kernel, program, [*CUBES, *oblongs(kernel)], threads=(1, 2, 3))


@pytest.mark.parametrize("kernel", KERNELS)
def test_bits_with_partial_tiles(kernel: str, expected: Expected, tmp_path: Path) -> None:
    program = build_transformed(kernel, TINY_TILES, GCC, tmp_path)
    assert_equal(expected, kernel, program, [*CUBES[:-1], *oblongs(kernel)], threads=(1, 3))


# imperfect nests, a time loop, descending loops, private scalars, fused components
@pytest.mark.parametrize("fusion", ["auto", "max"])
@pytest.mark.parametrize("kernel", ["durbin", "fdtd-2d", "gemver", "gramschmidt", "ludcmp", "nussinov"])
def test_bits_of_our_scheduler(kernel: str, fusion: str, expected: Expected, tmp_path: Path) -> None:
    options = Options(min_work=0, schedule="pluto", fusion=fusion, tile_sizes=(4, 4, 4, 4, 4, 4))
    program = build_transformed(kernel, options, GCC, tmp_path)
    assert_equal(expected, kernel, program, FEW_CUBES, threads=(2,))


@pytest.mark.fast(case=[("gemver", "max")])
@pytest.mark.parametrize("case", FUSED, ids="-".join)
def test_bits_of_each_fusion_strategy(case: tuple[str, str], expected: Expected, tmp_path: Path) -> None:
    kernel, fusion = case
    options = Options(min_work=0, fusion=fusion, tile_sizes=(4, 4, 4, 4, 4, 4))
    program = build_transformed(kernel, options, GCC, tmp_path)
    assert_equal(expected, kernel, program, FEW_CUBES, threads=(2,))


@pytest.mark.parametrize("kernel", KERNELS)
def test_bits_in_the_original_order(kernel: str, expected: Expected, tmp_path: Path) -> None:
    options = Options(min_work=0, schedule="original", tile=False)
    program = build_transformed(kernel, options, GCC, tmp_path)
    assert_equal(expected, kernel, program, FEW_CUBES, threads=(2,))


@pytest.mark.parametrize("kernel", KERNELS)
def test_bits_under_default_options(kernel: str, expected: Expected, tmp_path: Path) -> None:
    """Small sizes take the original loops, large ones the generated, where these are worth it at any size."""
    if kernel in LEFT_TO_THE_COMPILER:
        result = transform(kernel, Options(), GCC)
        assert [region.status for region in result.regions] == ["unchanged"]
        assert result.text == source(kernel).read_text(encoding="utf-8")
        return
    program = build_transformed(kernel, Options(), GCC, tmp_path)
    assert_equal(expected, kernel, program, ((7,), (100,)), threads=(2,))


@pytest.mark.fast(kernel=["gemm"])
@pytest.mark.parametrize("toolchain", TOOLCHAINS, ids=lambda toolchain: toolchain.name)
@pytest.mark.parametrize("kernel", KERNELS)
def test_bits_under_other_toolchains(
    kernel: str, toolchain: Toolchain, expected: Expected, tmp_path: Path
) -> None:
    """No warnings, no undefined behaviour, the same bits.

    Flags say what is made of a kernel where they name a processor; of others, two kernels stand for all.
    """
    written_for = toolchain if toolchain in SPECIFIC or kernel in {"gemm", "jacobi-2d"} else GCC
    program = build_text(kernel, transform(kernel, ALWAYS, written_for), toolchain, tmp_path)
    assert_equal(expected, kernel, program, SMALL_CUBES, threads=(2,))


# register tiles, sums in lanes, wavefronts, private scalars
@pytest.mark.parametrize("kernel", ["gemm", "correlation", "nussinov", "gramschmidt"])
def test_bits_of_gcc_without_openmp(kernel: str, expected: Expected, tmp_path: Path) -> None:
    program = build_transformed(kernel, ALWAYS, WITHOUT_OPENMP, tmp_path)
    assert_equal(expected, kernel, program, SMALL_CUBES, threads=(1,))


# golden texts show the same, of small regions, from one process to the next
@pytest.mark.fast(kernel=["jacobi-2d"])
@pytest.mark.parametrize("kernel", ["adi", "correlation", "gemver", "jacobi-2d", "nussinov"])
def test_output_is_deterministic(kernel: str) -> None:
    first = transform(kernel, ALWAYS).text
    assert transform.__wrapped__(kernel, ALWAYS).text == first
