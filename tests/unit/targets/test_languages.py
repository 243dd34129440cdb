"""What the tables of the kernels' languages promise is what the guide says."""

from __future__ import annotations

import re
from pathlib import Path

import polybuild
from polybuild.targets.languages import APPROXIMATE, ARGUMENTS, mathematical

GUIDE = Path(polybuild.__file__).parents[1] / "docs" / "guide" / "gpu.md"


def test_the_guide_names_each_function_by_whether_its_bits_are_defined():
    blocks = re.findall(r"(?:^    [a-z0-9 ]+\n)+", GUIDE.read_text(encoding="utf-8"), re.MULTILINE)
    exact, approximate = (set(block.split()) for block in blocks if {"sqrt", "pow"} & set(block.split()))
    assert approximate == APPROXIMATE
    assert exact == set(ARGUMENTS) - APPROXIMATE


def test_functions_of_floats_and_of_the_compiler():
    assert mathematical("sinf") == ("sin", True)
    assert mathematical("__builtin_erf") == ("erf", False)
    assert mathematical("fmaf") == ("fma", True)
    assert mathematical("f") is None
    assert mathematical("sinl") is None
