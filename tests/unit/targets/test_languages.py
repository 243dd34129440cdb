"""What the tables of the kernels' languages promise is what the guide says."""

from __future__ import annotations

import re
from pathlib import Path

import polybuild
from polybuild.targets.languages import APPROXIMATE, ARGUMENTS, mathematical

GUIDE = Path(polybuild.__file__).parents[1] / "docs" / "guide" / "gpu.md"


def test_the_guide_names_each_function_by_whether_its_bits_are_defined():
    guide = GUIDE.read_text(encoding="utf-8")
    exact, approximate = (
        set(re.findall(r"`(\w+)`", guide.partition(begin)[2].partition("\n\n")[0]))
        for begin in ("the same to the bit, and so are", "Other functions are those of the device's library")
    )
    assert approximate == APPROXIMATE
    assert exact == set(ARGUMENTS) - APPROXIMATE


def test_functions_of_floats_and_of_the_compiler():
    assert mathematical("sinf") == ("sin", True)
    assert mathematical("__builtin_erf") == ("erf", False)
    assert mathematical("fmaf") == ("fma", True)
    assert mathematical("f") is None
    assert mathematical("sinl") is None
