"""The table of constructs names tests that exist, with the outcome that it claims."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXECUTE = ROOT / "tests" / "execute"
BUILDS = ROOT / "tests" / "builds"
TABLE = (ROOT / "docs" / "reference" / "c.md").read_text()
ROWS = [
    line.split(" | ")
    for line in TABLE.splitlines()
    if line.startswith("| ") and not line.startswith(("| feature", "| construct"))
]
OUTCOMES = {
    f"{path.stem}:{name}": outcome
    for path in (EXECUTE / "regions").glob("*.c")
    for name, outcome in re.findall(r"^//# (\w+): (\S+)$", path.read_text(), re.MULTILINE)
}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0].strip("| "))
def test_each_row_is_tested(row):
    _, what, tests = row
    named = re.findall(r"`([\w-]+):(\w+)`", tests)
    assert named
    for file, case in named:
        if file.startswith("test_"):
            (path,) = (each / f"{file}.py" for each in (EXECUTE, BUILDS) if (each / f"{file}.py").exists())
            text = path.read_text()
            assert f"def {case}" in text or f'"{case}": ' in text
        elif "refused" in what or row[0] == "| unsupported code is shown":
            assert OUTCOMES[f"{file}:{case}"] not in {"parallel", "serial"}
        else:
            assert OUTCOMES[f"{file}:{case}"] in {"parallel", "serial"}


def test_the_rows_of_the_thesis_are_there():
    assert len(ROWS) > 50
