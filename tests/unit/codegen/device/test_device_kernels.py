"""The text of kernels: what isl knows of single loops must not change what is said of the others."""

from __future__ import annotations

import itertools
import re

import pytest

from polybuild.driver.file import compile_source
from polybuild.options import Options

STATIC = "static double A[{0}][{0}], B[{0}][{0}], C[{0}][{0}];"
PRODUCT = """
  for (int i = 0; i < {0}; i++)
    for (int j = 0; j < {0}; j++)
      for (int k = 0; k < {0}; k++) C[i][j] += A[i][k] * B[k][j];"""


def kernels(tmp_path, body, parameters="int n", top="", backend="opencl", **options):
    """The kernels of a region."""
    path = tmp_path / "one.c"
    path.write_text(f"{top}\nvoid f({parameters}) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n")
    chosen = Options(backend=backend, min_work=0, **options)
    result = compile_source(str(path), chosen, ["gcc"], ["-O2"])
    assert [each.backend for each in result.regions] == [backend], result.regions
    literals = "".join(re.findall(r'^(?:static .*)?"(.*)",?$', result.text, re.MULTILINE))
    return literals.replace('\\n"', "\n").replace("\\n", "\n")


@pytest.mark.parametrize("size", ["n", "40", "16", "200"])
def test_places_in_registers_are_numbers(size, tmp_path):
    """Whether a block's tile is one of many, the only one, or all of the loop."""
    bound = {"n": "40"}.get(size, size)
    text = kernels(tmp_path, PRODUCT.format(size), top=STATIC.format(bound))
    places = re.findall(r"(?<!double )C_own((?:\[[^]]*\])+)", text)
    assert len(places) > 2
    assert all(re.fullmatch(r"\[[0-7]\]\[[0-7]\]", each) for each in places)


def test_a_loop_of_the_host_with_one_iteration(tmp_path):
    body = """
      for (int t = 3; t < 4; t++) for (int i = 1; i < n; i++) a[i] = b[i] + t;
      for (int t = 0; t < 2; t++) for (int i = t; i < 30; i++) a[i] += a[29 - i];"""
    text = kernels(tmp_path, body, "int n, double *restrict a, double *restrict b")
    assert "__kernel __attribute__" in text


def test_functions_keep_the_meaning_of_c(tmp_path):
    body = "for (int i = 0; i < n; i++) a[i] = sqrt(b[i]) + sqrtf(b[i]) + abs(i - 3);"
    top = "#include <math.h>\n#include <stdlib.h>"
    parameters = "int n, float *restrict a, float *restrict b"
    text = kernels(tmp_path, body, parameters, top)
    assert "sqrt((double)(b[" in text
    assert "sqrt((float)(b[" in text
    assert "(int)abs((int)(" in text


def test_types_and_constants_of_the_host_are_written_out(tmp_path):
    top = "typedef unsigned short half;\nenum { KINDS = 7 };"
    body = "for (int i = 0; i < n; i++) kernel[i] = (half)(kernel[i] * KINDS);"
    text = kernels(tmp_path, body, "int n, half *restrict kernel", top)
    assert "(unsigned short)(" in text
    assert "* 7" in text
    assert re.search(r"__global unsigned short \*restrict kernel1\b", text)


def test_an_array_on_a_side_of_a_choice_that_is_impossible(tmp_path):
    """As B has two columns, l is 2 or 3, and n at most 0: nothing of A goes to the device."""
    body = "for (int l = 2; l < n + 4; l++) B[0][l - 2] = l > n / 2 || l > 5 ? 1u : A[0][0];"
    text = kernels(tmp_path, body, top="static unsigned A[1][1], B[1][2];")
    assert "__kernel __attribute__" in text


@pytest.mark.parametrize(
    ("options", "block"),
    [
        ({}, (32, 4, 1)),
        ({"block_sizes": (2, 4, 8)}, (8, 4, 2)),
        ({"tile_sizes": (16, 16, 32), "block_sizes": (16, 16, 32)}, (32, 8, 1)),
    ],
)
def test_blocks_of_opencl_have_as_many_threads_as_devices_take(tmp_path, options, block):
    """AMD's take 256 in a block, where CUDA takes 1024; the others loop over what is left of a tile."""
    body = """for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++)
      b[i][j][k] = 2 * a[i][j][k];"""
    arrays = "int n, float a[restrict n][n][n], float b[restrict n][n][n]"
    text = kernels(tmp_path, body, arrays, **options)
    (found,) = re.findall(r"reqd_work_group_size\((\d+), (\d+), (\d+)\)", text)
    assert tuple(map(int, found)) == block


def test_tiles_of_opencl_fit_into_what_it_promises(tmp_path):
    """Memory for a block: 32 KiB, where CUDA has 48."""
    options = {"tile_sizes": (64, 64, 80), "block_sizes": (16, 16)}
    product = PRODUCT.format("n").replace("+=", "= C[i][j] +")
    top = STATIC.format("400").replace("double", "float")
    tiles = {}
    for backend in ("opencl", "hip"):
        text = kernels(tmp_path, product, top=top, backend=backend, **options)
        found = re.findall(r"(?:__local|__shared__) __\w+\(.*\) float \w+\[(\d+)\]\[(\d+)\]", text)
        tiles[backend] = sum(4 * int(rows) * int(row) for rows, row in found)
    assert 0 < tiles["opencl"] <= 32 * 1024
    assert 32 * 1024 < tiles["hip"] <= 48 * 1024


@pytest.mark.parametrize(
    ("parameters", "form"),
    [
        ("int n, double u[restrict 2][n][n]", "u[{}][{}][{}]"),
        ("int n, double *restrict u", "u[({} * n + {}) * n + {}]"),
    ],
)
def test_neighbours_are_counted_from_one_address(parameters, form, tmp_path):
    near = [form.format(0, *each) for each in (("i - 1", "j"), ("i", "j - 1"), ("i", "j"), ("i + 2", "j"))]
    body = f"{form.format(1, 'i', 'j')} = {' + '.join(near)};"
    body = f"for (int i = 1; i < n - 2; i++) for (int j = 1; j < n; j++) {body}"
    text = kernels(tmp_path, body, parameters)
    assert text.count("const long u_at =") == 1
    assert "] = u[u_at - pb_n] + u[u_at - 1] + u[u_at] + u[u_at + (long)2 * pb_n];" in text


def test_grids_that_take_turns_are_counted_from_one_address(tmp_path):
    body = """
      for (int t = 0; t < steps; t++)
        for (int i = 1; i < n - 1; i++)
          for (int j = 1; j < n - 1; j++)
            u[(t + 1) % 2][i][j] = u[t % 2][i - 1][j] + u[t % 2][i][j - 1] + u[t % 2][i][j + 1];"""
    text = kernels(tmp_path, body, "int steps, int n, double u[restrict 2][n][n]", tile_shape="rectangular")
    assert len(re.findall("const long u_at = ", text)) == 1
    turn = re.escape("u[u_at + ((long)((c0 + 1) % 2) - c0 % 2) * pb_n * pb_n")
    assert re.search(turn.replace("c0", "c[0-9]"), text)


def test_steps_that_run_across_space_have_kernels_of_their_own(tmp_path):
    """Tiles over time of Gauss-Seidel's steps have conditions that isl works on for minutes."""
    body = """
      for (int t = 0; t < steps; t++)
        for (int i = 1; i < n - 1; i++)
          for (int j = 1; j < n - 1; j++)
            u[i][j] = (u[i - 1][j - 1] + u[i - 1][j + 1] + u[i][j - 1] + u[i][j] + u[i + 1][j + 1]) / 5;"""
    text = kernels(tmp_path, body, "int steps, int n, double u[restrict n][n]")
    assert text.count("__kernel") == 1
    assert "barrier" not in text


@pytest.mark.parametrize(("words", "rolled"), [("shared-memory", True), ("", False)])
def test_steps_in_shared_memory_are_not_unrolled(words, rolled, tmp_path):
    """nvcc's code for them is wrong then, for some tiles: no loop may be without the pragma."""
    body = """
      for (int t = 0; t < steps; t++)
        for (int i = 1; i < n - 1; i++)
          for (int j = 1; j < n - 1; j++)
            u[(t + 1) % 2][i][j] = u[t % 2][i - 1][j] + u[t % 2][i][j - 1] + u[t % 2][i][j + 1];"""
    tiles = {"tile_shape": "hybrid", "tile_sizes": (4, 8, 8), "device_tiles": tuple(filter(None, [words]))}
    text = kernels(tmp_path, body, "int steps, int n, double u[restrict 2][n][n]", **tiles)
    lines = [each.strip() for each in text.splitlines()]
    above = [
        before == "#pragma unroll 1" for before, each in itertools.pairwise(lines) if each.startswith("for (")
    ]
    assert set(above) == {rolled}


def test_addresses_are_counted_from_what_is_always_accessed(tmp_path):
    """The element that is read is known by its condition, the place that is written is each thread's."""
    top = "static int A[30][26];"
    text = kernels(
        tmp_path, "for (int i = n + 1; i >= 0; i--) A[i + 1][i] = i - n > i ? A[n - i + 1][i] : i;", top=top
    )
    written = re.search(r"A\[([^=]*)\] = ", text)
    address = re.search(r"A_at = (.*);", text)
    assert "t0" in written[1] or "t0" in address[1]
