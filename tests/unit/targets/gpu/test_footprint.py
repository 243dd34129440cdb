"""Boxes of constant size, with the lower bound that makes them smallest."""

import islpy as isl
import pytest

from polybuild.targets.gpu.footprint import box_of


@pytest.mark.parametrize(
    ("touched", "offsets", "sizes"),
    [
        (
            "[n] -> { [I, K] -> A[x, y] : 16I <= x <= 16I + 15 and 8K <= y < 8K + 8 and 0 <= x, y < n }",
            ["(16I)", "(8K)"],
            (16, 8),
        ),
        ("[n] -> { [I] -> A[x] : exists i : 8I <= i < 8I + 8 and 1 <= i < n and i - 1 <= x <= i + 1 }",
         ["(-1 + 8I)"], (10,)),
        ("{ [I] -> A[3, x] : x = 2I }", ["(3)", "(2I)"], (1, 1)),
        ("{ [I] -> A[x] : exists i : 4I <= i < 4I + 4 and x = 3i }", ["(12I)"], (10,)),
        ("{ [] -> A[x] : 5 <= x <= 9 }", ["(5)"], (5,)),
    ],
)  # fmt: skip
def test_box(touched, offsets, sizes):
    box = box_of(isl.Map(touched))
    assert box.sizes == sizes
    assert [str(each).partition("-> [")[2].removesuffix("] }") for each in box.offset] == offsets


def test_no_constant_size():
    assert box_of(isl.Map("[n] -> { [I] -> A[x] : 0 <= x < n }")) is None
    assert box_of(isl.Map("{ [I] -> A[x] : 0 <= x < I }")) is None


def test_elements_known_by_a_hidden_variable_alone_have_no_box():
    """Found by the fuzzer: a bound in terms of a variable that nothing determines is none."""
    touched = "[n] -> { [I] -> A[x] : exists (e : n <= 3e and 2e <= x + I and x <= 5e and 7e <= 9n + I) }"
    assert box_of(isl.Map(touched)) is None
