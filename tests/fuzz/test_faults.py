"""Bugs planted in polybuild are found by few programs: by the legality proof or by what comes out wrong."""

from __future__ import annotations

import pytest

from .__main__ import BATCH, run_batch
from .faults import FAULTS

MOST = 20  # batches; 240 programs


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_bug_is_found(fault, tmp_path):
    for number in range(MOST):
        outcome = run_batch(tmp_path / "batch", 11, number * BATCH, BATCH, fault=fault)
        if outcome.failures:
            kinds = {each.kind for each in outcome.failures}
            assert kinds <= {"wrong", "crash", "tool", "hang"}, outcome.failures[0].message
            return
    pytest.fail(f"{fault} was not found with {MOST * BATCH} programs")
