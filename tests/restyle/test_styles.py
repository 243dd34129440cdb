"""Every style of every kernel against the original, at sizes with and without whole tiles."""

from __future__ import annotations

import pytest

from benchmarks.styles.__main__ import build, run
from benchmarks.styles.kernels import KERNELS
from benchmarks.styles.styles import STYLES

SIZES = (0, 1, 2, 7, 33, 100, 150)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda each: each.name)
def test_results(tmp_path, kernel):
    original, transformed = build(tmp_path, kernel, "gcc")
    for size in SIZES:
        results = {style: run(transformed, number, size)[1] for number, style in enumerate(STYLES)}
        expected = {style: run(original, number, size)[1] for number, style in enumerate(STYLES)}
        assert results == expected, size
        assert len(set(expected.values())) == 1, size  # the styles do the same
