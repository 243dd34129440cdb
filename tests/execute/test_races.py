"""No two threads touch an element at once; ``races.py`` tries all kernels."""

from __future__ import annotations

from pathlib import Path

import pytest
import races

pytestmark = pytest.mark.skipif(
    "not __import__('races').is_possible()", reason="clang, its thread sanitizer and Archer are needed"
)


@pytest.mark.parametrize("kernel", ["gemm", "jacobi-2d", "correlation", "nussinov"])
def test_kernels_have_no_races(kernel: str, tmp_path: Path) -> None:
    assert not races.races(kernel, races.OPTIONS[0], tmp_path)
