"""Every style of every kernel against the original, at sizes with and without whole tiles."""

from __future__ import annotations

import os

import pytest

from benchmarks.styles.__main__ import build, run
from benchmarks.styles.kernels import KERNELS
from benchmarks.styles.styles import STYLES

SIZES = (0, 1, 2, 7, 33, 100)

BY_NAME = {each.name: each for each in KERNELS}

PART = 6
"""Every sixth style of a kernel is enough for each change; all of them take half an hour."""

SAMPLE = ("elements", "outside", "downwards", "row-buffer", "unrolled-2", "function", "walking", "struct")


def compare(directory, kernel, styles):
    """The results of some styles of ``kernel``, each those of its original; all of one order the same."""
    programs = build(directory, kernel, "gcc", styles, level="-O1")
    numbers = (0, len(programs.styles) - 1)
    for size in SIZES:
        expected = [total for _, total in run(programs.original, numbers, size)]
        results = [total for _, total in run(programs.transformed, numbers, size, threads=2)]
        assert dict(zip(programs.styles, results, strict=True)) == dict(
            zip(programs.styles, expected, strict=True)
        ), size
        for order in {each.order for each in STYLES.values()}:
            same = {
                total
                for name, total in zip(programs.styles, expected, strict=True)
                if STYLES[name].order == order
            }
            assert len(same) <= 1, (order, size)


@pytest.mark.parametrize("kernel", BY_NAME)
def test_results(tmp_path, kernel):
    """A part of the styles, another one for each kernel; all of them with POLYBUILD_TESTS_ALL_STYLES=1."""
    step = 1 if os.environ.get("POLYBUILD_TESTS_ALL_STYLES") else PART
    compare(tmp_path, BY_NAME[kernel], [*STYLES][list(BY_NAME).index(kernel) % step :: step])


@pytest.mark.fast
@pytest.mark.parametrize("kernel", ["product", "bodies", "lu"])
def test_sample(tmp_path, kernel):
    compare(tmp_path, BY_NAME[kernel], SAMPLE)
