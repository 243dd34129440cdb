"""Ranks are found in the same variables by programs (polybuild.h) and by the report of their runs."""

from __future__ import annotations

import re
from pathlib import Path

import polybuild

HEADERS = Path(polybuild.__file__).parent / "runtime" / "include"


def rank_variables(header: str) -> list[str]:
    """The names that the function for the rank of a header looks for, in their order."""
    text = (HEADERS / header).read_text("ascii")
    found = re.search(r"_rank\(void\)\s*\{\s*static const char \*const names\[\] = \{([^}]*)\}", text)
    assert found is not None
    return re.findall(r'"(\w+)"', found[1])


def test_both_look_for_the_same():
    names = rank_variables("polybuild.h")
    assert "OMPI_COMM_WORLD_RANK" in names
    assert rank_variables("polybuild_report.h") == names
