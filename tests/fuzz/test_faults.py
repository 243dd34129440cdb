"""Bugs planted in polybuild are found: by the legality proof or by what comes out wrong.

Three of them; ``python -m tests.fuzz.planted`` tries all.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

from .faults import FAULTS
from .harness import ROOT
from .planted import KINDS, programs_until_found


@pytest.mark.parametrize("fault", ["drop_flow_dependences", "strict_comparison", "block_reversed"])
def test_a_planted_bug_is_found(fault, tmp_path):
    count, kinds = programs_until_found(fault, tmp_path, most=60, batch=3)
    assert count, f"{fault} was not found"
    assert set(kinds.split(", ")) <= KINDS


@pytest.mark.fast
def test_every_bug_has_its_place():
    """What a fault replaces is still there: a fault that changes nothing would never be found."""
    plant_all = "from tests.fuzz.faults import FAULTS, plant\nfor each in FAULTS: plant(each)"
    subprocess.run([sys.executable, "-c", plant_all], check=True, cwd=ROOT)
    assert len(FAULTS) >= 10
